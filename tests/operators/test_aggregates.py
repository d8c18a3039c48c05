"""Windows of time: what they hold, when they come, and what a graph says of them."""

import math
from fractions import Fraction

import numpy as np
import pytest

import rtbot
from tests.oracles.timed import hopping

HUGE = 2.0**1023
MEAN = float((Fraction(0.1) + Fraction(0.2)) / 2)


def aggregate(type_, kind="number", **parameters):
    operator = {"type": type_, "in": "x"} | parameters
    how = parameters["how"]
    names = ["open", "high", "low", "close"] if how == "ohlc" else [how]
    names = how if isinstance(how, list) else names
    outputs = [f"w.{name}" for name in names]
    return rtbot.load({"inputs": {"x": kind}, "operators": {"w": operator}, "outputs": outputs})


def run(graph, rows, *, compiled=False):
    session = graph.start(compiled=compiled)
    table = {"t": [t for t, _ in rows], "value": [v for _, v in rows]}
    parts = [session.push({"x": table}), session.finish()]
    return {
        name.removeprefix("w_"): [
            row
            for part in parts
            for row in zip(part[name]["t"].tolist(), part[name]["value"].tolist(), strict=True)
        ]
        for name in parts[0]
    }


@pytest.mark.parametrize(
    ("type_", "parameters", "expected"),
    [
        ("TumblingAggregate", {"window": 5}, [(0, 1), (5, 2), (15, 1), (20, 1)]),
        ("HoppingAggregate", {"window": 5, "hop": 5}, [(0, 1), (5, 2), (15, 1), (20, 1)]),
        ("HoppingAggregate", {"window": 4, "hop": 2}, [(0, 1), (2, 2), (4, 1), (6, 1), (8, 1)]),
        ("HoppingAggregate", {"window": 2, "hop": 5}, [(2, 1), (12, 1), (17, 1)]),
        ("TumblingAggregate", {"window": 5, "offset": 7}, [(2, 2), (7, 1), (12, 1), (17, 1)]),
        ("TumblingAggregate", {"window": 5, "offset": -3}, [(2, 2), (7, 1), (12, 1), (17, 1)]),
        (
            "HoppingAggregate",
            {"window": 4, "hop": 2, "offset": -1},
            [(1, 1), (3, 2), (5, 2), (7, 1), (13, 1), (15, 1), (17, 1), (19, 1)],
        ),
        ("HoppingAggregate", {"window": 2, "hop": 5, "offset": 4}, [(1, 1), (6, 1), (16, 1)]),
        ("SessionAggregate", {"gap": 5}, [(9, 3), (20, 2)]),
        ("SessionAggregate", {"gap": 6}, [(10, 3), (21, 2)]),
    ],
)
def test_windows_end_where_they_should(type_, parameters, expected):
    rows = [(-1, 1.0), (1, 1.0), (4, 1.0), (11, 1.0), (15, 1.0)]
    found = run(aggregate(type_, how="count", **parameters), rows)["count"]
    assert found[: len(expected)] == expected
    assert sum(n for _, n in found) == {4: 10, 2: 3}.get(parameters.get("window"), 5)


