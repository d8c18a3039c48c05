"""Keys inside a key: places, what is given back, what is saved."""

import random

import numpy as np
import pytest

import rtbot
from rtbot.compiler.calls import SpaceLayout
from rtbot.core.modes import NEVER
from rtbot.operator import Duration, In, Operator, Out, Scalar, Space, step
from rtbot.runtime import inner_keys
from rtbot.runtime.inner_keys import InnerKeys, encode_keys
from rtbot.runtime.session_code import load_kernels

LAYOUT = SpaceLayout("n.held", "integer", [("value", "number", 0.0), ("known", "boolean", False)])
KERNELS = load_kernels(NEVER)
COUNT = """
inputs: {x: integer}
operators: {n: {type: MovingKeyCount, in: x, window: 4}}
outputs: [n]
"""
LOOKUP = """
inputs: {k: text, v: number, q: text}
operators: {n: {type: KeyedVariable, in: {key: k, value: v}, control: {query: q}}}
outputs: [n]
"""


def locate(space, slots, rows_of, *, create=True):
    starts = np.cumsum([0, *map(len, rows_of)])
    values = np.array([value for own in rows_of for value in own], np.int64)
    return space.locate(np.array(slots), (starts, values, None), create=create).tolist()


class Plain:
    """The same with a dictionary."""

    def __init__(self):
        self.known = {}

    def put(self, slot, key, value):
        self.known[slot, key] = value

    def close(self, slot):
        self.known = {pair: v for pair, v in self.known.items() if pair[0] != slot}


@pytest.mark.parametrize("seed", range(6))
def test_places_are_those_of_a_dictionary_whatever_is_closed_swept_and_saved(seed):
    rng = random.Random(seed)
    space, plain = InnerKeys(LAYOUT, KERNELS), Plain()
    space.grow(5)
    for _ in range(400):
        action = rng.random()
        slot = rng.randrange(5)
        if action < 0.05:
            space.clear(slot)
            plain.close(slot)
        elif action < 0.1:
            space.sweep()
        elif action < 0.15:
            saved = space.save(np.arange(5))
            space = InnerKeys(LAYOUT, KERNELS)
            space.grow(5)
            space.restore(*saved)
        keys = [rng.randrange(40) for _ in range(rng.randrange(6))]
        for key, place in zip(keys, locate(space, [slot], [keys]), strict=True):
            value = float(rng.choice([0, 0, rng.randrange(9)]))
            space.fields["value"][place] = value
            space.fields["known"][place] = value != 0
            plain.put(slot, key, value)
        for own in range(5):
            wanted = [*range(40)]
            places = locate(space, [own], [wanted], create=False)
            found = [space.fields["value"][p] if p >= 0 else 0.0 for p in places]
            assert found == [plain.known.get((own, key), 0.0) for key in wanted]


def test_one_call_serves_many_keys_of_the_session():
    space = InnerKeys(LAYOUT, KERNELS)
    space.grow(3)
    first = locate(space, [2, 0], [[7, 8, 7], [7]])
    assert first[0] == first[2]
    assert len({*first}) == 3
    assert locate(space, [0, 1, 2], [[7, 8], [7], [8, 7]], create=False) == [
        first[3], -1, -1, first[1], first[0]
    ]  # fmt: skip


def test_nan_is_a_key_and_zero_has_no_sign():
    words = encode_keys(np.array([0.0, -0.0, np.nan, -np.nan, 1.0]), "number")
    assert words[0] == words[1]
    assert words[2] == words[3]
    assert len({*words.tolist()}) == 3


def test_what_is_wrong_in_a_dump_is_refused():
    space = InnerKeys(LAYOUT, KERNELS)
    for place in locate(space, [0], [[1, 2]]):
        space.fields["value"][place] = 1.0
    values, arrays = space.save(np.zeros(1, np.int64))
    for name, wrong in (("place", [0, 0]), ("place", [-1, 0]), ("owner", [0, 9]), ("key", [1])):
        with pytest.raises(ValueError, match=r"place|owner|key"):
            InnerKeys(LAYOUT, KERNELS).restore(values, arrays | {name: np.array(wrong)})


