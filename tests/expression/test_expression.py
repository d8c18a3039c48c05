"""Expressions: what they parse to, which types they have, and what is wrong where."""

import random

import pytest

from rtbot.core.errors import GraphError, Problems
from rtbot.core.source_span import SourceSpan
from rtbot.expression import (
    Expression,
    format_expression,
    infer_types,
    parse_expression,
    without_place,
)
from rtbot.graph.document import ScalarNode
from rtbot.operator import Type

PORTS = {
    **dict.fromkeys(("x", "y", "a-b", "join.o2"), Type("number")),
    **dict.fromkeys(("i", "j"), Type("integer")),
    **dict.fromkeys(("f", "g"), Type("boolean")),
    "s": Type("text"),
    "n": Type("number", nullable=True),
    "k": Type("integer", nullable=True),
    "h": Type("boolean", nullable=True),
}
VALUES = {"p": ("number", 2.5), "q": ("integer", 2), "r": ("integer", -2), "t": ("boolean", True)}


def scope(term):
    if term.op == "parameter":
        return Expression("value", Type(VALUES[term.value][0]), (), term.value)
    return Expression("port", PORTS[term.value], (), term.value)


def tree_of(text, problems=None, *, internal=False):
    values = {name: value for name, (_, value) in VALUES.items()}
    problems = problems or Problems()
    term = parse_expression(text, without_place)
    return infer_types(term, scope, problems, without_place, values, internal=internal), problems


def bare(tree):
    """A tree as nested tuples: (op, value or arguments...)."""
    if tree.op in ("constant", "port", "value"):
        return tree.value
    return (tree.op, *map(bare, tree.args))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x + y * 2.0", ("+", "x", ("*", "y", 2.0))),
        ("(x + y) * 2.0", ("*", ("+", "x", "y"), 2.0)),
        ("x - y - x", ("-", ("-", "x", "y"), "x")),
        ("x / y / x", ("/", ("/", "x", "y"), "x")),
        ("x - (y - x)", ("-", "x", ("-", "y", "x"))),
        ("x ** y ** x", ("**", "x", ("**", "y", "x"))),
        ("-x ** y", ("neg", ("**", "x", "y"))),
        ("x ** -y", ("**", "x", ("neg", "y"))),
        ("-x * y", ("*", ("neg", "x"), "y")),
        ("--x", ("neg", ("neg", "x"))),
        ("x % y * x", ("*", ("%", "x", "y"), "x")),
        ("-3 + i", ("+", -3, "i")),
        ("-2 ** 2 + i", ("+", ("neg", ("**", 2, 2)), "i")),
        ("x < y and not f or g", ("or", ("and", ("<", "x", "y"), ("not", "f")), "g")),
        ("not x < y", ("not", ("<", "x", "y"))),
        ("not not f", ("not", ("not", "f"))),
        ("f == (x < y)", ("==", "f", ("<", "x", "y"))),
        ("f or g and f", ("or", "f", ("and", "g", "f"))),
        ("if(f, x, -y)", ("if", "f", "x", ("neg", "y"))),
        ("min(x, y, x)", ("min", "x", "y", "x")),
        ("`a-b` - x", ("-", "a-b", "x")),
        ("join.o2*$p", ("*", "join.o2", "p")),
        ("true and f", ("and", True, "f")),
        ("  x\n +\ty ", ("+", "x", "y")),
        (".5 + 1. + x + 1e3", ("+", ("+", ("+", 0.5, 1.0), "x"), 1000.0)),
        ("010 + i", ("+", 10, "i")),
    ],
)
def test_trees(text, tree):
    typed_tree, problems = tree_of(text)
    assert problems.found == []
    assert bare(typed_tree) == tree
    again, _ = tree_of(format_expression(typed_tree).replace("a-b", "`a-b`"))
    assert bare(again) == tree


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("i + j", "integer"),
        ("i - 1", "integer"),
        ("i * j % 3", "integer"),
        ("i / j", "number"),
        ("i + x", "number"),
        ("i + 1.0", "number"),
        ("i ** 2", "integer"),
        ("i ** $q", "integer"),
        ("i ** $r", "number"),
        ("i ** -2", "number"),
        ("i ** j", "number"),
        ("x ** 2", "number"),
        ("-i", "integer"),
        ("abs(i)", "integer"),
        ("sign(i)", "integer"),
        ("floor(i)", "integer"),
        ("floor(x)", "number"),
        ("round(x)", "number"),
        ("sqrt(i)", "number"),
        ("exp(i)", "number"),
        ("log(x)", "number"),
        ("min(i, j)", "integer"),
        ("max(i, x)", "number"),
        ("isnan(x)", "boolean"),
        ("isnan(i)", "boolean"),
        ("i < x", "boolean"),
        ("f == g", "boolean"),
        ("s == s", "boolean"),
        ("s != s", "boolean"),
        ("if(f, s, s)", "text"),
        ("if(f, i, x)", "number"),
        ("if(h, i, 1)", "integer?"),
        ("n + 1", "number?"),
        ("k + 1", "integer?"),
        ("n < 1", "boolean?"),
        ("h and f", "boolean?"),
        ("coalesce(n, 0)", "number"),
        ("coalesce(k, 0)", "integer"),
        ("coalesce(n, k)", "number?"),
        ("coalesce(n, n, x)", "number"),
        ("isnan(n)", "boolean?"),
        ("$t and f", "boolean"),
        ("$q + i", "integer"),
        ("$p + i", "number"),
    ],
)
def test_types(text, type_):
    tree, problems = tree_of(text)
    assert problems.found == []
    assert str(tree.type) == type_


