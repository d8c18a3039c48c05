"""Values in place of null."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.operator import (
    DOMAIN,
    EMIT,
    Choice,
    Example,
    In,
    Number,
    Operator,
    Out,
    Scalar,
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


class Fill(Operator):
    """Null is replaced: by the last value before it, or by a constant.

    Only null is. NaN is a value, and where there is no message none is made: a resampler makes
    them. With `previous` a null before the first value gives no message, counted under `domain`.
    Integers stay integers, unless the constant is none.
    """

    search_terms = "fillna, fill_null, locf, impute, replace_null"
    how = Choice(options=("previous", "value"), doc="what comes in the place of null")
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
        if values["how"] == "previous" and values["value"] is not None:
            return ["how: previous takes no value; write how: value, or leave it out"]
        return []

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:
        """Nulls before the first value are lost, if that is what replaces them."""
        return WarmUp(1, certain=values["how"] == "value")

    @classmethod
    def output_types(cls, values: Mapping[str, Any], inputs: Mapping[str, Type]) -> dict[str, Type]:
        """The type of the input, or a number for integers with a constant that is none."""
        kind = inputs["i1"].kind
        if values["how"] == "value" and kind not in ("number", "integer"):
            hint = f"write coalesce(x, ...) for a {kind}"
            raise graph_error("RT125", SourceSpan(), "its value is a number", hint)
        return {"o1": Type("number" if cls._widens(values, kind) else kind)}

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
