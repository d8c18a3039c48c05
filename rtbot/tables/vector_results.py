"""Outputs that are vectors: the series of their elements as one table, or one list of rows.

The engine has a series for each element, `v.0`, `v.1` and so on, with the same rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrow import from_numpy, to_numpy
from rtbot.tables.output_table import OutputTable, read_raw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    Vectors = Mapping[str, Sequence[str]]
    """The names of the series of the elements, by that of the vector."""


def join_tables(series: Mapping[str, Any], vectors: Vectors) -> dict[str, Any]:
    """Return tables by output; the values of a vector are an array (rows, elements).

    Where a vector is null, its elements are NaN.
    """
    firsts = {elements[0]: name for name, elements in vectors.items() if elements[0] in series}
    others = {one for name in firsts.values() for one in vectors[name][1:]}
    found: dict[str, Any] = {}
    for output, table in series.items():
        if output in firsts:
            name = firsts[output]
            found[name] = _join_table([series[one] for one in vectors[name]])
        elif output not in others:
            found[output] = table
    return found


def _join_table(parts: Sequence[Mapping[str, Any]]) -> OutputTable:
    first = parts[0]
    values = np.stack([part["value"] for part in parts], axis=1)
    valid = first.get("value_valid")
    if valid is not None:
        values[~valid] = np.nan
    return OutputTable(
        {name: values if name == "value" else read_raw(first, name) for name in first}
    )


def split_rows(released: Mapping[str, Any], vectors: Vectors) -> dict[str, Any]:
    """Return rows by series, those of vectors for each element."""
    found: dict[str, Any] = {}
    for name, rows in released.items():
        elements = vectors.get(name)
        if elements is None:
            found[name] = rows
            continue
        for place, one in enumerate(elements):
            found[one] = [(*row[:-1], None if row[-1] is None else row[-1][place]) for row in rows]
    return found


def join_columns(table: pa.Table, vectors: Vectors) -> pa.Table:
    """Return a wide table in which the columns of elements are one of lists of fixed size."""
    for name, elements in vectors.items():
        if elements[0] not in table.column_names:
            continue
        place = table.column_names.index(elements[0])
        parts = [table.column(one).combine_chunks() for one in elements]
        table = table.drop_columns(list(elements))
        table = table.add_column(place, name, join_arrays(parts))
    return table


def join_arrays(parts: Sequence[pa.Array]) -> pa.Array:
    """Return arrays of the elements of vectors as one of lists; null where an element is."""
    import pyarrow as pa

    cells = from_numpy(np.stack([to_numpy(part) for part in parts], axis=1).ravel())
    absent = parts[0].is_null() if parts[0].null_count else None
    return pa.FixedSizeListArray.from_arrays(cells, len(parts), mask=absent)
