"""Tables of several outputs joined by key and time into one wide Arrow table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Table = Mapping[str, np.ndarray]


def wide(outputs: Mapping[str, Table], key: Sequence[str]) -> pa.Table:
    """Return `t`, the key columns, then a column per output, sorted by (key, t).

    The rows are the union of the (key, t) of all outputs. A cell is null where an output has no
    message at its row, or a null one.
    """
    names = ["t", *key, *outputs]
    if len(set(names)) < len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise DataError(f"two columns of the wide table are named {name!r}: rename an output")
    tables = list(outputs.values())
    first = tables[0] if tables else {"t": np.empty(0, np.int64)}
    if all(_same_rows(first, table, key) for table in tables[1:]):
        places: list[Any] = [None] * len(tables)
        heads = [first[name] for name in names[: len(key) + 1]]
    else:
        heads, places = _union(tables, key)
    cells = [
        spread(table, place, len(heads[0])) for table, place in zip(tables, places, strict=True)
    ]
    return pa.table([*map(_array, heads), *cells], names=names)


def long(outputs: Mapping[str, Table], key: Sequence[str]) -> pa.Table:
    """Return `t`, the key columns, `output` and `value`, sorted by (key, t), then as declared.

    Values of different kinds become text.
    """
    names = list(outputs)
    tables = list(outputs.values())
    values = [spread(table, None, len(table["t"])) for table in tables]
    if len({value.type for value in values}) > 1:
        values = [pc.cast(value, pa.string()) for value in values]
    heads = [np.concatenate([table[name] for table in tables]) for name in ["t", *key]]
    which = np.repeat(np.arange(len(names)), [len(table["t"]) for table in tables])
    places = np.lexsort((which, heads[0], *reversed([rank(column) for column in heads[1:]])))
    columns = [
        *(_array(column[places]) for column in heads),
        pa.array(names, pa.string()).take(pa.array(which[places])),
        pa.concat_arrays(values).take(pa.array(places)),
    ]
    return pa.table(columns, names=["t", *key, "output", "value"])


def spread(table: Table, places: np.ndarray | None, count: int) -> pa.Array:
    """Put an output's values at these places of a column of `count` rows, null elsewhere."""
    value, valid = table["value"], table.get("value_valid")
    kind = pa.string() if value.dtype == object else pa.from_numpy_dtype(value.dtype)
    if places is None:
        return pa.array(value, kind, mask=None if valid is None else ~valid)
    absent = np.ones(count, np.bool_)
    absent[places] = False if valid is None else ~valid
    full = np.zeros(count, value.dtype) if value.dtype != object else np.full(count, None, object)
    full[places] = value
    return pa.array(full, kind, mask=absent)


def put_together(parts: Sequence[Table]) -> Table:
    """Return tables of the same columns as one."""
    parts = [part for part in parts if len(part["t"])] or parts[-1:]
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def in_order(table: Table, key: Sequence[str]) -> Table:
    """Return a keyed table by (key, t); an unkeyed one is so already."""
    if not key:
        return table
    places = np.lexsort((table["t"], *reversed([rank(table[name]) for name in key])))
    if bool(np.all(places[1:] > places[:-1])):
        return table
    return {name: column[places] for name, column in table.items()}


def rank(column: np.ndarray) -> np.ndarray:
    """Return int64 in the order of keys: integers by value, text by code point, null last.

    Equal keys have equal ranks.
    """
    if column.dtype != object:
        return column
    encoded = _array(column).dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    ranks = np.empty(len(distinct) + 1, np.int64)
    ranks[sorted(range(len(distinct)), key=distinct.__getitem__)] = np.arange(len(distinct))
    ranks[-1] = len(distinct)
    codes: np.ndarray = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return ranks.take(codes)


def _array(column: np.ndarray) -> pa.Array:
    """Convert a column of times or keys; objects are integers or text, whichever pyarrow finds."""
    array = pa.array(column)
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array


def _same_rows(left: Table, right: Table, key: Sequence[str]) -> bool:
    return all(
        left[name] is right[name] or np.array_equal(left[name], right[name]) for name in ["t", *key]
    )


def _union(tables: list[Table], key: Sequence[str]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return `t` and the key columns of all rows, and the places of each table's rows in them."""
    columns = [np.concatenate([table[name] for table in tables]) for name in ["t", *key]]
    ranks = [columns[0], *reversed([rank(column) for column in columns[1:]])]
    sorting = np.lexsort(ranks)
    starts = np.zeros(len(sorting), np.bool_)
    starts[:1] = True
    for ranked in ranks:
        inside = ranked[sorting]
        starts[1:] |= inside[1:] != inside[:-1]
    places = np.empty(len(sorting), np.int64)
    places[sorting] = np.cumsum(starts) - 1
    cuts = np.cumsum([len(table["t"]) for table in tables])[:-1]
    chosen = sorting[starts]
    return [column[chosen] for column in columns], np.split(places, cuts)
