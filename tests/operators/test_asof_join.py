"""The messages that find no match in an as-of join are counted."""

import json
from pathlib import Path

import pytest

import rtbot

A = {1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0, 9: 9.0}
B = {2: 5.0, 3: 6.0}


def asof(**settings):
    return {
        "inputs": {"a": "number", "b": "number"},
        "operators": {"j": {"type": "Join", "in": ["a", "b"], "how": "asof", **settings}},
        "outputs": {"x": "j.o1", "y": "j.o2"},
        "io": {"unit": "s"},
    }


def table(rows):
    return {"t": list(rows), "value": list(rows.values())}


def lookup(session):
    return session.account()["operators"]["j"]["i2"]


@pytest.mark.parametrize(
    ("settings", "b", "unmatched", "compiled"),
    [
        ({}, B, 1, False),
        ({"tolerance": 2}, B, 2, False),
        ({"tolerance": 2}, B, 2, True),
        ({"tolerance": 0}, B, 3, False),
        ({}, {0: 5.0}, 0, False),
        ({}, {}, 5, False),
    ],
)
def test_an_account_counts_what_found_no_match(settings, b, unmatched, compiled):
    session = rtbot.load(asof(**settings)).start(compiled=compiled)
    session.push({"a": table(A), "b": table(b)})
    session.finish()
    found = lookup(session)
    assert found.pop("unmatched", 0) == unmatched
    assert found == {"in": len(b), "consumed": len(b), "held": 0, "lost": {}}
    assert session.account()["operators"]["j"]["i1"]["lost"] == {}


def test_it_is_counted_when_the_row_comes_out_whatever_the_cut_and_across_dumps():
    graph = rtbot.load(asof(tolerance=2))
    session, found = graph.start(compiled=False), []
    for t in range(1, 10):
        for name, rows in (("a", A), ("b", B)):
            if t in rows:
                session.push_one(name, t, rows[t])
        session.advance(t)
        session = graph.resume(session.dump(), compiled=False)
        found.append(lookup(session).get("unmatched", 0))
    session.finish()
    assert found == [1, 1, 1, 1, 1, 1, 1, 1, 2]
    assert lookup(session)["unmatched"] == 2


def test_keys_are_summed_also_closed_ones():
    session = rtbot.load(asof()).start("k", compiled=False)
    rows = {"k": ["p", "q", "q"], "t": [1, 1, 2], "value": [1.0, 1.0, 1.0]}
    session.push({"a": rows, "b": {"k": ["q"], "t": [2], "value": [1.0]}})
    session.close_key("p")
    assert lookup(session)["unmatched"] == 2
    session.finish()
    assert lookup(session)["unmatched"] == 2


def test_a_null_message_is_a_match():
    graph = asof() | {"inputs": {"a": "number", "b": "number?"}}
    session = rtbot.load(graph).start(compiled=False)
    session.push({"a": table({1: 1.0, 2: 2.0}), "b": {"t": [2], "value": [None]}})
    out = session.finish()
    assert lookup(session)["unmatched"] == 1
    assert not out["y"]["value_valid"].any()


def test_each_port_that_is_looked_up_has_its_own_count():
    graph = asof() | {"inputs": dict.fromkeys("abc", "number")}
    graph["operators"]["j"]["in"] = ["a", "b", "c"]
    session = rtbot.load(graph).start(compiled=False)
    session.push({"a": table(A), "b": table(B), "c": table({9: 1.0})})
    session.finish()
    ports = session.account()["operators"]["j"]
    assert [entry.get("unmatched") for entry in ports.values()] == [None, 1, 4]


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
def test_other_joins_have_no_such_count(how):
    session = rtbot.load(asof() | {"operators": {"j": {**asof()["operators"]["j"], "how": how}}})
    session = session.start(compiled=False)
    session.push({"a": table(A), "b": table(B)})
    session.finish()
    ports = session.account()["operators"]["j"]
    assert all("unmatched" not in entry for entry in ports.values())


def test_a_variable_answers_what_it_does_not_know_with_its_default():
    graph = {
        "inputs": {"a": "number", "b": "number"},
        "operators": {"j": {"type": "Variable", "in": "b", "control": "a"}},
        "outputs": {"x": "j"},
    }
    session = rtbot.load(graph).start(compiled=False)
    session.push({"a": table(A), "b": table(B)})
    session.finish()
    assert all("unmatched" not in e for e in session.account()["operators"]["j"].values())


ROWS = "t,a,b\n1,1,\n2,2,5\n9,9,\n"
TABLE = """\
      in  consumed  held  lost  unmatched
a      3         3     0
b      1         1     0
j.i1   3         3     0
j.i2   1         1     0                1
rows out: x 3, y 3
"""


@pytest.mark.usefixtures("own_folder")
def test_the_table_has_a_column_for_it_and_strict_all_refuses_it(call):
    files = {"g__yaml": json.dumps(asof()), "d__csv": ROWS}
    code, out, err = call("run", "g.yaml", "d.csv", "--strict", **files)
    assert (code, out, err) == (0, "t,x,y\n1,1,\n2,2,5\n9,9,5\n", TABLE)
    code, _, err = call("run", "g.yaml", "d.csv", "--strict=all", "--account", "acc.json")
    assert (code, err) == (1, TABLE + "--strict: rows found no match: unmatched 1\n")
    assert json.loads(Path("acc.json").read_text())["operators"]["j"]["i2"]["unmatched"] == 1
