"""Streams on Spark: the bits of a local run, whatever the cuts, restarts and hand-overs."""

import datetime as dt
import os
import random
import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import rtbot
from rtbot.core.errors import CheckpointError, DataError
from tests.spark import torture
from tests.spark.arrow_tables import bits

pytest.importorskip("pyspark")

from pyspark.errors import StreamingQueryException

import spark_adapter

BANDS = """
inputs: {a: number?}
operators:
  a0: coalesce(a, 0.5)
  ma: {type: MovingAverage, in: a0, window: 3}
  peak: {type: PeakDetector, in: a0, window: 3}
outputs: {middle: ma, peak: peak, a: a}
io: {unit: s}
"""
JOINS = """
inputs: {a: number, b: integer}
operators:
  later: {type: TimeShift, in: a, shift: 3000000}
  left: {type: Join, in: [a, b], how: left}
  moved: {type: Join, in: [b, later]}
  latest: {type: Join, in: [a, b], how: asof, tolerance: 4000000}
outputs: {a: left.o1, b: left.o2, latest: latest.o2, moved: moved.o2}
io: {unit: us}
"""
VALUES = {
    "a": [0.0, -0.0, np.nan, np.inf, 1e16, -1.5, 2.25, 1e-300],
    "b": [0, -1, 2**62 + 1, -(2**62), 7],
}
SCHEMAS = {"a": "k string, t bigint, a double", "b": "k string, t bigint, b bigint"}
ARROW = {"a": pa.float64(), "b": pa.int64()}
KEYS = [None, "", "a", "é", "zz", "b"]


def made(rng, name, last, *, nulls=False):
    """Random rows of an input, a message for a third of all (key, t)."""
    choices = VALUES[name] + [None] * nulls
    return [
        (key, t, rng.choice(choices))
        for key in KEYS
        for t in range(-3, last)
        if rng.random() < 1 / 3
    ]


def table(name, rows):
    return pa.table(
        {
            "k": pa.array([row[0] for row in rows], pa.string()),
            "t": pa.array([row[1] for row in rows], pa.int64()),
            name: pa.array([row[2] for row in rows], ARROW[name]),
        }
    )


class Folder:
    """A folder of parquet files, of which a stream reads one per micro-batch."""

    def __init__(self, path, name):
        self.path, self.name, self.count = path, name, 0
        path.mkdir()

    def add(self, rows, files, rng, lateness):
        """Write rows in so many files, at most `lateness` out of order."""
        order = sorted(rows, key=lambda row: row[1] + rng.uniform(0, lateness))
        cuts = sorted(rng.randrange(len(order) + 1) for _ in range(files - 1))
        for start, end in zip([0, *cuts], [*cuts, len(order)], strict=True):
            self.count += 1
            path = self.path / f"{self.count}.parquet"
            parquet.write_table(table(self.name, order[start:end]), path)
            os.utime(path, (1e9 + 60 * self.count,) * 2)

    def stream(self, spark):
        read = spark.readStream.schema(SCHEMAS[self.name]).option("maxFilesPerTrigger", 1)
        return read.parquet(str(self.path))


def ran(out, path):
    """Run a query over all there is; returns it, stopped."""
    write = out.writeStream.format("parquet").option("checkpointLocation", f"{path}/checkpoint")
    query = write.option("path", f"{path}/out").trigger(availableNow=True).start()
    query.awaitTermination()
    return query


def written(spark, path):
    return spark.read.parquet(f"{path}/out")


def local(graph, data):
    """The result of one keyed run over all rows."""
    given = {
        name: table(name, sorted(rows, key=lambda row: row[1])).rename_columns(["k", "t", "value"])
        for name, rows in data.items()
    }
    return graph.run(given, key="k").to_arrow()


