"""Two heaps that meet at a rank: after every message they are heaps and part the values."""

import bisect
import math
import random
from collections import deque
from fractions import Fraction

import pytest

from rtbot.numeric.exact.digits import SUM_DIGITS
from rtbot.numeric.rank_heaps import (
    BRANCHES,
    add_ranked,
    blend_ranked,
    find_place,
    part_ranked,
    remove_ranked,
)

ROOM = 1 << 12
LEAST, MOST = -(2**63), 2**63 - 1


class Heaps:
    """The heaps of a window, their flat arrays, and its values in order as a list has them."""

    def __init__(self):
        self.values, self.words = [None] * (2 * ROOM), [None] * (3 * ROOM)
        self.places = -1, -1, ROOM - 1, ROOM - 1, 2 * ROOM
        self.counts, self.entered = (0, 0), 0
        self.keys, self.ordered = deque(), []

    def slide(self, value, leaving, wanted):
        """Let so many messages leave and one come in; part the rest at a rank."""
        node, arrays = 0, (self.values, self.words, *self.places)
        for _ in range(leaving):
            self.counts = remove_ranked(node, *self.counts, *arrays)
            key, left = self.keys.popleft()
            node = self.words[2 * ROOM + key]
            del self.ordered[bisect.bisect_left(self.ordered, left)]
        key = self.entered % ROOM
        self.entered += 1
        self.counts = add_ranked(value, key, node, *self.counts, *arrays)
        self.keys.append((key, value))
        bisect.insort(self.ordered, value)
        wanted = min(wanted, len(self.ordered))
        self.counts = part_ranked(wanted, *self.counts, *arrays)
        assert self.counts == (wanted, len(self.ordered) - wanted)

    def list_heap(self, side):
        first = 0 if side > 0 else ROOM
        return self.values[first : first + self.counts[side < 0]]

    def check(self):
        """Check all nodes, and the words of all keys."""
        lesser, greater = self.list_heap(1), self.list_heap(-1)
        assert sorted(lesser) == self.ordered[: len(lesser)]
        assert sorted(greater) == self.ordered[len(lesser) :]
        for node in range(1, max(self.counts)):
            above = (node - 1) // BRANCHES
            assert node >= len(lesser) or lesser[node] <= lesser[above]
            assert node >= len(greater) or greater[node] >= greater[above]
        for key, value in self.keys:
            node = self.words[2 * ROOM + key]
            place = node - 1 if node > 0 else ROOM - node - 1
            assert (self.values[place], self.words[place]) == (value, key)

    def check_roots(self):
        """Check the values at the two roots alone."""
        lesser, greater = self.counts
        assert not lesser or self.values[0] == self.ordered[lesser - 1]
        assert not greater or self.values[ROOM] == self.ordered[lesser]


SERIES = {
    "random": lambda rng, _: rng.random(),
    "few": lambda rng, _: rng.randrange(3),
    "equal": lambda _, __: 7.0,
    "ascending": lambda _, place: place,
    "descending": lambda _, place: -place,
    "saw": lambda _, place: place % 37,
    "runs": lambda rng, place: place // 50 % 3 + (rng.random() < 0.05),
    "spikes": lambda rng, _: rng.choice([1e16, -1e16, 0.1, math.inf, -math.inf]),
    "integers": lambda rng, _: rng.choice([LEAST, LEAST + 1, -1, 0, 2**53, 2**53 + 1, MOST]),
}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("series", SERIES)
def test_heaps_part_a_window_at_its_rank(series, share):
    rng, heaps = random.Random(f"{series} {share}"), Heaps()
    for place in range(900):
        held = len(heaps.keys)
        burst = place // 100 % 3  # grow; shrink by bursts; keep the length
        leaving = (0, rng.choice([0, 0, 1, 3, held]), 1)[burst]
        leaving = min(leaving, held)
        wanted = math.floor((held - leaving) * share) + 1
        heaps.slide(SERIES[series](rng, place), leaving, wanted)
        heaps.check()


