"""The rows of a partition without Spark: the bits of a local keyed run, however they are cut."""

import dataclasses
import datetime as dt
import math
import random
import struct
from collections import Counter
from itertools import islice

import pyarrow as pa
import pytest

import rtbot
from rtbot.core.errors import DataError
from tests import generate
from tests.spark.arrow_tables import ARROW, LIST, bits, released, result_fields

pytest.importorskip("pyspark")

from spark_adapter import partition
from spark_adapter.ranks import RANK, TIME_BITS

GRAPHS = {
    "bands": """
inputs: {a: number}
operators:
  ma: {type: MovingAverage, in: a, window: 3}
  sd: {type: StandardDeviation, in: a, window: 4}
  upper: ma + 2 * sd
outputs: {upper: upper, middle: ma}
""",
    "peaks": """
inputs: {a: number}
operators:
  peak: {type: PeakDetector, in: a, window: 3}
  grid: {type: ResamplerConstant, in: a, interval: 5}
  early: {type: TimeShift, in: a, shift: -2}
outputs: {peak: peak, a: a, grid: grid, early: early}
""",
    "joins": """
inputs: {a: number, b: number}
operators:
  inner: {type: Join, in: [a, b]}
  left: {type: Join, in: [a, b], how: left}
  latest: {type: Join, in: [a, b], how: asof, tolerance: 4}
outputs: {both: inner.o2, a: left.o1, b: left.o2, latest: latest.o2}
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
inputs: {a: text?, b: integer?, c: boolean}
operators:
  n: coalesce(b, -1) + 1
  t: coalesce(a, b'none')
outputs: {a: a, n: n, c: c}
""".replace("  t: coalesce(a, b'none')\n", ""),
}
VALUES = {
    "number": [0.0, -0.0, math.nan, math.inf, 1e16, -1.5, 2.25, 1e-300],
    "integer": [0, -1, 2**63 - 2, -(2**63), 7],
    "boolean": [True, False],
    "text": ["", "x", "Zoë", "x,y"],
}


def made(graph, rng, count, keys):
    """Random rows per input, sorted by time: {input: [(key, t, value or None)]}."""
    found = {}
    for name, declared in graph.checked.inputs.items():
        chosen = {(rng.choice(keys), rng.randrange(60)) for _ in range(count)}
        nulls = [None] if declared.type.nullable else []
        choices = VALUES[declared.type.kind] + nulls
        found[name] = sorted(
            ((k, t, rng.choice(choices)) for k, t in chosen), key=lambda row: row[1]
        )
    return found


def local(graph, data):
    tables = {
        name: {
            "k": pa.array([k for k, _, _ in given], pa.string()),
            "t": [t for _, t, _ in given],
            "value": pa.array([v for *_, v in given], kind(graph, name)),
        }
        for name, given in data.items()
    }
    return graph.run(tables, key="k").to_arrow()


def kind(graph, name):
    return ARROW[graph.checked.inputs[name].type.kind]


def work_of(graph, outputs):
    inputs = graph.checked.inputs
    feeds = tuple(
        partition.InputColumn(name, f"v_{name}", place, sparse=False)
        for place, name in enumerate(inputs)
    )
    fields = [("k", pa.string()), ("t", pa.int64())]
    fields += [(f.name, f.type) for f in outputs if f.name not in ("k", "t")]
    return partition.JobSpec(graph, ("k",), "t", feeds, pa.schema(fields), port="port")


