"""`run_graph`: a graph over DataFrames, per key."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from spark_adapter.drain import unfinished
from spark_adapter.graphs import loaded_graph, prepared
from spark_adapter.rows import Work, run_partition
from spark_adapter.sources import is_streaming, named, requested, rows_of
from spark_adapter.stream import run_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from spark_adapter.graphs import Shape
    from spark_adapter.sources import Rows

LOG = logging.getLogger("spark_adapter")
STRATEGIES = ("auto", "groups", "partitions")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What may be given to `run_graph` by name."""

    inputs: Mapping[str, str] | None = None
    params: Mapping[str, Any] | None = None
    strategy: str = "auto"
    layout: str = "wide"
    partitions: int | None = None
    watermark: str | Mapping[str, str] | None = None
    buckets: int | None = None
    slices: int | None = None
    initial_state: DataFrame | None = None
    finish: bool = True

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            names = ", ".join(STRATEGIES)
            raise TypeError(f"strategy is one of {names}, not {self.strategy!r}")

    def refuse(self, names: Sequence[str], what: str) -> None:
        """Refuse options that do not go with this kind of run."""
        for name in names:
            if getattr(self, name) is not None:
                raise TypeError(f"{name} goes with {what} only")


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
    Options: `inputs` {input: column}, `params` of the graph, `strategy` (auto, groups, partitions),
    `layout` (wide, long), `partitions`, their number. Returns the key columns, the time column and
    a column per output (long: `output` and `value`). Raises GraphError or DataError before any job
    starts.

    Streaming DataFrames give a streaming one, whose rows are complete. They need a `watermark`
    ("10 seconds", or {input: delay}) unless they have one or `io.lateness` says it. Their keys are
    dealt to `buckets`, each with `slices`, the unit of state; both are fixed by the checkpoint.
    `initial_state` is what `state_of` or `saved_state` returned. A batch run with `finish=False`
    gives the rows that go with `state_of`.
    """
    given = Options(**options)
    loaded = loaded_graph(graph, given.params)
    request = requested(key, time, given.inputs)
    if is_streaming(data):
        given.refuse(("partitions",), "a batch run")
        return run_stream(data, loaded, request, given)
    given.refuse(("watermark", "initial_state"), "a stream")
    rows = rows_of(data, loaded, request)
    if not given.finish:
        return unfinished(rows, loaded, given)
    given.refuse(("buckets", "slices"), "a stream or finish=False")
    work, shape = prepared(rows, loaded, given.layout)
    strategy = "partitions" if given.strategy == "auto" else given.strategy
    LOG.info("running %s by %s", loaded.name, strategy)
    ordered = in_order(rows, given.partitions)
    if strategy == "groups":
        return by_groups(ordered, work, shape)
    return ordered.mapInArrow(_by_partition(work), shape.spark)


def in_order(rows: Rows, partitions: int | None) -> DataFrame:
    """Return the rows with every key whole in one partition, there by (key, t, port)."""
    keys = [named(name) for name in rows.keys]
    if not keys:
        placed = rows.frame.coalesce(1)
    elif partitions is None:
        placed = rows.frame.repartition(*keys)
    else:
        placed = rows.frame.repartition(partitions, *keys)
    ports = [named(rows.port)] if rows.port else []
    return placed.sortWithinPartitions(*keys, named(rows.time), *ports)


def by_groups(ordered: DataFrame, work: Work, shape: Shape) -> DataFrame:
    """Let Spark do the grouping: a call of Python per key."""
    grouped = ordered.groupBy(*[named(name) for name in work.keys])
    return grouped.applyInArrow(_by_group(work), shape.spark)


def _by_partition(work: Work) -> Any:
    def rtbot_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run_partition(work, batches)

    return rtbot_partition


def _by_group(work: Work) -> Any:
    def rtbot_group(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run_partition(work, batches)

    # Spark reads real types from these, which a string annotation would not give it.
    rtbot_group.__annotations__ = {
        "batches": Iterator[pa.RecordBatch],
        "return": Iterator[pa.RecordBatch],
    }
    return rtbot_group
