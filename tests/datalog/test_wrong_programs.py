"""Wrong programs are refused with every mistake, its place, its code and what to do."""

import re
import tomllib
from pathlib import Path

import pytest

import rtbot
from rtbot.core.error_codes import CODES
from rtbot.datalog.language import read_program

CASES = tomllib.loads((Path(__file__).parent / "wrong_programs.toml").read_text(encoding="utf-8"))[
    "case"
]
AROUND = """\
.decl n(x: number)
.decl e(x: number, y: number)
.decl s(x: symbol)
.decl o(x: number)
"""


def list_told(text, **options):
    """What is told of a program, a line for each problem."""
    with pytest.raises(rtbot.GraphError) as found:
        read_program(text, "p.dl", **options)
    problems = found.value.problems
    assert {problem.mark.file for problem in problems} == {"p.dl"}
    for problem in problems:
        assert problem.source == text.split("\n")[problem.mark.line - 1]
    return [
        f"{p.mark.line}:{p.mark.column} {p.code} {p.message}" + (f" | {p.hint}" if p.hint else "")
        for p in problems
    ]


@pytest.mark.parametrize("case", CASES, ids=[case["mistake"] for case in CASES])
def test_a_mistake_is_told(case):
    assert list_told(f"{AROUND}{case['program']}\n") == case["told"]


def test_a_variable_may_be_called_like_one_that_the_compiler_makes():
    told = list_told(AROUND + "o(s) :- e(x, _), s = sum _1 + _w : { e(x, y) }, _2 = _3.")
    assert [line.partition(" |")[0] for line in told] == [
        f"5:{column} RT508 the variable {name} gets no value"
        for column, name in ((26, "_1"), (31, "_w"), (49, "_2"), (54, "_3"))
    ]


def test_every_code_of_programs_has_a_mistake():
    found = {
        code for case in CASES for told in case["told"] for code in re.findall(r"RT5\d\d", told)
    }
    programs = {code for code in CODES if "RT500" < code < "RT530"}
    assert programs - found == {"RT513", "RT514", "RT520", "RT521"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n(" + "(" * 100 + "1" + ")" * 100 + ").", "brackets more than 60 deep"),
        ("o(x) :- " + "!" * 100 + "n(x).", "brackets more than 60 deep"),
        ("n(1" + " + 1" * 200 + ").", "a clause with more than 150 operations"),
        ("n(1) :- " + ", ".join(["n(1)"] * 1100) + ".", "a body of more than 1,000 parts"),
        ("n(1) :- " + ", ".join(["(n(1); n(2))"] * 12) + ".", "a rule of more than 1,000 altern"),
        ("n(1) :- " + ", ".join(["1 = range(0, 2)"] * 21) + ".", "a rule with more than 20 ranges"),
        ("n(range(0, 1000000000)).", "a range of more than 1,000,000 numbers"),
    ],
)
def test_what_is_too_large_is_refused(text, message):
    (told,) = list_told(AROUND + text)
    assert f" RT513 {message}" in told


def test_after_very_many_mistakes_the_rest_is_not_looked_at():
    assert len(list_told("\n".join(["n(x)."] * 3000))) == 1000


def test_places_may_be_those_of_another_file():
    def place(offset, length):
        return rtbot.core.source_span.SourceSpan("graph.yaml", 7, offset + 1, length)

    with pytest.raises(rtbot.GraphError) as found:
        read_program("o(x) :- n(x).", "p.dl", place=place)
    places = [str(problem).partition(" ")[0] for problem in found.value.problems]
    assert places == ["graph.yaml:7:1:", "graph.yaml:7:9:"]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (
            "path(x, y) :- edge(x).",
            ["1:9 RT508", "1:15 RT505 edge has 2 columns, not 1 | it is edge(src, dst)"],
        ),
        (
            ".decl edge(x: number, y: number)\np(x) :- edge(x, _).",
            ["1:7 RT506 edge is declared with (number, number), but fed with (symbol, symbol)"],
        ),
        (
            "p(x, 1) :- edge(x, _).\np(1, x) :- edge(x, _).",
            ["2:3 RT506 1 is numeric, not symbol (the column src of edge)", "2:6 RT506"],
        ),
        (
            "p(x) :- egde(x, _). q(x) :- p(x), !zebra(x).",
            [
                "1:9 RT503 the relation egde is not defined | did you mean 'edge'?",
                "1:36 RT503 the relation zebra is not defined | nothing feeds it",
            ],
        ),
        ("p(x) :- edge(x, _).\np(x, y) :- edge(x, y).", ["2:1 RT505 p has 1 column, not 2"]),
    ],
)  # fmt: skip
def test_a_mistake_in_a_graph(program, told):
    inputs = {"edge": [("src", "symbol"), ("dst", "symbol")]}
    found = list_told(program, inputs=inputs)
    assert len(found) == len(told)
    for one, other in zip(found, told, strict=True):
        assert one.startswith(other)