def test_a_stream_and_what_was_left_of_it_give_the_bits_of_a_local_run(spark, tmp_path):
    rng = random.Random(1)
    rows = made(rng, "a", 90, nulls=True)
    folder = Folder(tmp_path / "in", "a")
    folder.add(rows, 3, rng, 10)
    graph = rtbot.load(BANDS)
    frames = {"a": folder.stream(spark)}
    out = spark_adapter.run_graph(frames, graph, key="k", watermark="11 seconds")
    ran(out, tmp_path)
    rest = spark_adapter.drain(spark, str(tmp_path / "checkpoint"), graph)
    assert out.schema == rest.schema
    before, after = written(spark, tmp_path).toArrow(), rest.toArrow()
    assert before.num_rows > 100
    assert bits(pa.concat_tables([before, after])) == bits(local(graph, {"a": rows}))


MOTION = """
inputs:
  v: vector[2]
  q: {record: {bid: number, n: "integer?"}}
operators:
  later: {type: TimeShift, in: q.bid, shift: 3}
  both: {type: VectorCompose, in: [v.1, later]}
  turned: {type: VectorProject, in: v, indices: [1, 0]}
outputs: [v, both, turned, q]
io: {unit: s}
"""


def test_a_stream_of_vectors_and_records(spark, tmp_path):
    rng = random.Random(3)
    vectors = [None, [None, None], *([rng.choice(VALUES["a"]), v] for v in VALUES["a"])]
    rows = [
        (k, t, rng.choice(vectors), *rng.choice([(None, None), (t / 7, None), (0.1, t)]))
        for t in range(1, 40)
        for k in KEYS
    ]
    kinds = [pa.string(), pa.int64(), pa.list_(pa.float64()), pa.float64(), pa.int64()]
    columns = map(pa.array, zip(*rows, strict=True), kinds)
    whole = pa.table(list(columns), names=["k", "t", "v", "bid", "n"])
    (tmp_path / "in").mkdir()
    parquet.write_table(whole, tmp_path / "in" / "1.parquet")
    graph = rtbot.load(MOTION)
    schema = "k string, t bigint, v array<double>, bid double, n bigint"
    frame = spark.readStream.schema(schema).parquet(f"{tmp_path}/in")
    out = spark_adapter.run_graph(frame, graph, key="k", watermark="5 seconds")
    ran(out, tmp_path)
    rest = spark_adapter.drain(spark, str(tmp_path / "checkpoint"), graph)
    assert out.schema == rest.schema
    parts = [written(spark, tmp_path).toArrow(), rest.toArrow()]
    assert min(part.num_rows for part in parts) > 10
    assert bits(pa.concat_tables(parts)) == bits(graph.run(whole, key="k").to_arrow())


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_inputs_of_their_own_join_by_time(spark, tmp_path, kind):
    rng = random.Random(kind)
    data = {name: made(rng, name, 60) for name in "ab"}
    frames, folders = {}, {}
    graph = rtbot.load(JOINS)
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    for name, rows in data.items():
        folder = folders[name] = Folder(tmp_path / name, name)
        folder.add(rows, 2, rng, 5)
        shown = folder.stream(spark).selectExpr("k", f"cast({moment(kind)} as {kind}) ts", name)
        own = kind == "timestamp" and name == "a"
        frames[name] = shown.withWatermark("ts", "5 seconds") if own else shown
    delays = {"b": "6 seconds"} if kind == "timestamp" else "6 seconds"
    out = spark_adapter.run_graph(frames, graph, key="k", watermark=delays)
    try:
        ran(out, tmp_path)
        rest = spark_adapter.drain(spark, str(tmp_path / "checkpoint"), graph)
        assert dict(out.dtypes)["ts"] == kind
        parts = [counted(frame, kind) for frame in (written(spark, tmp_path), rest)]
        folders["a"].add([("a", 2, 1.5)], 1, rng, 0)
        with pytest.raises(StreamingQueryException) as caught:
            ran(out, tmp_path)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert parts[0].num_rows > 100
    moved = {n: [(k, START + t * 1_000_000, v) for k, t, v in rows] for n, rows in data.items()}
    assert bits(pa.concat_tables(parts)) == bits(local(graph, moved))
    shown = "2024-11-03T01:59:32" + "Z" * (kind == "timestamp")
    told = spark_adapter.reason(caught.value)
    assert told.startswith(
        f"error[RT202]: t={shown} is late: the watermark has passed t=2024-11-03T"
    )
    assert f"(time {shown} = {START + 2_000_000}, input 'a', value 1.5, key 'a')\n     make" in told


