"""Operators that give a stream a regular grid of times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.numeric.ieee import INTEGER_MAX, INTEGER_MIN
from rtbot.operator import (
    EMIT,
    EMIT_AGAIN,
    SILENT,
    Boolean,
    Duration,
    Example,
    In,
    Integer,
    Operator,
    Out,
    Scalar,
    WarmUp,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

ON_FIRST_MESSAGE = INTEGER_MIN
"""The `t0` that means: the grid is that of the first message."""


@step
def first_grid_point(time, interval, t0, snap_first):
    """(exists, time): where the grid begins, given the time of the first message.

    Times are compared by their places between two grid points, which fit int64 always.
    """
    if t0 != ON_FIRST_MESSAGE and time < t0 and not snap_first:
        return True, t0
    behind = 0
    if t0 != ON_FIRST_MESSAGE:
        behind = (time % interval - t0 % interval) % interval
        if snap_first and time >= INTEGER_MIN + behind:
            return True, time - behind
    if time > INTEGER_MAX - (interval - behind):
        return False, INTEGER_MAX
    return True, time + (interval - behind)


class ResamplerConstant(Operator):
    """The stream on a regular grid: at every grid point the latest value at or before it.

    Without `t0` the grid begins one interval after the first message. With it the grid is
    t0 + k * interval and begins after the first message, or at `t0` where that lies in the future.
    `snap_first` lets a grid with `t0` begin at or before the first message, whose value the first
    point then takes. A grid point comes with the first message at or after it, so that there are
    none beyond the last message; a gap gives every point in it. Points beyond int64 do not exist.
    """

    search_terms = (
        "resample, asfreq, ffill, forward_fill, pad, sample, upsample, downsample, bucket, grid"
    )
    interval = Duration(minimum=1, doc="distance of the grid points")
    t0 = Integer(
        required=False,
        default=ON_FIRST_MESSAGE,
        doc="a time of the grid; without it the time of the first message",
    )
    snap_first = Boolean(
        required=False,
        default=False,
        aliases=("snapFirst",),
        doc="begin at or before the first message",
    )
    i1 = In("T", doc="values")
    o1 = Out("T", doc="values on the grid")
    started = Scalar("boolean", False)
    ended = Scalar("boolean", False)
    due = Scalar("integer", 0)
    held = Scalar("T", 0)
    frontier = Scalar("integer", INTEGER_MAX)
    silent = True
    sets_time = True
    causal = False
    example = Example(
        parameters={"interval": 5, "t0": 0},
        inputs={"i1": [(3, 1.0), (4, 2.0), (10, 3.0), (16, 4.0)]},
        outputs={"o1": [(5, 2.0), (10, 3.0), (15, 3.0)]},
    )

    @classmethod
    def reach(cls, values: Mapping[str, Any]) -> int:
        """A grid that snaps to the first message may begin almost an interval before it."""
        return values["interval"] if cls._snaps(values) else 0

    @classmethod
    def grid(cls, values: Mapping[str, Any]) -> tuple[int, int | None]:
        """A grid with `t0` may begin there, long after the first message."""
        return values["interval"], None if values["t0"] == ON_FIRST_MESSAGE else values["t0"]

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:
        """The first grid point lies after the first message, unless the grid snaps to that."""
        return WarmUp(1 if cls._snaps(values) else 2, certain=False)

    @classmethod
    def _snaps(cls, values: Mapping[str, Any]) -> bool:
        return bool(values["snap_first"]) and values["t0"] != ON_FIRST_MESSAGE

    @step
    def step(i1, time, interval, t0, snap_first, started, ended, due, held, frontier):
        if not started:
            exists, due = first_grid_point(time, interval, t0, snap_first)
            started, ended = True, not exists
            held = i1
        value = i1 if due == time else held
        point = due
        code = SILENT
        if due <= time and not ended:
            code = EMIT
            if due > INTEGER_MAX - interval:
                ended = True
            else:
                due += interval
                if due <= time:
                    code = EMIT_AGAIN
        if code != EMIT_AGAIN:
            held = i1
        frontier = due - 1
        if ended:  # nothing can come any more; the greatest int64 says: as the source
            frontier = INTEGER_MAX - 1 if time < INTEGER_MAX else INTEGER_MAX
        return code, point, value, started, ended, due, held, frontier
