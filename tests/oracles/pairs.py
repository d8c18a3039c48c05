"""Oracles of windows of pairs, in exact fractions."""

import math
from fractions import Fraction

from tests.oracles.registry import oracle
from tests.oracles.streams import rounded
from tests.oracles.windowed import windows


def comoments(pairs):
    """The exact sums of the products of distances from the means: (xx, xy, yy)."""
    xs, ys = ([Fraction(value) for value in side] for side in zip(*pairs, strict=True))
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    left, right = [x - x_mean for x in xs], [y - y_mean for y in ys]
    return tuple(
        sum(a * b for a, b in zip(one, other, strict=True))
        for one, other in ((left, left), (left, right), (right, right))
    )


def pair_windows(rows, window, partial):
    """`windows` of the values of both ports."""
    rows = [(time, tuple(values.values())) for time, values in rows]
    return windows(rows, window, partial)


@oracle("Covariance", ports=True)
def covariance(rows, window, partial):
    for time, pairs in pair_windows(rows, window, partial):
        if not all(math.isfinite(value) for pair in pairs for value in pair):
            yield time, math.nan
        else:
            _, between, _ = comoments(pairs)
            yield time, rounded(between / max(1, len(pairs) - 1)) + 0.0


def significand(exact):
    """(m, e) of an exact number: m * 2**e, rounded once to 53 bits, 2**52 <= abs(m) <= 2**53."""
    exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length() - 53
    exponent += 1 if abs(exact) >= Fraction(2) ** (exponent + 53) else 0
    return round(exact / Fraction(2) ** exponent), exponent


def correlate(pairs):
    """The correlation of the rounded moments, to which those of the operator are equal."""
    size = len(pairs)
    x, between, y = (significand(size * part) if part else (0, 0) for part in comoments(pairs))
    if 0 in (x[0], y[0]):
        return math.nan
    square = Fraction(between[0] ** 2, x[0] * y[0])
    square *= Fraction(2) ** (2 * between[1] - x[1] - y[1])
    scaled = math.isqrt(square.numerator * 4**2300 // square.denominator)
    size = min(1.0, rounded(Fraction(scaled, 2**2300)))
    return -size if between[0] < 0 else size


@oracle("Correlation", ports=True)
def correlation(rows, window, partial):
    for time, pairs in pair_windows(rows, window, partial):
        finite = all(math.isfinite(value) for pair in pairs for value in pair)
        yield time, correlate(pairs) if finite else math.nan