def test_operands_of_one_operation_have_one_kind():
    tree, _ = tree_of("i + x * 2")
    assert bare(tree) == ("+", ("widen", "i"), ("*", "x", 2.0))
    tree, _ = tree_of("if(f, i, x) == j / 2")
    assert bare(tree) == ("==", ("if", "f", ("widen", "i"), "x"), ("/", ("widen", "j"), 2.0))


def test_a_constant_becomes_a_number_without_a_widening():
    tree, _ = tree_of("x + 1")
    assert tree.args[1].value == 1.0
    assert isinstance(tree.args[1].value, float)


def test_the_smallest_integer_can_be_written():
    tree, _ = tree_of("i - -9223372036854775808")
    assert bare(tree) == ("-", "i", -9223372036854775808)


@pytest.mark.parametrize(
    ("text", "code", "column", "words"),
    [
        ("", "RT130", 1, "a value is expected"),
        ("x +", "RT130", 4, "missing at the end"),
        ("x y", "RT130", 3, "operator or a comma missing"),
        ("x 2", "RT130", 3, "operator or a comma missing"),
        ("2x", "RT130", 1, "not a number"),
        ("0x10", "RT130", 1, "not a number"),
        ("1.2.3", "RT130", 1, "not a number"),
        ("5s", "RT130", 1, "not a number"),
        ("* x", "RT130", 1, "a value is expected"),
        ("x + * y", "RT130", 5, "a value is expected"),
        ("(x", "RT130", 1, "the expression ends"),
        ("x)", "RT130", 2, "a ( is missing"),
        ("()", "RT130", 2, "a value is expected"),
        ("min(x,)", "RT130", 7, "a value is expected"),
        ("min(x y)", "RT130", 7, "'y' comes where ')' is expected"),
        ("x < y < x", "RT130", 7, "write a < b and b < c"),
        ("x == y != x", "RT130", 8, "comparisons do not chain"),
        ("x = y", "RT130", 3, "write =="),
        ("f && g", "RT130", 3, "write `and`"),
        ("f || g", "RT130", 3, "write `or`"),
        ("!f", "RT130", 1, "write `not`"),
        ("x ^ 2", "RT130", 3, "write **"),
        ("x // 2", "RT130", 3, "floor"),
        ("x <> 2", "RT130", 3, "write !="),
        ("f ? x : y", "RT130", 3, "if(condition"),
        ("s == 'a'", "RT130", 6, "no texts"),
        ("${p}", "RT130", 1, "$name"),
        ("`a-b + x", "RT130", 1, "backquote"),
        ("x; y", "RT130", 2, "not part"),
        ("x.y.z", "RT130", 4, "not part"),
        ("é", "RT130", 1, "not part"),
        ("and", "RT130", 1, "a value is expected"),
        ("x and", "RT130", 6, "missing at the end"),
        ("1" * 500, "RT130", 1, "400 digits"),
        ("(" * 70 + "x" + ")" * 70, "RT135", 65, "64 levels"),
        ("-" * 70 + "x", "RT135", 65, "64 levels"),
        (" + ".join(["x"] * 120), "RT135", 399, "100 levels"),
    ],
)
def test_what_cannot_be_read(text, code, column, words):
    with pytest.raises(GraphError) as caught:
        parse_expression(text, without_place)
    problem = caught.value.problems[0]
    assert (problem.code, problem.mark.column) == (code, column)
    assert words in f"{problem.message} {problem.hint}"