START = int(dt.datetime(2024, 11, 3, 1, 59, 30, tzinfo=dt.UTC).timestamp()) * 1_000_000
"""A time that a clock in New York shows twice."""


def moment(kind):
    """The SQL of a row's time: seconds after START."""
    if kind == "timestamp":
        return f"timestamp_micros({START} + t * 1000000)"
    return "timestamp_ntz'2024-11-03 01:59:30' + make_dt_interval(0, 0, 0, t)"


def counted(frame, kind):
    """A result with its times in microseconds."""
    shown = frame.toArrow()
    place = shown.column_names.index("ts")
    times = shown.column("ts").cast(pa.timestamp("us", "UTC" if kind == "timestamp" else None))
    return shown.set_column(place, "t", times.cast(pa.int64()))


def test_a_stream_goes_on_where_it_was_stopped_and_counts_late_rows(spark, tmp_path):
    rng = random.Random(3)
    rows = made(rng, "a", 90)
    folder = Folder(tmp_path / "in", "a")
    dropping = BANDS.replace("unit: s", "unit: s, late: drop")

    def go_on(graph):
        options = {"watermark": "2 seconds", "buckets": 3, "slices": 2}
        out = spark_adapter.run_graph(folder.stream(spark), graph, key="k", **options)
        return ran(out, tmp_path)

    folder.add([row for row in rows if row[1] < 40], 2, rng, 0)
    assert spark_adapter.late_rows(go_on(BANDS)) == 0
    folder.add([("a", 2, 1.5), ("zz", 3, 2.0)], 1, rng, 0)
    other = dropping.replace("window: 3}\n  peak", "window: 4}\n  peak")
    for refusal, graph in ((LATE, BANDS), (OTHER_GRAPH, other)):
        with pytest.raises(StreamingQueryException) as caught:
            go_on(graph)
        assert re.search(refusal, first_lines(caught.value))
        assert re.search(refusal, spark_adapter.reason(caught.value))
    folder.add([row for row in rows if row[1] >= 40], 2, rng, 0)
    query = go_on(dropping)
    assert spark_adapter.late_rows(query) == 2
    told = [spark_adapter.counts(progress) for progress in query.recentProgress]
    assert all(counts.waiting > 0 and counts.state_bytes > 1_000 for counts in told)
    rest = spark_adapter.drain(spark, str(tmp_path / "checkpoint"), dropping).toArrow()
    given = pa.concat_tables([written(spark, tmp_path).toArrow(), rest])
    assert bits(given) == bits(local(rtbot.load(BANDS), {"a": rows}))

    with pytest.raises(CheckpointError, match=r"operators\.ma\.values\.window was 3 and is 4"):
        spark_adapter.drain(spark, str(tmp_path / "checkpoint"), other)


LATE = r"error\[RT202\]: t=2 is late: .* \(time 2, input 'a', value 1\.5, key 'a'\)"
OTHER_GRAPH = r"error\[RT313\]: .*graph: operators\.ma\.values\.window was 3 and is 4"


def first_lines(error):
    """What a user reads before the calls that led there."""
    return str(error).partition("Traceback")[0]


def test_another_number_of_shuffle_partitions_is_left_to_the_checkpoint(spark, tmp_path):
    rng = random.Random(7)
    rows = made(rng, "a", 60)
    graph = rtbot.load(BANDS)
    folder = Folder(tmp_path / "in", "a")

    def go_on(**split):
        frame = folder.stream(spark)
        out = spark_adapter.run_graph(frame, graph, key="k", watermark="1 second", **split)
        return ran(out, tmp_path).lastProgress["stateOperators"][0]["numShufflePartitions"]

    folder.add([row for row in rows if row[1] < 30], 1, rng, 0)
    assert go_on() == 2
    spark.conf.set("spark.sql.shuffle.partitions", "5")
    try:
        folder.add([row for row in rows if row[1] >= 30], 1, rng, 0)
        with pytest.raises(StreamingQueryException) as caught:
            go_on()
        assert OTHER_SPLIT in spark_adapter.reason(caught.value)
        assert go_on(buckets=8, slices=4) == 2
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")
    rest = spark_adapter.drain(spark, str(tmp_path / "checkpoint"), graph).toArrow()
    given = pa.concat_tables([written(spark, tmp_path).toArrow(), rest])
    assert bits(given) == bits(local(graph, {"a": rows}))


