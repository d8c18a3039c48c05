"""Faults found by attack in frontiers: shifts that leave int64, and grids that begin early."""

import random

import pytest

import rtbot
from tests.oracles.streams import OracleStream
from tests.oracles.whole import Evaluation

MOST = 2**63 - 1
LEAST = -(2**63)


def shifted(source, shift):
    return {"type": "TimeShift", "in": source, "shift": shift}


def snapped(source, interval, t0):
    grid = {"interval": interval, "t0": t0, "snap_first": True}
    return {"type": "ResamplerConstant", "in": source} | grid


def outer(*sources):
    return {"type": "Merge", "in": list(sources), "ties": "first"}


def document(**operators):
    outputs = {"m": "m"}
    return {"inputs": {"x": "number", "y": "number"}, "operators": operators, "outputs": outputs}


def steps(graph, events):
    """What has come out after every push, and at the end."""
    session, out, found = graph.start(compiled=False), [], []
    for event in [*events, None]:
        if event is None:
            result = session.finish()["m"]
            out += zip(result["t"].tolist(), result["value"].tolist(), strict=True)
        else:
            out += session.push_one(*event).get("m", [])
        found.append(list(out))
    return found


def oracle(written, events):
    """What must have come out after every push, and at the end."""
    found = []
    for count in range(1, len(events) + 2):
        rows = {name: [(t, v) for n, t, v in events[:count] if n == name] for name in "xy"}
        ends = {name: {"frontier": r[-1][0] if r else LEAST} for name, r in rows.items()}
        streams = {
            name: OracleStream(r, "number", **(ends[name] if count <= len(events) else {}))
            for name, r in rows.items()
        }
        found.append(Evaluation(written, streams).outputs["m"].rows)
    return found


def agree(written, events, *, prompt=False):
    """Nothing too early and nothing twice; `prompt`: nothing later than it is certain."""
    came, must = steps(rtbot.load(written), events), oracle(written, events)
    assert came[-1] == must[-1]
    assert not prompt or all(len(c) >= len(m) for c, m in zip(came, must, strict=True))


def test_shifts_that_leave_int64_together_and_come_back_keep_the_order():
    written = document(
        a=shifted("x", -MOST),
        b=shifted("a", -MOST),
        c=shifted("b", MOST),
        m=outer("c", "y"),
    )
    events = [("y", 0, 1.0), ("y", 1, 2.0), ("x", MOST - 2, 3.0)]
    events += [("x", MOST - 1, 4.0), ("x", MOST, 5.0), ("y", 5, 6.0)]
    agree(written, events, prompt=True)
    times = [time for time, _ in steps(rtbot.load(written), events)[-1]]
    assert times == [-1, 0, 1, 5]


ENDS = [MOST, MOST - 1, MOST - 7, LEAST + 1, -MOST + 1, 1, -1, 5, -5, 2**62, -(2**62)]


@pytest.mark.parametrize("seed", range(40))
def test_frontiers_of_shifted_streams_agree_with_the_oracle_at_both_ends_of_int64(seed):
    draw = random.Random(seed)
    operators, last = {}, "x"
    for k in range(draw.randint(1, 4)):
        made = shifted(last, draw.choice(ENDS))
        if draw.random() < 0.3:
            made = snapped(last, draw.choice([MOST, 2**62, 2**61 + 3]), draw.choice([0, 5, -7]))
        operators[f"s{k}"], last = made, f"s{k}"
    operators["m"] = outer(*draw.choice([(last, "y"), (last, "x"), ("y", last)]))
    near = draw.choice([[MOST], [LEAST], [0], [MOST, LEAST, 0]])
    times = [min(max(draw.choice(near) + draw.randint(-9, 9), LEAST), MOST) for _ in range(12)]
    pushed = sorted({(name, t) for t in times for name in draw.choice(["x", "y", "xy"])})
    draw.shuffle(pushed)
    order = [name for name, _ in pushed]
    left = {name: sorted(t for n, t in pushed if n == name) for name in "xy"}
    agree(
        document(**operators),
        [(name, left[name].pop(0), float(k)) for k, name in enumerate(order)],
    )


@pytest.mark.parametrize("shift", [-10, -MOST, LEAST, 10, MOST])
@pytest.mark.parametrize("events", [[LEAST, 0, MOST], [MOST], [LEAST, LEAST + 1], [0, 20, 40]])
def test_a_grid_that_begins_before_a_shifted_stream_has_a_frontier_within_int64(shift, events):
    written = document(a=shifted("x", shift), r=snapped("a", MOST, 0), m=outer("r", "y"))
    agree(written, [(name, time, 1.0) for time in events for name in "yx"])


def test_a_row_waits_for_a_grid_that_may_begin_an_interval_before_the_next_message():
    written = document(r=snapped("x", 10, 0), m=outer("r", "y"))
    events = [("y", 12, 1.0), ("y", 22, 2.0), ("x", 19, 3.0), ("x", 25, 4.0), ("y", 30, 5.0)]
    agree(written, events, prompt=True)
    session = rtbot.load(written).start(compiled=False)
    session.push_one("y", 12, 1.0)
    assert session.advance(18)["m"]["t"].tolist() == []
    assert session.push_one("x", 19, 3.0)["m"] == [(10, 3.0), (12, 1.0)]
