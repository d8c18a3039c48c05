"""Inputs whose messages have several values: `{record: {bid: number, ask: number}}`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtbot.core.errors import GraphError, describe_non_ascii, graph_error
from rtbot.core.vector_names import RECORD, VECTOR
from rtbot.graph.check.change_schema import read_fields
from rtbot.graph.check.context import hint_known_names
from rtbot.graph.document import MappingNode, ScalarNode, SequenceNode
from rtbot.operator import Text, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.core.source_span import SourceSpan
    from rtbot.graph.check.context import Context
    from rtbot.graph.document import DocumentNode
    from rtbot.graph.model import Input

RECORD_EXAMPLE = "write {record: {bid: number, ask: number}}"
FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}", re.ASCII)
_TEXT = re.compile(r"record\s*\{([^{}]*)\}")
_ENTRY = re.compile(r"\s*([^:]*?)\s*:\s*(.*?)\s*", re.DOTALL)


def split_record(scalar: ScalarNode) -> MappingNode | None:
    """Return the fields of a type as text, such as `record{bid: number}`; None for another type."""
    text = scalar.text
    if not re.match(rf"{RECORD}\b", text):
        return None
    found = _TEXT.fullmatch(text.strip())
    if found is None and re.fullmatch(r".*\}\s*\?", text, re.DOTALL):
        hint = "its fields may be null: record{bid: number?}"
        raise graph_error("RT140", scalar.mark, "a record is not null as a whole", hint)
    if found is None:
        message = f"{text[:60]!r} is not a record"
        raise graph_error("RT140", scalar.mark, message, RECORD_EXAMPLE)
    fields = MappingNode({}, scalar.mark)
    at = text.index("{") + 1
    for entry in found[1].split(",") if found[1].strip() else []:
        parts = _ENTRY.fullmatch(entry)
        name = entry.strip() if parts is None else parts[1]
        mark = scalar.place(at + len(entry) - len(entry.lstrip()), max(len(name), 1))
        if parts is None or not name:
            message = f"{name[:40]!r} is not a field and its type"
            raise graph_error("RT140", mark, message, RECORD_EXAMPLE)
        if name in fields.items:
            raise graph_error("RT106", mark, f"the field {name!r} is given twice", "remove one")
        place = scalar.place(at + parts.start(2), max(len(parts[2]), 1))
        fields.items[name] = ScalarNode(parts[2], place)
        fields.keys[name] = mark
        at += len(entry) + 1
    if not fields.items:
        raise graph_error("RT110", scalar.mark, "the record has no fields", RECORD_EXAMPLE)
    return fields


def read_record(name: str, declared: MappingNode, read_type: Callable[[ScalarNode], Type]) -> Type:
    """Return the type of a record; raise GraphError with every problem of its fields.

    `read_type` returns the type that a text names.
    """
    fields = read_fields(declared, check_field, read_type)
    names = {field.name for field in fields}
    masks = [f"{one.name}_valid" for one in fields if one.type.nullable]
    for mask in masks:
        if mask in names:
            hint = "tables have it beside a field that may be null"
            message = f"{name} has a field {mask!r}"
            raise graph_error("RT107", declared.keys[mask], message, hint)
    return Type(RECORD, fields=fields)


def read_columns(node: DocumentNode, one: Input, context: Context) -> dict[str, str]:
    """Return the columns of fields that the `io` of a record names: `{bid: Best Bid}`.

    Those of a vector are a list.
    """
    if one.type.kind == VECTOR:
        return _read_element_columns(node, one, context)
    names = [field.name for field in one.type.fields]
    if not isinstance(node, MappingNode):
        hint = f"write {{{names[0]}: COLUMN}}"
        context.problems.add("RT105", node.mark, f"columns is a mapping, this is {node.form}", hint)
        return {}
    found = {}
    for name, item in node.items.items():
        try:
            if name not in names:
                hint = context.problems.suggest_name(name, names) or hint_known_names(names)
                message = f"{one.name} has no field {name[:40]!r}"
                raise graph_error("RT120", node.keys[name], message, hint)
            found[name] = Text(name="a column").read(item, context)
        except GraphError as error:
            context.problems.found += error.problems
    return found


def _read_element_columns(node: DocumentNode, one: Input, context: Context) -> dict[str, str]:
    size = len(one.type.fields)
    hint = f"write a list of {size} columns"
    if not isinstance(node, SequenceNode):
        message = f"columns of a vector is a list, this is {node.form}"
        context.problems.add("RT105", node.mark, message, hint)
        return {}
    if len(node.items) != size:
        message = f"{len(node.items)} columns, and {one.name} is {one.type}"
        context.problems.add("RT116", node.mark, message, hint)
        return {}
    try:
        columns = [Text(name="a column").read(item, context) for item in node.items]
    except GraphError as error:
        context.problems.found += error.problems
        return {}
    return {str(place): column for place, column in enumerate(columns)}


def check_field(field: str, mark: SourceSpan) -> None:
    """Refuse a name that a field cannot have."""
    if field == "t":
        message = "a field is named t, as the time of a message is"
        raise graph_error("RT107", mark, message, "give the field another name")
    if not FIELD.fullmatch(field):
        hint = describe_non_ascii(field) or "a letter, then letters, digits and _, 64 at most"
        raise graph_error("RT107", mark, f"{field[:80]!r} is not a valid name of a field", hint)
