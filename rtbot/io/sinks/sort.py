"""External sort of any number of rows: sorted runs are spilled to disk, and merged at the end.

A run is cut into blocks. A merge holds a block of each run: what is not after the last row of any
block that has a successor is complete, and can be sorted and released (Knuth, The Art of Computer
Programming 3, 5.4.1, with blocks instead of records). The result is the same whatever the size of
runs and blocks.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot.core.arrow import to_numpy
from rtbot.tables.wide import PRESENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO

RUNS_MAX = 64
"""Runs that are merged at a time; when there are as many of one size, they become one."""


class ExternalSorter:
    """Tables of one schema, each sorted by the columns `order` (null last), as one that is sorted.

    What is on disk is in files without a name, which `scratch` opens; `block_bytes` is what a block
    of a run takes in memory. With `unite`, rows of equal `order` become as few as they can: the
    n-th of them has the n-th message of every other column, and a column whose name begins with
    `PRESENT` is where that has messages.
    """

    def __init__(
        self,
        scratch: Callable[[], BinaryIO],
        order: Sequence[str],
        block_bytes: int,
        *,
        unite: bool,
    ) -> None:
        self._scratch, self._order, self._unite = scratch, list(order), unite
        self._block_bytes = block_bytes
        self._levels: list[_RunFile] = []

    def __len__(self) -> int:
        """Count the runs on disk."""
        return sum(len(shelf.runs) for shelf in self._levels)

    def add(self, table: pa.Table) -> None:
        """Write a sorted table to disk."""
        if table.num_rows:
            self._add([table], 0)

    def read_sorted(self) -> Iterator[pa.Table]:
        """Yield all rows in order, as tables of some size; equal ones in the order they came in."""
        yield from self._merge_files(reversed(self._levels))

    def close(self) -> None:
        """Free the disk space."""
        for shelf in self._levels:
            shelf.close()
        self._levels = []

    def _add(self, tables: Iterable[pa.Table], level: int) -> None:
        if level == len(self._levels):
            self._levels.append(_RunFile(self._scratch(), self._block_bytes))
        shelf = self._levels[level]
        shelf.add(tables)
        if len(shelf.runs) == RUNS_MAX:
            self._levels[level] = _RunFile(self._scratch(), self._block_bytes)
            self._add(self._merge_files([shelf]), level + 1)
            shelf.close()

    def _merge_files(self, shelves: Iterable[_RunFile]) -> Iterator[pa.Table]:
        cursors = [
            _RunCursor(shelf.read(run), self._order) for shelf in shelves for run in shelf.runs
        ]
        return _merge_cursors(
            [cursor for cursor in cursors if cursor], self._order, unite=self._unite
        )


class _RunFile:
    """A file of runs; a run is the places of its blocks."""

    def __init__(self, file: BinaryIO, block_bytes: int) -> None:
        self._file, self._block_bytes = file, block_bytes
        self._end = 0
        self._schema: pa.Schema | None = None
        self.runs: list[list[tuple[int, int]]] = []

    def add(self, tables: Iterable[pa.Table]) -> None:
        """Write a run."""
        places: list[tuple[int, int]] = []
        for table in tables:
            self._schema = table.schema
            rows = max(1, self._block_bytes * table.num_rows // max(table.nbytes, 1))
            for batch in table.combine_chunks().to_batches(max_chunksize=rows):
                data = batch.serialize()
                self._file.seek(self._end)
                self._file.write(data)
                places.append((self._end, data.size))
                self._end += data.size
        self.runs.append(places)

    def read(self, run: list[tuple[int, int]]) -> Iterator[pa.RecordBatch]:
        """Read the blocks of a run."""
        for place, size in run:
            self._file.seek(place)
            yield pa.ipc.read_record_batch(pa.py_buffer(self._file.read(size)), self._schema)

    def close(self) -> None:
        self._file.close()


class _RunCursor:
    """Rows of a run that are not merged yet, of which one block is in memory; false at the end."""

    def __init__(self, blocks: Iterator[pa.RecordBatch], order: Sequence[str]) -> None:
        self._blocks, self._order = blocks, order
        self._start = 0
        self._last: tuple[Any, ...] = ()
        self._next = next(blocks, None)
        self._advance()

    def __bool__(self) -> bool:
        return self._block is not None

    def bound(self) -> tuple[Any, ...] | None:
        """Return the last row in memory; None if no other follows."""
        return self._last if self._next is not None else None

    def take_until(self, bound: tuple[Any, ...] | None) -> Iterator[pa.RecordBatch]:
        """Take the rows that are not after the bound; without one, those in memory."""
        while self._block is not None and (bound is None or self._last <= bound):
            block, start = self._block, self._start
            self._advance()
            yield block.slice(start)
        if self._block is not None and bound is not None:
            rows = range(self._block.num_rows)
            end = bisect_right(rows, bound, self._start, key=self._make_sort_key)
            yield self._block.slice(self._start, end - self._start)
            self._start = end

    def _advance(self) -> None:
        self._block, self._start = self._next, 0
        if self._block is not None:
            self._next = next(self._blocks, None)
            self._columns = [self._block.column(name) for name in self._order]
            self._last = self._make_sort_key(self._block.num_rows - 1)

    def _make_sort_key(self, row: int) -> tuple[Any, ...]:
        """Return what a row is compared by: a null is after everything."""
        cells = [column[row].as_py() for column in self._columns]
        return tuple((cell is None, cell) for cell in cells)


def _merge_cursors(
    cursors: Sequence[_RunCursor], order: Sequence[str], *, unite: bool
) -> Iterator[pa.Table]:
    by = [(name, "ascending") for name in order]
    while cursors:
        bounds = [bound for cursor in cursors if (bound := cursor.bound()) is not None]
        bound = min(bounds, default=None)
        parts = [part for cursor in cursors for part in cursor.take_until(bound) if part.num_rows]
        table = pa.Table.from_batches(parts)
        if len(parts) > 1:
            table = table.take(pc.sort_indices(table, sort_keys=by))
            table = _unite_rows(table, order) if unite else table
        yield table
        cursors = [cursor for cursor in cursors if cursor]


def _unite_rows(table: pa.Table, order: Sequence[str]) -> pa.Table:
    """Merge rows that follow one another and are equal in `order` into as few as possible."""
    table = table.combine_chunks()
    starts = np.ones(table.num_rows, np.bool_)
    starts[1:] = ~np.logical_and.reduce([_find_repeats(table.column(name)) for name in order])
    if starts.all():
        return table
    group, heads = np.cumsum(starts) - 1, np.flatnonzero(starts)
    names = [name for name in table.column_names if PRESENT + name in table.column_names]
    there = {name: np.flatnonzero(to_numpy(table.column(PRESENT + name))) for name in names}
    sizes = np.max([np.bincount(group[rows], minlength=len(heads)) for rows in there.values()], 0)
    firsts = np.cumsum(sizes) - sizes
    columns = {name: table.column(name).take(pa.array(np.repeat(heads, sizes))) for name in order}
    for name, rows in there.items():
        own = group[rows]
        turns = np.arange(len(rows)) - np.searchsorted(own, own)
        places = np.full(sizes.sum(), -1, np.int64)
        places[firsts[own] + turns] = rows
        columns[name] = table.column(name).take(pa.array(places, mask=places < 0))
        columns[PRESENT + name] = pa.chunked_array([pa.array(places >= 0)])
    return pa.table([columns[name] for name in table.column_names], names=table.column_names)


def _find_repeats(column: pa.ChunkedArray) -> np.ndarray:
    """Return whether each cell but the first equals the one before."""
    left, right = column.slice(0, len(column) - 1), column.slice(1)
    equal = pc.fill_null(pc.equal(left, right), False)
    return to_numpy(pc.or_(equal, pc.and_(pc.is_null(left), pc.is_null(right))))
