"""Rows sorted by key and time: where keys begin, whether times ascend, what is wrong with a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from rtbot import DataError
from rtbot.adapter import from_numpy, to_times

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from spark_adapter.partition import JobSpec


def find_key_starts(chunk: pa.Table, keys: Sequence[str]) -> list[int]:
    """Return where the rows of each key begin, and at the end the number of rows."""
    return [*np.flatnonzero(find_key_changes(chunk, keys)).tolist(), chunk.num_rows]


def find_key_changes(chunk: pa.Table, keys: Sequence[str]) -> np.ndarray:
    """Return whether a row has another key than the one before it, as the first has."""
    differs = np.zeros(chunk.num_rows, np.bool_)
    differs[:1] = True
    for name in keys:
        column = chunk.column(name).combine_chunks()
        before, after = column.slice(0, len(column) - 1), column.slice(1)
        unequal = pc.fill_null(pc.not_equal(after, before), False)
        if column.null_count:
            unequal = pc.or_(unequal, pc.xor(pc.is_null(after), pc.is_null(before)))
        differs[1:] |= np.asarray(unequal.to_numpy(zero_copy_only=False))
    return differs


def read_key(chunk: pa.Table, row: int, keys: Sequence[str]) -> tuple[Any, ...]:
    """Return the key of a row, as Arrow scalars."""
    return tuple(chunk.column(name)[row] for name in keys)


def convert_row_times(
    chunk: pa.Table, work: JobSpec, starts: Sequence[int], newest: int
) -> pa.Table:
    """Return the rows with their times as int64 in io.unit.

    `starts` are the rows at which a key begins; the row before the first was at `newest`. Raises
    DataError unless every row has a time, and those of a key ascend.
    """
    place = chunk.column_names.index(work.time)
    found = read_times(chunk, work)
    before = np.concatenate([[newest], found[:-1]])
    back = found < before
    back[starts] = False
    if back.any():
        row = int(back.argmax())
        message = "rows are not in the order of time: t={} comes after t={}"
        turned = int(found[row]), int(before[row])
        hint = "a table function needs ORDER BY with the column of times"
        where = _locate_row(chunk, work, row)
        raise DataError(message, code="RT202", hint=hint, times=turned, **where)
    return chunk.set_column(place, work.time, from_numpy(found))


def read_times(chunk: pa.Table, work: JobSpec) -> np.ndarray:
    """Return the times of rows as int64 in io.unit; DataError, with its place, for one without."""
    given = chunk.column(work.time).combine_chunks()
    try:
        return to_times(given, work.unit)
    except DataError as error:
        raise error.at(
            row=None, **_locate_row(chunk, work, _find_unreadable(given, work.unit))
        ) from None


def _find_unreadable(given: pa.Array, unit: str) -> int:
    """Return the first row whose time cannot be read, where there is one."""
    first, end = 0, len(given)
    while end - first > 1:
        middle = (first + end) // 2
        try:
            to_times(given[first:middle], unit)
            first = middle
        except DataError:
            end = middle
    return first


def _locate_row(chunk: pa.Table, work: JobSpec, row: int) -> dict[str, Any]:
    """Return the place of a row of a chunk, for a user."""
    names = {feed.port: feed.input for feed in work.feeds}
    port = chunk.column(work.port)[row].as_py() if work.port else None
    keys = [name for name in work.keys if not name.startswith("__")]  # that of a stream without one
    return {
        "input": names[port],
        "key": unwrap_arrow_key(read_key(chunk, row, keys)),
        "column": work.stamp,
    }


def locate_push_error(
    error: DataError, tables: Mapping[str, Any], key: tuple[Any, ...]
) -> DataError:
    """Return the error of a push with the key and the value, instead of the number of a row."""
    where = {"row": None, "column": None, "key": unwrap_arrow_key(key)}
    if error.row is not None and error.input in tables:
        where["value"] = tables[error.input]["value"][error.row].as_py()
    return error.at(**where)


def unwrap_arrow_key(key: tuple[Any, ...]) -> Any:
    """Return a key of Arrow scalars as a user knows it; None if there is none, (None,) for null."""
    shown = tuple(part.as_py() for part in key)
    return shown[0] if shown[1:] == () and shown != () and shown[0] is not None else shown or None
