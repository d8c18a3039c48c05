"""`run_graph` on batch DataFrames: the bits of a local keyed run."""

import logging
import math
import random

import pyarrow as pa
import pytest

import rtbot
from rtbot.core.errors import DataError, GraphError
from rtbot.runtime.result import merge_results
from tests import generate
from tests.spark import arrow_tables
from tests.spark.arrow_tables import ARROW

pytest.importorskip("pyspark")

from pyspark.sql import Observation, functions, types

from spark_adapter import account, batch_run, run_graph
from spark_adapter.ranks import TIME_BITS

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
    """The names of the columns of a table, and its rows to the last bit."""
    return sorted(table.column_names), arrow_tables.bits(table)


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


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"key": "symbol"}, "no column 'symbol' for a key there are k, t, price"),
        ({"time": "ts"}, "no column 'ts' for the time"),
        ({"inputs": {"prize": "close"}}, "no input 'prize' did you mean 'price'?"),
        ({"inputs": {"price": "k"}}, "'k' for the input price is string cast it to one of"),
        ({"graph": BANDS + "io: {duplicates: last}"}, "asks for an order of arrival"),
        ({"graph": BANDS + "io: {time: [d, h]}"}, "io.time with several columns has no meaning"),
        ({"graph": BANDS.replace("middle: ma", "k: ma")}, "would have one name for Spark: 'k'"),
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


@pytest.mark.parametrize("strategy", ["partitions", "groups"])
def test_an_error_of_data_names_the_row_and_shows_no_stack_of_the_worker(spark, strategy):
    data = frame(spark, [("a", 1, 1.0), ("b", 5, 1.0), ("b", 5, 2.0)])
    with pytest.raises(Exception, match="RT203") as caught:
        run_graph(data, BANDS, key="k", time="t", strategy=strategy).collect()
    told = str(caught.value)
    assert "a second message at t=5 (input 'price', time 5, key 'b', value 2.0)" in told
    assert told.count("  File ") <= 1


@pytest.mark.parametrize("strategy", ["partitions", "groups"])
@pytest.mark.parametrize("seed", [5, 11, 29])
def test_random_graphs_and_data(spark, strategy, seed):
    case = generate.case(seed, most=20)
    rules = case.document.get("io", {})
    if rules.get("duplicates") in ("first", "last"):
        case.document["io"] = {name: rule for name, rule in rules.items() if name != "duplicates"}
        case.rows = list({row[:3]: row for row in case.rows}.values())
    graph, arrow = rtbot.load(case.document), {}
    frames = {}
    for name, declared in graph.checked.inputs.items():
        own = [row for row in case.rows if row.input == name]
        own.sort(key=lambda row: row.time)
        arrow[name] = {
            key: pa.array([row.key[place] for row in own], of_key(case, place))
            for place, key in enumerate(case.keys)
        }
        arrow[name]["t"] = pa.array([row.time for row in own], pa.int64())
        arrow[name]["value"] = pa.array([row.value for row in own], ARROW[declared.type.kind])
        frames[name] = spark.createDataFrame(pa.table(arrow[name])).repartition(3)
    found = run_graph(frames, graph, key=case.keys, time="t", strategy=strategy).toArrow()
    assert found.num_rows
    assert bits(found) == bits(graph.run(arrow, key=case.keys).to_arrow())


def of_key(case, place):
    """The type of a key column."""
    return pa.string() if any(isinstance(row.key[place], str) for row in case.rows) else pa.int64()


def test_several_inputs_in_one_frame_and_a_key_of_two_columns(spark):
    rng = random.Random(7)
    sites = [(k, site) for k in KEYS for site in (1, -(2**62), None)]
    rows = [
        (*key, t, rng.choice(VALUES), rng.choice([None, 1, -5, 2**63 - 1]))
        for key in sites
        for t in range(12)
    ]
    data = spark.createDataFrame(rows, "k string, site long, t long, x double, amount long")
    names = {"a": "x", "b": "amount"}
    options = {"key": ["k", "site"], "time": "t", "inputs": names}
    found = run_graph(data.repartition(5), JOINED, **options).toArrow()
    kinds = [pa.string(), pa.int64(), pa.int64(), pa.float64(), pa.int64()]
    columns = zip(zip(*rows, strict=True), kinds, strict=True)
    wide = pa.table([pa.array(c, kind) for c, kind in columns], ["k", "site", "t", "a", "b"])
    wide = wide.sort_by("t")
    assert bits(found) == bits(rtbot.load(JOINED).run(wide, key=["k", "site"]).to_arrow())


MOTION = """
inputs:
  v: vector[3]
  q: {record: {bid: number, ask: "number?", n: integer}}
operators:
  level: {type: VectorProject, in: v, indices: [2, 0]}
  both: {type: VectorCompose, in: [v.1, q.bid]}
  mean: {type: MovingAverage, in: v.0, window: 2}
outputs: [v, level, both, mean, q]
"""


