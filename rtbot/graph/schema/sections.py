"""The schemas of the sections `inputs`, `outputs` and `params`, and of single values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.graph.check import KEYS, LATER
from rtbot.graph.check.change_schema import FIELDS_MAX
from rtbot.graph.check.parameters import KEYS as PARAMETER_KEYS
from rtbot.graph.check.parameters import NAME, TYPES
from rtbot.graph.check.record_type import FIELD
from rtbot.graph.schema.io_schema import (
    build_change_io,
    build_io,
    build_own_io,
    build_record_io,
    build_vector_io,
)
from rtbot.graph.schema.value_schemas import (
    ANY_TEXT,
    DOC,
    ID_PATTERN,
    META,
    REFERRED,
    build_value,
)
from rtbot.operator import KINDS, Duration, Integer, Number, Points, Text
from rtbot.operator.parameter_kinds.schema_texts import anchor_pattern, build_named

if TYPE_CHECKING:
    from rtbot.graph.schema.definitions import Definitions, Schema

INPUT_TYPES = [kind + null for kind in KINDS for null in ("", "?")]
FIELD_PATTERN = rf"(?!t$){FIELD.pattern}"
RECORD_PATTERN = r"^record\s*\{[^{}]*\}$"
VECTOR_PATTERN = r"^vector\[0*(?:[1-9][0-9]{0,2}|1000)\]\??$"
"""The type of an input with several values in every message, as text."""

VERSION = build_value(Integer(name="version", minimum=1, maximum=1), dollar=False)
VERSION |= {"errorMessage": "version is 1 for now"}
DEFAULT = {
    "pattern": build_value(Text(name="a default"), dollar=False)["pattern"],
    "minItems": 1,
    "allOf": [
        {
            "if": {"type": "array", "contains": {"type": "array"}},
            "then": {"items": build_value(Points(name="points"), dollar=False)["items"]},
            "else": {"items": build_value(Number(name="an element"), dollar=False)},
        }
    ],
}
"""A default whose type is that of its value: any text but `$name`, a list of numbers or points."""


def build_sections(definitions: Definitions) -> Schema:
    """Return the schemas of the top-level keys in their order; operators and tests are empty."""
    written: Schema = {
        "version": {"description": "the version of this form", **VERSION, "default": 1},
        "name": {"description": "the name of the graph"} | ANY_TEXT,
        "description": {"description": "what the graph is for"} | ANY_TEXT,
        "meta": META,
        "params": _build_params(),
        "inputs": _build_inputs(definitions),
        "operators": {},
        "outputs": _build_outputs(definitions),
        "tests": {},
        "io": build_io(definitions),
    }
    return {key: written[key] for key in KEYS if key not in LATER}


def _build_inputs(definitions: Definitions) -> Schema:
    named = {"enum": INPUT_TYPES, "errorMessage": f"the types are {', '.join(INPUT_TYPES)}"}
    vector = {"type": "string", "pattern": VECTOR_PATTERN}
    written = {"anyOf": [named, vector, {"type": "string", "pattern": RECORD_PATTERN}]}
    described = _build_input("type", {"type": written}, build_own_io(definitions))
    vectors = _build_input("type", {"type": vector}, build_vector_io(definitions))
    records = _build_input("record", _build_record(named), build_record_io(definitions))
    changes = _build_input("changes", _build_changes(named), build_change_io(definitions))
    return {
        "description": "the streams that come in, with their types",
        "type": "object",
        "minProperties": 1,
        "propertyNames": build_named(ID_PATTERN, "an input"),
        "additionalProperties": {"anyOf": [written, described, vectors, records, changes]},
    }


def _build_input(key: str, declared: Schema, io: Schema) -> Schema:
    """Return the schema of an input that is a mapping, with a key that says what it carries."""
    return {
        "type": "object",
        "properties": declared | {"doc": DOC, "meta": {}, "io": io},
        "required": [key],
        "additionalProperties": False,
    }


def _build_record(named: Schema) -> Schema:
    """Return the schema of the fields of a record."""
    return {
        "record": {
            "description": "messages with several values: fields and their types",
            "type": "object",
            "propertyNames": build_named(FIELD_PATTERN, "a field"),
            "additionalProperties": named,
            "minProperties": 1,
            "maxProperties": FIELDS_MAX,
        }
    }


def _build_changes(named: Schema) -> Schema:
    """Return the schemas of the fields of a change input, and of the key of its rows."""
    field = {"pattern": anchor_pattern(ID_PATTERN), "type": "string"}
    return {
        "changes": {
            "description": "a stream of rows that are inserted and deleted: fields and their types",
            "type": "object",
            "propertyNames": build_named(ID_PATTERN, "a field"),
            "additionalProperties": named,
            "minProperties": 1,
            "maxProperties": FIELDS_MAX,
        },
        "unique": {
            "description": "the key: a row replaces the row with the same values of these fields",
            "type": ["array", "string"],
            "pattern": field["pattern"],
            "items": field,
            "minItems": 1,
            "uniqueItems": True,
        },
    }


def _build_outputs(definitions: Definitions) -> Schema:
    return {
        "description": "what goes out: references by public name, or a list of references",
        "type": ["array", "object", "string"],
        "pattern": REFERRED["pattern"],
        "patternErrorMessage": REFERRED["errorMessage"],
        "items": definitions.refer("reference", REFERRED),
        "minItems": 1,
        "uniqueItems": True,
        "minProperties": 1,
        "propertyNames": build_named(ID_PATTERN, "an output"),
        "additionalProperties": definitions.refer("output", _build_output(definitions)),
    }


def _build_output(definitions: Definitions) -> Schema:
    """Build a reference, or those of the fields of a record."""
    return REFERRED | {
        "type": ["string", "object"],
        "propertyNames": build_named(FIELD_PATTERN, "a field"),
        "additionalProperties": definitions.refer("reference", REFERRED),
        "minProperties": 1,
    }


def _build_params() -> Schema:
    written: Schema = {
        "type": {"description": "without it the type is that of the default", "enum": list(TYPES)},
        "default": {"description": "the value where none is given"},
        "min": {"description": "the least value"},
        "max": {"description": "the greatest value"},
        "choices": {"description": "the only values", "type": "array", "minItems": 1},
        "doc": DOC,
    }
    return {
        "description": "values that a user of the graph may set",
        "type": ["object", "null"],
        "propertyNames": build_named(NAME.pattern, "a parameter"),
        "additionalProperties": {
            "description": "a default, or a mapping",
            "type": ["string", "number", "boolean", "array", "object"],
            **DEFAULT,
            "properties": {key: written[key] for key in PARAMETER_KEYS},
            "additionalProperties": False,
            "if": {"required": ["type"]},
            "then": {"allOf": [_build_typed(name) for name in TYPES]},
            "else": _build_untyped(),
        },
    }


def _build_typed(name: str) -> Schema:
    """Build a parameter of this type: all its values are of it."""
    declared = TYPES[name](name=f"a {name}")
    if isinstance(declared, Duration):
        declared.minimum = None
    one = build_value(declared, dollar=False)
    bound = one if isinstance(declared, Integer | Number | Duration) else False
    then = {"default": one, "min": bound, "max": bound, "choices": {"items": one}}
    return {"if": {"properties": {"type": {"const": name}}}, "then": {"properties": then}}


def _build_untyped() -> Schema:
    """Build a parameter whose default decides its type; text, booleans and lists have no range."""
    texts = {"type": ["string", "boolean", "array"]}
    bound = build_value(Number(name="a bound"), dollar=False)
    return {
        "required": ["default"],
        "properties": {
            "default": {"type": ["string", "number", "boolean", "array"]} | DEFAULT,
        },
        "if": {"required": ["default"], "properties": {"default": texts}},
        "then": {"properties": {"min": False, "max": False}},
        "else": {"properties": {"min": bound, "max": bound}},
    }
