"""What is due at a time: on every path, at every cut, for keys with and without rows."""

import random

import numpy as np
import pytest

import rtbot
from rtbot.operator import (
    EMIT,
    EMIT_AGAIN,
    NEVER,
    SILENT,
    Duration,
    In,
    Integer,
    Operator,
    Out,
    Ring,
    Scalar,
    step,
)
from rtbot.runtime.retimed_path import RetimedPath

OUTPUTS = ["y", "pair"]
BURSTS = {"y": {"type": "Debounce", "in": "x", "quiet": 5}}


@pytest.fixture(autouse=True)
def _operators():
    class CountdownForTest(Operator):
        """At each message the sum of the last two, then, every `step`, what is left of `times`."""

        every = Duration(minimum=1, doc="how far apart")
        times = Integer(minimum=1, doc="how many")
        size = Integer(minimum=1, default=2, doc="values in the sum")
        i1 = In("number", doc="values")
        o1 = Out("number", doc="sums, then numbers")
        values = Ring("i1", size="size")
        due = Scalar("integer", NEVER)
        left = Scalar("integer", 0)
        given = Scalar("integer", 0)
        silent = True
        sets_time = True

        @step
        def close(time, every, left, given):  # noqa: N805 (a step has no self)
            left -= 1
            return EMIT, time, float(left), time + every if left > 0 else NEVER, left, given

        @step
        def step(
            i1, time, every, times, values, values_first, values_count, due, left, given,  # noqa: N805
        ):  # fmt: skip
            total = i1 - i1
            for place in range(values_count):
                total += values[values_first + place]
            if given < times:
                return EMIT_AGAIN, time * 1000 + given, total, due, left, given + 1
            return EMIT, time * 1000 + given, total, time * 1000 + given + every, times, 0

    class NeverDoneForTest(Operator):
        """A close that moves its time by 1 `times` times, then by `last`, which is a fault."""

        times = Integer(minimum=0, doc="how often")
        last = Integer(doc="how far then")
        i1 = In("number", doc="values")
        o1 = Out("number", doc="values")
        due = Scalar("integer", NEVER)
        sets_time = True
        left = Scalar("integer", 0)
        silent = True

        @step
        def close(time, last, left):  # noqa: N805 (a step has no self)
            return EMIT, time, 1.0, time + (1 if left > 0 else last), left - 1

        @step
        def step(i1, time, times):  # noqa: N805 (a step has no self)
            return SILENT, time, i1, time + 1, times


def load(operators, outputs, inputs=("x",)):
    return rtbot.load(
        {"inputs": dict.fromkeys(inputs, "number"), "operators": operators, "outputs": outputs}
    )


def rows(*tables):
    return [row for t in tables for row in zip(t["t"].tolist(), t["value"].tolist(), strict=True)]


def countdown(x):
    """What CountdownForTest emits up to the end of a series of rows."""
    expected, values = [], []
    for place, (t, value) in enumerate(x):
        values.append(value)
        total = sum(values[-2:])
        expected += [(1000 * t + given, total) for given in range(41)]
        until = x[place + 1][0] if place + 1 < len(x) else float("inf")
        dues = [(1000 * t + 40 + 7 * (n + 1), float(39 - n)) for n in range(40)]
        expected += [row for row in dues if row[0] <= until]
    return expected


@pytest.mark.parametrize("compiled", [False, True])
def test_many_rows_of_one_message_and_many_due_at_once_are_the_same_on_every_path(compiled):
    operators = {
        "y": {"type": "CountdownForTest", "in": "x", "every": 7, "times": 40},
        "shifted": {"type": "TimeShift", "in": "y", "shift": 1},
        "pair": {"type": "Merge", "in": ["y", "shifted"], "ties": "sum"},
    }
    graph = load(operators, OUTPUTS)
    x = [(1, 1.0), (1200, 2.0), (5000, 4.0)]
    expected = countdown(x)
    session = graph.start(compiled=compiled)
    tables = session.push({"x": {"t": [t for t, _ in x], "value": [v for _, v in x]}})
    ended = session.finish()
    whole = {name: rows(tables[name], ended[name]) for name in OUTPUTS}
    assert whole["y"] == expected
    for saves in (False, True):
        session = graph.start(compiled=compiled)
        found = {name: [] for name in OUTPUTS}
        for number, (t, v) in enumerate(x):
            for name, more in session.push_one("x", t, v).items():
                found[name] += more
            if saves:
                session = graph.resume(session.dump(), compiled=compiled)
            elif number:
                assert isinstance(session.push_paths["x"], RetimedPath)
        for name, table in session.finish().items():
            found[name] += rows(table)
        assert found == whole


