"""Buckets of messages as paths: lines that break where there is nothing, dots, strips of states."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from rtbot.viz.charts.downsample import merge_columns
from rtbot.viz.svg_text import format_coordinate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.viz.charts.axes import TimeScale, ValueScale
    from rtbot.viz.charts.downsample import ChartBuckets, ChartSeries

MIXED = -1
"""The state of a bucket in which there were several."""


RING = "m-1.2 0a1.2 1.2 0 1 0 2.4 0a1.2 1.2 0 1 0-2.4 0"
"""A small circle around a point."""


def draw_line(buckets: ChartBuckets, time: TimeScale, value: ValueScale) -> str:
    """Return the path of a line through the messages, one column of the picture after another."""
    shown = merge_columns(buckets, time.at)
    begin, end = time.at(shown.first_time), time.at(shown.last_time)
    first, last, low, high = map(value.at, (shown.first, shown.last, shown.low, shown.high))
    middle = (begin + end) / 2
    falling = last < first
    corners = np.stack(
        [
            np.stack([begin, first], 1),
            np.stack([middle, np.where(falling, high, low)], 1),
            np.stack([middle, np.where(falling, low, high)], 1),
            np.stack([end, last], 1),
        ],
        1,
    )
    runs: list[list[str]] = []
    run = None
    for points, first_run, last_run in zip(
        corners.tolist(), shown.first_run.tolist(), shown.last_run.tolist(), strict=True
    ):
        if first_run != run:
            runs.append([])
        run = last_run
        for x, y in points:
            at = f"{format_coordinate(x)} {format_coordinate(y)}"
            if not runs[-1] or at != runs[-1][-1]:
                runs[-1].append(at)
    return "".join(map(_draw_run, runs))


def _draw_run(points: list[str]) -> str:
    """Draw a line through points; a point alone is a ring that can be seen."""
    start = f"M{points[0]}"
    if len(points) == 1:
        return f"{start}{RING}"
    return f"{start}h0" + "".join(f"L{point}" for point in points[1:])


def draw_dots(buckets: ChartBuckets, time: TimeScale, value: ValueScale) -> str:
    """Return a path that is a dot per message where the ends of lines are round."""
    shown = merge_columns(buckets, time.at)
    places = {
        (format_coordinate(float(x)), format_coordinate(float(y)))
        for times, values in (
            (shown.first_time, shown.first),
            (shown.first_time, shown.low),
            (shown.first_time, shown.high),
            (shown.last_time, shown.last),
        )
        for x, y in zip(time.at(times), value.at(values), strict=True)
    }
    return "".join(f"M{x} {y}h0" for x, y in sorted(places, key=lambda at: tuple(map(float, at))))


def find_states(
    series: ChartSeries, time: TimeScale, mixed: int = MIXED
) -> Iterator[tuple[float, float, int]]:
    """Yield (from, to, state): a state holds until the next message, if that is drawable.

    The last one holds to the right end of the scale.

    `mixed` means several states in one column of the picture.
    """
    start, until, state = 0.0, 0.0, None
    shown = merge_columns(series.buckets, time.at)
    pieces = _split_states(shown, time, mixed)
    if len(shown) and shown.last_run[-1] == series.runs:
        right = (time.one(int(shown.last_time[-1])), time.left + time.width, int(shown.last[-1]))
        pieces = chain(pieces, [right])
    for begin, end, piece in pieces:
        if piece != state or begin > until:
            if state is not None:
                yield start, until, state
            start, state = begin, piece
        until = end
    if state is not None:
        yield start, until, state


def _split_states(
    shown: ChartBuckets, time: TimeScale, mixed: int
) -> Iterator[tuple[float, float, int]]:
    """Yield for every bucket the state in it, and the state that holds until the next one."""
    begins, ends = time.at(shown.first_time).tolist(), time.at(shown.last_time).tolist()
    low, high, last = shown.low.tolist(), shown.high.tolist(), shown.last.tolist()
    goes_on = np.append(shown.last_run[:-1] == shown.first_run[1:], [False]).tolist()
    for place, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        yield begin, end, int(last[place]) if low[place] == high[place] else mixed
        if goes_on[place]:
            yield end, begins[place + 1], int(last[place])
