"""Integers that were rounded; rings and names of operators of one's own."""

import random
from fractions import Fraction

import pytest

import rtbot
import tests.oracles.whole  # noqa: F401 (its oracles register)
from rtbot.graph.check.declaration import find_problems
from rtbot.operator import (
    EMIT,
    EMIT_AGAIN,
    REGISTRY,
    Cells,
    In,
    Integer,
    Number,
    Operator,
    Out,
    Ring,
    Scalar,
    step,
)
from tests.oracles.registry import ORACLES
from tests.oracles.streams import bits

BIG = 2**53
EDGES = [-(2**63), -(2**63) + 1, -BIG - 1, -BIG, -1, 0, 1, BIG - 1, BIG, BIG + 1, 2**63 - 1]
NUMBERS = [float(BIG), -float(BIG), 0.5, -0.5, 0.0, 2.0**63, -(2.0**63), 1e300, -1e300, 5e-324]


def run(operator, values, *, compiled=False, **parameters):
    """What an operator makes of integers at the times 0, 1, 2, ..."""
    graph = rtbot.load(
        {
            "inputs": {"x": "integer"},
            "operators": {"m": {"type": operator, "in": "x", **parameters}},
            "outputs": {"m": "m"},
        }
    )
    session = graph.start(compiled=compiled)
    table = {"x": {"t": list(range(len(values))), "value": list(values)}}
    out = [session.push(table)["m"], session.finish()["m"]]
    columns = [(part["t"].tolist(), part["value"].tolist()) for part in out]
    return [row for times, found in columns for row in zip(times, found, strict=True)]


def right(operator, values, **parameters):
    return list(ORACLES[operator].function(list(enumerate(values)), **parameters))


def same(found, wanted):
    return [(t, bits(v)) for t, v in found] == [(t, bits(v)) for t, v in wanted]


# ---- integers are compared exactly


@pytest.mark.parametrize("value", NUMBERS)
@pytest.mark.parametrize(
    "operator",
    ["CompareGT", "CompareLT", "CompareGTE", "CompareLTE", "GreaterThan", "LessThan"],
)
def test_an_integer_is_compared_with_a_number_exactly(operator, value):
    assert same(run(operator, EDGES, value=value), right(operator, EDGES, value=value))


@pytest.mark.parametrize("value", NUMBERS)
@pytest.mark.parametrize("distance", [0.0, 1e-10, 1.0, 1.5, float(BIG), 2.0**63, 2.0**64])
@pytest.mark.parametrize(
    ("operator", "name"),
    [
        ("CompareEQ", "tolerance"),
        ("CompareNEQ", "tolerance"),
        ("EqualTo", "epsilon"),
        ("NotEqualTo", "epsilon"),
    ],
)
def test_an_integer_is_near_a_number_exactly(operator, name, value, distance):
    settings = {"value": value, name: distance}
    assert same(run(operator, EDGES, **settings), right(operator, EDGES, **settings))


@pytest.mark.parametrize("distance", [0.0, 1.0, 2.5, 2.0**63, 1.8446744073709550e19, 2.0**64])
@pytest.mark.parametrize("differ", [False, True])
def test_the_distance_of_two_integers_is_exact(distance, differ):
    operator = "CompareSyncNEQ" if differ else "CompareSyncEQ"
    graph = rtbot.load(
        {
            "inputs": {"a": "integer", "b": "integer"},
            "operators": {"m": {"type": operator, "in": ["a", "b"], "tolerance": distance}},
            "outputs": {"m": "m"},
        }
    )
    pairs = [(a, b) for a in EDGES for b in EDGES]
    times = list(range(len(pairs)))
    session = graph.start(compiled=False)
    tables = {
        name: {"t": times, "value": [pair[place] for pair in pairs]}
        for place, name in enumerate("ab")
    }
    found = session.push(tables)["m"]["value"].tolist()
    assert found == [(abs(a - b) > distance) is differ for a, b in pairs]


