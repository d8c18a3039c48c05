"""The kinds of tables and columns, reduced to few: arrays, lists, and Arrow arrays.

No frame library is imported: pandas is told by its shape, all others by Arrow's PyCapsule protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.duplicate_names import repeated
from rtbot.core.errors import DataError

if TYPE_CHECKING:
    from rtbot.tables.convert import Spec

Column = Any
"""A numpy array (not of objects), a list, or a pyarrow Array in one piece."""

TIME_NAMES = ("t", "time", "timestamp", "ts", "date")

Form = Mapping[str, Callable[[], Column]]
"""The columns of a table by name; each is converted when it is asked for."""


def named(table: Any, spec: Spec) -> Form:
    """Return the columns of a table of any kind."""
    if isinstance(table, Mapping):
        return {str(name): _later(column, table[name]) for name in table}
    if isinstance(table, list | tuple):
        return _of_rows(table, spec)
    if hasattr(table, "iloc"):
        return _of_pandas(table)
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return _of_arrow(table, spec)
    if isinstance(table, np.ndarray) and table.dtype.names:
        return {name: _later(column, table[name]) for name in table.dtype.names}
    message = f"a table cannot be a {type(table).__name__}"
    hint = "give a dict of columns, a list of rows, or an Arrow, pandas or polars table"
    if hasattr(table, "collect"):
        hint = "it is the plan of a table: collect() it first"
    raise DataError(message, code="RT214", hint=hint, input=spec.name)


def column(given: Any) -> Column:
    """Reduce one column to an array, a list or an Arrow array."""
    if isinstance(given, np.ndarray):
        return _of_masked(given) if isinstance(given, np.ma.MaskedArray) else _of_array(given)
    if isinstance(given, list):
        return given
    if hasattr(given, "iloc") and hasattr(given, "dtype"):
        return _of_series(given)
    if hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__"):
        return _of_capsule(given)
    if isinstance(given, Sequence) and not isinstance(given, str | bytes | bytearray):
        return list(given)
    return _of_array(np.asarray(given))


def _later(function: Callable[..., Column], *arguments: Any) -> Callable[[], Column]:
    return lambda: function(*arguments)


def _of_array(array: np.ndarray) -> Column:
    if array.ndim != 1:
        raise DataError(f"a column has one dimension, this array has {array.ndim}", code="RT214")
    return array.tolist() if array.dtype.kind in "OUT" else array


def _of_masked(array: Any) -> Column:
    if not np.ma.is_masked(array):
        return _of_array(np.ma.getdata(array))
    if array.ndim != 1:
        raise DataError(f"a column has one dimension, this array has {array.ndim}", code="RT214")
    import pyarrow as pa

    return pa.array(np.ma.getdata(array), mask=np.ma.getmaskarray(array))


def _of_series(series: Any) -> Column:
    if isinstance(series.dtype, np.dtype):
        return _of_array(series.to_numpy())
    import pyarrow as pa

    try:
        return _in_one_piece(pa.array(series.array))
    except (TypeError, pa.ArrowInvalid):  # SparseArray and others that Arrow does not know
        return _of_array(series.to_numpy())


def _of_pandas(table: Any) -> Form:
    """The columns of a frame, or of a series as `value`; and what its index holds.

    Levels of the index that have a name are columns too. A level of times is the column of times,
    whatever its name, if no column is one.
    """
    form = {"value": _later(_of_series, table)}
    if hasattr(table, "columns"):
        form = {str(name): _later(_of_frame, table, name) for name in table.columns}
    for level, name in enumerate(table.index.names):
        values = _later(_of_level, table.index, level)
        if name is not None:
            form.setdefault(str(name), values)
        if table.index.get_level_values(level).dtype.kind == "M" and not {*form} & {*TIME_NAMES}:
            form[TIME_NAMES[0]] = values
    return form


def _of_level(index: Any, level: int) -> Column:
    return _of_series(index.get_level_values(level))


def _of_frame(frame: Any, name: Any) -> Column:
    found = frame[name]
    if not hasattr(found, "dtype"):
        raise DataError("the frame has several columns of this name", code="RT215")
    return _of_series(found)


def _of_arrow(given: Any, spec: Spec) -> Form:
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
    return {name: _later(_in_one_piece, table.column(place)) for place, name in enumerate(names)}


def _of_capsule(given: Any) -> Column:
    import pyarrow as pa

    if isinstance(given, pa.Array | pa.ChunkedArray):
        return _in_one_piece(given)
    stream = hasattr(given, "__arrow_c_stream__")
    return _in_one_piece(pa.chunked_array(given) if stream else pa.array(given))


def _in_one_piece(array: Any) -> Column:
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


def _of_rows(rows: Sequence[Any], spec: Spec) -> Form:
    """Rows `[t, value]`, or keyed `[key..., t, value]`, where several keys may be one tuple."""
    if rows and all(isinstance(row, Mapping) for row in rows):
        return _of_records(rows, spec)
    names = [*spec.key, "t", "value"]
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
    return {name: _later(list, cells) for name, cells in zip(names, lists, strict=True)}


def _of_records(rows: Sequence[Mapping[str, Any]], spec: Spec) -> Form:
    """Rows {column: cell}, which all have the same columns."""
    names = list(rows[0])
    for place, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            message = f"a row has the columns {', '.join(map(str, names))}, as the first has"
            hint = "give None where a cell is empty"
            raise DataError(message, code="RT207", hint=hint, input=spec.name, row=place)
    return {str(name): _later(list, [row[name] for row in rows]) for name in names}
