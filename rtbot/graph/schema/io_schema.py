"""The schema of the section `io`, and of the `io` of an input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.graph.check.io_section import (
    CHANGE_KEYS,
    COLUMNS,
    COLUMNS_MAX,
    IO,
    IO_KEYS,
    KEY_TYPES,
    OWN_KEYS,
)
from rtbot.graph.check.reading_options import CSV, CSV_KEYS
from rtbot.graph.schema.value_schemas import annotate_parameter, build_value
from rtbot.operator import Choice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.graph.schema.definitions import Definitions, Schema


def build_io(definitions: Definitions) -> Schema:
    """Return the schema of the section."""
    what = "how the streams meet the world: times, keys, late and double rows, files"
    return _build_section(what, IO_KEYS, definitions)


def build_own_io(definitions: Definitions) -> Schema:
    """Return the schema of what a series has of its own."""
    keys = [key for key in OWN_KEYS if key not in CHANGE_KEYS]
    return _build_section("what differs from the `io` of the graph", keys, definitions)


def build_record_io(definitions: Definitions) -> Schema:
    """Return the schema of what a record has of its own."""
    columns = {
        "description": "the columns of fields that have other names than these",
        "type": "object",
        "additionalProperties": build_value(IO["time"]),
    }
    return _add_columns(build_own_io(definitions), columns)


def build_vector_io(definitions: Definitions) -> Schema:
    """Return the schema of what a vector has of its own."""
    columns = {
        "description": "the columns of the elements",
        "type": "array",
        "items": build_value(IO["time"]),
        "minItems": 1,
    }
    return _add_columns(build_own_io(definitions), columns)


def _add_columns(io: Schema, columns: Schema) -> Schema:
    return io | {"properties": {**io["properties"], COLUMNS: columns}}


def build_change_io(definitions: Definitions) -> Schema:
    """Return the schema of what a change input has of its own."""
    keys = [key for key in OWN_KEYS if key != "duplicates"]
    return _build_section("what differs from the `io` of the graph", keys, definitions)


def _build_section(what: str, keys: Iterable[str], definitions: Definitions) -> Schema:
    written = {name: annotate_parameter(parameter) for name, parameter in IO.items()}
    written["time"] = {"description": IO["time"].doc} | _build_texts()
    written["key"] = _build_key()
    written["null"] = {"description": "the tokens of a cell that has no value"} | _build_texts(1)
    written["csv"] = _build_csv()
    return {
        "description": what,
        "type": ["object", "null"],
        "properties": {
            name: definitions.refer(f"io.{name}", written[name]) for name in keys if name in written
        },
        "additionalProperties": False,
    }


def _build_key() -> Schema:
    column = build_value(IO["time"])
    kind = build_value(Choice(name="the type of a key", options=KEY_TYPES))
    return {
        "description": "the key column or columns: every combination is a series of its own",
        "type": [*column["type"], "array", "object"],
        "pattern": column["pattern"],
        "items": column,
        "maxItems": COLUMNS_MAX,
        "uniqueItems": True,
        "additionalProperties": kind,
        "maxProperties": COLUMNS_MAX,
    }


def _build_csv() -> Schema:
    written = {name: annotate_parameter(parameter) for name, parameter in CSV.items()}
    written["names"] = {"description": "the columns of a file that has no header"} | _build_texts()
    return {
        "description": "how CSV is written",
        "type": ["object", "null"],
        "properties": {name: written[name] for name in CSV_KEYS},
        "additionalProperties": False,
    }


def _build_texts(shortest: int = 0) -> Schema:
    """Build a text, or a list of different ones; in a list, what YAML calls null is text too."""
    one = build_value(IO["time"])
    kinds = ["string", "number", "boolean", "null"]
    return {
        "type": ["string", "number", "boolean", "array"],
        "pattern": one["pattern"],
        "minLength": shortest,
        "items": {"type": kinds, "pattern": one["pattern"], "minLength": shortest},
        "minItems": 1,
        "uniqueItems": True,
    }
