"""Schemas of single values: those of parameters with what an editor shows, and those of the file.

How they hold for all the ways in which YAML may read a value is in
`rtbot.operator.parameter_kinds.schema_texts`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rtbot.core.scalar_values import ID, PARAMETER
from rtbot.graph.check.wiring import REFERENCE
from rtbot.operator.parameter_kinds.schema_texts import anchor_pattern

if TYPE_CHECKING:
    from rtbot.graph.schema.definitions import Schema
    from rtbot.operator import Parameter

EXACT = 1 << 53
"""Integers from here on are not exact in an editor, which holds numbers as float64."""

DOLLAR = PARAMETER.pattern


def describe_text(told: str) -> Schema:
    """Return what an editor shows; both keys where the text uses Markdown."""
    return {"description": told} | ({"markdownDescription": told} if "`" in told else {})


def exclude_keys(key: str, *others: str) -> Schema:
    """Return the rule that these keys are not beside the first."""
    return {"dependencies": {key: {"properties": dict.fromkeys(others, False)}}}


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
    return parameter.build_schema([DOLLAR] if dollar else [])


def annotate_parameter(parameter: Parameter, example: Any = None) -> Schema:
    """Return the schema of an operator's parameter with all that an editor shows of it."""
    shown = [parameter.doc or parameter.name, parameter.describe()]
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
