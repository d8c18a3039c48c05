"""The rows of a partition without Spark: the bits of a local keyed run, however they are cut."""

import math
import random

import numpy as np
import pyarrow as pa
import pytest

import rtbot
from rtbot.errors import DataError

pytest.importorskip("pyarrow")
rows = pytest.importorskip("spark_adapter.rows")

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
ARROW = {"number": pa.float64(), "integer": pa.int64(), "boolean": pa.bool_(), "text": pa.string()}


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
        rows.Feed(name, f"v_{name}", place, sparse=False) for place, name in enumerate(inputs)
    )
    fields = [("k", pa.string()), ("t", pa.int64())]
    fields += [(f.name, f.type) for f in outputs if f.name not in ("k", "t")]
    return rows.Work(graph, ("k",), "t", feeds, pa.schema(fields), port="port")


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


def bits(table):
    """The rows of a table, comparable to the last bit, in an order of their own."""

    def plain(value):
        return np.float64(value).tobytes() if isinstance(value, float) else value

    names = sorted(table.column_names)
    cells = [[plain(v) for v in table.column(name).to_pylist()] for name in names]
    return sorted(zip(*cells, strict=True), key=repr)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", GRAPHS)
def test_a_partition_gives_the_bits_of_a_local_run(name, seed, monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    rng = random.Random(f"{name} {seed}")
    monkeypatch.setattr(rows, "CHUNK_ROWS", rng.choice([1, 3, 20, 10_000]))
    graph = rtbot.load(GRAPHS[name])
    keys = rng.sample([None, "", "a", "b", "é", "zz", "Z"], rng.randrange(1, 7))
    data = made(graph, rng, rng.choice([0, 1, 40, 120]), keys)
    right = local(graph, data)
    batches = list(rows.run_partition(work_of(graph, right.schema), sent(graph, data, rng)))
    assert all(batch.num_rows for batch in batches)
    work = work_of(graph, right.schema)
    given = pa.Table.from_batches(batches, work.schema)
    assert bits(given) == bits(right)
    by_key = {}
    for k, t in zip(given["k"].to_pylist(), given["t"].to_pylist(), strict=True):
        assert by_key.get(k, -(2**63)) < t
        by_key[k] = t


def test_an_error_names_key_time_and_input(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    graph = rtbot.load(GRAPHS["bands"])
    work = work_of(graph, pa.schema([("upper", pa.float64()), ("middle", pa.float64())]))
    twice = {"a": [("x", 1, 1.0), ("x", 1, 2.0)]}
    with pytest.raises(DataError) as caught:
        list(rows.run_partition(work, sent(graph, twice, random.Random(0))))
    assert (caught.value.code, caught.value.key, caught.value.time) == ("RT203", "x", 1)
    assert caught.value.input == "a"
