"""The kinds of tables and columns, reduced to a few: arrays, lists, and Arrow arrays.

No frame library is imported: pandas is recognised by its attributes, all others by Arrow's
PyCapsule protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.duplicate_names import repeated
from rtbot.core.errors import DataError

if TYPE_CHECKING:
    from rtbot.tables.convert import AnySpec

Column = Any
"""A numpy array (not of objects), a list, or a pyarrow Array without chunks.

An array of two dimensions is an Arrow array of lists of one length.
"""

TIME_NAMES = ("t", "time", "timestamp", "ts", "date")

LazyTable = Mapping[str, Callable[[], Column]]
"""The columns of a table by name; each is converted when it is requested."""


def open_table(table: Any, spec: AnySpec) -> LazyTable:
    """Return the columns of a table of any kind."""
    if isinstance(table, Mapping):
        return {str(name): _defer(reduce_column, table[name]) for name in table}
    if isinstance(table, list | tuple):
        return _from_rows(table, spec)
    if hasattr(table, "iloc"):
        return _from_pandas(table)
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return _from_arrow(table, spec)
    if isinstance(table, np.ndarray) and table.dtype.names:
        return {name: _defer(reduce_column, table[name]) for name in table.dtype.names}
    message = f"a table cannot be a {type(table).__name__}"
    hint = "give a dict of columns, a list of rows, or an Arrow, pandas or polars table"
    if hasattr(table, "collect"):
        hint = "it is the plan of a table: collect() it first"
    raise DataError(message, code="RT214", hint=hint, input=spec.name)


def reduce_column(given: Any) -> Column:
    """Reduce one column to an array, a list or an Arrow array."""
    if isinstance(given, np.ndarray):
        return _from_masked(given) if isinstance(given, np.ma.MaskedArray) else _from_array(given)
    if isinstance(given, list):
        return given
    if hasattr(given, "iloc") and hasattr(given, "dtype"):
        return _from_series(given)
    if hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__"):
        return _from_capsule(given)
    if isinstance(given, Sequence) and not isinstance(given, str | bytes | bytearray):
        return list(given)
    return _from_array(np.asarray(given))


def _defer(function: Callable[..., Column], *arguments: Any) -> Callable[[], Column]:
    return lambda: function(*arguments)


def require_single(column: Column) -> Column:
    """Return a column; raise DataError if it has two dimensions."""
    if isinstance(column, np.ndarray | list):
        return column
    import pyarrow as pa

    if pa.types.is_fixed_size_list(column.type):
        raise DataError("a column has one dimension, this array has 2", code="RT214")
    return column


def _from_array(array: np.ndarray) -> Column:
    if array.ndim == 2 and array.shape[1] and array.dtype.kind in "fiub":
        import pyarrow as pa

        return pa.FixedSizeListArray.from_arrays(pa.array(array.ravel()), array.shape[1])
    if array.ndim != 1:
        raise DataError(f"a column has one dimension, this array has {array.ndim}", code="RT214")
    return array.tolist() if array.dtype.kind in "OUT" else array


def _from_masked(array: Any) -> Column:
    if not np.ma.is_masked(array):
        return _from_array(np.ma.getdata(array))
    if array.ndim != 1:
        raise DataError(f"a column has one dimension, this array has {array.ndim}", code="RT214")
    import pyarrow as pa

    return pa.array(np.ma.getdata(array), mask=np.ma.getmaskarray(array))


def _from_series(series: Any) -> Column:
    if isinstance(series.dtype, np.dtype):
        return _from_array(series.to_numpy())
    import pyarrow as pa

    try:
        return _combine_chunks(pa.array(series.array))
    except (TypeError, pa.ArrowInvalid):  # SparseArray and others that Arrow does not know
        return _from_array(series.to_numpy())


def _from_pandas(table: Any) -> LazyTable:
    """Return the columns of a frame, or of a series as `value`, and of its index.

    Levels of the index that have a name are columns too. A level of times is the column of times,
    whatever its name, if no column is one.
    """
    form = {"value": _defer(_from_series, table)}
    if hasattr(table, "columns"):
        form = {str(name): _defer(_from_frame, table, name) for name in table.columns}
    for level, name in enumerate(table.index.names):
        values = _defer(_from_level, table.index, level)
        if name is not None:
            form.setdefault(str(name), values)
        if table.index.get_level_values(level).dtype.kind == "M" and not {*form} & {*TIME_NAMES}:
            form[TIME_NAMES[0]] = values
    return form


def _from_level(index: Any, level: int) -> Column:
    return _from_series(index.get_level_values(level))


def _from_frame(frame: Any, name: Any) -> Column:
    found = frame[name]
    if not hasattr(found, "dtype"):
        raise DataError("the frame has several columns of this name", code="RT215")
    return _from_series(found)


def _from_arrow(given: Any, spec: AnySpec) -> LazyTable:
    import pyarrow as pa

    try:
        table = given if isinstance(given, pa.Table) else pa.table(given)
    except (pa.ArrowInvalid, TypeError):
        message = f"a {type(given).__name__} is one column, and no table"
        hint = "give {'t': times, 'value': values}"
        raise DataError(message, code="RT214", hint=hint, input=spec.name) from None
    names = table.column_names
    twice = repeated(names)
    if twice is not None:
        raise DataError(f"the table has several columns named {twice!r}", code="RT215")
    return {name: _defer(_combine_chunks, table.column(place)) for place, name in enumerate(names)}


def _from_capsule(given: Any) -> Column:
    import pyarrow as pa

    if isinstance(given, pa.Array | pa.ChunkedArray):
        return _combine_chunks(given)
    stream = hasattr(given, "__arrow_c_stream__")
    return _combine_chunks(pa.chunked_array(given) if stream else pa.array(given))


def _combine_chunks(array: Any) -> Column:
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray) and array.num_chunks == 1:
        array = array.chunk(0)  # combine_chunks would copy it
    elif isinstance(array, pa.ChunkedArray):
        if pa.types.is_dictionary(array.type) and array.num_chunks > 1:
            array = array.unify_dictionaries()
        array = array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # pyarrow keeps an array of no or very large chunks
        array = pa.concat_arrays(array.chunks) if array.chunks else pa.array([], array.type)
    if isinstance(array, pa.ExtensionArray):
        name = array.type.extension_name
        if name == "pandas.period":  # its storage counts from an origin of its own
            hint = "convert them with .to_timestamp()"
            raise DataError("a column of periods is not expected", code="RT220", hint=hint)
        array = array.storage
    return array


def _from_rows(rows: Sequence[Any], spec: AnySpec) -> LazyTable:
    """Read rows `[t, value]`, or keyed `[key..., t, value]`, where several keys may be a tuple."""
    if rows and all(isinstance(row, Mapping) for row in rows):
        return _of_records(rows, spec)
    time = spec.time[0] if len(spec.time) == 1 else TIME_NAMES[0]
    names = [*spec.key, time, spec.value or "value"]
    count = len(spec.key)
    flat = []
    for place, row in enumerate(rows):
        if isinstance(row, str | bytes) or not isinstance(row, Sequence):
            message = f"a row is a list [{', '.join(names)}]"
            raise DataError(message, code="RT214", input=spec.name, row=place, value=row)
        nested = count > 1 and len(row) == 3 and isinstance(row[0], tuple | list)
        cells = [*row[0], *row[1:]] if nested else row
        if len(cells) != len(names):
            message = f"a row has {len(names)} values ({', '.join(names)}), not {len(cells)}"
            raise DataError(message, code="RT207", input=spec.name, row=place, value=row)
        flat.append(cells)
    lists = [list(cells) for cells in zip(*flat, strict=True)] or [[] for _ in names]
    return {name: _defer(list, cells) for name, cells in zip(names, lists, strict=True)}


def _of_records(rows: Sequence[Mapping[str, Any]], spec: AnySpec) -> LazyTable:
    """Read rows {column: cell}, which all have the same columns."""
    names = list(rows[0])
    for place, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            message = f"a row has the columns {', '.join(map(str, names))}, as the first has"
            hint = "give None where a cell is empty"
            raise DataError(message, code="RT207", hint=hint, input=spec.name, row=place)
    return {str(name): _defer(list, [row[name] for row in rows]) for name in names}