OTHER_SPLIT = """form: buckets was 8 and is 20
     say buckets=8, slices=4; by default buckets go by spark.sql.shuffle.partitions"""

WIDE = ("k", "length(k) n", "t", "a", "if(t % 3 = 0, null, t * 7) b")
"""Two inputs in one relation, where an empty cell is no message, and a key of two columns."""


def test_a_batch_run_hands_over_to_a_stream_and_that_to_another(spark, tmp_path):
    rng = random.Random(4)
    rows = made(rng, "a", 120, nulls=True)
    graph = rtbot.load(JOINS.replace("000000", "").replace("unit: us", "unit: s"))
    whole = spark.createDataFrame(table("a", rows)).selectExpr(*WIDE)
    old = whole.where("t < 50")
    options = {"key": ("k", "n"), "buckets": 3, "slices": 2}
    parts = [spark_adapter.run_graph(old, graph, finish=False, **options).toArrow()]
    state = spark_adapter.state_of(old, graph, **options)
    again = whole.where("30 <= t and t < 50").selectExpr("count(a) + count(b)").first()[0]
    for name, first, last, late in (("one", 30, 80, again), ("two", 80, 120, 0)):
        (tmp_path / name).mkdir()
        folder = Folder(tmp_path / name / "in", "a")
        folder.add([row for row in rows if first <= row[1] < last], 1, rng, 0)
        stream = folder.stream(spark).selectExpr(*WIDE)
        out = spark_adapter.run_graph(
            stream, graph, watermark="1 second", initial_state=state, **options
        )
        assert spark_adapter.late_rows(ran(out, tmp_path / name)) == late
        parts.append(written(spark, tmp_path / name).toArrow())
        state = spark_adapter.saved_state(spark, str(tmp_path / name / "checkpoint"))
    parts.append(spark_adapter.drain(spark, str(tmp_path / "two" / "checkpoint"), graph).toArrow())
    assert all(part.num_rows for part in parts)
    right = graph.run(whole.orderBy("t").toArrow(), key=("k", "n")).to_arrow()
    assert bits(pa.concat_tables(parts)) == bits(right)


def test_a_driver_that_is_killed_loses_no_row_and_doubles_none(spark, tmp_path):
    rows = torture.prepare(tmp_path, random.Random(5), files=4)
    hit = torture.killed(tmp_path, "checkpoint/offsets/1", 0.2)
    assert hit, torture.told(tmp_path)
    torture.run(spark, tmp_path)
    assert torture.differences(spark, tmp_path, rows) == []


def test_what_a_stream_lacks_is_said_before_it_starts(spark, tmp_path):
    frame = Folder(tmp_path / "in", "a").stream(spark)
    with pytest.raises(DataError, match="needs a watermark"):
        spark_adapter.run_graph(frame, BANDS, key="k")
    with pytest.raises(DataError, match="does not say of what unit"):
        spark_adapter.run_graph(frame, BANDS.replace("io: {unit: s}", ""), key="k")
    with pytest.raises(TypeError, match="partitions goes with a batch run only"):
        spark_adapter.run_graph(frame, BANDS, key="k", watermark="1 second", partitions=3)
    provider = spark.conf.get("spark.sql.streaming.stateStore.providerClass")
    spark.conf.unset("spark.sql.streaming.stateStore.providerClass")
    try:
        with pytest.raises(RuntimeError, match="RocksDB"):
            spark_adapter.run_graph(frame, BANDS, key="k", watermark="1 second")
    finally:
        spark.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
