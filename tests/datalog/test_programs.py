"""Programs in every part of the language, with the rows that the oracle finds."""

import math

import pytest

from rtbot.datalog.language import read_program
from rtbot.datalog.program import Aggregate, Call, Constant, FactFile
from tests.oracles.datalog import NoResultError, evaluate, output_rows


def find_rows(text, **inputs):
    """The rows of the relations that a program writes; of a single column, its values."""
    program = read_program(text, "p.dl")
    rows = output_rows(program, evaluate(program, inputs))
    return {
        name: {row[0] for row in found} if len(program.relations[name].columns) == 1 else found
        for name, found in rows.items()
    }


EDGES = ".decl e(x: number, y: number)\ne(1,2). e(1,3). e(2,3). e(3,3).\n"
NUMBERS = ".decl a(x: number)\n.output a\n"
TEXTS = ".decl a(x: symbol)\n.output a\n"
NUMBER_TYPES = """
.type A = number
.type B <: A
.number_type C
.decl b(x: B)
b(3).
.decl c(x: C)
c(x + 1) :- b(x).
c(as(x, C)) :- b(x).
a(x) :- c(x).
"""
SYMBOL_TYPES = """
.type A <: symbol
.type B <: symbol
.type U = A | B
.symbol_type C
.type D
.decl p(x: A)
.decl q(x: U)
p("p").
q(x) :- p(x).
p(x) :- q(x), p(x).
a(x) :- q(x), p(x).
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a(range(0,5)).", {0, 1, 2, 3, 4}),
        ("a(x) :- x = range(5,0,-2).", {5, 3, 1}),
        ("a(x) :- x = range(9,6).", {9, 8, 7}),
        ("a(x) :- x = range(1,1).", set()),
        ("a(x) :- x = range(1,2,0).", {1}),
        ("a(x) :- x = range(2,1,0).", set()),
        ("a(x + y) :- x = range(0,2), y = range(0,x).", {1}),
        ("a(y) :- y = range(0, x), x = range(0, z, 2), z = 1 + 4.", {0, 1, 2, 3}),
        ("a(x) :- s = range(-1, 2), x = range(0, 3 * s, s).", {0, -1, -2, 1, 2}),
        ("a(n) :- n = count : { _ = range(0,10) }.", {10}),
        ("a(n) :- m = 4, n = sum y : { y = range(0, m) }.", {6}),
        ("a(x) :- (x = 1; x = 2; x = 3), !(x = 2 ; x = 5), x != 7, true.", {1, 3}),
        ("a(x) :- x = 10, false.", set()),
        ("a(x) :- x = 20, !false, !(true, x = 21).", {20}),
        ("a(x) :- x = 1 ; x = 2, x > 1 ; 3 = x.", {1, 2, 3}),
        ("a(1), a(2) :- true.", {1, 2}),
        ("a(1 + 2 * 3 ^ 2 - -4 ** 1).", {23}),
        ("a(0x1F + 0b11 + 10 bshl 2 band 0xff).", {176}),
        ("a(-2^2). a(2^3^0). a(-7/2). a(-7%4). a(7%-4).", {-4, 2, -3, 3}),
        ("a(bnot 0). a(lnot 3 lor 4 land 0). a(7 bxor 2 lxor 0).", {-1, 0, 1}),
        ("a(6 & 3). a(4 | 1). a(-1 bshru 60). a(1 bshl 63). a(-8 bshr 1).",
         {2, 5, 15, -(2**63), -4}),
        ("a(9223372036854775807). a(-9223372036854775808).", {2**63 - 1, -(2**63)}),
        ("a(127.0.0.1).", {2130706433}),
        ('a(strlen("a\\"b\\\\\\n")). a(to_number("-0x1f")). a(ftoi(-2.7)).', {5, -31, -2}),
        ("a(max(1,-1,7)). a(min(4, 3)). a(utoi(9u)).", {7, 3, 9}),
        ("a(min(max(1, 2), 3)).", {2}),
        (NUMBER_TYPES, {3, 4}),
        (".decl n()\n.decl m()\nn(). m() :- n(), !k(). .decl k()\na(30) :- m().", {30}),
        ("/* a(1). */ a(2). // a(3).", {2}),
        ('a(?x) :- ?x = 4. .plan 0:(1)\n.pragma "magic-transform" "*"\na(5).', {4, 5}),
        (".decl b, c(x: number) brie\nb(1). c(2). a(x) :- b(x) ; c(x).", {1, 2}),
        (".decl d(x: number) inline\nd(1). a(x):-d(x),x>-1,x<=1.", {1}),
    ],
)  # fmt: skip
def test_numbers(text, expected):
    assert find_rows(NUMBERS + text)["a"] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a("a" + "b"). a(cat("x","y","z")).', {"ab", "xyz"}),
        ('a(substr("hello",1,3)). a(substr("hello",9,3)). a(substr("hello",3,-1)).',
         {"ell", "", "lo"}),
        ("a(to_string(-12)). a(to_string(1.5)). a(to_string(3u)).", {"-12", "1.5", "3"}),
        ('a(min("b","a","c")). a(max("b","a","c")).', {"a", "c"}),
        ('a(x) :- (x = "abc"; x = "b"), match("a.*", x).', {"abc"}),
        ('a(x) :- (x = "abc"; x = "b"), !match("a.*", x), contains("b", x).', {"b"}),
        ('a(x) :- (x = "Z"; x = "a"; x = "\u00e9"), x < "b".', {"Z", "a"}),
        ('a("tab\\there").', {"tab\there"}),
        (SYMBOL_TYPES, {"p"}),
    ],
)  # fmt: skip
def test_texts(text, expected):
    assert find_rows(TEXTS + text)["a"] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a(n) :- n = count : { e(_,_) }.", {4}),
        ("a(n) :- n = count : e(1,_).", {2}),
        ("a(n) :- e(x,_), n = count : { e(x,_) }.", {2, 1}),
        ("a(n) :- n = count : { e(9,_) }.", {0}),
        ("a(n) :- n = max y : { e(9,y) }.", set()),
        ("a(n) :- n = sum y : { e(9,y) }.", {0}),
        ("a(n) :- n = sum(y * 2) : { e(_,y) } + max(z) : { e(_,z) }.", {25}),
        ("a(max(count : { e(1,_) }, min y : { e(_,y) }, 0)).", {2}),
        ("a(x) :- e(_,x), 0 = count : { e(x,y), y != x }.", {3}),
        ("a(x) :- e(x,_), count : { e(x,_) } = 2.", {1}),
        ("a(n) :- e(x,_), n = sum y : { e(x,_), y = count : { e(_,z), e(x,z) } }.", {8, 3}),
        ("a(s) :- e(x,_), s = sum z + w : { e(x,z), e(z,w) }.", {11, 6}),
        ("a(n) :- n = count : { e(x,y), x < y }, x = 1, y = 2.", {1}),
        ("a(x) :- m = max y : { e(x,y), y > x }, m = 3.", {1, 2}),
        ("a(x) :- 3 = max y : { e(x,y) }.", {1, 2, 3}),
        ("a(n) :- e(x,_), n = max n : { e(x,n) }.", {3}),
        ("a(n) :- e(n,_), n = max n : { e(_,n) }.", {3}),
        ("a(s) :- e(k,2), s = sum y * k : { e(k,y) }.", {20}),
        ("a(s) :- e(k,2), s = sum y * j : { e(j,y), j = k }.", {5}),
        ("a(s) :- k = 3, s = sum y * k : { e(2,y) }.", {9}),
        ("a(x + 10 * m) :- m = min x : { e(x,_) }, e(x,3), x > 1.", {12, 13}),
        ("a(n) :- n = sum 1 : { e(x,_), e(_,y), x = x, y = y }.", {16}),
        ("a(n) :- n = sum x : { e(x,_), !e(x,x) }.", {4}),
        ("a(to_number(m)) :- m = mean y : { e(_,y) }.", {2}),
        ("a(to_number(4.0 * mean y : { e(_,y) })).", {11}),
        ("a(x + y) :- x = count : { e(n,_), n = 1 }, y = count : { e(n,_), n = 2 }.", {3}),
    ],
)
def test_aggregates(text, expected):
    assert find_rows(EDGES + NUMBERS + text)["a"] == expected


def test_witnesses_are_the_rows_that_have_the_value():
    scores = '.decl s(w: symbol, g: number, n: number)\ns("a",1,1). s("b",1,2). s("c",2,2).\n'
    best = ".decl best(w: symbol, n: number)\n.output best\nbest(w, n) :- n = max m : { s(w,_,m) }."
    assert find_rows(scores + best)["best"] == {("b", 2), ("c", 2)}
    best = best.replace("n = max", "s(_, 1, _), n = max").replace("w,_,m", "w,1,m")
    assert find_rows(scores + best)["best"] == {("b", 2)}


def test_recursion():
    text = """
