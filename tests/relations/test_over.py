"""Window functions at work: what they give, what they pass, what they refuse."""

import math
import sys

import numpy as np
import pytest

from rtbot.operator.declarations import Type
from rtbot.relations import ordered_store
from rtbot.relations.deltas import Deltas
from rtbot.tables.string_dictionary import StringDictionary
from tests.group_trials import canonical, decode, encode, make_deltas
from tests.over_trials import count_rows, make_operator, run_trial, snapshot

INTEGER, NUMBER, TEXT = Type("integer"), Type("number"), Type("text")
TO_PEERS, TO_ROW, WHOLE = ("range", None, 0), ("rows", None, 0), ("rows", None, None)
TOP = 2**63 - 1


def run(operator, texts, *transactions):
    """The net changes of every transaction, as Python's values."""
    deltas = make_deltas(operator.layout.source, transactions, texts)
    out, fault = operator.run([deltas])
    assert fault is None
    return count_rows(operator, out, texts)


def results(types, order, frame, item, rows):
    """What one function gives for every row, all rows being one partition."""
    texts = StringDictionary()
    operator = make_operator(types, (), order, frame, (item,), texts=texts)
    out, fault = operator.run(
        [make_deltas(operator.layout.source, [[(row, 1) for row in rows]], texts)]
    )
    assert fault is None
    found = dict.fromkeys(map(canonical, rows))
    for row in decode(operator.layout.target, out.words, texts):
        found[canonical(row[:-1])] = row[-1]
    return [found[canonical(row)] for row in rows]


DAYS = [(1, 10), (2, 20), (2, 30), (4, 40)]


@pytest.mark.parametrize(
    ("frame", "item", "expected"),
    [
        (TO_PEERS, ("number", None, 0, None), [1, 2, 3, 4]),
        (TO_PEERS, ("rank", None, 0, None), [1, 2, 2, 4]),
        (TO_PEERS, ("dense_rank", None, 0, None), [1, 2, 2, 3]),
        (TO_PEERS, ("lag", 1, 1, None), [None, 10, 20, 30]),
        (TO_PEERS, ("lead", 1, 2, -1), [30, 40, -1, -1]),
        (TO_PEERS, ("sum", 1, 0, None), [10, 60, 60, 100]),
        (TO_ROW, ("sum", 1, 0, None), [10, 30, 60, 100]),
        (WHOLE, ("sum", 1, 0, None), [100] * 4),
        (TO_PEERS, ("last", 1, 0, None), [10, 30, 30, 40]),
        (TO_ROW, ("last", 1, 0, None), [10, 20, 30, 40]),
        (WHOLE, ("last", 1, 0, None), [40] * 4),
        (TO_PEERS, ("first", 1, 0, None), [10] * 4),
        (TO_PEERS, ("avg", 1, 0, None), [10.0, 20.0, 20.0, 25.0]),
        (("rows", -1, 1), ("sum", 1, 0, None), [30, 60, 90, 70]),
        (("rows", -3, -2), ("max", 1, 0, None), [None, None, 10, 20]),
        (("rows", 1, 2), ("count", None, 0, None), [2, 2, 1, 0]),
        (("rows", 0, None), ("min", 1, 0, None), [10, 20, 30, 40]),
    ],
)
def test_functions_and_frames(frame, item, expected):
    assert results([INTEGER, INTEGER], ((0, False),), frame, item, DAYS) == expected


@pytest.mark.parametrize(
    ("values", "function", "expected"),
    [
        ([0.1, 0.2, 0.3], "sum", [0.1, 0.1 + 0.2, 0.6]),
        ([1e16, 1.0, -1e16], "sum", [1e16, 1e16, 1.0]),
        ([1e300, 1e-300, -1e300], "sum", [1e300, 1e300, 1e-300]),
        ([math.inf, 1.0, -math.inf], "sum", [math.inf, math.inf, math.nan]),
        ([1.0, math.nan, 2.0], "max", [1.0, math.nan, math.nan]),
        ([1.7e308, 1.7e308, -1.7e308], "avg", [1.7e308, 1.7e308, 1.7e308 / 3]),
    ],
)
def test_sums_are_exact(values, function, expected):
    rows = [(n, value) for n, value in enumerate(values)]
    found = results([INTEGER, NUMBER], ((0, False),), TO_ROW, (function, 1, 0, None), rows)
    assert list(map(repr, found)) == list(map(repr, expected))


def test_descending_texts_have_nulls_last():
    rows = [("a",), (None,), ("é",), ("b",)]
    found = results([Type("text", True)], ((0, True),), TO_PEERS, ("number", None, 0, None), rows)
    assert found == [3, 4, 1, 2]


def test_copies_are_rows():
    texts = StringDictionary()
    items = (("number", None, 0, None), ("lag", 0, 1, None), ("sum", 0, 0, None))
    operator = make_operator([INTEGER], (), ((0, False),), TO_ROW, items, texts=texts)
    (found,) = run(operator, texts, [((5,), 3)])
    assert found == {
        canonical((5, 1, None, 5)): 1,
        canonical((5, 2, 5, 10)): 1,
        canonical((5, 3, 5, 15)): 1,
    }


LAST = 9_999


def make_long(items, frame=TO_PEERS, length=100):
    """Two partitions of so many rows: (partition, time, value)."""
    texts = StringDictionary()
    operator = make_operator(
        [INTEGER, INTEGER, INTEGER], (0,), ((1, False),), frame, items, texts=texts
    )
    words = np.array([(n % 2, n, n % 7) for n in range(2 * length)], np.int64)
    operator.run([Deltas(np.array([0, len(words)]), words, np.ones(len(words), np.int64))])
    operator.visited = 0
    return operator, texts


