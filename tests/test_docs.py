"""Every sample in the documentation runs and shows what it says.

A fenced block is tested by its language: `python` blocks of a page run in order in one namespace
(with `>>>` as doctests), a `yaml` block loads as a graph, a `console` block shows `rtbot` commands
with their output (stdout, then stderr), in which `...` stands for any text and, alone on a line,
for any lines. Everything runs in a copy of the folder `graphs`.
"""

import doctest
import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

import rtbot
from rtbot.cli import main

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^```(python|yaml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    page: str
    line: int
    language: str
    text: str


def blocks() -> list[Block]:
    """All tested blocks; decision records are left out, they quote the code of their time."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = []
    for page in pages:
        name = str(page.relative_to(ROOT))
        text = page.read_text(encoding="utf-8")
        found += [
            Block(name, text.count("\n", 0, match.start()) + 2, *match.groups())
            for match in FENCE.finditer(text)
            if not name.startswith("docs/decisions")
        ]
    return found


BLOCKS = blocks()


def of_language(language: str) -> list[pytest.param]:
    chosen = [block for block in BLOCKS if block.language == language]
    return [pytest.param(block, id=f"{block.page}:{block.line}") for block in chosen]


@pytest.fixture(autouse=True)
def in_a_copy_of_the_graphs(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "graphs", tmp_path / "graphs")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", sorted({b.page for b in BLOCKS if b.language == "python"}))
def test_python_samples_run(page):
    namespace = {"__name__": "__main__"}
    for block in BLOCKS:
        if block.page == page and block.language == "python":
            run_python(block, namespace)


def run_python(block: Block, namespace: dict[str, object]) -> None:
    if ">>>" not in block.text:
        placed = "\n" * (block.line - 1) + block.text  # a step's source is found by its line
        exec(compile(placed, str(ROOT / block.page), "exec"), namespace)  # noqa: S102
        return
    parser = doctest.DocTestParser()
    test = parser.get_doctest(block.text, namespace, block.page, block.page, block.line - 1)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    runner.run(test, out=report.append, clear_globs=False)
    namespace.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


@pytest.mark.parametrize("block", of_language("yaml"))
def test_yaml_samples_load(block):
    rtbot.load(block.text)


@pytest.mark.parametrize("block", of_language("console"))
def test_console_samples_show_what_they_say(block, capsys):
    for command, expected in commands(block.text):
        with pytest.raises(SystemExit):
            main(shlex.split(command))
        shown = "".join(capsys.readouterr())
        assert matches(expected, shown), f"{block.page}:{block.line}: $ {command}\n{shown}"


def commands(text: str) -> list[tuple[str, str]]:
    """Pairs of a command and what it shows."""
    assert text.startswith("$ rtbot "), "a console block begins with a command of ours"
    found = []
    for part in re.split(r"^\$ rtbot ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        found.append((command, expected))
    return found


def matches(expected: str, shown: str) -> bool:
    pattern = ""
    for line in expected.splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*"
        else:
            pattern += ".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"\n"
    lines = "".join(f"{line.rstrip()}\n" for line in shown.splitlines())
    return re.fullmatch(pattern, lines) is not None


@pytest.mark.parametrize(
    ("expected", "shown", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n...\n", "a\nb\nc\n", True),
        ("...\nc\n", "a\nb\nc\n", True),
        ("a...z\n", "a to z\n", True),
        ("a...z\n", "a\nz\n", False),
        ("1.5\n", "1x5\n", False),
    ],
)
def test_dots_stand_for_any_text(expected, shown, same):
    assert matches(expected, shown) is same


def test_there_are_samples_of_every_language():
    assert {block.language for block in BLOCKS} == {"python", "yaml", "console"}
