"""LookupJoin against versions in plain lists: random rows, faults, transactions taken back."""

import random
from collections import Counter

import numpy as np
import pytest

import rtbot
from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from rtbot.relations.deltas import Deltas
from rtbot.relations.kernels import join_output
from rtbot.relations.looked_up import LookedUpOperator
from rtbot.relations.region_code import CHANGE_LOOPS
from rtbot.tables.hash_tables import ROWS
from rtbot.tables.string_dictionary import StringDictionary
from tests.relations_oracle import MOST, decode, encode, identify, make_plan, make_schema

INTERPRETED = CHANGE_LOOPS.load("never")
LEFT, RIGHT = make_schema(["integer?", "text?"]), make_schema(["text?", "number?"])
RIGHTS = [(key, value) for key in (None, "", "a") for value in (None, -0.0, float("nan"))]
LEFTS = [(number, key) for number in (None, 1) for key in (None, "", "a", "b")]


class Versions:
    """The oracle: right rows, and for every left row what each copy was given."""

    def __init__(self, how):
        self.pads, self.right, self.left = how == "left", Counter(), {}

    def take(self, left, right):
        made = Counter()
        for row, weight in right:
            self.right[row] += weight
        net = Counter()
        for row, weight in left:
            net[row] += weight
        for row, weight in net.items():
            copies = self.left.setdefault(row, [])
            for _ in range(abs(weight)):
                given = self.look_up(row) if weight > 0 else copies.pop()
                if weight > 0:
                    copies.append(given)
                for pair, count in given.items():
                    made[pair] += count if weight > 0 else -count
        return Counter({pair: count for pair, count in made.items() if count})

    def look_up(self, row):
        found = {
            (*row, *other): count
            for other, count in self.right.items()
            if count and row[1] is not None and row[1] == other[0]
        }
        return found or ({(*row, None, None): 1} if self.pads else {})


def make_operator(how, texts, kernels=INTERPRETED):
    fields = [*LEFT, *RIGHT]
    output = Schema(
        tuple(Field(f"o{n}", Type(f.type.kind, nullable=True)) for n, f in enumerate(fields))
    )
    node = ("j", "looked up", (0, 1), 2, {"how": how, "on": ((1, 0),)})
    plan = make_plan([node], [("l", {}), ("r", {})], [LEFT, RIGHT, output], {"o": 2})
    return LookedUpOperator(plan.nodes[0], plan, kernels, None, texts), output


def draw(rng, there, rows, count):
    """Changes of one transaction, some of which cancel each other."""
    changes = []
    for _ in range(rng.randint(0, count)):
        known = [row for row in there if there[row] > 0]
        row = rng.choice(known) if known and rng.random() < 0.5 else rng.choice(rows)
        weight = -rng.randint(1, there[row]) if there[row] and rng.random() < 0.6 else 1
        there[row] += weight
        changes.append((row, weight))
    return changes


def net(transaction):
    found = Counter()
    for row, weight in transaction:
        found[row] += weight
    return Counter({row: weight for row, weight in found.items() if weight})


@pytest.mark.parametrize("how", ["inner", "left"])
def test_left_rows_keep_what_they_were_given(how):
    for seed in (0, 1, 2, 3, 112):
        rng, texts = random.Random(f"{how}/{seed}"), StringDictionary()
        operator, output = make_operator(how, texts)
        oracle, there = Versions(how), (Counter(), Counter())
        for _ in range(8):
            sides = [
                [draw(rng, own, rows, 5) for _ in range(4)]
                for own, rows in zip(there, (LEFTS, RIGHTS), strict=True)
            ]
            given = [encode(side, s, texts) for side, s in zip(sides, (LEFT, RIGHT), strict=True)]
            first, fault = operator.run(given)
            assert fault is None
            back = rng.randint(0, 4)
            if back:
                last = [deltas.cut(4 - back, 4) for deltas in given]
                operator.take_back(last)
                again, _ = operator.run(last)
                redone = [net(one) for one in decode(again, output, texts)]
                assert redone == [net(one) for one in decode(first, output, texts)][4 - back :]
            if rng.random() < 0.3:
                _, arrays = operator.save()
                operator.restore({}, arrays)
            found = [net(one) for one in decode(first, output, texts)]
            rights = [oracle.take(*pair) for pair in zip(*sides, strict=True)]
            assert found == [
                Counter({identify(row): n for row, n in one.items()}) for one in rights
            ]


def test_too_many_copies_of_a_pair_are_bad_and_leave_nothing_behind():
    texts = StringDictionary()
    operator, _ = make_operator("inner", texts)
    left = encode([[((1, "a"), 3)], [((1, "a"), MOST - 2)], [((1, "a"), -3)]], LEFT, texts)
    right = encode([[(("a", 1.0), 1)], [(("a", 1.0), 1)], []], RIGHT, texts)
    made, fault = operator.run([left, right])
    assert (len(made.starts) - 1, fault.transaction, fault.code) == (1, 1, "RT404")
    made, fault = operator.run([d.cut(2, 3) for d in (left, right)])
    assert (fault, made.weights.tolist()) == (None, [-3])


def test_too_many_rows_of_a_transaction_are_bad():
    texts = StringDictionary()
    operator, _ = make_operator("inner", texts)
    operator.rules[join_output.ROWS_MOST] = 2
    right = encode([[(("a", float(n)), 1) for n in range(3)]], RIGHT, texts)
    _, fault = operator.run([encode([[((1, "a"), 1)]], LEFT, texts), right])
    assert fault.code == "RT403"


