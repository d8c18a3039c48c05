"""Tables of several outputs put together: one after the other, or joined by key and time."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot.core.arrow import from_list, from_numpy
from rtbot.core.duplicate_names import repeated
from rtbot.core.errors import DataError
from rtbot.tables.output_table import (
    CodedColumn,
    OutputTable,
    concat_raw,
    map_columns,
    read_raw,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.tables.output_table import RawColumn

    Table = Mapping[str, np.ndarray]

    Coded = tuple[np.ndarray, pa.Array | None]
    """A column as int64 in the order of its values, and the values that they index, if any."""


PRESENT = "\0"
"""Prefix of the names of columns that mark whether an output has a message at a row."""


def build_wide(
    outputs: Mapping[str, Table], key: Sequence[str], *, marked: bool = False
) -> pa.Table:
    """Return `t`, the key columns, then a column per output, sorted by (key, t).

    The rows are the union of the (key, t) of all outputs. A cell is null where an output has no
    message at its row, or a null one; if `marked`, more columns mark which. Several messages of one
    output at one (key, t) are in rows of their own: the n-th of each output is in the n-th.
    """
    names = ["t", *key, *outputs]
    names += [PRESENT + name for name in outputs] if marked else []
    twice = repeated(names)
    if twice is not None:
        message = f"two columns of the wide table are named {twice!r}"
        raise DataError(message, code="RT215", hint="rename an output")
    heads = ["t", *key]
    tables = list(outputs.values()) or [{name: np.empty(0, np.int64) for name in heads}]
    if all(_has_same_rows(tables[0], table, heads) for table in tables[1:]):
        coded = [_rank_cells(read_raw(tables[0], name)) for name in heads]
        places = _find_order([codes for codes, _ in coded])
        cells = [_take_column(table, places) for table in outputs.values()]
        marks = [from_numpy(np.ones(len(cells[0]), np.bool_))] * len(cells) if marked else []
        return pa.table(
            [*(_unrank_cells(one, places) for one in coded), *cells, *marks], names=names
        )
    coded = [_rank_all_cells(tables, name) for name in heads]
    cuts = np.cumsum([len(table["t"]) for table in tables])[:-1]
    chosen, spots = _merge_rows([codes for codes, _ in coded])
    if any(len(part) and np.bincount(part).max() > 1 for part in np.split(spots, cuts)):
        turns = np.concatenate([_turns(part) for part in np.split(spots, cuts)])
        chosen, spots = _merge_rows([codes for codes, _ in coded], turns)
    parts = np.split(spots, cuts)
    cells = [_scatter_column(t, rows, len(chosen)) for t, rows in zip(tables, parts, strict=True)]
    marks = [_present(rows, len(chosen)) for rows in parts] if marked else []
    return pa.table([*(_unrank_cells(one, chosen) for one in coded), *cells, *marks], names=names)


def build_long(outputs: Mapping[str, Table], key: Sequence[str]) -> pa.Table:
    """Return `t`, the key columns, `output` and `value`, sorted by (key, t), then as declared.

    Values of different kinds become text.
    """
    tables = list(outputs.values())
    values = [_take_column(table, None) for table in tables]
    if len({value.type for value in values}) > 1:
        values = [pc.cast(value, pa.string()) for value in values]
    coded = [_rank_all_cells(tables, name) for name in ["t", *key]]
    which = np.repeat(np.arange(len(tables)), [len(table["t"]) for table in tables])
    places = np.lexsort((which, *_order_sort_keys([codes for codes, _ in coded])))
    columns = [
        *(_unrank_cells(one, places) for one in coded),
        pa.array(list(outputs), pa.string()).take(pa.array(which[places])),
        pa.concat_arrays(values).take(pa.array(places)),
    ]
    return pa.table(columns, names=["t", *key, "output", "value"])


def concat_results(results: Sequence[Mapping[str, Table]]) -> dict[str, OutputTable]:
    """Return results that follow one another as one; outputs that share columns still do."""
    made: dict[tuple[int, ...], RawColumn] = {}
    whole: dict[str, OutputTable] = {}
    for output in results[-1]:
        parts = [result[output] for result in results if _has_rows(result[output])]
        parts = parts or [results[-1][output]]
        whole[output] = OutputTable()
        for name in parts[0]:
            arrays = [read_raw(part, name) for part in parts]
            same = tuple(map(id, arrays))
            if same not in made:
                made[same] = concat_raw(arrays)
            whole[output][name] = made[same]
    return whole


def _has_rows(table: Table) -> bool:
    return len(read_raw(table, next(iter(table)))) > 0


def sort_outputs(
    outputs: Mapping[str, Mapping[str, np.ndarray]], key: Sequence[str]
) -> dict[str, Table]:
    """Sort keyed tables by (key, t); unkeyed ones are sorted already."""
    if not key:
        return dict(outputs)
    sortings: dict[tuple[int, ...], np.ndarray | None] = {}
    found: dict[str, Table] = {}
    for output, table in outputs.items():
        heads = [read_raw(table, name) for name in ["t", *key]]
        same = tuple(map(id, heads))
        if same not in sortings:
            sortings[same] = _find_order([_rank_cells(head)[0] for head in heads])
        places = sortings[same]
        found[output] = table if places is None else map_columns(table, itemgetter(places))
    return found


def _rank_all_cells(tables: Sequence[Table], name: str) -> Coded:
    """Rank the cells of a column of all tables, one after the other."""
    return _rank_cells(concat_raw([read_raw(table, name) for table in tables]))


def _rank_cells(column: RawColumn) -> Coded:
    """Return numbers that order the rows: integers by value, text by code point, null last."""
    if isinstance(column, CodedColumn):
        values = column.values.tolist()
        distinct = sorted(set(values) - {None})
        places = {value: rank for rank, value in enumerate([*distinct, None])}
        table = np.fromiter(map(places.__getitem__, values), np.int64, len(values))
        return table.take(column.codes), from_list([*distinct, None])
    if column.dtype != object:
        return column, None
    starts = np.ones(len(column), np.bool_)
    starts[1:] = column[1:] != column[:-1]  # rows of a key are together
    firsts = column[starts].tolist()
    distinct = sorted(set(firsts) - {None})
    ranks = {value: rank for rank, value in enumerate([*distinct, None])}
    codes = np.fromiter(map(ranks.__getitem__, firsts), np.int64, len(firsts))
    return codes.take(np.cumsum(starts) - 1), from_list([*distinct, None])


def _unrank_cells(coded: Coded, places: np.ndarray | None) -> pa.Array:
    """Return the column of these rows, or of all."""
    codes, values = coded
    chosen = from_numpy(codes if places is None else codes[places])
    return chosen if values is None else values.take(chosen)


def _order_sort_keys(heads: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return time and keys as numpy sorts by them: the last is the most significant."""
    return [heads[0], *reversed(heads[1:])]


