"""What RtBot does wrong, done right: a test for each fault of docs/differences-from-rtbot.md."""

import itertools
import math
import random
import statistics

import pytest

import rtbot

NAN, INFINITY = math.nan, math.inf


def load(inputs, operators, outputs, **io):
    return rtbot.load({"inputs": inputs, "operators": operators, "outputs": outputs, "io": io})


def start(*graph, **io):
    return load(*graph, **io).start(compiled=False)


def rows_of(outputs):
    """`{output: [(t, value)]}` of tables."""
    return {
        name: list(zip(table["t"].tolist(), table["value"].tolist(), strict=True))
        for name, table in outputs.items()
    }


def gather(*parts):
    """The rows of several calls together, by output."""
    found = {}
    for part in parts:
        for name, rows in part.items():
            found.setdefault(name, []).extend(rows)
    return {name: rows for name, rows in found.items() if rows}


def interleavings(rows, count, seed=7):
    """Random orders of `(input, t, value)` in which each input keeps its own."""
    rng = random.Random(seed)
    for _ in range(count):
        waiting = {name: [row for row in rows if row[0] == name] for name, *_ in rows}
        order = []
        while any(waiting.values()):
            name = rng.choice([name for name, own in waiting.items() if own])
            order.append(waiting[name].pop(0))
        yield order


def by_any_order(graph, rows, count=40):
    """What comes out one by one in many orders, each once."""
    found = []
    for order in interleavings(rows, count):
        session = graph.start(compiled=False)
        out = [session.push_one(*row) for row in order]
        out = gather(*out, rows_of(session.finish()))
        if out not in found:
            found.append(out)
    return found


def test_f1_a_multiplexer_ends_and_gives_one_result_in_any_order():
    graph = load(
        {"a": "number", "b": "number", "p": "boolean", "q": "boolean"},
        {"m": {"type": "Multiplexer", "in": ["a", "b"], "control": ["p", "q"]}},
        ["m"],
    )
    rows = [("a", 3, 3.0), ("b", 1, 10.0), ("b", 2, 20.0), ("a", 4, 4.0)]
    rows += [("p", t, t % 2 == 1) for t in (1, 2, 3, 4)]
    rows += [("q", t, t % 2 == 0) for t in (1, 2, 3, 4)]
    assert by_any_order(graph, rows) == [{"m": [(2, 20.0), (3, 3.0)]}]


def test_f2_nand_and_nor():
    pairs = list(itertools.product([False, True], repeat=2))
    kinds = {"a": "boolean", "b": "boolean"}
    operators = {
        name: {"type": f"Logical{name.title()}", "in": ["a", "b"]} for name in ("nand", "nor")
    }
    session = start(kinds, operators, ["nand", "nor"])
    tables = {
        name: {"t": [0, 1, 2, 3], "value": [pair[place] for pair in pairs]}
        for place, name in enumerate("ab")
    }
    out = session.push(tables)
    assert out["nand"]["value"].tolist() == [not (a and b) for a, b in pairs]
    assert out["nor"]["value"].tolist() == [not (a or b) for a, b in pairs]


def test_f3_a_keyed_variable_never_answers_with_what_comes_later():
    kinds = {"key": "number", "value": "number", "asked": "number"}
    spec = {"type": "KeyedVariable", "in": ["key", "value"], "control": "asked", "mode": "lookup"}
    graph = load(kinds, {"v": spec}, ["v"])
    rows = [("key", t, 7.0) for t in (1, 3, 5)]
    rows += [("value", t, 100.0 * t) for t in (1, 3, 5)]
    rows += [("asked", t, 7.0) for t in (2, 3, 4)]
    assert by_any_order(graph, rows) == [{"v": [(2, 100.0), (3, 300.0), (4, 300.0)]}]


@pytest.mark.parametrize("window", [1, 2, 3, 5])
@pytest.mark.parametrize("values", [range(1, 12), range(12, 0, -1), [5, 5, 1, 1, 9, 9, 9, 2]])
def test_f4_extremes_of_rising_and_falling_values(values, window):
    values = [float(value) for value in values]
    operators = {
        mode: {"type": "WindowMinMax", "in": "x", "window": window, "mode": mode}
        for mode in ("min", "max")
    }
    out = start({"x": "number"}, operators, ["min", "max"]).push(
        {"x": {"t": list(range(len(values))), "value": values}}
    )
    full = [values[k - window : k] for k in range(window, len(values) + 1)]
    assert out["min"]["value"].tolist() == list(map(min, full))
    assert out["max"]["value"].tolist() == list(map(max, full))


