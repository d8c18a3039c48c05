"""A graph over a streaming DataFrame: rows wait for the watermark, states are in shard groups.

Spark calls Python once per group and micro-batch, and a call costs milliseconds. So keys are
assigned to shard groups, which are Spark's groups; a shard group reads and writes only those of its
shards that get rows, or that the watermark lets continue.
"""

from __future__ import annotations

import importlib.util
import itertools
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions, types

from rtbot import DataError
from rtbot.adapter import DEFAULT_UNIT
from spark_adapter.graphs import choose_arrow_type, prepare_job
from spark_adapter.input_rows import (
    INTEGERS,
    PORT,
    check_names,
    find_columns,
    quote_column,
    read_frames,
)
from spark_adapter.nested import refuse_stateful
from spark_adapter.packing import (
    BUCKET,
    IN_BUCKET,
    IN_SLICE,
    ROWS,
    RowPacking,
    freeze_loaded,
    unpack_batches,
)
from spark_adapter.shard import SINGLE_KEY
from spark_adapter.shard_group import OUT, Counts, ShardGroupProcessor
from spark_adapter.shard_state import ShardLayout
from spark_adapter.watermark_clock import PER_MILLISECOND, WatermarkClock
from spark_adapter.worker_errors import hide_worker_traceback

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.listener import StreamingQueryProgress
    from pyspark.sql.streaming.query import StreamingQuery

    from rtbot import Graph
    from spark_adapter.input_rows import ColumnRequest, InputRows
    from spark_adapter.partition import JobSpec
    from spark_adapter.spark_options import RunOptions

EVENT, TIME = "__event", "__t"
OBSERVED = "rtbot"
"""Prefix of the names of our counts in the progress of a query, one for every graph."""

NUMBERS = itertools.count(1)

DELAY = "spark.watermarkDelayMs"
"""Where Spark notes the watermark of a column."""

BUCKETS_PER_PARTITION, SLICES = 4, 4
LOG = logging.getLogger("spark_adapter")
PARTITIONS = "spark.sql.shuffle.partitions"
MANY = 8
"""Shuffle partitions per core that are too many for a stream."""

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
DAY = 86_400_000_000


@dataclass(frozen=True)
class AssignedRows:
    """Rows with `IN_BUCKET`, and the columns that `packing` packs."""

    frame: DataFrame
    packing: RowPacking


def late_rows(query: StreamingQuery) -> int:
    """Return how many messages were late: the watermark had passed them, and they were left out.

    Counts the micro-batches that `query.recentProgress` still has, by default the last 100.
    """
    return sum(counts(progress).late for progress in query.recentProgress)


def counts(progress: StreamingQueryProgress) -> Counts:
    """Return our counts in `query.lastProgress`, an entry of `query.recentProgress` or an event.

    They are what the progress has among its `observedMetrics`, summed over the graphs of the query;
    0 where it has none.
    """
    metrics = progress["observedMetrics"]
    total = [0] * len(Counts._fields)
    for name in metrics:
        if name.split(".")[0] == OBSERVED:
            found = metrics[name]
            read = found["values"] if "values" in found else [found[n] for n in Counts._fields]
            total = [one + (value or 0) for one, value in zip(total, read, strict=True)]
    return Counts(*total)


def choose_shards(frame: DataFrame, buckets: int | None, slices: int | None) -> ShardLayout:
    """Return how keys are assigned; by default by the number of Spark's shuffle partitions."""
    if buckets is None:
        partitions = int(str(frame.sparkSession.conf.get(PARTITIONS)))
        buckets = BUCKETS_PER_PARTITION * partitions
    return ShardLayout(buckets, SLICES if slices is None else slices)


def add_watermarks(
    data: Any, graph: Graph, request: ColumnRequest, watermark: str | Mapping[str, str] | None
) -> Any:
    """Return the DataFrames with the event time of their rows as a column of its own, `EVENT`."""
    if not isinstance(data, Mapping):
        if isinstance(watermark, Mapping):
            raise TypeError("a watermark per input goes with a DataFrame per input")
        return _add_watermark(data, graph, request, watermark)
    check_names(
        watermark if isinstance(watermark, Mapping) else {}, data, "no DataFrame is given for"
    )
    delays = watermark if isinstance(watermark, Mapping) else dict.fromkeys(data, watermark)
    return {n: _add_watermark(f, graph, request, delays.get(n)) for n, f in data.items()}


