"""Every example of the page of the language holds what the page says, or is refused."""

import ast
import re
from pathlib import Path

import pytest

import rtbot
from rtbot.datalog.language import read_program
from tests.oracles.datalog import evaluate

PAGE = (Path(__file__).parents[2] / "docs" / "datalog-language.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```dl.*?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
START = BLOCKS[1]
WORKS = ("Facts and rules", "Operations and functors", "Aggregates")


def read_table(*titles):
    """The cells of the tables of sections, below their heads."""
    for title in titles:
        section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
        for line in re.findall(r"^\| (`.*) \|$", section, re.MULTILINE):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
            yield [cell.strip("`").replace("\\|", "|") for cell in cells]


@pytest.mark.parametrize(("text", "holds"), [cells[:2] for cells in read_table(*WORKS)])
def test_an_example_holds_what_the_page_says(text, holds):
    rows = evaluate(read_program(f"{START}{text}\n"))
    expected = ast.literal_eval(f"[{holds}]")
    assert {row[0] for row in rows["a"] | rows["s"]} == set(expected)
    assert len(expected) == len(set(expected))


@pytest.mark.parametrize("text", [cells[0] for cells in read_table("What is refused")])
def test_what_is_refused_is_refused_by_its_name(text):
    with pytest.raises(rtbot.GraphError) as found:
        read_program(f"{START}{text}\n")
    assert [problem.code for problem in found.value.problems] == ["RT502"]


@pytest.mark.parametrize("text", BLOCKS)
def test_a_program_of_the_page_is_read(text):
    read_program(text)


@pytest.mark.parametrize("text", [cells[0] for cells in read_table("Declarations and directives")])
def test_a_declaration_of_the_page_is_read(text):
    around = (
        ".decl edge(x: number, y: number)\n.decl reach(x: number)\n"
        ".type Person <: symbol\n.type Company <: symbol\nreach(x) :- edge(x, _).\n"
    )
    for written in re.split("` and `|`, `", text.partition("` behind")[0]):
        if written.startswith("."):
            program = around.replace(
                ".type Person <: symbol\n", "", written.startswith(".type Person")
            )
            declared = written.startswith(".decl edge")
            read_program(f"{written}\n" if declared else f"{program}{written}\n")
        else:
            read_program(f".decl p(x: number) {written}\n")
