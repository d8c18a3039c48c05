"""The schema of the section `tests`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.core.error_codes import CODES
from rtbot.graph.check.tests_section import ERROR_CODES, KEYS
from rtbot.graph.check.wiring import REFERENCE
from rtbot.graph.schema.value_schemas import (
    ANY_TEXT,
    DOC,
    ID_PATTERN,
    REFERRED,
    build_value,
    exclude_keys,
)
from rtbot.operator import Number
from rtbot.operator.parameter_kinds.schema_texts import build_named

if TYPE_CHECKING:
    from rtbot.graph.schema.definitions import Definitions, Schema


def build_tests(definitions: Definitions) -> Schema:
    """Return the schema of the section."""
    return {
        "description": "rows that go in, and rows that come out",
        "type": ["array", "null"],
        "items": definitions.refer("test", _build_test(definitions)),
    }


def _build_test(definitions: Definitions) -> Schema:
    written = _build_fields(definitions)
    return {
        "type": ["object", "null"],
        "properties": {key: written[key] for key in KEYS},
        "additionalProperties": False,
        **exclude_keys("error", "expect", "emits_nothing"),
        "if": {"required": ["key"]},
        "else": {"properties": _build_pairs(definitions)},
    }


def _build_fields(definitions: Definitions) -> Schema:
    columns = ["string", "number", "boolean"]
    return {
        "name": {"description": "what the test shows"} | ANY_TEXT,
        "params": {
            "description": "values of parameters",
            "type": ["object", "null"],
            "additionalProperties": {"type": [*columns, "null", "array"]},
        },
        "key": {
            "description": "key columns; rows then begin with the key",
            "type": [*columns, "array"],
            "items": {"type": columns},
        },
        "given": _build_rows_by_name("rows of the inputs", ID_PATTERN, definitions),
        "expect": _build_rows_by_name("rows of outputs", REFERENCE.pattern, definitions),
        "emits_nothing": {
            "description": "outputs that stay silent",
            "type": ["string", "array"],
            "pattern": REFERRED["pattern"],
            "items": definitions.refer("reference", REFERRED),
        },
        "tolerance": {"description": "how far a number may be from the expected one"}
        | build_value(Number(name="tolerance", minimum=0.0)),
        "error": {
            "description": "the code of the error that is expected",
            "enum": ERROR_CODES,
            "enumDescriptions": [CODES[code] for code in ERROR_CODES],
            "errorMessage": "no error has this code; `rtbot explain RT103` says what one means",
        },
        "doc": DOC,
    }


def _build_rows_by_name(what: str, pattern: str, definitions: Definitions) -> Schema:
    return {
        "description": what,
        "type": ["object", "null"],
        "propertyNames": build_named(pattern, "a stream"),
        "additionalProperties": definitions.refer("rows", _build_rows()),
    }


def _build_rows() -> Schema:
    """Build a list of rows, or the file that holds them."""
    cell = {"type": ["string", "number", "boolean", "null"]}
    fields = {"type": [*cell["type"], "object"], "additionalProperties": cell, "minProperties": 1}
    several = {"items": fields, "minItems": 2}
    value = {"type": [*cell["type"], "array"], "items": cell, "minItems": 1}
    series = {"items": value, "minItems": 2}
    return {
        "type": ["array", "object", "null"],
        "items": {
            "type": "array",
            "if": {"contains": {"type": "object"}},
            "then": several,
            "else": series,
        },
        "properties": {"csv": {"type": ["string", "number", "boolean"], "minLength": 1}},
        "required": ["csv"],
        "additionalProperties": False,
    }


def _build_pairs(definitions: Definitions) -> Schema:
    """Build rows without a key: a time and a value or a record, or a time, a weight and fields."""
    pair = {
        "if": {"contains": {"type": "object"}},
        "then": {"maxItems": 3},
        "else": {"maxItems": 2},
    }
    rows = definitions.refer("pairs", {"items": pair})
    return {key: {"additionalProperties": rows} for key in ("given", "expect")}
