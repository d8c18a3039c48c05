"""Arrow arrays as numpy arrays, without pyarrow's own road, which imports pandas if it can."""

from __future__ import annotations

from typing import Any

import numpy as np

FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}


def as_numpy(column: Any) -> np.ndarray:
    """Return the values of an array of numbers or booleans; shares memory if it can.

    What stands where the array has a null is undefined.
    """
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # no chunks at all
            column = (
                pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
            )
    if pa.types.is_boolean(column.type):
        return as_numpy(column.cast(pa.uint8())).view(np.bool_)
    dtype = np.dtype(FLOATS.get(str(column.type), str(column.type)))
    start = column.offset * dtype.itemsize
    data = column.buffers()[1]
    if data is None or not len(column):
        return np.empty(0, dtype)
    return np.frombuffer(data, dtype, len(column), start)


def filled(column: Any, filler: float) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the values, `filler` in place of nulls, and the mask of what is not null, or None."""
    if not column.null_count:
        return as_numpy(column), None
    valid = as_numpy(column.is_valid())
    values = as_numpy(column).copy()
    values[~valid] = filler
    return values, valid
