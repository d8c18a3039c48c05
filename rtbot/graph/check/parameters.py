"""The `params` section: declarations, defaults, and the values given at the call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, nearest_of_ours, refused
from rtbot.core.source_span import Mark
from rtbot.graph.check.context import Context, GraphParameter, entries, known, text_of
from rtbot.graph.check.typed_values import INTEGER, NUMBER, Text, convert
from rtbot.graph.document import Mapping, Node, Scalar, Sequence
from rtbot.graph.document.mapping import plain_scalar
from rtbot.operator import Boolean, Duration, Integer, Number, Numbers, Parameter

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
}


def read_parameters(
    node: Node | None, given: abc.Mapping[str, Any], context: Context
) -> dict[str, GraphParameter]:
    """Check the section and the values given for it; `$name` is not resolved in here."""
    result = {}
    for name, item in entries(node, "params", None, context.problems).items():
        assert isinstance(node, Mapping)
        mark = node.keys[name]
        poisoned = GraphParameter(name, "", None, mark, poisoned=True)
        try:
            result[name] = _parameter(name, item, mark, given, context)
        except GraphError as error:
            context.problems.found += error.problems
            result[name] = poisoned
    for name in given:
        if name not in result and not context.blind:
            hint = context.problems.nearest(name, result) or known(result)
            message = f"unknown parameter {name!r}"
            context.problems.add("RT114", Mark("<parameters>"), message, hint)
    return result


def _parameter(
    name: str, node: Node, mark: Mark, given: abc.Mapping[str, Any], context: Context
) -> GraphParameter:
    if not NAME.fullmatch(name):
        hint = "a letter, then letters, digits and _, 64 at most"
        raise refused("RT107", mark, f"{name[:80]!r} is no valid name of a parameter", hint)
    found = len(context.problems.found)
    fields = _fields(node, name, context)
    if len(context.problems.found) > found:
        raise GraphError([])
    kind = _kind(name, fields, mark)
    declared = _declared(name, kind, fields, context)
    value = None
    if "default" in fields:
        value = _checked(declared, fields, fields["default"], context)
    if name in given:
        value = _checked(declared, fields, _given(name, given[name]), context)
    elif "default" not in fields:
        hint = f"give it a default, or a value: `-p {name}=...`"
        raise refused("RT111", mark, f"the parameter {name} has no value", hint)
    return GraphParameter(name, kind, value, mark)


def _fields(node: Node, name: str, context: Context) -> dict[str, Node]:
    if isinstance(node, Mapping):
        fields = entries(node, f"the parameter {name}", KEYS, context.problems)
        text_of(fields.get("doc"), "doc", context.problems)
        return fields
    return {"default": node}


def _kind(name: str, fields: dict[str, Node], mark: Mark) -> str:
    """Return the declared type, or the type of the default."""
    declared, default = fields.get("type"), fields.get("default")
    if declared is not None:
        kind = declared.text if isinstance(declared, Scalar) else ""
        if kind not in TYPES:
            hint = nearest_of_ours(kind, TYPES) or f"there are {', '.join(TYPES)}"
            raise refused("RT140", declared.mark, f"unknown type {kind!r} of a parameter", hint)
        return kind
    if isinstance(default, Sequence):
        return "numbers"
    if not isinstance(default, Scalar) or default.missing:
        where = default.mark if default else mark
        hint = "write a default, or {type: number}"
        raise refused(
            "RT110", where, f"the parameter {name} has neither a type nor a default", hint
        )
    return _kind_of(default)


def _kind_of(scalar: Scalar) -> str:
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


def _declared(name: str, kind: str, fields: dict[str, Node], context: Context) -> Parameter:
    """Make the declaration whose conversion checks a value, with its range."""
    parameter = TYPES[kind](name=name)
    if isinstance(parameter, Duration):
        parameter.minimum = None
    for key in ("min", "max"):
        if key not in fields:
            continue
        if not isinstance(parameter, Number | Integer | Duration):
            raise refused("RT105", fields[key].mark, f"a parameter of type {kind} has no {key}")
        bound = TYPES[kind](name=f"{key} of {name}")
        if isinstance(bound, Duration):
            bound.minimum = None
        setattr(parameter, f"{key}imum", convert(bound, fields[key], context))
    low, high = getattr(parameter, "minimum", None), getattr(parameter, "maximum", None)
    if low is not None and high is not None and low > high:
        raise refused("RT116", fields["min"].mark, f"min {low} is greater than max {high}")
    return parameter


def _checked(parameter: Parameter, fields: dict[str, Node], node: Node, context: Context) -> Any:
    value = convert(parameter, node, context)
    choices = fields.get("choices")
    if choices is None:
        return value
    if not isinstance(choices, Sequence):
        raise refused("RT105", choices.mark, f"choices is a list, this is {choices.form}")
    allowed = [convert(parameter, item, context) for item in choices.items]
    if value not in allowed:
        hint = "there are " + ", ".join(str(choice) for choice in allowed)
        raise refused(
            "RT112", node.mark, f"{parameter.name} is {value!r}, not one of its choices", hint
        )
    return value


def _given(name: str, value: Any) -> Node:
    """Make a node of a value given at the call: text from a command line, or a Python value."""
    mark = Mark(f"<parameters> {name}")
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return Sequence([Scalar(plain_scalar(v, mark), mark, quoted=True) for v in value], mark)
    if value is None:
        raise refused("RT113", mark, f"{name} is None, no value of a parameter")
    return Scalar(plain_scalar(value, mark), mark, quoted=True)
