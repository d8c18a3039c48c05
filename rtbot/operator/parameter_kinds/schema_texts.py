"""JSON Schema of single values, for all the ways in which YAML may read what is in the file.

An editor reads YAML's types before the schema sees a value: `20` is a number to it, "20" is text,
and a graph file takes both. Every keyword of JSON Schema applies to one type (`minimum` of numbers,
`pattern` of text, `items` of lists), so that one schema without alternatives holds them all, and a
mistake gets one message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.scalar_values import ID, INTEGER, NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.operator.parameter_kinds.parameter import JsonSchema, Parameter

HIDDEN = {"doNotSuggest": True}


def anchor_pattern(*patterns: str) -> str:
    """Return the pattern of a text that is one of these as a whole."""
    return f"^(?:{'|'.join(patterns)})$"


def build_named(pattern: str, what: str) -> JsonSchema:
    """Return the schema of the keys of a mapping that the user names."""
    return {
        "pattern": anchor_pattern(pattern),
        "patternErrorMessage": f"no name of {what}",
    } | HIDDEN


def build_message(parameter: Parameter) -> JsonSchema:
    """Return the message of an editor where a value does not fit."""
    return {"errorMessage": f"{parameter.describe()} is expected"}


def build_scalar(
    parameter: Parameter, kind: str, texts: Iterable[str], **limits: Any
) -> JsonSchema:
    """Return the schema of a value that is of the JSON type `kind`, or one of the texts."""
    found = {
        "type": [kind, "string"],
        "pattern": anchor_pattern(*texts),
        **build_message(parameter),
    }
    return found | {key: limit for key, limit in limits.items() if limit is not None}


def refuse_even(schema: JsonSchema) -> JsonSchema:
    """Return the schema for odd integers."""
    wrong = {"type": "string", "errorMessage": schema["errorMessage"]}
    return schema | {"if": {"type": "integer", "multipleOf": 2}, "then": wrong}


def build_list(
    parameter: Parameter, one: JsonSchema, shortest: int, texts: list[str]
) -> JsonSchema:
    """Return the schema of a list whose elements have the schema `one`, or of the texts."""
    found: JsonSchema = {
        "type": ["array"],
        **build_message(parameter),
        "items": one,
        "minItems": shortest,
    }
    return found | (
        {"type": ["array", "string"], "pattern": anchor_pattern(*texts)} if texts else {}
    )


def build_free_text(parameter: Parameter) -> JsonSchema:
    """Return the schema of a text that YAML may read as something else."""
    return {"type": ["string", "number", "boolean"], **build_message(parameter)}


def build_field_names(what: str) -> JsonSchema:
    """Return the schema of the names of fields in a mapping."""
    return build_named(ID.pattern, what)


def list_text_forms(text: str) -> list[Any]:
    """Return what YAML may read for a text: itself, and the number or boolean it looks like."""
    if text in ("true", "false"):
        return [text, text == "true"]
    if INTEGER.fullmatch(text):
        return [text, int(text)]
    return [text, float(text)] if NUMBER.fullmatch(text) else [text]
