"""What users of Spark get wrong, and what they are told: before any job, if it can be known."""

import pandas as pd
import pytest

import rtbot
from rtbot.core.errors import CheckpointError, DataError, GraphError

pytest.importorskip("pyspark")

from pyspark.errors import PythonException
from pyspark.sql import Observation, functions

import spark_adapter
from spark_adapter import register, run_graph, state_of
from spark_adapter.graphs import load_for_spark

MEAN = """
inputs: {price: number}
params: {window: 2}
operators:
  ma: {type: MovingAverage, in: price, window: $window}
outputs: {middle: ma}
io: {unit: s}
"""
SUM = """
inputs: {n: integer, f: boolean}
operators: {total: {type: CumulativeSum, in: n}}
outputs: [total, f]
"""


@pytest.fixture(scope="module")
def frame(spark):
    schema = "symbol string, t bigint, price double"
    rows = [("a", 1, 1.0), ("a", 2, 3.0), ("b", 1, 5.0), ("b", 2, 6.0)]
    return spark.createDataFrame(rows, schema)


@pytest.fixture(scope="module")
def stream(spark, tmp_path_factory):
    schema = "symbol string, t bigint, price double"
    return spark.readStream.schema(schema).parquet(str(tmp_path_factory.mktemp("in")))


def with_price(frame, column):
    return frame.withColumn("price", column)


