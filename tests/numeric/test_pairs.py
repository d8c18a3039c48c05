"""Covariance and correlation of moving windows against exact fractions."""

import math
import random
from fractions import Fraction

import pytest

import rtbot
from rtbot.operator import TimeSpan
from tests.oracles.pairs import comoments, correlation, covariance

ORACLES = {"Covariance": covariance, "Correlation": correlation}
WORST = 4e-16
BIG = 2**63 - 1
SPECIAL = [0.0, -0.0, 1.0, 1e16, -1e16, math.nan, math.inf, -math.inf]
NUMBERS = {
    "normal": lambda rng: rng.gauss(0, 1),
    "far from 0": lambda rng: 1e9 + rng.gauss(0, 1e-3),
    "small whole": lambda rng: float(rng.randint(-3, 3)),
    "constant": lambda _: 5.1,
    "mostly constant": lambda rng: rng.choice([0.1, 0.1, 0.1, 0.2]),
    "special": lambda rng: rng.choice(SPECIAL),
    "huge and tiny": lambda rng: rng.choice([1e200, -1e200, 1.7e308, 3.0, 1e-200, 5e-324]),
    "spikes": lambda rng: rng.choice([1e16, rng.random(), rng.random()]),
    "subnormal": lambda rng: 5e-324 * rng.randint(0, 5),
}
INTEGERS = {
    "small": lambda rng: rng.randint(-3, 3),
    "edges": lambda rng: rng.choice([BIG, -BIG - 1, 0, 1]),
    "times": lambda rng: 2**60 + rng.randint(0, 9),
    "wide": lambda rng: rng.randint(-BIG, BIG),
}


def run(operator, kinds, xs, ys, times=None, compiled=False, **settings):
    """The rows that come out."""
    graph = {
        "io": {"unit": "ms"},
        "inputs": dict(zip("xy", kinds, strict=True)),
        "operators": {"r": {"type": operator, "in": ["x", "y"], **settings}},
        "outputs": ["r"],
    }
    times = list(times or range(len(xs)))
    session = rtbot.load(graph).start(compiled=compiled)
    found = session.push({"x": {"t": times, "value": xs}, "y": {"t": times, "value": ys}})["r"]
    return list(zip(found["t"].tolist(), found["value"].tolist(), strict=True))


def right(operator, xs, ys, times=None, window=5, partial=False):
    """The rows that are right."""
    rows = zip(times or range(len(xs)), xs, ys, strict=True)
    rows = [(time, {"i1": x, "i2": y}) for time, x, y in rows]
    return list(ORACLES[operator](rows, window=window, partial=partial))


def assert_same(found, expected):
    """The same bits, and any NaN."""
    assert list(map(repr, found)) == list(map(repr, expected))


def draw_course(rng, courses, size):
    """Two columns, each now and then with a value of another course."""
    for course in rng.choice([*courses.values()]), rng.choice([*courses.values()]):
        other = rng.choice([*courses.values()])
        yield [(course if rng.random() < 0.97 else other)(rng) for _ in range(size)]


@pytest.mark.parametrize("operator", ORACLES)
@pytest.mark.parametrize("kind", ["number", "integer"])
@pytest.mark.parametrize("seed", range(8))
def test_windows_have_the_exact_answer(operator, kind, seed):
    rng = random.Random(seed)
    xs, ys = draw_course(rng, NUMBERS if kind == "number" else INTEGERS, 40)
    times = sorted(rng.sample(range(120), 40))
    size, partial = rng.choice([1, 2, 5, 12]), seed % 2 == 0
    found = run(operator, [kind, kind], xs, ys, times, window=size, partial=partial)
    assert_same(found, right(operator, xs, ys, times, window=size, partial=partial))
    span = {"window": f"{3 * size}ms", "partial": partial}
    found = run(operator, [kind, kind], xs, ys, times, **span)
    expected = right(operator, xs, ys, times, window=TimeSpan(3 * size), partial=partial)
    assert_same(found, expected)


