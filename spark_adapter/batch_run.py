"""`run_graph`: a graph over DataFrames, per key."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions, types

from spark_adapter.accounts import CountedRun
from spark_adapter.drain import run_unfinished
from spark_adapter.graphs import load_for_spark, prepare_job
from spark_adapter.input_rows import is_streaming, make_request, read_frames
from spark_adapter.partition import run_partition
from spark_adapter.ranks import RANK, TIME_BITS
from spark_adapter.spark_options import RunOptions
from spark_adapter.stream_run import run_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

    from spark_adapter.input_rows import InputRows

    Run = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

LOG = logging.getLogger("spark_adapter")
PARTITIONS = "spark.sql.shuffle.partitions"
LARGE = "spark.sql.execution.arrow.useLargeVarTypes"
"""Whether Spark uses texts of Arrow with offsets of 64 bits; calls per key have to match."""


def run_graph(
    data: DataFrame | Mapping[str, DataFrame],
    graph: Any,
    *,
    key: str | Sequence[str] | None = None,
    time: str | None = None,
    **options: Any,
) -> DataFrame:
    """Run a graph per key over a DataFrame with a column per input, or a DataFrame per input.

    `graph` is a path, the text of a graph, a mapping or a `rtbot.Graph`; `key` (default `io.key`)
    and `time` (default `io.time`, else the first of t, time, timestamp, ts, date) name columns.
    Options: `inputs` {input: column}, `params` of the graph, `layout` (wide, long). Returns the key
    columns, the time column and a column per output (long: `output` and `value`). Raises GraphError
    or DataError before any job starts, and DataError in the job for a row that is wrong.

    A batch run puts the rows in order by key and time, so that none is late. By `strategy`
    "partitions" it does so in `partitions` of Spark (default: as many as its shuffles have), each
    of which is one call of Python in the memory of some thousand rows; by "groups", Spark calls
    Python per key. "auto" takes partitions, as fast or faster for any number of keys; the logger
    `spark_adapter` reports the choice. `observe`, an `Observation` of Spark, gets the counters for
    `account`.

    Streaming DataFrames give a streaming one, whose rows are complete. They need a `watermark` ("10
    seconds", or {input: delay}) unless they have one or `io.lateness` sets it. Their keys are
    assigned to shard groups (their number is `buckets`), each of `slices` shards, the units of
    state; both numbers are fixed by the checkpoint. `initial_state` is what `state_of` or
    `saved_state` returned. A batch run with `finish=False` gives the rows that go with `state_of`.
    """
    given = RunOptions.of(options)
    loaded = load_for_spark(graph, given.params)
    request = make_request(key, time, given.inputs)
    if is_streaming(data):
        given.refuse(("partitions", "strategy", "observe", "finish"), "a batch run")
        return run_stream(data, loaded, request, given)
    given.refuse(("watermark", "initial_state"), "a stream")
    rows = read_frames(data, loaded, request)
    if not given.finish:
        given.refuse(("partitions", "strategy", "observe"), "finish=True")
        return run_unfinished(rows, loaded, given)
    given.refuse(("buckets", "slices"), "a stream or finish=False")
    by_group = choose_strategy(given, loaded.name, rows) == "groups"
    work, shape = prepare_job(rows, loaded, given.layout)
    work = replace(work, ranked=not by_group and bool(rows.keys))
    counted = CountedRun(work)
    run: Run = partial(run_partition, work) if given.observe is None else counted.run
    schema = shape.spark if given.observe is None else counted.schema()
    ordered = sort_rows(rows, given.partitions, ranked=work.ranked)
    large = by_group and rows.frame.sparkSession.conf.get(LARGE, "false") == "true"
    names = [*rows.frame.columns, RANK] if work.ranked else rows.frame.columns
    call = _make_worker_function(run, names, large=large)
    if by_group:
        keys = ordered.columns[: len(rows.keys)]
        made = ordered.groupBy(*keys).applyInArrow(call, schema)
    else:
        made = ordered.mapInArrow(call, schema)
    if given.observe is None:
        return made
    return counted.observe_counts(made, given.observe).mapInArrow(counted.unpack(), shape.spark)


def choose_strategy(given: RunOptions, name: str, rows: InputRows) -> str:
    """Return the strategy, and log it."""
    keys = ", ".join(rows.keys)
    if not keys:
        LOG.info("%s: strategy partitions: no key, so one partition on one core", name)
        return "partitions"
    if given.strategy == "groups":
        LOG.info("%s: strategy groups, as asked for: a call of Python per key (%s)", name, keys)
        return "groups"
    why = "as asked for" if given.strategy == "partitions" else "which costs little per key"
    number = given.partitions or rows.frame.sparkSession.conf.get(PARTITIONS)
    told = "%s: strategy partitions, %s: by key (%s) in %s partitions, ordered by %s in each"
    LOG.info(told, name, why, keys, number, rows.stamp)
    return "partitions"


def sort_rows(rows: InputRows, partitions: int | None, *, ranked: bool) -> DataFrame:
    """Return the rows with every key whole in one partition, there by (key, t, port), or by rank.

    Columns have other names: Spark would take `a.b` for the field b of a. The rank is the last.
    """
    columns = rows.frame.columns
    frame = rows.frame.toDF(*(f"c{place}" for place in range(len(columns))))
    keys = frame.columns[: len(rows.keys)]
    heads = [rows.time, *([rows.port] if rows.port else [])]
    if not keys:
        placed = frame.repartition(1)
    elif partitions is None:
        placed = frame.repartition(*keys)
    else:
        placed = frame.repartition(partitions, *keys)
    places = [f"c{columns.index(name)}" for name in heads]
    if not ranked:
        return placed.sortWithinPartitions(*keys, *places)
    rank = _compute_rank(
        placed, keys, places[0]
    )  # twice: a wider row costs more than counting it again
    return placed.sortWithinPartitions(rank).withColumn(RANK, rank)


def _compute_rank(frame: DataFrame, keys: Sequence[str], time: str) -> Column:
    """Return the rank of rows: bits of a hash of the key, then the logarithm of the time."""
    given, kind = functions.col(time), frame.schema[time].dataType
    if isinstance(kind, types.TimestampType):
        given = functions.unix_micros(given)
    elif isinstance(kind, types.TimestampNTZType | types.DateType):
        days = functions.unix_date(given.cast("date"))
        given = (
            days if isinstance(kind, types.DateType) else 86_400.0 * days + _count_seconds(given)
        )
    count = given.cast("double")
    half = 1 << TIME_BITS - 1
    scale = half / 44  # 44 is more than the logarithm of the latest time
    size = functions.signum(count) * functions.log1p(functions.abs(count)) * scale
    place = half + functions.coalesce(size.cast("bigint"), functions.lit(0))
    unit = functions.xxhash64(*keys).bitwiseAND(functions.lit(-1 << TIME_BITS))
    return unit.bitwiseOR(place)


def _count_seconds(local: Column) -> Column:
    """Return the seconds of a day of a time that has no zone."""
    parts = functions.hour(local), functions.minute(local), functions.second(local)
    return 3_600 * parts[0] + 60 * parts[1] + parts[2]


def _make_worker_function(run: Run, names: Sequence[str], *, large: bool) -> Run:
    """Return what Spark calls for rows with these column names; `large` is about its texts."""

    def rtbot_run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        made = run(batch.rename_columns(names) for batch in batches)
        return map(_widened, made) if large else made

    # Spark reads real types from these, which a string annotation would not give it.
    kind = Iterator[pa.RecordBatch]
    rtbot_run.__annotations__ = {"batches": kind, "return": kind}
    return rtbot_run


def _widened(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the batch with offsets of 64 bits in its texts and bytes."""
    wide = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
    fields = [field.with_type(wide.get(field.type, field.type)) for field in batch.schema]
    return batch.cast(pa.schema(fields))
