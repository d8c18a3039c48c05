"""A dump goes on exactly where it stood, or is refused."""

import random

import pytest

import rtbot
from tests import generate
from tests.catalogue import pairing_pool
from tests.checks import CaseChecks

GRAPH = {
    "inputs": {"a": "number", "b": "number"},
    "operators": {
        "pair": {"type": "Join", "in": ["a", "b"]},
        "mean": {"type": "MovingAverage", "in": "pair.o1", "window": 3},
        "ahead": {"type": "TimeShift", "in": "mean", "shift": 2},
    },
    "outputs": {"mean": "mean", "ahead": "ahead"},
    "io": {"late": "drop"},
}


def begun(document=GRAPH):
    session = rtbot.load(document).start(compiled=False)
    session.push({"a": {"t": [1, 2, 3, 4], "value": [1.0, 2.0, 4.0, 8.0]}})
    session.push({"b": {"t": [2, 3], "value": [0.0, 0.0]}})
    return session


def changed(path, value):
    document = {key: dict(part) for key, part in GRAPH.items()}
    section, name, field = path
    document[section][name] = document[section][name] | {field: value}
    return document


def test_every_damaged_byte_is_noticed():
    blob = begun().dump()
    rng = random.Random(1)
    places = rng.sample(range(len(blob)), 60)
    for place in places:
        damaged = bytearray(blob)
        damaged[place] ^= 1 << rng.randrange(8)
        with pytest.raises(rtbot.CheckpointError):
            rtbot.load(GRAPH).resume(bytes(damaged), compiled=False)


@pytest.mark.parametrize("length", [0, 1, 11, 40, -1])
def test_a_shortened_dump_is_refused(length):
    with pytest.raises(rtbot.CheckpointError):
        rtbot.load(GRAPH).resume(begun().dump()[:length], compiled=False)


@pytest.mark.parametrize(
    "other",
    [
        changed(("operators", "mean", "window"), 4),
        changed(("operators", "ahead", "shift"), 3),
        changed(("operators", "mean", "partial"), True),
        changed(("operators", "pair", "in"), ["b", "a"]),
        GRAPH | {"outputs": {"mean": "mean"}},
    ],
    ids=["window", "shift", "partial", "wiring", "outputs"],
)
def test_a_dump_of_another_graph_is_refused(other):
    with pytest.raises(rtbot.CheckpointError):
        rtbot.load(other).resume(begun().dump(), compiled=False)


def test_policies_are_part_of_the_dump():
    session = rtbot.load(GRAPH | {"io": {}}).start(compiled=False, late="drop")
    session.push({"a": {"t": [5], "value": [1.0]}})
    session = rtbot.load(GRAPH | {"io": {}}).resume(session.dump(), compiled=False)
    session.push({"a": {"t": [4], "value": [1.0]}})
    assert session.account()["inputs"]["a"]["lost"] == {"late": 1}


def test_a_finished_session_stays_finished():
    session = begun()
    session.finish()
    session = rtbot.load(GRAPH).resume(session.dump(), compiled=False)
    with pytest.raises(rtbot.StateError):
        session.push({"a": {"t": [9], "value": [1.0]}})
    assert session.account()["outputs"] == {"mean": 0, "ahead": 0}


def test_what_waits_and_what_counts_survives():
    session = begun()
    resumed = rtbot.load(GRAPH).resume(session.dump(), compiled=False)
    assert resumed.held() == session.held() == {"pair.i1": 1}
    assert resumed.account() == session.account()


@pytest.mark.parametrize("number", range(20))
def test_a_key_that_was_closed_begins_anew(number):
    classes = list(pairing_pool().values())
    case = generate.case_of(f"again/{number}", classes, ("whole",))
    if not case.keys:
        case.keys = ("k",)
        case.rows = [row._replace(key=("only",)) for row in case.rows]
    keys = sorted({row.key for row in case.rows}, key=repr)
    checked = CaseChecks(case)
    session = checked.graph.start(key=case.keys, compiled=False)
    first, second = ({key: _all_of(session, case, key) for key in keys} for _ in range(2))
    assert first == second


def _all_of(session, case, key):
    """What the rows of a key release, every other one of them pushed alone."""
    released = {name: [] for name in case.document["outputs"]}
    for number, row in enumerate(case.rows):
        if row.key != key:
            continue
        if number % 2:
            bare = key[0] if len(key) == 1 else key
            for name, rows in session.push_one(row.input, row.time, row.value, key=bare).items():
                released[name] += [row[-2:] for row in rows]
            continue
        own = {name: [part] for name, part in zip(case.keys, key, strict=True)}
        table = own | {"t": [row.time], "value": [row.value]}
        _add(released, session.push({row.input: table}))
    _add(released, session.close_key(key[0] if len(key) == 1 else key))
    return {name: [(time, repr(value)) for time, value in rows] for name, rows in released.items()}


def _add(released, result):
    for name, rows in released.items():
        table = result[name]
        valid = table.get("value_valid", [True] * len(table["t"]))
        values = [v if ok else None for v, ok in zip(table["value"].tolist(), valid, strict=True)]
        released[name] = [*rows, *zip(table["t"].tolist(), values, strict=True)]


def test_a_closed_key_does_not_come_back_into_the_slot_of_another():
    document = {
        "inputs": {"a": "number"},
        "operators": {"sum": {"type": "CumulativeSum", "in": "a"}},
        "outputs": {"sum": "sum"},
    }
    session = rtbot.load(document).start(key="k", compiled=False)
    for time, key in ((1, "A"), (2, "A")):
        session.push_one("a", time, 1.0, key=key)
    session.close_key("A")
    assert session.push_one("a", 1, 10.0, key="B") == {"sum": [("B", 1, 10.0)]}
    assert session.push_one("a", 2, 100.0, key="A") == {"sum": [("A", 2, 100.0)]}
    assert session.push_one("a", 2, 20.0, key="B") == {"sum": [("B", 2, 30.0)]}
