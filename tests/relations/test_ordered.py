"""Operators over rows in an order: random graphs, what few changes make, what is refused."""

import random
from collections import Counter

import numpy as np
import pytest

import rtbot
from rtbot.graph.stages import split_stages
from rtbot.relations import ordered_store
from rtbot.relations.deltas import Deltas
from rtbot.relations.region import Region
from rtbot.relations.region_writer import write_region
from rtbot.tables.string_dictionary import StringDictionary
from tests.join_trials import check_join
from tests.order_trials import OrderCase
from tests.relations_oracle import encode


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_random_graphs_are_as_recomputed(first):
    for number in range(first, first + 8):
        check_join(number, make=OrderCase)


def test_small_nodes_little_room_and_rows_that_are_put_in_order(monkeypatch):
    monkeypatch.setattr(ordered_store, "ARRANGED", 2)
    monkeypatch.setattr(ordered_store, "FAN_OUT", 4)
    monkeypatch.setattr(ordered_store, "ROOM_AT_FIRST", 1)
    monkeypatch.setattr(ordered_store, "LOADED_AT_ONCE", 1)
    for number in range(1000, 1006):
        check_join(number, make=OrderCase)


def make_region(operator, fields="id: integer, x: integer", inputs=("r",), **io):
    lines = ["inputs:", *(f"  {name}: {{changes: {{{fields}}}}}" for name in inputs)]
    lines += ["operators:", f"  o: {{{operator}}}", "outputs: [o]", ""]
    if io:
        lines.insert(0, f"io: {{{', '.join(f'{name}: {value}' for name, value in io.items())}}}")
    checked = rtbot.load("\n".join(lines)).checked
    (stage,) = split_stages(checked, checked.outputs)
    return Region(write_region(stage, checked), StringDictionary(), "never")


def close(region, *given):
    """Take one transaction of (row, weight) for every input."""
    sources = [source.name for source in region.plan.sources]
    inputs = {
        name: encode([changes], region.plan.streams[k], region.texts)
        for k, (name, changes) in enumerate(zip(sources, given, strict=True))
    }
    return region.close(np.array([1]), inputs)


def count_raw(region, *given):
    """The rows that the operator makes of a transaction, before they are netted."""
    before = region.counts["o"].rows_out
    closed = close(region, *given)
    assert closed.fault is None
    return region.counts["o"].rows_out - before, len(closed.outputs["o"])


@pytest.mark.parametrize("parameters", ["", ", number: n", ", ties: true", ", offset: 40"])
def test_one_change_makes_few_rows(parameters):
    dice = random.Random(3)
    region = make_region(f"type: TopRows, in: r, order: [x], k: 20{parameters}")
    rows = [(number, dice.randrange(10**6)) for number in range(200)]
    close(region, [(row, 1) for row in rows])
    for row in dice.sample(rows, 20):
        raw, net = count_raw(region, [(row, -1)])
        assert raw <= net + 1
        new = (row[0], dice.randrange(10**6))
        raw, net = count_raw(region, [(new, 1)])
        assert raw <= net + 1
        raw, net = count_raw(region, [(new, -1), (row, 1)])
        assert raw <= 2 * net + 4


def test_a_large_first_transaction_makes_the_first_rows_alone():
    region = make_region("type: TopRows, in: r, order: [-x], k: 3, offset: 2")
    rows = [((number, number), 1) for number in range(400)]
    random.Random(1).shuffle(rows)
    assert count_raw(region, rows) <= (10, 3)
    assert count_raw(region, [(row, -1) for row, _ in rows]) <= (10, 3)


def test_a_late_right_row_changes_the_left_rows_it_is_nearest_to():
    region = make_region("type: AsOfJoin, in: [l, r], on: [id], match: [x]", inputs=("l", "r"))
    close(region, [((1, 2 * x), 1) for x in range(100)], [((1, 1), 1), ((1, 101), 1)])
    raw, net = count_raw(region, [], [((1, 91), 1)])
    assert raw == net == 2 * 5
    raw, net = count_raw(region, [], [((1, 91), -1), ((1, 89), 1)])
    assert raw == net == 2 * 6
    raw, net = count_raw(region, [((1, 90), -1)], [((1, 89), -1)])
    assert raw == net == 2 * 6 - 1


def test_pairs_within_an_interval_are_as_many_as_there_are():
    operator = (
        "type: IntervalJoin, in: [l, r], on: [id], match: [x], lower: -4, upper: 0, how: left"
    )
    region = make_region(operator, inputs=("l", "r"))
    close(region, [((1, x), 1) for x in range(0, 200, 2)], [((1, 50), 1)])
    raw, net = count_raw(region, [], [((1, 51), 1)])
    assert (raw, net) == (2, 2)
    raw, net = count_raw(region, [], [((1, 50), -1), ((1, 51), -1)])
    assert (raw, net) == (5 + 3, 5 + 3)


@pytest.mark.parametrize(
    ("operator", "given"),
    [
        ("type: TopRows, in: l, order: [x], k: 9, number: n", [[((1, x), 1) for x in range(9)]]),
        (
            "type: AsOfJoin, in: [l, r], on: [id], match: [x]",
            [[((1, x), 1) for x in range(9)], [((1, 0), 1)]],
        ),
        (
            "type: IntervalJoin, in: [l, r], on: [id], match: [x], lower: -9, upper: 9",
            [[((1, x), 1) for x in range(3)], [((1, x), 1) for x in range(3)]],
        ),
    ],
)
def test_too_many_rows_of_one_transaction(operator, given):
    inputs = ("l", "r")[: len(given)]
    region = make_region(operator, inputs=inputs, max_delta_rows=8)
    closed = close(region, *given)
    assert (closed.taken, closed.fault.fault.code) == (0, "RT403")
    small = [changes[:2] for changes in given]
    assert close(region, *small).fault is None
    fresh = make_region(operator, inputs=inputs, max_delta_rows=8)
    close(fresh, *small)
    assert list_saved(region) == list_saved(fresh)


def list_saved(region):
    return [array.tolist() for array in region.save()[1].values()]


def test_a_delete_too_many_names_the_row():
    region = make_region("type: TopRows, in: r, order: [-x], k: 1")
    close(region, [((1, 5), 1)])
    closed = close(region, [((2, 6), -1), ((1, 7), 1), ((1, 4), -1)])
    bad = closed.fault
    assert (bad.fault.code, bad.operator, bad.row) == ("RT401", "r", {"id": 1, "x": 4})
    assert close(region, [((1, 5), -1)]).fault is None


def test_all_at_once_is_as_one_by_one():
    dice = random.Random(11)
    changes, there = [], Counter()
    for _ in range(300):
        row = (dice.randrange(30), dice.randrange(30))
        weight = -1 if there[row] and dice.random() < 0.5 else 1
        there[row] += weight
        changes.append((row, weight))
    one = make_region("type: TopRows, in: r, by: [id], order: [x], k: 2")
    other = make_region("type: TopRows, in: r, by: [id], order: [x], k: 2")
    whole = encode([[change] for change in changes], one.plan.streams[0], one.texts)
    closed = one.close(np.arange(300), {"r": whole})
    parts = [
        other.close(np.array([k]), {"r": whole.cut(k, k + 1)}).outputs["o"] for k in range(300)
    ]
    words = np.concatenate([part.words for part in parts])
    assert (closed.outputs["o"].words == words).all()
    assert list_saved(one) == list_saved(other)
    one.steps[-1].operator.take_back([Deltas(whole.starts[[0, -1]], whole.words, whole.weights)])
    assert len(one.steps[-1].operator.store) == 0
