"""Comparisons: a boolean message for every number, or for every pair of one time.

NaN compares false with everything, also in the operators that ask for a difference. Integers are
compared exactly, with a number too; so is their distance, but for that from a number with a
fraction, which is rounded as a difference of numbers is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.numeric.expression_functions import greater_mixed, less_mixed
from rtbot.operator import Boolean, Example, In, Number, Operator, Out, Scalar, step

if TYPE_CHECKING:
    from collections.abc import Mapping

EQUAL = "({a} == {b}) or (tolerance > 0 and within({a}, {b}, tolerance))"
DIFFERENT = "(({a} < {b}) or ({a} > {b})) and (tolerance == 0 or beyond({a}, {b}, tolerance))"


class CompareGT(Operator):
    """True where the value is greater than a constant."""

    search_terms = "gt, greater, above"
    value = Number(doc="what is compared with")
    i1 = In("N", doc="values")
    o1 = Out("boolean", doc="i1 > value")
    formula = "i1 > value"
    example = Example(
        parameters={"value": 1.0},
        inputs={"i1": [(1, 0.5), (2, 1.0), (3, 2.0)]},
        outputs={"o1": [(1, False), (2, False), (3, True)]},
    )


class CompareLT(Operator):
    """True where the value is less than a constant."""

    search_terms = "lt, less, below"
    value = Number(doc="what is compared with")
    i1 = In("N", doc="values")
    o1 = Out("boolean", doc="i1 < value")
    formula = "i1 < value"
    example = Example(
        parameters={"value": 1.0},
        inputs={"i1": [(1, 0.5), (2, 1.0), (3, 2.0)]},
        outputs={"o1": [(1, True), (2, False), (3, False)]},
    )


class CompareGTE(Operator):
    """True where the value is greater than a constant or equal to it."""

    search_terms = "ge, gte"
    value = Number(doc="what is compared with")
    i1 = In("N", doc="values")
    o1 = Out("boolean", doc="i1 >= value")
    formula = "i1 >= value"
    example = Example(
        parameters={"value": 1.0},
        inputs={"i1": [(1, 0.5), (2, 1.0), (3, 2.0)]},
        outputs={"o1": [(1, False), (2, True), (3, True)]},
    )


class CompareLTE(Operator):
    """True where the value is less than a constant or equal to it."""

    search_terms = "le, lte"
    value = Number(doc="what is compared with")
    i1 = In("N", doc="values")
    o1 = Out("boolean", doc="i1 <= value")
    formula = "i1 <= value"
    example = Example(
        parameters={"value": 1.0},
        inputs={"i1": [(1, 0.5), (2, 1.0), (3, 2.0)]},
        outputs={"o1": [(1, True), (2, True), (3, False)]},
    )


class CompareEQ(Operator):
    """True where the value is within `tolerance` of a constant; an infinity equals itself."""

    search_terms = "eq, equals, equal"
    value = Number(doc="what is compared with")
    tolerance = Number(
        required=False, default=0.0, minimum=0.0, doc="the largest difference that counts as equal"
    )
    i1 = In("N", doc="values")
    o1 = Out("boolean", doc="abs(i1 - value) <= tolerance")
    formula = EQUAL.format(a="i1", b="value")
    example = Example(
        parameters={"value": 1.0, "tolerance": 0.5},
        inputs={"i1": [(1, 0.5), (2, 1.0), (3, 2.0)]},
        outputs={"o1": [(1, True), (2, True), (3, False)]},
    )


class CompareNEQ(Operator):
    """True where the value is more than `tolerance` away from a constant; false for NaN."""

    search_terms = "ne, neq, not_equal"
    value = Number(doc="what is compared with")
    tolerance = Number(
        required=False, default=0.0, minimum=0.0, doc="the largest difference that counts as equal"
    )
    i1 = In("N", doc="values")
    o1 = Out("boolean", doc="abs(i1 - value) > tolerance")
    formula = DIFFERENT.format(a="i1", b="value")
    example = Example(
        parameters={"value": 1.0},
        inputs={"i1": [(1, 0.5), (2, 1.0), (3, float("nan"))]},
        outputs={"o1": [(1, True), (2, False), (3, False)]},
    )


class Comparison(Operator, abstract=True):
    """Two ports of numbers or integers, compared where both have a message of the same time."""

    mixed = True
    i1 = In("N", doc="left side")
    i2 = In("N", doc="right side")


class CompareSyncGT(Comparison):
    """True where the first port is greater than the second."""

    o1 = Out("boolean", doc="i1 > i2")
    formula = "i1 > i2"
    example = Example(
        inputs={"i1": [(1, 1.0), (2, 2.0), (4, 4.0)], "i2": [(2, 2.0), (4, 3.0)]},
        outputs={"o1": [(2, False), (4, True)]},
    )


class CompareSyncLT(Comparison):
    """True where the first port is less than the second."""

    o1 = Out("boolean", doc="i1 < i2")
    formula = "i1 < i2"
    example = Example(
        inputs={"i1": [(1, 1.0), (2, 2.0), (4, 4.0)], "i2": [(2, 2.0), (4, 9.0)]},
        outputs={"o1": [(2, False), (4, True)]},
    )


class CompareSyncGTE(Comparison):
    """True where the first port is greater than the second or equal to it."""

    o1 = Out("boolean", doc="i1 >= i2")
    formula = "i1 >= i2"
    example = Example(
        inputs={"i1": [(1, 1.0), (2, 2.0), (4, 4.0)], "i2": [(2, 2.0), (4, 9.0)]},
        outputs={"o1": [(2, True), (4, False)]},
    )


class CompareSyncLTE(Comparison):
    """True where the first port is less than the second or equal to it."""

    o1 = Out("boolean", doc="i1 <= i2")
    formula = "i1 <= i2"
    example = Example(
        inputs={"i1": [(1, 1.0), (2, 2.0), (4, 4.0)], "i2": [(2, 2.0), (4, 3.0)]},
        outputs={"o1": [(2, True), (4, False)]},
    )


class CompareSyncEQ(Comparison):
    """True where the ports are within `tolerance` of each other; an infinity equals itself."""

    tolerance = Number(
        required=False, default=0.0, minimum=0.0, doc="the largest difference that counts as equal"
    )
    o1 = Out("boolean", doc="abs(i1 - i2) <= tolerance")
    formula = EQUAL.format(a="i1", b="i2")
    example = Example(
        parameters={"tolerance": 1.0},
        inputs={"i1": [(1, 1.0), (2, 2.0), (4, 4.0)], "i2": [(2, 3.0), (4, 9.0)]},
        outputs={"o1": [(2, True), (4, False)]},
    )


class CompareSyncNEQ(Comparison):
    """True where the ports are more than `tolerance` apart; false where one is NaN."""

    tolerance = Number(
        required=False, default=0.0, minimum=0.0, doc="the largest difference that counts as equal"
    )
    o1 = Out("boolean", doc="abs(i1 - i2) > tolerance")
    formula = DIFFERENT.format(a="i1", b="i2")
    example = Example(
        inputs={"i1": [(1, 1.0), (2, 2.0), (4, 4.0)], "i2": [(2, 2.0), (4, 9.0)]},
        outputs={"o1": [(2, False), (4, True)]},
    )


@step
def hysteresis(i1, low, high, start, begun, above):
    """The step of Hysteresis for numbers."""
    if not begun:
        above = start
    if i1 > high:
        above = True
    elif i1 < low:
        above = False
    return above, True, above


@step
def integer_hysteresis(i1, low, high, start, begun, above):
    """The step of Hysteresis for integers."""
    if not begun:
        above = start
    if greater_mixed(i1, high):
        above = True
    elif less_mixed(i1, low):
        above = False
    return above, True, above


class Hysteresis(Operator):
    """True from where the value exceeds `high` until it is below `low`: a Schmitt trigger.

    Between the two, both included, and at a NaN it stays what it is, so that a value that wavers
    around one of them does not switch to and fro. Before the first value beyond one of them it is
    `start`. There is a message for every value; Dedup behind it passes the changes only.
    """

    search_terms = "schmitt, schmitt_trigger, dead_band, latch, two_thresholds"
    low = Number(doc="a value below it makes it false")
    high = Number(doc="a value above it makes it true; at least `low`")
    start = Boolean(required=False, default=False, doc="what it is before any value decides")
    i1 = In("N", doc="values")
    o1 = Out("boolean", doc="whether the value was above `high` since it was below `low`")
    begun = Scalar("boolean", False)
    above = Scalar("boolean", False)
    step = hysteresis
    integer_step = integer_hysteresis
    example = Example(
        parameters={"low": 1.0, "high": 3.0},
        inputs={"i1": [(1, 2.0), (2, 4.0), (3, 2.0), (4, 0.5), (5, 3.0)]},
        outputs={"o1": [(1, False), (2, True), (3, True), (4, False), (5, False)]},
    )

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:  # noqa: ARG003
        """The thresholds are in order."""
        if values["low"] > values["high"]:
            return ["low is greater than high"]
        return []
