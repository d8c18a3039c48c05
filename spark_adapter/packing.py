"""Rows on their way to stateful code and back, as bytes: record batches of one shard group each.

Spark hands rows to stateful code one by one in Python, through pandas, where null and NaN are one.
So it is given few rows that hold many.
"""

from __future__ import annotations

import functools
import gc
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rtbot.adapter import from_numpy
from spark_adapter.partition import OUT_ROWS, merge_batches
from spark_adapter.row_order import read_times

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spark_adapter.partition import JobSpec

BUCKET, SLICE, ROWS, STATE = "bucket", "slice", "rows", "state"
IN_BUCKET, IN_SLICE = "__bucket", "__slice"
"""The names of the first two beside columns of a user."""

GUARD = -1
"""A shard group without keys, whose state identifies the graph of all others."""


@dataclass(frozen=True)
class RowPacking:
    """The rows of a stream as shards take them: `IN_SLICE` and what `work` reads, of `schema`."""

    work: JobSpec
    schema: pa.Schema

    def pack(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pack rows with `IN_BUCKET` and columns of the schema; times become int64 in io.unit.

        The first batch is only a call of the shard group `GUARD`.
        """
        guarded = False
        for chunk in merge_batches(batches):
            buckets = chunk.column(IN_BUCKET).to_numpy()
            order = np.argsort(buckets, kind="stable")
            rows = self.select_columns(chunk).take(pa.array(order)).combine_chunks()
            found, starts = np.unique(buckets[order], return_index=True)
            ends = [*starts[1:].tolist(), len(order)]
            parts = [
                _to_bytes(rows.slice(start, end - start))
                for start, end in zip(starts.tolist(), ends, strict=True)
            ]
            if not guarded:
                yield _make_packed([GUARD], [b""])
                guarded = True
            yield _make_packed(found, parts)

    def select_columns(self, chunk: pa.Table) -> pa.Table:
        """Return the rows in the columns of the schema."""
        columns = {name: chunk.column(name) for name in self.schema.names}
        columns[self.work.time] = from_numpy(read_times(chunk, self.work))
        return pa.table(columns).cast(self.schema)

    def split_shards(self, parts: Iterable[bytes]) -> dict[int, pa.Table]:
        """Return the rows of every shard from the packed rows of one shard group."""
        batches = [pa.ipc.read_record_batch(pa.py_buffer(part), self.schema) for part in parts]
        table = pa.Table.from_batches(batches, self.schema)
        place = table.column(IN_SLICE).to_numpy()
        order = np.argsort(place, kind="stable")
        rows = table.drop_columns([IN_SLICE]).take(pa.array(order))
        found, starts = np.unique(place[order], return_index=True)
        ends = [*starts[1:].tolist(), len(order)]
        return {
            int(number): rows.slice(start, end - start)
            for number, start, end in zip(found, starts.tolist(), ends, strict=True)
        }


def pack_result(table: pa.Table) -> list[bytes]:
    """Return the rows of a result as bytes."""
    return [batch.serialize().to_pybytes() for batch in table.to_batches(OUT_ROWS)]


def unpack_batches(
    schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Return the record batches that `pack_result` made bytes of."""
    for batch in batches:
        for part in batch.column(ROWS):
            if part.is_valid:
                yield pa.ipc.read_record_batch(part.as_buffer(), schema)


def _make_packed(buckets: Any, parts: list[bytes]) -> pa.RecordBatch:
    columns = [pa.array(buckets, pa.int32()), pa.array(parts, pa.binary())]
    return pa.RecordBatch.from_arrays(columns, [BUCKET, ROWS])


def _to_bytes(rows: pa.Table) -> bytes:
    batch, *more = rows.combine_chunks().to_batches()
    assert not more, "combined chunks are one"
    made: bytes = batch.serialize().to_pybytes()
    return made


@functools.cache
def freeze_loaded() -> None:
    """Exclude what a worker has loaded from garbage collection, at the end of its first task.

    PySpark collects garbage after each task; going through all modules again takes it 50 ms.
    """
    gc.freeze()
