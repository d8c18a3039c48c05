"""Lists of keys: what a window of time holds, how it grows, and what is saved of it."""

import math
import random

import numpy as np
import pytest

import rtbot
from rtbot.runtime.span_pool import (
    POOL_LEAST,
    SPAN_CAPACITY,
    SPAN_COUNT,
    SPAN_FIRST,
    SPAN_START,
)

SECONDS = {
    "io": {"unit": "s"},
    "inputs": {"x": "number"},
    "operators": {
        "sum": {"type": "MovingSum", "in": "x", "window": "1h", "partial": True},
        "mean": {"type": "MovingAverage", "in": "x", "window": "1h", "partial": True},
        "high": {"type": "WindowMinMax", "mode": "max", "in": "x", "window": "1h"},
    },
    "outputs": ["sum", "mean", "high"],
}


def sums_of(rows, span=3600):
    return [(t, math.fsum(v for u, v in rows if t - span < u <= t)) for t, _ in rows]


def draw_rows(rng, count, step):
    times = np.cumsum([rng.randint(1, step) for _ in range(count)])
    return [(int(t), rng.choice([1e16, 1.0, -1e16, 0.1, 3.0])) for t in times]


def push_rows(session, rows, key=()):
    table = {"t": [t for t, _ in rows], "value": [v for _, v in rows]}
    return session.push({"x": dict(key) | table})


def list_rows(table):
    return list(zip(table["t"].tolist(), table["value"].tolist(), strict=True))


@pytest.mark.parametrize("step", [1, 20, 400, 20_000])
def test_pushes_of_any_size_and_single_messages_give_the_sums_of_their_windows(step):
    rng = random.Random(step)
    rows = draw_rows(rng, 900, step)
    session = rtbot.load(SECONDS).start(compiled=False)
    found, place = [], 0
    while place < len(rows):
        if rng.random() < 0.7:
            time, value = rows[place]
            found += session.push_one("x", time, value)["sum"]
            place += 1
            continue
        cut = rng.choice([2, 5, 60])
        found += list_rows(push_rows(session, rows[place : place + cut])["sum"])
        place += cut
    assert found == sums_of(rows)


def test_windows_of_operators_with_the_same_length_are_one_list():
    session = rtbot.load(SECONDS).start(compiled=False)
    assert session.plan.layout.spans == {
        "sum.values": {"time": "integer", "value": "number"},
        "high.best": {"time": "integer", "value": "number"},
    }


def test_a_dump_has_what_is_in_the_window_and_nothing_more():
    session = rtbot.load(SECONDS).start(compiled=False)
    push_rows(session, [(t, 1.0) for t in range(100_000)])
    full = len(session.dump())
    push_rows(session, [(200_000, 1.0)])
    assert full > 3600 * 16 > 20 * len(session.dump())
    again = rtbot.load(SECONDS).resume(session.dump(), compiled=False)
    pushed = [(200_000 + t, 2.0) for t in range(1, 5000, 7)]
    assert (
        again.push({"x": {"t": [t for t, _ in pushed], "value": [2.0] * len(pushed)}})["sum"][
            "value"
        ].tolist()
        == push_rows(session, pushed)["sum"]["value"].tolist()
    )
    assert again.dump() == session.dump()


def test_a_pool_becomes_small_again():
    session = rtbot.load(SECONDS).start(compiled=False)
    push_rows(session, [(t, 1.0) for t in range(100_000)])
    pool = session.runner.spans
    assert len(pool.items) > 100_000
    for time in range(10**6, 5 * 10**8, 10**6):
        push_rows(session, [(time + t, 1.0) for t in range(0, 40_000, 100)])
    assert len(pool.items) < 20 * POOL_LEAST


def test_keys_that_come_and_go_leave_nothing_behind():
    session = rtbot.load(SECONDS).start(key="k", compiled=False)
    for key in range(300):
        rows = [(t, float(key)) for t in range(key, key + 40)]
        push_rows(session, rows, {"k": [key] * len(rows)})
        if key >= 3:
            session.close_key(key - 3)
    pool = session.runner.spans
    assert int(pool.header[1]) < 2000
    assert len(pool.items) < 10 * POOL_LEAST