@pytest.mark.parametrize("kinds", [("integer", "number"), ("number", "integer")])
@pytest.mark.parametrize(
    ("operator", "settings"),
    [
        *((f"CompareSync{sign}", {}) for sign in ("GT", "LT", "GTE", "LTE")),
        *(("CompareSyncEQ", {"tolerance": far}) for far in (0.0, 1.0, 2.0**63)),
        *(("CompareSyncNEQ", {"tolerance": far}) for far in (0.0, 1.0, 2.0**63)),
    ],
)
def test_a_port_of_integers_is_compared_with_one_of_numbers_exactly(operator, settings, kinds):
    graph = {
        "inputs": dict(zip("ab", kinds, strict=True)),
        "operators": {"m": {"type": operator, "in": ["a", "b"], **settings}},
        "outputs": {"m": "m"},
    }
    pairs = [(a, b) for a in EDGES for b in [*NUMBERS, float("nan")]]
    pairs = [pair if kinds[0] == "integer" else pair[::-1] for pair in pairs]
    rows = [(t, {"i1": a, "i2": b}) for t, (a, b) in enumerate(pairs)]
    session = rtbot.load(graph).start(compiled=False)
    columns = zip("ab", zip(*pairs, strict=True), strict=True)
    out = session.push({n: {"t": list(range(len(pairs))), "value": v} for n, v in columns})
    wanted = [value for _, value in ORACLES[operator].function(rows, **settings)]
    assert out["m"]["value"].tolist() == wanted


def test_compiled_code_compares_integers_exactly_too():
    settings = {"value": float(BIG), "tolerance": 0.0}
    assert run("CompareEQ", EDGES, compiled=True, **settings) == [
        (t, x == BIG) for t, x in enumerate(EDGES)
    ]


# ---- sums and means of integers are exact and rounded once


@pytest.mark.parametrize("operator", ["MovingSum", "MovingAverage"])
@pytest.mark.parametrize("partial", [False, True])
def test_a_window_of_integers_gives_the_exact_value_rounded_once(operator, partial):
    rng = random.Random(7)
    values = [rng.choice([*EDGES, rng.getrandbits(63), -rng.getrandbits(55)]) for _ in range(200)]
    for window in (1, 2, 3, 7):
        settings = {"window": window, "partial": partial}
        assert same(run(operator, values, **settings), right(operator, values, **settings))


def test_integers_beyond_the_floats_cancel_in_a_sum():
    assert run("MovingSum", [BIG + 1, -BIG], window=2) == [(1, 1.0)]
    assert run("MovingAverage", [BIG + 1, -BIG], window=2) == [(1, 0.5)]


def test_compiled_sums_of_integers_are_exact_too():
    values = [2**63 - 1, -(2**63), BIG + 1, 3, -BIG, 2**63 - 1, 2**63 - 1]
    found = run("MovingSum", values, window=3, compiled=True)
    exact = [sum(values[n - 2 : n + 1]) for n in range(2, len(values))]
    assert [v for _, v in found] == [float(Fraction(total)) for total in exact]


# ---- operators of one's own


@step
def echo(time, values, values_first, values_count, values_evicts, values_leaving, given):
    """Fifty messages for a row: the sum of what the ring holds, and 1000 times what left it."""
    total = 1000 * values_leaving if values_evicts else 0
    for place in range(values_first, values_first + values_count):
        total += values[place]
    given = given + 1 if given < 49 else 0
    return EMIT if given == 0 else EMIT_AGAIN, 100 * time + given, total, given


class EchoesForTest(Operator):
    """See its step."""

    window = Integer(minimum=1, doc="values in the window")
    i1 = In("integer", doc="values")
    o1 = Out("integer", doc="sums")
    values = Ring("i1", size="window")
    given = Scalar("integer", 0)
    sets_time = True
    step = echo


OWN = {"EchoesForTest": REGISTRY.pop("EchoesForTest")}


@pytest.fixture
def own_operators(monkeypatch):
    for name, cls in OWN.items():
        monkeypatch.setitem(REGISTRY, name, cls)


@pytest.mark.usefixtures("own_operators")
@pytest.mark.parametrize("cut", [1, 2, 3, 7])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_ring_holds_a_row_once_where_the_room_ends_within_it(cut, compiled):
    if compiled and cut != 3:
        pytest.skip("one cut is enough there")
    values = [3, 1, 4, 1, 5, 9, 2]
    graph = rtbot.load(
        {
            "inputs": {"x": "integer"},
            "operators": {"m": {"type": "EchoesForTest", "in": "x", "window": 3}},
            "outputs": {"m": "m"},
        }
    )
    session = graph.start(compiled=compiled)
    found = []
    for first in range(0, len(values), cut):
        times = list(range(first, min(first + cut, len(values))))
        table = {"x": {"t": times, "value": [values[t] for t in times]}}
        found += session.push(table)["m"]["value"].tolist()
    wanted = [
        sum(values[max(0, n - 2) : n + 1]) + (1000 * values[n - 3] if n >= 3 else 0)
        for n in range(len(values))
    ]
    assert found == [value for value in wanted for _ in range(50)]


