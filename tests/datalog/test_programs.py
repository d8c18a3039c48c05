"""Programs in every part of the language, with the rows that the oracle finds."""

import math
import string

import pytest

from rtbot.datalog.functors import FunctorError, compile_pattern
from rtbot.datalog.language import read_program
from rtbot.datalog.program import Aggregate, Call, Constant, FactFile
from tests.datalog_programs import AGGREGATES, EDGES, NUMBER_HEAD, NUMBERS, TEXT_HEAD, TEXTS
from tests.oracles.datalog import NoResultError, evaluate, output_rows


def find_rows(text, **inputs):
    """The rows of the relations that a program writes; of a single column, its values."""
    program = read_program(text, "p.dl")
    rows = output_rows(program, evaluate(program, inputs))
    return {
        name: {row[0] for row in found} if len(program.relations[name].columns) == 1 else found
        for name, found in rows.items()
    }


@pytest.mark.parametrize(("text", "expected"), NUMBERS)
def test_numbers(text, expected):
    assert find_rows(NUMBER_HEAD + text)["a"] == expected


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_texts(text, expected):
    assert find_rows(TEXT_HEAD + text)["a"] == expected


@pytest.mark.parametrize(("text", "expected"), AGGREGATES)
def test_aggregates(text, expected):
    assert find_rows(EDGES + NUMBER_HEAD + text)["a"] == expected


def test_witnesses_are_the_rows_that_have_the_value():
    scores = '.decl s(w: symbol, g: number, n: number)\ns("a",1,1). s("b",1,2). s("c",2,2).\n'
    best = ".decl best(w: symbol, n: number)\n.output best\nbest(w, n) :- n = max m : { s(w,_,m) }."
    assert find_rows(scores + best)["best"] == {("b", 2), ("c", 2)}
    value = "max m : { s(w,_,m) }"
    best = f".decl best(w: symbol, n: number)\n.output best\nbest(w, m) :- 0 < {value}."
    assert find_rows(scores + best)["best"] == {("b", 2), ("c", 2)}
    best = f".decl best(w: symbol, n: number)\n.output best\nbest(w, n) :- n = {value}."
    best = best.replace("n = max", "s(_, 1, _), n = max").replace("w,_,m", "w,1,m")
    assert find_rows(scores + best)["best"] == {("b", 2)}


CLASSES = {
    "digit": string.digits,
    "d": string.digits,
    "upper": string.ascii_uppercase,
    "lower": string.ascii_lowercase,
    "alpha": string.ascii_letters,
    "alnum": string.ascii_letters + string.digits,
    "w": string.ascii_letters + string.digits + "_",
    "xdigit": string.hexdigits,
    "blank": " \t",
    "space": string.whitespace,
    "s": string.whitespace,
    "punct": string.punctuation,
    "graph": string.ascii_letters + string.digits + string.punctuation,
    "print": string.ascii_letters + string.digits + string.punctuation + " ",
    "cntrl": "".join(map(chr, [*range(32), 127])),
}


@pytest.mark.parametrize("name", CLASSES)
def test_patterns_have_classes_of_characters(name):
    """A class is what it says for ASCII, alone, denied, and beside other characters."""
    inside = set(CLASSES[name])
    patterns = "[[:NAME:]]", "[^[:NAME:]]", "[][:NAME:]]", "[\\][:NAME:]a]"
    compiled = [compile_pattern(pattern.replace("NAME", name)) for pattern in patterns]
    for text in map(chr, range(128)):
        found = [each.fullmatch(text) is not None for each in compiled]
        is_inside = text in inside
        expected = [is_inside, not is_inside, is_inside or text == "]", is_inside or text in "]a"]
        assert found == expected, repr(text)


def test_classes_are_in_sets_only():
    assert compile_pattern("[:digit:]").fullmatch("g")
    assert compile_pattern(r"\[[:digit:]\]").fullmatch("[g]")
    with pytest.raises(FunctorError, match=r"no characters are named \[:digits:\]"):
        compile_pattern("[[:digits:]]")


