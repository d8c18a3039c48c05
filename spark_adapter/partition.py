"""A graph over the rows of a partition: sorted record batches in, record batches out, no Spark.

Rows come sorted by (key, t). Keys that begin and end within a chunk of rows go through one keyed
session together; a key that may go on after the chunk has an unkeyed session of its own. So neither
a key of ten million rows nor a million keys take more memory than a chunk.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot import DataError
from rtbot.adapter import (
    FIRST,
    OutputBuffer,
    build_long,
    build_wide,
    choose_mode,
    from_numpy,
    join_columns,
    list_vectors,
    merge_results,
)
from spark_adapter.ranks import sort_units
from spark_adapter.row_order import convert_row_times, find_key_starts, locate_push_error, read_key
from spark_adapter.worker_errors import hide_worker_traceback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rtbot import Graph, Result, Session

CHUNK_ROWS = 65_536
"""Rows that are pushed at once: enough that the cost of a session does not matter."""

OUT_ROWS = 65_536
"""Rows of a batch that goes back to Spark."""

RUN = "__run"
"""The column that numbers the keys of a chunk."""


@dataclass(frozen=True)
class InputColumn:
    """An input and the column that feeds it; `port` is the number its rows have, if they have one.

    `sparse`: a null cell is no message, as in a wide table; else it is a null message.
    """

    input: str
    column: str
    port: int | None = None
    sparse: bool = True


@dataclass(frozen=True)
class JobSpec:
    """What a worker needs; everything in it can be pickled.

    `keys` are the columns of the key, `time` the one of the times, `port` that of the port numbers.
    `schema` is that of the result: key columns, the time as `stamp`, then the outputs, or `output`
    and `value`. `ranked` is whether rows come by rank, not by key and time.
    """

    graph: Graph
    keys: tuple[str, ...]
    time: str
    feeds: tuple[InputColumn, ...]
    schema: pa.Schema
    stamp: str = "t"
    layout: str = "wide"
    port: str | None = None
    unit: str = "us"
    ranked: bool = False

    def split_inputs(self, chunk: pa.Table, *, keyed: bool) -> dict[str, dict[str, Any]]:
        """Return the table of every input for which there are rows."""
        found = {}
        for one in self.feeds:
            rows = chunk
            if one.port is not None:
                rows = rows.filter(pc.equal(rows.column(self.port), one.port))
            if one.sparse:
                present = find_messages(rows.column(one.column))
                rows = rows if present.all() else rows.filter(pa.array(present))
            if rows.num_rows:
                cells = rows.column(one.column)
                table = {"t": rows.column(self.time), "value": cells}
                heads = self.keys if keyed else ()
                table |= {name: rows.column(name) for name in heads}
                found[one.input] = table | list_fields(one.input, cells)
        return found

    def shape_result(self, tables: Mapping[str, Any], key: tuple[Any, ...] | None) -> pa.Table:
        """Return tables of outputs in the form of the result; of one key if it is given."""
        heads = self.keys if key is None else ()
        if self.layout == "wide":
            table = build_wide(tables, heads)
            table = join_columns(table, list_vectors(self.graph.checked.records))
        else:
            table = build_long(tables, heads)
        columns = {name: table.column(name) for name in table.column_names if name != "t"}
        if key is not None:
            columns |= {
                name: pa.repeat(value, table.num_rows)
                for name, value in zip(self.keys, key, strict=True)
            }
        columns[self.stamp] = self._restore_times(table.column("t"))
        arrays = [columns[f.name].cast(f.type) for f in self.schema]
        return pa.table(arrays, schema=self.schema)

    def _restore_times(self, found: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return times of the result in the type of the time column that came in."""
        kind = self.schema.field(self.stamp).type
        try:
            if not pa.types.is_timestamp(kind):
                return found.cast(kind)
            return found.cast(pa.timestamp(self.unit)).cast(pa.timestamp(kind.unit)).cast(kind)
        except pa.ArrowInvalid as error:
            message = f"a time of the result does not go into {self.stamp!r}, a {kind}: {error}"
            hint = "give times as bigint in io.unit"
            raise DataError(message, code="RT217", hint=hint, column=self.stamp) from None