def fan_in(first, second):
    operators = {
        "above": {"type": "GreaterThan", "in": "x", "value": 0},
        "below": {"type": "LessThan", "in": "x", "value": 0},
        "both": {"type": "Merge", "in": [first, second]},
        "sum": {"type": "CumulativeSum", "in": "both"},
    }
    return load({"x": "number"}, operators, ["sum"])


@pytest.mark.parametrize("order", [("above", "below"), ("below", "above")])
def test_f5_and_f6_streams_that_become_one_do_not_depend_on_batches_nor_on_the_file(order):
    values = [-1.0, 2.0, -4.0, 5.0, -3.0, 6.0]
    sums = list(zip(range(6), itertools.accumulate(values), strict=True))
    for size in (1, 2, 5, 6):
        session = fan_in(*order).start(compiled=False)
        parts = [
            session.push(
                {"x": {"t": list(range(k, min(k + size, 6))), "value": values[k : k + size]}}
            )
            for k in range(0, 6, size)
        ]
        assert gather(*map(rows_of, parts), rows_of(session.finish())) == {"sum": sums}


def test_f7_a_restored_session_knows_which_times_have_been():
    operators = {"s": {"type": "CumulativeSum", "in": "x"}}
    graph = load({"x": "number"}, operators, ["s"], late="drop", duplicates="first")
    session = graph.start(compiled=False)
    session.push_one("x", 5, 1.0)
    session = graph.resume(session.dump(), compiled=False)
    for time in (4, 5):
        assert session.push_one("x", time, 9.0) == {}
    assert session.push_one("x", 6, 3.0) == {"s": [(6, 4.0)]}


def test_f8_no_message_blocks_those_behind_it_and_times_may_be_negative():
    shift = {"s": {"type": "TimeShift", "in": "x", "shift": -10}}
    session = start({"x": "number"}, shift, ["s"])
    assert session.push_one("x", 3, 1.0) == {"s": [(-7, 1.0)]}
    session = start({"x": "number"}, {"s": shift["s"] | {"shift": 2**62}}, ["s"])
    session.push_one("x", 2**62, 1.0)
    session.push_one("x", 2**62 + 1, 2.0)
    assert session.account()["operators"]["s"]["i1"]["lost"] == {"domain": 2}


def test_f13_keys_are_the_values_themselves():
    graph = load({"x": "number"}, {"s": {"type": "CumulativeSum", "in": "x"}}, ["s"])
    session = graph.start(key=("k", "n"), compiled=False)
    keys = [(0, 1000003), (1, 0), (0, 1000003)]
    table = {
        "k": [k for k, _ in keys],
        "n": [n for _, n in keys],
        "t": [1, 1, 2],
        "value": [1.0] * 3,
    }
    out = session.push({"x": table})["s"]
    found = zip(out["k"].tolist(), out["n"].tolist(), out["value"].tolist(), strict=True)
    assert list(found) == [(0, 1000003, 1.0), (0, 1000003, 2.0), (1, 0, 1.0)]


@pytest.mark.parametrize("bad", [NAN, INFINITY, -INFINITY, 1e16])
def test_f14_what_has_left_a_window_is_gone(bad):
    operators = {
        name: {"type": name, "in": "x", "window": 3}
        for name in ("MovingSum", "MovingAverage", "StandardDeviation")
    }
    operators["least"] = {"type": "WindowMinMax", "in": "x", "window": 3, "mode": "min"}
    values = [0.1, bad, 0.2, 0.3, 0.4]
    found = []
    for begin in (0, 2):
        session = start({"x": "number"}, operators, list(operators))
        table = {"t": list(range(begin, 5)), "value": values[begin:]}
        found.append({n: v["value"][-1] for n, v in session.push({"x": table}).items()})
    assert found[0] == found[1]
    assert found[0]["StandardDeviation"] == math.sqrt(statistics.variance(values[2:]))


def test_f17_nanoseconds_are_whole():
    epoch = 1_700_000_000_123_456_789
    operators = {
        "later": {"type": "TimeShift", "in": "x", "shift": "3s"},
        "grid": {"type": "ResamplerConstant", "in": "x", "interval": "5s", "t0": epoch},
    }
    session = start({"x": "number"}, operators, ["later", "grid"], unit="ns")
    out = rows_of(session.push({"x": {"t": [epoch, epoch + 6 * 10**9], "value": [1.0, 2.0]}}))
    assert out["later"] == [(epoch + 3 * 10**9, 1.0), (epoch + 9 * 10**9, 2.0)]
    assert out["grid"] == [(epoch + 5 * 10**9, 1.0)]


