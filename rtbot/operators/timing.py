"""Operators that move messages in time or find them by their neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.numeric.ieee import INTEGER_MAX, add_checked, is_older
from rtbot.operator import (
    DOMAIN,
    EMIT,
    NEVER,
    SILENT,
    Cells,
    Duration,
    Example,
    In,
    Integer,
    Operator,
    Out,
    Ring,
    Scalar,
    Span,
    TimeSpan,
    WarmUp,
    WindowLength,
    step,
)
from rtbot.operators.windows import is_preferred, slide_extreme

if TYPE_CHECKING:
    from collections.abc import Mapping


class Lag(Operator):
    """The value `n` messages earlier, at the time of the newest; silent for the first `n`."""

    search_terms = "shift, delay, prev, previous, ref, lagged"
    n = Integer(minimum=1, doc="how many messages back")
    i1 = In("T", doc="values")
    o1 = Out("T", doc="earlier values")
    values = Ring("i1", size="n")
    silent = True
    example = Example(
        parameters={"n": 1},
        inputs={"i1": [(1, 1.0), (4, 2.0), (5, 3.0)]},
        outputs={"o1": [(4, 1.0), (5, 2.0)]},
    )

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:
        """There has to be a value `n` messages earlier."""
        return WarmUp(values["n"] + 1, certain=True)

    @step
    def step(values_leaving, values_evicts):
        return EMIT if values_evicts else SILENT, values_leaving


class TimestampExtract(Operator):
    """The time of every message as its value, an integer in `io.unit`."""

    search_terms = "timestamp, event_time, epoch, rowtime"
    i1 = In("T", doc="messages; their values do not matter")
    o1 = Out("integer", doc="their times")
    example = Example(
        inputs={"i1": [(3, 10.0), (7, 9.0)]},
        outputs={"o1": [(3, 3), (7, 7)]},
    )

    @step
    def step(time):
        return time


class TimeShift(Operator):
    """The same value at a time `shift` later, or earlier if it is negative.

    A time outside int64 gives no message, counted under `domain`.
    """

    search_terms = "tshift, time_offset"
    shift = Duration(minimum=None, doc="what is added to the time")
    i1 = In("T", doc="values")
    o1 = Out("T", doc="the same values, moved")
    sets_time = True
    frontier = "shift"
    causal = False
    example = Example(
        parameters={"shift": 5},
        inputs={"i1": [(1, 10.5), (7, 9.0)]},
        outputs={"o1": [(6, 10.5), (12, 9.0)]},
    )

    @step
    def step(i1, time, shift):
        fits, later = add_checked(time, shift)
        return EMIT if fits else DOMAIN, later, i1


@step
def find_peak(
    i1, time, window, cells, cells_first, place, wrapped, extreme, highest, candidate,
    candidate_time, missing, frontier,
):  # fmt: skip
    """The step of PeakDetector, for numbers and for integers.

    A value greater than the half window before it is a candidate, and each greater one replaces
    it, so there is never more than one; it is a peak once as many smaller ones have followed.
    """
    half = window // 2
    code = SILENT
    peak, peak_time = candidate, candidate_time
    if missing > 0:
        missing = missing - 1 if i1 < candidate else 0
        if missing == 0 and i1 < candidate:
            code = EMIT
    if wrapped and i1 > highest:
        candidate = i1
        candidate_time = time
        missing = half
    highest, place, wrapped, extreme = slide_extreme(
        i1, half, True, cells, cells_first, place, wrapped, extreme
    )
    frontier = candidate_time - 1 if missing > 0 else INTEGER_MAX
    return (
        code, peak_time, peak, place, wrapped, extreme, highest, candidate,
        candidate_time, missing, frontier,
    )  # fmt: skip


@step
def follow_peak(
    i1, time, window, first, full, candidate, candidate_time, due, frontier,
    best_time, best_time_first, best_value, best_value_first, best_count,
):  # fmt: skip
    """The step of PeakDetector for time spans, for numbers and for integers.

    The list has the values of the half window before that may still be its greatest, that one
    first. As with messages there is never more than one candidate. It is a peak at `due`.
    """
    half = window - window // 2
    if best_count == 0:
        first = time
    full = full or is_older(first, time, half)
    begin, end = 0, best_count
    while begin < end and is_older(best_time[best_time_first + begin], time, half):
        begin += 1
    if due != NEVER and not i1 < candidate:
        due = NEVER
    if full and i1 == i1 and (begin == end or i1 > best_value[best_value_first + begin]):
        fits, later = add_checked(time, half)
        if fits:
            candidate, candidate_time, due = i1, time, later
    while end > begin and is_preferred(i1, best_value[best_value_first + end - 1], True):
        end -= 1
    best_time[best_time_first + end] = time
    best_value[best_value_first + end] = i1
    frontier = candidate_time - 1 if due != NEVER else INTEGER_MAX
    code = SILENT
    return code, first, full, candidate, candidate_time, due, frontier, begin, end + 1 - begin


@step
def confirm_peak(first, full, candidate, candidate_time, best_count):
    """What comes once half a window behind a candidate has passed."""
    return (
        EMIT, candidate_time, candidate,
        first, full, candidate, candidate_time, NEVER, INTEGER_MAX, 0, best_count,
    )  # fmt: skip


class Peaks(Operator, abstract=True):
    """The parameters and ports of PeakDetector."""

    window = WindowLength(
        minimum=3,
        odd=True,
        aliases=("window_size",),
        doc="messages in the window, or its length in time",
    )
    i1 = In("N", doc="values")
    o1 = Out("N", doc="peaks, at their own times")
    silent = True
    sets_time = True
    causal = False


class PeakDetector(Peaks):
    """A value strictly greater than all others of a window around it, at its own time.

    The window is `window` messages, as many before as after, or a time span: all that is less than
    half of it before or after. A plateau has no peak; NaN is no peak, and nothing is greater than a
    NaN beside it. At the beginning of the data, where the half before is not full, there is none.
    A peak is known once the half behind it is full: after so many messages, or when that time has
    passed, as it has at the end of the data. A value alone in a time span is a peak.
    """

    search_terms = "find_peaks, peak, peaks, local_max, argrelmax"
    cells = Cells("N", size="window")
    place = Scalar("integer", 0)
    wrapped = Scalar("boolean", False)
    extreme = Scalar("N", 0)
    highest = Scalar("N", 0)
    candidate = Scalar("N", 0)
    candidate_time = Scalar("integer", 0)
    missing = Scalar("integer", 0)
    frontier = Scalar("integer", INTEGER_MAX)
    step = find_peak
    integer_step = find_peak
    example = Example(
        parameters={"window": 3},
        inputs={"i1": [(1, 1.0), (2, 3.0), (3, 3.0), (4, 1.0), (6, 2.0), (7, 1.0)]},
        outputs={"o1": [(6, 2.0)]},
    )

    @classmethod
    def variant(cls, values: Mapping[str, Any]) -> type[Operator]:
        """A time span is a list of values and a time to wait for."""
        return PeakInSpan if isinstance(values["window"], TimeSpan) else cls

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:
        """A peak needs a full window around it."""
        return WarmUp(values["window"], certain=False)


class PeakInSpan(Peaks, variant_of="PeakDetector"):
    """What finds peaks in time spans."""

    first = Scalar("integer", 0)
    full = Scalar("boolean", False)
    candidate = Scalar("N", 0)
    candidate_time = Scalar("integer", 0)
    due = Scalar("integer", NEVER)
    frontier = Scalar("integer", INTEGER_MAX)
    best = Span({"time": "integer", "value": "N"})
    gathers = True
    close = confirm_peak
    step = follow_peak
    integer_step = follow_peak

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:  # noqa: ARG003
        """The first message is in no full window."""
        return WarmUp(2, certain=False)
