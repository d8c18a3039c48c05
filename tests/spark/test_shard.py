"""A stream without Spark: micro-batches cut anywhere, the state saved and read again at each."""

import dataclasses
import errno
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import rtbot
from rtbot.core.errors import CheckpointError, DataError
from rtbot.core.vector_names import list_vectors
from rtbot.graph.output_types import list_output_types, list_public_names
from rtbot.runtime.kernels.rows import FIRST, LAST
from tests import generate
from tests.spark.arrow_tables import ARROW, bits, released

pytest.importorskip("pyspark")

from spark_adapter import packing, shard, shard_group, shard_state, state_cache
from spark_adapter.partition import InputColumn, JobSpec
from spark_adapter.watermark_clock import WatermarkClock

GRAPHS = {
    "bands": """
inputs: {a: number}
operators:
  ma: {type: MovingAverage, in: a, window: 3}
  sd: {type: StandardDeviation, in: a, window: 4}
  upper: ma + 2 * sd
outputs: {upper: upper, middle: ma}
""",
    "one output": """
inputs: {a: number}
operators: {ma: {type: MovingAverage, in: a, window: 3}}
outputs: {middle: ma}
""",
    "peaks": """
inputs: {a: number}
operators:
  peak: {type: PeakDetector, in: a, window: 3}
  grid: {type: ResamplerConstant, in: a, interval: 5}
  early: {type: TimeShift, in: a, shift: -2}
  later: {type: TimeShift, in: a, shift: 7}
outputs: {peak: peak, a: a, grid: grid, early: early, later: later}
""",
    "joins": """
inputs: {a: number, b: number}
operators:
  later: {type: TimeShift, in: b, shift: 6}
  inner: {type: Join, in: [a, b]}
  moved: {type: Join, in: [a, later]}
  left: {type: Join, in: [a, b], how: left}
  latest: {type: Join, in: [a, b], how: asof, tolerance: 4}
outputs: {both: inner.o2, a: left.o1, b: left.o2, latest: latest.o2, moved: moved.o2}
""",
    "repeats": """
inputs: {a: number, b: integer}
operators:
  best: {type: TopK, in: [a, b], k: 3}
  large: {type: GreaterThan, in: best.o1, value: 1}
  later: {type: TimeShift, in: a, shift: 3}
outputs: {a: a, best: best.o1, of: best.o2, large: large, later: later}
""",
    "kinds": """
inputs: {a: text?, b: integer?, c: boolean, d: number?}
operators: {n: "coalesce(b, -1) + 1"}
outputs: {a: a, n: n, b: b, c: c, d: d}
""",
    "duplicates": """
inputs: {a: number, b: integer}
operators:
  ma: {type: MovingAverage, in: a, window: 3}
  both: {type: Join, in: [ma, b], how: left}
outputs: {middle: ma, both: both.o2}
io: {unit: ms, duplicates: sum, lateness: 3}
""",
}
VALUES = {
    "number": [0.0, -0.0, np.nan, np.inf, 1e16, -1.5, 2.25, 1e-300],
    "integer": [0, -1, 2**62, -(2**62), 7],
    "boolean": [True, False],
    "text": ["", "x", "Zoë", "x,y"],
}
CASES = 40
KEYS = {
    "text": (pa.string(), [None, "", "a", "b", "é", "zz", "Z"]),
    "integers": (pa.int64(), [None, 0, -5, 2**62, 7]),
}


def columns(graph, rows, *key_types, names=("k",)):
    """Rows (key, t, port, value) as one relation of all inputs."""
    keys = [row[0] if len(key_types) > 1 else (row[0],) for row in rows]
    made = {
        name: pa.array([key[place] for key in keys], kind)
        for place, (name, kind) in enumerate(zip(names, key_types, strict=True))
    }
    made |= {
        "t": pa.array([row[1] for row in rows], pa.int64()),
        "port": pa.array([row[2] for row in rows], pa.int32()),
    }
    for place, (name, declared) in enumerate(graph.checked.inputs.items()):
        own = [row[3] if row[2] == place else None for row in rows]
        made[f"v_{name}"] = pa.array(own, ARROW[declared.type.kind])
    return pa.table(made)


