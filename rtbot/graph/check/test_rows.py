"""Rows of a test: from lists of scalars to keys, times and values of the type of their stream."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import DataError, GraphError, refused
from rtbot.core.source_span import Mark
from rtbot.core.times import Style, parse_one, style_of
from rtbot.graph.check.context import entries
from rtbot.graph.check.typed_values import INT64_MAX, INT64_MIN, boolean, integer, number
from rtbot.graph.document import Mapping as MappingNode
from rtbot.graph.document import Node, Scalar, Sequence
from rtbot.storage.files import STANDARD

if TYPE_CHECKING:
    from rtbot.graph.check.context import Context
    from rtbot.operator import Type

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Rows:
    """Rows as (t, value) or, in a keyed test, (key..., t, value); or the path of a file of them.

    `lines` has the line of every row. `style` is how times are written, None if as integers.
    `missing` says that nothing stands there yet, not even an empty list.
    """

    rows: tuple[Row, ...] = ()
    file: str = ""
    mark: Mark = Mark()
    lines: tuple[int, ...] = ()
    style: Style | None = None
    missing: bool = False


def read_rows(node: Node, type_: Type, keys: int, context: Context) -> Rows:
    """Return the rows of a stream of this type, in a test with so many key columns."""
    if isinstance(node, MappingNode):
        return Rows(file=_file(node, context), mark=node.mark)
    if not isinstance(node, Sequence):
        if node.missing:
            return Rows(mark=node.mark, missing=True)
        raise refused("RT150", node.mark, "rows are a list, as in [[1, 20.5], [2, 21]]")
    rows = tuple(_row(item, type_, keys, context) for item in node.items)
    lines = tuple(item.mark.line for item in node.items)
    return Rows(rows, mark=node.mark, lines=lines, style=_style(node, keys))


def _file(node: MappingNode, context: Context) -> str:
    """Return the path of a file of rows, which is beside the graph's file or below it."""
    path = entries(node, "rows", ("csv",), context.problems).get("csv")
    if path is None and node.items:
        raise GraphError([])
    if not isinstance(path, Scalar) or path.missing:
        raise refused("RT150", node.mark, "rows are a list, or {csv: path}")
    parts = PureWindowsPath(path.text)
    if parts.anchor or ".." in parts.parts or path.text == STANDARD:
        hint = "name a file beside the graph or below it, as data/rows.csv"
        raise refused("RT150", path.mark, f"{path.text!r} is not below the graph's folder", hint)
    return path.text


def _row(node: Node, type_: Type, keys: int, context: Context) -> Row:
    shape = "[" + "key, " * keys + "t, value]"
    if not isinstance(node, Sequence) or len(node.items) != keys + 2:
        hint = "" if keys else "keyed rows need `key: [column]` in the test"
        if not isinstance(node, Sequence):
            hint = "rows are lists in a list, as in [[1, 20.5], [2, 21]]"
        raise refused("RT150", node.mark, f"a row is {shape}", hint)
    scalars = []
    for item in node.items:
        if not isinstance(item, Scalar):
            raise refused("RT150", item.mark, f"a row is {shape}, this is {item.form}")
        scalars.append(item)
    *names, time, cell = scalars
    return (*map(_key, names), _time(time, context.unit), _cell(cell, type_))


def _time(scalar: Scalar, unit: str | None) -> int:
    """A time is an integer in `io.unit`, or ISO 8601 text if the graph has a unit."""
    at = integer(scalar)
    hint = "a time is an integer in io.unit, or text such as 2024-01-31T12:00:00"
    if at is None and style_of(scalar.text) is not None:
        if unit is None:
            hint = "set io.unit (s, ms, us, ns) to write times as text"
            raise refused("RT150", scalar.mark, "a time as text, but no io.unit", hint)
        try:
            at = parse_one(scalar.text, unit)
        except DataError as error:
            raise refused("RT150", scalar.mark, error.message, error.hint) from None
    if at is None or not INT64_MIN <= at <= INT64_MAX:
        raise refused("RT150", scalar.mark, f"{scalar.text[:40]!r} is no time", hint)
    return at


def _style(node: Sequence, keys: int) -> Style | None:
    """Return how the first time that is text is written."""
    times = (row.items[keys] for row in node.items if isinstance(row, Sequence))
    styles = (style_of(time.text) for time in times if isinstance(time, Scalar))
    return next(filter(None, styles), None)


def _key(scalar: Scalar) -> Any:
    """A key is an integer if it is written as one without quotes, null, or else text."""
    if scalar.missing:
        return None
    value = None if scalar.quoted else integer(scalar)
    return value if value is not None else scalar.text


def _cell(scalar: Scalar, type_: Type) -> Any:
    if type_.nullable and scalar.missing:
        return None
    value: Any
    if type_.kind == "number":
        value = number(scalar, special=True)
    elif type_.kind == "integer":
        value = integer(scalar)
        if value is not None and not INT64_MIN <= value <= INT64_MAX:
            value = None
    elif type_.kind == "boolean":
        value = boolean(scalar)
    else:
        value = scalar.text if scalar.value is not None else None
    if value is None:
        raise refused("RT150", scalar.mark, f"{scalar.text[:40]!r} is no {type_}")
    return value
