"""Which columns of a file are the fields, the weights and the times of changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbot.core.errors import DataError, suggest_name
from rtbot.io.column_search import (
    EMPTY,
    find_header_line,
    list_columns,
    make_absent_error,
    require_column,
    suggest_header,
)
from rtbot.tables.change_rows import OP, name_time, name_weight
from rtbot.tables.forms import TIME_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.graph.model import Input
    from rtbot.io.blocks import Source
    from rtbot.operator.schema import Schema


@dataclass(frozen=True, slots=True)
class ChangeBinding:
    """An input of changes and the columns of its file.

    `columns` has one for every field of the schema. `weight` counts how often a row is inserted or
    deleted, `operation` is whether it is one or the other; "" where there is no such column. Where
    a file is `sparse` they may be absent from a row, which is then inserted once.
    """

    input: Input
    schema: Schema
    columns: tuple[str, ...]
    weight: str = ""
    operation: str = ""
    sparse: bool = False


def bind_change_columns(
    source: Source, item: Input, time: Sequence[str]
) -> tuple[tuple[str, ...], ChangeBinding]:
    """Return the columns of times, by default found by their names, and those of the changes.

    Raises DataError where a column is not there.
    """
    schema = item.type.schema
    assert schema is not None, "an input of changes has a schema"
    times = _find_times(source, schema, time)
    columns = tuple(_find_field(source, item, name) for name in schema.names)
    weight, operation = name_weight(schema.names), "" if OP in schema.names else OP
    if not source.sparse:
        there = [name for name in (weight, operation) if name in source.names]
        if len(there) > 1:
            message = f"the columns {weight!r} and {operation!r} both say what a change is"
            hint, row = "leave one of them out", find_header_line(source)
            raise DataError(message, code="RT215", hint=hint, file=source.file, row=row)
        weight = weight if weight in there else ""
        operation = operation if operation in there else ""
    binding = ChangeBinding(item, schema, columns, weight, operation, source.sparse)
    return times, binding


def _find_field(source: Source, item: Input, name: str) -> str:
    """Return the column of a field; one that an object of JSON lacks may come in a later one."""
    if source.sparse or not source.names:
        return name
    if name in source.names or name.strip() in source.names:
        return require_column(source, name)
    near = suggest_header(source.names) or suggest_name(name, source.names)
    hint = near or f"there are {list_columns(source.names)}"
    raise make_absent_error(source, name, hint, f"column of {item.name}")


def _find_times(source: Source, schema: Schema, given: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are given, or the first that is named as times are and no field."""
    if given:
        return tuple(require_column(source, name) for name in given)
    wanted = [name_time(schema.names), *(n for n in TIME_NAMES[1:] if n not in schema.names)]
    found = next((name for name in wanted if name in source.names), None)
    if found is not None or not source.names:
        return (found or wanted[0],)
    others = {*schema.names, OP, name_weight(schema.names)}
    rest = [name for name in source.names if name not in others]
    column = rest[0] if len(rest) == 1 else "COLUMN"
    hint = suggest_header(source.names)
    hint = hint or f"there are {list_columns(source.names)}; say --time {column or EMPTY}"
    message = f"there is no column of times ({', '.join(wanted)})"
    row = find_header_line(source)
    raise DataError(message, code="RT204", hint=hint, file=source.file, row=row)
