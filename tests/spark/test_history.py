"""A stream that begins after a batch run: what both have counts once."""

import dataclasses
import random

import pyarrow as pa
import pytest

import rtbot
from rtbot.core.errors import DataError

pytest.importorskip("pyspark")

from spark_adapter import shard, shard_state
from spark_adapter.partition import InputColumn
from tests.spark.test_shard import GRAPHS, KEYS, bits, columns, local, made, work_of

SPLIT = shard_state.ShardLayout(4)


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


def after(work, history):
    """The state of a batch run over rows, and what it returned."""
    one = shard.start_shard(work, SPLIT)
    rows = columns(work.graph, sorted(history, key=lambda row: row[1]), *kinds(work))
    return one.take(rows), one.to_bytes()


def kinds(work):
    return [work.schema.field(name).type for name in work.keys]


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("keys", KEYS)
def test_a_stream_that_has_the_history_again_gives_the_bits_of_a_local_run(name, keys):
    rng = random.Random(f"{name} {keys}")
    graph = rtbot.load(GRAPHS[name])
    key_type, choices = KEYS[keys]
    work = work_of(graph, key_type)
    rows = made(graph, rng, 80, choices)
    history, again = ([row for row in rows if low <= row[1] < 30] for low in (0, 15))
    rest = [row for row in rows if row[1] >= 30]
    before, state = after(work, history)
    parts, late = [before], 0
    order = sorted([*again, *rest], key=lambda row: row[1] + rng.randint(0, 3))
    for start in range(0, len(order), 20):
        one = shard.resume_shard(work, SPLIT, state)
        given = order[start : start + 20]
        parts.append(one.push(columns(graph, given, key_type), max(row[1] for row in given) - 4))
        late += one.late
        state = one.to_bytes()
    parts.append(shard.resume_shard(work, SPLIT, state).finish())
    assert late == len(again) > 0
    assert bits(pa.concat_tables(parts)) == bits(local(work, rows, key_type))


HISTORY = [("x", 1, 0, 1.0), ("x", 5, 0, 5.0), ("y", 2, 0, 2.0), (None, 4, 0, 4.0)]
CASES = {
    "the newest row of a key": (("x", 5), 1),
    "an older one": (("x", 3), 1),
    "the newest row of a key that ended earlier": (("y", 2), 1),
    "of the null key": ((None, 4), 1),
    "a row after the newest of its key": (("y", 3), 0),
    "a key that the history has not": (("z", 1), 0),
}


@pytest.mark.parametrize(("row", "late"), CASES.values(), ids=CASES)
def test_rows_not_after_the_history_of_their_key_are_late(row, late):
    work = work_of(rtbot.load(GRAPHS["one output"]), pa.string())
    one = shard.resume_shard(work, SPLIT, after(work, HISTORY)[1])
    one.push(columns(work.graph, [(*row, 0, 9.0)], pa.string()), -(2**63))
    assert one.late == late
    assert (one.waiting is None) == bool(late)


def test_of_a_row_of_two_inputs_only_what_the_history_had_is_left_out():
    graph = rtbot.load("inputs: {a: number, b: number}\noutputs: [a, b]\n")
    relation = work_of(graph, pa.string())
    work = dataclasses.replace(
        relation, port=None, feeds=(InputColumn("a", "v_a"), InputColumn("b", "v_b"))
    )
    known = [{"k": "x", "t": 1, "v_a": 1.0, "v_b": 1.0}, {"k": "x", "t": 2, "v_a": 2.0}]
    schema = columns(graph, [], pa.string()).drop_columns(["port"]).schema
    one = shard.start_shard(work, SPLIT)
    parts = [one.take(pa.Table.from_pylist(known, schema))]
    one = shard.resume_shard(work, SPLIT, one.to_bytes())
    again = [known[0], {"k": "x", "t": 2, "v_a": 7.0, "v_b": 2.0}]
    parts += [one.push(pa.Table.from_pylist(again, schema), 5)]
    assert one.late == 3
    parts += [one.finish()]
    found = [tuple(row.values()) for row in pa.concat_tables(parts).to_pylist()]
    assert found == [("x", 1, 1.0, 1.0), ("x", 2, 2.0, 2.0)]


def test_a_row_that_is_late_beyond_the_history_is_an_error_as_ever():
    work = work_of(rtbot.load(GRAPHS["one output"]), pa.string())
    one = shard.resume_shard(work, SPLIT, after(work, HISTORY)[1])
    one.push(columns(work.graph, [("y", 20, 0, 1.0)], pa.string()), 20)
    with pytest.raises(DataError, match="t=19 is late: the watermark has passed t=20"):
        one.push(columns(work.graph, [("y", 19, 0, 1.0)], pa.string()), 20)
