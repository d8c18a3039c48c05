"""First and last values and texts put together, as rows come and go."""

import random
from collections import Counter

import pytest

import rtbot

GRAPH = """
inputs: {rows: {changes: {k: text?, t: number?, x: integer?, s: text?}}}
operators:
  g:
    type: GroupBy
    in: rows
    by: [BY]
    compute:
      n: count()
      f: first(x, t)
      l: last(x + 1, t)
      d: first(x, -t, s)
      c: "string_agg(s, '; ', -t)"
outputs: [g]
"""
ORDER = {"f": (("t", 1),), "l": (("t", 1),), "d": (("t", -1), ("s", 1)), "c": (("t", -1),)}
FIELDS = ("k", "t", "x", "s")
VALUES = {
    "k": [None, "a", "b"],
    "t": [None, 0.0, -0.0, 1.5, float("inf"), -3.0],
    "x": [None, 1, 2, -(2**63)],
    "s": [None, "", "p", "é", "\U0001f600"],
}


def sort_key(row, order):
    """Nulls last in both directions; then all fields, ascending."""
    keys = []
    for name, sign in (*order, *((name, 1) for name in FIELDS)):
        value = row[name]
        if isinstance(value, str):
            value = tuple(sign * ord(letter) for letter in value) + (0,) * (sign < 0)
            value = (*value, *(0x200000,) * (sign < 0))
        elif value is not None:
            value = sign * value
        keys.append((value is None, () if value is None else value))
    return keys


def evaluate(bag, by):
    """The groups of a bag of rows."""
    groups = {} if by else {(): []}
    for items, count in bag.items():
        row = dict(items)
        groups.setdefault(tuple(row[name] for name in by), []).extend([row] * count)
    found = Counter()
    for key, rows in groups.items():
        rank = {
            name: sorted(rows, key=lambda row, order=order: sort_key(row, order))
            for name, order in ORDER.items()
        }
        last = rank["l"][-1]["x"] if rows else None
        texts = [row["s"] for row in rank["c"] if row["s"] is not None]
        found[
            (
                *key,
                len(rows),
                rank["f"][0]["x"] if rows else None,
                None if last is None else last + 1,
                rank["d"][0]["x"] if rows else None,
                "; ".join(texts) if texts else None,
            )
        ] += 1
    return found


def list_values(table, name):
    """A column with None where it is null."""
    values = table[name].tolist()
    there = table.get(f"{name}_valid", [True] * len(values))
    return [value if valid else None for value, valid in zip(values, there, strict=True)]


@pytest.mark.parametrize("by", [("k",), ()])
@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_groups_are_what_their_rows_say(seed, nullable, by):
    values = VALUES if nullable else {name: some[1:] for name, some in VALUES.items()}
    rng, bag, changes, expected = random.Random(seed), Counter(), [], {}
    for time in range(1, 20):
        for _ in range(rng.choice([1, 1, 3])):
            row = tuple((name, rng.choice(values[name])) for name in FIELDS)
            weight = rng.choice([1, 1, 2])
            if bag and rng.random() < 0.5:
                row = rng.choice(list(bag))
                weight = -rng.randint(1, bag[row])
            bag[row] += weight
            bag = +bag
            changes.append([time, weight, dict(row)])
        expected[time] = evaluate(bag, by)
    text = GRAPH.replace("BY", ", ".join(by))
    graph = rtbot.load(text if nullable else text.replace("?", ""))
    table = graph.run({"rows": changes})["g"]
    there = Counter()
    names = [*by, "n", "f", "l", "d", "c"]
    columns = [list_values(table, name) for name in ("t", "weight", *names)]
    found = list(zip(*columns, strict=True))
    for time, right in expected.items():
        there = Counter()
        for when, weight, *row in found:
            if when <= time:
                there[tuple(row)] += weight
        assert +there == right


def test_a_bad_transaction_leaves_nothing():
    text = "inputs: {rows: {changes: {x: integer, t: integer}}}\noperators:\n  g: {type: GroupBy, "
    text += "in: rows, by: [], compute: {s: sum(x), f: 'first(x, t)'}}\noutputs: [g]\n"
    session = rtbot.load(text).start()
    session.push({"rows": [[1, 1, {"x": 2**63 - 1, "t": 5}]]})
    session.push({"rows": [[2, 1, {"x": 1, "t": 1}]]})
    with pytest.raises(rtbot.DataError, match="beyond 64 bits"):
        session.push({"rows": [[3, 1, {"x": 0, "t": 9}]]})
    session.push({"rows": [[4, -1, {"x": 2**63 - 1, "t": 5}]]})
    assert session.finish()["g"]["f"].tolist()[-1] == 0
