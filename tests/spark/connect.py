"""What the adapter does by Spark Connect: everything, with the bits of a local run.

    python -m tests.spark.connect [--url sc://HOST:PORT]

Without a URL Spark starts a server of its own, which takes the full pyspark and its extra
`connect`. With one, pyspark-client is enough here; the server needs this project, in the same
version, for its Python, and for streams RocksDB as the state store.
"""

import argparse
import math
import os
import sys
import tempfile
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import rtbot
import spark_adapter

ROOT = Path(__file__).resolve().parents[2]
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
GRAPH = """
inputs: {a: number, b: number}
operators:
  ma: {type: MovingAverage, in: a, window: 2}
  share: {type: Division, in: [a, ma]}
  both: {type: Join, in: [a, b], how: left}
outputs: {middle: ma, share: share, b: both.o2}
io: {unit: s}
"""
SHAPE = "k string, t bigint, a double, b double"
VALUES = [0.0, -0.0, math.nan, math.inf, 1e16, -1.5, None]
OLD, NEW, LAST = 20, 40, 60


def session(url):
    """A session of Spark Connect."""
    from pyspark.sql import SparkSession

    if url is not None:
        return SparkSession.builder.remote(url).getOrCreate()
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    settings = {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.executorEnv.RTBOT_INTERPRET": "1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.remote("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def made():
    """Rows of three keys, not in order."""
    rows = []
    for place, key in enumerate(["x", None, "é"]):
        for t in range(1, LAST):
            picked = [VALUES[(t * (place + 3) + shift) % len(VALUES)] for shift in (0, 4)]
            rows.append((key, t, *picked))
    return rows[::-1]


def local(rows):
    """The result of a keyed run without Spark, of rows (k, t, a, b)."""
    rows = sorted(rows, key=lambda row: row[1])
    columns = dict(zip("ktab", map(list, zip(*rows, strict=True)), strict=True))
    kinds = {"k": pa.string(), "t": pa.int64(), "a": pa.float64(), "b": pa.float64()}
    table = pa.table({name: pa.array(columns[name], kind) for name, kind in kinds.items()})
    return rtbot.load(GRAPH).run(table, key="k").to_arrow()


def bits(*tables):
    """The rows of tables, comparable to the last bit, in an order of their own."""
    names = sorted(tables[0].column_names)
    whole = pa.concat_tables([table.select(names) for table in tables])
    cells = [[bit(value) for value in whole.column(name).to_pylist()] for name in names]
    return sorted(zip(*cells, strict=True), key=repr)


def bit(value):
    """A cell as it compares: a float by its bits."""
    return np.float64(value).tobytes() if isinstance(value, float) else value


def batches(spark, rows):
    """Whether batch runs and a table function are right, by name."""
    from pyspark.sql import Observation

    frame, right = spark.createDataFrame(rows, SHAPE), bits(local(rows))
    options = {"key": "k", "time": "t"}
    for strategy in ("partitions", "groups"):
        found = spark_adapter.run_graph(frame, GRAPH, strategy=strategy, **options)
        yield f"run_graph by {strategy}", bits(found.toArrow()) == right
    observation = Observation("rtbot-connect")
    found = spark_adapter.run_graph(frame, GRAPH, observe=observation, **options)
    inputs = bits(found.toArrow()) == right and spark_adapter.account(observation)["inputs"]
    yield "account", inputs and inputs["a"]["in"] == sum(row[2] is not None for row in rows)
    frame.createOrReplaceTempView("prices")
    spark_adapter.register(spark, "bands", GRAPH, like=frame, **options)
    found = spark.sql("SELECT * FROM bands(TABLE(prices) PARTITION BY k ORDER BY t)")
    yield "register", bits(found.toArrow()) == right
    twice = spark.createDataFrame([("x", 5, 1.0, 1.0), ("x", 5, 2.0, 2.0)], SHAPE)
    try:
        spark_adapter.run_graph(twice, GRAPH, **options).collect()
        told = ""
    except Exception as error:  # noqa: BLE001 (whatever Spark makes of it)
        told = spark_adapter.reason(error)
    second = "a second message at t=5 (input 'a', time 5, key 'x', value 2.0)\n     set io.dup"
    yield "a data error", told.startswith(f"error[RT203]: {second}")


def streams(spark, rows, folder):
    """Whether streams that go on after a batch run, and after each other, are right, by name."""
    options = {"key": "k", "time": "t", "buckets": 2, "slices": 2}
    old = spark.createDataFrame([row for row in rows if row[1] < OLD], SHAPE)
    parts = [spark_adapter.run_graph(old, GRAPH, finish=False, **options).toArrow()]
    state = spark_adapter.state_of(old, GRAPH, **options)
    late = 0
    for name, first, end in (("one", OLD, NEW), ("two", NEW, LAST)):
        here = Path(folder, name)
        write(rows, here / "in", (first, (first + end) // 2, end))
        read = spark.readStream.schema(SHAPE).option("maxFilesPerTrigger", 1).parquet(f"{here}/in")
        out = spark_adapter.run_graph(
            read, GRAPH, watermark="1 second", initial_state=state, **options
        )
        query = out.writeStream.format("parquet").option("checkpointLocation", f"{here}/checkpoint")
        query = query.option("path", f"{here}/out").trigger(availableNow=True).start()
        query.awaitTermination()
        late += spark_adapter.late_rows(query)
        parts.append(spark.read.parquet(f"{here}/out").toArrow())
        state = spark_adapter.saved_state(spark, f"{here}/checkpoint")
    yield "saved_state", state.count() > 0
    parts.append(spark_adapter.drain(spark, f"{folder}/two/checkpoint", GRAPH).toArrow())
    known = "initial_state of state_of and of saved_state, drain"
    yield known, all(map(len, parts)) and bits(*parts) == bits(local(rows))
    yield "late_rows", late == 0


def write(rows, folder, ends):
    """Write rows as files, each of the times between two of the ends."""
    folder.mkdir(parents=True)
    for number, (first, end) in enumerate(pairwise(ends)):
        part = [row for row in rows if first <= row[1] < end]
        kinds = [pa.string(), pa.int64(), pa.float64(), pa.float64()]
        columns = [pa.array(c, k) for c, k in zip(zip(*part, strict=True), kinds, strict=True)]
        parquet.write_table(pa.table(columns, list("ktab")), folder / f"{number}.parquet")
        os.utime(folder / f"{number}.parquet", (1e9 + 60 * number,) * 2)


def tell(*parts):
    """Print a line for everything that was tried, of (name, right); returns how many are wrong."""
    wrong = 0
    for name, good in chain.from_iterable(parts):
        print(f"{name}: {'right' if good else 'WRONG'}", flush=True)
        wrong += not good
    return wrong


def main():
    """Print a line for everything that was tried; the exit code is 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="of a server; default: one of its own")
    spark, rows = session(parser.parse_args().url), made()
    with tempfile.TemporaryDirectory() as folder:
        wrong = tell(batches(spark, rows), streams(spark, rows, folder))
    spark.stop()
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