@pytest.mark.parametrize("compiled", [False, True])
def test_the_room_for_rows_follows_the_last_push(compiled):
    graph = load({"y": {"type": "TopK", "in": "x", "k": 20}}, ["y"])
    sizes = [30, 30, 1, 0, 40, 3, 40]
    session, whole = graph.start(compiled=compiled), graph.start(compiled=compiled)
    found, first = [], 0
    for size in sizes:
        times = range(first, first + size)
        table = {"t": [*times], "value": [float(t * 7 % 31) for t in times]}
        result = session.push({"x": table})["y"]
        found += rows(result)
        first += size
    table = {"t": [*range(first)], "value": [float(t * 7 % 31) for t in range(first)]}
    assert found == rows(whole.push({"x": table})["y"])
    assert session.runner.rooms == {"y": 800}


def test_a_message_to_another_input_leaves_what_is_not_due_and_does_not_take_the_general_path():
    graph = load(BURSTS | {"m": {"type": "MovingSum", "in": "z", "window": 2}}, ["y", "m"], "xz")
    session = graph.start(compiled=False)
    assert session.push_one("z", 1, 1.0) == {}
    assert session.push_one("x", 1, 1.0) == {}
    assert session.push_one("z", 100, 1.0) == {"m": [(100, 2.0)]}
    assert session.push_one("x", 6, 2.0) == {"y": [(6, 1.0)]}
    assert not any(type(path).__name__ == "General" for path in session.push_paths.values())


def test_an_advance_looks_only_at_keys_that_are_due_and_due_says_when():
    graph = load(BURSTS, ["y"])
    session = graph.start(key="k", compiled=False)
    keys, times = np.arange(100), np.arange(100) + 10
    session.push({"x": {"k": keys, "t": times, "value": keys.astype(float)}})
    assert session.due() == 15
    session.runner.clear = None
    seen = []
    run = session.runner.run
    session.runner.run = lambda slots, *a, **k: seen.append(len(slots)) or run(slots, *a, **k)
    assert rows(session.advance(14)["y"]) == []
    assert rows(session.advance(17)["y"]) == [(15, 0.0), (16, 1.0), (17, 2.0)]
    assert seen == [0, 3]
    assert session.due() == 18
    session.push({"x": {"k": [3], "t": [18 - 1 + 1], "value": [7.0]}})
    assert rows(session.advance(22)["y"]) == [(19, 4.0), (20, 5.0), (21, 6.0), (22, 7.0)]


def test_a_key_that_closes_and_the_end_release_what_is_due_later():
    session = load(BURSTS, ["y"]).start(key="k", compiled=False)
    session.push({"x": {"k": ["a", "b"], "t": [1, 2], "value": [1.0, 2.0]}})
    assert rows(session.close_key("a")["y"]) == [(6, 1.0)]
    assert rows(session.finish()["y"]) == [(7, 2.0)]


def test_a_time_at_the_end_of_int64_is_a_time():
    most = 2**63 - 1
    session = load(BURSTS, ["y"]).start(compiled=False)
    session.push_one("x", most - 5, 1.0)
    assert rows(session.advance(most)["y"]) == [(most, 1.0)]
    session = load(BURSTS, ["y"]).start(compiled=False)
    session.push_one("x", most - 4, 1.0)
    assert rows(session.finish()["y"]) == []
    assert session.account()["operators"]["y"]["i1"]["lost"] == {"domain": 1}


def test_a_frontier_that_only_another_input_moves_makes_something_due():
    operators = {
        "left": {"type": "Join", "in": ["a", "b"], "how": "left"},
        "y": {"type": "Debounce", "in": "left.o1", "quiet": 5},
    }
    session = load(operators, ["y"], "ab").start(compiled=False)
    assert session.push_one("a", 1, 1.0) == {}
    assert session.push_one("a", 20, 2.0) == {}
    assert session.push_one("b", 3, 0.0) == {"y": [(6, 1.0)]}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("times", "last"), [(0, 0), (0, -1), (100, 0), (100, -(1 << 60))])
