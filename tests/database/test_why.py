"""`why`: a derivation that holds by the rules, after any updates."""

import json
import random

import pytest

import rtbot
from tests.oracles.datalog import derive

PROGRAM = """
.decl edge(x:number, y:number)
.decl name(x:number, s:symbol)
.input edge
.input name
.output path
.output lonely
.output degree
.output label
.decl path(x:number, y:number)
.decl lonely(x:number)
.decl degree(x:number, n:number)
.decl label(s:symbol)
edge(1, 1).
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), path(y, z), x != z.
lonely(x) :- name(x, _), !path(x, _), !path(_, x).
degree(x, n) :- name(x, _), n = count : { edge(x, _) }.
label(cat(s, "-", to_string(x))) :- name(x, s), range_ok(x).
.decl range_ok(x:number)
range_ok(range(0, 3)).
"""


def check(d, tree):
    """Every step of a derivation is a fact, or follows by its rule from steps behind it."""
    full = {name: set(d.facts(name)) for name in d.codecs}
    depths = {}
    for step in reversed(order(tree.steps[0])):
        assert step.row in full[step.relation]
        if step.rule is None:
            assert step.row in given(d)[step.relation]
            depths[id(step)] = 0
            continue
        depths[id(step)] = 1 + max([depths[id(each)] for each in step.steps], default=0)
        rows = {name: set() for name in d.program.relations}
        rows |= {name: full[name] for name in ("edge", "path") if name in step.rule.text}
        positive = {each.relation for each in step.steps}
        rows |= {name: set() for name in positive - {"edge"} if "!" not in step.rule.text}
        for each in step.steps:
            rows[each.relation] = rows[each.relation] | {each.row}
        for fact in d.program.facts:
            if "@" in fact.relation:
                rows[fact.relation].add(tuple(fact.values))
        rules = [rule for rule in d.program.rules if rule.text == step.rule.text]
        assert any(step.row in set(derive(rule, rows)) for rule in rules), step.text


def order(root):
    """Steps so that those of a step come behind it; fails if there is a cycle."""
    found, done, waiting = [], set(), [(root, False)]
    open_ = set()
    while waiting:
        step, leaves = waiting.pop()
        if leaves:
            open_.discard(id(step))
            done.add(id(step))
            found.append(step)
        elif id(step) not in done:
            assert id(step) not in open_, "a row derives itself"
            open_.add(id(step))
            waiting.append((step, True))
            waiting += [(each, False) for each in step.steps if id(each) not in done]
    return found[::-1]


def given(d):
    return {"edge": d.given["edge"] | {(1, 1)}, "name": d.given["name"]}


@pytest.mark.parametrize("seed", range(4))
def test_derivations_hold_after_updates(seed):
    rng = random.Random(seed)
    d = rtbot.Datalog(PROGRAM, compiled=False)
    d.given = {"edge": set(), "name": set()}
    for _ in range(5):
        for _ in range(4):
            relation = rng.choice(["edge", "edge", "name"])
            row = (rng.randrange(5), rng.randrange(5))
            row = (row[0], "ab"[row[1] % 2]) if relation == "name" else row
            if rng.random() < 0.4 and d.given[relation]:
                row = rng.choice(sorted(d.given[relation]))
                d.remove(relation, [row])
                d.given[relation].discard(row)
            else:
                d.insert(relation, [row])
                d.given[relation].add(row)
        d.commit()
        for relation in d.codecs:
            for row in d.facts(relation)[:6]:
                check(d, d.why(relation, row))


def test_a_derivation_as_text_and_as_json():
    d = rtbot.Datalog(PROGRAM, "p.dl", compiled=False)
    d.insert("edge", [(1, 2), (2, 3)])
    d.insert("name", [(2, "b"), (9, "z")])
    d.commit()
    assert str(d.why("path", (1, 3))).splitlines() == [
        "path(1, 3)  by path(x, z) :- path(x, y), path(y, z), x != z.  (p.dl:16)",
        "  path(1, 2)  by path(x, y) :- edge(x, y).  (p.dl:15)",
        "    edge(1, 2)  fact",
        "  path(2, 3)  by path(x, y) :- edge(x, y).  (p.dl:15)",
        "    edge(2, 3)  fact",
    ]
    assert str(d.why("degree", (2, 1))).splitlines()[1:] == [
        '  name(2, "b")  fact',
        "  count is 1 for 2",
    ]
    assert str(d.why("lonely", (9,))).splitlines()[1:] == [
        '  name(9, "z")  fact',
        "  no path(9, _)",
        "  no path(_, 9)",
    ]
    found = json.loads(json.dumps(d.why("path", [1, 2]).to_json()))
    assert found["steps"][0]["from"] == [
        {"kind": "row", "relation": "edge", "row": [1, 2], "step": 1}
    ]
    assert found["steps"][1] == {"relation": "edge", "row": [1, 2], "fact": True}
    assert (found["row"], found["steps"][0]["line"]) == ([1, 2], 15)


def test_a_deep_derivation_is_no_problem():
    d = rtbot.Datalog(".decl n(x:number)\n.input n\nn(x + 1) :- n(x), x < 300.\n", compiled=False)
    d.insert("n", [(0,)])
    d.commit()
    tree = d.why("n", (300,))
    assert len(tree.steps) == 301
    assert str(tree).splitlines()[-1].strip() == "n(0)  fact"
    json.dumps(tree.to_json())


def test_what_is_not_there_has_no_derivation():
    d = rtbot.Datalog(PROGRAM, compiled=False)
    d.insert("edge", [(1, 2)])
    for relation, row in (("edge", (1, 2)), ("name", (1, "new"))):
        with pytest.raises(rtbot.DataError) as found:
            d.why(relation, row)
        assert found.value.code == "RT532"
    with pytest.raises(rtbot.DataError, match="2 columns"):
        d.why("edge", (1, 2, 3))
    assert "new" not in d.texts.codes


def test_floats_that_are_not_finite():
    d = rtbot.Datalog(".decl f(x:float)\n.input f\n.decl g(x:float)\ng(x) :- f(x).\n")
    d.insert("f", [(float("nan"),)])
    d.commit()
    tree = d.why("g", (float("nan"),))
    assert len(tree.steps) == 2
    assert tree.to_json()["row"] == ["nan"]
