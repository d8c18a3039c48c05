"""Random expressions over rows, in every way: `python -m tests.row_expressions --count N`.

The loops, interpreted and compiled, against the plain evaluator of `tests.oracles` and DuckDB.
"""

import argparse
import math
import random
import struct
from types import SimpleNamespace

import numpy as np

from rtbot.compiler import jit
from rtbot.core.source_span import SourceSpan
from rtbot.expression.row_rules import make_call
from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from rtbot.operator.step_source import StepSources
from rtbot.relations.deltas import Deltas
from rtbot.relations.region_plan import RegionNode, RegionPlan
from rtbot.relations.row_code import list_row_steps, write_row_functions
from rtbot.relations.rowwise import RowwiseOperator
from rtbot.tables.string_dictionary import StringDictionary
from tests.oracles.row_expressions import NoValueError, clean, evaluate

NAN, INF = math.nan, math.inf
MARK = SourceSpan()
SCHEMA = Schema(
    tuple(
        Field(name, Type(kind, null))
        for name, kind, null in (
            *(("i", "integer", False), ("j", "integer", True)),
            *(("x", "number", False), ("y", "number", True)),
            *(("b", "boolean", False), ("c", "boolean", True)),
            *(("s", "text", False), ("t", "text", True)),
        )
    )
)
VALUES = {
    "integer": (
        *(0, 1, -1, 2, 3, -7, 10, 5, -5),
        *(2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)),
    ),
    "number": (
        *(0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 1e300, -1e300, 5e-324, 2.0**53, 9e18),
        *(NAN, INF, -INF),
    ),
    "boolean": (True, False),
    "text": (
        *("", "a", "b", "ab", "B", " a ", "a%b", "1", "-12", "1.5", "true"),
        *("\u00e9", "\U0001f600", "\uff5e"),
    ),
}
NUMERIC = ("integer", "number")
PATTERNS = ("", "%", "a%", "%b", "_", "a_b", "%a%b%", "a%%b", "%1")