def test_every_word_at_once_in_the_order_that_is_asked_for():
    how = ["mean", "max", "ohlc", "count", "last", "sum", "min", "first"]
    graph = rtbot.load(
        {
            "inputs": {"x": "integer"},
            "operators": {"w": {"type": "TumblingAggregate", "in": "x", "window": 10, "how": how}},
            "outputs": {f"o{k}": f"w.o{k}" for k in range(1, 12)} | {"close": "w.close"},
        }
    )
    found = run(graph, [(1, 4), (2, -9), (3, 2**62), (4, 7)])
    assert {name: rows[0][1] for name, rows in found.items()} == {
        "o1": float(Fraction(2 + 2**62, 4)),
        "o2": 2**62,
        "o3": 4,
        "o4": 2**62,
        "o5": -9,
        "o6": 7,
        "o7": 4,
        "o8": 7,
        "o9": float(2 + 2**62),
        "o10": -9,
        "o11": 4,
        "close": 7,
    }


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("values", "total", "mean"),
    [
        ([0.1, 0.1, 0.1], 0.30000000000000004, 0.1),
        ([1e16, 1.0, -1e16], 1.0, 1 / 3),
        ([1e300, 1.0, 1e-300, -1e300], 1.0, 0.25),
        ([HUGE, HUGE, -HUGE], HUGE, HUGE / 3),
        ([HUGE, HUGE], math.inf, HUGE),
        ([-0.0, -0.0], 0.0, 0.0),
        ([math.inf, 1.0], math.inf, math.inf),
        ([math.inf, -math.inf], math.nan, math.nan),
        ([math.nan, math.inf], math.nan, math.nan),
        ([-math.inf, 1.0, HUGE, HUGE], -math.inf, -math.inf),
        ([5e-324] * 3, 1.5e-323, 5e-324),
    ],
)
def test_sums_and_means_are_exact_and_a_window_leaves_nothing_behind(values, total, mean, compiled):
    rows = [(t, v) for begin in (0, 100) for t, v in enumerate(values, begin)]
    rows += [(200, 0.1), (201, 0.2)]
    for type_, parameters in (
        ("TumblingAggregate", {"window": 100}),
        ("SessionAggregate", {"gap": 50}),
        ("HoppingAggregate", {"window": 100, "hop": 100}),
        ("HoppingAggregate", {"window": 100, "hop": 20}),
    ):
        found = run(aggregate(type_, how=["sum", "mean"], **parameters), rows, compiled=compiled)
        for name, wanted, ending in (("sum", total, 0.30000000000000004), ("mean", mean, MEAN)):
            values_found = {t: repr(v) for t, v in found[name]}
            ends = (100, 200, 300) if type_ != "SessionAggregate" else sorted(values_found)
            assert [values_found[t] for t in ends] == [repr(wanted), repr(wanted), repr(ending)]


def test_a_window_that_ends_beyond_int64_gives_no_message_and_is_counted():
    most = 2**63 - 1
    graph = aggregate("TumblingAggregate", how="count", window=10)
    session = graph.start(compiled=False)
    rows = [(most - 20, 1.0), (most - 3, 1.0), (most, 1.0)]
    found = session.push({"x": {"t": [t for t, _ in rows], "value": [1.0] * 3}})["w_count"]
    assert found["t"].tolist() == [most - 17]
    assert len(session.finish()["w_count"]["t"]) == 0
    assert session.account()["operators"]["w"]["i1"]["lost"] == {"domain": 2}


def test_a_join_with_bars_as_of_sees_only_those_that_are_over():
    graph = rtbot.load(
        {
            "inputs": {"x": "number"},
            "operators": {
                "bar": {"type": "TumblingAggregate", "in": "x", "window": 10, "how": "max"},
                "seen": {"type": "Join", "in": ["x", "bar"], "how": "asof"},
            },
            "outputs": ["seen.o2"],
        }
    )
    found = graph.run({"x": {"t": [1, 9, 10, 12, 25], "value": [5.0, 3.0, 7.0, 1.0, 2.0]}})
    table = found["seen.o2"] if "seen.o2" in found else found["seen_o2"]
    assert table["value_valid"].tolist() == [False, False, True, True, True]
    assert table["value"][2:].tolist() == [5.0, 5.0, 7.0]