TAKEN = [
    ({"i1_valid": Number(default=1.0)}, "i1_valid", "i1"),
    ({"a_first": Number(default=1.0), "a": Cells("number", size=2)}, "a", "a_first"),
    ({"a_count": Scalar("integer", 0), "a": Ring("i1", "n"), "n": Integer(default=1)}, "a", "a_c"),
]


@pytest.mark.parametrize(("parts", "owner", "why"), TAKEN)
def test_a_name_that_a_step_takes_for_something_else_is_refused(parts, owner, why):
    parts = {"i1": In("number"), "o1": Out("number"), "formula": "i1"} | parts
    cls = type("TakenForTest", (Operator,), {"__doc__": "Wrong.", **parts})
    REGISTRY.pop("TakenForTest", None)
    found = [p for p in find_problems(cls) if "is not a free name" in p.message]
    assert [p.code for p in found] == ["RT170"]
    assert f"{owner} is not a free name" in found[0].message
    assert why in found[0].message
    assert found[0].hint == "rename it"


# ---- deviations of integers, and what is put in place of them

NOW = 1_700_000_000_000_000_000
COURSES = {
    "edges": lambda rng: rng.choice([*EDGES, rng.getrandbits(63), -rng.getrandbits(55)]),
    "times": lambda rng: NOW + rng.randrange(1000),
    "mostly equal": lambda rng: NOW + (rng.random() < 0.1),
    "small": lambda rng: rng.randrange(100),
    "close to the limit": lambda rng: rng.choice([0, BIG, BIG + 1, 1, -BIG]),
    "now and then wide": lambda rng: NOW + rng.getrandbits(rng.choice([10] * 12 + [58])),
}


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("course", COURSES)
def test_a_deviation_of_integers_is_exact(course, partial):
    rng = random.Random(course)
    values = [COURSES[course](rng) for _ in range(120)]
    for window in (1, 2, 7, 20):
        settings = {"window": window, "partial": partial}
        found = run("StandardDeviation", values, **settings)
        assert same(found, right("StandardDeviation", values, **settings))


def test_a_deviation_of_integers_follows_a_long_way():
    values = [NOW + k * 2**51 + k % 7 for k in range(150)]
    found = run("StandardDeviation", values, window=3)
    assert same(found, right("StandardDeviation", values, window=3, partial=False))


def test_a_deviation_keeps_the_last_bit_of_an_integer():
    assert run("StandardDeviation", [BIG + 1, BIG], window=2) == [(1, 0.5**0.5)]


def test_compiled_deviations_of_integers_are_exact_too():
    rng = random.Random(5)
    values = [COURSES[course](rng) for course in COURSES for _ in range(30)]
    found = run("StandardDeviation", values, window=5, compiled=True)
    assert same(found, right("StandardDeviation", values, window=5, partial=False))


@pytest.mark.parametrize("value", NUMBERS)
def test_an_integer_is_replaced_where_it_is_at_most_the_bound_exactly(value):
    settings = {"value": value, "replace_by": -1.5}
    found = run("LessThanOrEqualToReplace", EDGES, **settings)
    assert same(found, right("LessThanOrEqualToReplace", EDGES, **settings))


@pytest.mark.parametrize(
    ("values", "deviation"),
    [
        ([1e200, 3e200], 1.414213562373095e200),
        ([2e154, 1e153], 1.3435028842544402e154),
        ([1.7e308, -1.7e308], float("inf")),
        ([float("inf"), 1.0], float("nan")),
    ],
)
def test_where_a_variance_is_beyond_the_numbers_its_exact_root_counts(values, deviation):
    graph = {
        "inputs": {"x": "number"},
        "operators": {"m": {"type": "StandardDeviation", "in": "x", "window": 2}},
        "outputs": {"m": "m"},
    }
    session = rtbot.load(graph).start(compiled=False)
    out = session.push({"x": {"t": [1, 2], "value": values}})["m"]["value"].tolist()
    assert list(map(bits, out)) == [bits(deviation)]
