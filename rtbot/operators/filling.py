"""Values in place of null."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.numeric.curves import point_between
from rtbot.numeric.ieee import INTEGER_MAX, subtract_to_number
from rtbot.operator import (
    DOMAIN,
    EMIT,
    EMIT_AGAIN,
    SILENT,
    Choice,
    Example,
    In,
    Number,
    Operator,
    Out,
    Scalar,
    Span,
    Type,
    WarmUp,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WHOLE_MAX = 2.0**63
"""Whole numbers below it, and from its negative on, are integers of 64 bits."""


@step
def fill_number(i1, i1_valid, how, value, known, newest):
    """The step of Fill for numbers."""
    if i1_valid:
        return EMIT, i1, True, i1
    if how == 1:
        return EMIT, value, known, newest
    return EMIT if known else DOMAIN, newest, known, newest


@step
def fill_integer(i1, i1_valid, how, value, known, newest):
    """The step of Fill for integers, whose value is whole."""
    if i1_valid:
        return EMIT, i1, True, i1
    if how == 1:
        return EMIT, int(value), known, newest
    return EMIT if known else DOMAIN, newest, known, newest


@step
def fill_widened(i1, i1_valid, value, known, newest):
    """The step of Fill for integers, with a value that is none."""
    return EMIT, float(i1) if i1_valid else value, known, newest


@step
def fill_previous(i1, i1_valid, known, newest):
    """The step of Fill for texts and booleans."""
    if i1_valid:
        return EMIT, i1, True, i1
    return EMIT if known else DOMAIN, newest, known, newest


@step
def fill_linear(
    i1, i1_valid, time, known, newest, at, frontier, nulls_time, nulls_time_first, nulls_count
):
    """The step of Fill where it draws lines: a value gives out the nulls before it, then itself.

    It returns, for the list of nulls, how many it drops in front and how many it leaves.
    """
    if not i1_valid:
        if not known:
            return DOMAIN, time, 0.0, known, newest, at, frontier, 0, 0
        nulls_time[nulls_time_first + nulls_count] = time
        frontier = nulls_time[nulls_time_first] - 1
        return SILENT, time, 0.0, known, newest, at, frontier, 0, nulls_count + 1
    if nulls_count > 0:
        point = nulls_time[nulls_time_first]
        part, whole = subtract_to_number(point, at), subtract_to_number(time, at)
        value = point_between(float(newest), float(i1), part, whole)
        return EMIT_AGAIN, point, value, known, newest, at, frontier, 1, nulls_count - 1
    return EMIT, time, float(i1), True, i1, time, INTEGER_MAX, 0, 0


class Fill(Operator):
    """Null is replaced: by the last value before it, a constant, or a line between its neighbours.

    Only null is. NaN is a value, and where there is no message none is made: a resampler makes
    them. With `previous` a null before the first value gives no message, counted under `domain`.
    Integers stay integers, unless the constant is none.

    With `linear` the result is a number on the straight line, by time, between the values before
    and behind, rounded once, and comes with the latter; nulls before the first value and behind the
    last one give no messages, counted under `domain`.
    """

    search_terms = "fillna, fill_null, locf, impute, replace_null"
    how = Choice(options=("previous", "value", "linear"), doc="what comes in the place of null")
    value = Number(required=False, doc="the constant, with `how: value`")
    i1 = In("T", nullable=True, doc="values, some of them null")
    o1 = Out("T", doc="values, none of them null")
    known = Scalar("boolean", False)
    newest = Scalar("T", 0)
    faults = True
    step = fill_number
    example = Example(
        parameters={"how": "previous"},
        inputs={"i1": [(1, None), (2, 3.0), (4, None), (5, 6.0)]},
        outputs={"o1": [(2, 3.0), (4, 3.0), (5, 6.0)]},
    )

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:  # noqa: ARG003
        """There is a constant if, and only if, it is used."""
        if values["how"] == "value" and values["value"] is None:
            return ["how: value needs a value, such as value: 0"]
        if values["how"] != "value" and values["value"] is not None:
            return [f"how: {values['how']} takes no value; write how: value, or leave it out"]
        return []

    @classmethod
    def variant(cls, values: Mapping[str, Any]) -> type[Operator]:
        """A line waits for the value behind it."""
        return FillLinear if values["how"] == "linear" else cls

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:
        """Nulls before the first value are lost, if that is what replaces them."""
        return WarmUp(1, certain=values["how"] == "value")

    @classmethod
    def output_types(cls, values: Mapping[str, Any], inputs: Mapping[str, Type]) -> dict[str, Type]:
        """The type of the input, or a number for integers with a constant that is none."""
        kind = inputs["i1"].kind
        if values["how"] != "previous" and kind not in ("number", "integer"):
            hint = f"write how: previous, or coalesce(x, ...) for a {kind}"
            raise graph_error("RT125", SourceSpan(), f"how: {values['how']} has numbers", hint)
        widens = values["how"] == "linear" or cls._widens(values, kind)
        return {"o1": Type("number" if widens else kind)}

    @classmethod
    def step_for(cls, values: Mapping[str, Any], inputs: Mapping[str, Type]) -> Callable[..., Any]:
        """Integers stay exact; texts and booleans have no constant."""
        kind = inputs["i1"].kind
        if cls._widens(values, kind):
            return fill_widened
        return {"number": fill_number, "integer": fill_integer}.get(kind, fill_previous)

    @staticmethod
    def _widens(values: Mapping[str, Any], kind: str) -> bool:
        value = values["value"]
        if kind != "integer" or value is None:
            return False
        return not (float(value).is_integer() and -WHOLE_MAX <= value < WHOLE_MAX)


class FillLinear(Fill, variant_of="Fill"):
    """What holds the times of nulls back until the next value."""

    at = Scalar("integer", 0)
    frontier = Scalar("integer", INTEGER_MAX)
    nulls = Span({"time": "integer"})
    silent = True
    waits = "nulls"
    sets_time = True
    causal = False

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:  # noqa: ARG003
        """A value comes out at once, a null later."""
        return WarmUp(1, certain=False)

    @classmethod
    def step_for(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003
        inputs: Mapping[str, Type],  # noqa: ARG003
    ) -> Callable[..., Any]:
        """One step for numbers and for integers."""
        return fill_linear
