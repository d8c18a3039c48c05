"""Faults found by attack in what moves, holds, compares and sums, and in headers of files."""

import random

import pyarrow as pa
import pytest

import rtbot

ECHO = {"inputs": {"x": "number"}, "operators": {"m": "x"}, "outputs": {"m": "m"}}


def load(**parts):
    return rtbot.load(ECHO | parts)


def released(result, name="m"):
    table = result[name]
    return [tuple(row) for row in zip(*(table[c].tolist() for c in table), strict=True)]


# ---- rows that wait under a lateness


class Model:
    """What a lateness of `d` does, in sets: late, duplicate, waiting, released."""

    def __init__(self, d):
        self.d, self.floor, self.newest, self.waiting = d, -(10**9), {}, set()

    def refuses(self, rows):
        newest, waiting = dict(self.newest), set(self.waiting)
        for key, time in rows:
            late = time < newest.get(key, -(10**9)) - self.d or time <= self.floor
            if not late and (key, time) in waiting:
                return True
            if not late:
                waiting.add((key, time))
            newest[key] = max(newest.get(key, time), time)
        self.proposed = newest, waiting
        return False

    def push(self, rows):
        self.newest, self.waiting = self.proposed
        return self.released({key for key, _ in rows})

    def released(self, keys):
        def until(key):
            return max(self.newest[key] - self.d - 1, self.floor)

        out = sorted((k, t) for k, t in self.waiting if k in keys and t <= until(k))
        self.waiting -= set(out)
        return out

    def advance(self, time):
        self.floor = max(self.floor, time)
        return self.released({key for key, _ in self.waiting})


def rows_of(result):
    return [(key, time) for key, time, _ in released(result)]


@pytest.mark.parametrize("seed", range(12))
def test_lateness_refuses_exactly_the_rows_that_wait_already_also_after_resume(seed):
    rng = random.Random(seed)
    graph = load(io={"lateness": 6, "late": "drop"})
    session, model, base = graph.start("k", compiled=False), Model(6), 0
    for _ in range(60):
        base += rng.choice([0, 0, 1, 3])
        count = rng.choice([1, 1, 2, 5, 40])
        rows = [(rng.randrange(4), base + rng.randrange(9 + count)) for _ in range(count)]
        rows = list(dict.fromkeys(rows)) if rng.random() < 0.7 else rows
        table = {"k": [k for k, _ in rows], "t": [t for _, t in rows], "value": [1.0] * count}
        table = {name: column[: len(rows)] for name, column in table.items()}
        if model.refuses(rows):
            before = session.dump()
            with pytest.raises(rtbot.DataError, match="a second message"):
                session.push({"x": table})
            assert session.dump() == before
        else:
            assert rows_of(session.push({"x": table})) == model.push(rows)
        if rng.random() < 0.2:
            at = base + rng.randrange(-4, 6)
            assert rows_of(session.advance(at)) == model.advance(at)
        if rng.random() < 0.2:
            session = graph.resume(session.dump(), compiled=False)
    assert rows_of(session.finish()) == sorted(model.waiting)


def test_a_row_that_waits_is_a_duplicate_after_resume():
    session = load(io={"lateness": 10}).start(compiled=False)
    session.push_one("x", 5, 1.0)
    session.push_one("x", 7, 1.0)
    session = load(io={"lateness": 10}).resume(session.dump(), compiled=False)
    for time in (5, 7):
        with pytest.raises(rtbot.DataError, match=f"a second message at t={time}"):
            session.push_one("x", time, 2.0)
    assert released(session.finish()) == [(5, 1.0), (7, 1.0)]


def test_a_closed_key_waits_for_nothing_and_a_new_one_in_its_slot_does():
    session = load(io={"lateness": 10}).start("k", compiled=False)
    session.push_one("x", 5, 1.0, key=1)
    assert rows_of(session.close_key(1)) == [(1, 5)]
    session.push_one("x", 5, 1.0, key=2)
    assert rows_of(session.advance(4)) == []
    assert rows_of(session.advance(5)) == [(2, 5)]


def test_keys_woken_are_those_whose_rows_an_advance_lets_go():
    session = load(io={"lateness": 100}).start("k", compiled=False)
    feed = session.input_ports["x"]
    for key in range(300):
        session.push_one("x", 1000 + key, 1.0, key=key)
        session.push_one("x", 990 + key, 1.0, key=key)
    assert feed.advance(989) == []
    assert sorted(feed.advance(995)) == list(range(6))
    assert feed.wakes.size <= 2 * 300


def test_the_heap_of_keys_to_wake_does_not_grow_with_keys_that_are_closed():
    session = load(io={"lateness": 100}).start("k", compiled=False)
    for key in range(1000):
        session.push_one("x", 1000 + key, 1.0, key=key)
        session.close_key(key)
    assert len(session.input_ports["x"].wakes.time) <= 128


def test_keys_that_were_closed_are_not_woken_when_the_room_for_keys_has_shrunk():
    session = load(io={"lateness": 100}).start("k", compiled=False)
    times, keys = [*range(1000, 6000)], [*range(5000)]
    session.push({"x": {"t": times, "k": keys, "value": [1.0] * 5000}})
    for key in keys:
        session.close_key(key)
    assert len(session.input_ports["x"].wakes.watched) == 1
    session.push_one("x", 7000, 1.0, key=3)
    assert released(session.advance(9000)) == [(3, 7000, 1.0)]


# ---- names of columns


def test_a_header_of_many_columns_is_read_in_one_pass(tmp_path):
    count = 60_000
    extra = [f"c{n}" for n in range(count)]
    path = tmp_path / "wide.csv"
    path.write_text("t,x," + ",".join(extra) + "\n1,2" + ",0" * count + "\n")
    assert released(load().run(path)) == [(1, 2.0)]
    table = pa.table([[1], [2.0], *[[0]] * 20_000], names=["t", "value", *extra[:20_000]])
    assert released(load().run({"x": table})) == [(1, 2.0)]


def test_the_first_name_that_comes_twice_is_named(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("t,b,a,x,a,b,,\n1,2,3,4,5,6,,\n")
    with pytest.raises(rtbot.DataError, match="two columns are named 'a'"):
        load().run(path)
    table = pa.table([[1], [2], [3], [4]], names=["t", "b", "value", "b"])
    with pytest.raises(rtbot.DataError, match="several columns named 'b'"):
        load().run({"x": table})
