"""How the values in files are written: the keys of `io` for times, absent cells and CSV."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, graph_error, suggest_known_name, suggest_name
from rtbot.graph.check.context import Context, read_entries
from rtbot.graph.check.typed_values import TextParameter, convert_value
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode
from rtbot.graph.model import CsvDialect, ReadOptions
from rtbot.operator import Choice, Integer, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Check = Callable[[str], tuple[str, str] | None]
    """Returns what is wrong with a text and what to try, or None."""

READING: dict[str, Parameter] = {
    "time_format": TextParameter(name="time_format", doc="how times are written"),
    "timezone": TextParameter(name="timezone", doc="the zone of times without an offset"),
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
    "columns_as": TextParameter(
        name="columns_as", doc="the key whose values are the names of the other columns"
    ),
}
CSV: dict[str, Parameter] = {
    "delimiter": TextParameter(name="delimiter", doc="one character, tab, or blank"),
    "decimal": TextParameter(name="decimal", doc="the decimal sign, a point or a comma"),
    "thousands": TextParameter(name="thousands", doc="the sign between groups of digits"),
    "quote": TextParameter(name="quote", doc="the character around cells"),
    "encoding": TextParameter(name="encoding", doc="the encoding of the text"),
    "skip": Integer(name="skip", minimum=0, doc="lines before the header"),
    "skip_after": Integer(name="skip_after", minimum=0, doc="lines after the header: units, types"),
    "comment": TextParameter(name="comment", doc="how lines begin that hold no data"),
}
CSV_KEYS = (*CSV, "names")
READING_KEYS = (*READING, "null", "csv")

EPOCHS = ("unix", "unix_ms", "unix_us", "unix_ns")
DIRECTIVES = "YymdbBHIMSfpzj%"
DECIMALS = (".", ",")
DELIMITERS = {"tab": "\t", "blank": "blank"}
"""Words for delimiters, and what the dialect has for them."""

SPECIAL_TEXT = ("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape")
"""Encodings of Python that are none of files."""

LISTED_MAX = 10_000
_CODES = re.compile(r"%(.?)", re.DOTALL)
_FIXED = re.compile(r"(?:UTC|GMT)?([+-])0?([0-9]{1,2})(?::?00)?")


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
    return _read_text(READING[key], node, context)


def _read_text(parameter: Parameter, node: DocumentNode, context: Context) -> Any:
    """Return the value of a key, which its own rule has checked."""
    value = convert_value(parameter, node, context)
    fault = CHECKS[parameter.name](value) if parameter.name in CHECKS else None
    if fault is not None:
        message, hint = fault
        raise graph_error("RT112", node.mark, f"{parameter.name} is {message}", hint)
    return value


def _read_dialect(node: DocumentNode, given: CsvDialect, context: Context) -> CsvDialect:
    values: dict[str, Any] = {}
    outside = {key: f"it belongs under io: `io: {{{key}: ...}}`" for key in (*READING, "null", "key")}
    fields = read_entries(node, "csv", CSV_KEYS, context.problems, outside)
    for key, item in fields.items():
        try:
            if key == "names":
                values[key] = read_texts(item, "names", "a column", context)
            else:
                values[key] = _read_text(CSV[key], item, context)
        except GraphError as error:
            context.problems.found += error.problems
    if "delimiter" in values:
        values["delimiter"] = DELIMITERS.get(values["delimiter"], values["delimiter"])
    found = replace(given, **values)
    fault = find_dialect_fault(found)
    if fault is not None and len(values) == len(fields):
        keys, message, hint = fault
        mark = next((fields[key].mark for key in keys if key in fields), node.mark)
        context.problems.add("RT116", mark, message, hint)
    return found


def _read_tokens(node: DocumentNode, context: Context) -> tuple[str, ...]:
    tokens = read_texts(node, "null", "a token", context)
    for token in tokens:
        if token != token.strip(" \t"):
            hint = f"cells are compared without blanks around them: write {token.strip()!r}"
            raise graph_error("RT112", node.mark, f"the token {token!r} has blanks around it", hint)
    return tokens


def read_texts(node: DocumentNode, what: str, one: str, context: Context) -> tuple[str, ...]:
    """Return a list of distinct texts, none of them empty; a scalar is the only one."""
    items = node.items if isinstance(node, SequenceNode) else [node]
    if isinstance(node, MappingNode):
        raise graph_error("RT105", node.mark, f"{what} is a text or a list, this is a mapping")
    if not items or len(items) > LISTED_MAX:
        code = "RT108" if items else "RT112"
        raise graph_error(code, node.mark, f"{what} has {len(items)} elements")
    found: list[str] = []
    for item in items:
        if not isinstance(item, ScalarNode):
            raise graph_error("RT105", item.mark, f"{one} is text, this is {item.form}")
        text = context.substitute(item).text
        if not text or item.value is None:
            hint = "an empty cell is absent anyway" if what == "null" else ""
            raise graph_error("RT112", item.mark, f"{what} has an empty element", hint)
        found.append(text)
    _check_distinct(items, found, one)
    return tuple(found)


def _check_distinct(items: Iterable[DocumentNode], texts: Iterable[str], one: str) -> None:
    seen: set[str] = set()
    for item, text in zip(items, texts, strict=True):
        if text in seen:
            raise graph_error("RT106", item.mark, f"{one} is given twice: {text!r}")
        seen.add(text)


def _check_zone(
    fields: Mapping[str, DocumentNode], found: ReadOptions, context: Context
) -> None:
    """Note what has no meaning without a time zone, and a zone where times count from 1970."""
    for key in ("ambiguous", "nonexistent"):
        if key in fields and found.timezone is None and "timezone" not in fields:
            hint = "add `timezone: Europe/Madrid`, or leave it out"
            message = f"{key} needs a timezone: only the clocks of a zone change"
            context.problems.add("RT116", fields[key].mark, message, hint)
    if {"time_format", "timezone"} <= fields.keys() and found.time_format in EPOCHS:
        message = f"a timezone has no meaning for {found.time_format}, which counts in UTC"
        context.problems.add("RT116", fields["timezone"].mark, message, "leave it out")


# ---- single texts


def find_format_fault(text: str) -> tuple[str, str] | None:
    """Return what is wrong with a `time_format`, and what to try; None if nothing is."""
    if text in EPOCHS:
        return None
    if "%" not in text:
        words = f"one of {', '.join(EPOCHS)}, or a text such as %d/%m/%Y %H:%M"
        return f"{text[:40]!r}, {words} is expected", suggest_name(text, EPOCHS)
    for code in _CODES.findall(text):
        if not code or code not in DIRECTIVES:
            there = " ".join(f"%{letter}" for letter in DIRECTIVES)
            return f"{text[:40]!r}, and there is no %{code}", f"there are {there}"
    return None


def find_zone_fault(text: str) -> tuple[str, str] | None:
    """Return what is wrong with a `timezone`, and the nearest name; None if it is known."""
    import zoneinfo

    try:
        zoneinfo.ZoneInfo(text)
    except (KeyError, ValueError, OSError):  # OSError: a folder of zones, such as Europe
        known = zoneinfo.available_timezones()
        hint = _suggest_zone(text, known)
        return f"{text[:40]!r}, which is no time zone that is known here", hint
    return None


def _suggest_zone(text: str, known: set[str]) -> str:
    if not known:
        return "this machine has no time zones: install tzdata"
    fixed = _FIXED.fullmatch(text)
    if fixed:
        sign = "-" if fixed[1] == "+" else "+"
        name = f"Etc/GMT{sign}{int(fixed[2])}"
        if name in known:
            return f"the zone that is always at this offset is {name}"
    inside = sorted(name for name in known if name.rpartition("/")[2].lower() == text.lower())
    if inside:
        return f"did you mean {inside[0]!r}?"
    return suggest_name(text, sorted(known)) or "zones have names such as Europe/Madrid or UTC"


def _find_sign_fault(text: str) -> tuple[str, str] | None:
    if text in DELIMITERS:
        return None
    if len(text) != 1:
        hint = suggest_known_name(text, DELIMITERS)
        return f"{text[:40]!r}, one character is expected, or tab, or blank", hint
    return _find_character_fault(text)


def _find_decimal_fault(text: str) -> tuple[str, str] | None:
    return None if text in DECIMALS else (f"{text[:40]!r}, a point or a comma is expected", "")


def _find_character_fault(text: str) -> tuple[str, str] | None:
    if len(text) != 1:
        return f"{text[:40]!r}, one character is expected", ""
    if text.isalnum() or text in "+-\0\r\n" or not (text.isprintable() or text == "\t"):
        return f"{text!r}, which cannot separate anything", "choose a sign that values do not have"
    return None


def _find_thousands_fault(text: str) -> tuple[str, str] | None:
    return _find_character_fault(text) if text else None


def _find_comment_fault(text: str) -> tuple[str, str] | None:
    return (f"{text[:40]!r}, which has several lines", "") if len(text.splitlines()) > 1 else None


def _find_encoding_fault(text: str) -> tuple[str, str] | None:
    known = ("utf-8", "utf-16", "latin-1", "cp1252", "iso-8859-15", "cp437", "shift_jis", "gbk")
    try:
        b"".decode(text)
        fault = text.lower().replace("-", "_") in SPECIAL_TEXT
    except (LookupError, ValueError, UnicodeError):
        fault = True
    if not fault:
        return None
    hint = suggest_name(text, known) or f"such as {', '.join(known)}"
    return f"{text[:40]!r}, which is no encoding of text", hint


def find_dialect_fault(dialect: CsvDialect) -> tuple[tuple[str, ...], str, str] | None:
    """Return the keys that contradict each other, the message and a hint; None if none do."""
    for one, other in (
        ("decimal", "thousands"),
        ("quote", "delimiter"),
        ("quote", "decimal"),
        ("comment", "delimiter"),
        ("comment", "quote"),
    ):
        first, second = getattr(dialect, one), getattr(dialect, other)
        if first and first == second:
            hint = f"without `{one}` it is {getattr(CsvDialect(), one)!r}"
            if one == "decimal":
                hint = f"write `decimal: X` if that is the other sign"
            return (one, other), f"{one} and {other} are both {first!r}", hint
    return None


CHECKS: dict[str, Check] = {
    "time_format": find_format_fault,
    "timezone": find_zone_fault,
    "delimiter": _find_sign_fault,
    "decimal": _find_decimal_fault,
    "thousands": _find_thousands_fault,
    "quote": _find_character_fault,
    "encoding": _find_encoding_fault,
    "comment": _find_comment_fault,
}
"""What each text has to be, by the name of its key."""