def _add_watermark(
    frame: DataFrame, graph: Graph, request: ColumnRequest, delay: str | None
) -> DataFrame:
    _, name = find_columns(frame, graph, request)
    column, unit = quote_column(name), graph.checked.io.unit
    given = frame.schema[name]
    if isinstance(given.dataType, INTEGERS):
        if unit is None:
            message = f"the time {name!r} is an integer, and the graph does not say of what unit"
            raise DataError(message, code="RT205", hint="set io.unit (s, ms, us or ns)")
        column = _to_timestamp(column.cast("long"), unit)
    elif not isinstance(given.dataType, types.TimestampType):
        column = functions.timestamp_micros(_to_local_micros(column.cast("timestamp_ntz")))
    delay = delay or _choose_delay(graph)
    if delay is None and DELAY not in given.metadata:
        message = "a stream needs a watermark: how much later than others a row may come"
        hint = "say watermark='10 seconds', set io.lateness, or give the frame withWatermark"
        raise DataError(message, code="RT202", hint=hint)
    made = frame.withColumn(EVENT, column)
    if delay is not None and any(DELAY in field.metadata for field in frame.schema):
        message = "the DataFrame has a watermark already, and a second one is given"
        hint = (
            "leave out withWatermark and give watermark=, or leave watermark= and io.lateness out"
        )
        raise DataError(message, code="RT323", hint=hint)
    return made if delay is None else made.withWatermark(EVENT, delay)


def _to_timestamp(count: Column, unit: str) -> Column:
    """Return the timestamp of an integer time."""
    if unit == "ns":
        thousand = functions.lit(1_000)
        whole = count - functions.pmod(count, thousand)
        return functions.timestamp_micros(functions.call_function("div", whole, thousand))
    return functions.timestamp_micros(count * {"s": 1_000_000, "ms": 1_000, "us": 1}[unit])


def _to_local_micros(column: Column) -> Column:
    """Return the microseconds since 1970 of a time without a zone, whatever Spark's own zone."""
    days = functions.unix_date(column.cast("date")).cast("long")
    seconds = (functions.hour(column) * 60 + functions.minute(column)) * 60
    parts = functions.date_part(functions.lit("SECOND"), column) * 1_000_000
    return days * DAY + seconds.cast("long") * 1_000_000 + parts.cast("long")


