"""Where in a user's Python file something was written."""

from __future__ import annotations

import ast
import linecache
import sys
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from rtbot.core.errors import GraphError
from rtbot.core.source_span import SourceSpan
from rtbot.graph.document import Document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.core.errors import Problem

_OURS = str(Path(__file__).parent.parent)


@dataclass(frozen=True)
class CallSite:
    """An expression of a Python file; of a call, also its arguments.

    `values` and `keys` are the places of what is given, by keyword or by position ("0", "1", ...).
    """

    mark: SourceSpan
    values: Mapping[str, SourceSpan] = field(default_factory=dict)
    keys: Mapping[str, SourceSpan] = field(default_factory=dict)

    def value(self, name: str) -> SourceSpan:
        """Return the place of an argument's value, or of the whole where it is not known."""
        return self.values.get(name, self.mark)

    def key(self, name: str) -> SourceSpan:
        """Return the place of an argument's name, or of the whole where it is not known."""
        return self.keys.get(name, self.mark)


def find_call_site() -> CallSite:
    """Return the place in the user's code that is being run."""
    frame = sys._getframe(1)  # noqa: SLF001 (there is no other way to ask)
    while frame.f_code.co_filename.startswith(_OURS) and frame.f_back is not None:
        frame = frame.f_back
    code = frame.f_code
    found = next(islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    line, last, start, end = found
    if line is None or last is None or start is None or end is None:
        return CallSite(SourceSpan(code.co_filename, frame.f_lineno, 1))
    return _locate_code(code.co_filename, line, last, start, end)


@lru_cache(maxsize=10_000)
def _locate_code(file: str, line: int, last: int, start: int, end: int) -> CallSite:
    lines = [linecache.getline(file, number).rstrip("\n") for number in range(line, last + 1)]
    encoded = [text.encode() for text in lines]
    encoded[-1] = encoded[-1][:end]
    text = b"\n".join([encoded[0][start:], *encoded[1:]]).decode(errors="replace")
    try:
        call = ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError:
        call = None

    def mark(first: int, begin: int, final: int, stop: int) -> SourceSpan:
        """Return the place of these lines and bytes of the parsed text."""
        shift = start - 1 if first == 1 else 0
        column = len(encoded[first - 1][: begin + shift].decode(errors="replace")) + 1
        until = stop + shift if final == first else len(encoded[first - 1])
        length = len(encoded[first - 1][begin + shift : until].decode(errors="replace"))
        return SourceSpan(file, line + first - 1, column, max(length, 1))

    if call is None or not any(lines):
        return CallSite(SourceSpan(file, line, start + 1))
    whole = mark(call.lineno, call.col_offset, call.end_lineno or 1, call.end_col_offset or 1)
    place = CallSite(whole)
    if not isinstance(call, ast.Call):
        return place
    values, keys = {}, {}
    for number, argument in enumerate(call.args):
        values[str(number)] = mark(*_measure_span(argument))
    for keyword in call.keywords:
        if keyword.arg is not None:
            values[keyword.arg] = mark(*_measure_span(keyword.value))
            key = mark(*_measure_span(keyword))
            keys[keyword.arg] = replace(key, length=len(keyword.arg))
    return replace(place, values=values, keys=keys)


def _measure_span(node: ast.expr | ast.keyword) -> tuple[int, int, int, int]:
    last, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset + 1
    return node.lineno, node.col_offset, last, end


@dataclass
class BuiltDocument(Document):
    """A graph that was built in Python: its problems show lines of Python files."""

    def with_source(self, problem: Problem) -> Problem:
        """Return the problem with the line of the file that it is about."""
        return _add_source_line(problem)


def add_source_lines(error: GraphError) -> GraphError:
    """Return the error with the lines that its problems are about."""
    return GraphError([_add_source_line(problem) for problem in error.problems])


def _add_source_line(problem: Problem) -> Problem:
    line = linecache.getline(problem.mark.file, problem.mark.line)
    return problem if problem.source else replace(problem, source=line.rstrip("\n"))