class Generator:
    """Makes random trees of a kind."""

    def __init__(self, seed, texts=True):
        self.random = random.Random(seed)
        self.kinds = ("integer", "number", "boolean", "text") if texts else (*NUMERIC, "boolean")

    def leaf(self, kind):
        pick = self.random
        if pick.random() < 0.7:
            names = [f for f in SCHEMA.fields if f.type.kind == kind]
            one = pick.choice(names)
            return Expression("field", one.type, (), one.name, MARK)
        if pick.random() < 0.1:
            return Expression("constant", Type(kind, nullable=True), (), None, MARK)
        return Expression("constant", Type(kind), (), pick.choice(VALUES[kind]), MARK)

    def make(self, kind, depth):
        pick = self.random
        if depth == 0 or pick.random() < 0.15:
            return self.leaf(kind)
        if pick.random() < 0.25:
            op = pick.choice(("case", "coalesce", "least", "greatest"))
            if op == "case":
                pairs = [
                    part
                    for _ in range(pick.randint(1, 3))
                    for part in (self.make("boolean", depth - 1), self.make(kind, depth - 1))
                ]
                return make_call(op, [*pairs, self.make(kind, depth - 1)], MARK)
            args = [self.make(kind, depth - 1) for _ in range(pick.randint(2, 3))]
            return make_call(op, args, MARK)
        return getattr(self, f"make_{kind}")(depth - 1)

    def call(self, op, *args):
        return make_call(op, args, MARK)

    def make_integer(self, depth):
        pick = self.random
        op = pick.choice(
            ("+", "-", "*", "//", "%", "neg", "abs", "sign", "floor", "cast", "length")
        )
        if op == "length" and "text" in self.kinds:
            return self.call(op, self.make("text", depth))
        if op in ("cast", "length"):
            source = pick.choice(("boolean", "number", *self.kinds[3:]))
            return make_call("cast", [self.make(source, depth)], MARK, "integer")
        count = 2 if op in ("+", "-", "*", "//", "%") else 1
        return self.call(op, *(self.make("integer", depth) for _ in range(count)))

    def make_number(self, depth):
        pick = self.random
        ops = ("+", "-", "*", "/", "%", "neg", "abs", "sign", "floor", "ceil", "round", "sqrt")
        op = pick.choice((*ops, "exp", "ln", "log10", "power", "cast"))
        if op == "cast":
            source = pick.choice(("boolean", "integer", *self.kinds[3:]))
            return make_call("cast", [self.make(source, depth)], MARK, "number")
        if op in ("/", "+", "-", "*", "%", "power"):
            other = pick.choice(NUMERIC)
            return self.call(op, self.make("number", depth), self.make(other, depth))
        return self.call(op, self.make("number", depth))

    def make_boolean(self, depth):
        pick = self.random
        op = pick.choice(
            (
                "and",
                "or",
                "not",
                "compare",
                "compare",
                "is_null",
                "is_distinct",
                "in",
                "isnan",
                "cast",
                "text",
            )
        )
        if op in ("and", "or"):
            return self.call(op, self.make("boolean", depth), self.make("boolean", depth))
        if op == "not":
            return self.call(op, self.make("boolean", depth))
        if op == "isnan":
            return self.call(op, self.make("number", depth))
        if op == "cast":
            return make_call(op, [self.make(pick.choice(self.kinds), depth)], MARK, "boolean")
        if op == "text" and "text" in self.kinds:
            return self.make_text_test(depth)
        kind = pick.choice(self.kinds)
        other = pick.choice(NUMERIC) if kind in NUMERIC else kind
        if op == "is_null":
            return self.call(op, self.make(kind, depth))
        if op == "in":
            others = [self.make(other, depth) for _ in range(pick.randint(1, 3))]
            return self.call(op, self.make(kind, depth), *others)
        if op in ("compare", "text"):
            op = pick.choice(("<", "<=", ">", ">=", "==", "!="))
        return self.call(op, self.make(kind, depth), self.make(other, depth))

    def make_text_test(self, depth):
        op = self.random.choice(("starts_with", "ends_with", "contains", "like"))
        if op == "like":
            pattern = self.random.choice(PATTERNS)
            right = Expression("constant", Type("text"), (), pattern, MARK)
        else:
            right = self.make("text", depth)
        return self.call(op, self.make("text", depth), right)

    def make_text(self, depth):
        pick = self.random
        op = pick.choice(
            ("upper", "lower", "trim", "ltrim", "rtrim", "concat", "substring", "replace", "cast")
        )
        if op == "cast":
            return make_call(op, [self.make(pick.choice(self.kinds[:3]), depth)], MARK, "text")
        if op == "concat":
            return self.call(op, self.make("text", depth), self.make("text", depth))
        if op == "substring":
            where = [Expression("constant", Type("integer"), (), pick.randint(-3, 4), MARK)]
            if pick.random() < 0.7:
                where.append(Expression("constant", Type("integer"), (), pick.randint(-2, 3), MARK))
            return self.call(op, self.make("text", depth), *where)
        if op == "replace":
            return self.call(op, *(self.make("text", depth) for _ in range(3)))
        return self.call(op, self.make("text", depth))


def make_rows(seed, count):
    """Return random rows, each a dict."""
    pick = random.Random(seed)
    return [
        {
            f.name: None
            if f.type.nullable and pick.random() < 0.3
            else pick.choice(VALUES[f.type.kind])
            for f in SCHEMA.fields
        }
        for _ in range(count)
    ]


def to_word(value, kind, texts):
    if value is None:
        return 0
    if kind == "number":
        return struct.unpack("<q", struct.pack("<d", NAN if value != value else value + 0.0))[0]
    return texts.code(value) if kind == "text" else int(value)


