"""Evaluation under insertions and removals."""

import itertools
import math
import signal
from fractions import Fraction

import numpy as np
import pytest

from rtbot.core.source_span import SourceSpan
from rtbot.datalog.evaluation.rule_faults import RuleError
from rtbot.datalog.evaluation.term_values import TermValues
from rtbot.datalog.functors import FunctorError, compute_functor, order_value
from rtbot.datalog.language import read_program
from rtbot.datalog.program import Call, Comparison, Variable
from rtbot.relations.datalog_loops import start_evaluation
from rtbot.tables.string_dictionary import StringDictionary
from tests.datalog.test_shared_cases import CASES, REFUSED
from tests.datalog_programs import AGGREGATES, EDGES, NUMBER_HEAD, NUMBERS, TEXT_HEAD, TEXTS
from tests.datalog_trials import run
from tests.oracles.datalog import COMPARE


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


def start(text, **limits):
    return start_evaluation(read_program(text, "test.dl"), StringDictionary(), **limits)


def encode(evaluation, relation, rows):
    types = evaluation.forms.types[relation]
    encode = evaluation.values.encode_value
    words = [list(map(encode, row, types)) for row in rows]
    return np.array(words, np.int64).reshape(len(rows), len(types))


def decode(evaluation, relation, words):
    types = evaluation.forms.types[relation]
    return {tuple(map(evaluation.values.decode_value, row, types)) for row in words.tolist()}


def commit(evaluation, remove=None, insert=None):
    """Commit plain rows; the changes as plain rows: (removed, added)."""
    remove, insert = remove or {}, insert or {}
    names = {*remove, *insert}
    changes = {
        name: tuple(encode(evaluation, name, each.get(name, [])) for each in (remove, insert))
        for name in names
    }
    found = evaluation.commit(changes)
    return {
        name: tuple(decode(evaluation, name, words) for words in pair)
        for name, pair in found.items()
    }


def read(evaluation, relation):
    return decode(evaluation, relation, evaluation.list_rows(relation))


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_a_shared_case_epoch_by_epoch(name):
    case = CASES[name]
    evaluation = start(case["program"])
    known: dict = {}
    for epoch in case["epochs"]:
        changed = commit(evaluation, epoch["remove"], epoch["insert"])
        for relation, rows in epoch["expect"].items():
            expected = set(map(tuple, rows))
            assert read(evaluation, relation) == expected
            removed, added = changed.get(relation, (set(), set()))
            before = known.get(relation, set())
            assert (removed, added) == (before - expected, expected - before)
            known[relation] = expected


