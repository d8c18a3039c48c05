"""Windows of the last messages or of a time span: sums, means, deviations, extremes.

A window of n messages emits nothing until it holds n. One of a time span w has, at a message of
time t, what came in (t - w, t], and emits nothing until t - w has reached the first message. With
`partial` both emit from the first message on. The result is a function of the values in the window,
whatever came before: a NaN makes it NaN while it is inside, and leaves with it; so do infinities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.numeric.exact import (
    INTEGER_PART,
    leave_deviation,
    leave_integer_deviation,
    leave_integer_sum,
    leave_sum,
)
from rtbot.numeric.exact import integer_deviation as exact_integer_deviation
from rtbot.numeric.exact import integer_mean as exact_integer_mean
from rtbot.numeric.exact import integer_sum as exact_integer_sum
from rtbot.numeric.exact import moving_mean as exact_moving_mean
from rtbot.numeric.exact import moving_sum as exact_moving_sum
from rtbot.numeric.exact import standard_deviation as exact_standard_deviation
from rtbot.numeric.exact.digits import SCRATCH_DIGITS
from rtbot.numeric.ieee import is_older
from rtbot.operator import (
    EMIT,
    SILENT,
    Boolean,
    Cells,
    Choice,
    Example,
    In,
    Operator,
    Out,
    Ring,
    Scalar,
    Scratch,
    Span,
    TimeSpan,
    WarmUp,
    WindowLength,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


class Window(Operator, abstract=True):
    """A result over the last messages, so many or of a time span."""

    window = WindowLength(
        aliases=("window_size",), doc="messages in the window, or its length in time"
    )
    partial = Boolean(
        required=False, default=False, doc="emit from the first message on, over what there is"
    )
    silent = True

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:
        """The window has to be full, unless it may be partial."""
        if values["partial"]:
            return WarmUp(1, certain=True)
        is_time = isinstance(values["window"], TimeSpan)
        return WarmUp(2, certain=False) if is_time else WarmUp(values["window"], certain=True)


class ExactWindow(Window, abstract=True):
    """A window of numbers whose result is exact and rounded once."""

    i1 = In("N", doc="values")
    values = Ring("i1", size="window")
    scratch = Scratch(SCRATCH_DIGITS)


@step
def integer_moving_sum(
    partial, values_entering, values_leaving, values_evicts, values_full,
    high, low, slack, specials,
):  # fmt: skip
    """The step of MovingSum for integers."""
    high, low = exact_integer_sum(values_entering, values_leaving, values_evicts, high, low)
    code = EMIT if partial or values_full else SILENT
    return code, high * INTEGER_PART + low, high, low, slack, specials


@step
def integer_moving_mean(
    partial, values_count, values_entering, values_leaving, values_evicts, values_full,
    scratch, scratch_first, high, low, slack, specials,
):  # fmt: skip
    """The step of MovingAverage for integers."""
    high, low = exact_integer_sum(values_entering, values_leaving, values_evicts, high, low)
    mean = exact_integer_mean(values_count, high, low, scratch, scratch_first)
    code = EMIT if partial or values_full else SILENT
    return code, mean, high, low, slack, specials


class ExactWindowSum(ExactWindow, abstract=True):
    """What a sum or mean remembers, too: the sum of the window in two parts, and what is off."""

    high = Scalar("number", 0.0)
    low = Scalar("number", 0.0)
    slack = Scalar("number", 0.0)
    specials = Scalar("integer", 0)
    leave = leave_sum
    integer_leave = leave_integer_sum


class MovingSum(ExactWindowSum):
    """The sum of the values in a window, exact and rounded once, as `math.fsum`.

    Infinities of both signs in one window give NaN; a sum beyond the range is an infinity and
    leaves no trace afterwards.
    """

    search_terms = "sum, rolling_sum, moving_total, ts_sum"
    o1 = Out("number", doc="sums")
    integer_step = integer_moving_sum
    example = Example(
        parameters={"window": 2},
        inputs={"i1": [(1, 1.0), (4, 2.5), (5, -1.0)]},
        outputs={"o1": [(4, 3.5), (5, 1.5)]},
    )

    @step
    def step(
        partial, values, values_first, values_count, values_entering, values_leaving,
        values_evicts, values_full, scratch, scratch_first, high, low, slack, specials,
    ):  # fmt: skip
        total, high, low, slack, specials = exact_moving_sum(
            values_entering, values_leaving, values_evicts, values_count, values, values_first,
            scratch, scratch_first, high, low, slack, specials,
        )  # fmt: skip
        code = EMIT if partial or values_full else SILENT
        return code, total, high, low, slack, specials


class MovingAverage(ExactWindowSum):
    """The mean of the values in a window: the exact mean rounded once.

    It is never outside the values of its window, and is finite where they are. Infinities of both
    signs in one window give NaN.
    """

    search_terms = (
        "sma, mean, average, avg, rolling, rolling_mean, rolling_average, moving_mean, "
        "simple_moving_average, ts_mean, boxcar"
    )
    o1 = Out("number", doc="means")
    integer_step = integer_moving_mean
    example = Example(
        parameters={"window": 3},
        inputs={"i1": [(1, 2.0), (4, 4.0), (5, 9.0), (7, 5.0)]},
        outputs={"o1": [(5, 5.0), (7, 6.0)]},
    )

    @step
    def step(
        partial, values, values_first, values_count, values_entering, values_leaving,
        values_evicts, values_full, scratch, scratch_first, high, low, slack, specials,
    ):  # fmt: skip
        mean, high, low, slack, specials = exact_moving_mean(
            values_entering, values_leaving, values_evicts, values_count, values, values_first,
            scratch, scratch_first, high, low, slack, specials,
        )  # fmt: skip
        code = EMIT if partial or values_full else SILENT
        return code, mean, high, low, slack, specials


@step
def integer_moving_deviation(
    partial, values, values_first, values_count, values_entering, values_leaving,
    values_evicts, values_full, scratch, scratch_first, center, sum_high, sum_low, sum_slack,
    square_high, square_low, square_slack, specials,
):  # fmt: skip
    """The step of StandardDeviation for integers."""
    (
        deviation, center, sum_high, sum_low, sum_slack,
        square_high, square_low, square_slack, specials,
    ) = exact_integer_deviation(
        values_entering, values_leaving, values_evicts, values_count, values, values_first,
        scratch, scratch_first, center, sum_high, sum_low, sum_slack,
        square_high, square_low, square_slack, specials,
    )  # fmt: skip
    code = EMIT if partial or values_full else SILENT
    return (
        code, deviation, center, sum_high, sum_low, sum_slack,
        square_high, square_low, square_slack, specials,
    )  # fmt: skip


class ExactWindowDeviation(ExactWindow, abstract=True):
    """What a deviation remembers, too."""

    center = Scalar("number", 0.0)
    sum_high = Scalar("number", 0.0)
    sum_low = Scalar("number", 0.0)
    sum_slack = Scalar("number", 0.0)
    square_high = Scalar("number", 0.0)
    square_low = Scalar("number", 0.0)
    square_slack = Scalar("number", 0.0)
    specials = Scalar("integer", 0)


class StandardDeviation(ExactWindowDeviation):
    """The sample deviation of the values in a window: `math.sqrt(statistics.variance(...))`.

    The variance (n - 1 in the denominator) is exact and rounded once. Where it is beyond the range
    of numbers, as for values around 1e200, the root of the exact variance is rounded once instead,
    to an infinity only if it is beyond the range itself. One value alone deviates by 0; an infinity
    in the window gives NaN.
    """

    search_terms = "std, stdev, stddev, sd, rolling_std, moving_std, ts_std, volatility"
    o1 = Out("number", doc="deviations")
    integer_step = integer_moving_deviation
    leave = leave_deviation
    integer_leave = leave_integer_deviation
    example = Example(
        parameters={"window": 2},
        inputs={"i1": [(1, 8.0), (2, 5.0), (3, 9.0)]},
        outputs={"o1": [(2, 2.1213203435596424), (3, 2.8284271247461903)]},
    )

    @step
    def step(
        partial, values, values_first, values_count, values_entering, values_leaving,
        values_evicts, values_full, scratch, scratch_first, center, sum_high, sum_low, sum_slack,
        square_high, square_low, square_slack, specials,
    ):  # fmt: skip
        (
            deviation, center, sum_high, sum_low, sum_slack,
            square_high, square_low, square_slack, specials,
        ) = exact_standard_deviation(
            values_entering, values_leaving, values_evicts, values_count, values, values_first,
            scratch, scratch_first, center, sum_high, sum_low, sum_slack,
            square_high, square_low, square_slack, specials,
        )  # fmt: skip
        code = EMIT if partial or values_full else SILENT
        return (
            code, deviation, center, sum_high, sum_low, sum_slack,
            square_high, square_low, square_slack, specials,
        )  # fmt: skip


@step
def prefer(earlier, later, largest):
    """The smaller value, or the larger if `largest`; the earlier of equal ones; NaN before all."""
    if earlier != earlier:
        return earlier
    if later != later or (later > earlier if largest else later < earlier):
        return later
    return earlier


@step
def slide_extreme(value, size, largest, cells, cells_first, place, wrapped, extreme):
    """The extreme of the last `size` values, at constant cost per value on average.

    Values are counted in laps of `size`. Before `place` the cells hold values of this lap, from
    `place` on the extremes of what followed in the last lap, up to its end; `extreme` is that of
    this lap so far. So a window is one stored extreme and one running one. At the end of a lap its
    cells become such extremes, from the back. (van Herk, A fast algorithm for local minimum and
    maximum filters, 1992; Gil and Werman, Computing 2-D min, median and max filters, 1993.)
    """
    extreme = value if place == 0 else prefer(extreme, value, largest)
    result = extreme
    if wrapped and place + 1 < size:
        result = prefer(cells[cells_first + place + 1], extreme, largest)
    cells[cells_first + place] = value
    place += 1
    if place == size:
        place = 0
        wrapped = True
        following = value
        for back in range(2, size + 1):
            at = cells_first + size - back
            following = prefer(cells[at], following, largest)
            cells[at] = following
    return result, place, wrapped, extreme


@step
def window_extreme(i1, window, partial, mode, cells, cells_first, place, wrapped, extreme):
    """The step of WindowMinMax, for numbers and for integers."""
    result, place, wrapped, extreme = slide_extreme(
        i1, window, mode == 1, cells, cells_first, place, wrapped, extreme
    )
    return EMIT if partial or wrapped else SILENT, result, place, wrapped, extreme


@step
def is_preferred(later, earlier, largest):
    """Whether the earlier of two values is never the extreme while the later one is there."""
    return earlier == earlier and (
        later != later or (later > earlier if largest else later < earlier)
    )


@step
def extreme_of_span(
    i1, time, window, partial, mode, place, wrapped,
    best_time, best_time_first, best_value, best_value_first, best_count,
):  # fmt: skip
    """The step of WindowMinMax for time spans: `place` has the time of the first message.

    The list has the values that are, or may still become, the extreme, that one first.
    """
    if best_count == 0:
        place = time
    wrapped = wrapped or is_older(place, time, window)
    first, end = 0, best_count
    while first < end and is_older(best_time[best_time_first + first], time, window):
        first += 1
    while end > first and is_preferred(i1, best_value[best_value_first + end - 1], mode == 1):
        end -= 1
    best_time[best_time_first + end] = time
    best_value[best_value_first + end] = i1
    result = best_value[best_value_first + first]
    code = EMIT if partial or wrapped else SILENT
    return code, result, place, wrapped, first, end + 1 - first


class WindowExtreme(Window, abstract=True):
    """The extreme of a window: its parameters and ports, and what all of them remember."""

    mode = Choice(options=("min", "max"), doc="which extreme")
    i1 = In("N", doc="values")
    o1 = Out("N", doc="extremes")
    place = Scalar("integer", 0)
    wrapped = Scalar("boolean", False)


class WindowMinMax(WindowExtreme):
    """The smallest or the largest of the values in a window.

    Of equal values the earliest is given (0.0 and -0.0 are equal). NaN inside gives NaN.
    """

    search_terms = (
        "rolling_min mode: min, moving_min mode: min, ts_min mode: min, lowest mode: min, "
        "rolling_max mode: max, moving_max mode: max, ts_max mode: max, highest mode: max"
    )
    cells = Cells("N", size=lambda values: values["window"])
    extreme = Scalar("N", 0)
    step = window_extreme
    integer_step = window_extreme
    example = Example(
        parameters={"window": 3, "mode": "min"},
        inputs={"i1": [(1, 5.0), (2, 2.0), (3, 4.0), (4, 6.0), (5, 7.0)]},
        outputs={"o1": [(3, 2.0), (4, 2.0), (5, 4.0)]},
    )

    @classmethod
    def variant(cls, values: Mapping[str, Any]) -> type[Operator]:
        """Of a time span there is no number of cells."""
        return ExtremeOfSpan if isinstance(values["window"], TimeSpan) else cls


class ExtremeOfSpan(WindowExtreme, variant_of="WindowMinMax"):
    """The extreme of a window of time."""

    best = Span({"time": "integer", "value": "N"})
    step = extreme_of_span
    integer_step = extreme_of_span


class MovingCount(Window):
    """How many messages there are in a window."""

    search_terms = "rolling_count, ts_count, window_count"
    i1 = In("T", doc="messages; their values do not matter")
    o1 = Out("integer", doc="counts, this message included")
    times = Ring("i1", size="window", of="time")
    example = Example(
        parameters={"window": 2, "partial": True},
        inputs={"i1": [(1, 5.0), (2, 2.0), (3, 4.0)]},
        outputs={"o1": [(1, 1), (2, 2), (3, 2)]},
    )

    @step
    def step(partial, times_count, times_full):
        return EMIT if partial or times_full else SILENT, times_count
