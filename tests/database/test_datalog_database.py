"""`rtbot.Datalog`: the shared cases, what commands do, and what is refused."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import rtbot
from rtbot.tables import string_dictionary

GOLDEN = Path(__file__).parents[1] / "golden" / "datalog_cases.jsonl"
CASES = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()]
EPOCHS = [case for case in CASES if case.get("epochs") and "optional" not in case["tags"]]
REACH = """
.decl edge(x:number, y:number)
.input edge
.decl path(x:number, y:number)
.output path
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


def make(text=REACH, **options):
    return rtbot.Datalog(text, "test.dl", compiled=False, **options)


def take_epoch(d, epoch):
    for relation, rows in epoch["remove"].items():
        d.remove(relation, rows)
    for relation, rows in epoch["insert"].items():
        d.insert(relation, rows)
    return d.commit()


@pytest.mark.parametrize("case", EPOCHS, ids=lambda case: case["id"])
def test_a_shared_case(case):
    d = make(case["program"])
    known = {name: set() for name in d.outputs}
    for epoch in case["epochs"]:
        for name, (added, removed) in take_epoch(d, epoch).items():
            assert not set(added) & known[name]
            assert set(removed) <= known[name]
            known[name] = known[name] - set(removed) | set(added)
        for name, rows in epoch["expect"].items():
            expected = sorted(map(tuple, rows))
            assert d.facts(name) == expected
            assert sorted(known[name]) == expected


def test_the_last_command_on_a_fact_wins():
    d = make()
    d.insert("edge", [(1, 2), (2, 3)])
    d.remove("edge", [(1, 2)])
    assert d.commit() == {"path": ([(2, 3)], [])}
    d.remove("edge", [(2, 3)])
    d.insert("edge", [[2, 3]])
    assert d.commit() == {"path": ([], [])}
    assert d.epoch == 2


def test_any_sequence_is_a_row():
    d = make()
    d.insert("edge", np.array([[1, 2], [2, 3]]))
    d.insert("edge", ([3, 4] for _ in range(1)))
    d.insert("edge", [(np.int64(4), np.uint8(5))])
    d.commit()
    assert d.facts("edge") == [(1, 2), (2, 3), (3, 4), (4, 5)]
    assert all(type(value) is int for row in d.facts("path") for value in row)


TYPES = """
.decl r(n:number, u:unsigned, f:float, s:symbol)
.input r
.output r
"""


def test_values_are_python_s_own_and_in_order():
    d = make(TYPES)
    rows = [
        (1, 2**64 - 1, math.inf, "b"),
        (1, 5, math.nan, "a"),
        (1, 5, -0.0, "é"),
        (1, 5, 0.0, "z"),
        (-(2**63), 0, -math.inf, ""),
        (2**63 - 1, 2**63, 3, "\U0001f600"),
    ]
    d.insert("r", rows)
    d.commit()
    found = d.facts("r")
    assert found[0] == (-(2**63), 0, -math.inf, "")
    assert [row[2:] for row in found[1:3]] == [(0.0, "z"), (0.0, "é")]
    assert str(found[3][2]) == "nan"
    assert found[4] == (1, 2**64 - 1, math.inf, "b")
    assert found[5] == (2**63 - 1, 2**63, 3.0, "\U0001f600")
    assert [type(value) for value in found[5]] == [int, int, float, str]
    assert math.copysign(1, found[1][2]) == 1
    d.remove("r", [(1, 5, float("nan"), "a"), (1, 5, -0.0, "z")])
    added, removed = d.commit()["r"]
    assert added == []
    assert len(removed) == 2