@pytest.mark.parametrize(
    ("parameters", "code", "message"),
    [
        ({"window": 5}, "RT111", "needs the parameter how"),
        ({"window": 5, "how": []}, "RT112", "how is empty"),
        ({"window": 5, "how": "median"}, "RT112", "how is median"),
        ({"window": 5, "how": ["sum", "sum"]}, "RT112", "how has sum twice"),
        ({"window": 5, "how": {"a": "sum"}}, "RT105", "this is a mapping"),
        ({"window": 0, "how": "sum"}, "RT112", "window is 0"),
        ({"window": "5s", "how": "sum"}, "RT115", "no io.unit"),
    ],
)
def test_what_is_refused(parameters, code, message):
    operator = {"type": "TumblingAggregate", "in": "x"} | parameters
    graph = {"inputs": {"x": "number"}, "operators": {"w": operator}, "outputs": ["w.sum"]}
    with pytest.raises(rtbot.GraphError) as caught:
        rtbot.load(graph)
    (problem,) = caught.value.problems
    assert problem.code == code
    assert message in problem.message


def test_an_output_that_was_not_asked_for_is_refused_with_those_there_are():
    with pytest.raises(rtbot.GraphError) as caught:
        rtbot.load(
            {
                "inputs": {"x": "number"},
                "operators": {
                    "w": {"type": "SessionAggregate", "in": "x", "gap": 5, "how": ["min", "max"]}
                },
                "outputs": ["w.mean"],
            }
        )
    (problem,) = caught.value.problems
    assert problem.code == "RT121"
    assert "min" in problem.hint


SPIKES = [0.1, -0.0, 1e16, -1e16, 1e300, -1e300, HUGE, -HUGE, 5e-324, math.inf, math.nan]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", ["number", "integer"])
@pytest.mark.parametrize(
    ("window", "hop", "offset"), [(40, 1, 0), (37, 5, 3), (50, 49, -7), (200, 10, 0), (3, 10, 1)]
)
def test_panes_come_and_go_without_a_trace(window, hop, offset, kind, compiled):
    how = ["count", "sum", "mean", "first", "last", "min", "max"]
    graph = aggregate("HoppingAggregate", kind, how=how, window=window, hop=hop, offset=offset)
    for seed in range(12 if compiled else 4):
        random = np.random.default_rng(seed)
        gaps = random.choice(
            [1, 1, 2, 3, window // 2, 3 * window], 150, p=[0.3, 0.3, 0.2, 0.1, 0.08, 0.02]
        )
        times = (np.cumsum(gaps) - 100).tolist()
        if kind == "integer":
            values = random.choice([0, 7, -3, 2**53 + 1, 2**63 - 1, -(2**63)], 150).tolist()
        else:
            plain = random.normal(0.0, 1.0, 150) * 10.0 ** random.integers(-20, 20, 150)
            spiked = random.random(150) < random.choice([0.0, 0.1])
            values = np.where(spiked, random.choice(SPIKES, 150), plain).tolist()
        rows = [*zip(times, values, strict=True)]
        wanted = [*hopping(rows, window, hop, offset, how, math.inf)]
        found = run(graph, rows, compiled=compiled)
        for place, word in enumerate(how):
            assert [t for t, _ in found[word]] == [t for t, _ in wanted]
            assert [repr(v) for _, v in found[word]] == [repr(w[place]) for _, w in wanted], word


def test_a_window_of_more_panes_than_messages():
    graph = aggregate("HoppingAggregate", how="sum", window=1_000_000, hop=999_999)
    assert run(graph, [(5, 1.0), (999_998, 2.0), (1_000_500, 4.0)])["sum"] == [
        (1_000_000, 3.0),
        (1_999_999, 4.0),
    ]


def test_outputs_by_name_in_python():
    g = rtbot.Builder("bars")
    price = g.input("price")
    bars = rtbot.ops.TumblingAggregate(price, window=10, how=["ohlc", "mean"])
    mean = rtbot.ops.TumblingAggregate(price, window=10, how="mean")
    g.output(width=bars.high - bars.low, same=bars.mean - mean)
    found = g.graph().run({"price": {"t": np.arange(30), "value": np.arange(30.0)}})
    assert found["width"]["value"].tolist() == [9.0, 9.0, 9.0]
    assert found["same"]["value"].tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(TypeError, match="one or a list of count, sum"):
        rtbot.ops.TumblingAggregate(price, window=10, how="median")
