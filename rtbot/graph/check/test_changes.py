"""Rows of a test that are changes: `[t, weight, {field: value, ...}]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import graph_error, suggest_name
from rtbot.core.scalar_values import INT64_MAX, INT64_MIN, parse_integer
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbot.operator import Type
    from rtbot.operator.schema import Field, Schema

    ReadCell = Callable[[ScalarNode, Type], Any]
    ReadTime = Callable[[ScalarNode], int]


class FieldCells(tuple[tuple[str, Any], ...]):
    """The fields of a row and their values, in the order of the schema.

    A row of changes is (cells, t, weight): it is paired as a keyed row is, and what is compared is
    its weight.
    """

    __slots__ = ()


def read_change(
    node: DocumentNode, schema: Schema, read_time: ReadTime, read_cell: ReadCell
) -> tuple[FieldCells, int, int]:
    """Return a row of changes; `read_time` and `read_cell` read the time and a value of a type."""
    example = ", ".join(f"{name}: ..." for name in schema.names[:2])
    shape = f"[t, weight, {{{example}}}]"
    items = node.items if isinstance(node, SequenceNode) else []
    if len(items) != 3:
        raise graph_error("RT150", node.mark, f"a row of a table that changes is {shape}")
    time, weight, fields = items
    if not isinstance(time, ScalarNode) or not isinstance(weight, ScalarNode):
        raise graph_error("RT150", node.mark, f"a row of a table that changes is {shape}")
    if not isinstance(fields, MappingNode):
        message = f"the fields of a row are a mapping, this is {fields.form}"
        raise graph_error("RT150", fields.mark, message, f"a row is {shape}")
    cells = read_fields(fields, schema.fields, read_cell)
    return FieldCells(cells), read_time(time), _read_weight(weight)


def _read_weight(scalar: ScalarNode) -> int:
    weight = parse_integer(scalar)
    if weight is None or weight == 0 or not INT64_MIN <= weight <= INT64_MAX:
        hint = "1 inserts a row, -1 deletes it"
        raise graph_error("RT150", scalar.mark, f"{scalar.text[:40]!r} is not a weight", hint)
    return weight


def read_fields(
    node: MappingNode, fields: Sequence[Field], read_cell: ReadCell
) -> list[tuple[str, Any]]:
    """Return the cells of a row; a field that is left out is null, if it may be."""
    names = [field.name for field in fields]
    for name in node.items:
        if name not in names:
            hint = suggest_name(name, names) or f"there are {', '.join(names)}"
            raise graph_error("RT150", node.keys[name], f"there is no field {name[:40]!r}", hint)
    found = []
    for field in fields:
        item = node.items.get(field.name)
        if item is None and field.type.nullable:
            found.append((field.name, None))
            continue
        if item is None:
            message = f"the field {field.name} is missing, which is {field.type}"
            raise graph_error("RT150", node.mark, message)
        if not isinstance(item, ScalarNode):
            message = f"the field {field.name} has a value, this is {item.form}"
            raise graph_error("RT150", item.mark, message)
        found.append((field.name, read_cell(item, field.type)))
    return found
