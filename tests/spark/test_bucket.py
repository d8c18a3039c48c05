"""A stream without Spark: micro-batches cut anywhere, the state saved and read again at each."""

import random

import numpy as np
import pyarrow as pa
import pytest

import rtbot
from rtbot.errors import CheckpointError, DataError
from spark_adapter import bucket
from spark_adapter.rows import Feed, Work

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
ARROW = {"number": pa.float64(), "integer": pa.int64(), "boolean": pa.bool_(), "text": pa.string()}
KEYS = {
    "text": (pa.string(), [None, "", "a", "b", "é", "zz", "Z"]),
    "integers": (pa.int64(), [None, 0, -5, 2**62, 7]),
}


def columns(graph, rows, key_type):
    """Rows (key, t, port, value) as one relation of all inputs."""
    made = {
        "k": pa.array([row[0] for row in rows], key_type),
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


def work_of(graph, key_type, layout="wide"):
    feeds = [Feed(n, f"v_{n}", place, sparse=False) for place, n in enumerate(graph.checked.inputs)]
    shape = graph.run({n: {"k": pa.array([], key_type), "t": [], "value": []} for n in
                       graph.checked.inputs}, key="k").to_arrow().schema
    kinds = {name: shape.field(name).type for name in shape.names if name not in ("k", "t")}
    for name, ref in graph.checked.outputs.items():
        of = graph.checked.inputs[ref.id].type if ref.id in graph.checked.inputs else None
        kinds[name] = ARROW[(of or graph.checked.nodes[ref.id].types[ref.port]).kind]
    schema = pa.schema([("k", key_type), ("t", pa.int64()), *kinds.items()])
    return Work(graph, ("k",), "t", tuple(feeds), schema, layout=layout, port="port")


def local(graph, rows, work):
    """The result of the whole rows in one keyed run."""
    rows = sorted(rows, key=lambda row: row[1])
    table = columns(graph, rows, work.schema.field("k").type)
    ran = graph.run(work.tables(table, keyed=True), key="k")
    return work.shaped(ran, None)


def cut(rng, rows, lateness):
    """Micro-batches of rows, at most `lateness` out of order, with the watermark of each."""
    order = sorted(rows, key=lambda row: row[1] + rng.uniform(0, lateness))
    newest = 0
    while order:
        size = rng.randrange(0, 12)
        batch, order = order[:size], order[size:]
        yield batch, newest - lateness - 1
        newest = max([newest, *(row[1] for row in batch)])
    yield [], newest - lateness - 1


def streamed(work, batches, split=bucket.Split(4)):  # noqa: B008 (it is frozen)
    """Run micro-batches as Spark would: a call only with rows, or when one is due."""
    key_type = work.schema.field("k").type
    parts, state, due = [], None, None
    for rows, until in batches:
        if not rows and (due is None or due > until):
            continue
        slice_ = bucket.resumed(work, split, state) if state else bucket.begun(work, split)
        parts.append(slice_.push(columns(work.graph, rows, key_type), until))
        state, due = slice_.state(), slice_.due()
        assert due is None or due > until
    if state:
        parts.append(bucket.resumed(work, split, state).finish())
    return parts


def bits(table):
    """The rows of a table, comparable to the last bit, in an order of their own."""

    def plain(value):
        return np.float64(value).tobytes() if isinstance(value, float) else value

    cells = [[plain(v) for v in table.column(n).to_pylist()] for n in sorted(table.column_names)]
    return sorted(zip(*cells, strict=True), key=repr)


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("name", GRAPHS)
def test_micro_batches_give_the_bits_of_a_local_run(name, keys, seed):
    rng = random.Random(f"{name} {keys} {seed}")
    graph = rtbot.load(GRAPHS[name])
    key_type, choices = KEYS[keys]
    work = work_of(graph, key_type, rng.choice(["wide", "wide", "long"]) if name != "kinds" else "wide")
    if work.layout == "long":
        head = list(work.schema)[:2]
        value = work.schema.field(2).type
        if len(set(work.schema.types[2:])) > 1:
            value = pa.string()
        work.__dict__["schema"] = pa.schema([*head, ("output", pa.string()), ("value", value)])
    chosen = rng.sample(choices, rng.randrange(1, len(choices) + 1))
    rows = made(graph, rng, rng.choice([0, 1, 40, 120]), chosen)
    parts = streamed(work, cut(rng, rows, rng.choice([0, 3, 30])))
    right = local(graph, rows, work)
    given = pa.concat_tables(parts) if parts else work.schema.empty_table()
    assert bits(given) == bits(right)
    newest = {}
    for part in parts:
        for key, time in zip(part["k"].to_pylist(), part["t"].to_pylist(), strict=True):
            assert newest.get(key, -(2**63)) < time or work.layout == "long"
            newest[key] = time
