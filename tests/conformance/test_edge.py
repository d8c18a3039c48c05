"""The edge of a session: late rows, equal times, lateness, advances, full queues."""

import random

import pytest

import rtbot
from tests.oracles.edge import ADVANCE, RULES, Edge, RefusedError, stream
from tests.oracles.streams import bits

ECHO = {"inputs": {"a": "number"}, "operators": {"x": "a"}, "outputs": {"a": "a", "x": "x"}}
VALUES = [0.0, -0.0, 1.0, 2.0, float("nan"), float("inf"), -float("inf"), 1.5e308, 0.1]


def arrivals(rng):
    """Rows in any order, with equal times, and advances."""
    events = []
    for _ in range(rng.randint(1, 12)):
        if rng.random() < 0.15:
            events.append((ADVANCE, rng.randint(-3, 12)))
        else:
            events.append((rng.randint(0, 9), rng.choice(VALUES)))
    return events


def fed(events, policies):
    """What came out, what was lost, and whether a row was refused; refused rows are left out."""
    session = rtbot.load(ECHO).start(compiled=False, **policies)
    rows, refused, taken = [], [], []
    for time, value in events:
        try:
            if time is ADVANCE:
                result = session.advance(value)
            else:
                result = session.push({"a": {"t": [time], "value": [value]}})
        except rtbot.DataError:
            refused.append((time, value))
            continue
        taken.append((time, value))
        rows += zip(result["x"]["t"].tolist(), result["x"]["value"].tolist(), strict=True)
    result = session.finish()["x"]
    rows += zip(result["t"].tolist(), result["value"].tolist(), strict=True)
    return rows, session.account()["inputs"]["a"], refused, taken


def accepted(events, edge):
    """By the oracle: the events that are not refused, one after the other."""
    taken, refused = [], []
    for event in events:
        try:
            stream([*taken, event], edge, "number")
        except RefusedError:
            refused.append(event)
        else:
            taken.append(event)
    return taken, refused


@pytest.mark.parametrize("lateness", [None, 0, 2])
@pytest.mark.parametrize("duplicates", ["error", *RULES])
@pytest.mark.parametrize("late", ["error", "drop"])
def test_any_disorder_under_every_policy(late, duplicates, lateness):
    rng = random.Random(f"{late} {duplicates} {lateness}")
    policies = {"late": late, "duplicates": duplicates, "lateness": lateness}
    edge = Edge(late, duplicates, lateness)
    for _ in range(60):
        events = arrivals(rng)
        taken, refused = accepted(events, edge)
        right = stream(taken, edge, "number")
        rows, account, engine_refused, engine_taken = fed(events, policies)
        assert [(t, bits(v)) for t, v in engine_refused] == [(t, bits(v)) for t, v in refused]
        assert len(engine_taken) == len(taken)
        assert [(t, bits(v)) for t, v in rows] == [(t, bits(v)) for t, v in right.rows]
        assert account["lost"] == right.lost


def test_an_advance_never_goes_back():
    session = rtbot.load(ECHO).start(compiled=False, late="drop")
    session.advance(10)
    session.advance(5)
    session.push({"a": {"t": [7, 11], "value": [1.0, 2.0]}})
    assert session.account()["inputs"]["a"] == {
        "in": 2,
        "consumed": 1,
        "held": 0,
        "lost": {"late": 1},
    }


def test_a_full_queue_refuses_only_the_input_that_is_ahead():
    document = {
        "inputs": {"a": "number", "b": "number"},
        "operators": {"j": {"type": "Join", "in": ["a", "b"]}},
        "outputs": {"o": "j.o1"},
    }
    session = rtbot.load(document).start(compiled=False, queue_limit=3)
    session.push({"a": {"t": [1, 2, 3], "value": [1.0, 2.0, 3.0]}})
    with pytest.raises(rtbot.QueueFull):
        session.push({"a": {"t": [4], "value": [4.0]}})
    out = session.push({"b": {"t": [3, 4], "value": [0.0, 0.0]}})
    assert out["o"]["t"].tolist() == [3]
    out = session.push({"a": {"t": [4], "value": [4.0]}})
    assert out["o"]["t"].tolist() == [4]
