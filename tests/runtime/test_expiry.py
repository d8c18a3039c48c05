"""Rows that expire: deletes at times of their own, up to the last change of the input."""

import random
from collections import Counter, deque

import numpy as np
import pytest

import rtbot
from rtbot.core.errors import DataError, GraphError
from rtbot.relations.change_feed import TimedRows
from rtbot.relations.expiry import Expiry
from rtbot.relations.region_code import RegionCode
from rtbot.tables.change_values import list_changes
from tests.relations_oracle import make_schema

MOST = 2**63 - 1


def make_graph(ttl, more="", outputs="[e]", inputs="x: {changes: {a: integer}}", io=""):
    return rtbot.load(
        f"inputs: {{{inputs}}}\n"
        f"operators:\n  e: {{type: Expire, in: x, ttl: {ttl}}}\n{more}\noutputs: {outputs}\n{io}"
    )


def run(graph, rows, output="e"):
    """The changes (t, weight, a) of an output, of rows (t, weight, a)."""
    session = graph.start(compiled=False)
    results = [session.push({"x": [[t, w, {"a": a}] for t, w, a in rows]}), session.finish()]
    found = [row for r in results for row in list_changes(r[output], r.schemas[output])]
    return [(t, weight, *row.values()) for t, weight, row in found]


@pytest.mark.parametrize(
    ("ttl", "rows", "right"),
    [
        (5, [(1, 1, 7), (5, 1, 8)], [(1, 1, 7), (5, 1, 8)]),
        (5, [(1, 1, 7), (6, 1, 8)], [(1, 1, 7), (6, -1, 7), (6, 1, 8)]),
        (5, [(1, 1, 7), (9, 1, 8)], [(1, 1, 7), (6, -1, 7), (9, 1, 8)]),
        (5, [(1, 1, 7), (6, 1, 7)], [(1, 1, 7)]),
        (5, [(1, 2, 7), (3, -1, 7), (9, 1, 8)], [(1, 2, 7), (3, -1, 7), (6, -1, 7), (9, 1, 8)]),
        (5, [(1, 1, 7), (3, 1, 7), (4, -1, 7), (7, 1, 8), (8, 1, 9)],
         [(1, 1, 7), (3, 1, 7), (4, -1, 7), (7, 1, 8), (8, -1, 7), (8, 1, 9)]),
        (5, [(1, 1, 7), (6, -1, 7)], [(1, 1, 7), (6, -1, 7)]),
        (5, [(1, 1, 7), (7, -1, 7)], [(1, 1, 7), (6, -1, 7)]),
        (5, [(1, 1, 7), (6, 1, 7), (6, -1, 7), (7, 1, 8)],
         [(1, 1, 7), (6, -1, 7), (7, 1, 8)]),
        (5, [(1, 1, 7), (3, 1, 7), (6, -1, 7), (7, 1, 8)],
         [(1, 1, 7), (3, 1, 7), (6, -2, 7), (7, 1, 8)]),
        (5, [(1, 3, 7), (8, -2, 7), (9, -1, 7)], [(1, 3, 7), (6, -3, 7)]),
        (MOST, [(-(MOST), 1, 7), (-1, 1, 8), (0, 1, 9), (1, 1, 6)],
         [(-MOST, 1, 7), (-1, 1, 8), (0, -1, 7), (0, 1, 9), (1, 1, 6)]),
        (MOST, [(5, 1, 7), (MOST - 1, 1, 8)], [(5, 1, 7), (MOST - 1, 1, 8)]),
        (1, [(1, MOST, 7), (2, 1, 8)], [(1, MOST, 7), (2, -MOST, 7), (2, 1, 8)]),
    ],
)  # fmt: skip
def test_a_row_goes_when_its_time_has_come(ttl, rows, right):
    assert run(make_graph(ttl), rows) == right


def test_deletes_of_rows_that_have_expired_are_counted():
    session = make_graph(5).start(compiled=False)
    rows = [[1, 1, {"a": 7}], [7, -1, {"a": 7}], [8, 1, {"a": 7}], [9, -1, {"a": 7}]]
    session.push({"x": rows})
    session.finish()
    line = {"in": 4, "consumed": 3, "held": 0, "lost": {"expired": 1}}
    assert session.account()["operators"]["e"] == {"i1": line}


def test_a_put_replaces_what_has_not_expired():
    inputs = "x: {changes: {k: integer, a: integer}, unique: [k]}"
    session = make_graph(5, inputs=inputs).start(compiled=False)
    rows = [(1, 7, 1), (3, 7, 2), (9, 7, 3), (20, 8, 1)]
    found = session.push({"x": [[t, 1, {"k": k, "a": a}] for t, k, a in rows]})["e"]
    rest = session.finish()["e"]
    names = ("t", "weight", "a")
    columns = [found[name].tolist() + rest[name].tolist() for name in names]
    assert list(zip(*columns, strict=True)) == [
        (1, 1, 1), (3, -1, 1), (3, 1, 2), (8, -1, 2), (9, 1, 3), (14, -1, 3), (20, 1, 1),
    ]  # fmt: skip


def test_groups_of_expired_rows_expire_again():
    more = (
        "  g: {type: GroupBy, in: e, by: [a], compute: {n: count()}}\n"
        "  f: {type: Expire, in: g, ttl: 3}\n"
        "  o: {type: Select, in: f, fields: {a: a * 10 + n}}"
    )
    rows = [(1, 1, 1), (2, 1, 1), (9, 1, 2), (20, 1, 3)]
    assert run(make_graph(5, more, "[o]"), rows, "o") == [
        (1, 1, 11), (2, -1, 11), (2, 1, 12), (5, -1, 12), (6, 1, 11), (7, -1, 11),
        (9, 1, 21), (12, -1, 21), (20, 1, 31),
    ]  # fmt: skip