@pytest.mark.parametrize("spoil", ["left.given", "given.sizes", "right.counts"])
def test_a_dump_that_does_not_fit_is_refused(spoil):
    texts = StringDictionary()
    operator, _ = make_operator("inner", texts)
    operator.run(
        [encode([[((1, "a"), 1)]], LEFT, texts), encode([[(("a", 1.0), 1)]], RIGHT, texts)]
    )
    _, arrays = operator.save()
    with pytest.raises(ValueError, match=r"given|count"):
        operator.restore({}, arrays | {spoil: arrays[spoil] - 2})


def test_nothing_is_a_transaction():
    operator, _ = make_operator("left", StringDictionary())
    empty = [Deltas(np.zeros(2, np.int64), np.empty((0, s.width), np.int64), np.empty(0, np.int64))
             for s in (LEFT, RIGHT)]  # fmt: skip
    made, fault = operator.run(empty)
    assert (len(made), len(made.starts), fault) == (0, 2, None)


def test_a_graph_looks_up_what_is_there_at_the_time():
    graph = rtbot.load("""
      inputs:
        trades: {changes: {id: integer, cur: text}, unique: [id]}
        rates: {changes: {cur: text, rate: number}, unique: [cur]}
      operators:
        o: {type: LookupJoin, in: [trades, rates], on: [cur], how: left}
      outputs: [o]
    """)
    rate = [{"cur": "CHF", "rate": 2.0}, {"cur": "CHF", "rate": 3.0}]
    trade = [{"id": 1, "cur": "CHF"}, {"id": 2, "cur": "EUR"}]
    table = graph.run({
        "trades": [[1, 1, trade[0]], [2, 1, trade[1]], [4, -1, trade[0]], [5, 1, trade[0]]],
        "rates": [[1, 1, rate[0]], [3, 1, rate[1]]],
    })["o"]  # fmt: skip
    assert graph.checked.nodes["o"].types["o1"].schema.unique == (("id",),)
    rows = zip(*(table[n].tolist() for n in ("t", "weight", "id", "rate")), strict=True)
    assert [row if row[2] != 2 else row[:3] for row in rows] == [
        (1, 1, 1, 2.0), (2, 1, 2), (4, -1, 1, 2.0), (5, 1, 1, 3.0),
    ]  # fmt: skip


def is_same(one, other):
    return all((one[name] == other[name]).all() for name in one)


def encode_pair(left, right, texts):
    return [encode([left], LEFT, texts), encode([right], RIGHT, texts)]


@pytest.mark.parametrize("how", ["inner", "left"])
def test_what_is_bad_or_taken_back_leaves_nothing_and_what_is_gone_has_no_memory(how):
    rng, texts = random.Random(how), StringDictionary()
    operator, _ = make_operator(how, texts)
    operator.rules[join_output.ROWS_MOST] = 12
    there, bad = (Counter(), Counter()), 0
    for _ in range(150):
        before = operator.save()[1]
        counts = [Counter(own) for own in there]
        sides = [draw(rng, o, rows, 4) for o, rows in zip(there, (LEFTS, RIGHTS), strict=True)]
        if rng.random() < 0.3:
            side = rng.randrange(2)
            row = rng.choice((LEFTS, RIGHTS[3:])[side])
            sides[side].append((row, -rng.choice([5, MOST])))
            there[side][row] += sides[side][-1][1]
        given = encode_pair(*sides, texts)
        _, fault = operator.run(given)
        bad += fault is not None
        if fault is None and rng.random() < 0.8:
            continue
        if fault is None:
            operator.take_back(given)
        there = counts
        operator.run(encode_pair([], [], texts))
        assert is_same(operator.save()[1], before)
    assert bad > 20
    gone = [[(row, -count) for row, count in own.items() if count] for own in there]
    operator.rules[join_output.ROWS_MOST] = 10**6
    _, fault = operator.run(encode_pair(*gone, texts))
    assert fault is None
    operator.run(encode_pair([], [], texts))
    stores = operator.left, operator.right, operator.keys
    assert [*map(len, stores), int(operator.pool[ROWS])] == [0, 0, 0, 1]


def test_a_left_row_keeps_right_rows_that_are_gone_and_versions_share_them():
    texts = StringDictionary()
    operator, output = make_operator("inner", texts)
    operator.run(encode_pair([((1, "a"), 1), ((None, "a"), 2)], [(("a", 1.0), 1)], texts))
    nodes = int(operator.pool[ROWS])
    operator.run(encode_pair([], [(("a", 1.0), -1), (("a", 2.0), 3)], texts))
    operator.run(encode_pair([((1, "a"), 1)], [], texts))
    assert int(operator.pool[ROWS]) == nodes + 3
    _, arrays = operator.save()
    operator.restore({}, arrays)
    made, fault = operator.run(encode_pair([((1, "a"), -2), ((None, "a"), -2)], [], texts))
    assert fault is None
    [found] = [net(one) for one in decode(made, output, texts)]
    rows = {(1, "a", "a", 2.0): -3, (1, "a", "a", 1.0): -1, (None, "a", "a", 1.0): -2}
    assert found == {identify(row): count for row, count in rows.items()}
