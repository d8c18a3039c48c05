"""The same rows as columns of other types, where these hold exactly the same values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.times import INT64_MIN
from rtbot.core.vector_names import are_elements
from rtbot.tables import TextColumn
from rtbot.tables.forms import reduce_column
from rtbot.tables.record_column import RecordColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rtbot.tables import Columns

    Make = Callable[[np.ndarray, np.ndarray | None], Any]

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
NARROW = {"f": (*INTEGERS, "float32"), "i": INTEGERS, "b": ()}
CHUNK = 7
"""Rows of a chunk of an Arrow column."""


def to_lists(table: Columns, unit: str, key: tuple[str, ...]) -> Mapping[str, list[Any]]:
    """Return lists of Python's own types."""
    del unit
    cells = [list(column) for column in zip(*table.cells(), strict=True)]
    return dict(zip((*key, "t", "value"), cells, strict=True))


def to_narrow_arrays(table: Columns, unit: str, key: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the narrowest arrays that hold the values, every second cell of a longer one."""
    return _convert_columns(table, unit, key, _make_masked)


def to_arrow_table(table: Columns, unit: str, key: tuple[str, ...]) -> Any:
    """Return an Arrow table in chunks: narrow types, text as a dictionary, times as timestamps."""
    import pyarrow as pa

    return pa.table(_convert_columns(table, unit, key, _make_chunked))


COLUMN_VARIANTS = {"lists": to_lists, "narrow arrays": to_narrow_arrays, "Arrow": to_arrow_table}


def _convert_columns(table: Columns, unit: str, key: tuple[str, ...], make: Make) -> dict[str, Any]:
    parts = [(part if isinstance(part, tuple) else (part, None)) for part in table.keys]
    found = {name: make(*_unwrap_column(*part)) for name, part in zip(key, parts, strict=True)}
    times = narrow_column(table.time)
    if unit and not (table.time == INT64_MIN).any():
        times = table.time.view(f"datetime64[{unit}]")
    found["t"] = make(times, None)
    value = table.value
    if not isinstance(value, RecordColumn):
        return found | {"value": make(*_unwrap_column(value, table.valid))}
    if are_elements(value.names):
        return found | {"value": _make_vectors(value, make)}
    fields = zip(value.names, value.values, value.valid, strict=True)
    return found | {name: make(*_unwrap_column(part, valid)) for name, part, valid in fields}


def _make_vectors(value: RecordColumn, make: Make) -> Any:
    """Return vectors as an array of two dimensions or of lists, or as lists where some are null."""
    if any(mask is not None for mask in value.valid):
        return value.tolist()
    whole = np.stack([np.asarray(column) for column in value.values], axis=1)
    return whole if make is _make_masked else reduce_column(whole)


def _unwrap_column(
    column: np.ndarray | TextColumn, valid: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None]:
    if isinstance(column, TextColumn):
        return column.to_objects(), None
    return narrow_column(column), valid


def narrow_column(column: np.ndarray) -> np.ndarray:
    """Return the column in the first of the narrow types that holds every bit of it."""
    for dtype in NARROW[column.dtype.kind]:
        with np.errstate(invalid="ignore", over="ignore"):
            found = column.astype(dtype)
            if found.astype(column.dtype).tobytes() == column.tobytes():
                return found
    return column


def _make_masked(column: np.ndarray, valid: np.ndarray | None) -> Any:
    if column.dtype == object:
        return column
    apart = np.repeat(column, 2)[::2]
    return apart if valid is None else np.ma.MaskedArray(apart, ~valid)


def _make_chunked(column: np.ndarray, valid: np.ndarray | None) -> Any:
    import pyarrow as pa

    if column.dtype == object:
        whole = pa.array(column.tolist())
        whole = whole.dictionary_encode() if pa.types.is_string(whole.type) else whole
    else:
        whole = pa.array(column, mask=None if valid is None else ~valid)
    chunks = [whole.slice(start, CHUNK) for start in range(0, len(whole), CHUNK)]
    return pa.chunked_array(chunks, whole.type)
