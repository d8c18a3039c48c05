"""Arithmetic on columns of 64-bit integers: the results, and which rows have none.

Numbers are int64. Unsigned numbers are the same 64 bits, as uint64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Column = np.ndarray
    Checked = tuple[Column, Column | None]

SAFE_PRODUCT = 2.0**62


def _add(a: Column, b: Column) -> Checked:
    result = a + b
    if a.dtype == np.uint64:
        return result, result < a
    return result, ((a ^ result) & (b ^ result)) < 0


def _subtract(a: Column, b: Column) -> Checked:
    result = a - b
    if a.dtype == np.uint64:
        return result, a < b
    return result, ((a ^ b) & (a ^ result)) < 0


def _multiply(a: Column, b: Column) -> Checked:
    result = a * b
    bad = np.abs(a.astype(np.float64) * b.astype(np.float64)) >= SAFE_PRODUCT
    for row in np.flatnonzero(bad):
        bad[row] = int(a[row]) * int(b[row]) != int(result[row])
    return result, bad


def _divide(a: Column, b: Column) -> Checked:
    """Truncated division."""
    bad = b == 0
    divisor = np.where(bad, b.dtype.type(1), b)
    if a.dtype == np.uint64:
        return a // divisor, bad
    over = (divisor == -1) & (a == np.iinfo(np.int64).min)
    divisor = np.where(over, 1, divisor)
    quotient = a // divisor
    quotient += (quotient < 0) & (quotient * divisor != a)
    return quotient, bad | over


def _remainder(a: Column, b: Column) -> Checked:
    """Remainder of truncated division; it has the sign of the dividend."""
    bad = b == 0
    divisor = np.where(bad, b.dtype.type(1), b)
    if a.dtype == np.uint64:
        return a % divisor, bad
    return np.fmod(a, np.where(divisor == -1, 1, divisor)), bad


def _shift(a: Column, b: Column, shift: Callable[..., Column]) -> Checked:
    bad = (b < 0) | (b > 63)
    return shift(a, np.where(bad, b.dtype.type(0), b)), bad


def _shift_unsigned(a: Column, b: Column) -> Checked:
    bad = (b < 0) | (b > 63)
    by = np.where(bad, b.dtype.type(0), b).view(np.uint64)
    return (a.view(np.uint64) >> by).view(a.dtype), bad


def _negate(a: Column) -> Checked:
    return -a, a == np.iinfo(np.int64).min


def _as_truth(values: Column, like: Column) -> Checked:
    return values.astype(like.dtype), None


INTEGER_FUNCTORS: dict[str, Callable[..., Checked]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "%": _remainder,
    "neg": _negate,
    "bnot": lambda a: (~a, None),
    "lnot": lambda a: _as_truth(a == 0, a),
    "band": lambda a, b: (a & b, None),
    "bor": lambda a, b: (a | b, None),
    "bxor": lambda a, b: (a ^ b, None),
    "land": lambda a, b: _as_truth((a != 0) & (b != 0), a),
    "lor": lambda a, b: _as_truth((a != 0) | (b != 0), a),
    "lxor": lambda a, b: _as_truth((a != 0) ^ (b != 0), a),
    "bshl": lambda a, b: _shift(a, b, np.left_shift),
    "bshr": lambda a, b: _shift(a, b, np.right_shift),
    "bshru": _shift_unsigned,
}