def encode_rows(rows, schema, texts):
    """Return rows as words, by hand."""
    words = np.zeros((len(rows), schema.width), np.int64)
    for at, row in enumerate(rows):
        for place, field in enumerate(schema):
            value = row[field.name]
            words[at, place] = to_word(value, field.type.kind, texts)
            if value is None:
                words[at, len(schema) + place // 63] |= 1 << place % 63
    return words


def make_operator(trees, texts, *, where=False, compiled=False, source=SCHEMA):
    """Return the operator that runs a condition, or a Select of `o0`, `o1`, ..."""
    target = Schema(tuple(Field(f"o{k}", tree.type) for k, tree in enumerate(trees)))
    code = write_row_functions("rows_0", trees, source, None if where else target)
    steps = StepSources()
    for step in list_row_steps(code.text):
        steps.add(step.__name__, step)
    text = "\n\n".join(["import math", *steps.lines(), *steps.texts.values(), code.text])
    module = (jit.load_compiled if compiled else jit.load_interpreted)(text)
    node = RegionNode("n", "Select", "rowwise", (0,), 1, code.setting, code.functions)
    plan = RegionPlan("r", (), (node,), (source, source if where else target), {}, text)
    return RowwiseOperator(node, plan, None, module, texts), target


def run(trees, rows, *, where=False, compiled=False, texts=None):
    """Return the words that come out of rows of a transaction each, and the row of the fault."""
    texts = texts or StringDictionary()
    operator, target = make_operator(trees, texts, where=where, compiled=compiled)
    words = encode_rows(rows, SCHEMA, texts)
    starts = np.arange(len(rows) + 1)
    made, fault = operator.run([Deltas(starts, words, np.ones(len(rows), np.int64))])
    return SimpleNamespace(
        words=made.words, starts=made.starts, fault=fault, texts=texts, target=target
    )


def evaluate_rows(tree, rows):
    """Return the values of a tree, and the first row that has none or -1."""
    found = []
    for place, row in enumerate(rows):
        try:
            found.append(clean(evaluate(tree, row)))
        except NoValueError:
            return found, place
    return found, -1


def check_tree(tree, rows, *, compiled=False):
    """Compare the loops with the evaluator; return the values."""
    expected, bad = evaluate_rows(tree, rows)
    got = run([tree], rows, compiled=compiled)
    assert (got.fault.transaction if got.fault else -1) == bad, (tree, got.fault, bad)
    names = [{"o0": value} for value in expected]
    wanted = encode_rows(names, got.target, got.texts)
    assert got.words.tobytes() == wanted.tobytes(), (tree, expected, got.words)
    if bad >= 0:
        good = [row for row in rows if evaluate_rows(tree, [row])[1] < 0]
        return check_tree(tree, good, compiled=compiled)
    if tree.type.kind == "boolean":
        kept = run([tree], rows, where=True, compiled=compiled)
        assert np.diff(kept.starts).tolist() == [int(value is True) for value in expected]
    return rows, expected


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--compiled", type=int, default=0, help="every so many are compiled too")
    parser.add_argument("--no-duckdb", action="store_true")
    options = parser.parse_args()
    from tests.oracles.duckdb_rows import Answers

    answers = None if options.no_duckdb else Answers()
    for seed in range(options.seed, options.seed + options.count):
        generator = Generator(seed)
        tree = generator.make(generator.random.choice(generator.kinds), options.depth)
        try:
            rows, values = check_tree(tree, make_rows(seed, 60))
            if options.compiled and seed % options.compiled == 0:
                check_tree(tree, make_rows(seed, 60), compiled=True)
            if answers is not None:
                answers.compare(tree, rows, values)
        except BaseException:
            print(f"seed {seed}")
            raise
    shown = (
        "" if answers is None else f", DuckDB agrees in {answers.same}, refuses {answers.refused}"
    )
    print(f"{options.count} expressions{shown}")


if __name__ == "__main__":
    main()