@pytest.mark.parametrize("operator", ORACLES)
@pytest.mark.parametrize("kind", ["number", "integer"])
def test_compiled_windows_have_the_exact_answer(operator, kind):
    rng = random.Random(kind)
    courses = NUMBERS if kind == "number" else INTEGERS
    columns = [[], []]
    for course in courses.values():
        for column in columns:
            column += [course(rng) for _ in range(15)]
    rng.shuffle(columns[1])
    found = run(operator, [kind, kind], *columns, compiled=True, window=5)
    assert_same(found, right(operator, *columns, window=5))


@pytest.mark.parametrize("operator", ORACLES)
def test_integers_beside_numbers_are_numbers(operator):
    xs, ys = [1, 5, 2, 8, 3, 3], [0.5, 0.1, 0.7, 0.2, 0.9, 1e9]
    for kinds, columns in ((["integer", "number"], (xs, ys)), (["number", "integer"], (ys, xs))):
        assert_same(run(operator, kinds, *columns, window=3), right(operator, *columns, window=3))


@pytest.mark.parametrize("operator", ORACLES)
def test_what_was_there_before_leaves_no_trace(operator):
    rng = random.Random(4)
    xs, ys = ([rng.gauss(3, 1) for _ in range(60)] for _ in "xy")
    alone = run(operator, ["number"] * 2, xs[40:], ys[40:], window=10)
    for spike in (1e16, 1e200, math.nan, math.inf):
        after = run(operator, ["number"] * 2, [spike, *xs], [*ys[:1], *ys], window=10)
        assert [value for _, value in after[-11:]] == [value for _, value in alone]


@pytest.mark.parametrize("share", [0.0, 1e-9, 1e-3, 0.5, 1.0, 1e3, -1.0])
def test_a_correlation_is_next_to_the_exact_one(share):
    rng = random.Random(share)
    xs = [rng.gauss(0, 1) for _ in range(120)]
    ys = [share * x + rng.gauss(0, 1) * (share != 1.0) for x in xs]
    found = run("Correlation", ["number"] * 2, xs, ys, window=9)
    for number, (_, value) in enumerate(found):
        pairs = list(zip(xs[number : number + 9], ys[number : number + 9], strict=True))
        x, between, y = comoments(pairs)
        square = between**2 / (x * y)
        exact = Fraction(math.isqrt(square.numerator * 4**200 // square.denominator), 2**200)
        assert abs(Fraction(value) - (exact if between > 0 else -exact)) <= WORST
        assert -1 <= value <= 1


@pytest.mark.parametrize(
    ("xs", "ys", "covariance", "correlation"),
    [
        ([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 2.0, 1.0),
        ([1.0, 2.0, 3.0], [6.0, 4.0, 2.0], -2.0, -1.0),
        ([1.0, 0.0, -1.0], [1.0, -2.0, 1.0], 0.0, 0.0),
        ([0.1, 0.1, 0.1], [1.0, 2.0, 4.0], 0.0, math.nan),
        ([1e200, 2e200, 3e200], [1e200, 2e200, 3e200], math.inf, 1.0),
        ([1e-300, 2e-300, 3e-300], [3e-300, 1e-300, 2e-300], 0.0, -0.5),
        ([1e300, 2e300, 3e300], [1e-300, 2e-300, 3e-300], 1.0, 1.0),
        ([1.0, math.nan, 3.0], [2.0, 4.0, 6.0], math.nan, math.nan),
        ([1.0, 2.0, 3.0], [2.0, -math.inf, 6.0], math.nan, math.nan),
    ],
)
def test_chosen_windows(xs, ys, covariance, correlation):
    for operator, expected in (("Covariance", covariance), ("Correlation", correlation)):
        [(_, value)] = run(operator, ["number"] * 2, xs, ys, window=3)
        assert repr(value) == repr(expected) or abs(value - expected) <= WORST


def test_a_stream_goes_with_itself():
    graph = {
        "inputs": {"x": "number"},
        "operators": {
            "r": {"type": "Correlation", "in": ["x", "x"], "window": 4},
            "m": {"type": "MovingAverage", "in": "x", "window": 4},
        },
        "outputs": ["r", "m"],
    }
    values = [1.0, 7.0, 2.0, 2.0, 9.0]
    found = rtbot.load(graph).run({"x": {"t": range(5), "value": values}})
    assert found["r"]["value"].tolist() == [1.0, 1.0]
    assert found["m"]["value"].tolist() == [3.0, 5.0]