.decl up(x: symbol, y: symbol)
up("a","r"). up("b","r"). up("c","a"). up("d","b").
.decl sg(x: symbol, y: symbol) .output sg
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
        "a(range(0, 20)).\n.limitsize a(n=19)",
    ],
)
def test_an_epoch_may_fail(text):
    with pytest.raises(NoResultError):
        find_rows(NUMBERS + text)


def test_a_limit_that_is_not_passed_changes_nothing():
    assert len(find_rows(NUMBERS + "a(range(0, 20)).\n.limitsize a(n=20)")["a"]) == 20


# ---- what the checked program has


def test_constants_are_computed():
    program = read_program(NUMBERS + "a(x) :- x = 2 * 3 + y, y = 1 + 1.", "p.dl")
    left, right = program.rules[0].body
    assert isinstance(left.right, Call)
    assert left.right.arguments[0] == Constant(6, "number")
    assert right.right == Constant(2, "number")


def test_an_aggregate_has_its_outer_variables():
    text = EDGES + NUMBERS + "a(n) :- e(x,y), n = count : { e(x,z), e(z,y), e(_,w), w > z }."
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
.printsize q
.limitsize q(n=5)
"""
    program = read_program(text, "p.dl")
    p, q = program.relations["p"], program.relations["q"]
    assert p.reads == (FactFile(),)
    assert q.reads == (FactFile("file", "q.csv", ",", headers=True, columns=(1,)),)
    assert p.writes == (
        FactFile("stdout"),
        FactFile(filename="out.csv.gz", compress=True, rfc4180=True),
    )
    assert (p.is_input, p.is_output, p.prints_size, p.limit) == (True, True, False, None)
    assert (q.is_input, q.is_output, q.prints_size, q.limit) == (True, False, True, 5)


def test_in_a_graph_nothing_needs_a_declaration():
    text = """
path(x, y) :- edge(x, y, _).
path(x, z) :- path(x, y), edge(y, z, _).
far(x, n, 0.5) :- path(x, _), n = count : { path(x, _) }.
"""
    inputs = {"edge": [("from", "symbol"), ("to", "symbol"), ("cost", "unsigned")]}
    program = read_program(text, "p.dl", inputs=inputs)
    shown = {
        name: [(column.name, column.type) for column in each.columns]
        for name, each in program.relations.items()
    }
    assert shown == inputs | {
        "path": [("x", "symbol"), ("y", "symbol")],
        "far": [("x", "symbol"), ("n", "number"), ("c3", "float")],
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
    text = EDGES + NUMBERS + "a(s) :- e(k, 2), s = sum y * k : { e(k, y) }."
    (warning,) = read_program(text, "p.dl").warnings
    assert str(warning).startswith("p.dl:5:30: warning[RT196]: k in this sum is another variable")
