"""Schemas of single values, for all the ways in which YAML may read what is in the file.

An editor reads YAML's types before the schema sees a value: `20` is a number to it, "20" is text,
and a graph file takes both. Every keyword of JSON Schema applies to one type (`minimum` of numbers,
`pattern` of text, `items` of lists), so that one schema without alternatives holds them all, and a
mistake gets one message.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbot.graph.check.context import ID, PARAMETER
from rtbot.graph.check.typed_values import (
    DURATION,
    INTEGER,
    NUMBER,
    TextParameter,
    describe_parameter,
)
from rtbot.graph.check.wiring import REFERENCE
from rtbot.operator import (
    Boolean,
    Choice,
    Choices,
    Duration,
    Integer,
    Integers,
    Number,
    Numbers,
    Parameter,
    Points,
    WindowLength,
)
from rtbot.operator.relation import (
    Columns,
    Computations,
    Distance,
    FieldName,
    FieldPairs,
    Frame,
    Order,
    ProgramFile,
    RowExpression,
    RowFields,
    RulesText,
    SqlText,
    WindowComputations,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rtbot.graph.schema.definitions import Schema

EXACT = 1 << 53
"""Integers from here on are not exact in an editor, which holds numbers as float64."""

DOLLAR = PARAMETER.pattern
_NO_DOLLAR = r"[^$][\s\S]*|\$\$[\s\S]*|"


def anchor_pattern(*patterns: str) -> str:
    """Return the pattern of a text that is one of these as a whole."""
    return f"^(?:{'|'.join(patterns)})$"


def build_named(pattern: str, what: str) -> Schema:
    """Return the schema of the keys of a mapping that the user names."""
    return {
        "pattern": anchor_pattern(pattern),
        "patternErrorMessage": f"no name of {what}",
    } | HIDDEN


def describe_text(told: str) -> Schema:
    """Return what an editor shows; both keys where the text uses Markdown."""
    return {"description": told} | ({"markdownDescription": told} if "`" in told else {})


def exclude_keys(key: str, *others: str) -> Schema:
    """Return the rule that these keys are not beside the first."""
    return {"dependencies": {key: {"properties": dict.fromkeys(others, False)}}}


HIDDEN = {"doNotSuggest": True}
ANY_TEXT = {"type": ["string", "number", "boolean", "null"]}
"""Free text, such as a description: any scalar is text."""
DOC = {"description": "what it is for"} | ANY_TEXT
META = {"description": "anything of yours", "type": ["object", "null"]}

REFERRED = {
    "type": "string",
    "pattern": anchor_pattern(REFERENCE.pattern),
    "errorMessage": "a reference is `id` or `id.port`, of an element `id.0`",
}
ID_PATTERN = ID.pattern


def build_value(parameter: Parameter, *, dollar: bool = True) -> Schema:
    """Return the schema of a parameter's value; with `dollar` it may be `$name` instead."""
    reader = next(reader for kind, reader in _READERS.items() if isinstance(parameter, kind))
    return reader(parameter, [DOLLAR] if dollar else [])


def annotate_parameter(parameter: Parameter, example: Any = None) -> Schema:
    """Return the schema of an operator's parameter with all that an editor shows of it."""
    shown = [parameter.doc or parameter.name, describe_parameter(parameter)]
    result: Schema = {}
    if parameter.default is not None and not _is_inexact(parameter.default):
        shown.append(f"default {to_file_value(parameter.default)}")
        result["default"] = parameter.default
    elif example is not None:
        result["examples"] = [example]
    return describe_text("; ".join(shown)) | build_value(parameter) | result


def to_file_value(item: Any) -> str:
    """Return a value as a graph file would have it."""
    return item if isinstance(item, str) else json.dumps(item)


def _is_inexact(item: Any) -> bool:
    return isinstance(item, int) and abs(item) > EXACT


def _build_scalar(parameter: Parameter, kind: str, texts: Iterable[str], **more: Any) -> Schema:
    message = f"{describe_parameter(parameter)} is expected"
    limits = {key: limit for key, limit in more.items() if limit is not None}
    return {
        "type": [kind, "string"],
        "pattern": anchor_pattern(*texts),
        "errorMessage": message,
    } | limits


def _build_integer(parameter: Integer, texts: list[str]) -> Schema:
    limits = {"minimum": parameter.minimum, "maximum": parameter.maximum}
    result = _build_scalar(parameter, "integer", [INTEGER.pattern, *texts], **limits)
    return _refuse_even(result) if parameter.odd else result


def _refuse_even(schema: Schema) -> Schema:
    """Return the schema for odd integers."""
    wrong = {"type": "string", "errorMessage": schema["errorMessage"]}
    return schema | {"if": {"type": "integer", "multipleOf": 2}, "then": wrong}


def _build_number(parameter: Number, texts: list[str]) -> Schema:
    limits = {"minimum": parameter.minimum, "maximum": parameter.maximum}
    limits["exclusiveMinimum"] = parameter.above
    return _build_scalar(parameter, "number", [NUMBER.pattern, *texts], **limits)


def _build_boolean(parameter: Boolean, texts: list[str]) -> Schema:
    return _build_scalar(parameter, "boolean", ["true", "false", *texts])


def _build_choice(parameter: Choice, texts: list[str]) -> Schema:
    message = {"errorMessage": f"{describe_parameter(parameter)} is expected"}
    options = {"enum": [form for option in parameter.options for form in list_text_forms(option)]}
    if not texts:
        return options | message
    return {
        "anyOf": [
            options | message,
            {"type": "string", "pattern": anchor_pattern(*texts)} | message,
        ]
    }


