"""Handing over state: from a batch run to a stream, and from a stream to a batch run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql.types import StructField, StructType

from rtbot import DataError
from spark_adapter.graphs import HEADS, KINDS, load_for_spark, prepare_job
from spark_adapter.input_rows import make_request, quote_column, read_frames
from spark_adapter.packing import BUCKET, IN_BUCKET, IN_SLICE, SLICE, STATE
from spark_adapter.partition import InputColumn, JobSpec, merge_batches, split_batches
from spark_adapter.shard import Shard, resume_shard, start_shard
from spark_adapter.shard_group import STATES
from spark_adapter.shard_state import ShardLayout, decode_state
from spark_adapter.spark_options import RunOptions
from spark_adapter.stream_run import TIME, assign_shards, choose_shards
from spark_adapter.worker_errors import hide_worker_traceback

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from rtbot import Graph
    from spark_adapter.input_rows import InputRows
    from spark_adapter.packing import RowPacking

STATE_SCHEMA = f"{BUCKET} int, {SLICE} int, {STATE} binary"
SPARK_TYPES = {arrow: kind() for kind, arrow in HEADS.items()}
SPARK_TYPES |= {arrow: kind for kind, arrow in KINDS.values()}


def state_of(
    data: DataFrame | Mapping[str, DataFrame],
    graph: Any,
    *,
    key: str | Sequence[str] | None = None,
    time: str | None = None,
    **options: Any,
) -> DataFrame:
    """Return the state of a graph after the rows of batch DataFrames: `initial_state` of a stream.

    Parameters are those of `run_graph`, with `buckets` and `slices` as the stream will have them.
    The rows of the result up to there are those of `run_graph(..., finish=False)`; the stream
    returns the others.
    """
    given = RunOptions.of(options)
    others = ("watermark", "initial_state", "partitions", "strategy", "observe", "finish")
    given.refuse(others, "run_graph")
    loaded = load_for_spark(graph, given.params)
    rows = read_frames(data, loaded, make_request(key, time, given.inputs))
    return _run_by_shard(rows, loaded, given, states=True)


def run_unfinished(rows: InputRows, graph: Graph, options: RunOptions) -> DataFrame:
    """Return the rows of the result that no later row of any input could change or complete."""
    return _run_by_shard(rows, graph, options, states=False)


def _run_by_shard(rows: InputRows, graph: Graph, options: RunOptions, *, states: bool) -> DataFrame:
    work, shape = prepare_job(rows, graph, options.layout)
    split = choose_shards(rows.frame, options.buckets, options.slices)
    given = assign_shards(rows, work, split)
    places = [quote_column(name) for name in (IN_BUCKET, IN_SLICE, TIME)]
    ordered = given.frame.repartition(places[0]).sortWithinPartitions(*places)
    run = ShardRun(given.packing, split, states=states)
    return ordered.mapInArrow(run.make_worker_function(), STATE_SCHEMA if states else shape.spark)


def saved_state(spark: SparkSession, checkpoint: str) -> DataFrame:
    """Return the states of a stopped stream from its checkpoint: `initial_state` of another one.

    That is how a stream moves to another checkpoint or number of shuffle partitions.
    """
    read = spark.read.format("statestore").option("path", checkpoint)
    frame = read.option("stateVarName", STATES).load()
    columns = (f"key.{BUCKET}", f"user_map_key.{SLICE}", f"user_map_value.{STATE}")
    return frame.select(*columns)


def drain(
    spark: SparkSession, checkpoint: str, graph: Any, params: Mapping[str, Any] | None = None
) -> DataFrame:
    """Return the rest of the result of a stopped stream: rows that waited, and its finish.

    Reads the checkpoint and leaves it as it is. Raises CheckpointError if it is of another graph,
    DataError if it holds no state.
    """
    loaded = load_for_spark(graph, params)
    states = saved_state(spark, checkpoint).select(STATE)
    first = states.first()
    if first is None:
        raise DataError(f"the checkpoint {checkpoint} holds no state yet", code="RT206")
    work, split = _read_job(loaded, bytes(first[0]))
    resume_shard(work, split, bytes(first[0]))
    shape = StructType([StructField(f.name, SPARK_TYPES[f.type]) for f in work.schema])
    return states.mapInArrow(_make_finish_function(work, split), shape)


def _read_job(graph: Graph, state: bytes) -> tuple[JobSpec, ShardLayout]:
    """Return how a state's rows are read, from the state itself."""
    saved = decode_state(state)
    header, parts = saved.header, saved.header["work"]
    feeds = tuple(InputColumn(**feed) for feed in parts.pop("feeds"))
    keys = tuple(parts.pop("keys"))
    split = ShardLayout(header["form"]["buckets"], header["form"]["slices"])
    return JobSpec(graph, keys=keys, feeds=feeds, schema=saved.schema, **parts), split


def _make_finish_function(work: JobSpec, split: ShardLayout) -> Any:
    def rtbot_finish(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with hide_worker_traceback(work):
            for batch in batches:
                for state in batch.column(STATE):
                    yield from split_batches(resume_shard(work, split, state.as_py()).finish())

    return rtbot_finish


@dataclass(frozen=True)
class ShardRun:
    """A run over rows sorted by shard group, shard and time, without an end."""

    packing: RowPacking
    split: ShardLayout
    states: bool

    def make_worker_function(self) -> Any:
        """Return what Spark calls for a partition."""

        def rtbot_slices(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            with hide_worker_traceback(self.packing.work):
                yield from self._run(batches)

        return rtbot_slices

    def _run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        place: tuple[int, int] | None = None
        one: Shard | None = None
        for here, rows in self._split_shards(batches):
            if here != place or one is None:
                yield from self._save_state(place, one)
                place, one = here, start_shard(self.packing.work, self.split)
            released = one.take(rows)
            if not self.states:
                yield from split_batches(released)
        yield from self._save_state(place, one)

    def _split_shards(
        self, batches: Iterable[pa.RecordBatch]
    ) -> Iterator[tuple[tuple[int, int], pa.Table]]:
        for chunk in merge_batches(batches):
            buckets, slices = (chunk.column(n).to_numpy() for n in (IN_BUCKET, IN_SLICE))
            rows = self.packing.select_columns(chunk)
            differs = (buckets[1:] != buckets[:-1]) | (slices[1:] != slices[:-1])
            starts = [0, *(np.flatnonzero(differs) + 1).tolist(), len(buckets)]
            for start, end in pairwise(starts):
                here = int(buckets[start]), int(slices[start])
                yield here, rows.slice(start, end - start)

    def _save_state(
        self, place: tuple[int, int] | None, one: Shard | None
    ) -> Iterator[pa.RecordBatch]:
        if self.states and place is not None and one is not None:
            columns = [pa.array([number], pa.int32()) for number in place]
            columns.append(pa.array([one.to_bytes()], pa.binary()))
            yield pa.RecordBatch.from_arrays(columns, [BUCKET, SLICE, STATE])