def made(graph, rng, count, keys):
    """Random rows of all inputs; of one key, time and port only one, unless duplicates may be."""
    rows = []
    for place, declared in enumerate(graph.checked.inputs.values()):
        choices = VALUES[declared.type.kind] + [None] * declared.type.nullable
        rows += [
            (rng.choice(keys), rng.randrange(1, 60), place, rng.choice(choices))
            for _ in range(count)
        ]
    if graph.checked.io.duplicates == "error":
        rows = list({row[:3]: row for row in rows}.values())
    return rows


def work_of(graph, *key_types, layout="wide", names=("k",)):
    feeds = [
        InputColumn(n, f"v_{n}", place, sparse=False)
        for place, n in enumerate(graph.checked.inputs)
    ]
    checked = graph.checked
    kinds = {name: ARROW[one.kind] for name, one in list_output_types(checked).items()}
    if layout == "long":
        different = len(set(kinds.values())) > 1
        value = pa.string() if different else next(iter(kinds.values()))
        kinds = {"output": pa.string(), "value": value}
    else:
        kinds |= dict.fromkeys(list_vectors(checked.records), ARROW["vector"])
        kinds = {name: kinds[name] for name in list_public_names(checked)}
    heads = [head for head in zip(names, key_types, strict=True) if head[0] != shard.SINGLE_KEY]
    schema = pa.schema([*heads, ("t", pa.int64()), *kinds.items()])
    return JobSpec(graph, names, "t", tuple(feeds), schema, layout=layout, port="port")


def local(work, rows, *key_types):
    """The result of the whole rows in one run."""
    rows = sorted(rows, key=lambda row: row[1])
    table = columns(work.graph, rows, *key_types, names=work.keys)
    if work.keys == (shard.SINGLE_KEY,):
        work = dataclasses.replace(work, keys=())
    result = work.graph.run(work.split_inputs(table, keyed=True), key=work.keys)
    return work.shape_result(result.series, None)


def cut(rng, rows, lateness):
    """Micro-batches of rows, at most `lateness` out of order, with the watermark of each."""
    order = sorted(rows, key=lambda row: row[1] + rng.randint(0, lateness))
    newest = FIRST
    while order:
        size = rng.randrange(0, 12)
        batch, order = order[:size], order[size:]
        yield batch, max(newest - lateness - 1, FIRST)
        newest = max([newest, *(row[1] for row in batch)])
    yield [], max(newest - lateness - 1, FIRST)


def streamed(work, batches, *key_types, split=shard_state.ShardLayout(4)):  # noqa: B008 (it is frozen)
    """Run micro-batches as Spark would: a call only with rows, or when one is due."""
    parts, state, due = [], None, None
    for rows, until in batches:
        if not rows and (due is None or due > until):
            continue
        slice_ = shard.resume_shard(work, split, state) if state else shard.start_shard(work, split)
        given = columns(work.graph, rows, *key_types, names=work.keys)
        parts.append(slice_.push(given, until))
        state, due = slice_.to_bytes(), slice_.find_due_time()
        assert due is None or due > until or until == LAST
    if state:
        parts.append(shard.resume_shard(work, split, state).finish())
    return parts


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("name", GRAPHS)
def test_micro_batches_give_the_bits_of_a_local_run(name, keys, seed):
    rng = random.Random(f"{name} {keys} {seed}")
    graph = rtbot.load(GRAPHS[name])
    key_type, choices = KEYS[keys]
    work = work_of(graph, key_type, layout=rng.choice(["wide", "wide", "long"]))
    chosen = rng.sample(choices, rng.randrange(1, len(choices) + 1))
    rows = made(graph, rng, rng.choice([0, 1, 40, 120]), chosen)
    parts = streamed(work, cut(rng, rows, rng.choice([0, 3, 30])), key_type)
    right = local(work, rows, key_type)
    given = pa.concat_tables(parts) if parts else work.schema.empty_table()
    assert bits(given) == bits(right)
    assert released(given) == released(right)


