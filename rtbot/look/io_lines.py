"""The `io` section and the command line that read a file as it was found to be."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from typing import TYPE_CHECKING

from rtbot.core.number_text import format_duration
from rtbot.graph.csv_dialect import TAB
from rtbot.graph.model import CsvDialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rtbot.look.file_facts import FileFacts

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RESERVED = frozenset(["true", "false", "yes", "no", "on", "off", "null", "y", "n"])
DIALECT = CsvDialect()
SETTINGS = tuple(field.name for field in fields(CsvDialect) if field.name != "names")
VECTOR_COLUMNS = 64
"""So many columns are shown as elements of a vector at most."""

GRAPH_ONLY = ("unit", "ambiguous", "lateness", "duplicates", "bad", "columns_as")


def render_io(facts: FileFacts) -> str:
    """Return the lines of the section `io`, with doubts as comments; "" if none are needed."""
    lines = [f"  {key}: {value}" for key, value in _list_values(facts).items()]
    return "\n".join(["io:", *lines]) + "\n" if lines else ""


def render_vector(facts: FileFacts) -> list[str]:
    """Return the lines of an input that reads columns alike as a vector; none if there are none."""
    names = [column.name for column in facts.numeric]
    if facts.io.reading.columns_as is None or len(names) > VECTOR_COLUMNS:
        return []
    io = f"{{columns: {_render_list(names)}}}"
    return ["inputs:", f'  all: {{type: "vector[{len(names)}]", io: {io}}}']


def render_command(facts: FileFacts, graph: str = "GRAPH", inputs: Iterable[str] = ()) -> str:
    """Return the command line with the same options."""
    words = ["rtbot", "run", graph]
    words += [f"--in={name}" for name in inputs] or [facts.file]
    return join_command([*words, *list_options(facts)])


def join_command(words: Iterable[str]) -> str:
    """Return words as the shell takes them."""
    return " ".join(map(shlex.quote, words))


def quote_scalar(text: str) -> str:
    """Write a text as a scalar of YAML that is read as this text."""
    if PLAIN.fullmatch(text) and text.lower() not in RESERVED:
        return text
    if text.isprintable() and "\u2028" not in text:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    escaped = "".join(
        c
        if c.isprintable() and c not in '\\"'
        else f"\\x{ord(c):02x}"
        if ord(c) < 256
        else f"\\u{ord(c):04x}"
        if ord(c) < 65536
        else f"\\U{ord(c):08x}"
        for c in text
    )
    return f'"{escaped}"'


def list_graph_only(facts: FileFacts) -> dict[str, str]:
    """Return the keys of `io`, with their values, that `rtbot run` has no option for."""
    found = _list_values(facts)
    return {name: found[name] for name in GRAPH_ONLY if name in found}


def _list_values(facts: FileFacts) -> dict[str, str]:
    """Return the keys of `io` that are needed, with their values in YAML."""
    io, reading = facts.io, facts.io.reading
    dialect = ", ".join(f"{key}: {value}" for key, value in list_dialect(reading.csv))
    found = {
        "unit": io.unit,
        "time": _render_names(io.time) if io.time else None,
        "time_format": _render_format(facts),
        "timezone": _render_zone(facts),
        "ambiguous": reading.ambiguous if reading.ambiguous != "error" else None,
        "key": _render_list(io.key) if io.key else None,
        "columns_as": reading.columns_as and quote_scalar(reading.columns_as),
        "null": _render_list(reading.null) if reading.null else None,
        "lateness": _show_lateness(facts) if io.lateness is not None else None,
        "duplicates": io.duplicates if io.duplicates != "error" else None,
        "bad": io.bad if io.bad != "error" else None,
        "csv": f"{{{dialect}}}" if dialect else None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _render_format(facts: FileFacts) -> str | None:
    """Write the format, and as a comment the others that would read all times too."""
    form = facts.io.reading.time_format
    if form is None:
        return None
    others = map(quote_scalar, facts.time.others if facts.time else ())
    text = " or ".join(others)
    return quote_scalar(form) + (f"   # or {text}" if text else "")


def _render_zone(facts: FileFacts) -> str | None:
    zone = facts.io.reading.timezone
    return zone and f"{quote_scalar(zone)}   # a guess by the date: name the zone of the file"


def _render_list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(quote_scalar, texts))}]"


def list_dialect(dialect: CsvDialect) -> Iterator[tuple[str, str]]:
    """Yield the keys of `csv` that are not at their defaults, with their values in YAML."""
    for name, value in _list_settings(dialect):
        yield name, str(value) if isinstance(value, int) else quote_scalar(value)
    if dialect.names:
        yield "names", _render_list(dialect.names)


def _list_settings(dialect: CsvDialect) -> Iterator[tuple[str, str | int]]:
    """Yield the keys of `csv` other than `names` that are not at their defaults."""
    for name in SETTINGS:
        value = getattr(dialect, name)
        if value != getattr(DIALECT, name):
            yield name, TAB if value == "\t" else value


def _render_names(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return quote_scalar(names[0])
    return _render_list(names)


def _show_lateness(facts: FileFacts) -> str:
    lateness, unit = facts.io.lateness or 0, facts.io.unit
    return str(lateness) if unit is None else format_duration(lateness, unit)


def list_options(facts: FileFacts) -> Iterator[str]:
    """Yield the words of the command line; what only a graph can have is left out."""
    for option, value in _list_options(facts):
        yield from (option, value)


def _list_options(facts: FileFacts) -> Iterator[tuple[str, str]]:
    io, reading = facts.io, facts.io.reading
    if io.time:
        yield "--time", ",".join(io.time)
    for option, value in (
        ("--time-format", reading.time_format),
        ("--timezone", reading.timezone),
        ("--input-format", facts.form_option),
    ):
        if value is not None:
            yield option, value
    if io.key:
        yield "--key", ",".join(io.key)
    for token in reading.null:
        yield "--null", token
    for name, setting in _list_settings(reading.csv):
        yield "--csv", f"{name}={setting}"
    if reading.csv.names:
        yield "--csv", f"names={','.join(reading.csv.names)}"
