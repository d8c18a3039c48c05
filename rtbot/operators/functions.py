"""Functions of one message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.numeric.curves import cubic, find_piece, slope_at, straight
from rtbot.operator import Choice, Example, In, Operator, Out, Points, step

if TYPE_CHECKING:
    from collections.abc import Mapping


class Sin(Operator):
    """The sine of an angle in radians; NaN for an infinity."""

    i1 = In("number", doc="angles in radians")
    o1 = Out("number", doc="sines")
    formula = "sin(i1)"
    example = Example(inputs={"i1": [(1, 0.0)]}, outputs={"o1": [(1, 0.0)]})


class Cos(Operator):
    """The cosine of an angle in radians; NaN for an infinity."""

    i1 = In("number", doc="angles in radians")
    o1 = Out("number", doc="cosines")
    formula = "cos(i1)"
    example = Example(inputs={"i1": [(1, 0.0)]}, outputs={"o1": [(1, 1.0)]})


class Tan(Operator):
    """The tangent of an angle in radians; NaN for an infinity."""

    i1 = In("number", doc="angles in radians")
    o1 = Out("number", doc="tangents")
    formula = "tan(i1)"
    example = Example(inputs={"i1": [(1, 0.0)]}, outputs={"o1": [(1, 0.0)]})


class Exp(Operator):
    """The exponential function; an infinity where it exceeds the range."""

    i1 = In("number", doc="exponents")
    o1 = Out("number", doc="e ** i1")
    formula = "exp(i1)"
    example = Example(inputs={"i1": [(1, 0.0)]}, outputs={"o1": [(1, 1.0)]})


class Log(Operator):
    """The natural logarithm; minus infinity for 0, NaN below."""

    search_terms = "ln"
    i1 = In("number", doc="values")
    o1 = Out("number", doc="logarithms to base e")
    formula = "log(i1)"
    example = Example(inputs={"i1": [(1, 1.0)]}, outputs={"o1": [(1, 0.0)]})


class Log10(Operator):
    """The logarithm to base 10; minus infinity for 0, NaN below."""

    i1 = In("number", doc="values")
    o1 = Out("number", doc="logarithms to base 10")
    formula = "log10(i1)"
    example = Example(inputs={"i1": [(1, 1000.0)]}, outputs={"o1": [(1, 3.0)]})


class Abs(Operator):
    """The absolute value.

    The smallest integer has none in 64 bits: no message, counted under `domain`.
    """

    search_terms = "absolute, fabs"
    i1 = In("N", doc="values")
    o1 = Out("N", doc="their magnitudes")
    formula = "abs(i1)"
    example = Example(inputs={"i1": [(1, -3.5), (2, 2.0)]}, outputs={"o1": [(1, 3.5), (2, 2.0)]})


class Sign(Operator):
    """1 for a positive value, -1 for a negative one, 0 for either zero; NaN for NaN."""

    i1 = In("N", doc="values")
    o1 = Out("N", doc="1, 0 or -1")
    formula = "sign(i1)"
    example = Example(
        inputs={"i1": [(1, -3.5), (2, 0.0), (3, 7.0)]},
        outputs={"o1": [(1, -1.0), (2, 0.0), (3, 1.0)]},
    )


class Floor(Operator):
    """The greatest whole number that is not above the value; the kind stays."""

    i1 = In("N", doc="values")
    o1 = Out("N", doc="rounded down")
    formula = "floor(i1)"
    example = Example(inputs={"i1": [(1, 2.5), (2, -2.5)]}, outputs={"o1": [(1, 2.0), (2, -3.0)]})


class Ceil(Operator):
    """The smallest whole number that is not below the value; the kind stays."""

    i1 = In("N", doc="values")
    o1 = Out("N", doc="rounded up")
    formula = "ceil(i1)"
    example = Example(inputs={"i1": [(1, 2.5), (2, -2.5)]}, outputs={"o1": [(1, 3.0), (2, -2.0)]})


class Round(Operator):
    """The nearest whole number, halves away from zero; the kind stays."""

    search_terms = "rint"
    i1 = In("N", doc="values")
    o1 = Out("N", doc="rounded")
    formula = "round(i1)"
    example = Example(
        inputs={"i1": [(1, 2.5), (2, -2.5), (3, 0.4)]},
        outputs={"o1": [(1, 3.0), (2, -3.0), (3, 0.0)]},
    )


class Function(Operator):
    """A function that is given by points: the value of the curve through them at i1.

    `linear` joins the points by straight lines. `hermite` is smooth: a cubic in each piece, whose
    slope at a point is that of the line through its two neighbours, at the ends that of the end
    piece. Beyond the ends both go on straight. Points may be in any order. With `linear` two points
    may share an x, where the value jumps: at x it is that of the later one. At a point the result
    is exactly its y; NaN gives NaN.
    """

    search_terms = "interp, interp1d, lookup_table, piecewise_linear, calibration_curve"
    points = Points(shortest=2, doc="[x, y] of each point")
    interpolation = Choice(
        options=("linear", "hermite"), required=False, default="linear", doc="between the points"
    )
    i1 = In("number", doc="where the curve is read")
    o1 = Out("number", doc="its values")
    example = Example(
        parameters={"points": [[0.0, 0.0], [1.0, 10.0], [3.0, -2.0]]},
        inputs={"i1": [(1, 0.5), (2, 1.0), (4, 2.0), (5, 4.0)]},
        outputs={"o1": [(1, 5.0), (2, 10.0), (4, 4.0), (5, -8.0)]},
    )

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:  # noqa: ARG003
        """An end has one y, or there is no line beyond it; a smooth curve has no jumps."""
        places = [x for x, _ in values["points"]]
        if places[0] == places[1] or places[-2] == places[-1]:
            return ["the first and the last x of points are those of one point each"]
        if values["interpolation"] == "hermite" and len(set(places)) < len(places):
            return ["two points have one x, and a hermite curve has no jumps"]
        return []

    @step
    def step(i1, interpolation, points, points_first, points_count):
        piece = find_piece(i1, points, points_first, points_count)
        at = points_first + 2 * piece
        left, right = points[at], points[at + 2]
        if interpolation == 0 or i1 <= left or not i1 < right:
            return straight(i1, left, points[at + 1], right, points[at + 3])
        width = right - left
        return cubic(
            (i1 - left) / width,
            points[at + 1],
            points[at + 3],
            width * slope_at(points, points_first, points_count, piece),
            width * slope_at(points, points_first, points_count, piece + 1),
        )