def motion(spark, rng):
    """A frame with a column of arrays and one of structs, in which cells are null, or parts."""
    rows = [
        (
            key,
            t,
            rng.choice(
                [
                    None,
                    [None] * 3,
                    [1.0, None, 2.0],
                    *([rng.choice(VALUES[:-1])] * 3 for _ in "abcd"),
                ]
            ),
            rng.choice(
                [None, (1.5, None, -5), (rng.choice(VALUES[:-1]), 2.0, 2**62), (None, 1.0, 1)]
            ),
        )
        for key in KEYS
        for t in range(12)
    ]
    schema = "k string, t long, v array<double>, q struct<bid:double,ask:double,n:bigint>"
    return spark.createDataFrame(rows, schema).repartition(3)


def test_vectors_and_records_are_columns_of_arrays_and_structs(spark):
    data, observed = motion(spark, random.Random(1)), Observation()
    found = run_graph(data, MOTION, key="k", time="t", observe=observed)
    names = [f"{name}: {kind}" for name, kind in found.dtypes[2:]]
    assert ", ".join(names) == (
        "v: array<double>, level: array<double>, both: array<double>, mean: double, "
        "q.bid: double, q.ask: double, q.n: bigint"
    )
    session = rtbot.load(MOTION).start("k")
    apart = data.selectExpr("k", "t", *(f"v[{n}] AS `v.{n}`" for n in range(3)), "q.*")
    parts = [session.push(apart.orderBy("t").toArrow()), session.finish()]
    right = bits(merge_results(parts).to_arrow())
    assert bits(found.toArrow()) == right
    assert account(observed) == session.account()
    assert account(observed)["inputs"]["v"]["lost"]["null"] > 0
    assert account(observed)["inputs"]["q"]["lost"]["null"] > 0
    assert bits(run_graph(apart, MOTION, key="k", time="t").toArrow()) == right
    columns = {"v": ["x", "y", "z"], "q": {"bid": "b"}}
    named = apart.toDF("k", "t", "x", "y", "z", "b", "ask", "n")
    frames = {"v": named.select("k", "t", "x", "y", "z"), "q": data.select("k", "t", "q")}
    for given, inputs in ((named, columns), (frames, {"v": columns["v"]})):
        options = {"key": "k", "time": "t", "inputs": inputs, "strategy": "groups"}
        assert bits(run_graph(given, MOTION, **options).toArrow()) == right


def test_what_is_no_vector_is_refused_where_it_shows(spark):
    data = motion(spark, random.Random(2))
    for column, told in [
        ("array('a')", "the column 'v' for the input v is array<string> cast it to array<double>"),
        ("k", "the column 'v' for the input v is string cast it to array<double>"),
        ("q", "the column 'v' for the input v is struct<bid:double,"),
    ]:
        with pytest.raises(DataError) as caught:
            run_graph(data.withColumn("v", functions.expr(column)), MOTION, key="k", time="t")
        assert told in " ".join(str(caught.value).split())
    for inputs, told in [
        ({"v": ["x", "y"]}, "v has 3 elements, and 2 columns are named"),
        ({"v": ["x", "y", "z"]}, "there is no column 'x' for the input v"),
        ({"q": {"big": "b"}}, "q has no field 'big'"),
    ]:
        with pytest.raises(DataError, match=told):
            run_graph(data, MOTION, key="k", time="t", inputs=inputs)
    short = data.withColumn("v", functions.expr("array(1D, t)")).where("k = 'zz' AND t = 4")
    with pytest.raises(Exception, match="RT207") as caught:
        run_graph(short, MOTION, key="k", time="t").collect()
    assert (
        "a vector of 2 elements, where vector[3] is expected "
        "(input 'v', value [1.0, 4.0], key 'zz')" in str(caught.value)
    )


@pytest.mark.parametrize(
    ("unit", "kind", "shown"),
    [
        ("s", "timestamp", "timestamp"),
        ("ns", "timestamp_ntz", "timestamp_ntz"),
        ("s", "date", "timestamp_ntz"),
        ("us", "int", "int"),
    ],
)
def test_times_are_counted_in_the_unit_and_come_out_as_they_went_in(spark, unit, kind, shown):
    graph = "inputs: {a: number}\nparams: {shift: 0}\noperators: {b: {type: TimeShift, in: a, "
    graph += f"shift: $shift}}}}\noutputs: {{b: b}}\nio: {{unit: {unit}}}\n"
    first = "cast(17 as int)" if kind == "int" else f"cast('2024-03-10' as {kind})"
    data = spark.sql(f"SELECT 'x' k, {first} ts, 1.0D a")
    found = run_graph(data, graph, key="k", time="ts")
    assert dict(found.dtypes)["ts"] == shown
    assert found.where(f"ts = {first}").count() == 1
    day = {"s": 86_400, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}[unit]
    if kind != "int":
        later = run_graph(data, graph, key="k", time="ts", params={"shift": day})
        assert later.where("ts = cast('2024-03-11' as timestamp_ntz)").count() == 1