@pytest.mark.parametrize("series", ["random", "few", "ascending", "descending"])
def test_long_windows_grow_stay_and_shrink(series):
    rng, heaps = random.Random(series), Heaps()
    for place in range(4 * ROOM):
        held = len(heaps.keys)
        leaving = 0 if held < ROOM - 1 else 1 if place < 3 * ROOM else held
        heaps.slide(SERIES[series](rng, place), leaving, (held - leaving) // 2 + 1)
        heaps.check_roots()
    heaps.check()


@pytest.mark.parametrize(
    ("one", "other", "part", "expected"),
    [
        (1.0, 2.0, 0.5, 1.5),
        (1.0, 2.0, 0.25, 1.25),
        (1.0, 2.0, 0.0, 1.0),
        (-1.0, 1.0, 0.5, 0.0),
        (-5e-324, 0.0, 0.5, 0.0),
        (5e-324, 1.5e-323, 0.5, 1e-323),
        (1e308, 1.7e308, 0.5, 1.35e308),
        (2**53, 2**53 + 4, 0.5, 2.0**53 + 2),
        (2**53 + 1, 2**53 + 1, 0.5, 2.0**53),
        (-5, 2**53 + 1, 0.5, 2.0**52 - 2),
        (2**53 + 1, 2**53 + 2, 0.5, 2.0**53 + 2),
        (-(2**63), 2**63 - 1, 0.5, -0.5),
        (2**63 - 2, 2**63 - 1, 0.5, 2.0**63),
        (1.0, math.inf, 0.5, math.inf),
        (-math.inf, math.inf, 0.5, math.nan),
        (-math.inf, math.inf, 0.25, math.nan),
        (-1.7e308, 1.7e308, 0.25, -8.5e307),
        (5e-324, 2.5e-323, 0.25, 1e-323),
    ],
)
def test_between_two_values(one, other, part, expected):
    found = blend_ranked(one, other, part, 1.0, [0] * SUM_DIGITS, 0)
    assert found == expected or (found != found and expected != expected)
    assert math.copysign(1, found) == math.copysign(1, expected) or found != found


def draw_ends(generator):
    """Two values in order, and a part of the way, in half of the cases close to a tie."""
    if generator.random() < 0.5:
        left = 1 + 2.0**-52 * generator.randrange(1, 2**20)
        right = left + generator.uniform(1, 2)
        return left, right, 2.0**-53 / (right - left)
    scale = 2.0 ** generator.choice([-1060, -900, -300, 0, 0, 0, 300, 990, 1020])
    left, right = sorted(generator.uniform(-1, 1) * scale for _ in range(2))
    if generator.random() < 0.3:
        left *= 2.0**-60
    if generator.random() < 0.3:
        left, right = generator.randint(-9, 9), generator.randint(9, 99)
    if generator.random() < 0.3:
        bits = generator.choice([53, 54, 55, 62, 63])
        left, right = sorted(generator.randrange(-(2**bits), 2**bits) for _ in range(2))
        right = generator.choice([right, min(left + generator.randint(0, 9), 2**63 - 1)])
    return left, right, generator.choice([0.25, 0.1, 0.9, generator.random(), 2.0**-53])


@pytest.mark.parametrize("seed", range(4))
def test_between_two_values_is_rounded_once(seed):
    generator = random.Random(seed)
    for _ in range(2_500):
        left, right, part = draw_ends(generator)
        whole = generator.choice([1.0, 1.0, 10.0, 1e9])
        if whole > 1:
            part = float(generator.randrange(1, int(whole)))
        exact = Fraction(left) + (Fraction(right) - Fraction(left)) * Fraction(part) / int(whole)
        found = blend_ranked(left, right, part, whole, [0] * SUM_DIGITS, 0)
        assert found == float(exact), (left, right, part, whole)


@pytest.mark.parametrize(
    ("count", "q", "expected"),
    [
        (4, 0.9, (2, 700_000_000, 10**9)),
        (11, 0.1, (1, 0, 10**9)),
        (11, 0.7, (7, 0, 10**9)),
        (101, 0.29, (29, 0, 10**9)),
        (2**24, 0.999999999, (16777214, 983222785, 10**9)),
        (5, 1.0, (4, 0, 10**9)),
        (5, 0.0, (0, 0, 10**9)),
        (4, 1 / 3, (1, 0.0, 1.0)),
        (3, 1e-300, (0, 2e-300, 1.0)),
    ],
)
def test_a_share_is_as_it_is_written(count, q, expected):
    assert find_place(count, q) == expected
