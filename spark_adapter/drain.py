"""States handed over: from a batch run to a stream, and from a stream to a batch run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql.types import StructField, StructType

from rtbot.core.errors import DataError
from spark_adapter.bucket import Slice, begun, resumed
from spark_adapter.graphs import HEADS, KINDS, loaded_graph, prepared
from spark_adapter.options import Options
from spark_adapter.packing import BUCKET, IN_BUCKET, IN_SLICE, SLICE, STATE
from spark_adapter.rows import Feed, Work, batches_of, chunks
from spark_adapter.sources import named, requested, rows_of
from spark_adapter.stateful import STATES
from spark_adapter.states import Split, opened
from spark_adapter.stream import TIME, dealt, split_of
from spark_adapter.telling import plainly

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from rtbot import Graph
    from spark_adapter.packing import Packing
    from spark_adapter.sources import Rows

SAVED = f"{BUCKET} int, {SLICE} int, {STATE} binary"
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
    """Return what a graph knows after the rows of batch DataFrames: `initial_state` of a stream.

    Parameters are those of `run_graph`, with `buckets` and `slices` as the stream will have them.
    The rows of the result up to there are those of `run_graph(..., finish=False)`; the stream
    gives the others.
    """
    given = Options.of(options)
    given.refuse(("watermark", "initial_state", "partitions"), "run_graph")
    loaded = loaded_graph(graph, given.params)
    rows = rows_of(data, loaded, requested(key, time, given.inputs))
    return _by_slice(rows, loaded, given, states=True)


def unfinished(rows: Rows, graph: Graph, options: Options) -> DataFrame:
    """Return the rows of the result that no later row of any input could change or complete."""
    return _by_slice(rows, graph, options, states=False)


def _by_slice(rows: Rows, graph: Graph, options: Options, *, states: bool) -> DataFrame:
    work, shape = prepared(rows, graph, options.layout)
    split = split_of(rows.frame, options.buckets, options.slices)
    given = dealt(rows, work, split)
    places = [named(name) for name in (IN_BUCKET, IN_SLICE, TIME)]
    ordered = given.frame.repartition(places[0]).sortWithinPartitions(*places)
    run = Sliced(given.packing, split, states=states)
    return ordered.mapInArrow(run.function(), SAVED if states else shape.spark)


def saved_state(spark: SparkSession, checkpoint: str) -> DataFrame:
    """Return the states of a stopped stream, of its checkpoint: `initial_state` of another one.

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
    loaded = loaded_graph(graph, params)
    states = saved_state(spark, checkpoint).select(STATE)
    first = states.first()
    if first is None:
        raise DataError(f"the checkpoint {checkpoint} holds no state yet", code="RT206")
    work, split = _read_work(loaded, bytes(first[0]))
    resumed(work, split, bytes(first[0]))
    shape = StructType([StructField(f.name, SPARK_TYPES[f.type]) for f in work.schema])
    return states.mapInArrow(_finish(work, split), shape)


def _read_work(graph: Graph, state: bytes) -> tuple[Work, Split]:
    """Return how a state's rows are read, as the state itself tells it."""
    saved = opened(state)
    header, parts = saved.header, saved.header["work"]
    feeds = tuple(Feed(**feed) for feed in parts.pop("feeds"))
    keys = tuple(parts.pop("keys"))
    split = Split(header["form"]["buckets"], header["form"]["slices"])
    return Work(graph, keys=keys, feeds=feeds, schema=saved.schema, **parts), split


def _finish(work: Work, split: Split) -> Any:
    def rtbot_finish(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with plainly(work):
            for batch in batches:
                for state in batch.column(STATE):
                    yield from batches_of(resumed(work, split, state.as_py()).finish())

    return rtbot_finish


@dataclass(frozen=True)
class Sliced:
    """A run over rows sorted by bucket, slice and time, without an end."""

    packing: Packing
    split: Split
    states: bool

    def function(self) -> Any:
        """Return what Spark calls for a partition."""

        def rtbot_slices(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            with plainly(self.packing.work):
                yield from self._run(batches)

        return rtbot_slices

    def _run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        place: tuple[int, int] | None = None
        one: Slice | None = None
        for here, rows in self._pieces(batches):
            if here != place or one is None:
                yield from self._saved(place, one)
                place, one = here, begun(self.packing.work, self.split)
            released = one.take(rows)
            if not self.states:
                yield from batches_of(released)
        yield from self._saved(place, one)

    def _pieces(
        self, batches: Iterable[pa.RecordBatch]
    ) -> Iterator[tuple[tuple[int, int], pa.Table]]:
        for chunk in chunks(batches):
            buckets, slices = (chunk.column(n).to_numpy() for n in (IN_BUCKET, IN_SLICE))
            rows = self.packing.plain(chunk)
            differs = (buckets[1:] != buckets[:-1]) | (slices[1:] != slices[:-1])
            starts = [0, *(np.flatnonzero(differs) + 1).tolist(), len(buckets)]
            for start, end in pairwise(starts):
                here = int(buckets[start]), int(slices[start])
                yield here, rows.slice(start, end - start)

    def _saved(self, place: tuple[int, int] | None, one: Slice | None) -> Iterator[pa.RecordBatch]:
        if self.states and place is not None and one is not None:
            columns = [pa.array([number], pa.int32()) for number in place]
            columns.append(pa.array([one.state()], pa.binary()))
            yield pa.RecordBatch.from_arrays(columns, [BUCKET, SLICE, STATE])