def test_a_join_waits_for_what_may_still_expire():
    more = "  o: {type: JoinRows, in: [e, y], on: [a], how: left}"
    inputs = "x: {changes: {a: integer}}, y: {changes: {a: integer}}"
    session = make_graph(5, more, "[o]", inputs).start(compiled=False)
    session.push({"x": [[1, 1, {"a": 7}]]})
    session.advance(100)
    assert session.frontier() == 5
    session.push({"x": [[200, 1, {"a": 8}]], "y": [[200, 1, {"a": 8}]]})
    found = session.advance(200)["o"]
    assert found["t"].tolist() == [6, 200]
    assert found["weight"].tolist() == [-1, 1]


def test_a_bad_transaction_behind_it_is_of_that_region_alone():
    more = "  o: {type: Select, in: e, fields: {a: 10 // (a - 7)}}"
    graph = make_graph(5, more, "[e, o]", io="io: {on_bad_transaction: discard}")
    rows = [(1, 1, 7), (2, 1, 8), (9, 1, 9)]
    assert run(graph, rows, "o") == [(2, 1, 10), (7, -1, 10), (9, 1, 5)]
    session = make_graph(5, more, "[o]").start(compiled=False)
    session.push({"x": [[1, 1, {"a": 8}], [2, 1, {"a": 7}]]})
    with pytest.raises(DataError, match="`//` by zero"):
        session.finish()


@pytest.mark.parametrize("ttl", ["0", "-1", "1.5", "5 parsecs", "9223372036854775808"])
def test_a_ttl_that_is_none_is_refused(ttl):
    with pytest.raises(GraphError, match="ttl"):
        make_graph(ttl)


def expire(ttl, changes):
    """The oracle: a queue of every copy."""
    queues, made, lost = {}, [], 0
    for time, weight, row in changes:
        due = sorted((came + ttl, other) for other, own in queues.items() for came in own)
        for at, other in due:
            if at <= time:
                made.append((at, -1, other))
                queues[other].popleft()
        own = queues.setdefault(row, deque())
        taken = min(-weight, len(own)) if weight < 0 else 0
        lost += weight < 0 and not taken
        for _ in range(taken):
            own.popleft()
        own.extend([time] * max(weight, 0))
        made.append((time, weight if weight > 0 else -taken, row))
    return sum_changes(made), lost


def sum_changes(changes):
    found = Counter()
    for time, weight, row in changes:
        found[time, row] += weight
    return {key: weight for key, weight in found.items() if weight}


def draw_changes(rng):
    """Changes (t, weight, row), one for a row and time, some of rows that may have expired."""
    changes, there, time = {}, Counter(), rng.randint(-50, 5)
    for _ in range(200):
        time += rng.choice([0, 0, 1, 2])
        row = rng.randint(0, 6)
        if (time, row) not in changes:
            weight = -rng.randint(1, there[row]) if there[row] and rng.random() < 0.5 else 2
            there[row] += weight
            changes[time, row] = weight
    return [(time, weight, row) for (time, row), weight in changes.items()]


def test_random_rows_expire_as_a_queue_of_copies_does():
    schema, kernels = make_schema(["integer"]), RegionCode("", "never").kernels
    for seed in range(12):
        rng = random.Random(seed)
        ttl, changes, made = rng.randint(1, 9), draw_changes(rng), []
        expiry = Expiry(ttl, schema, kernels)
        for first in range(0, len(changes), 40):
            part = zip(*changes[first : first + 40], strict=True)
            times, weights, rows = (np.array(own, np.int64) for own in part)
            found = expiry.take(TimedRows(times, rows.reshape(-1, 1), weights))
            columns = (found.time, found.weights, found.words[:, 0])
            made += zip(*(column.tolist() for column in columns), strict=True)
            values, arrays = expiry.save()
            expiry = Expiry(ttl, schema, kernels)
            expiry.restore(values, arrays)
        assert [time for time, _, _ in made] == sorted(time for time, _, _ in made)
        assert (sum_changes(made), expiry.lost) == expire(ttl, changes)


def test_deleted_rows_take_no_room():
    schema, kernels = make_schema(["integer"]), RegionCode("", "never").kernels
    expiry = Expiry(MOST, schema, kernels)
    for first in range(0, 2_000, 100):
        times = np.arange(first, first + 100)
        weights = np.where(times % 2, -1, 1)
        expiry.take(TimedRows(times, (times // 2).reshape(-1, 1), weights))
    assert expiry.count_bytes() < 20_000
    assert len(expiry.save()[1]["came"]) == 0


@pytest.mark.parametrize(
    "spoilt",
    [{"copies": np.array([0, 1])}, {"came": np.array([9, 1])}, {"came": np.array([-9, 1])}],
)
def test_a_dump_that_does_not_fit_is_refused(spoilt):
    schema, kernels = make_schema(["integer"]), RegionCode("", "never").kernels
    expiry = Expiry(5, schema, kernels)
    ones = np.ones(2, np.int64)
    expiry.take(TimedRows(ones, np.array([[1], [2]]), ones))
    values, arrays = expiry.save()
    with pytest.raises(ValueError, match="rows"):
        expiry.restore(values, arrays | spoilt)