def test_an_observation_tells_what_became_of_the_rows(spark):
    rows = [("a", 3, 1.0), ("b", 5, 1.0), ("b", 6, 2.0), ("a", 1, -1.0), ("a", 2, None)]
    graph = """
inputs: {price: number}
operators:
  ma: {type: MovingAverage, in: price, window: 2}
  share: {type: Division, in: [price, ma]}
outputs: {share: share, middle: ma}
"""
    whole = rtbot.load(graph).start("k")
    k, t, value = map(list, zip(*sorted(rows, key=lambda row: row[1]), strict=True))
    whole.push({"price": {"k": k, "t": t, "value": value}})
    whole.finish()
    for strategy in ("partitions", "groups"):
        observation = Observation(strategy)
        data = {"price": frame(spark, rows)}
        options = {"strategy": strategy, "observe": observation}
        found = run_graph(data, graph, key="k", time="t", **options)
        assert found.count() == 2
        assert account(observation) == whole.account()
        assert account(observation)["inputs"]["price"]["lost"] == {"null": 1}
        assert account(observation)["operators"]["share"]["i1"]["lost"]["domain"] == 1


def test_an_observation_counts_what_found_no_match(spark):
    graph = """
inputs: {a: number, b: number}
operators:
  j: {type: Join, in: [a, b], how: asof}
outputs: {a: j.o1, b: j.o2}
"""
    rows = [("p", 1, 1.0, None), ("p", 2, 2.0, 5.0), ("q", 1, 1.0, None), ("q", 2, None, 5.0)]
    data = spark.createDataFrame(rows, "k string, t bigint, a double, b double")
    observation = Observation()
    assert run_graph(data, graph, key="k", time="t", observe=observation).count() == 3
    i2 = {"in": 2, "consumed": 2, "held": 0, "lost": {}, "unmatched": 2}
    assert account(observation)["operators"]["j"]["i2"] == i2


def test_the_log_says_what_is_done(spark, caplog):
    data = frame(spark, [("a", 1, 1.0)])
    with caplog.at_level(logging.INFO, "spark_adapter"):
        run_graph(data, BANDS, key="k", time="t")
        run_graph(data, BANDS, key="k", time="t", strategy="groups")
        run_graph(data, BANDS, key="k", time="t", strategy="partitions", partitions=7)
        run_graph(data, BANDS, key=(), time="t", strategy="groups")
    ordered = "by key (k) in {} partitions, ordered by t in each"
    assert [record.getMessage().removeprefix("graph: strategy ") for record in caplog.records] == [
        f"partitions, which costs little per key: {ordered.format(2)}",
        "groups, as asked for: a call of Python per key (k)",
        f"partitions, as asked for: {ordered.format(7)}",
        "partitions: no key, so one partition on one core",
    ]


def test_a_key_that_spark_compares_otherwise_is_refused(spark):
    data = frame(spark, [("a", 1, 1.0), ("A", 1, 1.0)])
    loose = data.withColumn("k", functions.collate("k", "UTF8_LCASE"))
    with pytest.raises(DataError, match="the key 'k' has the collation UTF8_LCASE"):
        run_graph(loose, BANDS, key="k", time="t")
    with pytest.raises(DataError, match="a key column twice"):
        run_graph(data, BANDS, key=["k", "k"], time="t")


# ---- the order of rows

DAYS = range(19_000, 19_800, 3)
INT64 = [-(2**63), -(2**62), -(10**15), -1, 0, 1, 2, 10**9, 10**9 + 1, 10**18, 2**63 - 1]
CLOCKS = {
    "bigint": ("bigint", INT64),
    "smallint": ("smallint", [-32_768, -1, 0, 1, 32_767]),
    "timestamp": ("timestamp_micros(t)", [86_400 * 10**6 * day for day in DAYS]),
    "timestamp_ntz": (
        "timestamp_ntz '2024-03-31 00:30:00' + make_dt_interval(0, 0, 0, t)",
        [-(10**9), -1, *range(0, 4 * 3_600, 97), 10**9],
    ),
    "date": ("date_from_unix_date(int(t))", [-80_000, -1, 0, 1, *DAYS]),
}


@pytest.mark.parametrize("clock", CLOCKS)
def test_ranks_ascend_with_time_and_keep_keys_apart(spark, clock):
    """Also where the clocks of the session's zone go forth, at two o'clock on that day."""
    made, counts = CLOCKS[clock]
    rows = [(key, t) for key in ("a", "", None) for t in [*counts, None]]
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        given = spark.createDataFrame(rows, "c0 string, t bigint")
        made = made if "(" in made else f"cast(t as {made})"
        frame = given.selectExpr("c0", f"{made} c1", "t")
        rank = batch_run._compute_rank(frame, ["c0"], "c1")
        found = frame.select("c0", "t", rank.alias("rank")).collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    units = {}
    for key, t, rank in found:
        units.setdefault(key, {})[t] = rank
    for ranks in units.values():
        late = ranks.pop(None)
        ordered = [ranks[t] for t in sorted(ranks)]
        assert ordered == sorted(ordered)
        assert len(set(ordered)) > len(ordered) // 50
        assert len({rank >> TIME_BITS for rank in (late, *ordered)}) == 1
    assert len({next(iter(ranks.values())) >> TIME_BITS for ranks in units.values()}) == 3