def test_recursion():
    text = """
.decl up(x: symbol, y: symbol)
up("a","r"). up("b","r"). up("c","a"). up("d","b").
.decl sg(x: symbol, y: symbol) output
sg(x, y) :- up(x, p), up(y, p), x != y.
sg(x, y) :- up(x, p), sg(p, q), up(y, q).
.decl fib(i: number, n: number) .output fib
fib(0, 0), fib(1, 1).
fib(i + 1, a + b) :- fib(i, a), fib(i - 1, b), i < 10.
.decl ackermann(m: number, n: number, r: number)
ackermann(0, n, n + 1) :- n = range(0, 12).
ackermann(m, 0, r) :- m = range(1, 3), ackermann(m - 1, 1, r).
ackermann(m, n, r) :- m = range(1, 3), n = range(1, 4), ackermann(m, n - 1, k),
    ackermann(m - 1, k, r).
.decl ack(r: number) .output ack
ack(r) :- ackermann(2, _, r).
"""
    found = find_rows(text)
    assert found["sg"] == {("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")}
    assert (10, 55) in found["fib"]
    assert found["ack"] == {3, 5}


def test_unsigned_and_float():
    text = """
.decl w(a: float, b: unsigned) .output w
w(1, 2). w(1.5e3, 0xFF). w(to_float("2.5"), to_unsigned(7)). w(-0.0, 18446744073709551615).
w(x / 0.0, y band 3) :- w(x, y), x < 2.
.decl big(b: unsigned) .output big
big(b) :- w(_, b), b > 9223372036854775807.
"""
    found = find_rows(text)
    assert found["big"] == {2**64 - 1}
    given = {(1.0, 2), (1500.0, 255), (2.5, 7), (0.0, 2**64 - 1)}
    assert found["w"] - given == {(math.inf, 2), (math.nan, 3)}
    assert math.copysign(1, min(row[0] for row in found["w"])) == 1


@pytest.mark.parametrize(
    "text",
    [
        "a(x + 1) :- a(x).\na(9223372036854775807).",
        "a(1 / x) :- b(x).\n.decl b(x: number)\nb(0).",
        'a(to_number(x)) :- b(x).\n.decl b(x: symbol)\nb("one").',
        "a(1 bshl x) :- b(x).\n.decl b(x: number)\nb(64).",
    ],
)
def test_an_epoch_may_fail(text):
    with pytest.raises(NoResultError):
        find_rows(NUMBER_HEAD + text)


def test_a_limit_that_is_not_passed_changes_nothing():
    assert len(find_rows(NUMBER_HEAD + "a(range(0, 20)).\n.limitsize a(n=20)")["a"]) == 20


def test_a_mark_of_the_order_of_bytes_is_no_part_of_a_program():
    assert find_rows("\ufeff" + NUMBER_HEAD + "a(1).")["a"] == {1}


# ---- what the checked program has


def test_constants_are_computed():
    program = read_program(NUMBER_HEAD + "a(x) :- x = 2 * 3 + y, y = 1 + 1.", "p.dl")
    left, right = program.rules[0].body
    assert isinstance(left.right, Call)
    assert left.right.arguments[0] == Constant(6, "number")
    assert right.right == Constant(2, "number")


def test_an_aggregate_has_its_outer_variables():
    text = EDGES + NUMBER_HEAD + "a(n) :- e(x,y), n = count : { e(x,z), e(z,y), e(_,w), w > z }."
    rule = read_program(text, "p.dl").rules[0]
    (aggregate,) = [each for each in rule.body if isinstance(each, Aggregate)]
    assert [rule.variables[each.index].name for each in aggregate.outer] == ["x", "y"]
    assert rule.text == text.rpartition("\n")[2]
    assert (rule.span.line, rule.span.column) == (5, 1)


def test_strata_follow_what_they_read():
    text = "a(x) :- b(x), !c(x). b(x) :- d(x). d(x) :- b(x). c(x) :- d(x), x > 1. b(1)."
    program = read_program(text, "p.dl", inputs={})
    assert program.strata == (("b", "d"), ("c",), ("a",))


