"""A moving mean per key on a stream of Spark, beside the same by hand.

    python -m benchmarks.spark_stream [--keys N] [--rows N] [--batches N] [--buckets N] [--slices N]

Ours deals keys to buckets, and rows wait for the watermark. By hand means the call
`transformWithStateInPandas` grouped by key, with the last values as bytes, in the order of arrival.
A micro-batch is a file; the first two are not counted: they start and warm the workers.
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StatefulProcessor

import spark_adapter

WINDOW, WARM = 250, 2
GRAPH = f"""
inputs: {{price: number}}
operators: {{mean: {{type: MovingAverage, in: price, window: {WINDOW}}}}}
outputs: {{mean: mean}}
io: {{unit: s}}
"""
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SETTINGS = {
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    "spark.driver.memory": "4g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def session():
    """A local session on two cores."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = str(Path(__file__).parent.parent)
    builder = SparkSession.builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def files(folder, keys, rows, batches):
    """Write a file per micro-batch: every key has rows / keys rows in it, times ascend."""
    rng = np.random.default_rng(7)
    each = rows // keys
    for number in range(batches):
        times = np.repeat(np.arange(number * each + 1, (number + 1) * each + 1), keys)
        columns = {"k": np.tile(np.arange(keys), each), "t": times, "price": rng.normal(size=rows)}
        path = Path(folder, f"{number}.parquet")
        parquet.write_table(pa.table(columns), path)
        os.utime(path, (1e9 + 60 * number,) * 2)


def by_hand(frame):
    """The means with a state per key."""

    class Mean(StatefulProcessor):
        def init(self, handle):
            self.last = handle.getValueState("last", "values binary")

        def handleInputRows(self, key, rows, timerValues):  # noqa: ARG002, N802, N803
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

        def close(self):
            pass

    shape = "k bigint, t bigint, mean double"
    return frame.groupBy("k").transformWithStateInPandas(Mean(), shape, "append", "none")


def measured(name, frame, folder, rows):
    """Run a query over all files; prints and returns its rows per second."""
    write = frame.writeStream.format("parquet").option("checkpointLocation", f"{folder}/{name}")
    query = write.option("path", f"{folder}/{name}-out").trigger(availableNow=True).start()
    query.awaitTermination()
    full = [p for p in query.recentProgress if p["numInputRows"] == rows][WARM:]
    times = [p["durationMs"]["triggerExecution"] / 1000 for p in full]
    size = sum(f.stat().st_size for f in Path(folder, name, "state").rglob("*") if f.is_file())
    shown = " ".join(f"{time:.2f}" for time in times)
    rate = rows / statistics.median(times)
    told = full[-1]["observedMetrics"].get("rtbot")
    state = f", state {told['state_bytes'] / 1e6:.1f} MB" if told else ""
    stored = f"checkpoint {size / 1e6:.0f} MB{state}"
    print(f"{name:8} {rate:10,.0f} rows/s  batches of {shown} s, {stored}", flush=True)
    return rate


def main():
    """Measure both, or ours alone."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in {"keys": 10_000, "rows": 200_000, "batches": 6}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    for name in ("buckets", "slices"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--ours", action="store_true", help="leave out the one by hand")
    given = parser.parse_args()
    spark = session()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "in").mkdir()
        files(f"{folder}/in", given.keys, given.rows, given.batches)
        read = spark.readStream.schema("k bigint, t bigint, price double")
        frame = read.option("maxFilesPerTrigger", 1).parquet(f"{folder}/in")
        out = spark_adapter.run_graph(
            frame, GRAPH, key="k", watermark="1 second",
            buckets=given.buckets, slices=given.slices,
        )  # fmt: skip
        ours = measured("ours", out, folder, given.rows)
        if not given.ours:
            theirs = measured("by-hand", by_hand(frame), folder, given.rows)
            print(f"ratio    {ours / theirs:10.1f}")
    spark.stop()


if __name__ == "__main__":
    main()