@dataclass
class KeySession:
    """The session of a key whose rows may go on after the chunk."""

    work: JobSpec
    key: tuple[Any, ...]
    session: Session = field(init=False)
    waiting: OutputBuffer = field(init=False)

    def __post_init__(self) -> None:
        self.session = self.work.graph.start((), compiled=choose_mode(default="now"))
        self.waiting = OutputBuffer(list(self.work.graph.checked.outputs))

    def push(self, chunk: pa.Table) -> pa.Table:
        """Push rows of the key; return what is complete.

        They ascend in time over all inputs, so that none waits for a partner that cannot come.
        """
        self.waiting.add(self._push(chunk).series)
        newest = chunk.column(self.work.time)[-1].as_py()
        if newest > FIRST:
            self.waiting.add(self.session.advance(newest - 1).series)
        frontier = self.session.frontier()
        if frontier is None:
            return self.work.schema.empty_table()
        return self._shape(self.waiting.take_until(frontier))

    def finish(self) -> pa.Table:
        """Return the rest."""
        self.waiting.add(self.session.finish().series)
        return self._shape(self.waiting.take_all())

    def _push(self, chunk: pa.Table) -> Result:
        tables = self.work.split_inputs(chunk, keyed=False)
        try:
            return self.session.push(tables)
        except DataError as error:
            raise locate_push_error(error, tables, self.key) from None

    def _shape(self, tables: Mapping[str, Any]) -> pa.Table:
        return self.work.shape_result(tables, self.key)