def sent(graph, data, rng):
    """The rows as Spark brings them: sorted by key, time and port, cut into batches anywhere."""
    order = {name: place for place, name in enumerate(data)}
    flat = [(k, t, order[name], name, v) for name, given in data.items() for k, t, v in given]
    flat.sort(key=lambda row: ((row[0] is not None, row[0] or ""), row[1], row[2]))
    columns = {
        "k": pa.array([row[0] for row in flat], pa.string()),
        "t": pa.array([row[1] for row in flat], pa.int64()),
        "port": pa.array([row[2] for row in flat], pa.int32()),
    }
    for name in data:
        own = [row[4] if row[3] == name else None for row in flat]
        columns[f"v_{name}"] = pa.array(own, kind(graph, name))
    table = pa.table(columns)
    at = 0
    while at < len(flat):
        size = rng.randrange(0, 9)
        yield from table.slice(at, size).combine_chunks().to_batches() or [
            pa.RecordBatch.from_arrays(
                [pa.array([], f.type) for f in table.schema], schema=table.schema
            )
        ]
        at += size


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", GRAPHS)
def test_a_partition_gives_the_bits_of_a_local_run(name, seed, monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    rng = random.Random(f"{name} {seed}")
    monkeypatch.setattr(partition, "CHUNK_ROWS", rng.choice([1, 3, 20, 10_000]))
    graph = rtbot.load(GRAPHS[name])
    keys = rng.sample([None, "", "a", "b", "é", "zz", "Z"], rng.randrange(1, 7))
    data = made(graph, rng, rng.choice([0, 1, 40, 120]), keys)
    right = local(graph, data)
    batches = list(partition.run_partition(work_of(graph, right.schema), sent(graph, data, rng)))
    assert all(batch.num_rows for batch in batches)
    work = work_of(graph, right.schema)
    given = pa.Table.from_batches(batches, work.schema)
    assert bits(given) == bits(right)
    assert released(given) == released(right)


def test_no_row_of_a_key_waits_for_a_partner_that_cannot_come(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    graph = rtbot.load(GRAPHS["joins"])
    columns = {"k": ["a"] * 9, "t": list(range(9)), "port": [0] * 9, "v_a": [1.0] * 9}
    table = pa.table(columns | {"v_b": pa.nulls(9, pa.float64())})
    outputs = pa.schema([(name, pa.float64()) for name in graph.checked.outputs])
    one = partition.KeySession(work_of(graph, outputs), ("a",))
    given = one.push(table)
    assert given["a"].to_pylist() == [1.0] * 8  # the row at the newest time still has to wait
    assert one.session.held() == {"inner.i1": 1, "left.i1": 1, "latest.i1": 1}


# ---- random graphs of every operator, with the nastiest of data


CASES = 60
KINDS = {int: pa.int64(), str: pa.string()}


def sorted_rows(case):
    """The rows of a case as a partition has them: keys together, each by time, then port."""
    ports = list(case.document["inputs"])
    order = {key: place for place, key in enumerate(dict.fromkeys(row.key for row in case.rows))}
    return sorted(case.rows, key=lambda row: (order[row.key], row.time, ports.index(row.input)))


def key_kinds(case):
    """The type of every key column."""
    columns = zip(*(row.key for row in case.rows), strict=True) if case.rows else []
    found = [next((KINDS[type(part)] for part in parts if part is not None), pa.int64())
             for parts in columns]  # fmt: skip
    return dict(zip(case.keys, found or [pa.int64()] * len(case.keys), strict=True))


def relation(graph, case):
    """All rows as one table, as `sorted_rows` has them."""
    given, inputs = sorted_rows(case), list(graph.checked.inputs)
    columns = {
        name: pa.array([row.key[place] for row in given], kind)
        for place, (name, kind) in enumerate(key_kinds(case).items())
    }
    columns["t"] = pa.array([row.time for row in given], pa.int64())
    columns["port"] = pa.array([inputs.index(row.input) for row in given], pa.int32())
    for name in inputs:
        own = [row.value if row.input == name else None for row in given]
        columns[f"v_{name}"] = pa.array(own, kind(graph, name))
    return pa.table(columns)


def case_work(graph, case, layout="wide"):
    """What a worker has to know of a case."""
    feeds = [
        partition.InputColumn(name, f"v_{name}", place, sparse=False)
        for place, name in enumerate(graph.checked.inputs)
    ]
    schema = right(graph, case).schema
    heads = [*key_kinds(case).items(), ("t", pa.int64())]
    values = [(name, kind) for name, kind in result_fields(schema) if name not in dict(heads)]
    if layout == "long":
        kinds = {pa.float64() if kind == LIST else kind for _, kind in values}
        value = kinds.pop() if len(kinds) == 1 else pa.string()
        values = [("output", pa.string()), ("value", value)]
    return partition.JobSpec(
        graph, case.keys, "t", tuple(feeds), pa.schema([*heads, *values]), layout=layout,
        port="port",
    )  # fmt: skip


def tables(graph, case):
    """The rows by input, in the order of time."""
    found = {}
    for name in graph.checked.inputs:
        own = sorted((row for row in case.rows if row.input == name), key=lambda row: row.time)
        columns = {
            key: pa.array([row.key[place] for row in own], kind)
            for place, (key, kind) in enumerate(key_kinds(case).items())
        }
        columns["t"] = pa.array([row.time for row in own], pa.int64())
        found[name] = columns | {"value": pa.array([row.value for row in own], kind(graph, name))}
    return found


def right(graph, case):
    return graph.run(tables(graph, case), key=case.keys).to_arrow()


def cut(table, rng):
    """Record batches of any size, some empty."""
    at = 0
    while at < table.num_rows:
        size = rng.randrange(0, max(2, table.num_rows // 3))
        yield from table.slice(at, size).combine_chunks().to_batches()
        at += size


def cases(count):
    """Random cases that Spark can have: its rows have no order of arrival."""
    drawn = ((seed, generate.case(f"spark {seed}")) for seed in range(10 * count))
    fitting = (
        pytest.param(case, id=str(seed))
        for seed, case in drawn
        if case.document.get("io", {}).get("duplicates") not in ("first", "last")
    )
    return list(islice(fitting, count))


@pytest.mark.parametrize("case", cases(CASES))
def test_a_random_graph_gives_the_bits_of_a_local_run(case, monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    graph = rtbot.load(case.document)
    work, table = case_work(graph, case), relation(graph, case)
    for size in (1, 5, 10_000):
        monkeypatch.setattr(partition, "CHUNK_ROWS", size)
        found = list(partition.run_partition(work, cut(table, random.Random(size))))
        assert bits(pa.Table.from_batches(found, work.schema)) == bits(right(graph, case)), size


def by_rank(table, keys, rng):
    """The rows as Spark brings them by rank: few hashes, rough times, equal ones in any order."""
    given = table.to_pylist()
    unit = {key: rng.randrange(-2, 2) for key in dict.fromkeys(row_key(row, keys) for row in given)}
    half, rough = 1 << TIME_BITS - 1, rng.choice([1, 1 << 25, 1 << 29])
    ranks = []
    for row in given:
        size = math.copysign(math.log1p(abs(row["t"])), row["t"]) * half / 44
        ranks.append((unit[row_key(row, keys)] << TIME_BITS) + half + int(size) // rough)
    order = sorted(range(len(ranks)), key=lambda row: (ranks[row], rng.random()))
    return table.append_column(RANK, pa.array(ranks, pa.int64())).take(pa.array(order, pa.int64()))


def row_key(row, keys):
    return tuple(row[name] for name in keys)


@pytest.mark.parametrize("case", cases(CASES))
def test_rows_by_rank_give_the_bits_of_a_local_run(case, monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    graph = rtbot.load(case.document)
    work = dataclasses.replace(case_work(graph, case), ranked=True)
    for size in (1, 5, 10_000):
        monkeypatch.setattr(partition, "CHUNK_ROWS", size)
        rng = random.Random(size)
        given = by_rank(relation(graph, case), case.keys, rng)
        found = list(partition.run_partition(work, cut(given, rng)))
        assert bits(pa.Table.from_batches(found, work.schema)) == bits(right(graph, case)), size


@pytest.mark.parametrize("case", cases(10))
def test_the_same_rows_in_other_batches_give_the_same_rows_in_the_same_order(case, monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    graph = rtbot.load(case.document)
    for layout in ("wide", "long"):
        work, table = case_work(graph, case, layout), relation(graph, case)
        found = []
        for size in (1, 3, 10_000):
            monkeypatch.setattr(partition, "CHUNK_ROWS", size)
            batches = partition.run_partition(work, cut(table, random.Random(size)))
            found.append(pa.Table.from_batches(list(batches), work.schema).combine_chunks())
        assert all(in_bytes(other) == in_bytes(found[0]) for other in found[1:])


def in_bytes(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(pa.Table.from_batches(table.to_batches() or [], table.schema))
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("rule", ["min", "max", "sum"])
def test_rows_of_one_key_and_time_count_alike_in_any_order(rule, monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    graph = rtbot.load(f"inputs: {{a: number}}\noutputs: {{a: a}}\nio: {{duplicates: {rule}}}\n")
    work = work_of(graph, pa.schema([("a", pa.float64())]))
    values, found = [0.0, -0.0, 1e16, 1.0, -1e16, math.nan, -1.0, 1e-300], set()
    for seed in range(40):
        rng = random.Random(seed)
        chosen = [(k, t, v) for k in "xy" for t in (1, 2) for v in values[: 5 + t]]
        rng.shuffle(chosen)
        chosen.sort(key=lambda row: row[:2])
        monkeypatch.setattr(partition, "CHUNK_ROWS", rng.choice([1, 4, 100]))
        batches = partition.run_partition(work, sent(graph, {"a": chosen}, rng))
        cells = [v for batch in batches for v in batch.column("a").to_pylist()]
        found.add(struct.pack("<4d", *cells))
    assert len(found) == 1


# ---- times


AWARE = dt.datetime(2024, 2, 29, 12, 30, 15, tzinfo=dt.UTC)
MOMENT = AWARE.replace(tzinfo=None)
TIMES = [
    (pa.timestamp("us", "UTC"), AWARE, "ms"),
    (pa.timestamp("us"), MOMENT, "s"),
    (pa.timestamp("us"), MOMENT, "ns"),
    (pa.date32(), MOMENT.date(), "s"),
    (pa.int64(), 17, "ns"),
    (pa.int16(), 17, "s"),
]


def of_times(kind, values, unit, shift=0, late="error"):
    """The times of the result for one key with these times; one by one, then all at once."""
    text = f"inputs: {{a: number}}\noperators: {{b: {{type: TimeShift, in: a, shift: {shift}}}}}\n"
    graph = rtbot.load(text + f"outputs: {{b: b}}\nio: {{unit: {unit}, late: {late}}}\n")
    stamp = pa.timestamp("us") if pa.types.is_date(kind) else kind
    work = partition.JobSpec(
        graph, ("k",), "at", (partition.InputColumn("a", "v"),),
        pa.schema([("k", pa.string()), ("at", stamp), ("b", pa.float64())]), "at", unit=unit,
    )  # fmt: skip
    table = pa.table({
        "k": pa.array(["x"] * len(values)), "at": pa.array(values, kind), "v": [1.0] * len(values)
    })  # fmt: skip
    one_by_one = table.to_batches(max_chunksize=1)
    found = []
    for batches in (one_by_one, table.to_batches()):
        made = pa.Table.from_batches(list(partition.run_partition(work, batches)), work.schema)
        found.append(made.column("at").to_pylist())
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize(("kind", "value", "unit"), TIMES)
def test_times_come_out_as_they_went_in(kind, value, unit, monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    shown = dt.datetime.combine(value, dt.time()) if pa.types.is_date(kind) else value
    assert of_times(kind, [value], unit) == [shown]


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize("late", ["error", "drop"])
def test_rows_that_are_not_in_order_are_refused_and_never_dropped(size, late, monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    monkeypatch.setattr(partition, "CHUNK_ROWS", size)
    told = "not in the order of time: t=4 comes after t=9 (input 'a', key 'x', column 'at')"
    with pytest.raises(DataError) as caught:
        of_times(pa.int64(), [7, 9, 4], "s", late=late)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "values", "unit", "shift", "told"),
    [
        (pa.int64(), [1, None], "s", 0, "a row without a time (input 'a', key 'x', column 'at')"),
        (pa.timestamp("us"), [MOMENT, MOMENT.replace(microsecond=5)], "s", 0, "digits finer than"),
        (pa.timestamp("us"), [MOMENT], "ns", 1, "does not go into 'at', a timestamp[us]: "),
        (pa.int16(), [1], "s", 40_000, "does not go into 'at', a int16: "),
    ],
)
def test_a_time_that_does_not_fit_is_told(kind, values, unit, shift, told, monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    with pytest.raises(DataError) as caught:
        of_times(kind, values, unit, shift)
    assert told in str(caught.value)
    if shift == 0:
        assert caught.value.key == "x"


# ---- what else is told


def test_an_error_names_key_time_and_input(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    graph = rtbot.load(GRAPHS["bands"])
    work = work_of(graph, pa.schema([("upper", pa.float64()), ("middle", pa.float64())]))
    twice = {"a": [("x", 1, 1.0), ("x", 1, 2.0)]}
    with pytest.raises(DataError) as caught:
        list(partition.run_partition(work, sent(graph, twice, random.Random(0))))
    told = "a second message at t=1 (input 'a', time 1, key 'x', value 2.0)"
    assert told in str(caught.value)


def test_a_session_is_counted_at_its_end_once_for_every_row(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    graph = rtbot.load(GRAPHS["joins"])
    for size in (1, 7, 10_000):
        monkeypatch.setattr(partition, "CHUNK_ROWS", size)
        data = made(graph, random.Random(3), 60, ["a", "b", None, "zz"])
        counts = Counter()

        def ended(session, counts=counts):
            counts.update({n: line["in"] for n, line in session.account()["inputs"].items()})

        work = work_of(graph, local(graph, data).schema)
        list(partition.run_partition(work, sent(graph, data, random.Random(4)), ended))
        assert counts == {name: len(given) for name, given in data.items()}
