"""Results over all messages so far: sums, counts, changes, records."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rtbot.numeric.exact import RUNNING_SUM_DIGITS
from rtbot.numeric.exact import running_integer_sum as exact_running_integer_sum
from rtbot.numeric.exact import running_sum as exact_running_sum
from rtbot.numeric.ieee import (
    INTEGER_MAX,
    INTEGER_MIN,
    divide,
    subtract_checked,
    subtract_to_number,
)
from rtbot.operator import (
    DOMAIN,
    EMIT,
    SILENT,
    Boolean,
    Cells,
    Duration,
    Example,
    In,
    Operator,
    Out,
    Scalar,
    WarmUp,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


class Count(Operator):
    """How many messages there have been: 1, 2, 3, ..."""

    search_terms = "cumcount, row_number, counter, n"
    aliases = ("CountNumber", "CountBoolean")
    i1 = In("T", doc="messages; their values do not matter")
    o1 = Out("integer", doc="the count, this message included")
    count = Scalar("integer", 0)
    example = Example(
        inputs={"i1": [(3, 10.0), (7, 9.0)]},
        outputs={"o1": [(3, 1), (7, 2)]},
    )

    @step
    def step(count):
        return count + 1, count + 1


@step
def difference(i1, started, previous):
    """The step of Difference for numbers."""
    return EMIT if started else SILENT, i1 - previous, True, i1


@step
def difference_integer(i1, started, previous):
    """The step of Difference for integers."""
    fits, change = subtract_checked(i1, previous)
    code = EMIT if fits else DOMAIN
    return code if started else SILENT, change, True, i1


class Difference(Operator):
    """The value less the one before it, at the time of the newer; nothing for the first.

    An integer difference outside int64 gives no message, counted under `domain`. With
    `use_oldest_time: false`, as in RtBot, whose flag says the opposite of what it does, each is at
    the time of the older value instead, and comes when the newer one does.
    """

    search_terms = "diff, delta, change, ts_delta"
    use_oldest_time = Boolean(
        required=False, default=True, doc="false: at the time of the older value"
    )
    i1 = In("N", doc="values")
    o1 = Out("N", doc="changes")
    started = Scalar("boolean", False)
    previous = Scalar("N", 0)
    silent = True
    faults = True
    step = difference
    integer_step = difference_integer
    example = Example(
        inputs={"i1": [(1, 10.0), (7, 9.5), (11, 12.0)]},
        outputs={"o1": [(7, -0.5), (11, 2.5)]},
    )

    @classmethod
    def variant(cls, values: Mapping[str, Any]) -> type[Operator]:
        """A difference at the older time has times of its own."""
        return cls if values["use_oldest_time"] else DifferenceAtOlder

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:  # noqa: ARG003
        """The first value has none before it."""
        return WarmUp(2, certain=True)


@step
def time_before(time):
    """The greatest time before this one; the least time of all is its own."""
    return time - 1 if time > INTEGER_MIN else INTEGER_MIN


@step
def difference_at_older(i1, time, started, previous, before):
    """The step of Difference for numbers, at the time of the older value."""
    return EMIT if started else SILENT, before, i1 - previous, True, i1, time, time_before(time)


@step
def integer_difference_at_older(i1, time, started, previous, before):
    """The step of Difference for integers, at the time of the older value."""
    fits, change = subtract_checked(i1, previous)
    code = EMIT if fits else DOMAIN
    return code if started else SILENT, before, change, True, i1, time, time_before(time)


class DifferenceAtOlder(Difference, variant_of="Difference"):
    """Each change at the time of the older value; nothing is known behind the newest one yet."""

    before = Scalar("integer", 0)
    frontier = Scalar("integer", INTEGER_MAX)
    sets_time = True
    causal = False
    step = difference_at_older
    integer_step = integer_difference_at_older


@step
def change_per_time(change, time, before, per):
    """The change for each `per` of time, between two times."""
    return divide(change * float(per), subtract_to_number(time, before))


@step
def rate(i1, time, per, counter, started, previous, before):
    """The step of Rate for numbers."""
    change = i1 if counter and i1 < previous else i1 - previous
    code = EMIT if started else SILENT
    return code, change_per_time(change, time, before, per) if started else 0.0, True, i1, time


@step
def rate_of_integers(i1, time, per, counter, started, previous, before):
    """The step of Rate for integers, whose change is exact before it is rounded."""
    change = float(i1) if counter and i1 < previous else subtract_to_number(i1, previous)
    code = EMIT if started else SILENT
    return code, change_per_time(change, time, before, per) if started else 0.0, True, i1, time


class Rate(Operator):
    """How fast the value changes: its change since the message before it, for each `per` of time.

    It is at the time of the newer message; nothing for the first. With `counter` the values only
    ever grow, and one below the one before it has begun again at 0: it is all change itself.
    """

    search_terms = "derivative, gradient, velocity, irate, speed, per_second counter: true"
    per = Duration(
        required=False, minimum=1, default=1, doc="the time that a rate is for, such as 1s"
    )
    counter = Boolean(required=False, default=False, doc="a value that falls has begun again at 0")
    i1 = In("N", doc="values")
    o1 = Out("number", doc="changes for each `per`")
    started = Scalar("boolean", False)
    previous = Scalar("N", 0)
    before = Scalar("integer", 0)
    silent = True
    step = rate
    integer_step = rate_of_integers
    example = Example(
        parameters={"per": 10},
        inputs={"i1": [(0, 1.0), (5, 4.0), (25, 2.0)]},
        outputs={"o1": [(5, 6.0), (25, -1.0)]},
    )

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:  # noqa: ARG003
        """The first value has none before it."""
        return WarmUp(2, certain=True)


@step
def cumulative_sum(i1, digits, digits_first, high, low, slack, specials, upper, lower):
    """The step of CumulativeSum for numbers."""
    total, high, low, slack, specials = exact_running_sum(
        i1, digits, digits_first, high, low, slack, specials
    )
    return EMIT, total, high, low, slack, specials, upper, lower


@step
def cumulative_sum_integer(i1, high, low, slack, specials, upper, lower):
    """The step of CumulativeSum for integers."""
    fits, total, upper, lower = exact_running_integer_sum(i1, upper, lower)
    return EMIT if fits else DOMAIN, total, high, low, slack, specials, upper, lower


class CumulativeSum(Operator):
    """The sum of all values so far: the exact sum, rounded once.

    NaN stays for ever, an infinity too, and both signs of it give NaN. An integer sum outside int64
    gives no message, counted under `domain`; the sum itself stays exact, so that later ones that
    fit are right.
    """

    search_terms = "cumsum, cum_sum, running_sum, running_total, total, accumulate, scan"
    i1 = In("N", doc="values")
    o1 = Out("N", doc="sums, this value included")
    digits = Cells("integer", size=RUNNING_SUM_DIGITS)
    high = Scalar("number", 0.0)
    low = Scalar("number", 0.0)
    slack = Scalar("number", 0.0)
    specials = Scalar("integer", 0)
    upper = Scalar("integer", 0)
    lower = Scalar("integer", 0)
    faults = True
    step = cumulative_sum
    integer_step = cumulative_sum_integer
    example = Example(
        inputs={"i1": [(1, 0.1), (2, 0.2), (5, 0.3)]},
        outputs={"o1": [(1, 0.1), (2, 0.30000000000000004), (5, 0.6)]},
    )


@step
def lowest(i1, seen, best):
    """The step of MinTracker for numbers."""
    if i1 == i1 and (not seen or i1 < best):
        return i1, True, i1
    return best if seen else math.inf, seen, best


@step
def lowest_integer(i1, seen, best):
    """The step of MinTracker for integers."""
    if not seen or i1 < best:
        best = i1
    return best, True, best


class MinTracker(Operator):
    """The smallest value so far; NaN is passed over, and gives infinity where it comes first."""

    search_terms = "cummin, cum_min, running_min, all_time_low"
    i1 = In("N", doc="values")
    o1 = Out("N", doc="the smallest so far")
    seen = Scalar("boolean", False)
    best = Scalar("N", 0)
    step = lowest
    integer_step = lowest_integer
    example = Example(
        inputs={"i1": [(1, 3.0), (2, 5.0), (3, 1.0)]},
        outputs={"o1": [(1, 3.0), (2, 3.0), (3, 1.0)]},
    )


@step
def highest_number(i1, seen, best):
    """The step of MaxTracker for numbers."""
    if i1 == i1 and (not seen or i1 > best):
        return i1, True, i1
    return best if seen else -math.inf, seen, best


@step
def highest_integer(i1, seen, best):
    """The step of MaxTracker for integers."""
    if not seen or i1 > best:
        best = i1
    return best, True, best


class MaxTracker(Operator):
    """The largest value so far; NaN is passed over, and gives -infinity where it comes first."""

    search_terms = "cummax, cum_max, running_max, all_time_high"
    i1 = In("N", doc="values")
    o1 = Out("N", doc="the largest so far")
    seen = Scalar("boolean", False)
    best = Scalar("N", 0)
    step = highest_number
    integer_step = highest_integer
    example = Example(
        inputs={"i1": [(1, 3.0), (2, 5.0), (3, 1.0)]},
        outputs={"o1": [(1, 3.0), (2, 5.0), (3, 5.0)]},
    )