@pytest.mark.parametrize("seed", range(CASES))
def test_random_graphs_give_the_bits_of_a_local_run(seed):
    """Those of the tests without Spark, with all kinds of operators, over a stream."""
    case = generate.case(f"stream {seed}", most=6)
    io = case.document.get("io", {})
    if io.get("duplicates") in ("first", "last"):
        io["duplicates"] = "error"
    graph = rtbot.load(case.document)
    inputs = list(graph.checked.inputs)
    rows = [row for row in case.rows if row.time > FIRST]  # Spark has no time as early as that
    given = [(row.key, row.time, inputs.index(row.input), row.value) for row in rows]
    if graph.checked.io.duplicates == "error":
        given = list({row[:3]: row for row in given}.values())
    key_types = [ARROW[kind_of(row[0][n] for row in given)] for n in range(len(case.keys))]
    if len(case.keys) < 2:
        given = [((*row[0], 0)[0], *row[1:]) for row in given]
    names, kinds = (case.keys, key_types) if case.keys else ((shard.SINGLE_KEY,), [pa.int64()])
    work = work_of(graph, *kinds, names=names)
    rng = random.Random(seed)
    parts = streamed(work, cut(rng, given, rng.choice([0, 1, 7, 1000])), *kinds)
    found = pa.concat_tables(parts) if parts else work.schema.empty_table()
    assert bits(found) == bits(local(work, given, *kinds))


def kind_of(cells):
    return "text" if any(isinstance(cell, str) for cell in cells) else "integer"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", GRAPHS)
def test_a_slice_says_when_the_watermark_alone_lets_something_go(name, seed):
    """Called at every watermark or only when due, it has released the same at each of them."""
    rng = random.Random(f"{name} {seed}")
    graph = rtbot.load(GRAPHS[name])
    work = work_of(graph, pa.string())
    rows = made(graph, rng, 40, ["a", "b", None])
    always, rarely = (shard.start_shard(work, shard_state.ShardLayout(4)) for _ in range(2))
    given = columns(graph, rows, pa.string())
    parts = [always.push(given, 0), rarely.push(given, 0)]
    assert bits(parts[0]) == bits(parts[1])
    calls = 0
    for until in range(1, 80):
        due = rarely.find_due_time()
        expected = always.push(None, until)
        if due is not None and due <= until:
            calls += 1
            assert bits(rarely.push(None, until)) == bits(expected)
        else:
            assert expected.num_rows == 0
    assert 0 < calls < 75
    assert bits(always.finish()) == bits(rarely.finish())


LATE = [("x", 2, 0, 9.0), ("y", 3, 0, 8.0), ("x", 5, 0, 5.0)]


def until_3(late):
    work = work_of(rtbot.load(GRAPHS["one output"] + f"io: {{late: {late}}}\n"), pa.string())
    one = shard.start_shard(work, shard_state.ShardLayout(4))
    rows = [("x", t, 0, float(t)) for t in (1, 2, 3, 4)]
    assert one.push(columns(work.graph, rows, pa.string()), 3)["t"].to_pylist() == [3]
    return one, columns(work.graph, LATE, pa.string())


def test_late_rows_are_left_out_and_counted():
    one, rows = until_3("drop")
    assert one.push(rows, 5)["middle"].to_pylist() == [3.0, 4.0]
    assert one.late == 2
    one.push(None, 6)
    assert one.late == 0


def test_late_rows_are_an_error_unless_the_graph_drops_them():
    one, rows = until_3("error")
    with pytest.raises(DataError, match="t=2 is late: the watermark has passed t=3") as caught:
        one.push(rows, 5)
    error = caught.value
    told = (error.code, error.key, error.time, error.input, error.value)
    assert told == ("RT202", "x", 2, "a", 9.0)


