"""Other operators with state around `run_graph` in one query: what gives rows, what does not."""

import datetime as dt
import os

import pyarrow as pa
import pytest
from pyarrow import parquet

pytest.importorskip("pyspark")

from pyspark.errors import AnalysisException
from pyspark.sql import functions

from spark_adapter import run_graph

GRAPH = """
inputs: {x: number}
operators: {ma: {type: MovingAverage, in: x, window: 2}}
outputs: {mean: ma}
io: {unit: us}
"""
START = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
DELAY = "10 seconds"
TWICE = ["symbol", "t"]
FILES, ROWS = 2, 6
MEANS = [number + 0.5 for number in range(FILES * ROWS - 2)]
"""The means of one key that the watermark has passed: the last time waits."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of rows of two keys, ten seconds apart; a stream reads one per micro-batch."""
    made = tmp_path_factory.mktemp("in")
    for number in range(FILES):
        counts = [n for n in range(number * ROWS, (number + 1) * ROWS) for _ in "ab"]
        times = [START + dt.timedelta(seconds=10 * count) for count in counts]
        rows = {"symbol": list("ab") * ROWS, "t": pa.array(times, pa.timestamp("us", "UTC"))}
        path = made / f"{number}.parquet"
        parquet.write_table(pa.table(rows | {"x": [float(n) for n in counts]}), path)
        os.utime(path, (1e9 + 60 * number,) * 2)
    return made


@pytest.fixture
def stream(spark, folder):
    read = spark.readStream.schema("symbol string, t timestamp, x double")
    return read.option("maxFilesPerTrigger", 1).parquet(str(folder))


def means(stream, watermark=DELAY):
    return run_graph(stream, GRAPH, key="symbol", watermark=watermark, buckets=1, slices=1)


def started(out, name, mode="append"):
    write = out.writeStream.format("memory").queryName(name).outputMode(mode)
    return write.trigger(availableNow=True).start()


def ran(spark, out, name="found", mode="append"):
    """The rows of a query over all files."""
    started(out, name, mode).awaitTermination()
    return spark.table(name)


def found(frame, column="mean"):
    return sorted(row[column] for row in frame.where("symbol = 'a'").collect())


UNREPEATED = {
    "dropDuplicates with a watermark": lambda s: means(
        s.withWatermark("t", DELAY).dropDuplicates(TWICE), None
    ),
    "dropDuplicates without one": lambda s: means(s.dropDuplicates(TWICE)),
    "dropDuplicatesWithinWatermark": lambda s: means(
        s.withWatermark("t", DELAY).dropDuplicatesWithinWatermark(TWICE), None
    ),
}


@pytest.mark.parametrize("made", UNREPEATED.values(), ids=UNREPEATED)
def test_rows_that_come_twice_are_dropped_before_a_graph(spark, stream, made):
    assert found(ran(spark, made(stream.union(stream)))) == MEANS


def test_two_graphs_of_one_query_are_put_together(spark, stream):
    out = means(stream).unionByName(means(stream.withColumn("x", -stream["x"])))
    assert found(ran(spark, out)) == sorted([*MEANS, *(-mean for mean in MEANS)])


def test_rows_that_come_twice_are_dropped_behind_a_graph(spark, stream):
    assert found(ran(spark, means(stream).dropDuplicates(TWICE))) == MEANS


def test_a_result_joins_the_stream_that_it_is_of(spark, stream):
    both = ran(spark, means(stream).join(stream.withWatermark("t", DELAY), TWICE))
    assert found(both.selectExpr("symbol", "x - mean off"), "off") == [0.5] * len(MEANS)


def test_an_aggregation_behind_a_graph_gives_all_of_its_groups_again(spark, stream):
    sums = means(stream).groupBy("symbol").agg(functions.sum("mean").alias("sum"))
    assert found(ran(spark, sums, mode="complete"), "sum") == [sum(MEANS)]


def windows(result):
    return result.groupBy(functions.window("t", "1 minute"), "symbol").agg(functions.sum("mean"))


def test_a_window_behind_a_graph_is_refused_at_the_start(stream):
    with pytest.raises(AnalysisException, match="without watermark"):
        started(windows(means(stream)), "refused")


def test_a_watermark_behind_a_graph_holds_all_rows_back_as_the_page_says(spark, stream):
    assert ran(spark, windows(means(stream).withWatermark("t", DELAY))).count() == 0