def _build_choices(parameter: Choices, texts: list[str]) -> Schema:
    one = _build_choice(Choice(name=parameter.name, options=parameter.options), texts)
    message = {"errorMessage": f"{describe_parameter(parameter)} is expected"}
    several = {"type": "array", "items": one, "minItems": 1, "uniqueItems": True}
    return {"anyOf": [*one.get("anyOf", [one]), several | message]}


def _build_duration(parameter: Duration | WindowLength, texts: list[str]) -> Schema:
    limits = {"minimum": parameter.minimum, "maximum": parameter.maximum}
    patterns = [INTEGER.pattern, DURATION.pattern, *texts]
    result = _build_scalar(parameter, "integer", patterns, **limits)
    return _refuse_even(result) if getattr(parameter, "odd", False) else result


def _build_text(parameter: TextParameter, texts: list[str]) -> Schema:
    result = _build_scalar(parameter, "string", [_NO_DOLLAR, *texts])
    return result | {"type": ["string", "number", "boolean"]}


def _build_numbers(parameter: Numbers, texts: list[str]) -> Schema:
    one = replace(parameter.describe_element(), name="an element")
    return _build_list(parameter, build_value(one, dollar=bool(texts)), texts)


def _build_points(parameter: Points, texts: list[str]) -> Schema:
    pair = {
        "type": ["array"],
        "items": build_value(Number(name="a coordinate"), dollar=bool(texts)),
        "minItems": 2,
        "maxItems": 2,
        "errorMessage": "a point is [x, y]",
    }
    return _build_list(parameter, pair, texts)


def _build_list(parameter: Numbers | Points, one: Schema, texts: list[str]) -> Schema:
    result: Schema = {
        "type": ["array"],
        "errorMessage": f"{describe_parameter(parameter)} is expected",
        "items": one,
        "minItems": parameter.shortest,
    }
    return result | (
        {"type": ["array", "string"], "pattern": anchor_pattern(*texts)} if texts else {}
    )


def _build_field_name(parameter: FieldName, _texts: list[str]) -> Schema:
    return {
        "type": ["string", "number", "boolean"],
        "errorMessage": f"{describe_parameter(parameter)} is expected",
    }


def _build_columns(parameter: Columns, texts: list[str]) -> Schema:
    one = _build_field_name(FieldName(name=parameter.name), texts)
    return one | {
        "type": ["array", *one["type"]],
        "items": one,
        "minItems": parameter.shortest,
        "errorMessage": f"{describe_parameter(parameter)} is expected",
    }


def _build_order(parameter: Order, texts: list[str]) -> Schema:
    names = Columns(name=parameter.name, shortest=parameter.shortest)
    message = f"{describe_parameter(parameter)} is expected"
    return _build_columns(names, texts) | {"errorMessage": message}


def _build_distance(parameter: Distance, texts: list[str]) -> Schema:
    forms = [NUMBER.pattern, DURATION.pattern, *texts]
    return _build_scalar(parameter, "number", forms, minimum=parameter.minimum)


def _build_pairs(parameter: FieldPairs, texts: list[str]) -> Schema:
    one = _build_field_name(FieldName(name=parameter.name), texts)
    return one | {
        "type": ["array", "object", *one["type"]],
        "items": one,
        "additionalProperties": one,
        "maxItems": parameter.most,
        "maxProperties": parameter.most,
        "errorMessage": f"{describe_parameter(parameter)} is expected",
    }


def _build_expression(parameter: Parameter, _texts: list[str]) -> Schema:
    return {
        "type": ["string", "number", "boolean"],
        "errorMessage": f"{describe_parameter(parameter)} is expected",
    }


def _build_query(parameter: Parameter, _texts: list[str]) -> Schema:
    message = f"{parameter.name} is {describe_parameter(parameter)}, in quotes or behind |"
    return {"type": "string", "minLength": 1, "errorMessage": message}


def _build_fields(parameter: Parameter, texts: list[str]) -> Schema:
    one = _build_expression(RowExpression(name="an expression"), texts)
    return {
        "type": "object",
        "propertyNames": build_named(ID_PATTERN, "a field"),
        "additionalProperties": one | {"type": [*one["type"], "null"]},
        "minProperties": 1,
        "errorMessage": f"{describe_parameter(parameter)} is expected",
    }


_READERS: dict[type[Parameter], Callable[[Any, list[str]], Schema]] = {
    Integer: _build_integer,
    Number: _build_number,
    Boolean: _build_boolean,
    Choice: _build_choice,
    Choices: _build_choices,
    Duration: _build_duration,
    WindowLength: _build_duration,
    TextParameter: _build_text,
    Numbers: _build_numbers,
    Integers: _build_numbers,
    Points: _build_points,
    Columns: _build_columns,
    FieldName: _build_field_name,
    FieldPairs: _build_pairs,
    RowExpression: _build_expression,
    RowFields: _build_fields,
    Computations: _build_fields,
    WindowComputations: _build_fields,
    Order: _build_order,
    Frame: _build_query,
    Distance: _build_distance,
    SqlText: _build_query,
    RulesText: _build_query,
    ProgramFile: _build_query,
}


def list_text_forms(text: str) -> list[Any]:
    """Return what YAML may read for a text: itself, and the number or boolean it looks like."""
    if text in ("true", "false"):
        return [text, text == "true"]
    if INTEGER.fullmatch(text):
        return [text, int(text)]
    return [text, float(text)] if NUMBER.fullmatch(text) else [text]