def test_whether_late_rows_are_an_error_may_change_while_a_state_lives():
    one, rows = until_3("error")
    work = work_of(rtbot.load(GRAPHS["one output"] + "io: {late: drop}\n"), pa.string())
    other = shard.resume_shard(work, shard_state.ShardLayout(4), one.to_bytes())
    assert other.push(rows, 5)["middle"].to_pylist() == [3.0, 4.0]


def test_messages_that_the_history_had_are_left_out_of_columns_of_lists_and_structs():
    text = "inputs:\n  v: vector[2]\n  q: {record: {bid: number}}\noutputs: [v, q]\n"
    feeds = (InputColumn("v", "v"), InputColumn("q", "q"))
    schema = {"k": pa.string(), "t": pa.int64(), "v": ARROW["vector"], "q.bid": pa.float64()}
    work = JobSpec(rtbot.load(text), ("k",), "t", feeds, pa.schema(schema))
    kinds = {**schema, "q": pa.struct([("bid", pa.float64())])}

    def rows(*times):
        cells = {"k": ["x"] * len(times), "t": times}
        cells["v"] = [[t, -t] if t % 2 else [None, None] for t in times]
        cells["q"] = [{"bid": None if t % 3 else t} for t in times]
        return pa.table({name: pa.array(column, kinds[name]) for name, column in cells.items()})

    one = shard.start_shard(work, shard_state.ShardLayout(4))
    one.take(rows(1, 2, 3))
    one = shard.resume_shard(work, one.split, one.to_bytes())
    found = pa.concat_tables([one.push(rows(1, 2, 3, 5, 6), 5), one.finish()])
    assert found.to_pydict() == {
        "k": ["x", "x"],
        "t": [5, 6],
        "v": [[5.0, -5.0], None],
        "q.bid": [None, 6.0],
    }
    assert one.late == 3


def test_a_row_without_a_message_is_never_late():
    one, _ = until_3("error")
    work = one.work
    one.work = dataclasses.replace(work, port=None, feeds=(InputColumn("a", "v_a"),))
    empty = columns(work.graph, [("x", 2, 0, None)], pa.string())
    assert one.push(empty, 3).num_rows == 0
    assert one.late == 0


def saved(graph_text):
    work = work_of(rtbot.load(graph_text), pa.string())
    one = shard.start_shard(work, shard_state.ShardLayout(4))
    one.push(columns(work.graph, [("x", 1, 0, 1.0)], pa.string()), 0)
    return work, one.to_bytes()


def test_a_state_that_does_not_fit_is_refused_with_the_difference():
    work, state = saved(GRAPHS["one output"])
    cases = {
        "operators.ma.values.window was 3 and is 4": GRAPHS["one output"].replace("3", "4"),
        "unit was None and is 'ms'": GRAPHS["one output"] + "io: {unit: ms}\n",
    }
    for difference, text in cases.items():
        with pytest.raises(CheckpointError) as caught:
            shard.resume_shard(
                work_of(rtbot.load(text), pa.string()), shard_state.ShardLayout(4), state
            )
        assert caught.value.code == "RT313"
        assert difference in caught.value.message
    with pytest.raises(CheckpointError, match="buckets was 4 and is 8"):
        shard.resume_shard(work, shard_state.ShardLayout(8), state)
    with pytest.raises(CheckpointError, match=r"key\.k was 'string' and is 'int64'"):
        shard.resume_shard(work_of(work.graph, pa.int64()), shard_state.ShardLayout(4), state)


def test_a_damaged_state_is_noticed():
    work, state = saved(GRAPHS["one output"])
    assert shard.resume_shard(work, shard_state.ShardLayout(4), state).to_bytes() == state
    for place in [*range(40), *range(40, len(state), 11)]:
        damaged = bytearray(state)
        damaged[place] ^= 1
        with pytest.raises(CheckpointError):
            shard.resume_shard(work, shard_state.ShardLayout(4), bytes(damaged))
    for end in range(0, len(state), 17):
        with pytest.raises(CheckpointError):
            shard.resume_shard(work, shard_state.ShardLayout(4), state[:end])


