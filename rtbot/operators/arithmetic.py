"""Arithmetic on one message, or on the messages of one time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.operator import Example, In, Number, Numbers, Operator, Out
from rtbot.operators.synchronised import Synchronised, SynchronisedNumbers, fold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Add(Operator):
    """The value plus a constant.

    IEEE 754: NaN and infinities pass on.
    """

    search_terms = "offset, bias"
    value = Number(doc="what is added")
    i1 = In("number", doc="values")
    o1 = Out("number", doc="i1 + value")
    formula = "i1 + value"
    example = Example(
        parameters={"value": 2.5},
        inputs={"i1": [(1, 1.0), (2, -2.5)]},
        outputs={"o1": [(1, 3.5), (2, 0.0)]},
    )


class Scale(Operator):
    """The value times a constant.

    IEEE 754: NaN and infinities pass on.
    """

    search_terms = "gain"
    value = Number(doc="the factor")
    i1 = In("number", doc="values")
    o1 = Out("number", doc="i1 * value")
    formula = "i1 * value"
    example = Example(
        parameters={"value": 2.0},
        inputs={"i1": [(1, 1.5), (2, -4.0)]},
        outputs={"o1": [(1, 3.0), (2, -8.0)]},
    )


class Power(Operator):
    """The value raised to a constant power.

    A negative value to a fractional power is NaN, 0 to a negative power an infinity.
    """

    search_terms = "pow"
    value = Number(doc="the exponent")
    i1 = In("number", doc="bases")
    o1 = Out("number", doc="i1 ** value")
    formula = "i1 ** value"
    example = Example(
        parameters={"value": 0.5},
        inputs={"i1": [(1, 9.0), (2, 0.25)]},
        outputs={"o1": [(1, 3.0), (2, 0.5)]},
    )


class LessThanOrEqualToReplace(Operator):
    """The value, or `replace_by` where it is at most `value`; integers are compared exactly.

    NaN and infinities are left out, as in RtBot.
    """

    value = Number(doc="the bound; a value equal to it is replaced")
    replace_by = Number(aliases=("replaceBy",), doc="what stands in for values up to the bound")
    i1 = In("N", doc="values")
    o1 = Out("number", doc="values above the bound, and replacements")
    formula = "if(i1 <= value, replace_by, i1)"
    keep = "i1 - i1 == 0"
    example = Example(
        parameters={"value": 2.0, "replace_by": -1.0},
        inputs={"i1": [(1, 1.0), (2, 2.0), (3, 2.5)]},
        outputs={"o1": [(1, -1.0), (2, -1.0), (3, 2.5)]},
    )


class Addition(SynchronisedNumbers):
    """The sum of the ports, added in port order.

    Integers stay integers; where an intermediate sum leaves int64 there is no message, counted
    under `domain`.
    """

    search_terms = "plus"
    o1 = Out("N", doc="i1 + i2 + ...")
    formula = staticmethod(fold("{left} + {right}"))
    example = Example(
        inputs={"i1": [(1, 1.0), (2, 2.0)], "i2": [(2, 20.0), (3, 30.0)]},
        outputs={"o1": [(2, 22.0)]},
    )


class Subtraction(SynchronisedNumbers):
    """The first port less all others, in port order.

    Integers stay integers; where an intermediate difference leaves int64 there is no message,
    counted under `domain`.
    """

    search_terms = "minus, sub, subtract"
    o1 = Out("N", doc="i1 - i2 - ...")
    formula = staticmethod(fold("{left} - {right}"))
    example = Example(
        inputs={"i1": [(1, 1.0), (2, 2.0)], "i2": [(2, 20.0), (3, 30.0)]},
        outputs={"o1": [(2, -18.0)]},
    )


class Multiplication(SynchronisedNumbers):
    """The product of the ports, multiplied in port order.

    Integers stay integers; where an intermediate product leaves int64 there is no message, counted
    under `domain`.
    """

    search_terms = "multiply, mul, times, product"
    o1 = Out("N", doc="i1 * i2 * ...")
    formula = staticmethod(fold("{left} * {right}"))
    example = Example(
        inputs={"i1": [(1, 1.0), (2, 2.0)], "i2": [(2, 20.0), (3, 30.0)]},
        outputs={"o1": [(2, 40.0)]},
    )


def _some_divisor_is_zero(_values: Mapping[str, Any], ports: Sequence[str]) -> str:
    return " or ".join(f"({port} == 0)" for port in ports[1:])


class Division(Synchronised):
    """The first port divided by all others, in port order.

    A divisor of exactly 0 (either zero) gives no message, counted under `domain`. An expression
    that divides gives an infinity or NaN instead.
    """

    search_terms = "divide, div, ratio, quotient"
    i = In("number", variadic=True, doc="i1 the dividend, the others divisors")
    o1 = Out("number", doc="i1 / i2 / ...")
    formula = staticmethod(fold("{left} / {right}"))
    fault = staticmethod(_some_divisor_is_zero)
    example = Example(
        inputs={"i1": [(1, 1.0), (2, 6.0)], "i2": [(1, 0.0), (2, 4.0)]},
        outputs={"o1": [(2, 1.5)]},
    )


def _weighted_sum(_values: Mapping[str, Any], ports: Sequence[str]) -> str:
    return " + ".join(f"coefficients_{k} * {port}" for k, port in enumerate(ports, start=1))


class Linear(Synchronised):
    """The sum of the ports, each multiplied by its coefficient, added in port order."""

    search_terms = "weighted_sum, linear_combination, dot"
    coefficients = Numbers(shortest=2, doc="one factor per port")
    i = In("number", variadic=True, doc="a term")
    o1 = Out("number", doc="coefficients[0] * i1 + coefficients[1] * i2 + ...")
    formula = staticmethod(_weighted_sum)
    example = Example(
        parameters={"coefficients": [1.0, 0.5]},
        inputs={"i1": [(1, 1.0), (2, 2.0)], "i2": [(2, 20.0), (3, 30.0)]},
        outputs={"o1": [(2, 12.0)]},
    )

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:
        """There is one coefficient per port."""
        problems = super().check(values, arity)
        count = len(values["coefficients"])
        if count != arity:
            problems.append(f"there are {count} coefficients, but {arity} inputs are wired")
        return problems