WRONG = {
    "relation": (lambda d: d.insert("rr", [(1,)]), "RT206", "did you mean 'r'?"),
    "derived": (lambda d: d.insert("q", [(1,)]), "RT206", "write .input q"),
    "short": (lambda d: d.insert("r", [(1, 2, 3.0)]), "RT207", "4 columns, this row has 3"),
    "not a row": (lambda d: d.insert("r", [1]), "RT214", "sequence"),
    "one row": (lambda d: d.insert("r", (1, 2, 3.0, "a")), "RT214", "rows are a list"),
    "a text": (lambda d: d.insert("r", "abcd"), "RT214", "list of rows"),
    "text rows": (lambda d: d.insert("r", ["abcd"]), "RT214", "this is 'abcd'"),
    "no rows": (lambda d: d.insert("r", 7), "RT214", "not 7"),
    "number": (lambda d: d.insert("r", [(1.0, 2, 3.0, "a")]), "RT201", "an integer, not 1.0"),
    "boolean": (lambda d: d.insert("r", [(True, 2, 3.0, "a")]), "RT201", "not True"),
    "none": (lambda d: d.insert("r", [(None, 2, 3.0, "a")]), "RT201", "not None"),
    "beyond": (lambda d: d.insert("r", [(2**63, 2, 3.0, "a")]), "RT213", "beyond 64 bits"),
    "negative": (lambda d: d.insert("r", [(1, -2, 3.0, "a")]), "RT201", "at least 0, not -2"),
    "unsigned": (lambda d: d.insert("r", [(1, 2**64, 3.0, "a")]), "RT213", "beyond 64 bits"),
    "float": (lambda d: d.insert("r", [(1, 2, "3", "a")]), "RT201", "a number, not '3'"),
    "symbol": (lambda d: d.insert("r", [(1, 2, 3.0, 4)]), "RT201", "a text, not 4"),
    "surrogate": (lambda d: d.remove("r", [(1, 2, 3.0, "\ud800")]), "RT201", "a text"),
    "facts": (lambda d: d.facts("nothing"), "RT206", "there are r, q"),
    "count": (lambda d: d.count("nothing"), "RT206", "there is no relation 'nothing'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused_and_nothing_is_taken(name):
    call, code, text = WRONG[name]
    d = make(TYPES + ".decl q(x:number)\nq(1) :- r(_, _, _, _).\n")
    d.insert("r", [(1, 2, 3.0, "a")])
    before = d.texts.mark()
    with pytest.raises(rtbot.DataError) as found:
        call(d)
    assert found.value.code == code
    assert text in str(found.value)
    assert d.texts.mark() == before
    d.commit()
    assert d.facts("r") == [(1, 2, 3.0, "a")]


def test_a_row_that_is_wrong_takes_the_rows_before_it_along():
    d = make()
    with pytest.raises(rtbot.DataError) as found:
        d.insert("edge", [(1, 2), (3, "x")])
    assert (found.value.row, found.value.column) == (1, "y")
    assert d.pending == 0


def test_rollback_forgets_what_is_not_committed():
    d = make()
    d.insert("edge", [(1, 2)])
    d.commit()
    d.insert("edge", [(2, 3)])
    d.rollback()
    assert d.commit() == {"path": ([], [])}


def test_a_program_that_is_wrong_names_every_problem():
    with pytest.raises(rtbot.GraphError) as found:
        make(REACH + "path(x) :- edge(x, _).\nfoo(1).\n")
    assert [problem.mark.line for problem in found.value.problems] == [8, 9]


def test_without_output_all_derived_relations_are_returned():
    d = make(REACH.replace(".output path", ""))
    d.insert("edge", [(1, 2)])
    assert d.commit() == {"path": ([(1, 2)], [])}


def test_the_facts_of_the_program_come_with_the_first_commit():
    d = make(REACH + "edge(7, 8).\n")
    assert d.facts("path") == []
    assert d.commit() == {"path": ([(7, 8)], [])}
    assert d.commit() == {"path": ([], [])}


def test_a_limit_takes_the_epoch_back():
    d = make(".decl n(x:number)\n.input n\n.output n\nn(x + 1) :- n(x), x < 1000.\n", max_facts=50)
    d.insert("n", [(990,)])
    assert len(d.commit()["n"][0]) == 11
    d.insert("n", [(1,)])
    with pytest.raises(rtbot.RtbotError, match="50"):
        d.commit()
    assert (d.epoch, d.count("n"), d.pending) == (1, 11, 0)
    d.insert("n", [(989,)])
    assert d.commit()["n"] == ([(989,)], [])


def test_overflow_names_the_rule_and_takes_the_epoch_back():
    d = make(".decl n(x:number)\n.input n\n.decl m(x:number)\n.output m\nm(x * 2) :- n(x).\n")
    d.insert("n", [(5,)])
    d.commit()
    d.insert("n", [(2**62,), (6,)])
    with pytest.raises(rtbot.RtbotError) as found:
        d.commit()
    assert "test.dl:5" in str(found.value)
    assert str(2**62) in str(found.value)
    assert d.facts("m") == [(10,)]
    assert d.facts("n") == [(5,)]


SYMBOLS = """
.decl knows(a:symbol, b:symbol, since:unsigned, weight:float)
.input knows
.decl meets(a:symbol, b:symbol)
.output meets
meets(a, b) :- knows(a, b, _, w), w > 0.5.
meets(b, a) :- meets(a, b).
"""


def test_a_dump_goes_on_where_it_was():
    d = make(SYMBOLS)
    d.insert("knows", [("Ann", "Bob", 2**63, 0.75), ("Bob", "Cid", 1, 0.25)])
    d.commit()
    d.insert("knows", [("x", "y", 1, 1.0)])
    other = make(SYMBOLS)
    other.restore(d.dump())
    assert (other.epoch, other.pending) == (1, 0)
    assert other.facts("knows") == d.facts("knows")
    assert other.facts("meets") == d.facts("meets") == [("Ann", "Bob"), ("Bob", "Ann")]
    other.remove("knows", [("Ann", "Bob", 2**63, 0.75)])
    assert other.commit() == {"meets": ([], [("Ann", "Bob"), ("Bob", "Ann")])}


def test_a_dump_fits_other_rules_and_no_other_relations():
    d = make()
    d.insert("edge", [(1, 2)])
    d.commit()
    other = make(REACH + "path(x, x) :- edge(x, _).\n")
    other.restore(d.dump())
    assert other.facts("path") == [(1, 1), (1, 2)]
    with pytest.raises(rtbot.CheckpointError, match="edge is gone") as found:
        make(SYMBOLS).restore(d.dump())
    assert found.value.code == "RT313"
    floats = make(".decl edge(x:float, y:number)\n.input edge\n.output edge\n")
    with pytest.raises(rtbot.CheckpointError, match=r"edge was \['number', 'number'\]"):
        floats.restore(d.dump())


@pytest.mark.parametrize("cut", [0, 10, 60, -1])
def test_a_damaged_dump_is_refused_and_changes_nothing(cut):
    d = make(SYMBOLS)
    d.insert("knows", [("Ann", "Bob", 1, 0.75)])
    d.commit()
    before = d.facts("meets")
    with pytest.raises(rtbot.CheckpointError):
        d.restore(d.dump()[:cut])
    assert d.facts("meets") == before


def test_texts_that_are_gone_are_forgotten(monkeypatch):
    monkeypatch.setattr(string_dictionary, "ROOM", 100)
    d = make(".decl r(s:symbol)\n.input r\n.output r\n")
    for number in range(10):
        rows = [(f"{number}-{k}",) for k in range(1500)]
        d.insert("r", rows)
        d.commit()
        d.remove("r", rows)
        d.commit()
    assert len(d.texts.codes) < 12_000
    d.insert("r", [("a",)])
    d.commit()
    assert d.facts("r") == [("a",)]


def test_texts_that_are_no_regular_expressions_are_warnings_of_their_commit():
    d = rtbot.Datalog(
        """
.decl p(x: symbol) .input p
.decl a(x: symbol, y: symbol)
.output a
a(x, y) :- p(x), p(y), match(x, y).
""",
        compiled=False,
    )
    d.insert("p", [("a",), ("(",), ("[",)])
    assert d.commit() == {"a": ([("a", "a")], [])}
    assert [line.partition(" is")[0] for line in d.warnings] == ["'('", "'['"]
    d.insert(
        "p",
        [
            ("b",),
        ],
    )
    d.remove("p", [("(",), ("[",)])
    assert d.commit() == {"a": ([("b", "b")], [])}