def test_directives():
    text = """
.decl p, q(x: number)
.input p
.input q(IO=file, filename="q.csv", delimiter=",", headers=true, columns="1")
.output p(IO=stdout)
.output p(filename="out.csv.gz", compress=true, rfc4180=true)
.output q(IO=stdoutprintsize)
.output q(delimiter=";", rfc4180=true)
.limitsize q(n=5)
"""
    program = read_program(text, "p.dl")
    p, q = program.relations["p"], program.relations["q"]
    assert p.reads == (FactFile(),)
    assert q.reads == (FactFile("file", "q.csv", ",", headers=True, columns=(1,)),)
    assert p.writes == (
        FactFile("stdout"),
        FactFile(filename="out.csv.gz", delimiter=",", compress=True, rfc4180=True),
    )
    assert q.writes == (FactFile(delimiter=";", rfc4180=True),)
    assert (p.is_input, p.is_output, p.prints_size, p.limit) == (True, True, False, None)
    assert (q.is_input, q.is_output, q.prints_size, q.limit) == (True, True, True, 5)


def test_in_a_graph_nothing_needs_a_declaration():
    text = """
path(x, y) :- edge(x, y, _).
path(x, z) :- path(x, y), edge(y, z, _).
far(x, x, 0.5, c3, n) :- c3 = 1, path(x, _), n = count : { path(x, _) }.
"""
    inputs = {"edge": [("from", "symbol"), ("to", "symbol"), ("cost", "unsigned")]}
    program = read_program(text, "p.dl", inputs=inputs)
    shown = {
        name: [(column.name, column.type) for column in each.columns]
        for name, each in program.relations.items()
    }
    assert shown == inputs | {
        "path": [("x", "symbol"), ("y", "symbol")],
        "far": [
            ("c1", "symbol"),
            ("c2", "symbol"),
            ("c3_", "float"),
            ("c3", "number"),
            ("n", "number"),
        ],
    }
    assert [n for n, each in program.relations.items() if each.is_output] == ["path", "far"]
    assert program.relations["edge"].is_input
    chosen = read_program(text + ".output far", "p.dl", inputs=inputs)
    assert [n for n, each in chosen.relations.items() if each.is_output] == ["far"]


def test_warnings():
    text = """
.decl a(x: number, y: number)
.decl b(x: number)
.decl c(x: number) .output c
c(x) :- a(x, y), x = z, z > 0, 1 = count : { a(x, w) }, a(_, _unused).
b(2).
"""
    found = [f"{p.mark.line}:{p.mark.column} {p.code}" for p in read_program(text, "p.dl").warnings]
    assert found == ["2:7 RT194", "3:7 RT193", "5:14 RT195", "5:51 RT195"]
    text = EDGES + NUMBER_HEAD + "a(s) :- e(k, 2), s = sum y * k : { e(k, y) }."
    (warning,) = read_program(text, "p.dl").warnings
    assert str(warning).startswith("p.dl:5:30: warning[RT196]: k in this sum is another variable")


def test_a_constant_that_is_no_pattern_is_a_warning_and_holds_nowhere():
    """Each is told once, also if its rule has several alternatives."""
    text = (
        '.decl s(x: symbol)\ns("a").\ns("a{x}").\n.decl r(x: symbol)\n.output r\n'
        'r(x) :- (s(x) ; s(x), x = "a"), match(cat("(", "a"), x), x != "b".\n'
        'r(x) :- s(x), !match("a{99999999999}", x) ; s(x), match("[[a]", x).\n'
        'r(x) :- s(x), (match("a{x}", x) ; !match("{", x) ; match("a{1,}", x)).\n'
    )
    warnings = read_program(text, "p.dl").warnings
    found = [f"{each.mark.line}:{each.mark.column} {each.code}" for each in warnings]
    assert found == [f"{place} RT197" for place in ("6:33", "7:16", "8:16", "8:36")]
    assert find_rows(text)["r"] == {"a"}
    for pattern in ("a{2}", "a{2,}", "a{,2}", "a{1,2}", "[{]", r"\{", "}"):
        assert compile_pattern(pattern)
    for pattern in ("{", "a{", "a{}", "a{,}", "a{1", "a{x}", "(?:a){ 1}"):
        with pytest.raises(FunctorError, match="begins no repetition"):
            compile_pattern(pattern)
