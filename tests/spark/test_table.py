"""`register`: a graph as a table function of SQL gives what `run_graph` gives, or refuses."""

import random

import pyarrow as pa
import pytest

import rtbot
from rtbot.core.errors import DataError, GraphError

pytest.importorskip("pyspark")

from spark_adapter import register, run_graph
from tests.spark.test_batch import BANDS, JOINED, MOTION, bits, frame, local, motion, prices

QUERY = "SELECT * FROM {}({})"


@pytest.fixture
def table(spark):
    """Rows of several keys as the view `prices`, and the function `bands` for it."""
    rows = [row for row in prices(random.Random(5), 100) if row[2] is not None]
    frame(spark, rows).repartition(3).createOrReplaceTempView("prices")
    register(spark, "bands", BANDS, like=spark.table("prices"), key="k", time="t")
    return rows


def test_it_gives_the_bits_of_a_local_run(spark, table):
    found = spark.sql(QUERY.format("bands", "TABLE(prices) PARTITION BY k ORDER BY t"))
    assert bits(found.toArrow()) == local(BANDS, {"price": table})


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ("TABLE(prices)", "a call got rows of several keys, or a part of those of one"),
        ("TABLE(prices) WITH SINGLE PARTITION", "write TABLE(...) PARTITION BY k ORDER BY t"),
        ("TABLE(SELECT * FROM prices WHERE k = 'a')", "write TABLE(...) PARTITION BY k ORDER BY t"),
        ("TABLE(prices) PARTITION BY length(k) ORDER BY t", "0: a key may come in parts"),
        ("TABLE(prices) PARTITION BY (k, t) ORDER BY t", "or a part of those of one"),
        ("TABLE(prices) PARTITION BY t ORDER BY t", "PARTITION BY has another value than the key"),
        ("TABLE(prices) PARTITION BY upper(k) ORDER BY t", "'A': a key may come in parts"),
        ("TABLE(prices) PARTITION BY k", "rows are not in the order of time: "),
        ("TABLE(prices) PARTITION BY k ORDER BY t DESC", "a table function needs ORDER BY"),
        ("TABLE(SELECT k, t FROM prices) PARTITION BY k ORDER BY t", "there is no column 'price'"),
        (
            "TABLE(SELECT k, 5L t, price FROM prices) PARTITION BY k ORDER BY t",
            "a second message at t=5 (input 'price', time 5, key ",
        ),
    ],
)
def test_a_query_that_would_be_wrong_is_refused(spark, table, argument, told):
    assert table
    with pytest.raises(Exception, match=r"error\[RT2") as caught:
        spark.sql(QUERY.format("bands", argument)).collect()
    assert told in str(caught.value)
    assert str(caught.value).count("  File ") <= 1


def test_several_inputs_keys_of_two_columns_and_the_long_form(spark):
    rng = random.Random(8)
    rows = [
        (k, site, t, rng.choice([0.0, -0.0, 1.5, None]), rng.choice([None, 7, -(2**62)]))
        for k in ("a", None, "")
        for site in (1, None)
        for t in range(20)
    ]
    data = spark.createDataFrame(rows, "k string, site int, t long, a double, b long").repartition(
        3
    )
    data.createOrReplaceTempView("sites")
    columns = {"key": ["k", "site"], "time": "t", "layout": "long"}
    register(spark, "joined", JOINED, like=data, **columns)
    query = QUERY.format("joined", "TABLE(sites) PARTITION BY (site, k) ORDER BY t")
    found = spark.sql(query).toArrow()
    assert found.num_rows > 100
    assert bits(found) == bits(run_graph(data, JOINED, **columns).toArrow())


def test_vectors_and_records_have_a_column_each(spark):
    data = motion(spark, random.Random(9))
    data.createOrReplaceTempView("motion")
    register(spark, "moved", MOTION, like=data, key="k", time="t")
    found = spark.sql(QUERY.format("moved", "TABLE(motion) PARTITION BY k ORDER BY t")).toArrow()
    assert bits(found) == bits(run_graph(data, MOTION, key="k", time="t").toArrow())
    apart = data.selectExpr("k", "t", *(f"v[{n}] AS `v.{n}`" for n in range(3)), "q")
    with pytest.raises(DataError, match="a table function has one column for the input v"):
        register(spark, "moved", MOTION, like=apart, key="k", time="t")
    narrow = "TABLE(SELECT k, t, array(1) v, q FROM motion) PARTITION BY k ORDER BY t"
    with pytest.raises(Exception, match="in like= it is array<double>"):
        spark.sql(QUERY.format("moved", narrow)).collect()


def test_times_of_many_batches_of_one_key(spark):
    count = 25_000
    spark.range(count).selectExpr("'x' k", "id t", "cast(id as double) price").repartition(
        4
    ).createOrReplaceTempView("many")
    register(spark, "f", BANDS, like=spark.table("many"), key="k", params={"window": 2})
    found = spark.sql(QUERY.format("f", "TABLE(many) PARTITION BY k ORDER BY t")).toArrow()
    assert sorted(found.column("middle").to_pylist()) == [t + 0.5 for t in range(count - 1)]


def test_a_mistake_surfaces_when_it_is_registered(spark):
    like = frame(spark, [])
    for told, graph, columns in [
        ("a table function has a key", BANDS, {"key": ()}),
        ("no column 'ts' for the time", BANDS, {"key": "k", "time": "ts"}),
    ]:
        with pytest.raises(DataError, match=told):
            register(spark, "f", graph, like=like, **columns)
    with pytest.raises(GraphError, match="RT112"):
        register(spark, "f", BANDS, like=like, key="k", params={"window": 0})
    decimal = like.withColumn("price", like["price"].cast("decimal(10,2)"))
    with pytest.raises(DataError, match="cast it to double"):
        register(spark, "f", BANDS, like=decimal, key="k")


def test_an_empty_table_gives_no_rows(spark, table):
    assert table
    argument = "TABLE(SELECT * FROM prices WHERE t < 0) PARTITION BY k ORDER BY t"
    assert spark.sql(QUERY.format("bands", argument)).collect() == []


def test_the_local_run_is_what_it_is_compared_with():
    ran = rtbot.load(BANDS, window=2).run({"price": {"t": [1, 2], "value": [1.0, 3.0]}}).to_arrow()
    assert ran.column("middle") == pa.chunked_array([[2.0]])
