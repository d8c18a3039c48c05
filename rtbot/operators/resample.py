"""Operators that give a stream a regular grid of times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.numeric.ieee import INTEGER_MAX, INTEGER_MIN, subtract_checked
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


@step
def grid_point_from(time, distance, point):
    """(exists, time): the first point at or after `time` of the grid on which `point` is."""
    behind = (time % distance - point % distance) % distance
    if behind == 0:
        return True, time
    if time > INTEGER_MAX - (distance - behind):
        return False, INTEGER_MAX
    return True, time + (distance - behind)


@step
def take_point(due, limit, interval):
    """(code, ended, due): whether the next point is at or before `limit`, and the one after it."""
    if due > limit:
        return SILENT, False, due
    if due > INTEGER_MAX - interval:
        return EMIT, True, due
    due += interval
    return EMIT_AGAIN if due <= limit else EMIT, False, due


@step
def grid_frontier(due, ended, time):
    """The time up to which a grid has no more points; the greatest int64 says: as the source."""
    if ended:
        return INTEGER_MAX - 1 if time < INTEGER_MAX else INTEGER_MAX
    return due - 1


class ResamplerConstant(Operator):
    """The stream on a regular grid: at every grid point the latest value at or before it.

    Without `t0` the grid begins one interval after the first message. With it the grid is
    t0 + k * interval and begins after the first message, or at `t0` where that lies in the future.
    `snap_first` lets a grid with `t0` begin at or before the first message, whose value the first
    point then takes. A grid point comes with the first message at or after it, so that there are
    none beyond the last message; a gap gives every point in it, or with `max_gap` those at most so
    long after its last message. Points beyond int64 do not exist.
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
        numbered=True,
        required=False,
        default=False,
        aliases=("snapFirst",),
        doc="begin at or before the first message",
    )
    max_gap = Duration(
        required=False, minimum=0, doc="how long a value is held; without it until the next one"
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
    def variant(cls, values: Mapping[str, Any]) -> type[Operator]:
        """What does not hold a value for ever remembers when it came."""
        return cls if values["max_gap"] is None else ResamplerWithGaps

    @classmethod
    def grid(cls, values: Mapping[str, Any]) -> tuple[int, int | None, int | None]:
        """A grid with `t0` may begin there, long after the first message."""
        begin = None if values["t0"] == ON_FIRST_MESSAGE else values["t0"]
        gap = values["max_gap"]
        return values["interval"], begin, None if gap is None else gap // values["interval"] + 1

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
        point, value = due, i1 if due == time else held
        code = SILENT
        if not ended:
            code, ended, due = take_point(due, time, interval)
        if code != EMIT_AGAIN:
            held = i1
        frontier = grid_frontier(due, ended, time)
        return code, point, value, started, ended, due, held, frontier


@step
def hold_for_a_while(
    i1, time, interval, t0, snap_first, max_gap, started, ended, due, held, frontier, held_at
):
    """The step of ResamplerConstant with `max_gap`: it leaps over the points that are too late."""
    if not started:
        exists, due = first_grid_point(time, interval, t0, snap_first)
        started, ended = True, not exists
        held, held_at = i1, time
    if due < time and not ended:
        fits, age = subtract_checked(due, held_at)
        if not fits or age > max_gap:
            exists, due = grid_point_from(time, interval, due)
            ended = not exists
    point, value = due, i1 if due == time else held
    code = SILENT
    if not ended:
        code, ended, due = take_point(due, time, interval)
    if code != EMIT_AGAIN:
        held, held_at = i1, time
    frontier = grid_frontier(due, ended, time)
    return code, point, value, started, ended, due, held, frontier, held_at


class ResamplerWithGaps(ResamplerConstant, variant_of="ResamplerConstant"):
    """The grid that has no points where the latest value is too old."""

    held_at = Scalar("integer", 0)
    step = hold_for_a_while