@pytest.mark.parametrize(
    ("text", "code", "column", "words"),
    [
        ("x + f", "RT133", 3, "number and boolean"),
        ("s + s", "RT133", 3, "text and text"),
        ("s < s", "RT133", 3, "text and text"),
        ("f < g", "RT133", 3, "boolean and boolean"),
        ("f == x", "RT133", 3, "boolean and number"),
        ("s == x", "RT133", 3, "text and number"),
        ("x and f", "RT133", 3, "number and boolean"),
        ("not x", "RT133", 1, "here is number"),
        ("-f", "RT133", 1, "`-` takes numbers"),
        ("abs(s)", "RT133", 1, "here is text"),
        ("if(x, 1, 2)", "RT133", 4, "condition"),
        ("if(f, x, s)", "RT133", 1, "number and text"),
        ("coalesce(n, s)", "RT133", 1, "number? and text"),
        ("isnan(f)", "RT133", 1, "here is boolean"),
        ("absolute(x)", "RT131", 1, "unknown function"),
        ("mx(x, y)", "RT131", 1, "did you mean 'max'?"),
        ("sin(x)", "RT131", 1, "unknown function"),
        ("min(x)", "RT132", 1, "2 to 64 arguments"),
        ("sqrt(x, y)", "RT132", 1, "1 argument, 2 given"),
        ("abs()", "RT132", 1, "1 argument, 0 given"),
        ("if(f, x)", "RT132", 1, "3 arguments, 2 given"),
        ("i + 9223372036854775808", "RT134", 5, "beyond 64 bits"),
        ("x + 1e999", "RT134", 5, "float64"),
    ],
)
def test_what_has_no_type(text, code, column, words):
    tree, problems = tree_of(text)
    assert tree is None
    assert [(p.code, p.mark.column) for p in problems.found] == [(code, column)]
    assert words in f"{problems.found[0].message} {problems.found[0].hint}"


def test_two_mistakes_in_one_expression_are_two_problems():
    _, problems = tree_of("(x + f) * abs(s) + (x + y)")
    assert [p.mark.column for p in problems.found] == [4, 11]


def test_functions_of_declarations_are_closed_to_graph_files():
    tree, problems = tree_of("if(present(n), sin(x), log10(x))", internal=True)
    assert problems.found == []
    assert str(tree.type) == "number"
    assert str(tree_of("present(n)", internal=True)[0].type) == "boolean"


def test_a_place_is_that_of_the_file():
    scalar = ScalarNode("x + * y", SourceSpan("g.yaml", 3, 10, 7))
    with pytest.raises(GraphError) as caught:
        parse_expression(scalar.text, scalar.place)
    assert caught.value.problems[0].mark.column == 5


def test_no_text_makes_anything_but_a_term_or_a_graph_error():
    pieces = ["x", "1", "1.5", "$p", "+", "-", "*", "**", "%", "(", ")", ",", "<", "==", "and"]
    pieces += ["not", "if", "min", "`", "`a-b`", ".", "..", "true", " ", "\n", "é", "'", "=", "1e"]
    rng = random.Random(4)
    for _ in range(5_000):
        text = "".join(rng.choices(pieces, k=rng.randint(0, 12)))
        try:
            parse_expression(text, without_place)
        except GraphError as error:
            assert {p.code for p in error.problems} <= {"RT130", "RT135"}