def _find_order(heads: Sequence[np.ndarray]) -> np.ndarray | None:
    """Return the order of rows by (key, t), None if they have it."""
    ordered = np.ones(max(len(heads[0]) - 1, 0), np.bool_)
    for head in _order_sort_keys(heads):
        ordered = (head[1:] > head[:-1]) | ((head[1:] == head[:-1]) & ordered)
    return None if ordered.all() else np.lexsort(_order_sort_keys(heads))


def _has_same_rows(left: Table, right: Table, heads: Sequence[str]) -> bool:
    pairs = [(read_raw(left, name), read_raw(right, name)) for name in heads]
    return all(one is other for one, other in pairs) or all(
        np.array_equal(left[name], right[name]) for name in heads
    )


def _merge_rows(
    heads: Sequence[np.ndarray], turns: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return a row for every distinct (key, t), in order; and the place of every row among them.

    With `turns` a row for every (key, t, turn).
    """
    last = [] if turns is None else [turns]
    sorting = np.lexsort([*last, *_order_sort_keys(heads)])
    starts = np.zeros(len(sorting), np.bool_)
    starts[:1] = True
    for head in [*heads, *last]:
        inside = head[sorting]
        starts[1:] |= inside[1:] != inside[:-1]
    spots = np.empty(len(sorting), np.int64)
    spots[sorting] = np.cumsum(starts) - 1
    return sorting[starts], spots


def _turns(spots: np.ndarray) -> np.ndarray:
    """Count for each row how many before it have the same place."""
    order = np.argsort(spots, kind="stable")
    ordered = spots[order]
    turns = np.empty(len(spots), np.int64)
    turns[order] = np.arange(len(spots)) - np.searchsorted(ordered, ordered)
    return turns


def _take_column(table: Table, places: np.ndarray | None) -> pa.Array:
    """Return an output's values at these rows, or at all; null where they are not valid."""
    value, valid = table["value"], table.get("value_valid")
    if places is not None:
        value, valid = value[places], None if valid is None else valid[places]
    return _to_arrow(value, valid)


def _scatter_column(table: Table, rows: np.ndarray, count: int) -> pa.Array:
    """Put an output's values at these rows of a column of `count`, null elsewhere."""
    value, valid = table["value"], table.get("value_valid")
    present = np.zeros(count, np.bool_)
    present[rows] = True if valid is None else valid
    full: np.ndarray = np.zeros(count, value.dtype)
    full[rows] = value
    return _to_arrow(full, present)


def _present(rows: np.ndarray, count: int) -> pa.Array:
    present = np.zeros(count, np.bool_)
    present[rows] = True
    return from_numpy(present)


def _to_arrow(value: np.ndarray, valid: np.ndarray | None) -> pa.Array:
    if value.dtype != object:
        return from_numpy(value, valid)
    return pa.array(value, pa.string(), mask=None if valid is None else ~valid)
