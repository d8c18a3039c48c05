"""The `params` section: declarations, defaults, and the values given at the call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, graph_error, suggest_known_name
from rtbot.core.scalar_values import INTEGER, NUMBER
from rtbot.core.source_span import SourceSpan
from rtbot.graph.check.context import (
    Context,
    GraphParameter,
    hint_known_names,
    read_entries,
    read_text,
)
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode
from rtbot.graph.document.mapping import unwrap_scalar
from rtbot.operator import (
    Boolean,
    Duration,
    Integer,
    Number,
    Numbers,
    Parameter,
    Points,
    Text,
    TimeSpan,
)

if TYPE_CHECKING:
    from collections import abc

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}", re.ASCII)
KEYS = ("type", "default", "min", "max", "choices", "doc")
TYPES: dict[str, type[Parameter]] = {
    "number": Number,
    "integer": Integer,
    "boolean": Boolean,
    "text": Text,
    "duration": Duration,
    "numbers": Numbers,
    "points": Points,
}


def read_parameters(
    node: DocumentNode | None, given: abc.Mapping[str, Any], context: Context
) -> dict[str, GraphParameter]:
    """Check the section and the values given for it; `$name` is not resolved here."""
    result = {}
    for name, item in read_entries(node, "params", None, context.problems).items():
        assert isinstance(node, MappingNode)
        mark = node.keys[name]
        poisoned = GraphParameter(name, "", None, mark, poisoned=True)
        try:
            result[name] = _read_parameter(name, item, mark, given, context)
        except GraphError as error:
            context.problems.found += error.problems
            result[name] = poisoned
    for name in given:
        if name not in result and not context.blind:
            hint = context.problems.suggest_name(name, result) or hint_known_names(result)
            message = f"unknown parameter {name!r}"
            context.problems.add("RT114", SourceSpan("<parameters>"), message, hint)
    return result


def _read_parameter(
    name: str, node: DocumentNode, mark: SourceSpan, given: abc.Mapping[str, Any], context: Context
) -> GraphParameter:
    if not NAME.fullmatch(name):
        hint = "a letter, then letters, digits and _, 64 at most"
        raise graph_error("RT107", mark, f"{name[:80]!r} is not a valid name of a parameter", hint)
    found = len(context.problems.found)
    fields = _read_fields(node, name, context)
    if len(context.problems.found) > found:
        raise GraphError([])
    kind = _find_kind(name, fields, mark)
    declared = _make_declaration(name, kind, fields, context)
    value = None
    if "default" in fields:
        value = _check_value(declared, fields, fields["default"], context)
    if name in given:
        value = _check_value(declared, fields, _make_node(name, given[name]), context)
    elif "default" not in fields:
        hint = f"give it a default, or a value: `-p {name}=...`"
        raise graph_error("RT111", mark, f"the parameter {name} has no value", hint)
    return GraphParameter(name, kind, value, mark)


def _read_fields(node: DocumentNode, name: str, context: Context) -> dict[str, DocumentNode]:
    if isinstance(node, MappingNode):
        fields = read_entries(node, f"the parameter {name}", KEYS, context.problems)
        read_text(fields.get("doc"), "doc", context.problems)
        return fields
    return {"default": node}


def _find_kind(name: str, fields: dict[str, DocumentNode], mark: SourceSpan) -> str:
    """Return the declared type, or the type of the default."""
    declared, default = fields.get("type"), fields.get("default")
    if declared is not None:
        kind = declared.text if isinstance(declared, ScalarNode) else ""
        if kind not in TYPES:
            hint = suggest_known_name(kind, TYPES) or f"there are {', '.join(TYPES)}"
            raise graph_error("RT140", declared.mark, f"unknown type {kind!r} of a parameter", hint)
        return kind
    if isinstance(default, SequenceNode):
        nested = any(isinstance(item, SequenceNode) for item in default.items)
        return "points" if nested else "numbers"
    if not isinstance(default, ScalarNode) or default.missing:
        where = default.mark if default else mark
        hint = "write a default, or {type: number}"
        raise graph_error(
            "RT110", where, f"the parameter {name} has neither a type nor a default", hint
        )
    return _infer_kind(default)


def _infer_kind(scalar: ScalarNode) -> str:
    if not isinstance(scalar.value, str):
        kinds = {bool: "boolean", int: "integer", float: "number"}
        return kinds[type(scalar.value)]
    if scalar.quoted:
        return "text"
    if INTEGER.fullmatch(scalar.value):
        return "integer"
    if NUMBER.fullmatch(scalar.value):
        return "number"
    return "boolean" if scalar.value in ("true", "false") else "text"


def _make_declaration(
    name: str, kind: str, fields: dict[str, DocumentNode], context: Context
) -> Parameter:
    """Make the declaration whose conversion checks a value, with its range."""
    parameter = TYPES[kind](name=name)
    if isinstance(parameter, Duration):
        parameter.minimum = None
    for key in ("min", "max"):
        if key not in fields:
            continue
        if not isinstance(parameter, Number | Integer | Duration):
            raise graph_error("RT105", fields[key].mark, f"a parameter of type {kind} has no {key}")
        bound = TYPES[kind](name=f"{key} of {name}")
        if isinstance(bound, Duration):
            bound.minimum = None
        setattr(parameter, f"{key}imum", bound.read(fields[key], context))
    low, high = getattr(parameter, "minimum", None), getattr(parameter, "maximum", None)
    if low is not None and high is not None and low > high:
        raise graph_error("RT116", fields["min"].mark, f"min {low} is greater than max {high}")
    return parameter


def _check_value(
    parameter: Parameter, fields: dict[str, DocumentNode], node: DocumentNode, context: Context
) -> Any:
    value = parameter.read(node, context)
    if isinstance(parameter, Duration):
        value = TimeSpan(value)
    choices = fields.get("choices")
    if choices is None:
        return value
    if not isinstance(choices, SequenceNode):
        raise graph_error("RT105", choices.mark, f"choices is a list, this is {choices.form}")
    allowed = [parameter.read(item, context) for item in choices.items]
    if value not in allowed:
        hint = "there are " + ", ".join(str(choice) for choice in allowed)
        raise graph_error(
            "RT112", node.mark, f"{parameter.name} is {value!r}, not one of its choices", hint
        )
    return value


def _make_node(name: str, value: Any) -> DocumentNode:
    """Make a node of a value given at the call: text from a command line, or a Python value."""
    mark = SourceSpan(f"<parameters> {name}")
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return SequenceNode([_make_node(name, item) for item in value], mark)
    if value is None:
        raise graph_error("RT113", mark, f"{name} is None, which is not a value of a parameter")
    return ScalarNode(unwrap_scalar(value, mark), mark, quoted=True)