def _choose_delay(graph: Graph) -> str | None:
    """Return the delay that admits what `io.lateness` does."""
    lateness, unit = graph.checked.io.lateness, graph.checked.io.unit or DEFAULT_UNIT
    if lateness is None:
        return None
    whole = lateness * 1_000 if unit == "s" else -(-lateness // PER_MILLISECOND[unit])
    return f"{whole + 1} milliseconds"


def assign_shards(rows: InputRows, work: JobSpec, split: ShardLayout) -> AssignedRows:
    """Give every row its shard group and shard, and columns their names in the states."""
    keys = rows.keys or (SINGLE_KEY,)
    frame = rows.frame if rows.keys else rows.frame.withColumn(SINGLE_KEY, functions.lit(0))
    feeds = [replace(feed, column=f"__v{place}") for place, feed in enumerate(work.feeds)]
    columns = {name: _simplify_column(frame, name) for name in keys}
    hashed = functions.xxhash64(*(column for column, _ in columns.values()))
    number = functions.pmod(hashed, functions.lit(split.buckets * split.slices))
    bucket = functions.pmod(number, functions.lit(split.buckets))
    shown = [bucket.cast("int").alias(IN_BUCKET)]
    shown.append(((number - bucket) / split.buckets).cast("int").alias(IN_SLICE))
    columns[TIME] = quote_column(rows.time), pa.int64()
    if rows.port:
        columns[PORT] = quote_column(rows.port), pa.int32()
    columns |= {
        new.column: _simplify_column(frame, old.column)
        for old, new in zip(work.feeds, feeds, strict=True)
    }
    frame = frame.select(*shown, *(column.alias(name) for name, (column, _) in columns.items()))
    kinds = [(IN_SLICE, pa.int32()), *((name, kind) for name, (_, kind) in columns.items())]
    port = PORT if rows.port else None
    own = replace(work, keys=keys, time=TIME, feeds=tuple(feeds), port=port)
    return AssignedRows(frame, RowPacking(own, pa.schema(kinds)))


def _simplify_column(frame: DataFrame, name: str) -> tuple[Column, pa.DataType]:
    """Return a column as one of the few types that states hold: equal values, of any width."""
    kind = frame.schema[name].dataType
    if isinstance(kind, types.StringType):
        return quote_column(name), pa.string()
    if isinstance(kind, types.BooleanType):
        return quote_column(name), pa.bool_()
    if isinstance(kind, types.ArrayType | types.StructType):
        return quote_column(name), choose_arrow_type(kind)
    whole = isinstance(kind, INTEGERS)
    return quote_column(name).cast(
        "long" if whole else "double"
    ), pa.int64() if whole else pa.float64()


def run_stream(data: Any, graph: Graph, request: ColumnRequest, options: RunOptions) -> DataFrame:
    """Return the streaming DataFrame of the result, as `run_graph` describes it."""
    for frame in data.values() if isinstance(data, Mapping) else [data]:
        refuse_stateful(frame)
    timed = add_watermarks(data, graph, request, options.watermark)
    rows = read_frames(timed, graph, replace(request, also=(EVENT,)))
    check_requirements(rows.frame)
    work, shape = prepare_job(rows, graph, options.layout)
    notice_partitions(rows.frame)
    split = choose_shards(rows.frame, options.buckets, options.slices)
    given = assign_shards(rows, work, split)
    before = options.initial_state
    if before is not None and BUCKET not in before.columns:
        raise TypeError("initial_state is what state_of or saved_state returned")
    result = (
        given.frame.mapInArrow(_make_pack_function(given.packing), f"{BUCKET} int, {ROWS} binary")
        .groupBy(BUCKET)
        .transformWithStateInPandas(
            ShardGroupProcessor(given.packing, split, WatermarkClock(work.unit)),
            OUT,
            "append",
            "eventTime",
            None if before is None else before.groupBy(BUCKET),
        )
        .observe(
            f"{OBSERVED}.{next(NUMBERS)}",
            *(functions.sum(name).alias(name) for name in Counts._fields),
        )
    )
    return result.select(ROWS).mapInArrow(_make_unpack_function(shape.arrow), shape.spark)


def _make_pack_function(packing: RowPacking) -> Any:
    def rtbot_pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with hide_worker_traceback(packing.work):
            yield from packing.pack(batches)
        freeze_loaded()

    return rtbot_pack


def _make_unpack_function(schema: pa.Schema) -> Any:
    def rtbot_unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from unpack_batches(schema, batches)
        freeze_loaded()

    return rtbot_unpack


def notice_partitions(frame: DataFrame) -> None:
    """Warn of many more shuffle partitions than cores: each is a call of Python per micro-batch."""
    context = getattr(frame.sparkSession, "sparkContext", None)  # Spark Connect has none
    number = int(str(frame.sparkSession.conf.get(PARTITIONS)))
    if context is not None and number > MANY * context.defaultParallelism:
        cores = context.defaultParallelism
        told = (
            "a stream in %s shuffle partitions on %s cores is slow: set %s to %s before its start"
        )
        LOG.warning(told, number, cores, PARTITIONS, 2 * cores)


def check_requirements(frame: DataFrame) -> None:
    """Refuse to begin where Spark would fail later with a less readable error."""
    if not all(map(importlib.util.find_spec, ("google", "google.protobuf"))):
        raise ModuleNotFoundError("streams need protobuf: pip install 'protobuf>=6.33.5'")
    provider = frame.sparkSession.conf.get(PROVIDER, None)
    if provider is None or "RocksDB" not in provider:
        message = f"streams need the state store RocksDB: spark.conf.set({PROVIDER!r}, {ROCKSDB!r})"
        raise RuntimeError(message)
