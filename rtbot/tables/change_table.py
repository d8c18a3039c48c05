"""The changes of an output as an Arrow table, and the rows that they sum up to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot.core.arrow import from_numpy, to_numpy
from rtbot.tables.change_rows import name_time, name_weight
from rtbot.tables.output_table import CodedColumn, read_raw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.operator.schema import Schema
    from rtbot.tables.output_table import RawColumn


def build_change_table(table: Mapping[str, np.ndarray], schema: Schema) -> pa.Table:
    """Return the columns `t` and `weight` (int64), then the fields, in the order of the rows.

    `table` is that of a result: fields, `t`, `weight`, and `<field>_valid` where a field may be
    null. Times and weights are `_t` and `_weight` where a field has that name.
    """
    columns = {}
    for name in (name_time(schema.names), name_weight(schema.names)):
        columns[name] = from_numpy(table[name])
    for field in schema:
        valid = table.get(f"{field.name}_valid") if field.type.nullable else None
        columns[field.name] = _to_arrow(read_raw(table, field.name), valid)
    return pa.table(columns)


def sum_changes(changes: pa.Table, schema: Schema) -> pa.Table:
    """Return the rows whose weights have another sum than 0, with `weight`, in their order.

    `changes` has the fields and, last, the weights (int64). Rows are in the order of their fields,
    from the first: false before true, NaN after all numbers, text by code point, null last. Two
    rows are equal if their fields are; NaN is equal to NaN, and null to null.
    """
    weight = to_numpy(changes.column(changes.num_columns - 1))
    if not changes.num_rows:
        return changes
    keys = [_rank_cells(changes.column(field.name)) for field in schema]
    order = np.lexsort(keys[::-1])
    is_first = np.zeros(len(order), np.bool_)
    is_first[0] = True
    for key in keys:
        ordered = key[order]
        is_first[1:] |= ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(is_first)
    sums = np.add.reduceat(weight[order], starts)
    left = sums != 0
    rows = changes.take(pa.array(order[starts[left]]))
    name = rows.column_names[-1]
    return rows.set_column(rows.num_columns - 1, name, from_numpy(sums[left]))


def repeat_rows(summed: pa.Table) -> pa.Table:
    """Return the fields of a table of `sum_changes`, each row as often as it is present."""
    weight = to_numpy(summed.column(summed.num_columns - 1))
    fields = summed.drop_columns(summed.column_names[-1:])
    if (weight == 1).all():
        return fields
    return fields.take(pa.array(np.repeat(np.arange(len(weight)), weight)))


def empty_changes(schema: Schema, heads: Sequence[str]) -> pa.Table:
    """Return a table without rows: these columns of int64, then the fields."""
    kinds = {"integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}
    columns = {name: pa.array([], pa.int64()) for name in heads}
    fields = {f.name: pa.array([], kinds.get(f.type.kind, pa.string())) for f in schema}
    return pa.table(columns | fields)


def _rank_cells(column: pa.ChunkedArray) -> np.ndarray:
    """Return int64 numbers that order the cells as they are ordered in rows, equal where equal."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # pyarrow keeps very large chunks
        whole = pa.concat_arrays(whole.chunks)
    coded = pc.fill_null(pc.dictionary_encode(whole).indices, -1)
    values = pc.dictionary_encode(whole).dictionary
    kind = values.type
    if pa.types.is_string(kind):
        distinct = sorted(values.to_pylist())
        places = {text: rank for rank, text in enumerate(distinct)}
        ranks = np.array([places[text] for text in values.to_pylist()] or [0], np.int64)
    else:
        _, ranks = np.unique(values.to_numpy(zero_copy_only=False), return_inverse=True)
    table = np.append(ranks.astype(np.int64), len(values) + 1)
    ranked: np.ndarray = table[to_numpy(coded)]
    return ranked


def _to_arrow(column: RawColumn, valid: np.ndarray | None) -> pa.Array:
    if isinstance(column, CodedColumn):
        codes = pa.array(column.codes, mask=None if valid is None else ~valid)
        return pa.array(column.values, pa.string()).take(codes)
    if column.dtype == object:
        return pa.array(column, pa.string(), mask=None if valid is None else ~valid)
    return from_numpy(column, valid)