def test_foreign_bytes_and_those_of_another_version_are_refused(monkeypatch):
    work, state = saved(GRAPHS["one output"])
    other = saved(GRAPHS["bands"])[1]
    start, end = (
        shard_state.LENGTH.size + shard_state.LENGTH.unpack(s[:8])[0] for s in (state, other)
    )
    monkeypatch.setattr(shard_state, "VERSION", 3)
    later = saved(GRAPHS["one output"])[1]
    monkeypatch.undo()
    refused = {
        "this is not a dump of rtbot": b"PAR1" * 30,
        "format 3; this version reads 2": later,
        "its parts do not belong together": state[:start] + other[end:],
    }
    for message, given in refused.items():
        with pytest.raises(CheckpointError, match=message) as caught:
            shard.resume_shard(work, shard_state.ShardLayout(4), given)
        assert caught.value.code in ("RT311", "RT312")


def test_an_error_names_key_time_and_input():
    work = work_of(rtbot.load(GRAPHS["one output"]), pa.string())
    twice = columns(work.graph, [("x", 1, 0, 1.0), ("x", 1, 0, 2.0)], pa.string())
    with pytest.raises(DataError) as caught:
        shard.start_shard(work, shard_state.ShardLayout(4)).push(twice, 5)
    error = caught.value
    told = (error.code, error.key, error.time, error.input, error.value, error.row)
    assert told == ("RT203", "x", 1, "a", 2.0, None)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_timer_is_the_least_watermark_that_has_passed_a_time(unit):
    clock = WatermarkClock(unit)
    assert clock.to_time(0) == -(2**63)
    for time in [-5, 0, 1, 2, 999, 1000, 1001, 5_000_999, 123_456_789_012]:
        timer = clock.to_watermark(time)
        assert clock.to_time(timer) >= time
        assert timer == 1 or clock.to_time(timer - 1) < time


# ---- what Spark calls, without Spark


def dealt(work, rows, key_type, split):
    """Rows packed as a stream packs them, keys dealt by their place among all."""
    table = columns(work.graph, rows, key_type)
    numbers = [KEYS["text"][1].index(key) for key in table["k"].to_pylist()]
    places = {
        packing.IN_BUCKET: pa.array([number % split.buckets for number in numbers], pa.int32()),
        packing.IN_SLICE: pa.array([number % split.slices for number in numbers], pa.int32()),
    }
    for name, column in places.items():
        table = table.append_column(name, column)
    own = table.drop_columns([packing.IN_BUCKET]).schema
    made = packing.RowPacking(work, own)
    schema = pa.schema([(packing.BUCKET, pa.int32()), (packing.ROWS, pa.binary())])
    packed = pa.Table.from_batches(made.pack(table.to_batches()), schema).to_pandas()
    return made, {int(n): part for n, part in packed.groupby(packing.BUCKET)}


def told(frame):
    """The rows and the counts of a call."""
    parts = [pa.py_buffer(part) for part in frame.get(packing.ROWS, ()) if part is not None]
    counts = {name: int(frame[name].sum()) for name in shard_group.Counts._fields if name in frame}
    return parts, counts


@pytest.mark.parametrize("name", ["peaks", "duplicates"])
def test_timers_call_for_what_the_watermark_lets_go(name):
    tester_of = pytest.importorskip("pyspark.sql.streaming.tws_tester").TwsTester
    rng, graph = random.Random(name), rtbot.load(GRAPHS[name])
    split = shard_state.ShardLayout(2, 3)
    work = work_of(graph, pa.string())
    rows = made(graph, rng, 80, KEYS["text"][1])
    own, _ = dealt(work, rows, pa.string(), split)
    clock = WatermarkClock("ms")
    called = shard_group.ShardGroupProcessor(own, split, clock)
    tester = tester_of(called, timeMode="EventTime", eventTimeExtractor=lambda _: 2**62)
    parts, waiting, passed = [], 0, 0
    for batch, until in cut(rng, rows, 7):
        for number, frame in dealt(work, batch, pa.string(), split)[1].items():
            got, counts = told(tester.testInPandas(number, frame[[packing.ROWS]]))
            parts += got
            waiting += counts.get("waiting", 0)
        if until > passed:
            passed = until
            parts += told(tester.setWatermark(until))[0]
    assert waiting > 0
    shown = [pa.ipc.read_record_batch(part, work.schema) for part in parts]
    states_left = [
        bytes(state[0])
        for number in range(split.buckets)
        for state in tester.peekMapState(shard_group.STATES, number).values()
    ]
    shown += [
        batch
        for state in states_left
        for batch in shard.resume_shard(work, split, state).finish().to_batches()
    ]
    assert bits(pa.Table.from_batches(shown)) == bits(local(work, rows, pa.string()))


