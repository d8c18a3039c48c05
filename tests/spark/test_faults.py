"""What once went wrong in silence on Spark, or failed late."""

import logging

import numpy as np
import pyarrow as pa
import pytest

import rtbot
from rtbot.core.errors import DataError

pytest.importorskip("pyspark")

from pyspark.sql import Observation, functions

from spark_adapter import account, reason, register, run_graph
from spark_adapter.nested import stateful
from spark_adapter.partition import InputColumn, JobSpec
from spark_adapter.ranks import RANK, TIME_BITS, sort_units

MEAN = """
inputs: {x: number}
operators: {ma: {type: MovingAverage, in: x, window: 2}}
outputs: {mean: ma}
io: {unit: s}
"""
ROWS = [("a", 1, 1.0), ("a", 2, 3.0), ("b", 1, 5.0), ("b", 2, 6.0)]


@pytest.fixture(scope="module")
def frame(spark):
    return spark.createDataFrame(ROWS, "symbol string, t bigint, volume double")


@pytest.fixture(scope="module")
def stream(spark, tmp_path_factory):
    schema = "symbol string, t timestamp, x double, volume double"
    return spark.readStream.schema(schema).parquet(str(tmp_path_factory.mktemp("in")))


NAMED = {"inputs": {"x": "close"}}
CALLS = {
    "a batch run": lambda f, s: run_graph(f, MEAN, key="symbol", **s),
    "a SQL function": lambda f, s: register(f.sparkSession, "one", MEAN, like=f, key="symbol", **s),
}