class PartitionRun:
    """The rows of a partition in progress; `ended` is called with every session at its end.

    `open` has the sessions of the keys that may go on. Keys of one unit end together, if rows come
    with their units; else each key is one.
    """

    def __init__(self, work: JobSpec, ended: Callable[[Session], None] | None = None) -> None:
        self.work, self.ended = work, ended
        self.open: dict[tuple[Any, ...], KeySession] = {}
        self.unit: int | None = None
        self.newest = FIRST
        kinds = [field for field in work.schema if field.name not in work.keys]
        self.by_run = replace(work, keys=(RUN,), schema=pa.schema([(RUN, pa.int64()), *kinds]))

    def push(self, chunk: pa.Table, units: np.ndarray | None = None) -> Iterator[pa.RecordBatch]:
        """Push rows; yields batches of the result, of every key by t.

        Raises DataError unless the times of a key ascend.
        """
        starts = find_key_starts(chunk, self.work.keys)
        count = len(starts) - 1
        going, last = self._count_open_keys(chunk, starts, units)
        first = going if units is None else 0
        rows = convert_row_times(chunk, self.work, starts[first:-1], self.newest)
        self.newest = rows.column(self.work.time)[-1].as_py()
        for place in range(going):
            yield from self._push_open(rows, *starts[place : place + 2])
        if going == count:
            return
        yield from self.finish()
        if last > going:
            yield from split_batches(self._run_whole_keys(rows, starts[going : last + 1]))
        for place in range(last, count):
            yield from self._push_open(rows, *starts[place : place + 2])

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Yield what the last keys still have."""
        while self.open:
            one = self.open.pop(next(iter(self.open)))
            yield from split_batches(one.finish())
            self._end(one.session)

    def _count_open_keys(
        self, chunk: pa.Table, starts: Sequence[int], units: np.ndarray | None
    ) -> tuple[int, int]:
        """Return how many keys continue from before, and which is the first that may go on."""
        if units is None:
            return int(read_key(chunk, 0, self.work.keys) in self.open), len(starts) - 2
        of_keys = units[starts[:-1]]
        going = 0 if self.unit is None else int(np.searchsorted(of_keys, self.unit, side="right"))
        self.unit = int(units[-1])
        return going, int(np.searchsorted(of_keys, self.unit))

    def _push_open(self, rows: pa.Table, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """Push the rows of a key that may go on."""
        key = read_key(rows, start, self.work.keys)
        if key not in self.open:
            self.open[key] = KeySession(self.work, key)
        yield from split_batches(self.open[key].push(rows.slice(start, stop - start)))

    def _run_whole_keys(self, rows: pa.Table, starts: Sequence[int]) -> pa.Table:
        """Run keys that begin and end here: one session, where a key is its number."""
        firsts, count = pa.array(starts[:-1]), starts[-1] - starts[0]
        runs = from_numpy(np.repeat(np.arange(len(firsts)), np.diff(starts)))
        chosen = rows.slice(starts[0], count).append_column(RUN, runs)
        tables = self.by_run.split_inputs(chosen, keyed=True)
        session = self.work.graph.start((RUN,), compiled=choose_mode(default="now"))
        try:
            parts = [session.push(tables), session.finish()]
        except DataError as error:
            key = () if error.key is None else read_key(rows, starts[error.key], self.work.keys)
            raise locate_push_error(error, tables, key) from None
        self._end(session)
        filled = [part for part in parts if any(len(table["t"]) for table in part.values())]
        whole = merge_results(filled or parts[:1])
        shown = self.by_run.shape_result(whole.series, None)
        found = {name: shown.column(name) for name in shown.column_names}
        for name in self.work.keys:
            found[name] = rows.column(name).take(firsts).take(shown.column(RUN))
        arrays = [found[field.name].cast(field.type) for field in self.work.schema]
        return pa.table(arrays, schema=self.work.schema)

    def _end(self, session: Session) -> None:
        if self.ended is not None:
            self.ended(session)


def find_messages(cells: pa.ChunkedArray) -> np.ndarray:
    """Return which cells of a wide table are messages: a null is none, as are nulls alone."""
    present: np.ndarray
    if pa.types.is_struct(cells.type):
        fields = [find_messages(part) for part in list_fields("", cells).values()]
        present = np.logical_or.reduce(fields)
        return present
    cells = cells.combine_chunks()
    present = pc.is_valid(cells).to_numpy(zero_copy_only=False)
    if pa.types.is_list(cells.type):
        known = pc.is_valid(pc.list_flatten(cells)).to_numpy(zero_copy_only=False)
        nulls = pc.list_parent_indices(cells).to_numpy()[~known]
        count = np.bincount(nulls, minlength=len(cells))
        length = pc.fill_null(pc.list_value_length(cells), 0).to_numpy()
        present &= (count < length) | (count == 0)
    return present


def list_fields(name: str, cells: Any) -> dict[str, Any]:
    """Return the columns of the fields of records by name; none of anything else."""
    if not pa.types.is_struct(cells.type):
        return {}
    fields = [cells.type.field(place).name for place in range(cells.type.num_fields)]
    return {f"{name}.{field}": pc.struct_field(cells, [field]) for field in fields}


def run_partition(
    work: JobSpec,
    batches: Iterable[pa.RecordBatch],
    ended: Callable[[Session], None] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Run a graph over rows sorted by (key, t), or by their rank; yields the batches of its result.

    An error of `rtbot.core.errors` has all that is wrong in its text, and Spark shows all of it.
    """
    partition, tables = PartitionRun(work, ended), merge_batches(batches)

    def rows() -> Iterator[pa.RecordBatch]:
        for chunk, unit in sort_units(tables, work) if work.ranked else zip(tables, repeat(None)):
            yield from partition.push(chunk, unit)
        yield from partition.finish()

    return simplify_errors(rows(), work)


def simplify_errors(rows: Iterable[pa.RecordBatch], work: JobSpec) -> Iterator[pa.RecordBatch]:
    """Yield the rows; an error of ours comes without its traceback."""
    with hide_worker_traceback(work):
        yield from rows


def merge_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Merge batches into chunks of about `CHUNK_ROWS` rows; none is empty."""
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


def split_batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Split a table into batches, none of them empty."""
    if table.num_rows:
        yield from table.to_batches(OUT_ROWS)
