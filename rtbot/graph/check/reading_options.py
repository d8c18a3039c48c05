"""How the values in files are written: the keys of `io` for times, absent cells and CSV."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, graph_error, suggest_name
from rtbot.core.time_formats import EPOCHS, find_format_problem, find_timezone_problem
from rtbot.graph.check.context import Context, read_entries
from rtbot.graph.csv_dialect import (
    MULTIPLE_BYTES,
    SINGLE_BYTE,
    UTF_8,
    check_dialect,
    find_delimiter,
)
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode
from rtbot.operator import Choice, Integer, Parameter, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbot.graph.model import CsvDialect, ReadOptions

READING: dict[str, Parameter] = {
    "time_format": Text(name="time_format", doc="how times are written"),
    "timezone": Text(name="timezone", doc="the zone of times without an offset"),
    "ambiguous": Choice(
        name="ambiguous",
        options=("error", "earlier", "later", "order"),
        doc="a time that the zone has twice, when its clocks go back",
    ),
    "nonexistent": Choice(
        name="nonexistent",
        options=("error", "shift"),
        doc="a time that the zone leaves out, when its clocks go forward",
    ),
    "columns_as": Text(
        name="columns_as", doc="the key whose values are the names of the other columns"
    ),
}
CSV: dict[str, Parameter] = {
    "delimiter": Text(name="delimiter", doc="one character, tab, or blank"),
    "decimal": Text(name="decimal", doc="the decimal sign, a point or a comma"),
    "thousands": Text(name="thousands", doc="the sign between groups of digits"),
    "quote": Text(name="quote", doc="the character around cells"),
    "encoding": Text(name="encoding", doc="the encoding of the text"),
    "skip": Integer(name="skip", minimum=0, doc="lines before the header"),
    "skip_after": Integer(name="skip_after", minimum=0, doc="lines after the header: units, types"),
    "comment": Text(name="comment", doc="how lines begin that hold no data"),
}
CSV_KEYS = (*CSV, "names")
READING_KEYS = (*READING, "null", "csv")
OUTSIDE = {key: f"it belongs under io: `io: {{{key}: ...}}`" for key in (*READING, "null", "key")}
"""Where keys belong that are none of `csv`."""


WORDS = {
    "semicolon": ";",
    "comma": ",",
    "pipe": "|",
    "colon": ":",
    "tabs": "tab",
    "tabulator": "tab",
    "space": "blank",
    "spaces": "blank",
    "blanks": "blank",
    "whitespace": "blank",
}
"""Words that are none, and what is meant."""

CHECKS = {"time_format": find_format_problem, "timezone": find_timezone_problem}
"""What a text has to be, beyond being one."""

LISTED_MAX = 10_000
_SETTING = re.compile(r"csv\.([a-z_]+)")


def read_reading(
    fields: Mapping[str, DocumentNode], given: ReadOptions, context: Context
) -> ReadOptions:
    """Return the options with those of a section over them; what is wrong is noted."""
    values: dict[str, Any] = {}
    for key in READING_KEYS:
        if key not in fields:
            continue
        try:
            values[key] = _read_option(key, fields[key], given, context)
        except GraphError as error:
            context.problems.found += error.problems
    found = replace(given, **values)
    _check_zone(fields, found, context)
    return found


def _read_option(key: str, node: DocumentNode, given: ReadOptions, context: Context) -> Any:
    if key == "csv":
        return _read_dialect(node, given.csv, context)
    if key == "null":
        return _read_tokens(node, context)
    return _read_text(key, node, context)


def _read_text(key: str, node: DocumentNode, context: Context) -> Any:
    """Return the value of a key, which its own rule has checked."""
    value = READING[key].read(node, context)
    fault = CHECKS[key](value) if key in CHECKS else None
    if fault is not None:
        raise graph_error("RT112", node.mark, f"{key}: {fault.message}", fault.hint)
    return value


def _read_dialect(node: DocumentNode, given: CsvDialect, context: Context) -> CsvDialect:
    values: dict[str, Any] = {}
    fields = read_entries(node, "csv", CSV_KEYS, context.problems, OUTSIDE)
    for key, item in fields.items():
        try:
            if key == "names":
                values[key] = read_texts(item, "names", "a column", context)
            else:
                values[key] = CSV[key].read(item, context)
        except GraphError as error:
            context.problems.found += error.problems
    complete = len(values) == len(fields)
    while values and complete:
        found = replace(given, **values)
        message = check_dialect(found)
        if message is None:
            return replace(found, delimiter=find_delimiter(found))
        named = [key for key in _SETTING.findall(message) if key in values]
        mark = fields[named[0]].mark if named else node.mark
        context.problems.add("RT112", mark, message, _suggest_setting(message, found))
        values = {key: value for key, value in values.items() if named and key not in named}
    return given


def _suggest_setting(message: str, dialect: CsvDialect) -> str:
    """Return what to try instead of a setting of a dialect, or of two that do not go together."""
    first, *others = _SETTING.findall(message) or [""]
    if {first, *others} == {"delimiter", "decimal"} and dialect.decimal == ",":
        return "add the delimiter, such as `delimiter: ;`"
    if {first, *others} == {"decimal", "thousands"}:
        other = "," if dialect.decimal == "." else "."
        return f"add `decimal: {other!r}` if that is the decimal sign"
    if others:
        return ""
    if first == "delimiter" and dialect.delimiter.lower() in WORDS:
        return f"write {WORDS[dialect.delimiter.lower()]!r}"
    if first == "encoding":
        return suggest_name(dialect.encoding, (UTF_8, "latin-1", *SINGLE_BYTE, *MULTIPLE_BYTES))
    return ""


def _read_tokens(node: DocumentNode, context: Context) -> tuple[str, ...]:
    tokens = read_texts(node, "null", "a token", context)
    for token in tokens:
        if token != token.strip(" \t"):
            hint = f"cells are compared without blanks around them: write {token.strip()!r}"
            raise graph_error("RT112", node.mark, f"the token {token!r} has blanks around it", hint)
    return tokens


def read_texts(node: DocumentNode, what: str, one: str, context: Context) -> tuple[str, ...]:
    """Return a list of distinct texts; a scalar is the only one.

    A column may have no name, as an index that pandas writes has none.
    """
    items = node.items if isinstance(node, SequenceNode) else [node]
    if isinstance(node, MappingNode):
        raise graph_error("RT105", node.mark, f"{what} is a text or a list, this is a mapping")
    if isinstance(node, ScalarNode) and node.missing:
        raise graph_error("RT105", node.mark, f"{what} has no value", f"write {what}: [...]")
    if not items or len(items) > LISTED_MAX:
        code = "RT108" if items else "RT112"
        raise graph_error(code, node.mark, f"{what} has {len(items)} elements")
    found: list[str] = []
    for item in items:
        if not isinstance(item, ScalarNode):
            raise graph_error("RT105", item.mark, f"{one} is text, this is {item.form}")
        text = context.substitute(item).text
        if what == "null" and not text:
            hint = "an empty cell is absent anyway"
            raise graph_error("RT112", item.mark, "null has an empty element", hint)
        found.append(text)
    _check_distinct(items, found, one)
    return tuple(found)


def _check_distinct(items: Iterable[DocumentNode], texts: Iterable[str], one: str) -> None:
    seen: set[str] = set()
    for item, text in zip(items, texts, strict=True):
        if text in seen:
            raise graph_error("RT106", item.mark, f"{one} is given twice: {text!r}")
        seen.add(text)


def _check_zone(fields: Mapping[str, DocumentNode], found: ReadOptions, context: Context) -> None:
    """Note what has no meaning without a time zone, and a zone where times count from 1970."""
    for key in ("ambiguous", "nonexistent"):
        if key in fields and found.timezone is None and "timezone" not in fields:
            hint = "add `timezone: Europe/Madrid`, or leave it out"
            message = f"{key} needs a timezone: only the clocks of a zone change"
            context.problems.add("RT116", fields[key].mark, message, hint)
    if {"time_format", "timezone"} <= fields.keys() and found.time_format in EPOCHS:
        message = f"a timezone has no meaning for {found.time_format}, which counts in UTC"
        context.problems.add("RT116", fields["timezone"].mark, message, "leave it out")
