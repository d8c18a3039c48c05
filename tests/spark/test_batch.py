"""`run_graph` and `register` on batch DataFrames: the bits of a local keyed run."""

import math
import random
import struct

import pyarrow as pa
import pytest

import rtbot
from rtbot.errors import DataError, GraphError

pytest.importorskip("pyspark")

from pyspark.sql import functions, types

from spark_adapter import register, run_graph

BANDS = """
inputs: {price: number}
operators:
  ma: {type: MovingAverage, in: price, window: $window}
  sd: {type: StandardDeviation, in: price, window: $window}
  upper: ma + 2 * sd
params: {window: 4}
outputs: {upper: upper, middle: ma}
"""
JOINED = """
inputs: {a: number, b: integer?}
operators:
  left: {type: Join, in: [a, b], how: left}
  peak: {type: PeakDetector, in: a, window: 3}
outputs: {a: left.o1, b: left.o2, peak: peak}
"""
VALUES = [0.0, -0.0, math.nan, math.inf, -math.inf, 1e16, 1.5, -2.25, None]
KEYS = ["a", "B", "é", "", None, "zz"]


def prices(rng, count):
    """Rows (symbol, t, price) with no two of one key and time, in any order."""
    places = {(rng.choice(KEYS), rng.randrange(10 * count)) for _ in range(count)}
    found = [(key, t, rng.choice(VALUES)) for key, t in places]
    rng.shuffle(found)
    return found


def local(text, data, **params):
    """What a local keyed run gives, by bits; `data` are (key, t, value) by input."""
    graph = rtbot.load(text, **params)
    kinds = {"number": pa.float64(), "integer": pa.int64()}
    tables = {}
    for name, rows in data.items():
        declared = graph.checked.inputs[name].type
        ordered = sorted(rows, key=lambda row: row[1])
        tables[name] = {
            "k": pa.array([row[0] for row in ordered], pa.string()),
            "t": [row[1] for row in ordered],
            "value": pa.array([row[2] for row in ordered], kinds[declared.kind]),
        }
    return bits(graph.run(tables, key="k").to_arrow())


def bits(table):
    """The rows of a table by column name, floats as their bits, in an order of their own."""

    def plain(value):
        return struct.pack("<d", value) if isinstance(value, float) else value

    names = sorted(table.column_names)
    cells = [[plain(value) for value in table.column(name).to_pylist()] for name in names]
    return names, sorted(zip(*cells, strict=True), key=repr)


def frame(spark, rows, name="price", kind=None):
    fields = [("k", types.StringType()), ("t", types.LongType())]
    fields.append((name, kind or types.DoubleType()))
    return spark.createDataFrame(rows, types.StructType([types.StructField(*f) for f in fields]))


@pytest.mark.parametrize("strategy", ["partitions", "groups"])
@pytest.mark.parametrize("partitions", [1, 7, 200])
def test_shuffled_rows_give_the_bits_of_a_local_run(spark, strategy, partitions):
    rows = prices(random.Random(partitions), 150)
    data = frame(spark, rows).repartition(5)
    options = {"strategy": strategy, "partitions": partitions}
    found = run_graph(data, BANDS, key="k", time="t", **options).toArrow()
    known = [row for row in rows if row[2] is not None]
    assert bits(found) == local(BANDS, {"price": known})


@pytest.mark.parametrize("strategy", ["partitions", "groups"])
def test_a_frame_per_input(spark, strategy):
    rng = random.Random(strategy)
    a = prices(rng, 80)
    b = [(k, t, rng.choice([1, -5, 2**62, None])) for k, t, _ in prices(rng, 80)]
    data = {"a": frame(spark, a, "a"), "b": frame(spark, b, "amount", types.LongType())}
    found = run_graph(data, JOINED, key="k", time="t", strategy=strategy).toArrow()
    assert bits(found) == local(JOINED, {"a": a, "b": b})


def test_times_and_keys_come_out_as_they_went_in(spark):
    data = frame(spark, [("a", t * 1_000_000, float(t)) for t in range(6)]).select(
        functions.lit(7).cast("smallint").alias("site"),
        functions.timestamp_micros("t").alias("ts"),
        "price",
    )
    found = run_graph(data, BANDS, key="site", time="ts", params={"window": 2})
    assert found.schema.simpleString() == (
        "struct<site:smallint,ts:timestamp,upper:double,middle:double>"
    )
    assert [row.ts.second for row in found.orderBy("ts").collect()] == [1, 2, 3, 4, 5]


def test_the_long_form(spark):
    data = frame(spark, [("a", 1, 1.0), ("a", 2, 3.0)])
    found = run_graph(data, BANDS, key="k", time="t", params={"window": 2}, layout="long")
    rows = [tuple(row) for row in found.orderBy("output").collect()]
    assert [row[:3] for row in rows] == [("a", 2, "middle"), ("a", 2, "upper")]
    assert rows[0][3] == 2.0


def test_without_a_key_it_is_one_series(spark):
    data = frame(spark, [("a", 1, 1.0), ("b", 2, 3.0)]).repartition(4)
    found = run_graph(data, BANDS, key=(), time="t", params={"window": 2}).collect()
    assert [(row.t, row.middle) for row in found] == [(2, 2.0)]


def test_a_table_function_of_sql(spark):
    rows = [row for row in prices(random.Random(5), 100) if row[2] is not None]
    frame(spark, rows).createOrReplaceTempView("prices")
    register(spark, "bands", BANDS, like=spark.table("prices"), key="k", time="t")
    found = spark.sql("SELECT * FROM bands(TABLE(prices) PARTITION BY k ORDER BY t)").toArrow()
    assert bits(found) == local(BANDS, {"price": rows})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"key": "symbol"}, "no column 'symbol' for a key there are k, t, price"),
        ({"time": "ts"}, "no column 'ts' for the time"),
        ({"inputs": {"prize": "price"}}, "no input 'prize' did you mean 'price'?"),
        ({"inputs": {"price": "k"}}, "'k' for the input price is string cast it to one of"),
        ({"graph": BANDS + "io: {duplicates: last}"}, "asks for an order of arrival"),
        ({"graph": BANDS.replace("middle: ma", "k: ma")}, "two columns of the result"),
    ],
)
def test_a_mistake_surfaces_on_the_driver(spark, options, told):
    data = frame(spark, [("a", 1, 1.0)])
    given = {"key": "k", "time": "t"} | options
    graph = given.pop("graph", BANDS)
    with pytest.raises(DataError) as caught:
        run_graph(data, graph, **given)
    assert told in " ".join(str(caught.value).split())


def test_a_graph_that_is_wrong_surfaces_before_any_job(spark):
    with pytest.raises(GraphError):
        run_graph(frame(spark, []), BANDS, params={"window": 0})


def test_an_error_of_data_names_the_row_and_shows_no_stack_of_the_worker(spark):
    data = frame(spark, [("a", 1, 1.0), ("b", 5, 1.0), ("b", 5, 2.0)])
    with pytest.raises(Exception, match="RT203") as caught:
        run_graph(data, BANDS, key="k", time="t").collect()
    told = str(caught.value)
    assert "a second message at t=5" in told
    assert "input 'price'" in told
    assert "key 'b'" in told
    assert told.count("  File ") <= 1
