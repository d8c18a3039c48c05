"""Several streams as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.core.vector_names import VECTOR
from rtbot.numeric.exact import INTEGER_LIMB, running_integer_sum
from rtbot.numeric.exact.digits import (
    SCRATCH_DIGITS,
    SUM_BASE,
    SUM_DIGITS,
    add_integer,
    add_value,
    clear_digits,
    digits_to_mean,
    digits_to_sum,
)
from rtbot.operator import DOMAIN, EMIT, Choice, Example, In, Out, Scratch, Type, step
from rtbot.operators.synchronised import Synchronised

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LIMB_BITS = 62

assert INTEGER_LIMB == 2**LIMB_BITS


@step
def add_present(i, i_valid, scratch, scratch_first):
    """(count, finite, total): of the numbers that are present.

    One alone is the total. Where there are NaN and infinities, they make the total; finite numbers
    leave their exact sum in the scratch.
    """
    count, finite, total, specials = 0, True, 0.0, 0.0
    for place in range(len(i)):
        if i_valid[place]:
            total = i[place]
            if i[place] - i[place] != 0.0:
                finite = False
                specials += i[place]
            count += 1
    if finite and count > 1:
        clear_digits(scratch, scratch_first, SUM_DIGITS)
        for place in range(len(i)):
            if i_valid[place]:
                add_value(i[place], scratch, scratch_first)
    return count, finite, total if finite else specials


@step
def merged_sum(i, i_valid, scratch, scratch_first):
    """The sum of the numbers that are present; one alone is as it is."""
    count, finite, total = add_present(i, i_valid, scratch, scratch_first)
    if finite and count > 1:
        total = digits_to_sum(scratch, scratch_first)
    return EMIT, total


@step
def merged_mean(i, i_valid, scratch, scratch_first):
    """The mean of the numbers that are present; one alone is as it is."""
    count, finite, total = add_present(i, i_valid, scratch, scratch_first)
    if finite and count > 1:
        total = digits_to_mean(count, scratch, scratch_first)
    return EMIT, total


@step
def tied_integer_sum(i, i_valid):
    """(count, fits, sum, upper, lower): of the integers that are present."""
    count, fits, total, upper, lower = 0, True, 0, 0, 0
    for place in range(len(i)):
        if i_valid[place]:
            fits, total, upper, lower = running_integer_sum(i[place], upper, lower)
            count += 1
    return count, fits, total, upper, lower


@step
def merged_integer_sum(i, i_valid):
    """The sum of the integers that are present."""
    _, fits, total, _, _ = tied_integer_sum(i, i_valid)
    return EMIT if fits else DOMAIN, total


@step
def merged_integer_mean(i, i_valid, scratch, scratch_first):
    """The mean of the integers that are present, as a number."""
    count, _, _, upper, lower = tied_integer_sum(i, i_valid)
    clear_digits(scratch, scratch_first, SUM_DIGITS)
    sign = -1 if upper < 0 else 1
    add_integer(abs(upper), sign, LIMB_BITS - SUM_BASE, scratch, scratch_first)
    add_integer(lower, 1, -SUM_BASE, scratch, scratch_first)
    return EMIT, digits_to_mean(count, scratch, scratch_first)


class Merge(Synchronised):
    """Several streams as one, in time order.

    A time at which several ports have a message gives one message: `first` or `last` by port order,
    the others counted as tied; or the `min`, `max`, `sum` or `mean` of them all. NaN is the least
    and the greatest of all values, and -0.0 less than 0.0. Sum and mean are exact and rounded once;
    an integer sum outside int64 gives no message, counted under `domain`, and the mean is a number.
    A message comes once no port can still have one of its time.
    """

    search_terms = "concat, append"
    ties = Choice(
        options=("first", "last", "min", "max", "sum", "mean"),
        required=False,
        default="first",
        doc="what becomes of messages of equal time",
    )
    i = In("T", variadic=True, role="may", doc="a stream")
    o1 = Out("T", doc="all messages, at most one per time")
    scratch = Scratch(SCRATCH_DIGITS)
    faults = True
    example = Example(
        parameters={"ties": "last"},
        inputs={"i1": [(1, 1.0), (4, 4.0)], "i2": [(1, 10.0), (3, 30.0)]},
        outputs={"o1": [(1, 10.0), (3, 30.0), (4, 4.0)]},
    )

    @staticmethod
    def formula(values: Mapping[str, Any], ports: Sequence[str]) -> str | None:
        """One message of all that are present; at least one is. Sums and means are steps."""
        ties = values["ties"]
        any_one = f"coalesce({', '.join(ports)})"
        if ties == "first":
            return any_one
        if ties == "last":
            return f"coalesce({', '.join(reversed(ports))})"
        if ties in ("min", "max"):
            return f"{ties}({', '.join(f'coalesce({p}, {any_one})' for p in ports)})"
        return None

    @classmethod
    def lost(cls, values: Mapping[str, Any], ports: Sequence[str]) -> dict[str, tuple[str, str]]:
        """With `first` and `last`, messages that stand behind another port's are tied."""
        if values["ties"] not in ("first", "last"):
            return {}
        order = list(ports if values["ties"] == "first" else reversed(ports))
        conditions = {}
        for place, port in enumerate(order[1:], start=1):
            before = " or ".join(f"present({p})" for p in order[:place])
            conditions[port] = ("tied", f"present({port}) and ({before})")
        return conditions

    @classmethod
    def step_for(cls, values: Mapping[str, Any], inputs: Mapping[str, Type]) -> Callable[..., Any]:
        """The step of a sum or a mean."""
        integer = next(iter(inputs.values())).kind == "integer"
        if values["ties"] == "sum":
            return merged_integer_sum if integer else merged_sum
        return merged_integer_mean if integer else merged_mean

    @classmethod
    def output_types(cls, values: Mapping[str, Any], inputs: Mapping[str, Type]) -> dict[str, Type]:
        """The type of the ports; a mean is a number. Only numbers and integers are summed."""
        first = next(iter(inputs.values()))
        kind, summed = first.kind, values["ties"] in ("sum", "mean")
        compared = kind == VECTOR and values["ties"] in ("min", "max")
        if compared or (summed and kind not in ("number", "integer")):
            hint = "there are ties: first and ties: last for every type"
            raise graph_error(
                "RT125", SourceSpan(), f"there is no {values['ties']} of {kind}", hint
            )
        mean = values["ties"] == "mean"
        return {"o1": Type("number") if mean else first.as_nullable(nullable=False)}