def test_many_keys_in_any_order_are_what_each_is_alone():
    rng = random.Random(5)
    rows = {key: draw_rows(rng, 60, 900) for key in range(40)}
    mixed = sorted((t, k, v) for k, own in rows.items() for t, v in own)
    session = rtbot.load(SECONDS).start(key="k", compiled=False)
    found = {key: [] for key in rows}
    while mixed:
        cut = rng.choice([1, 3, 50, 400])
        part, mixed = mixed[:cut], mixed[cut:]
        table = {
            "t": [t for t, _, _ in part],
            "k": [k for _, k, _ in part],
            "value": [v for _, _, v in part],
        }
        result = session.push({"x": table})["sum"]
        for key, t, v in zip(*(result[n].tolist() for n in ("k", "t", "value")), strict=True):
            found[key].append((t, v))
        if rng.random() < 0.2:
            session = rtbot.load(SECONDS).resume(session.dump(), compiled=False)
    assert found == {key: sums_of(own) for key, own in rows.items()}


def test_values_of_other_types_take_no_room_that_single_messages_have_counted_on():
    # Two floats in a row made room for 64 more; integers, which go another way, must not use it up.
    session = rtbot.load(SECONDS).start(key="k", compiled=True)
    pool = session.runner.spans
    others, count = [f"k{number}" for number in range(248)], 0

    def push(key, value):
        nonlocal count
        count += 1
        session.push_one("x", count, value, key=key)

    push("A", 1.0)
    for key in others:
        push(key, 1)
    for _ in range(3):
        push("A", 1.0)
    for key in others:
        push("A", 3)
        push(key, 5)
    for _ in range(62):
        push("A", 1.0)
    for place in pool.places:
        first, held, start, room = (
            int(pool.words[place + word])
            for word in (SPAN_FIRST, SPAN_COUNT, SPAN_START, SPAN_CAPACITY)
        )
        assert first + held <= start + room


def test_a_window_may_be_a_parameter_of_the_graph_that_is_a_duration():
    document = SECONDS | {
        "params": {"w": {"type": "duration", "default": "5s"}, "n": 5},
        "operators": {
            "sum": {"type": "MovingSum", "in": "x", "window": "$w", "partial": True},
            "last": {"type": "MovingSum", "in": "x", "window": "$n", "partial": True},
        },
        "outputs": ["sum", "last"],
    }
    rows = {"x": {"t": [0, 10, 20], "value": [1.0, 2.0, 3.0]}}
    found = rtbot.load(document).run(rows)
    assert found["sum"]["value"].tolist() == [1.0, 2.0, 3.0]
    assert found["last"]["value"].tolist() == [1.0, 3.0, 6.0]
    assert rtbot.load(document, w="20s").run(rows)["sum"]["value"].tolist() == [1.0, 3.0, 5.0]


def test_a_dump_of_a_window_of_time_does_not_fit_one_of_as_many_messages():
    def graph(window):
        operators = {"sum": {"type": "MovingSum", "in": "x", "window": window}}
        return rtbot.load(SECONDS | {"operators": operators, "outputs": ["sum"]})

    blob = graph("5s").start(compiled=False).dump()
    with pytest.raises(rtbot.CheckpointError, match=r"RT313|window"):
        graph(5).resume(blob, compiled=False)


def test_times_at_both_ends_of_64_bits_do_not_wrap():
    least, most = -(2**63), 2**63 - 1
    document = SECONDS | {
        "io": {"unit": "ns"},
        "operators": {
            "n": {"type": "MovingCount", "in": "x", "window": "9000000000s", "partial": True}
        },
        "outputs": ["n"],
    }
    times = [least, least + 5, -3, 0, 4, most - 1, most]
    found = rtbot.load(document).run({"x": {"t": times, "value": [0.0] * len(times)}})
    span = 9 * 10**18
    assert found["n"]["value"].tolist() == [sum(t - span < u <= t for u in times) for t in times]


def test_an_ordered_window_of_time_uses_the_places_of_what_has_left(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    graph = rtbot.load(
        {
            "inputs": {"x": "number"},
            "operators": {"y": {"type": "RollingMedian", "in": "x", "window": "50s"}},
            "outputs": ["y"],
            "io": {"unit": "s"},
        }
    )
    session, sizes = graph.start(), []
    for burst in range(12):
        times = [200 * burst + place for place in range(40)]
        session.push({"x": {"t": times, "value": [float(-time % 1009) for time in times]}})
        sizes.append(len(session.dump()))
    assert sizes[-1] <= sizes[2] + 64
