"""Resampling between messages: a curve through them, read at the points of a regular grid."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rtbot.numeric.curves import blend, cubic, point_between
from rtbot.numeric.ieee import INTEGER_MAX, subtract_to_number
from rtbot.operator import (
    EMIT_AGAIN,
    SILENT,
    Choice,
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
from rtbot.operators.resample import (
    ON_FIRST_MESSAGE,
    grid_frontier,
    grid_point_from,
    take_point,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


@step
def begin_grid(time, interval, t0):
    """(exists, time): the first grid point for a curve that begins at `time`."""
    if t0 == ON_FIRST_MESSAGE or time <= t0:
        return True, max(time, t0)
    return grid_point_from(time, interval, t0)


class Interpolator(Operator, abstract=True):
    """What all have that read a curve at the points of a grid.

    `started` and `ended` are of the grid, `due` is its next point.
    """

    interval = Duration(minimum=1, doc="distance of the grid points")
    t0 = Integer(
        required=False,
        default=ON_FIRST_MESSAGE,
        doc="a time of the grid; without it where the curve begins",
    )
    i1 = In("number", doc="values")
    o1 = Out("number", doc="values of the curve, on the grid")
    started = Scalar("boolean", False)
    ended = Scalar("boolean", False)
    due = Scalar("integer", 0)
    frontier = Scalar("integer", INTEGER_MAX)
    silent = True
    sets_time = True
    causal = False

    @classmethod
    def grid(cls, values: Mapping[str, Any]) -> tuple[int, int | None]:
        """A grid with `t0` may begin there, long after the first message."""
        return values["interval"], None if values["t0"] == ON_FIRST_MESSAGE else values["t0"]


class TwoPointInterpolator(Interpolator, abstract=True):
    """A curve whose pieces depend on the messages at their ends only."""

    before = Scalar("integer", 0)
    value = Scalar("number", 0.0)

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:
        """The curve begins with the first message."""
        return WarmUp(1 if values["t0"] == ON_FIRST_MESSAGE else 2, certain=False)


@step
def share_of_span(point, begin, end):
    """Where a time is between two others: from 0 to 1."""
    if point == end:
        return 1.0
    return subtract_to_number(point, begin) / subtract_to_number(end, begin)


@step
def next_point(time, interval, t0, started, ended, due):
    """(code, point, ended, due, frontier): the next grid point up to this message."""
    if not started:
        exists, due = begin_grid(time, interval, t0)
        ended = not exists
    point, code = due, SILENT
    if not ended:
        code, ended, due = take_point(due, time, interval)
    return code, point, ended, due, grid_frontier(due, ended, time)


@step
def resample_linear(i1, time, interval, t0, started, ended, due, frontier, before, value):
    """The step of ResamplerLinear."""
    code, point, ended, due, frontier = next_point(time, interval, t0, started, ended, due)
    result = i1
    if code != SILENT and point != time:
        part, whole = subtract_to_number(point, before), subtract_to_number(time, before)
        result = point_between(value, i1, part, whole)
    if code != EMIT_AGAIN:
        before, value = time, i1
    return code, point, result, True, ended, due, frontier, before, value


class ResamplerLinear(TwoPointInterpolator):
    """The stream on a regular grid, on straight lines from message to message.

    Without `t0` the grid begins with the first message. With it the grid is t0 + k * interval, and
    begins at or after the first message, or at `t0` where that lies in the future. A grid point
    comes with the first message at or after it; at the time of a message it has exactly its value,
    and else that of the line rounded once.
    """

    search_terms = "interpolate, linear_interpolation, lerp, regularize"
    step = resample_linear
    example = Example(
        parameters={"interval": 2},
        inputs={"i1": [(1, 1.0), (4, 7.0), (7, 4.0)]},
        outputs={"o1": [(1, 1.0), (3, 5.0), (5, 6.0), (7, 4.0)]},
    )


@step
def resample_cosine(i1, time, interval, t0, started, ended, due, frontier, before, value):
    """The step of ResamplerCosine."""
    code, point, ended, due, frontier = next_point(time, interval, t0, started, ended, due)
    result = i1
    if code != SILENT and point != time:
        share = share_of_span(point, before, time)
        result = blend(value, i1, (1.0 - math.sin(math.pi * (0.5 - share))) / 2.0)
    if code != EMIT_AGAIN:
        before, value = time, i1
    return code, point, result, True, ended, due, frontier, before, value


class ResamplerCosine(TwoPointInterpolator):
    """The stream on a regular grid, on half waves of a cosine from message to message.

    The curve is level at every message and never beyond the values at the ends of a piece. Its grid
    is that of ResamplerLinear.
    """

    aliases = ("CosineResampler",)
    search_terms = "cosine_interpolation, ease_in_out"
    step = resample_cosine
    example = Example(
        parameters={"interval": 2},
        inputs={"i1": [(1, 1.0), (5, 3.0), (7, 0.0)]},
        outputs={"o1": [(1, 1.0), (3, 2.0), (5, 3.0), (7, 0.0)]},
    )


@step
def read_hermite(point, compat, first, first_value, left, left_value, right, right_value, time, i1):
    """The curve through four messages at a time of its middle piece, exact at both ends."""
    if point == left:
        return left_value
    if point == right:
        return right_value
    left_rise, right_rise = right_value - first_value, i1 - left_value
    if compat == 1:
        left_rise *= 0.5
        right_rise *= 0.5
    else:
        span = subtract_to_number(right, left)
        left_rise = left_rise / subtract_to_number(right, first) * span
        right_rise = right_rise / subtract_to_number(time, left) * span
    share = share_of_span(point, left, right)
    return cubic(share, left_value, right_value, left_rise, right_rise)


class ResamplerHermite(Interpolator):
    """The stream on a regular grid, on a smooth curve: a cubic from message to message.

    The slope of the curve at a message is that of the line through its two neighbours, so that it
    also is right where messages are unevenly spaced. A piece is known once the message behind it
    has come, and begins with the second message. Without `t0` the grid does, too; with it the grid
    is t0 + k * interval from there on, or from `t0` on where that lies in the future. At the time
    of a message it has exactly its value. With `compat: rtbot` slopes are as if all messages were
    one piece apart, which is RtBot's curve. (Catmull and Rom, A class of local interpolating
    splines, 1974.)
    """

    search_terms = "hermite, spline, cubic_interpolation, catmull_rom"
    compat = Choice(
        options=("none", "rtbot"), required=False, default="none", doc="whose slopes it has"
    )
    messages = Scalar("integer", 0)
    first = Scalar("integer", 0)
    first_value = Scalar("number", 0.0)
    left = Scalar("integer", 0)
    left_value = Scalar("number", 0.0)
    right = Scalar("integer", 0)
    right_value = Scalar("number", 0.0)
    example = Example(
        parameters={"interval": 2},
        inputs={"i1": [(0, 0.0), (2, 2.0), (6, 6.0), (8, 4.0), (9, 4.0)]},
        outputs={"o1": [(2, 2.0), (4, 4.333333333333333), (6, 6.0), (8, 4.0)]},
    )

    @classmethod
    def warm_up(cls, values: Mapping[str, Any]) -> WarmUp:  # noqa: ARG003
        """The first piece is between the second and the third of four messages."""
        return WarmUp(4, certain=False)

    @step
    def step(
        i1, time, interval, t0, compat, started, ended, due, frontier, messages,
        first, first_value, left, left_value, right, right_value,
    ):  # fmt: skip
        if messages == 1 and not started:
            exists, due = begin_grid(time, interval, t0)
            started, ended = True, not exists
        point, result, code = due, 0.0, SILENT
        if messages == 3 and not ended:
            code, ended, due = take_point(due, right, interval)
        if code != SILENT:
            result = read_hermite(
                point, compat, first, first_value, left, left_value, right, right_value, time, i1
            )
        if code != EMIT_AGAIN:
            messages = min(messages + 1, 3)
            first, first_value, left, left_value = left, left_value, right, right_value
            right, right_value = time, i1
        if started:
            frontier = grid_frontier(due, ended, time)
        return (
            code, point, result, started, ended, due, frontier, messages,
            first, first_value, left, left_value, right, right_value,
        )  # fmt: skip
