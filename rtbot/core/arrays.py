"""Making arrays, columns and batches: allocation, longer copies, shorter copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.batch import DTYPES, Batch, Column

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbot.operator import Type


def grow_array(array: np.ndarray, capacity: int, fill: Any) -> np.ndarray:
    """Return a copy with so many places: new ones hold `fill`, those beyond are left out."""
    if capacity == len(array):
        return array
    result = np.full(capacity, fill, array.dtype)
    kept = min(capacity, len(array))
    result[:kept] = array[:kept]
    return result


def distinct(words: np.ndarray) -> np.ndarray:
    """Return the distinct integers, ascending; those that ascend already take one pass."""
    if len(words) < 2:
        return words
    if (words[1:] < words[:-1]).any():
        words = np.sort(words)
    begins = np.empty(len(words), np.bool_)
    begins[0] = True
    np.not_equal(words[1:], words[:-1], out=begins[1:])
    found: np.ndarray = words[begins]
    return found


def sort_equal_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an order that brings equal rows together, and where in it other rows begin.

    `rows` is int64[n, width]; equal rows stay in the order in which they are.
    """
    order = np.lexsort(rows.T) if rows.shape[1] else np.arange(len(rows))
    sorted_rows = rows[order]
    begins = np.append(True, (sorted_rows[1:] != sorted_rows[:-1]).any(axis=1))[: len(rows)]
    return order, begins


def allocate_aligned(words: int) -> np.ndarray:
    """Return zeroed float64 words that begin at a multiple of 64 bytes."""
    buffer = np.zeros(words + 8)
    offset = (-buffer.ctypes.data % 64) // 8
    return buffer[offset : offset + words]


def allocate_columns(types: Iterable[Type], rows: int) -> list[Column]:
    """Return uninitialised columns."""
    return [
        Column(np.empty(rows, DTYPES[t.kind]), np.empty(rows, bool) if t.nullable else None)
        for t in types
    ]


def allocate_rows(types: Sequence[Type], rows: int) -> tuple[np.ndarray, list[Column]]:
    """Return uninitialised times and columns, as far as possible in one piece of memory.

    A large piece comes in large pages: thousands of small ones take longer than filling them.
    """
    kinds = [np.dtype(DTYPES[type_.kind]) for type_ in types]
    pieces = iter(np.empty((1 + sum(kind.itemsize == 8 for kind in kinds), rows), np.int64))
    time = next(pieces)
    values = [next(pieces).view(k) if k.itemsize == 8 else np.empty(rows, k) for k in kinds]
    flags = [np.empty(rows, bool) if type_.nullable else None for type_ in types]
    return time, list(map(Column, values, flags))


def flatten_columns(columns: Iterable[Column]) -> list[np.ndarray]:
    """Return value and valid arrays in the order of parameters of generated functions."""
    return [a for c in columns for a in (c.value, c.valid) if a is not None]


def make_empty_batch(starts: np.ndarray, types: Iterable[Type]) -> Batch:
    """Return a batch without rows."""
    return Batch(starts, np.empty(0, np.int64), allocate_columns(types, 0))


def put_nulls(cells: list[Any], valid: np.ndarray | None) -> list[Any]:
    """Return the cells with None where `valid` is false; None for no such place."""
    if valid is None:
        return cells
    return [cell if known else None for cell, known in zip(cells, valid.tolist(), strict=True)]


def trim_array(array: np.ndarray, count: int) -> np.ndarray:
    """Return the first rows; a copy where a view would keep much more alive."""
    return array[:count].copy() if count * 4 < len(array) else array[:count]


def trim_column(column: Column, count: int) -> Column:
    """Trim a column as `trim_array` does."""
    return Column(
        trim_array(column.value, count),
        None if column.valid is None else trim_array(column.valid, count),
    )


def concat_batches(
    starts: np.ndarray, parts: list[tuple[np.ndarray, list[Column]]], types: list[Type]
) -> Batch:
    """Return one batch of the parts that a stopped and resumed loop wrote."""
    if not parts:
        return make_empty_batch(starts, types)
    if len(parts) == 1:
        return Batch(starts, *parts[0])
    columns = []
    for k in range(len(types)):
        valid = [part[k].valid for _, part in parts]
        columns.append(
            Column(
                np.concatenate([part[k].value for _, part in parts]),
                None if valid[0] is None else np.concatenate(valid),  # type: ignore[arg-type]
            )
        )
    return Batch(starts, np.concatenate([time for time, _ in parts]), columns)
