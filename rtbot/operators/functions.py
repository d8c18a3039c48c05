"""Functions of one message."""

from __future__ import annotations

from rtbot.operator import Example, In, Operator, Out


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
