"""Rows of changes from messages of series, and messages from rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrays import put_nulls
from rtbot.core.errors import DataError
from rtbot.relations.change_feed import TimedRows
from rtbot.relations.stores import list_key_parts
from rtbot.tables import text_columns
from rtbot.tables.convert import convert_key
from rtbot.tables.text_columns import TextColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.operator.schema import Field
    from rtbot.relations.row_codec import RowCodec
    from rtbot.tables import Columns
    from rtbot.tables.convert import Key

    Table = Mapping[str, np.ndarray]
    Cells = tuple[np.ndarray | TextColumn, np.ndarray | None]


def make_rows(table: Table, key: Sequence[str], codec: RowCodec) -> TimedRows:
    """Return an insert for every message of a series: the key columns, then the value.

    Raises DataError for a key that is not of the type that the graph gives it.
    """
    fields = codec.schema.fields
    cells = [_read_key(table[name], field) for name, field in zip(key, fields, strict=False)]
    value: Any = table["value"]
    if fields[-1].type.kind == "text":
        value = text_columns.encode_text(value.tolist())
    cells.append((value, table.get("value_valid")))
    words = codec.encode([column for column, _ in cells], [valid for _, valid in cells])
    return TimedRows(table["t"], words, np.ones(len(words), np.int64))


def check_keys(columns: Columns, fields: Sequence[Field]) -> None:
    """Raise DataError for key columns that are not of the types that the graph gives them."""
    for part, field in zip(columns.keys, fields, strict=False):
        _fit_key(part, field)


def _read_key(column: np.ndarray, field: Field) -> Cells:
    """Return the values of a key column, and which are not null."""
    return _fit_key(convert_key(column.tolist() if column.dtype == object else column), field)


def _fit_key(part: Key, field: Field) -> Cells:
    values: np.ndarray | TextColumn
    valid: np.ndarray | None
    if isinstance(part, TextColumn):
        values, valid, kind = part, part.codes >= 0, "text"
    elif isinstance(part, tuple):
        values, valid, kind = part[0], part[1], "integer"
    else:
        values, valid, kind = part, None, "integer"
    if kind != field.type.kind and (valid is None or valid.any()):
        message = f"the key {field.name} is {kind}, and the graph has it as {field.type.kind}"
        hint = f"write io: {{key: {{{field.name}: {kind}}}}}"
        raise DataError(message, code="RT212", hint=hint, column=field.name)
    if isinstance(values, TextColumn) and field.type.kind != "text":
        return np.zeros(len(values), np.int64), valid
    if isinstance(values, np.ndarray) and field.type.kind == "text":
        return TextColumn(np.full(len(values), -1), []), valid
    return values, valid


def make_messages(
    rows: TimedRows, key: Sequence[str], field: str, codec: RowCodec
) -> dict[str, np.ndarray]:
    """Return a table of the values of a field, after every transaction that changed a row of a key.

    Rows are as a region releases them: netted, deletes first, with at most one insert for a key.
    """
    last = _find_last(rows, key, codec)
    chosen = rows.words[last]
    columns = codec.decode(chosen)
    there = rows.weights[last] > 0
    table = {name: _restore_key(columns, name) for name in key}
    valid = there & columns.get(f"{field}_valid", there)
    return table | {"t": rows.time[last], "value": columns[field], "value_valid": valid}


def _restore_key(columns: Table, name: str) -> Any:
    """Return a key column; of integers with nulls, as a list."""
    column, valid = columns[name], columns.get(f"{name}_valid")
    if column.dtype == object:
        return column.tolist()
    if valid is None or valid.all():
        return column
    return put_nulls(column.tolist(), valid)


def _find_last(rows: TimedRows, key: Sequence[str], codec: RowCodec) -> np.ndarray:
    """Return the last row of every key in every transaction."""
    count = len(rows)
    if not count:
        return np.empty(0, np.int64)
    places, bits = list_key_parts(codec.schema, key)
    columns = [rows.time, *(rows.words[:, places] & bits).T]
    order = np.lexsort(columns[::-1]) if key else np.arange(count)
    ends = np.zeros(count, np.bool_)
    ends[-1] = True
    for column in columns:
        inside = column[order]
        ends[:-1] |= inside[1:] != inside[:-1]
    found: np.ndarray = np.sort(order[ends])
    return found