def test_lag_and_lead_touch_neighbours_alone():
    operator, texts = make_long((("lag", 2, 1, None), ("lead", 2, 2, None)), length=1000)
    changes = [((0, 1000, 1000 % 7), -1)], [((1, 501, 9), 1)], [((0, LAST, 3), 1)]
    found = run(operator, texts, *changes)
    assert [len(rows) for rows in found] == [7, 7, 3]
    assert operator.visited <= 12


@pytest.mark.parametrize("function", ["number", "rank", "dense_rank", "sum", "avg", "min", "count"])
def test_a_row_at_the_end_of_a_partition_costs_little(function):
    place = None if function in ("number", "rank", "dense_rank") else 2
    operator, texts = make_long(((function, place, 0, None),))
    (found,) = run(operator, texts, [((1, LAST, 3), 1)])
    assert len(found) == 1
    assert operator.visited <= 2


def test_what_is_the_same_again_ends_the_way():
    operator, texts = make_long((("number", None, 0, None), ("sum", 2, 0, None)))
    (found,) = run(operator, texts, [((0, 100, 100 % 7), -1), ((0, 101, 100 % 7), 1)])
    assert len(found) == 2
    assert operator.visited <= 4


def test_a_sum_of_a_partition_that_stays_is_not_emitted():
    operator, texts = make_long((("max", 2, 0, None),), WHOLE)
    (found,) = run(operator, texts, [((0, LAST, 1), 1)])
    assert len(found) == 1


def count_calls(operator, texts, changes):
    """How many functions of the loop a transaction calls, of which each goes through few rows."""
    calls = []
    sys.setprofile(lambda _, event, __: calls.append(1) if event == "call" else None)
    try:
        run(operator, texts, changes)
    finally:
        sys.setprofile(None)
    return len(calls)


@pytest.mark.parametrize(
    "function", ["sum", "avg", "min", "max", "count", "first", "last", "lag", "lead"]
)
def test_a_wide_frame_costs_what_its_rows_do(function):
    costs = []
    for half in (10, 100):
        items = ((function, 2, half, None),)
        operator, texts = make_long(items, ("rows", -half, half), length=300)
        costs.append(count_calls(operator, texts, [((1, 300, 3), 1)]))
        assert operator.visited <= 2 * half + 2
    assert costs[1] < 15 * costs[0]


def test_an_overflow_is_a_fault_that_names_the_row_and_leaves_nothing():
    texts = StringDictionary()
    items = (("sum", 1, 0, None),)
    operator = make_operator([INTEGER, INTEGER], (0,), ((1, True),), TO_PEERS, items, texts=texts)
    source = operator.layout.source
    run(operator, texts, [((1, TOP), 1)])
    known = snapshot(operator)
    transactions = [((2, 5), 1)], [((1, 7), 1), ((3, 3), 1)], []
    out, fault = operator.run([make_deltas(source, transactions, texts)])
    assert (fault.transaction, fault.code) == (1, "RT213")
    assert fault.message == "the sum c0 is beyond 64 bits"
    assert decode(source, fault.words.reshape(1, -1), texts) == [(1, 7)]
    assert decode(operator.layout.target, out.words, texts) == [(2, 5, 5)]
    operator.take_back([make_deltas(source, transactions[:1], texts)])
    assert snapshot(operator) == known


def test_more_rows_than_there_may_be_are_a_fault():
    texts = StringDictionary()
    items = (("number", None, 0, None),)
    operator = make_operator([INTEGER], (), ((0, False),), TO_PEERS, items, texts=texts)
    operator.most = 100
    run(operator, texts, [((5,), 90)])
    known = snapshot(operator)
    _, fault = operator.run([make_deltas(operator.layout.source, [[((1,), 60)]], texts)])
    assert (fault.code, snapshot(operator)) == ("RT403", known)


def test_more_deletes_than_rows_are_a_fault():
    texts = StringDictionary()
    items = (("rank", None, 0, None),)
    operator = make_operator([INTEGER], (), ((0, False),), TO_PEERS, items, texts=texts)
    run(operator, texts, [((5,), 1)])
    known = snapshot(operator)
    _, fault = operator.run([make_deltas(operator.layout.source, [[((5,), -2)]], texts)])
    assert (fault.code, fault.words.tolist(), snapshot(operator)) == ("RT401", [5], known)


def test_a_default_may_be_a_text_that_no_row_has():
    texts = StringDictionary()
    items = (("lag", 0, 1, "none"),)
    operator = make_operator([TEXT], (), ((0, False),), TO_PEERS, items, texts=texts)
    run(operator, texts, [(("x",), 1)])
    texts.keep(operator.list_text_codes())
    (found,) = run(operator, texts, [(("y",), 1), (("x",), -1)])
    assert found == {canonical(("x", "none")): -1, canonical(("y", "none")): 1}


def test_a_saved_state_goes_on():
    items = (("sum", 1, 0, None), ("dense_rank", None, 0, None))
    shape = [INTEGER, NUMBER], (), ((0, False),), TO_PEERS, items
    texts = StringDictionary()
    operator, twin = make_operator(*shape, texts=texts), make_operator(*shape, texts=texts)
    run(operator, texts, [((n, 0.1 * n), 1) for n in range(5)], [((9, math.nan), 1)])
    twin.restore(*operator.save())
    last = [((3, 0.3), 1), ((9, math.nan), -1)]
    assert run(twin, texts, last) == run(operator, texts, last)
    assert encode(operator.layout.source, [(0, 0.0)], texts).shape == (1, 2)


@pytest.mark.parametrize("seed", range(16))
def test_random_transactions_equal_a_naive_evaluator(seed, monkeypatch):
    monkeypatch.setattr(ordered_store, "ARRANGED", 2)
    run_trial(seed, transactions=6)
