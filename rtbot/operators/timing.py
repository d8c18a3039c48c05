"""Operators that move messages in time or find them by their neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.numeric.ieee import INTEGER_MAX, add_checked
from rtbot.operator import (
    DOMAIN,
    EMIT,
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
    WarmUp,
    step,
)
from rtbot.operators.windows import slide_extreme

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


class PeakDetector(Operator):
    """A value strictly greater than all others of a window around it, at its own time.

    The window is `window` messages, as many before as after. A plateau has no peak, nor have the
    ends of the data; NaN is no peak, and nothing is greater than a NaN beside it. A peak is known
    half a window later.
    """

    search_terms = "find_peaks, peak, peaks, local_max, argrelmax"
    window = Integer(minimum=3, odd=True, aliases=("window_size",), doc="messages in the window")
    i1 = In("N", doc="values")
    o1 = Out("N", doc="peaks, at their own times")
    cells = Cells("N", size="window")
    place = Scalar("integer", 0)
    wrapped = Scalar("boolean", False)
    extreme = Scalar("N", 0)
    highest = Scalar("N", 0)
    candidate = Scalar("N", 0)
    candidate_time = Scalar("integer", 0)
    missing = Scalar("integer", 0)
    frontier = Scalar("integer", INTEGER_MAX)
    silent = True
    sets_time = True
    causal = False
    step = find_peak
    integer_step = find_peak
    example = Example(
        parameters={"window": 3},
        inputs={"i1": [(1, 1.0), (2, 3.0), (3, 3.0), (4, 1.0), (6, 2.0), (7, 1.0)]},
        outputs={"o1": [(6, 2.0)]},
    )

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:
        """A peak needs a full window around it."""
        return WarmUp(values["window"], certain=False)
