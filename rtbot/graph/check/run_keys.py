"""The run's key columns where series become changes of rows, and rows become series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.core.errors import join_names
from rtbot.graph.document import MappingNode
from rtbot.operator import Type
from rtbot.operator.schema import Field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.graph.check.context import Context
    from rtbot.graph.document import DocumentNode
    from rtbot.graph.model import Io, Node

CHANGES = "changes"


def make_key_fields(io: Io) -> tuple[Field, ...]:
    """Return the fields that the key columns are in a row; a key may be null."""
    kinds = io.reading.key_types
    return tuple(Field(name, Type(kinds.get(name, "text"), nullable=True)) for name in io.key)


def check_bridges(
    nodes: Iterable[Node], io: Io, section: DocumentNode | None, context: Context
) -> None:
    """Note key columns without a type behind which rows are made, and rows without the columns."""
    for node in nodes:
        reads = any(node.types[port].kind == CHANGES for port in node.inputs)
        gives = any(node.types[port].kind == CHANGES for port in node.outputs)
        if gives and not reads:
            _check_key_types(node, io, section, context)
        elif reads and not gives:
            _check_key_columns(node, io, context)


def _check_key_types(node: Node, io: Io, section: DocumentNode | None, context: Context) -> None:
    known = {*io.reading.key_types, io.reading.columns_as}
    untyped = [name for name in io.key if name not in known]
    if not untyped:
        return
    mark = node.mark
    if isinstance(section, MappingNode) and "key" in section.items:
        mark = section.items["key"].mark
    message = f"the type of the key {join_names(untyped)} is not known, and {node.id} makes rows"
    hint = f"write key: {{{untyped[0]}: text}}, or integer"
    context.problems.add("RT160", mark, message, hint)


def _check_key_columns(node: Node, io: Io, context: Context) -> None:
    schema = next(node.types[port].schema for port in node.inputs)
    assert schema is not None, "a ToSeries reads changes"
    for field in make_key_fields(io):
        kinds = [one.type.kind for one in schema if one.name == field.name]
        if kinds != [field.type.kind]:
            found = f"its field is {kinds[0]}" if kinds else "the rows have no such field"
            message = f"{node.id} needs the key column {field.name} ({field.type.kind}): {found}"
            hint = "a series of a keyed run has a value for each key"
            context.problems.add("RT125", node.mark, message, hint, operator=node.id)
