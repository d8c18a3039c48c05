"""The samples in the documentation, and how they run.

A fenced block is a sample by its language. `python` runs (with `>>>` as a doctest), in one
namespace for a page; `yaml` loads as a graph; `console` shows `rtbot` commands and what they print
(stdout, then stderr), in which `...` stands for any text and, alone on a line, for any lines. A
name after the language, as in `yaml mean.yaml`, makes the block a file for the commands that
follow; after `text`, or if it is one of `graphs`, the block is a part of that file. The samples of
a page run in order, in one folder, which begins as a copy of `graphs` and an empty `out`.
"""

import contextlib
import doctest
import io
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import rtbot
import rtbot.operators
from rtbot.cli.main import run
from rtbot.operator import REGISTRY

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
ON_SPARK = DOCS / "spark.md"
"""The page whose samples need Spark: `spark/test_examples.py` runs it."""

FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"[\w-]+\.svg")


class DocBlock(NamedTuple):
    page: str
    line: int
    language: str
    file: str | None
    text: str


def written_pages() -> list[Path]:
    """Pages with samples: not decision records, which quote the code of their time, nor pages that
    are made of texts which the tests of operators, of error codes and of mistakes run.
    """
    pages = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    apart = [DOCS / name for name in ("decisions", "operators", "errors.md", "mistakes.md")]
    return [page for page in pages if not any(page.is_relative_to(path) for path in apart)]


def find_blocks(page: Path) -> list[DocBlock]:
    name, text = str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")
    return [
        DocBlock(name, text.count("\n", 0, match.start()) + 2, *match.groups())
        for match in FENCE.finditer(text)
    ]


def commands(block: DocBlock) -> list[tuple[str, str]]:
    """Pairs of a command line and what it shows."""
    found = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = re.sub(r" \\\n +", " ", part).partition("\n")
        found.append((command, shown))
    return found


def pictures_made(page: Path) -> set[str]:
    """The names of the pictures that samples of a page make."""
    makers = (block for block in find_blocks(page) if block.language in {"console", "python"})
    return {name for block in makers for name in PICTURE.findall(block.text)}


@contextlib.contextmanager
def enter_folder(folder: Path) -> Iterator[None]:
    """Be in a folder with the graphs, where nothing is compiled: the bits are the same, at once.

    Operators of plugins are forgotten afterwards.
    """
    shutil.copytree(ROOT / "graphs", folder / "graphs")
    (folder / "out").mkdir()
    before = dict(REGISTRY)
    settings = {"COLUMNS": "100", "RTBOT_INTERPRET": "1"}
    try:
        with contextlib.chdir(folder), mock.patch.dict("os.environ", settings):
            yield
    finally:
        REGISTRY.clear()
        REGISTRY.update(before)


def run_page(page: Path) -> Iterator[tuple[DocBlock, str, str, str]]:
    """Run the samples; yields every command with its block, what the page shows and what it shows.

    A sample in Python, in YAML or of a file that is not as it should be fails here.
    """
    namespace = {"__name__": "__main__"}
    for block in find_blocks(page):
        if block.file and (block.language == "text" or block.file.startswith("graphs/")):
            assert block.text in Path(block.file).read_text(encoding="utf-8"), block
        elif block.file is not None:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            run_python(block, namespace)
        elif block.language == "yaml":
            rtbot.load(block.text)
        elif block.language == "console":
            for line, expected in commands(block):
                yield block, line, expected, run_line(line)


def run_python(block: DocBlock, namespace: dict[str, object]) -> None:
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


def run_line(line: str) -> str:
    """What a line prints: commands of ours, joined by pipes; at the ends a file may stand."""
    stages = [[]]
    for word in shlex.split(line):
        if word == "|":
            stages.append([])
        else:
            stages[-1].append(word)
    source = take_word(stages[0], "<")
    target = take_word(stages[-1], ">")
    data = Path(source).read_bytes() if source else b""
    told = io.StringIO()
    for program, *arguments in stages:
        assert program == "rtbot", f"a console block has commands of ours, not {program!r}"
        data = run_command(arguments, data, told)
    if target:
        Path(target).write_bytes(data)
        data = b""
    # What is compiled, and says so, depends on what ran before.
    return data.decode() + re.sub(r"rtbot: compiling .*\n", "", told.getvalue())


def take_word(words: list[str], sign: str) -> str | None:
    """Take the sign and the name of the file after it away."""
    if sign not in words:
        return None
    place = words.index(sign)
    _, name = words[place : place + 2]
    del words[place : place + 2]
    return name


def run_command(arguments: list[str], data: bytes, told: io.StringIO) -> bytes:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    stdin = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
    with (
        mock.patch.object(sys, "stdin", stdin),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(told),
    ):
        run(arguments)
        out.flush()
    return out.buffer.getvalue()


def matches(expected: str, shown: str) -> bool:
    """Whether a page shows what is shown, in the language of dots.

    A column is as wide as what is in it: where dots stand for a part of a line, gaps of two and
    more spaces stand for gaps of any such width.
    """
    lines = [line.rstrip() for line in expected.splitlines()]
    any_gap = any("..." in line and line.strip() != "..." for line in lines)
    pattern = ""
    for line in lines:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*"
        else:
            part = ".*".join(re.escape(part) for part in line.split("..."))
            pattern += (re.sub(r"(?:\\ ){2,}", " {2,}", part) if any_gap else part) + r"\n"
    told = "".join(f"{line.rstrip()}\n" for line in shown.splitlines())
    return re.fullmatch(pattern, told) is not None
