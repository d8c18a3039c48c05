"""Filters: a message passes unchanged or not at all.

What a filter takes is consumed, not lost. NaN passes none of those that compare with a number.
"""

from __future__ import annotations

from rtbot.numeric.ieee import subtract_checked
from rtbot.operator import (
    EMIT,
    SILENT,
    Duration,
    Example,
    In,
    Number,
    Operator,
    Out,
    Scalar,
    step,
)
from rtbot.operators.synchronised import SynchronisedNumbers, first_against_others

EPSILON = 1e-10


class GreaterThan(Operator):
    """Passes values that are greater than a constant."""

    search_terms = "filter, query, threshold"
    value = Number(doc="the bound, not passed itself")
    i1 = In("N", doc="values")
    o1 = Out("N", doc="those above the bound")
    formula = "i1"
    keep = "i1 > value"
    example = Example(
        parameters={"value": 1.0},
        inputs={"i1": [(1, 0.5), (2, 1.0), (3, 2.0)]},
        outputs={"o1": [(3, 2.0)]},
    )


class LessThan(Operator):
    """Passes values that are less than a constant."""

    value = Number(doc="the bound, not passed itself")
    i1 = In("N", doc="values")
    o1 = Out("N", doc="those below the bound")
    formula = "i1"
    keep = "i1 < value"
    example = Example(
        parameters={"value": 1.0},
        inputs={"i1": [(1, 0.5), (2, 1.0), (3, 2.0)]},
        outputs={"o1": [(1, 0.5)]},
    )


class EqualTo(Operator):
    """Passes values within `epsilon` of a constant; an infinity equals itself."""

    value = Number(doc="what is compared with")
    epsilon = Number(
        required=False,
        default=EPSILON,
        minimum=0.0,
        aliases=("tolerance",),
        doc="the largest difference that counts as equal",
    )
    i1 = In("N", doc="values")
    o1 = Out("N", doc="those that equal the constant")
    formula = "i1"
    keep = "i1 == value or within(i1, value, epsilon)"
    example = Example(
        parameters={"value": 1.0, "epsilon": 0.5},
        inputs={"i1": [(1, 0.5), (2, 1.0), (3, 2.0)]},
        outputs={"o1": [(1, 0.5), (2, 1.0)]},
    )


class NotEqualTo(Operator):
    """Passes values more than `epsilon` away from a constant."""

    value = Number(doc="what is compared with")
    epsilon = Number(
        required=False,
        default=EPSILON,
        minimum=0.0,
        aliases=("tolerance",),
        doc="the largest difference that counts as equal",
    )
    i1 = In("N", doc="values")
    o1 = Out("N", doc="those that differ from the constant")
    formula = "i1"
    keep = "beyond(i1, value, epsilon)"
    example = Example(
        parameters={"value": 1.0, "epsilon": 0.5},
        inputs={"i1": [(1, 0.5), (2, 1.0), (3, 2.0)]},
        outputs={"o1": [(3, 2.0)]},
    )


class Dedup(Operator):
    """Passes a message whose value differs from that of the last one that passed, and the first.

    With `within` an equal value passes, too, where the last one is at least so much older. NaN is
    equal to NaN, and 0.0 to -0.0.
    """

    search_terms = "deduplicate, changes_only, on_change, distinct_until_changed"
    within = Duration(
        required=False, minimum=1, doc="how long a value stays the same; for ever if it is left out"
    )
    i1 = In("T", doc="values")
    o1 = Out("T", doc="those that are new")
    started = Scalar("boolean", False)
    passed = Scalar("T", 0)
    at = Scalar("integer", 0)
    silent = True
    example = Example(
        inputs={"i1": [(1, 1.0), (2, 1.0), (5, 2.0), (6, 1.0), (7, 1.0)]},
        outputs={"o1": [(1, 1.0), (5, 2.0), (6, 1.0)]},
    )

    @step
    def step(i1, time, within, started, passed, at):
        if started and (i1 == passed or (i1 != i1 and passed != passed)):
            fits, age = subtract_checked(time, at)
            if within < 0 or (fits and age < within):
                return SILENT, i1, started, passed, at
        return EMIT, i1, True, i1, time


class SyncGreaterThan(SynchronisedNumbers):
    """Passes the first port's value where it is greater than that of every other port."""

    o1 = Out("N", doc="i1 where it is greatest")
    formula = "i1"
    keep = staticmethod(first_against_others("{first} > {other}"))
    example = Example(
        inputs={"i1": [(1, 1.0), (2, 2.0), (4, 4.0)], "i2": [(2, 2.0), (4, 3.0)]},
        outputs={"o1": [(4, 4.0)]},
    )


class SyncLessThan(SynchronisedNumbers):
    """Passes the first port's value where it is less than that of every other port."""

    o1 = Out("N", doc="i1 where it is least")
    formula = "i1"
    keep = staticmethod(first_against_others("{first} < {other}"))
    example = Example(
        inputs={"i1": [(1, 1.0), (2, 2.0), (4, 4.0)], "i2": [(2, 2.0), (4, 9.0)]},
        outputs={"o1": [(4, 4.0)]},
    )


class SyncEqual(SynchronisedNumbers):
    """Passes the first port's value where every other port is less than `epsilon` away."""

    epsilon = Number(
        required=False,
        default=EPSILON,
        above=0.0,
        aliases=("tolerance",),
        doc="the least difference that counts",
    )
    o1 = Out("N", doc="i1 where all ports are equal to it")
    formula = "i1"
    keep = staticmethod(first_against_others("close_to({first}, {other}, epsilon)"))
    example = Example(
        parameters={"epsilon": 2.0},
        inputs={"i1": [(1, 1.0), (2, 2.0), (4, 4.0)], "i2": [(2, 3.0), (4, 6.0)]},
        outputs={"o1": [(2, 2.0)]},
    )


class SyncNotEqual(SynchronisedNumbers):
    """Passes the first port's value where every other port is at least `epsilon` away."""

    epsilon = Number(
        required=False,
        default=EPSILON,
        above=0.0,
        aliases=("tolerance",),
        doc="the least difference that counts",
    )
    o1 = Out("N", doc="i1 where all ports differ from it")
    formula = "i1"
    keep = staticmethod(first_against_others("far_from({first}, {other}, epsilon)"))
    example = Example(
        parameters={"epsilon": 2.0},
        inputs={"i1": [(1, 1.0), (2, 2.0), (4, 4.0)], "i2": [(2, 3.0), (4, 6.0)]},
        outputs={"o1": [(4, 4.0)]},
    )