def test_the_guard_refuses_another_graph_before_any_bucket_is_touched():
    tester_of = pytest.importorskip("pyspark.sql.streaming.tws_tester").TwsTester
    text = GRAPHS["one output"]

    def asked(text, split, before=None):
        work = work_of(rtbot.load(text), pa.string())
        own, frames = dealt(work, [("a", 1, 0, 1.0)], pa.string(), split)
        called = shard_group.ShardGroupProcessor(own, split, WatermarkClock("ms"))
        tester = tester_of(called, timeMode="EventTime", eventTimeExtractor=lambda _: 2**62)
        if before is not None:
            tester.updateValueState("index", packing.GUARD, before)
        tester.handle.setGroupingKey(packing.GUARD)
        list(called.handleInputRows((packing.GUARD,), iter([]), None))
        assert list(frames)[:-1] == [packing.GUARD]
        return tester.peekValueState("index", packing.GUARD)

    before = asked(text, shard_state.ShardLayout(4))
    assert asked(text + "io: {late: drop}\n", shard_state.ShardLayout(4), before) == before
    refused = {
        "another graph: operators.ma.values.window was 3 and is 4": (text.replace("3", "4"), 4),
        "another form: buckets was 4 and is 5": (text, 5),
    }
    for message, (other, buckets) in refused.items():
        with pytest.raises(CheckpointError, match=message):
            asked(other, shard_state.ShardLayout(buckets), before)
    later = (before[0].replace('"version": 2', '"version": 3'),)
    with pytest.raises(CheckpointError, match="format 3; this version reads 2"):
        asked(text, shard_state.ShardLayout(4), later)
    with pytest.raises(CheckpointError, match="not of a stream of rtbot"):
        asked(text, shard_state.ShardLayout(4), ("[1]",))


def test_a_full_disk_keeps_no_part_of_a_state(tmp_path, monkeypatch):
    _, state = saved(GRAPHS["one output"])
    kept, write = state_cache.LocalStateCache(tmp_path / "states"), Path.write_bytes

    def fill(path, content):
        write(path, content[:10])
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill)
    kept.put(state, None)
    assert list((tmp_path / "states").iterdir()) == []
    monkeypatch.undo()
    kept.put(state, None)
    assert kept.get(shard_state.digest_state(state)) == state


def test_states_on_a_shelf_are_found_by_what_is_in_them(tmp_path):
    _, state = saved(GRAPHS["one output"])
    _, other = saved(GRAPHS["bands"])
    kept = state_cache.LocalStateCache(tmp_path / "states")
    assert kept.get(shard_state.digest_state(state)) is None
    kept.put(state, None)
    assert kept.get(shard_state.digest_state(state)) == state
    kept.put(other, shard_state.digest_state(state))
    assert kept.get(shard_state.digest_state(state)) is None
    (tmp_path / "states" / shard_state.digest_state(state)).write_bytes(other)
    assert kept.get(shard_state.digest_state(state)) is None
    assert sorted(path.name for path in (tmp_path / "states").iterdir()) == sorted(
        [shard_state.digest_state(state), shard_state.digest_state(other)]
    )
    assert state_cache.LocalStateCache(None).get(shard_state.digest_state(state)) is None
