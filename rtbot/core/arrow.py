"""Arrow arrays as numpy arrays and back, without pyarrow's own path, which imports pandas."""

from __future__ import annotations

from typing import Any

import numpy as np

FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}


def to_numpy(column: Any) -> np.ndarray:
    """Return the values of an array of numbers or booleans; shares memory if it can.

    The value is undefined where the array has a null.
    """
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # no chunks at all
            column = (
                pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
            )
    if pa.types.is_boolean(column.type):
        return to_numpy(column.cast(pa.uint8())).view(np.bool_)
    dtype = np.dtype(FLOATS.get(str(column.type), str(column.type)))
    start = column.offset * dtype.itemsize
    data = column.buffers()[1]
    if data is None or not len(column):
        return np.empty(0, dtype)
    return np.frombuffer(data, dtype, len(column), start)


def from_numpy(values: np.ndarray, valid: np.ndarray | None = None) -> Any:
    """Return an array of numbers or booleans, null where not `valid`; shares memory if it can."""
    import pyarrow as pa

    data = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else values
    mask = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [mask, pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def from_list(values: list[Any]) -> Any:
    """Return an array of text or of integers, null where the list has None."""
    import pyarrow as pa

    valid = np.array([value is not None for value in values], np.bool_)
    if any(isinstance(value, int) for value in values):
        return from_numpy(np.array([value or 0 for value in values], np.int64), valid)
    texts = [b"" if value is None else value.encode() for value in values]
    ends = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    mask = pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [mask, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)


def fill_nulls(column: Any, filler: float) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the values, `filler` in place of nulls, and the mask of what is not null, or None."""
    if not column.null_count:
        return to_numpy(column), None
    valid = to_numpy(column.is_valid())
    values = to_numpy(column).copy()
    values[~valid] = filler
    return values, valid