@pytest.mark.parametrize(
    ("operators", "code"),
    [
        ({"m": {"type": "MovingAverage", "in": "x"}}, "RT111"),
        ({"m": {"type": "MovingAverge", "in": "x", "window": 3}}, "RT103"),
        ({"m": {"type": "MovingAverage", "in": "m", "window": 3}}, "RT127"),
        ({"m": {"type": "Addition", "in": ["x"]}}, "RT123"),
        ({"m": {"type": "Abs", "in": "x.o7"}}, "RT121"),
    ],
)
def test_f19_one_mistake_is_one_error(operators, code):
    with pytest.raises(rtbot.GraphError) as caught:
        load({"x": "number"}, operators, ["m"])
    assert [problem.code for problem in caught.value.problems] == [code]


@pytest.mark.parametrize("t0", [None, 0, 3, 1000])
def test_f22_a_smooth_resampler_with_t0_emits_and_a_straight_line_stays_one(t0):
    times = [1, 2, 7, 8, 20, 21, 30, 1010, 1020, 1021]
    spec = {"type": "ResamplerHermite", "in": "x", "interval": 5}
    session = start({"x": "number"}, {"h": spec | ({} if t0 is None else {"t0": t0})}, ["h"])
    table = {"t": times, "value": [2.0 * time for time in times]}
    found = rows_of(session.push({"x": table}))["h"]
    first = 2 if t0 is None else max(t0, 2 + (t0 - 2) % 5)
    assert [time for time, _ in found] == list(range(first, 1021, 5))
    assert all(abs(value - 2 * time) < 1e-9 for time, value in found)


def test_f24_a_graph_is_written_as_it_was_read():
    operators = {
        "d": {"type": "Difference", "in": "x", "use_oldest_time": False},
        "t": {"type": "TimestampExtract", "in": "x"},
        "c": {"type": "ConstantNumber", "in": "x", "value": 4.5},
        "n": {"type": "LogicalNand", "in": ["p", "p"], "numPorts": 2},
    }
    graph = load({"x": "number", "p": "boolean"}, operators, list(operators))
    again = rtbot.load(graph.to_yaml())
    assert again.to_yaml() == graph.to_yaml()


def test_f25_a_run_has_every_message_at_its_own_time():
    graph = load(
        {"x": "number"}, {"r": {"type": "ResamplerConstant", "in": "x", "interval": 1}}, ["r"]
    )
    found = rows_of(graph.run({"x": {"t": [0, 4], "value": [1.0, 2.0]}}))
    assert found == {"r": [(1, 1.0), (2, 1.0), (3, 1.0), (4, 2.0)]}


def test_f28_every_loss_is_counted():
    operators = {
        "q": {"type": "Division", "in": ["a", "b"]},
    }
    session = start(
        {"a": "number", "b": "number"}, operators, ["q"], late="drop", duplicates="first"
    )
    session.push({"a": {"t": [1, 2, 2, 1, 3], "value": [1.0] * 5}})
    session.push({"b": {"t": [2, 3], "value": [0.0, 2.0]}})
    session.finish()
    account = session.account()
    assert account["inputs"]["a"]["lost"] == {"duplicate": 1, "late": 1}
    assert account["operators"]["q"]["i1"]["lost"] == {"domain": 1, "unmatched": 1}
    assert account["operators"]["q"]["i2"]["lost"] == {"domain": 1}


def test_f29_a_grid_point_never_has_a_value_from_after_it_but_the_first():
    spec = {"type": "ResamplerConstant", "in": "x", "interval": 5, "t0": 0, "snapFirst": True}
    session = start({"x": "number"}, {"r": spec}, ["r"])
    found = rows_of(session.push({"x": {"t": [13, 15, 31], "value": [1.0, 2.0, 9.0]}}))
    assert found == {"r": [(10, 1.0), (15, 2.0), (20, 2.0), (25, 2.0), (30, 2.0)]}


@pytest.mark.parametrize("value", [-5.0, -1e300, 1e300, 2.0**70, 1e-12, 0.0])
def test_f30_equality_is_of_the_numbers_themselves(value):
    spec = {"type": "EqualTo", "in": "x", "value": value, "epsilon": 0}
    session = start({"x": "number"}, {"e": spec}, ["e"])
    near = [math.nextafter(value, -INFINITY), value, math.nextafter(value, INFINITY)]
    out = session.push({"x": {"t": [1, 2, 3], "value": near}})
    assert rows_of(out) == {"e": [(2, value)]}