def test_a_close_that_returns_a_due_that_is_not_later_is_a_fault(times, last, compiled):
    node = {"type": "NeverDoneForTest", "in": "x", "times": times, "last": last}
    graph = load({"y": node}, ["y"])
    for one in (False, True):
        session = graph.start(compiled=compiled)
        session.push_one("x", 1, 1.0)
        session.push_one("x", 2, 1.0) if times else session.advance(1)
        with pytest.raises(rtbot.GraphError) as caught:
            session.push_one("x", 500, 1.0) if one else session.finish()
        (problem,) = caught.value.problems
        time = 2 + (times and 1) + times
        assert problem.message.startswith(
            f"NeverDoneForTest.close returned due = {time + last} at {time},"
        )
        assert (problem.code, problem.source.strip()[:10]) == ("RT173", "def close(")
        assert problem.mark.file.endswith("test_timers.py")
        with pytest.raises(rtbot.StateError, match="was broken off in its middle"):
            session.finish()


def test_random_paths_agree():
    rng = random.Random(5)
    operators = {
        "y": {"type": "Debounce", "in": "x", "quiet": 4},
        "g": {"type": "ResamplerConstant", "in": "x", "interval": 3, "t0": 0},
        "j": {"type": "Join", "in": ["y", "g"], "how": "outer"},
        "k": "coalesce(j.o1, 0.5) + coalesce(j.o2, 0.25)",
        "pair": {"type": "Debounce", "in": "k", "quiet": 9},
    }
    graph = load(operators, OUTPUTS)
    for _ in range(20):
        t, x = 0, []
        for _ in range(40):
            t += rng.choice([1, 2, 4, 5, 30, 200, 4000])
            x.append((t, rng.random()))
        session = graph.start(compiled=False)
        table = {"t": [t for t, _ in x], "value": [v for _, v in x]}
        parts = [session.push({"x": table}), session.finish()]
        whole = {name: rows(*(part[name] for part in parts)) for name in OUTPUTS}
        session = graph.start(compiled=False)
        found = {name: [] for name in OUTPUTS}
        for t, v in x:
            for name, more in session.push_one("x", t, v).items():
                found[name] += [(a, np.nan if b is None else b) for a, b in more]
            if rng.random() < 0.1:
                session = graph.resume(session.dump(), compiled=False)
        for name, more in session.finish().items():
            found[name] += rows(more)
        assert repr(found) == repr(whole)


def test_nulls_that_no_value_follows_are_held_then_counted():
    graph = rtbot.load(
        {
            "inputs": {"a": "number?"},
            "operators": {"m": {"type": "Fill", "in": "a", "how": "linear"}},
            "outputs": ["m"],
        }
    )
    session = graph.start(key="k")
    for key in ("x", "y"):
        for time, value in enumerate([None, 2.0, None, 3.0, None, None]):
            session.push_one("a", time, value, key=key)
    seen = [(session.held(), session.account()["operators"]["m"]["i1"])]
    session.close_key("x")
    seen.append((session.held(), session.account()["operators"]["m"]["i1"]))
    session.finish()
    seen.append((session.held(), session.account()["operators"]["m"]["i1"]))
    assert seen == [
        ({"m.i1": held}, {"in": 12, "consumed": 6, "held": held, "lost": {"domain": lost}})
        if held
        else ({}, {"in": 12, "consumed": 6, "held": 0, "lost": {"domain": lost}})
        for held, lost in ((4, 2), (2, 4), (0, 6))
    ]


def test_what_is_due_next_is_no_time_of_a_key_that_was_closed(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    document = {"inputs": {"x": "number"}, "operators": BURSTS, "outputs": ["y"]}
    session = rtbot.load(document).start(key="k")
    for time, key in ((0, "a"), (2, "b")):
        session.push_one("x", time, 1.0, key=key)
    session.advance(2)
    assert session.due() == 5
    session.close_key("a")
    assert session.due() == 7
    session.close_key("b")
    assert session.due() is None
