"""Keys inside a key: places, what is given back, what is saved."""

import random

import numpy as np
import pytest

import rtbot
from rtbot.compiler.calls import SpaceLayout
from rtbot.core.modes import NEVER
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
