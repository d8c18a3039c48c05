"""Plain messages for text that is not YAML, or is something other than a graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import describe_non_ascii, graph_error
from rtbot.core.source_span import SourceSpan

if TYPE_CHECKING:
    from rtbot.core.errors import GraphError

GRAPH_FIRST = "the graph comes before the data: rtbot run GRAPH FILE"
_SIGN_FIRST = re.compile(r"(?:^|[:\-,{\[]\s)\s*(?=([*&!%@`]\S|[|>]\s*[^\s\d+\-#]|[|>]\s+\d))")
_GLUED = re.compile(r"(?:^|[{,])\s*(?:- )?([A-Za-z_][\w-]*):(?![\s:/])([^,}\n]+)")
_TEMPLATE = re.compile(r"\$?\{\{?\s*([A-Za-z_]\w*)\s*\}")
PARAMETER_BARE = "a parameter is $name, without braces"
_FORMS = (
    (_TEMPLATE, PARAMETER_BARE),
    (
        re.compile(r":\s+record\s*\{"),
        "write {record: {bid: number, ask: number}}, or quote the type",
    ),
    (re.compile(r":\s+(vector\[\d*\]\??)\s*[,}]"), "between braces the type is quoted"),
)
"""What is not YAML, and what to write in its place."""

_SEPARATORS = {",": "CSV", ";": "CSV", "\t": "tab-separated"}
_MAGIC = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"\xff\xff\xff\xff": "an Arrow stream",
    b"\x1f\x8b": "a gzip file",
    b"PK\x03\x04": "a zip file, perhaps a workbook",
    b"\x89PNG": "a picture",
    b"%PDF": "a PDF file",
    b"SQLite format 3": "a database",
    b"\xd0\xcf\x11\xe0": "an old workbook or document",
}
_HINTS = {
    "mapping values are not": "quote the text: a colon and a space start a mapping; or indent less",
    "sequence entries are not": "quote the text: a minus and a space begin a list; or write -x",
    "expected comment": "quote the expression: > and | begin a text of several lines",
    "expected a comment": "quote the expression: > and | begin a text of several lines",
    "expected ','": "is a bracket or a comma missing?",
    "expected node": "is a value missing, or a comma too much?",
    "could not find expected ':'": "a key needs a colon and a space behind it",
    "unexpected end of stream": "is a closing quote missing?",
    "escape character": "in double quotes \\ begins an escape: use single quotes, or double it",
    "<document start>": "one graph per file, and one root: indent what belongs to a key",
    "mapping keys are not": "quote the text: a question mark and a space start a key",
}
"""Hints, by a part of the parser's message."""

_INSIDE = "quote the text: what it begins with ends before this place"
_INDENTED = ("expected key", "expected <block end>", "expected '-'")


def make_yaml_error(text: str, file: str, error: Any) -> GraphError:
    """Make the error of a text that the parser refused: the place and what to try."""
    lines = text.split("\n")
    mark, context = error.problem_mark, error.context_mark
    if context and (not mark or mark.index >= len(text.rstrip()) or _is_noticed_late(error)):
        mark = context
    line, column = (min(mark.line, len(lines) - 1), mark.column) if mark else (0, 0)
    other = identify_text(text)
    if other:
        return graph_error("RT105", SourceSpan(file, 1, 1), f"this looks like {other}", GRAPH_FIRST)
    for place in sorted({line, context.line if context else line}):
        found = _SIGN_FIRST.search(lines[place]) if place < len(lines) else None
        if found:
            line, column = place, found.end()
            break
    comments = [place for place in range(line + 1) if _is_comment(lines[place])]
    if comments:
        line = comments[0]
        column = len(lines[line]) - len(lines[line].lstrip())
    hint = _suggest_fix(lines[line], line, column, error)
    message = f"this is not YAML: {error.problem or error.context}"
    return graph_error("RT101", SourceSpan(file, line + 1, column + 1), message, hint)


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(("//", "/*"))


def _is_noticed_late(error: Any) -> bool:
    """Return whether the parser noticed a mistake lines after it: a key without its colon."""
    return "expected ':'" in (error.problem or "")


def _suggest_fix(shown: str, line: int, column: int, error: Any) -> str:
    told = f"{error.problem or ''} {error.context or ''}"
    if _is_comment(shown):
        return "a comment begins with #, and JSON has none"
    if character := describe_non_ascii("".join(c for c in shown if not c.isalnum())):
        return f"{character}: write plain spaces and signs"
    if shape := next((what for form, what in _FORMS if form.search(shown)), ""):
        return shape
    if _SIGN_FIRST.search(shown):
        return f"quote the expression: {shown[column]!r} has a meaning of its own in YAML"
    if "mapping values" in told and " ? " in shown[:column]:
        return "write if(condition, a, b)"
    if _is_noticed_late(error) and (glued := suggest_space(shown)):
        return glued
    if any(part in told for part in _INDENTED):
        inside = shown[:column].strip()
        return _INSIDE if inside else "is this line indented like its neighbours?"
    if "quoted scalar" in told and "escape" not in told:
        return "is a closing quote missing?"
    hint = next((hint for part, hint in _HINTS.items() if part in told), "")
    opened = error.context_mark
    if "expected ','" in told and opened and opened.line != line:
        hint += f" the one open begins on line {opened.line + 1}"
    return hint


def suggest_space(text: str) -> str:
    """Return a hint if a colon in the text has no space behind it, or ""."""
    found = _GLUED.search(text)
    return f"put a space after the colon: `{found[1]}: {found[2]}`" if found else ""


def identify_bytes(data: bytes) -> str:
    """Return what file this is by its first bytes, or ""."""
    return next((what for magic, what in _MAGIC.items() if data.startswith(magic)), "")


def identify_text(text: str) -> str:
    """Return what data this is by its first two lines, or ""."""
    first, second = [*(line for line in text.split("\n", 20) if line.strip()), "", ""][:2]
    if first.startswith("{") and first.rstrip().endswith("}") and second.startswith("{"):
        return "JSON lines data, not like a graph"
    for separator, name in _SEPARATORS.items():
        count = first.count(separator)
        header = count and not re.search(r"[\[{}\]]|:(\s|$)", first)
        if header and second.count(separator) == count:
            return f"{name} data, not like a graph"
    return ""