CLOSURE = """
.decl edge(x:number, y:number)
.input edge
.decl path(x:number, y:number)
.output path
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_are_as_naive_evaluation_has_them(seed):
    run(seed, epochs=6, reference=seed % 2 == 0)


# ---- what fails

PER = """
.decl part(x:number, y:number)
.input part
.decl used(x:number)
.input used
.decl per(x:number, q:number)
.output per
per(x, q) :- part(x, y), q = 100 / y, used(x).
"""


def test_a_failure_names_the_rule_and_its_bindings_and_changes_nothing():
    evaluation = start(PER)
    commit(evaluation, insert={"part": [(1, 5)], "used": [(1,), (2,)]})
    with pytest.raises(RuleError) as found:
        commit(evaluation, {"part": [(1, 5)]}, {"part": [(2, 0), (1, 4)]})
    assert found.value.code == "RT520"
    assert found.value.bindings == {"x": 2, "y": 0}
    assert str(found.value).splitlines()[0] == (
        "test.dl:8:1: error[RT520]: 100 divided by 0 (per(x, q) :- part(x, y), q = 100 / y, "
        "used(x). with x = 2, y = 0)"
    )
    assert read(evaluation, "part") == {(1, 5)}
    assert commit(evaluation, {"part": [(1, 5)]}, {"part": [(1, 4)]}) == {
        "per": ({(1, 20)}, {(1, 25)})
    }


def test_what_fails_does_not_count_where_another_literal_does_not_hold():
    evaluation = start(PER)
    commit(evaluation, insert={"part": [(1, 5), (2, 0)], "used": [(1,)]})
    assert read(evaluation, "per") == {(1, 20)}
    with pytest.raises(RuleError):
        commit(evaluation, insert={"used": [(2,)]})
    assert read(evaluation, "used") == {(1,)}


COUNTER = ".decl n(x:number)\n.output n\nn(0).\nn(x + 1) :- n(x), x < {most}.\n"


@pytest.mark.parametrize(
    ("limits", "message"),
    [({"max_facts": 20}, "more than 20 derived"), ({"max_iterations": 20}, "more than 20 rounds")],
)
def test_limits_end_what_has_no_end(limits, message):
    evaluation = start(COUNTER.format(most=10**9), **limits)
    with pytest.raises(RuleError, match=message) as found:
        evaluation.commit({})
    assert found.value.rule.span.line == 4
    assert read(evaluation, "n") == set()
    assert len(commit(start(COUNTER.format(most=15), **limits))["n"][1]) == 16


def test_an_overflow_has_a_place():
    evaluation = start(
        COUNTER.format(most=10**9).replace("n(0)", f"n({2**62})") + "n(x * 2) :- n(x)."
    )
    with pytest.raises(RuleError, match="beyond the 64 bits") as found:
        evaluation.commit({})
    assert found.value.bindings == {"x": 2**62}


def test_an_interrupt_takes_the_commit_back():
    evaluation = start(CLOSURE)
    commit(evaluation, insert={"edge": [(1, 2), (2, 3)]})
    before = read(evaluation, "path")
    pause, calls = evaluation.space.pause, []

    def interrupt():
        calls.append(1)
        if len(calls) == 4:
            signal.raise_signal(signal.SIGINT)
        pause()

    evaluation.space.pause = interrupt
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            commit(evaluation, {"edge": [(1, 2)]}, {"edge": [(3, 4), (4, 1)]})
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, usual)
    assert read(evaluation, "path") == before
    evaluation.space.pause = pause
    assert commit(evaluation, insert={"edge": [(3, 1)]})["path"][1]


def test_an_interrupt_waits_until_dead_rows_are_given_up():
    evaluation = start(CLOSURE)
    commit(evaluation, insert={"edge": [(1, 2), (2, 3)]})
    before, relation, whole = read(evaluation, "path"), evaluation.relations["edge"], []
    settle = relation.settle

    def interrupt():
        signal.raise_signal(signal.SIGINT)
        settle()
        whole.append(relation)

    relation.settle = interrupt
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            commit(evaluation, insert={"edge": [(3, 4)]})
    finally:
        signal.signal(signal.SIGINT, usual)
    assert whole == [relation]
    assert read(evaluation, "path") == before


def test_any_fault_takes_the_commit_back():
    for broken in range(30):
        evaluation = start(CLOSURE)
        commit(evaluation, insert={"edge": [(1, 2), (2, 3), (3, 1), (3, 4)]})
        before, calls = read(evaluation, "path"), []
        pause = evaluation.space.pause

        def fail(calls=calls, broken=broken):
            calls.append(1)
            if len(calls) == broken:
                raise MemoryError

        evaluation.space.pause = fail
        changes = {"edge": [(2, 3)]}, {"edge": [(4, 5), (5, 1)]}
        try:
            commit(evaluation, *changes)
        except MemoryError:
            assert read(evaluation, "path") == before
            evaluation.space.pause = pause
            commit(evaluation, *changes)
        edges = read(evaluation, "edge")
        assert edges == {(1, 2), (3, 1), (3, 4), (4, 5), (5, 1)}
        assert read(evaluation, "path") == close(edges)


def close(edges):
    paths = set(edges)
    while True:
        more = {(x, z) for x, y in paths for a, z in edges if a == y} | paths
        if more == paths:
            return paths
        paths = more


# ---- values

NASTY = {
    "number": [0, 1, -1, 2, 3, 63, 64, -64, 7, 2**31, 2**62, -(2**62), 2**63 - 1, -(2**63)],
    "unsigned": [0, 1, 2, 3, 63, 64, 2**31, 2**62, 2**63 - 1, 2**63, 2**64 - 1],
    "float": [0.0, -0.0, 1.0, -1.5, 3.0, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan],
    "symbol": ["", "a", "b", "Z", "é", "12", "-3", "0x1f", "1e3", "99999999999999999999", "nan"],
}
PAIRS = ["+", "-", "*", "/", "%", "^", "band", "bor", "bxor", "bshl", "bshr", "bshru"]
PAIRS += ["land", "lor", "lxor", "min", "max"]
CASTS = ["to_number", "to_unsigned", "to_float", "to_string"]
TARGETS = dict(zip(CASTS, ("number", "unsigned", "float", "symbol"), strict=True))


def list_functors():
    for kind in ("number", "unsigned", "float"):
        for functor in PAIRS:
            if kind != "float" or functor in ("+", "-", "*", "/", "^", "min", "max"):
                yield functor, (kind, kind), kind
    yield from ((functor, ("symbol", "symbol"), "symbol") for functor in ("min", "max", "cat"))
    yield from (("neg", (kind,), kind) for kind in ("number", "float"))
    yield from ((f, (kind,), kind) for f in ("bnot", "lnot") for kind in ("number", "unsigned"))
    yield from ((cast, (kind,), TARGETS[cast]) for cast in CASTS for kind in NASTY)
    yield "strlen", ("symbol",), "number"


@pytest.mark.parametrize(("functor", "types", "result"), [*list_functors()])
def test_functors_of_columns_are_those_of_values(functor, types, result):
    values = TermValues(StringDictionary())
    rows = [*itertools.product(*(NASTY[kind] for kind in types))]
    columns = np.array([list(map(values.encode_value, row, types)) for row in rows]).T.copy()
    term = Call(functor, tuple(map(Variable, range(len(types)))), result, SourceSpan())
    values.begin(types)
    found = values.compute(term, columns, len(rows))
    failed = values.failed if values.failed is not None else np.zeros(len(rows), bool)
    for given, code, bad in zip(rows, found.tolist(), failed.tolist(), strict=True):
        row = [value + 0.0 if isinstance(value, float) else value for value in given]
        try:
            expected = values.encode_value(compute_functor(functor, types[0], row), result)
        except FunctorError:
            assert bad, row
        else:
            assert (bad, code) == (False, expected), row


@pytest.mark.parametrize("kind", NASTY)
@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
def test_comparisons_of_columns_are_those_of_values(kind, operator):
    values = TermValues(StringDictionary())
    rows = [*itertools.product(NASTY[kind], NASTY[kind])]
    columns = np.array([[values.encode_value(v, kind) for v in row] for row in rows]).T.copy()
    comparison = Comparison(operator, Variable(0), Variable(1), kind, False, SourceSpan())
    values.begin((kind, kind))
    found = values.test(comparison, columns, len(rows))
    for (left, right), holds in zip(rows, found.tolist(), strict=True):
        one, other = order_value(left), order_value(right)
        assert holds is COMPARE[operator](one, other), (left, right)


FLOAT_AGGREGATES = """
.decl f(g:number, x:float)
.input f
.decl r(g:number, how:symbol, x:float)
.output r
r(g, "sum", s) :- f(g, _), s = sum x : { f(g, x) }.
r(g, "mean", s) :- f(g, _), s = mean x : { f(g, x) }.
r(g, "min", s) :- f(g, _), s = min x : { f(g, x) }.
r(g, "max", s) :- f(g, _), s = max x : { f(g, x) }.
"""


def test_aggregates_of_floats_are_exact():
    evaluation = start(FLOAT_AGGREGATES)
    rows = [(1, 0.1), (1, 1e100), (1, -1e100), (2, math.inf), (2, 1.0), (3, 1e308), (3, 1.5e308)]
    commit(evaluation, insert={"f": rows})
    found = {(g, how): value for g, how, value in read(evaluation, "r")}
    assert [found[1, how] for how in ("sum", "mean", "min", "max")] == [
        0.1,
        float(Fraction(0.1) / 3),
        -1e100,
        1e100,
    ]
    assert (found[2, "sum"], found[3, "sum"], found[3, "mean"]) == (math.inf, math.inf, 1.25e308)
    commit(evaluation, remove={"f": [(1, 1e100), (3, 1.5e308)]})
    found = {(g, how): value for g, how, value in read(evaluation, "r")}
    assert (found[1, "sum"], found[3, "sum"]) == (-1e100, 1e308)


def test_a_sum_beyond_64_bits_is_refused():
    text = (
        ".decl f(x:number)\n.input f\n.decl r(x:number)\n.output r\nr(s) :- s = sum x : { f(x) }."
    )
    evaluation = start(text)
    assert commit(evaluation, insert={"f": [(2**62,), (2**62 - 1,)]})["r"][1] == {(2**63 - 1,)}
    with pytest.raises(RuleError, match="a sum has more than 64 bits"):
        commit(evaluation, insert={"f": [(1,)]})
    assert read(evaluation, "r") == {(2**63 - 1,)}


# ---- limits, saving, sizes


def test_a_limit_ends_a_stratum_after_the_round_that_reaches_it():
    text = (
        COUNTER.format(most=10**9)
        + ".limitsize n(n=7)\n.decl from(x:number)\n.input from\nn(x) :- from(x).\n"
    )
    evaluation = start(text)
    assert commit(evaluation)["n"][1] == {(k,) for k in range(7)}
    commit(evaluation, insert={"from": [(100,)]})
    assert read(evaluation, "n") == {(0,), (1,), (2,), (3,), (100,), (101,), (102,), (103,)}
    commit(evaluation, remove={"from": [(100,)]})
    assert read(evaluation, "n") == {(k,) for k in range(7)}


def test_what_is_saved_is_enough():
    evaluation = start(CLOSURE)
    commit(evaluation, insert={"edge": [(1, 2), (2, 3), (3, 1)]})
    other = start(CLOSURE)
    other.restore(evaluation.save())
    assert read(other, "path") == read(evaluation, "path")
    assert commit(other, {"edge": [(3, 1)]}) == commit(evaluation, {"edge": [(3, 1)]})


def test_rows_that_come_and_go_leave_no_room_taken():
    evaluation = start(CLOSURE)
    for k in range(45):
        edges = [(100 * k + j, 100 * k + j + 1) for j in range(8)]
        commit(evaluation, insert={"edge": [*edges, (1, 2)]})
        commit(evaluation, remove={"edge": edges})
    assert read(evaluation, "path") == {(1, 2)}
    assert evaluation.relations["path"].count < 1200


def test_more_bindings_than_a_batch():
    text = ".decl a(x:number)\n.input a\n.decl b(x:number, y:number)\n.output b\n"
    evaluation = start(text + "b(x, y) :- a(x), a(y).\n")
    commit(evaluation, insert={"a": [(k,) for k in range(100)]})
    assert evaluation.count_rows("b") == 10_000
    removed, added = commit(evaluation, {"a": [(7,)]}, {"a": [(1000,)]})["b"]
    assert (len(removed), len(added)) == (199, 199)


def test_why_goes_down_to_facts():
    evaluation = start(CLOSURE)
    commit(evaluation, insert={"edge": [(1, 2), (2, 1), (2, 3)]})
    derivation = evaluation.derive("path", np.array([1, 3]))
    assert derivation.rule.span.line == 7
    assert derivation.bindings == {"x": 1, "y": 2, "z": 3}
    assert [(part.relation, part.values) for part in derivation.body] == [
        ("path", (1, 2)),
        ("edge", (2, 3)),
    ]
    assert evaluation.derive("edge", np.array([2, 3])).rule is None
    assert evaluation.derive("path", np.array([3, 1])) is None


def test_versions_are_described():
    evaluation = start(CLOSURE)
    commit(evaluation, insert={"edge": [(1, 2)]})
    described = evaluation.describe()["strata"]
    assert described[1]["relations"] == {"path": 1}
    assert described[1]["rules"][1]["versions"] == [
        {"from": "path(x, y)", "order": ["edge(y, z)"]},
        {"from": "edge(y, z)", "order": ["path(x, y)"]},
        {"from": "head", "order": ["path(x, y)", "edge(y, z)"]},
    ]


# ---- programs in every part of the language

WRITTEN = [
    *((NUMBER_HEAD + text, rows) for text, rows in NUMBERS),
    *((TEXT_HEAD + text, rows) for text, rows in TEXTS),
    *((NUMBER_HEAD + EDGES + text, rows) for text, rows in AGGREGATES),
]


@pytest.mark.parametrize(("text", "rows"), WRITTEN)
def test_a_program_holds_what_it_should(text, rows):
    evaluation = start(text)
    changed = commit(evaluation)
    assert {row[0] for row in read(evaluation, "a")} == rows
    assert changed.get("a", (set(), set())) == (set(), {(value,) for value in rows})
    assert commit(evaluation) == {}


@pytest.mark.parametrize(("text", "rows"), AGGREGATES)
def test_an_aggregate_follows_its_rows(text, rows):
    evaluation = start(NUMBER_HEAD + ".decl e(x: number, y: number)\n.input e\n" + text)
    edges = [(1, 2), (1, 3), (2, 3), (3, 3)]
    for edge in ((7, 8), *edges, (9, 9)):
        commit(evaluation, insert={"e": [edge]})
    commit(evaluation, remove={"e": [(1, 2), (7, 8)]})
    commit(evaluation, remove={"e": [(9, 9)]}, insert={"e": [(1, 2)]})
    assert {row[0] for row in read(evaluation, "a")} == rows


def test_a_commit_that_fails_leaves_no_texts():
    evaluation = start(
        ".decl f(x:symbol, y:number)\n.input f\n.decl g(x:symbol)\n.output g\n"
        'g(cat(x, "!")) :- f(x, _).\ng(x) :- f(x, y), 1 / y = 1.\n'
    )
    with pytest.raises(RuleError):
        commit(evaluation, insert={"f": [("new", 0)]})
    assert "new!" not in evaluation.texts.codes
    commit(evaluation, insert={"f": [("new", 1)]})
    assert read(evaluation, "g") == {("new!",), ("new",)}


def test_time_is_told_between_batches_and_changes_nothing():
    evaluation, spent = start(CLOSURE), []
    evaluation.spend = spent.append
    assert commit(evaluation, insert={"edge": [(1, 2)]})["path"] == (set(), {(1, 2)})
    assert spent
    assert min(spent) >= 0