def test_memory_is_that_of_what_is_in_the_window(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    session = rtbot.load(COUNT).start()
    for first in range(0, 20_000, 500):
        times = list(range(first, first + 500))
        out = session.push({"x": {"t": times, "value": times}})
        assert set(out["n"]["value"]) == {1}
    assert session.runner.spaces[0].room <= 2048
    assert len(session.dump()) < 4096


@pytest.mark.parametrize("seed", range(3))
def test_one_by_one_a_key_that_was_given_back_gets_a_place_of_its_own(monkeypatch, seed):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    rng = random.Random(seed)
    session, values = rtbot.load(COUNT).start(), []
    for time in range(600):
        values.append(rng.choice([rng.randrange(40), rng.randrange(10**9), *values[-3:]]))
        count = values[-4:].count(values[-1])
        assert session.push_one("x", time, values[-1]) == {"n": [(time, count)]}


def test_closed_keys_and_their_texts_are_given_back(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    session = rtbot.load(LOOKUP).start(key="site")
    for number in range(300):
        for name, value in (("k", f"a{number}"), ("v", 1.5), ("q", f"a{number}")):
            released = session.push_one(name, 1, value, key=number)
        assert released == {"n": [(number, 1, 1.5)]}
        assert session.push_one("k", 2, "a", key=number) == {}
        session.close_key(number)
    assert session.runner.spaces[0].room <= 4 * inner_keys.FEW
    session.push_one("k", 1, "a299", key=299)
    session.push_one("v", 1, float("nan"), key=299)
    assert session.push_one("q", 1, "a299", key=299) == {"n": [(299, 1, 0.0)]}


@pytest.mark.parametrize("limit", [1, 32])
def test_keys_may_be_computed(monkeypatch, limit):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    monkeypatch.setattr("rtbot.compiler.plan.SEGMENT_LIMIT", limit)
    graph = rtbot.load("""
inputs: {x: number}
operators:
  big: {type: GreaterThan, in: x, value: 1}
  step: floor(big / 10)
  n: {type: MovingKeyCount, in: step, window: 3}
  twice: n * 2
outputs: {n: n, twice: twice, big: big}
""")
    values = [5.0, 0.0, 12.0, 7.0, 9.0, -1.0, 11.0]
    session = graph.start()
    found = [session.push_one("x", t, v).get("twice") for t, v in enumerate(values)]
    assert found == [[(0, 2)], None, [(2, 2)], [(3, 4)], [(4, 4)], None, [(6, 2)]]
    result = graph.run({"x": {"t": list(range(7)), "value": values}})
    assert result["n"]["value"].tolist() == [1, 1, 2, 2, 1]


# ---- keys that are forgotten after a time

FORGET = """
inputs: {k: integer, v: number, q: integer}
operators:
  n: {type: KeyedVariable, in: {key: k, value: v}, control: {query: q}, ttl: 10, default_value: -1}
outputs: [n]
"""
LIVING = SpaceLayout("n.held", "integer", [("value", "number", 0.0), ("renewed", "integer", 0)], 10)
LEAST, MOST = -(2**63), 2**63 - 1


def answers(graph, pairs, queries, **options):
    times = [time for time, *_ in pairs]
    rows = {
        "k": {"t": times, "value": [key for _, key, _ in pairs]},
        "v": {"t": times, "value": [value for *_, value in pairs]},
        "q": {"t": [t for t, _ in queries], "value": [key for _, key in queries]},
    }
    session = rtbot.load(graph).start(**options)
    return [*session.push(rows)["n"]["value"].tolist(), *session.finish()["n"]["value"].tolist()]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_value_counts_for_so_long_and_is_renewed_by_the_next_one(compiled):
    pairs = [(1, 7, 1.5), (5, 8, 2.5), (9, 7, 3.5)]
    queries = [(10, 7), (11, 8), (14, 8), (15, 8), (18, 7), (19, 7), (20, 7)]
    found = answers(FORGET, pairs, queries, compiled=compiled)
    assert found == [3.5, 2.5, 2.5, -1.0, 3.5, -1.0, -1.0]


def test_a_key_without_a_value_renews_nothing(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    session = rtbot.load(FORGET).start()
    session.push({"k": {"t": [1, 9], "value": [7, 7]}, "v": {"t": [1, 20], "value": [1.5, 0.0]}})
    found = session.push({"q": {"t": [8, 9, 10, 11], "value": [7, 7, 7, 7]}})["n"]["value"]
    assert [*found, *session.finish()["n"]["value"]] == [1.5, 1.5, 1.5, -1.0]


@pytest.mark.parametrize("ttl", [1, 10, MOST])
def test_times_at_the_ends_of_int64(monkeypatch, ttl):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    times = [LEAST, LEAST + 1, LEAST + 10, -5, 5, MOST - 10, MOST - 1, MOST]
    graph = FORGET.replace("10", str(ttl))
    for start in times:
        for query in [t for t in times if t >= start]:
            found = answers(graph, [(start, 7, 1.5)], [(query, 7)])
            assert found == [1.5 if query - start < ttl else -1.0]


def test_memory_is_that_of_what_is_not_forgotten(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    session = rtbot.load(FORGET).start()
    for first in range(0, 20_000, 500):
        times = list(range(first, first + 500))
        session.push({"k": {"t": times, "value": times}})
        session.push({"v": {"t": times, "value": [1.5] * 500}})
        last = first + 499
        found = session.push({"q": {"t": [last - 1, last], "value": [last - 10, last - 9]}})
        assert found["n"]["value"].tolist() == [1.5, 1.5]
    assert session.runner.spaces[0].room <= 2048
    assert len(session.dump()) < 4096


@pytest.mark.parametrize("seed", range(4))
def test_what_is_swept_is_what_no_later_row_finds(seed):
    rng = random.Random(seed)
    space, renewed, now = InnerKeys(LIVING, KERNELS), {}, [0] * 3
    space.grow(3)
    for _ in range(600):
        slot, key = rng.randrange(3), rng.randrange(12)
        now[slot] += rng.randrange(4)
        (place,) = locate(space, [slot], [[key]])
        gone = now[slot] - renewed.get((slot, key), -100) >= 10
        assert gone or space.fields["value"][place] == key + 1
        space.fields["value"][place] = key + 1
        space.fields["renewed"][place] = renewed[slot, key] = now[slot]
        if rng.random() < 0.1:
            space.sweep()
            living = [pair for pair, time in renewed.items() if now[pair[0]] - time < 10]
            assert len(space.keys.find_open()) == len(living)
        if rng.random() < 0.05:
            saved = space.save(np.arange(3))
            assert len(saved[1]["place"]) == sum(now[s] - t < 10 for (s, _), t in renewed.items())
            space = InnerKeys(LIVING, KERNELS)
            space.grow(3)
            space.restore(*saved)


@pytest.mark.parametrize("compiled", [False, True])
def test_an_operator_of_ones_own_may_forget(compiled):
    class SinceForTest(Operator):
        ttl = Duration(required=False, minimum=1)
        i1 = In("T")
        o1 = Out("number")
        seen = Space(("i1",), {"high": Scalar("number", float("-inf"))}, ttl="ttl")
        step = count_up

    graph = {
        "inputs": {"x": "text"},
        "operators": {"n": {"type": "SinceForTest", "in": "x", "ttl": 5}},
        "outputs": ["n"],
    }
    session = rtbot.load(graph).start(compiled=compiled)
    rows = [(1, "a"), (2, "b"), (5, "a"), (7, "b"), (9, "a"), (14, "a"), (15, "b"), (16, "b")]
    found = [session.push_one("x", *row)["n"][0][1] for row in rows]
    assert found == [1.0, 1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0]
    graph["operators"]["n"].pop("ttl")
    session = rtbot.load(graph).start(compiled=compiled)
    found = [session.push_one("x", *row)["n"][0][1] for row in rows]
    assert found == [1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 3.0, 4.0]


@step
def count_up(seen_high, seen_i1):
    """How often a value was there; a value that was not is at minus infinity."""
    seen_high[seen_i1] = max(seen_high[seen_i1], 0.0) + 1.0
    return seen_high[seen_i1]