BEFORE_ANY_JOB = {
    "a key that is not there": (
        lambda f: run_graph(f, MEAN, key="symbl"),
        DataError,
        "there is no column 'symbl' for a key did you mean 'symbol'?",
    ),
    "a key in other case": (
        lambda f: run_graph(f, MEAN, key="Symbol"),
        DataError,
        "there is no column 'Symbol' for a key did you mean 'symbol'?",
    ),
    "a key as Column": (
        lambda f: run_graph(f, MEAN, key=functions.col("symbol")),
        TypeError,
        "columns are given by their names, not as Column",
    ),
    "a time as Column": (
        lambda f: run_graph(f, MEAN, key="symbol", time=f.t),
        TypeError,
        "columns are given by their names, not as Column",
    ),
    "no column of times": (
        lambda f: run_graph(f.withColumnRenamed("t", "when"), MEAN, key="symbol"),
        DataError,
        "there is no column of times (t, time, timestamp, ts, date) say time=; there are symbol",
    ),
    "times as text": (
        lambda f: run_graph(f.withColumn("t", functions.lit("2024-01-01")), MEAN, key="symbol"),
        DataError,
        "the column 't' for the time is string cast it to one of byte, short, integer, long, time",
    ),
    "a column in other case": (
        lambda f: run_graph(f.selectExpr("symbol", "t", "price Price", "1 x"), MEAN, key="symbol"),
        DataError,
        "there is no column 'price' for the input price did you mean 'Price'?",
    ),
    "inputs the other way round": (
        lambda f: run_graph(
            f.withColumnRenamed("price", "close"), MEAN, key="symbol", inputs={"close": "price"}
        ),
        DataError,
        "the graph has no input 'close' it is {input: column}: {'price': 'close'}",
    ),
    "inputs as a name": (
        lambda f: run_graph(f, MEAN, key="symbol", inputs="price"),
        TypeError,
        "inputs is {input: column}, not 'price'",
    ),
    "prices as text": (
        lambda f: run_graph(with_price(f, functions.col("price").cast("string")), MEAN),
        DataError,
        "'price' for the input price is string cast it to one of byte, short, integer, long, float",
    ),
    "a struct": (
        lambda f: run_graph(with_price(f, functions.struct("price")), MEAN),
        DataError,
        "the column 'price' for the input price is struct<price:double> cast it to",
    ),
    "a field of a struct": (
        lambda f: run_graph(
            with_price(f, functions.struct("price")), MEAN, inputs={"price": "price.price"}
        ),
        DataError,
        "there is no column 'price.price' for the input price did you mean 'price'?",
    ),
    "numbers for an integer": (
        lambda f: run_graph(f.selectExpr("t", "price n", "true f"), SUM),
        DataError,
        "the column 'n' for the input n is double cast it to one of byte, short, integer, long",
    ),
    "a key of numbers": (
        lambda f: run_graph(f, MEAN, key="price", inputs={"price": "t"}),
        DataError,
        "the column 'price' for a key is double cast it to one of",
    ),
    "an output with the name of a key": (
        lambda f: run_graph(f, MEAN.replace("middle:", "symbol:"), key="symbol"),
        DataError,
        "two columns of the result would have one name for Spark: 'symbol' and 'symbol'",
    ),
    "an output with the name of a key in other case": (
        lambda f: run_graph(f, MEAN.replace("middle:", "SYMBOL:"), key="symbol"),
        DataError,
        "two columns of the result would have one name for Spark: 'symbol' and 'SYMBOL'",
    ),
    "two columns of one name, after a join": (
        lambda f: run_graph(f.select("*", functions.lit(1.0).alias("Price")), MEAN, key="symbol"),
        DataError,
        "the columns price and Price have one name for Spark rename or drop one of them",
    ),
    "a key twice": (
        lambda f: run_graph(f, MEAN, key=["symbol", "symbol"]),
        DataError,
        "a key column twice: symbol, symbol",
    ),
    "a name that is taken": (
        lambda f: run_graph(f.withColumnRenamed("symbol", "__port"), MEAN, key="__port"),
        DataError,
        "the column '__port': names that begin with two underscores are taken rename the column",
    ),
    "a frame of pandas": (
        lambda _: run_graph(pd.DataFrame({"t": [1], "price": [1.0]}), MEAN),
        TypeError,
        "not <class 'pandas.core.frame.DataFrame'>; elsewhere rtbot.load(graph).run(data) does it",
    ),
    "a name of a table": (
        lambda _: run_graph("prices", MEAN),
        TypeError,
        "data is a DataFrame of Spark, or one per input, not <class 'str'>",
    ),
    "no graph there": (
        lambda f: run_graph(f, "bolinger.yaml"),
        FileNotFoundError,
        "bolinger.yaml",
    ),
    "a parameter that is not there": (
        lambda f: run_graph(f, MEAN, params={"windw": 3}),
        GraphError,
        "unknown parameter 'windw' did you mean 'window'?",
    ),
    "a parameter of the graph as an option": (
        lambda f: run_graph(f, MEAN, window=3),
        TypeError,
        "there is no option 'window': parameters of the graph go in params={...}",
    ),
    "an option that is not there": (
        lambda f: run_graph(f, MEAN, partition=3),
        TypeError,
        "there is no option 'partition': did you mean 'partitions'?",
    ),
    "parameters for a graph that is loaded": (
        lambda f: run_graph(f, rtbot.load(MEAN), params={"window": 3}),
        TypeError,
        "params go with a path or text, not with a graph that is loaded already",
    ),
    "a strategy that is none": (
        lambda f: run_graph(f, MEAN, strategy="group"),
        TypeError,
        "strategy is one of auto, groups, partitions, not 'group'",
    ),
    "partitions as text": (
        lambda f: run_graph(f, MEAN, partitions="8"),
        TypeError,
        "partitions is a whole number from 1 on, not '8'",
    ),
    "a watermark in batch": (
        lambda f: run_graph(f, MEAN, watermark="1 second"),
        TypeError,
        "watermark goes with a stream only",
    ),
    "an initial state in batch": (
        lambda f: run_graph(f, MEAN, initial_state=f),
        TypeError,
        "initial_state goes with a stream only",
    ),
    "counters of a state": (
        lambda f: state_of(f, MEAN, observe=Observation("counts")),
        TypeError,
        "observe goes with run_graph only",
    ),
    "a strategy of a state": (
        lambda f: state_of(f, MEAN, strategy="groups"),
        TypeError,
        "strategy goes with run_graph only",
    ),
    "a DataFrame too few": (
        lambda f: run_graph({"n": f}, SUM),
        DataError,
        "nothing feeds the input f",
    ),
    "a DataFrame for no input": (
        lambda f: run_graph({"prize": f}, MEAN),
        DataError,
        "the graph has no input 'prize' did you mean 'price'?",
    ),
    "an order of arrival": (
        lambda f: run_graph(f, MEAN.replace("{unit: s}", "{duplicates: last}")),
        DataError,
        "io.duplicates: last asks for an order of arrival, which Spark does not have",
    ),
    "a table function like the name of a table": (
        lambda f: register(f.sparkSession, "bands", MEAN, like="prices"),
        TypeError,
        "like is a DataFrame, as spark.table(name) gives one, not 'prices'",
    ),
}
IN_A_STREAM = {
    "no watermark": (
        lambda s: run_graph(s, MEAN, key="symbol"),
        DataError,
        "a stream needs a watermark: how much later than others a row may come",
    ),
    "no unit of integer times": (
        lambda s: run_graph(s, MEAN.replace("io: {unit: s}", ""), watermark="1 day"),
        DataError,
        "the time 't' is an integer, and the graph does not say of what unit",
    ),
    "a watermark per input for one frame": (
        lambda s: run_graph(s, MEAN, watermark={"price": "1 day"}),
        TypeError,
        "a watermark per input goes with a DataFrame per input",
    ),
    "a watermark for no input": (
        lambda s: run_graph({"price": s}, MEAN, watermark={"prize": "1 day"}),
        DataError,
        "no DataFrame is given for 'prize' did you mean 'price'?",
    ),
    "partitions of a stream": (
        lambda s: run_graph(s, MEAN, watermark="1 day", partitions=4),
        TypeError,
        "partitions goes with a batch run only",
    ),
    "an end of a stream": (
        lambda s: run_graph(s, MEAN, watermark="1 day", finish=False),
        TypeError,
        "finish goes with a batch run only",
    ),
    "no buckets": (
        lambda s: run_graph(s, MEAN, watermark="1 day", buckets=0),
        TypeError,
        "buckets is a whole number from 1 on, not 0",
    ),
    "an initial state that is none": (
        lambda s: run_graph(s, MEAN, watermark="1 day", initial_state=s),
        TypeError,
        "initial_state is what state_of or saved_state returned",
    ),
}


