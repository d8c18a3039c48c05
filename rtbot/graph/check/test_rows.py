"""Rows of a test: from lists of scalars to keys, times and values of the type of their stream."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import DataError, GraphError, graph_error
from rtbot.core.scalar_values import (
    INT64_MAX,
    INT64_MIN,
    parse_boolean,
    parse_integer,
    parse_number,
)
from rtbot.core.source_span import SourceSpan
from rtbot.core.times import TimeStyle, detect_style, parse_time
from rtbot.core.vector_names import VECTOR
from rtbot.graph.check.context import read_entries
from rtbot.graph.check.test_changes import read_change, read_fields
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode
from rtbot.storage.files import STANDARD

if TYPE_CHECKING:
    from rtbot.graph.check.context import Context
    from rtbot.operator import Type

Row = tuple[Any, ...]


@dataclass(frozen=True)
class GraphTestRows:
    """Rows as (t, value) or, in a keyed test, (key..., t, value); or the path of a file of them.

    Changes are (cells, t, weight), with `FieldCells`.

    `lines` has the line of every row. `style` is how times are written, None if as integers.
    `missing` is whether nothing is there yet, not even an empty list.
    """

    rows: tuple[Row, ...] = ()
    file: str = ""
    mark: SourceSpan = SourceSpan()
    lines: tuple[int, ...] = ()
    style: TimeStyle | None = None
    missing: bool = False


def read_rows(node: DocumentNode, type_: Type, keys: int, context: Context) -> GraphTestRows:
    """Return the rows of a stream of this type, in a test with so many key columns."""
    if isinstance(node, MappingNode):
        return GraphTestRows(file=_read_path(node, context), mark=node.mark)
    if not isinstance(node, SequenceNode):
        if node.missing:
            return GraphTestRows(mark=node.mark, missing=True)
        raise graph_error("RT150", node.mark, "rows are a list, as in [[1, 20.5], [2, 21]]")
    if type_.schema is not None:
        keys = 0
    rows = tuple(_read_row(item, type_, keys, context) for item in node.items)
    lines = tuple(item.mark.line for item in node.items)
    return GraphTestRows(rows, mark=node.mark, lines=lines, style=_detect_style(node, keys))


def _read_path(node: MappingNode, context: Context) -> str:
    """Return the path of a file of rows, which is beside the graph's file or below it."""
    path = read_entries(node, "rows", ("csv",), context.problems).get("csv")
    if path is None and node.items:
        raise GraphError([])
    if not isinstance(path, ScalarNode) or path.missing:
        raise graph_error("RT150", node.mark, "rows are a list, or {csv: path}")
    parts = PureWindowsPath(path.text)
    if parts.anchor or ".." in parts.parts or path.text == STANDARD:
        hint = "name a file beside the graph or below it, as data/rows.csv"
        raise graph_error(
            "RT150", path.mark, f"{path.text!r} is not below the graph's folder", hint
        )
    return path.text


def _read_row(node: DocumentNode, type_: Type, keys: int, context: Context) -> Row:
    if type_.schema is not None:
        read_time = partial(_read_time, unit=context.unit)
        return read_change(node, type_.schema, read_time, _read_cell)
    shape = "[" + "key, " * keys + "t, value]"
    if not isinstance(node, SequenceNode) or len(node.items) != keys + 2:
        hint = "" if keys else "keyed rows need `key: [column]` in the test"
        if not isinstance(node, SequenceNode):
            hint = "rows are lists in a list, as in [[1, 20.5], [2, 21]]"
        raise graph_error("RT150", node.mark, f"a row is {shape}", hint)
    scalars = []
    for item in node.items[:-1] if type_.fields else node.items:
        if not isinstance(item, ScalarNode):
            raise graph_error("RT150", item.mark, f"a row is {shape}, this is {item.form}")
        scalars.append(item)
    if type_.fields:
        *names, time = scalars
        fields = node.items[-1]
        if type_.kind == VECTOR:
            cells = _read_vector(fields, type_)
            return (*map(_read_key, names), _read_time(time, context.unit), cells)
        if not isinstance(fields, MappingNode):
            example = ", ".join(f"{field.name}: ..." for field in type_.fields[:2])
            message = f"a record is a mapping {{{example}}}, this is {fields.form}"
            raise graph_error("RT150", fields.mark, message)
        cell: Any = dict(read_fields(fields, type_.fields, _read_cell))
        return (*map(_read_key, names), _read_time(time, context.unit), cell)
    *names, time, value = scalars
    return (*map(_read_key, names), _read_time(time, context.unit), _read_cell(value, type_))


def _read_vector(node: DocumentNode, type_: Type) -> list[Any] | None:
    """Read a vector: a list of its elements, or null where the type allows it."""
    if isinstance(node, ScalarNode) and node.missing and type_.nullable:
        return None
    size = len(type_.fields)
    if not isinstance(node, SequenceNode):
        message = f"a vector is a list of {size} numbers, this is {node.form}"
        raise graph_error("RT150", node.mark, message, "write [t, [1, 2, ...]]")
    if len(node.items) != size:
        message = f"a list of {len(node.items)}, where {type_} is expected"
        raise graph_error("RT150", node.mark, message)
    element = type_.as_nullable(nullable=False).fields[0].type
    cells = []
    for item in node.items:
        if not isinstance(item, ScalarNode):
            raise graph_error("RT150", item.mark, f"an element is a number, this is {item.form}")
        cells.append(_read_cell(item, element))
    return cells


def _read_time(scalar: ScalarNode, unit: str | None) -> int:
    """Read a time: an integer in `io.unit`, or ISO 8601 text if the graph has a unit."""
    at = parse_integer(scalar)
    hint = "a time is an integer in io.unit, or text such as 2024-01-31T12:00:00"
    if at is None and detect_style(scalar.text) is not None:
        if unit is None:
            hint = "set io.unit (s, ms, us, ns) to write times as text"
            raise graph_error("RT150", scalar.mark, "a time as text, but no io.unit", hint)
        try:
            at = parse_time(scalar.text, unit)
        except DataError as error:
            raise graph_error("RT150", scalar.mark, error.message, error.hint) from None
    if at is None or not INT64_MIN <= at <= INT64_MAX:
        raise graph_error("RT150", scalar.mark, f"{scalar.text[:40]!r} is not a time", hint)
    return at


def _detect_style(node: SequenceNode, keys: int) -> TimeStyle | None:
    """Return how the first time that is text is written."""
    times = (row.items[keys] for row in node.items if isinstance(row, SequenceNode))
    styles = (detect_style(time.text) for time in times if isinstance(time, ScalarNode))
    return next(filter(None, styles), None)


def _read_key(scalar: ScalarNode) -> Any:
    """Read a key: an integer if it is written as one without quotes, null, or else text."""
    if scalar.missing:
        return None
    value = None if scalar.quoted else parse_integer(scalar)
    return value if value is not None else scalar.text


def _read_cell(scalar: ScalarNode, type_: Type) -> Any:
    if type_.nullable and scalar.missing:
        return None
    value: Any
    if type_.kind == "number":
        value = parse_number(scalar, special=True)
    elif type_.kind == "integer":
        value = parse_integer(scalar)
        if value is not None and not INT64_MIN <= value <= INT64_MAX:
            value = None
    elif type_.kind == "boolean":
        value = parse_boolean(scalar)
    else:
        value = scalar.text if scalar.value is not None else None
    if value is None:
        raise graph_error("RT150", scalar.mark, f"{scalar.text[:40]!r} is not of type {type_}")
    return value
