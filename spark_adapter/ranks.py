"""Rows by a single number, and from there by key and time.

Spark sorts by one long four times as fast as by a key and a time. So rows come sorted by rank: in
front some bits of a hash of the key, behind them the time with less precision. Rows of one hash are
a unit. A unit may hold several keys, and rows of one rank come in any order; that is corrected
here, where only few rows are affected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spark_adapter.row_order import find_key_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spark_adapter.partition import JobSpec

RANK = "__rank"
"""The column of ranks."""

TIME_BITS = 32
"""Bits of the time in a rank: its logarithm to 2e-8, which is half a minute in today's times."""


def sort_units(tables: Iterable[pa.Table], work: JobSpec) -> Iterator[tuple[pa.Table, np.ndarray]]:
    """Yield tables sorted by rank as such sorted by (unit, key, t, port), and the unit of each row.

    All rows of one rank are in the same table, so that times of a unit ascend from one to the next.
    """
    gathered: list[pa.Table] = []
    newest: int | None = None
    for table in tables:
        ranks = table.column(RANK).to_numpy()
        if newest is None or ranks[-1] != newest:
            begin = int(np.searchsorted(ranks, ranks[-1]))
            whole = _concat_tables([*gathered, table.slice(0, begin)])
            if whole.num_rows:
                yield _sort_open_units(whole, work)
            gathered, newest = [table.slice(begin)], int(ranks[-1])
        else:
            gathered.append(table)
    if gathered:
        yield _sort_open_units(_concat_tables(gathered), work)


def _concat_tables(tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables).combine_chunks()


def _sort_open_units(table: pa.Table, work: JobSpec) -> tuple[pa.Table, np.ndarray]:
    """Sort the units that are not sorted yet: few, but where times are close to each other."""
    unit = table.column(RANK).to_numpy() >> TIME_BITS
    begins = np.diff(unit, prepend=unit[0] - 1) != 0
    heads = [_to_integers(table, name) for name in (work.time, work.port) if name is not None]
    strange = find_key_changes(table, work.keys) & ~begins
    wrong = strange | (_find_descents(heads) & ~begins)
    if not wrong.any():
        return table, unit
    number = np.cumsum(begins) - 1
    concerned = np.zeros(number[-1] + 1, np.bool_)
    concerned[number[wrong]] = True
    chosen = np.flatnonzero(concerned[number])
    keys = table.select(work.keys).take(chosen) if strange.any() else None
    codes = [] if keys is None else [_encode_keys(keys, name) for name in work.keys]
    order = np.arange(len(unit))
    order[chosen] = chosen[
        np.lexsort([*(column[chosen] for column in reversed(heads)), *codes, number[chosen]])
    ]
    return table.take(order), unit


def _to_integers(table: pa.Table, name: str) -> np.ndarray:
    """Return times, or numbers of ports, as they are counted; what is null comes first."""
    column = table.column(name).combine_chunks()
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    column = column.cast(pa.int64())
    found: np.ndarray = pc.fill_null(column, np.iinfo(np.int64).min).to_numpy()
    return found


def _encode_keys(table: pa.Table, name: str) -> np.ndarray:
    """Return a number for every value of a key, equal for equal values."""
    column = table.column(name).combine_chunks().dictionary_encode("encode")
    found: np.ndarray = column.indices.to_numpy()
    return found


def _find_descents(heads: list[np.ndarray]) -> np.ndarray:
    """Return whether a row comes before the one in front of it."""
    found = np.zeros(len(heads[0]), np.bool_)
    equal = np.ones(len(found) - 1, np.bool_)
    for column in heads:
        before, after = column[:-1], column[1:]
        found[1:] |= equal & (after < before)
        equal &= after == before
    return found