def words(error):
    return " ".join(str(error).split())


@pytest.mark.parametrize("mistake", BEFORE_ANY_JOB)
def test_a_mistake_is_told_before_any_job(frame, mistake):
    make, kind, told = BEFORE_ANY_JOB[mistake]
    with pytest.raises(kind) as caught:
        make(frame)
    assert told in words(caught.value)


@pytest.mark.parametrize("mistake", IN_A_STREAM)
def test_a_mistake_in_a_stream_is_told_before_it_begins(stream, mistake):
    make, kind, told = IN_A_STREAM[mistake]
    with pytest.raises(kind) as caught:
        make(stream)
    assert told in words(caught.value)


def test_some_inputs_stream_and_others_do_not(frame, stream):
    with pytest.raises(DataError, match="some inputs stream and others do not"):
        run_graph({"n": frame, "f": stream}, SUM)


def test_no_store_of_states_is_told_with_what_to_set(spark, stream):
    name = "spark.sql.streaming.stateStore.providerClass"
    before = spark.conf.get(name)
    spark.conf.unset(name)
    try:
        with pytest.raises(RuntimeError, match=r"need the state store RocksDB: spark\.conf\.set"):
            run_graph(stream, MEAN, key="symbol", watermark="1 day")
    finally:
        spark.conf.set(name, before)


TWICE = "a second message at t=2024-01-01T00:00:01Z (input 'price', time 2024-01-01T00:00:01Z ="
AT_A_ROW = {
    "a time that comes twice": (
        lambda f: f.withColumn("t", functions.lit(7).cast("long")),
        "a second message at t=7 (input 'price', time 7, key 'a'",
    ),
    "a timestamp that comes twice": (
        lambda f: f.withColumn("t", functions.timestamp_seconds(functions.lit(1_704_067_201))),
        f"{TWICE} 1704067201, key 'a', value 3.0) set io.duplicates to say",
    ),
    "a row without a time": (
        lambda f: f.withColumn("t", functions.lit(None).cast("long")),
        "a row without a time (",
    ),
    "digits finer than the unit": (
        lambda f: f.withColumn("t", functions.timestamp_micros("t")),
        "the time has digits finer than the unit s (",
    ),
}


@pytest.mark.parametrize(
    ("mistake", "strategy"),
    [
        *((mistake, "partitions") for mistake in AT_A_ROW),
        ("a timestamp that comes twice", "groups"),
    ],
)
def test_a_row_that_is_wrong_is_named_without_a_stack(frame, mistake, strategy):
    make, told = AT_A_ROW[mistake]
    rows = make(frame.where("symbol = 'a'"))
    with pytest.raises(PythonException) as caught:
        run_graph(rows, MEAN, key="symbol", strategy=strategy).collect()
    assert told in words(caught.value)
    assert told in words(spark_adapter.reason(caught.value))
    assert str(caught.value).count("  File ") <= 2


IN_SQL = {
    "SELECT * FROM means(TABLE(SELECT t, symbol FROM p) PARTITION BY symbol ORDER BY t)": (
        "there is no column 'price'"
    ),
    "SELECT * FROM means(TABLE(p) PARTITION BY symbol ORDER BY t DESC)": (
        "t=1 comes after t=2 (input 'price', key 'a', column 't') a table function needs ORDER BY"
    ),
}


