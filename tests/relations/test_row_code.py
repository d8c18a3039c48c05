"""Where and Select over transactions: values, faults, texts; interpreted and compiled."""

import numpy as np
import pytest

from rtbot.expression.row_rules import make_call
from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from rtbot.relations.deltas import Deltas
from rtbot.relations.text_calls import is_like, substring
from rtbot.tables.string_dictionary import StringDictionary
from tests.oracles import row_expressions as oracle
from tests.row_expressions import (
    MARK,
    PATTERNS,
    SCHEMA,
    VALUES,
    Generator,
    check_tree,
    encode_rows,
    make_operator,
    make_rows,
    run,
)


def field(name):
    return Expression("field", SCHEMA.fields[SCHEMA.place(name)].type, (), name, MARK)


def constant(value):
    kind = {int: "integer", float: "number", bool: "boolean", str: "text"}[type(value)]
    return Expression("constant", Type(kind), (), value, MARK)


def call(op, *args, to=None):
    return make_call(op, args, MARK, to)


ROW = {"i": 6, "j": None, "x": 1.5, "y": None, "b": True, "c": None, "s": "ab", "t": None}


@pytest.mark.parametrize("seed", range(120))
def test_random_expressions(seed):
    generator = Generator(seed)
    tree = generator.make(generator.random.choice(generator.kinds), 4)
    check_tree(tree, make_rows(seed, 25))


def test_duckdb_has_the_same_values():
    duckdb = pytest.importorskip("tests.oracles.duckdb_rows", exc_type=ImportError)
    answers = duckdb.Answers()
    for seed in range(500, 540):
        generator = Generator(seed)
        tree = generator.make(generator.random.choice(generator.kinds), 3)
        answers.compare(tree, *check_tree(tree, make_rows(seed, 25)))
    assert answers.same >= 15


def test_compiled_loops_have_the_same_bits():
    trees = [
        call("+", call("*", field("x"), field("y")), field("j")),
        call("case", field("c"), field("i"), call("is_null", field("j")), field("j"), constant(3)),
        call("<", call("upper", field("s")), field("t")),
        call("and", field("c"), call("in", field("x"), field("y"), constant(0.5))),
        call("%", field("x"), field("y")),
        call("power", field("x"), constant(0.5)),
    ]
    rows = make_rows(3, 200)
    for where in (False, True):
        chosen = [trees[3]] if where else trees
        interpreted = run(chosen, rows, where=where)
        compiled = run(chosen, rows, where=where, compiled=True)
        assert interpreted.words.tobytes() == compiled.words.tobytes()
        assert (interpreted.starts == compiled.starts).all()


@pytest.mark.parametrize(
    ("tree", "part"),
    [
        (call("//", field("i"), constant(0)), "by zero"),
        (call("%", field("i"), constant(0)), "by zero"),
        (call("+", field("i"), constant(2**63 - 1)), "beyond 64 bits"),
        (call("cast", field("s"), to="integer"), "a text that is not an integer"),
        (call("cast", constant(1e19), to="integer"), "no integer"),
        (call("length", call("cast", call("//", field("i"), constant(0)), to="text")), "by zero"),
    ],
)
def test_a_fault_says_what_and_where(tree, part):
    fault = run([tree], [ROW]).fault
    assert fault.transaction == 0
    assert fault.code == "RT406"
    assert part in fault.message
    assert fault.words.tolist()[0] == 6


def test_branches_that_are_not_taken_have_no_faults():
    zero = call("//", field("i"), constant(0))
    for tree in (
        call("case", call("==", field("i"), constant(6)), constant(1), zero),
        call("coalesce", field("i"), zero),
        call("and", call("<", field("i"), constant(0)), call(">", zero, constant(1))),
        call("or", field("b"), call(">", zero, constant(1))),
        call("//", field("j"), constant(0)),
        call("case", field("b"), constant("x"), call("cast", zero, to="text")),
    ):
        assert run([tree], [ROW]).fault is None


def test_a_fault_cuts_at_its_transaction():
    rows = [ROW | {"i": value} for value in (3, 2, 1, 0, 5)]
    texts = StringDictionary()
    operator, _ = make_operator([call("//", constant(6), field("i"))], texts)
    words = encode_rows(rows, SCHEMA, texts)
    starts = np.array([0, 1, 1, 2, 4, 5])
    made, fault = operator.run([Deltas(starts, words, np.arange(1, 6))])
    assert fault.transaction == 3
    assert made.starts.tolist() == [0, 1, 1, 2]
    assert made.words.tolist() == [[2], [3]]
    assert made.weights.tolist() == [1, 2]
    operator.take_back([Deltas(starts, words, np.arange(1, 6))])


def test_where_keeps_rows_of_every_transaction():
    rows = [ROW | {"i": value} for value in (1, 5, 6, 2)]
    texts = StringDictionary()
    operator, _ = make_operator([call(">", field("i"), constant(4))], texts, where=True)
    words = encode_rows(rows, SCHEMA, texts)
    made, fault = operator.run([Deltas(np.array([0, 2, 2, 3, 4]), words, np.array([1, -2, 3, 1]))])
    assert fault is None
    assert made.starts.tolist() == [0, 1, 1, 2, 2]
    assert made.weights.tolist() == [-2, 3]
    empty, fault = operator.run([Deltas(np.zeros(3, int), words[:0], np.zeros(0, int))])
    assert (len(empty), len(empty.starts), fault) == (0, 3, None)


def test_texts_that_come_again_under_another_code():
    texts = StringDictionary(["b", "a"])
    tree = call("<", field("s"), constant("b"))
    operator, _ = make_operator([tree], texts)
    for text in ("a", "b", "c", ""):
        words = encode_rows([ROW | {"s": text}], SCHEMA, texts)
        made, _ = operator.run([Deltas(np.array([0, 1]), words, np.ones(1, int))])
        assert made.words.tolist() == [[int(text < "b")]]
        texts.keep([])


def test_more_fields_than_a_mask_has_bits():
    source = Schema(tuple(Field(f"f{k}", Type("integer", nullable=True)) for k in range(130)))
    trees = [Expression("field", one.type, (), one.name, MARK) for one in reversed(source.fields)]
    texts = StringDictionary()
    operator, target = make_operator(trees, texts, source=source)
    row = {f"f{k}": None if k % 3 else k for k in range(130)}
    words = encode_rows([row], source, texts)
    made, _ = operator.run([Deltas(np.array([0, 1]), words, np.ones(1, int))])
    turned = {f"o{k}": row[f"f{129 - k}"] for k in range(130)}
    assert made.words.tolist() == encode_rows([turned], target, texts).tolist()


def test_like_and_substring():
    for text in VALUES["text"]:
        for pattern in (*PATTERNS, "%%", "a_%_", "%a%%1%", "_%_"):
            assert is_like(text, pattern) == oracle.like(text, pattern)
        for start in range(-6, 7):
            for length in (None, *range(-4, 5)):
                assert substring(text, start, length) == oracle.substring(text, start, length)
    assert not is_like("a" * 3000, "%a" * 40 + "%b")
