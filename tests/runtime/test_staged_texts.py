"""Texts of change streams are forgotten once no row, group or state has them."""

import pytest

import rtbot
from rtbot.tables import string_dictionary

GRAPH = """
inputs:
  a: {changes: {k: integer, s: text?}, unique: [k]}
  b: {changes: {k: integer, s: text?}}
operators:
  u: {type: Select, in: a, fields: {k: k, s: "concat(s, '!')"}}
  w: {type: Where, in: u, condition: "s > 'b' or s != 'never'"}
  n: {type: Union, in: [w, b]}
  g: {type: GroupBy, in: n, by: [k], compute: {least: min(s), most: max(s), n: count()}}
  t: {type: GroupBy, in: b, by: [s], compute: {n: count()}}
outputs: {n: n, g: g, t: t}
"""


def list_rows(first, count):
    """Changes that put ever new texts; those of `b` go again after ten times."""
    found = {"a": [], "b": []}
    for t in range(first, first + count):
        found["a"].append([t, 1, {"k": t % 7, "s": f"a{t}" if t % 5 else None}])
        found["b"].append([t, 1, {"k": t % 3, "s": f"b{t}"}])
        if t >= 10:
            found["b"].append([t, -1, {"k": (t - 10) % 3, "s": f"b{t - 10}"}])
    return found


def run(one_by_one):
    session = rtbot.load(GRAPH).start(compiled="never")
    found, most = [], 0
    for first in range(0, 160, 20):
        if one_by_one:
            rows = list_rows(first, 20)
            parts = [
                session.push_one(name, t, row, weight)
                for name in ("a", "b")
                for t, weight, row in rows[name]
            ]
        else:
            result = session.push(list_rows(first, 20))
            parts = [session._list_rows(result)]
        for name in ("n", "g", "t"):
            found += [(name, *row) for part in parts for row in part.get(name, ())]
        most = max(most, len(session.texts.values))
    return sorted(map(repr, found)), most


@pytest.mark.parametrize("one_by_one", [False, True])
def test_texts_that_come_and_go_are_forgotten(monkeypatch, one_by_one):
    whole, _ = run(one_by_one=False)
    monkeypatch.setattr(string_dictionary, "ROOM", 16)
    found, most = run(one_by_one)
    assert found == whole
    assert most < 160