def test_times_of_an_error_in_sql_are_told_as_timestamps(spark, frame):
    data = frame.withColumn("t", functions.timestamp_seconds(functions.col("t") + 1_704_067_200))
    register(spark, "dated", MEAN, like=data, key="symbol")
    data.createOrReplaceTempView("d")
    with pytest.raises(PythonException) as caught:
        spark.sql("SELECT * FROM dated(TABLE(d) PARTITION BY symbol ORDER BY t DESC)").collect()
    told = "not in the order of time: t=2024-01-01T00:00:01Z comes after t=2024-01-01T00:00:02Z ("
    assert told in spark_adapter.reason(caught.value)


@pytest.mark.parametrize("query", IN_SQL)
def test_a_mistake_in_sql_is_told_without_a_stack(spark, frame, query):
    register(spark, "means", MEAN, like=frame, key="symbol")
    frame.createOrReplaceTempView("p")
    with pytest.raises(PythonException) as caught:
        spark.sql(query).collect()
    assert IN_SQL[query] in words(caught.value)
    assert str(caught.value).count("  File ") <= 3


def test_a_state_of_another_graph_is_refused_with_the_difference(frame):
    states = state_of(frame, MEAN, key="symbol", buckets=1, slices=1).collect()
    other = rtbot.load(MEAN, window=3)
    with pytest.raises(CheckpointError, match="window was 2 and is 3"):
        resumed(frame, other, bytes(states[0].state))


def test_what_a_graph_says_of_itself_may_change_while_a_state_lives(frame):
    states = state_of(frame, MEAN, key="symbol", buckets=1, slices=1).collect()
    other = rtbot.load(MEAN + "name: means\ndescription: of prices\n")
    assert resumed(frame, other, bytes(states[0].state)).finish().num_rows == 0


def resumed(frame, graph, state):
    rows = spark_adapter.input_rows.read_frames(
        frame, graph, spark_adapter.input_rows.make_request("symbol", "t")
    )
    work, _ = spark_adapter.graphs.prepare_job(rows, graph, "wide")
    split = spark_adapter.shard_state.ShardLayout(1, 1)
    given = spark_adapter.stream_run.assign_shards(rows, work, split)
    return spark_adapter.shard.resume_shard(given.packing.work, split, state)


# ---- what looks like a mistake, and is none


@pytest.mark.parametrize(
    ("symbol", "price"),
    [("Symbol Name", "Close (USD)"), ("s.y", "a.b"), ("s`y", "a`b"), ("größe", "价")],
)
@pytest.mark.parametrize("strategy", ["partitions", "groups"])
def test_names_are_taken_as_they_are_written(frame, symbol, price, strategy):
    other = frame.toDF(symbol, "t", price)
    found = run_graph(other, MEAN, key=symbol, inputs={"price": price}, strategy=strategy)
    assert found.columns == [symbol, "t", "middle"]
    assert sorted(map(tuple, found.collect())) == [("a", 2, 2.0), ("b", 2, 5.5)]


@pytest.mark.parametrize("kind", ["int", "decimal(9, 2)", "float", "tinyint"])
def test_numbers_of_any_type_are_numbers(frame, kind):
    found = run_graph(with_price(frame, functions.col("price").cast(kind)), MEAN, key="symbol")
    assert sorted(row.middle for row in found.collect()) == [2.0, 5.5]


def test_no_rows_give_no_rows(frame):
    assert run_graph(frame.limit(0), MEAN, key="symbol").count() == 0


def test_an_instant_is_the_same_in_any_zone(spark, frame):
    data = frame.withColumn("t", functions.timestamp_seconds("t"))
    shown = []
    before = spark.conf.get("spark.sql.session.timeZone")
    try:
        for zone in ("UTC", "America/New_York"):
            spark.conf.set("spark.sql.session.timeZone", zone)
            found = run_graph(data, MEAN, key="symbol").selectExpr("unix_seconds(t)")
            shown.append(sorted(tuple(row) for row in found.collect()))
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert shown == [[(2,), (2,)]] * 2


def test_tables_that_change_come_later():
    graph = "inputs: {rows: {changes: {id: integer}}}\noutputs: [rows]\n"
    with pytest.raises(GraphError, match=r"Spark has no tables that change yet.*a later version"):
        load_for_spark(graph, None)
