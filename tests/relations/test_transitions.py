"""Every transition of set operations: a row that each input has 0 to 3 times, from any to any."""

import itertools
from collections import Counter

import pytest

import rtbot

GRAPH = """
inputs: {a: {changes: {k: integer?}}, b: {changes: {k: integer?}}}
operators:
  union: {type: Union, in: [a, b]}
  union_all: {type: Union, in: [a, b], all: true}
  intersect: {type: Intersect, in: [a, b]}
  intersect_all: {type: Intersect, in: [a, b], all: true}
  except: {type: Except, in: [a, b]}
  except_all: {type: Except, in: [a, b], all: true}
  distinct: {type: Distinct, in: a}
outputs: [union, union_all, intersect, intersect_all, except, except_all, distinct]
"""
COUNTS = {
    "union": lambda left, right: int(left + right > 0),
    "union_all": lambda left, right: left + right,
    "intersect": lambda left, right: int(left > 0 and right > 0),
    "intersect_all": min,
    "except": lambda left, right: int(left > 0 and right == 0),
    "except_all": lambda left, right: max(left - right, 0),
    "distinct": lambda left, _: int(left > 0),
}
STATES = list(itertools.product(range(4), repeat=2))
TRANSITIONS = list(itertools.permutations(STATES, 2))


def write_sql(graph):
    """The same operations as queries."""
    for name in COUNTS:
        query = f"SELECT * FROM a {name.replace('_', ' ').upper()} SELECT * FROM b"  # noqa: S608
        query = "SELECT DISTINCT * FROM a" if name == "distinct" else query
        tables = "a" if name == "distinct" else "[a, b]"
        lines = graph.splitlines()
        place = next(n for n, line in enumerate(lines) if line.startswith(f"  {name}:"))
        lines[place] = f"  {name}: {{type: SQL, in: {tables}, query: {query}}}"
        graph = "\n".join(lines)
    return graph


def read(table):
    """The weight of every change, by time and row."""
    rows = zip(table["k"].tolist(), table["k_valid"].tolist(), strict=True)
    cells = [k if valid else None for k, valid in rows]
    keys = list(zip(table["t"].tolist(), cells, strict=True))
    assert len({*keys}) == len(keys)
    return dict(zip(keys, table["weight"].tolist(), strict=True))


@pytest.mark.parametrize("graph", [GRAPH, write_sql(GRAPH)], ids=["operators", "sql"])
@pytest.mark.parametrize("together", [True, False])
def test_the_240_transitions_of_a_row(graph, together):
    assert len(TRANSITIONS) == 240
    changes = {"a": [], "b": []}
    expected = {name: Counter() for name in COUNTS}
    for number, (before, after) in enumerate(TRANSITIONS):
        row = None if number == 0 else number
        time = 2 if together else 2 + number
        for port, (start, end) in enumerate(zip(before, after, strict=True)):
            steps = ((1, start), (time, end - start))
            changes["ab"[port]] += [[t, n, {"k": row}] for t, n in steps if n]
        for name, count in COUNTS.items():
            expected[name][1, row] += count(*before)
            expected[name][time, row] += count(*after) - count(*before)
    for rows in changes.values():
        rows.sort(key=lambda row: row[0])
    result = rtbot.load(graph).run(changes)
    for name, table in result.items():
        assert read(table) == {key: n for key, n in expected[name].items() if n}, name
