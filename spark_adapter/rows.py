"""A graph over the rows of a partition: sorted record batches in, record batches out, no Spark.

Rows come sorted by (key, t). Keys that begin and end within a chunk of rows go through one keyed
session together; a key that may go on after the chunk has an unkeyed session of its own. So neither
a key of ten million rows nor a million keys take more memory than a chunk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot.errors import DataError, RtbotError
from rtbot.formats.waiting import Gathered
from rtbot.result import joined
from rtbot.tables.wide import long, wide

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rtbot import Graph, Result, Session

CHUNK_ROWS = 65_536
"""Rows that are pushed at once: enough that what a session costs does not show."""

OUT_ROWS = 65_536
"""Rows of a batch that goes back to Spark."""


@dataclass(frozen=True)
class Feed:
    """An input and the column that feeds it; `port` is the number its rows have, if they have one.

    `sparse`: a null cell is no message, as in a wide table; else it is a null message.
    """

    input: str
    column: str
    port: int | None = None
    sparse: bool = True


@dataclass(frozen=True)
class Work:
    """What a worker has to know; everything in it can be sent there.

    `keys` are the columns of the key, `time` the one of the times, `port` that of the port numbers.
    `schema` is that of the result: key columns, the time as `stamp`, then the outputs, or `output`
    and `value`.
    """

    graph: Graph
    keys: tuple[str, ...]
    time: str
    feeds: tuple[Feed, ...]
    schema: pa.Schema
    stamp: str = "t"
    layout: str = "wide"
    port: str | None = None
    unit: str = "us"

    def tables(self, chunk: pa.Table, *, keyed: bool) -> dict[str, dict[str, Any]]:
        """Return the table of every input that the rows bring something for."""
        found = {}
        for one in self.feeds:
            rows = chunk
            if one.port is not None:
                rows = rows.filter(pc.equal(rows.column(self.port), one.port))
            if one.sparse and rows.column(one.column).null_count:
                rows = rows.filter(pc.is_valid(rows.column(one.column)))
            if rows.num_rows:
                table = {"t": rows.column(self.time), "value": rows.column(one.column)}
                heads = self.keys if keyed else ()
                found[one.input] = table | {name: rows.column(name) for name in heads}
        return found

    def shaped(self, tables: Mapping[str, Any], key: tuple[Any, ...] | None) -> pa.Table:
        """Return tables of outputs in the form of the result; of one key if it is given."""
        heads = self.keys if key is None else ()
        table = (wide if self.layout == "wide" else long)(tables, heads)
        columns = {name: table.column(name) for name in table.column_names if name != "t"}
        if key is not None:
            columns |= {
                name: pa.repeat(value, table.num_rows)
                for name, value in zip(self.keys, key, strict=True)
            }
        columns[self.stamp] = self._stamped(table.column("t"))
        arrays = [columns[f.name].cast(f.type) for f in self.schema]
        return pa.table(arrays, schema=self.schema)

    def _stamped(self, times: pa.ChunkedArray) -> pa.ChunkedArray:
        kind = self.schema.field(self.stamp).type
        if not pa.types.is_timestamp(kind):
            return times
        return times.cast(pa.timestamp(self.unit)).cast(pa.timestamp(kind.unit)).cast(kind)


@dataclass
class OneKey:
    """The session of a key whose rows may go on after the chunk."""

    work: Work
    key: tuple[Any, ...]
    session: Session = field(init=False)
    waiting: Gathered = field(init=False)

    def __post_init__(self) -> None:
        self.session = self.work.graph.start(())
        self.waiting = Gathered(list(self.work.graph.checked.outputs))

    def push(self, chunk: pa.Table) -> pa.Table:
        """Push rows of the key; returns what is complete."""
        self.waiting.add(self._told(chunk))
        frontier = self.session.frontier()
        least = np.iinfo(np.int64).min
        return self._shaped(self.waiting.until(least if frontier is None else frontier))

    def finish(self) -> pa.Table:
        """Return the rest."""
        self.waiting.add(self.session.finish())
        return self._shaped(self.waiting.all())

    def _told(self, chunk: pa.Table) -> Result:
        tables = self.work.tables(chunk, keyed=False)
        try:
            return self.session.push(tables)
        except DataError as error:
            shown = tuple(part.as_py() for part in self.key)
            raise error.at(key=shown[0] if len(shown) == 1 else shown) from None

    def _shaped(self, tables: Mapping[str, Any]) -> pa.Table:
        return self.work.shaped(tables, self.key)


class Partition:
    """The rows of a partition in progress."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.open: OneKey | None = None

    def push(self, chunk: pa.Table) -> Iterator[pa.RecordBatch]:
        """Push rows; yields batches of the result, of every key by t."""
        starts = key_starts(chunk, self.work.keys)
        first = 0
        if self.open is not None and self._continues(chunk):
            first = 1
            yield from batches_of(self.open.push(chunk.slice(0, starts[1])))
        if len(starts) - 1 == first:
            return
        if self.open is not None:
            yield from batches_of(self.open.finish())
        last = starts[-2]
        if last > starts[first]:
            yield from batches_of(
                self._whole_keys(chunk.slice(starts[first], last - starts[first]))
            )
        self.open = OneKey(self.work, key_at(chunk, last, self.work.keys))
        yield from batches_of(self.open.push(chunk.slice(last)))

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Yield what the last key still has."""
        if self.open is not None:
            yield from batches_of(self.open.finish())

    def _continues(self, chunk: pa.Table) -> bool:
        assert self.open is not None
        return self.open.key == key_at(chunk, 0, self.work.keys)

    def _whole_keys(self, rows: pa.Table) -> pa.Table:
        session = self.work.graph.start(self.work.keys)
        parts = [session.push(self.work.tables(rows, keyed=True)), session.finish()]
        filled = [part for part in parts if any(len(table["t"]) for table in part.values())]
        return self.work.shaped(joined(filled or parts[:1]), None)


def run_partition(work: Work, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Run a graph over rows sorted by (key, t); yields the batches of its result.

    An error of the tree in `rtbot.errors` comes without the calls that led to it: it says itself
    what is wrong, and Spark shows all of it.
    """
    try:
        partition = Partition(work)
        for chunk in chunks(batches):
            yield from partition.push(chunk)
        yield from partition.finish()
    except RtbotError as error:
        raise error.with_traceback(None) from None


def chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Put batches together to chunks of some `CHUNK_ROWS`; none is empty."""
    gathered: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            gathered.append(batch)
            rows += batch.num_rows
        if rows >= CHUNK_ROWS:
            yield pa.Table.from_batches(gathered).combine_chunks()
            gathered, rows = [], 0
    if gathered:
        yield pa.Table.from_batches(gathered).combine_chunks()


def key_starts(chunk: pa.Table, keys: Sequence[str]) -> list[int]:
    """Return where the rows of each key begin, and at the end the number of rows."""
    differs = np.zeros(chunk.num_rows, np.bool_)
    differs[:1] = True
    for name in keys:
        column = chunk.column(name).combine_chunks()
        before, after = column.slice(0, len(column) - 1), column.slice(1)
        unequal = pc.fill_null(pc.not_equal(after, before), False)
        if column.null_count:
            unequal = pc.or_(unequal, pc.xor(pc.is_null(after), pc.is_null(before)))
        differs[1:] |= np.asarray(unequal.to_numpy(zero_copy_only=False))
    return [*np.flatnonzero(differs).tolist(), chunk.num_rows]


def key_at(chunk: pa.Table, row: int, keys: Sequence[str]) -> tuple[Any, ...]:
    """Return the key of a row, as Arrow scalars."""
    return tuple(chunk.column(name)[row] for name in keys)


def batches_of(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Cut a table into batches; none of no rows."""
    if table.num_rows:
        yield from table.to_batches(OUT_ROWS)