@pytest.mark.parametrize("given", [NAMED, {}], ids=["misspelt", "not said"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_only_column_left_does_not_feed_an_input_of_another_name(frame, call, given):
    with pytest.raises(DataError, match="there is no column"):
        call(frame, given)


def test_a_misspelt_column_is_refused_in_a_stream_and_in_a_dict(frame, stream):
    short = stream.select("symbol", "t", "volume")
    for call in (
        lambda: run_graph(short, MEAN, key="symbol", watermark="1 minute", **NAMED),
        lambda: run_graph({"x": frame}, MEAN, key="symbol", **NAMED),
    ):
        with pytest.raises(DataError, match="there is no column 'close'"):
            call()
    assert run_graph({"x": frame}, MEAN, key="symbol").columns == ["symbol", "t", "mean"]


OTHER_TYPES = {
    "integers for timestamps": "1700000000000000",
    "times without a zone": "timestamp_ntz'2024-01-01 00:00:00'",
    "dates": "date'2024-01-01'",
}


@pytest.mark.parametrize("time", OTHER_TYPES.values(), ids=OTHER_TYPES)
def test_a_sql_function_refuses_a_table_of_other_types_than_like(spark, time):
    like = spark.sql("SELECT 'a' symbol, timestamp'2024-01-01 00:00:00' t, 1.5D x")
    register(spark, "averages", MEAN, like=like, key="symbol")
    spark.sql(f"SELECT 'a' symbol, {time} t, 1.5D x").createOrReplaceTempView("other")
    query = "SELECT * FROM averages(TABLE(other) PARTITION BY symbol ORDER BY t)"
    with pytest.raises(Exception, match="RT220") as caught:
        spark.sql(query).collect()
    assert "the column 't' is" in reason(caught.value)
    assert "in like= it is timestamp" in reason(caught.value)


def test_an_unknown_option_of_register_names_the_nearest(spark, frame):
    with pytest.raises(TypeError, match="there is no option 'kye': did you mean 'key'"):
        register(spark, "one", MEAN, like=frame, kye="symbol")


def windows(stream):
    timed = stream.withWatermark("t", "1 minute")
    groups = timed.groupBy(functions.window("t", "1 minute"), "symbol", "t")
    return groups.agg(functions.avg("x").alias("x"))


STATEFUL = {
    "an aggregation": windows,
    "another graph": lambda s: run_graph(
        s, MEAN, key="symbol", watermark="1 minute"
    ).withColumnRenamed("mean", "x"),
    "a join of two streams": lambda s: s.withWatermark("t", "1 minute").join(
        s.withWatermark("t", "1 minute").select("symbol", "t"), ["symbol", "t"]
    ),
}


@pytest.mark.parametrize("made", STATEFUL)
def test_a_stream_from_another_operator_with_state_is_refused_at_the_call(stream, made):
    with pytest.raises(DataError, match=f"comes from {made}") as caught:
        run_graph(STATEFUL[made](stream), MEAN, key="symbol", watermark="1 minute")
    assert caught.value.code == "RT324"


def test_a_join_with_an_aggregated_table_is_no_state_of_a_stream(frame, stream):
    table = frame.groupBy("symbol").agg(functions.max("volume").alias("most"))
    out = run_graph(stream.join(table, "symbol"), MEAN, key="symbol", watermark="1 minute")
    assert out.isStreaming


def test_two_watermarks_are_refused_at_the_call(stream):
    twice = stream.withWatermark("t", "1 minute")
    with pytest.raises(DataError, match="has a watermark already") as caught:
        run_graph(twice, MEAN, key="symbol", watermark="1 minute")
    assert caught.value.code == "RT323"
    assert run_graph(twice, MEAN, key="symbol").isStreaming


def test_a_strategy_is_refused_for_a_stream(stream):
    with pytest.raises(TypeError, match="strategy goes with a batch run only"):
        run_graph(stream, MEAN, key="symbol", watermark="1 minute", strategy="groups")


def test_many_shuffle_partitions_are_warned_of_with_the_setting(spark, stream, caplog):
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "200")
    try:
        with caplog.at_level(logging.WARNING, "spark_adapter"):
            run_graph(stream, MEAN, key="symbol", watermark="1 minute")
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    assert "set spark.sql.shuffle.partitions to 4" in caplog.text


@pytest.mark.parametrize("counted", [False, True])
def test_groups_run_with_large_texts_of_arrow(spark, frame, counted):
    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    observe = Observation() if counted else None
    options = {"key": "symbol", "inputs": {"x": "volume"}, "observe": observe}
    try:
        out = run_graph(frame, MEAN, strategy="groups", **options)
        found = sorted(tuple(row) for row in out.collect())
    finally:
        spark.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")
    assert found == [("a", 2, 2.0), ("b", 2, 5.5)]
    assert not counted or account(observe)["inputs"]["x"]["in"] == len(ROWS)


def test_an_account_before_any_action_is_refused_and_comes_after_one(frame):
    observe = Observation()
    out = run_graph(frame, MEAN, key="symbol", inputs={"x": "volume"}, observe=observe)
    with pytest.raises(DataError, match="no action has ended") as caught:
        account(observe, timeout=0.1)
    assert caught.value.code == "RT325"
    out.count()
    assert account(observe)["inputs"]["x"]["in"] == len(ROWS)


def test_rows_of_equal_key_and_time_are_ordered_by_port():
    graph = rtbot.load("inputs: {a: number, b: number}\noperators: {s: a + b}\noutputs: [s]\n")
    feeds = (InputColumn("a", "__a", 0, sparse=False), InputColumn("b", "__b", 1, sparse=False))
    work = JobSpec(graph, ("k",), "t", feeds, pa.schema([("k", pa.int64())]), port="__port")
    ports = pa.array([1, 0, 1, 0], pa.int32())
    times, ranks = pa.array([1, 1, 2, 2]), pa.array(np.full(4, 7 << TIME_BITS))
    table = pa.table({"k": [1] * 4, "t": times, "__port": ports, RANK: ranks})
    [(found, _)] = sort_units([table], work)
    assert found.column("__port").to_pylist() == [0, 1, 0, 1]


def test_a_null_key_is_shown_as_null():
    assert "key null" in str(DataError("late", code="RT202", key=(None,)))


def test_a_plan_of_spark_that_does_not_stream_holds_no_state():
    plan = "~Project [a]\n+- ~Join Inner\n   :- StreamingRelation x\n   +- Aggregate [a]\n"
    assert stateful(plan) is None
    assert stateful(plan.replace("+- Aggregate", "+- ~Project")) == "a join of two streams"


TIMELESS = {
    "a column per input": lambda rows: rows,
    "a stream per input": lambda rows: {"x": rows},
}


@pytest.mark.parametrize("given", TIMELESS.values(), ids=TIMELESS)
def test_a_row_of_a_stream_without_a_time_is_named_by_input_key_and_column(spark, tmp_path, given):
    rows = spark.sql("SELECT 'b' symbol, timestamp_seconds(nullif(id, 1)) ts, 1.5D x FROM range(3)")
    rows.coalesce(1).write.parquet(f"{tmp_path}/in")
    stream = spark.readStream.schema(rows.schema).parquet(f"{tmp_path}/in")
    options = {"key": "symbol", "time": "ts", "watermark": "1 second", "buckets": 1}
    out = run_graph(given(stream), MEAN, **options)
    query = out.writeStream.format("noop").option("checkpointLocation", f"{tmp_path}/checkpoint")
    with pytest.raises(Exception, match="RT211") as caught:
        query.trigger(availableNow=True).start().awaitTermination()
    shown = "a row without a time (input 'x', key 'b', column 'ts')"
    assert reason(caught.value) == f"error[RT211]: {shown}"
