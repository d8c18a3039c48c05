"""Columns of vectors: lists of numbers, all of one length, as a column for each element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrow import to_numpy
from rtbot.core.errors import DataError

if TYPE_CHECKING:
    from rtbot.operator.schema import Field
    from rtbot.tables.forms import Column


def split_vectors(column: Column, fields: Sequence[Field], name: str) -> dict[str, Column]:
    """Return the columns of the elements of a list of vectors, or of an Arrow array of lists.

    Raises DataError for what is no vector, or one of another length. A vector that is None is one
    whose elements all are.
    """
    size = len(fields)
    if isinstance(column, list | np.ndarray):
        columns: Any = _split_rows(list(column), size, name)
    else:
        columns = _split_arrow(column, size, name)
    return {field.name: one for field, one in zip(fields, columns, strict=True)}


def _split_rows(rows: list[Any], size: int, name: str) -> list[list[Any]]:
    found = []
    for place, row in enumerate(rows):
        cells = [None] * size if row is None else row
        cells = cells.tolist() if isinstance(cells, np.ndarray) else cells
        if isinstance(cells, str | bytes) or not isinstance(cells, Sequence):
            message = f"not a list of {size} numbers"
            raise DataError(message, code="RT201", value=row, input=name, row=place)
        if len(cells) != size:
            raise make_length_error(size, len(cells), input=name, row=place, value=row)
        found.append(cells)
    return [list(cells) for cells in zip(*found, strict=True)] or [[] for _ in range(size)]


def _split_arrow(column: Any, size: int, name: str) -> list[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(column.type):
        return [column] * size
    types = pa.types
    if not (
        types.is_list(column.type)
        or types.is_large_list(column.type)
        or types.is_fixed_size_list(column.type)
    ):
        message = f"a column of {column.type}, where lists of {size} numbers are expected"
        raise DataError(message, code="RT220", input=name)
    other = pc.not_equal(pc.list_value_length(column), size)
    row = pc.index(other, pa.scalar(value=True)).as_py()
    if row >= 0:
        value = column[row].as_py()
        raise make_length_error(size, len(value), input=name, row=row, value=value)
    cells = pc.list_flatten(column)
    if not column.null_count and not cells.null_count and types.is_floating(cells.type):
        rows = to_numpy(cells).reshape(-1, size)
        return [np.ascontiguousarray(rows[:, place]) for place in range(size)]
    return [pc.list_element(column, place) for place in range(size)]


def make_length_error(size: int, length: int, **where: Any) -> DataError:
    """Make the error of a vector of another length."""
    elements = f"{length} element{'s' * (length != 1)}"
    message = f"a vector of {elements}, where vector[{size}] is expected"
    return DataError(message, code="RT207", **where)
