"""Mistakes that a new user makes, made on purpose, and their messages; the page is made here.

`graphs.toml`, `files.toml` and `python.toml` define how a mistake is made (see their heads).
"""

import contextlib
import io
import re
import shlex
import shutil
import tempfile
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

import rtbot
from rtbot.cli.main import run

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "mistakes.md"
SECTIONS = {
    "graphs": "In a graph file",
    "files": "At the command line, and in data",
    "python": "In Python",
}
AROUND = """inputs: {{price: number, volume: number}}
operators:
  {}
  last: ma * volume
outputs: [last]
"""
PLAIN = """inputs: {price: number}
operators:
  ma: {type: MovingAverage, in: price, window: 2}
outputs: [ma]
"""
HEAD = """# Mistakes

What a new user gets wrong, and what rtbot reports: first the message, then its hint. The tests run
every row, so the texts are those of this version.
"""
SKIPPED = re.compile(r"Usage: |Try '|\s*$")
SOURCE = re.compile(r" *\d* \| ")


def cases(section):
    text = (Path(__file__).parent / f"{section}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["case"]


@contextlib.contextmanager
def folder(case):
    """Stand in a folder with our graphs, their data and the files of the case."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        for path in (*(ROOT / "graphs").glob("*.yaml"), *(ROOT / "graphs" / "data").glob("*.csv")):
            shutil.copy(path, name)
        graph = AROUND.format(case["operator"]) if "operator" in case else case.get("graph", PLAIN)
        files = {"graph.yaml": graph} | case.get("files", {})
        for file, text in files.items():
            Path(file).write_text(text, encoding="utf-8")
        exec(case.get("before", ""), {})  # noqa: S102 (our own)
        yield


def command(case):
    return case.get("command", "rtbot validate graph.yaml")


def told(case):
    """Make the mistake; returns the exit code, or the name of the exception, and the message."""
    with folder(case):
        return _called(case["python"]) if "python" in case else _run(command(case))


def _run(line):
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    program, *arguments = shlex.split(line)
    assert program == "rtbot"
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    return code, err.getvalue()


def _called(text):
    graph = rtbot.load("graph.yaml")
    frame = pd.DataFrame({"t": [1, 2, 3], "price": [10.0, 11.0, 12.0]})
    names = {"rtbot": rtbot, "ops": rtbot.ops, "pd": pd, "np": np, "pl": pl}
    names |= {"graph": graph, "session": graph.start(), "frame": frame}
    try:
        exec(text, names)  # noqa: S102 (our own)
    except Exception as error:  # noqa: BLE001 (whatever it is, it is what the user sees)
        return type(error).__name__, f"{type(error).__name__}: {error}"
    return 0, ""


def first_message(text):
    """The first line of a message, and its hint."""
    lines = [line for line in text.split("\n") if not SKIPPED.match(line)]
    if len(lines) > 2 and SOURCE.match(lines[1]):
        return lines[0], lines[2].partition("^")[2].lstrip("^").strip()
    follows = len(lines) > 1 and lines[1].startswith("     ")
    return lines[0] if lines else "", lines[1].strip() if follows else ""


def written(case, text):
    """What the user wrote: the call, the command, or the line that the message shows."""
    if "python" in case:
        return case["python"].strip().replace("\n", "; ")
    shown = next((line for line in text.split("\n") if SOURCE.match(line)), "")
    if "command" in case or not shown:
        return case.get("operator") or command(case)
    return SOURCE.sub("", shown, count=1).strip()


def row(case):
    _, text = told(case)
    first, hint = first_message(text)
    shown = ["accepted"] if case.get("accepted") else [_code(first), _code(hint)]
    cells = [case["mistake"], _code(written(case, text)), "<br>".join(filter(None, shown))]
    return "| " + " | ".join(cells).replace("\n", " ") + " |"


def _code(text):
    return f"`` {text} ``".replace("|", "\\|") if text else ""


def page():
    parts = [HEAD]
    for section, title in SECTIONS.items():
        rows = [row(case) for case in cases(section)]
        head = ["| mistake | written | message |", "|---|---|---|"]
        parts.append("\n".join([f"## {title}", "", *head, *rows]) + "\n")
    return "\n".join(parts)
