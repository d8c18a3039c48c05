"""A moving mean per key on a stream of Spark, beside the same by hand.

    python -m benchmarks.spark_stream [--keys N] [--rows N] [--batches N] [--touched SHARE]
                                      [--buckets N] [--slices N] [--ours] [--json FILE]
                                      [--log FILE]

Ours deals keys to buckets, and rows wait for the watermark. By hand means the call
`transformWithStateInPandas` grouped by key, with the last values as bytes, in the order of arrival.
Both have a state of 2 kB per key in RocksDB, with changelog checkpoints, and write Parquet. A
micro-batch is a file of --rows. Those that begin in the first WARM seconds of a query are not
counted, for JVM and workers are not warm, nor are the first two; the median of the others counts.
`wall` is of the whole micro-batch, `CPU` of the JVM and all Python processes. With --touched, only
the first file has all keys, and the others a share of them at random. Linux only.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.query import StreamingQuery

import spark_adapter
from benchmarks import spark_batch
from benchmarks.measure import HEADS, Line, cells, machine, table

WINDOW = 250
WARM, BY_HAND = 20, 5
TARGET = 7
GRAPH = f"""
inputs: {{price: number}}
operators: {{mean: {{type: MovingAverage, in: price, window: {WINDOW}}}}}
outputs: {{mean: mean}}
io: {{unit: s}}
"""
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
STREAMS = {
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


@contextmanager
def errors_to(path: str) -> Iterator[None]:
    """Let processes that begin meanwhile write what they tell to a file: Spark tells of workers."""
    before = os.dup(sys.stderr.fileno())
    with Path(path).open("w", encoding="utf-8") as log:
        os.dup2(log.fileno(), sys.stderr.fileno())
        yield
    os.dup2(before, sys.stderr.fileno())
    os.close(before)


def session(log: str) -> SparkSession:
    """The session of the benchmarks, with states in RocksDB."""
    spark_batch.SETTINGS |= STREAMS
    with errors_to(log):
        return spark_batch.session()


def files(folder: str, given: argparse.Namespace) -> int:
    """Write a file per micro-batch; returns how many rows they have, but for the first.

    The first one fills the windows; ours have their whole size from the first row on.
    """
    rng = np.random.default_rng(7)
    count, each = max(1, int(given.keys * given.touched)), given.rows // given.keys
    newest = 0
    for number in range(given.batches):
        keys = np.sort(rng.choice(given.keys, count if number else given.keys, replace=False))
        per_key = each if number or given.ours else WINDOW
        times = np.arange(newest + 1, newest + per_key + 1)
        columns = {"k": np.tile(keys, per_key), "t": np.repeat(times, len(keys))}
        columns["price"] = rng.normal(size=per_key * len(keys))
        newest += per_key
        path = Path(folder, f"{number}.parquet")
        parquet.write_table(pa.table(columns), path)
        os.utime(path, (1e9 + 60 * number,) * 2)
    return count * each


def read(spark: SparkSession, folder: str, names: str) -> DataFrame:
    """The stream of these files, one per micro-batch."""
    stream = spark.readStream.schema("k bigint, t bigint, price double")
    return stream.options(maxFilesPerTrigger=1, pathGlobFilter=names).parquet(folder)


def by_hand(frame: DataFrame) -> DataFrame:
    """The means with a state per key."""

    class Mean(StatefulProcessor):
        """The last values of a key."""

        def init(self, handle: Any) -> None:
            self.last = handle.getValueState("last", "values binary")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: ARG002, N802, N803
            import pandas as pd

            new = pd.concat(list(rows)).sort_values("t")
            before = self.last.get()
            old = np.frombuffer(before[0]) if before else np.zeros(0)
            values = np.concatenate([old, new["price"].to_numpy()])
            means = pd.Series(values).rolling(WINDOW).mean().to_numpy()[len(old) :]
            self.last.update((values[-WINDOW:].tobytes(),))
            whole = ~np.isnan(means)
            shown = {"k": key[0], "t": new["t"].to_numpy()[whole], "mean": means[whole]}
            yield pd.DataFrame(shown)

        def close(self) -> None:
            pass

    shape = "k bigint, t bigint, mean double"
    return frame.groupBy("k").transformWithStateInPandas(Mean(), shape, "append", "none")


def seconds_of(query: StreamingQuery, commits: Path) -> list[float]:
    """Wait for a query's end; the CPU seconds of each of its micro-batches."""
    processes = spark_batch.Processes()
    found = [processes.seconds()]
    while query.isActive:
        if (commits / str(len(found) - 1)).exists():
            found.append(processes.seconds())
        time.sleep(0.05)
    query.awaitTermination()
    return np.diff(found).tolist()


def measured(name: str, frame: DataFrame, folder: str, rows: int) -> Line:
    """Run a query over its files: thousands of rows per second of CPU and of wall time."""
    write = frame.writeStream.format("parquet").option("checkpointLocation", f"{folder}/{name}")
    query = write.option("path", f"{folder}/{name}-out").trigger(availableNow=True).start()
    cpu = seconds_of(query, Path(folder, name, "commits"))
    told = query.recentProgress
    walls = [progress["durationMs"]["triggerExecution"] / 1000 for progress in told]
    warm = next((n for n, at in enumerate(np.cumsum(walls)) if at > WARM), len(walls)) + 1
    counted = [n for n, p in enumerate(told) if n >= max(warm, 2) and p["numInputRows"] == rows]
    counted = counted or [n for n, p in enumerate(told) if p["numInputRows"] == rows][-1:]
    wall = statistics.median(walls[n] for n in counted)
    spent = statistics.median(cpu[n] for n in counted if n < len(cpu))
    size = sum(f.stat().st_size for f in Path(folder, name, "state").rglob("*") if f.is_file())
    remark = f"{wall:.2f} s a micro-batch ({len(counted)} counted), checkpoint {size / 1e6:.0f} MB"
    state = spark_adapter.counts(told[counted[-1]]).state_bytes
    remark += f", states written {state / 1e6:.1f} MB" if state else ""
    return Line("", name, rows / spent / 1e3, rows / wall / 1e3, "k rows/s", remark=remark)


def main() -> None:
    """Measure both, or ours alone."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in {"keys": 10_000, "rows": 200_000, "batches": 24}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    for name in ("buckets", "slices"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--touched", type=float, default=1.0)
    parser.add_argument("--ours", action="store_true", help="leave out the one by hand")
    parser.add_argument("--json", type=Path, help="write machine and lines to this file")
    parser.add_argument("--log", default=os.devnull, help="write what Spark tells to this file")
    given = parser.parse_args()
    spark = session(given.log)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "in").mkdir()
        rows = files(f"{folder}/in", given)
        out = spark_adapter.run_graph(
            read(spark, f"{folder}/in", "*"), GRAPH, key="k", watermark="1 second",
            buckets=given.buckets, slices=given.slices,
        )  # fmt: skip
        lines = [measured("rtbot", out, folder, rows)]
        lines[0].target = f">= {TARGET} x"
        if not given.ours:
            few = read(spark, f"{folder}/in", f"[0-{BY_HAND - 1}].parquet")
            lines.append(measured("by hand", by_hand(few), folder, rows))
            lines[1].ratio = lines[0].wall / lines[1].wall
    spark.stop()
    for line in lines:
        line.case = f"{given.keys:,} keys of 2 kB, {rows:,} rows"
    if given.json:
        written = {"machine": machine(), "lines": [asdict(line) for line in lines]}
        given.json.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    print(table([HEADS, *map(cells, lines)]), flush=True)


if __name__ == "__main__":
    main()
