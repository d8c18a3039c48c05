"""Results over all messages so far: sums, counts, differences, averages that fade, records."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rtbot.numeric.exact import RUNNING_SUM_DIGITS
from rtbot.numeric.exact import running_integer_sum as exact_running_integer_sum
from rtbot.numeric.exact import running_sum as exact_running_sum
from rtbot.numeric.exact.digits import SCRATCH_DIGITS, SUM_DIGITS, add_value, digits_to_mean
from rtbot.numeric.ieee import subtract_checked
from rtbot.operator import (
    DOMAIN,
    EMIT,
    SILENT,
    Boolean,
    Cells,
    Choice,
    Example,
    In,
    Integer,
    Operator,
    Out,
    Scalar,
    Scratch,
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

    An integer difference outside int64 gives no message, counted under `domain`.
    """

    search_terms = "diff, delta, change, ts_delta"
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
def fade(average, value, weight):
    """The average moved towards the value by its weight, which is at most 1.

    Where their difference is no float, the two are weighted apart.
    """
    if weight == 1.0:
        return value
    change = value - average
    if change - change == 0.0:
        return average + weight * change
    return weight * value + (1.0 - weight) * average


def _seed_digits(values: Mapping[str, Any]) -> int:
    return SUM_DIGITS if values["seed"] == "mean" else 0


@step
def mean_so_far(value, seen, average, digits, digits_first, scratch, scratch_first):
    """The exact mean of `seen` values and this one, rounded once; an infinity among them stays."""
    if value - value != 0.0:
        return average + value
    add_value(value, digits, digits_first)
    if average - average != 0.0:
        return average
    for place in range(SUM_DIGITS):
        scratch[scratch_first + place] = digits[digits_first + place]
    return digits_to_mean(seen + 1, scratch, scratch_first)


class EMA(Operator):
    """The exponential moving average: y += alpha * (x - y), with alpha = 2 / (window + 1).

    It begins with the first value and is silent for the first window - 1 messages, or emits from
    the first with `partial`. `seed: mean` is the exact mean of the first `window` values before it
    fades, as TA-Lib does. A NaN gives NaN, and the average is as if it had not come; an infinity
    stays. With a window of 1 it is the value itself.
    """

    search_terms = (
        "ewm, ewma, ewm_mean, exponential_moving_average, exponential_smoothing, ema_indicator"
    )
    window = Integer(
        minimum=1, aliases=("window_size",), doc="messages that alpha is made of, and the warm-up"
    )
    seed = Choice(
        options=("first", "mean"), required=False, default="first", doc="what it begins with"
    )
    partial = Boolean(required=False, default=False, doc="emit from the first message on")
    i1 = In("number", doc="values")
    o1 = Out("number", doc="averages")
    digits = Cells("integer", size=_seed_digits)
    scratch = Scratch(SCRATCH_DIGITS)
    messages = Scalar("integer", 0)
    seen = Scalar("integer", 0)
    average = Scalar("number", 0.0)
    silent = True
    example = Example(
        parameters={"window": 3},
        inputs={"i1": [(1, 1.0), (2, 3.0), (3, 6.0), (4, float("nan")), (5, 8.0)]},
        outputs={"o1": [(3, 4.0), (4, float("nan")), (5, 6.0)]},
    )

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:
        """As many messages as alpha is made of, unless it may be partial."""
        return WarmUp(1 if values["partial"] else values["window"], certain=True)

    @step
    def step(
        i1, window, seed, partial, digits, digits_first, scratch, scratch_first,
        messages, seen, average,
    ):  # fmt: skip
        messages = min(messages + 1, window)
        code = EMIT if partial or messages == window else SILENT
        if i1 != i1:
            return code, math.nan, messages, seen, average
        if seed == 1 and seen < window:
            average = mean_so_far(i1, seen, average, digits, digits_first, scratch, scratch_first)
        elif seen == 0:
            average = i1
        else:
            average = fade(average, i1, 2.0 / (float(window) + 1.0))
        seen = min(seen + 1, window)
        return code, average, messages, seen, average


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
