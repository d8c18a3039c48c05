"""What is on the line between two values is the exact value, rounded once."""

import math
import random
from fractions import Fraction

import pytest

from rtbot.numeric.curves import point_between

NAN, INF = math.nan, math.inf
ENDS = [0.0, -0.0, 1.0, -1.0, 0.1, 0.3, -0.1, 1 / 3, 1e16, 1e308, -1e308, 1.7976931348623157e308]
ENDS += [5e-324, -5e-324, 1.5e-323, 2.0**-1022, 2.0**-1021, 1e-310, 1e-200, 2.0**-701]
WHOLES = [1.0, 3.0, 7.0, 60.0, 2.0**40, 2.0**62, 2.0**64]


def draw_ends(generator):
    kind = generator.randrange(4)
    if kind == 0:
        return generator.choice(ENDS), generator.choice(ENDS)
    if kind == 1:
        return generator.randint(-500, 500) / 10, generator.randint(-500, 500) / 10
    if kind == 2:
        scale = [10.0 ** generator.randint(-200, 300) for _ in range(2)]
        return generator.gauss(0, 1) * scale[0], generator.gauss(0, 1) * scale[1]
    left = generator.gauss(0, 1)
    return left, -left * generator.choice([1, 2, 3, 0.5, 1.0000001])


def draw_share(generator):
    whole = generator.choice(WHOLES)
    if whole == 1.0:
        return generator.choice([0.25, 0.5, 0.75, 2.0**-53, generator.random()]), whole
    return float(generator.randint(0, int(whole))), whole


@pytest.mark.parametrize("seed", range(8))
def test_a_point_between_two_is_rounded_once(seed):
    generator = random.Random(seed)
    for _ in range(2500):
        (left, right), (part, whole) = draw_ends(generator), draw_share(generator)
        exact = Fraction(left) + (Fraction(right) - Fraction(left)) * Fraction(part) / Fraction(
            whole
        )
        assert point_between(left, right, part, whole) == float(exact), (left, right, part, whole)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (INF, INF, INF),
        (1.0, INF, INF),
        (-INF, 1.0, -INF),
        (-INF, INF, NAN),
        (1.0, NAN, NAN),
        (-1.7e308, 1.7e308, 0.0),
        (5e-324, 1.5e-323, 1e-323),
    ],
)
def test_half_way_between_special_values(left, right, expected):
    found = point_between(left, right, 0.5, 1.0)
    assert found == expected or (math.isnan(found) and math.isnan(expected))
