"""Grouped rows: small tables with the right answers, and random trials against a naive bag."""

import math
from collections import Counter

import numpy as np
import pytest

from rtbot.operator.declarations import Type
from rtbot.relations.deltas import Deltas
from rtbot.tables.string_dictionary import StringDictionary
from tests.group_trials import (
    decode,
    encode,
    list_output,
    make_deltas,
    make_operator,
    run_trial,
    snapshot,
)

INTEGER, NUMBER, TEXT, BOOLEAN = map(Type, ("integer", "number", "text", "boolean"))
TOP, LOWEST = 2**63 - 1, -(2**63)


def run(types, by, compute, *transactions):
    """The changes of every transaction as (row, weight), deletes first; all is taken at once."""
    texts = StringDictionary()
    operator = make_operator(types, by, compute, texts=texts)
    out, fault = operator.run([make_deltas(operator.layout.source, transactions, texts)])
    assert fault is None
    rows = decode(operator.layout.target, out.words, texts)
    changes = list(zip(rows, out.weights.tolist(), strict=True))
    found = [changes[a:b] for a, b in zip(out.starts, out.starts[1:], strict=False)]
    return [sorted(part, key=lambda change: change[1]) for part in found]


def total(values, function="sum", type_=NUMBER, *, distinct=False):
    """What an aggregate of the values is, with and without other values that come and go."""
    shape = [type_], (), ((function, 0, distinct),)
    others = [0.1, 1e16, 3e-310, 1e300] if type_.kind == "number" else [7, TOP, LOWEST, 2**62]
    come = [((other,), 1) for other in others]
    go = [((other,), -1) for other in others]
    last = [[((value,), 1) for value in reversed(values)]]
    if type_.kind == "integer":
        last = [come + last[0] + go]
    else:
        last = [come[:2], come[2:], last[0] + go[:1], go[1:], come, go]
    [plain] = find_rows(run(*shape, [], [((value,), 1) for value in values]))
    assert list(map(repr, find_rows(run(*shape, [], *last)))) == [repr(plain)]
    return plain[0]


def find_rows(transactions):
    """The rows that are there after transactions."""
    rows, known = Counter(), {}
    for row, weight in (change for part in transactions for change in part):
        rows[repr(row)] += weight
        known[repr(row)] = row
    return [known[text] for text in (+rows).elements()]


def test_a_group_is_there_while_it_has_rows():
    changes = run(
        *([TEXT, INTEGER], (0,), (("count", None, False), ("sum", 1, False))),
        [(("a", 5), 1), (("a", -5), 2), (("b", 1), 1)],
        [(("a", 5), 1)],
        [(("b", 1), -1)],
        [],
        [(("a", 5), -2), (("a", -5), -2), (("b", 1), 1)],
    )
    assert changes == [
        [(("a", 3, -5), 1), (("b", 1, 1), 1)],
        [(("a", 3, -5), -1), (("a", 4, 0), 1)],  # sum 0, and it stays
        [(("b", 1, 1), -1)],
        [],
        [(("a", 4, 0), -1), (("b", 1, 1), 1)],
    ]


def test_without_keys_there_is_always_one_row():
    changes = run(
        *([INTEGER], (), (("count", None, False), ("sum", 0, False), ("max", 0, False))),
        [],
        [((3,), 1)],
        [((3,), -1), ((3,), 1)],
        [((3,), -1)],
    )
    assert changes == [
        [((0, None, None), 1)],
        [((0, None, None), -1), ((1, 3, 3), 1)],
        [],
        [((1, 3, 3), -1), ((0, None, None), 1)],
    ]


def test_nothing_is_emitted_where_nothing_differs():
    changes = run(
        *([INTEGER, INTEGER], (0,), (("min", 1, False),)),
        [((1, 5), 1)],
        [((1, 9), 1)],
        [((1, 5), 1), ((1, 9), -1)],
        [((1, 5), -2), ((1, 6), 1)],
    )
    assert changes == [[((1, 5), 1)], [], [], [((1, 5), -1), ((1, 6), 1)]]


def test_nulls_are_one_key_and_no_value():
    changes = run(
        *([Type("integer", nullable=True), Type("number", nullable=True)], (0,)),
        (("count", None, False), ("count", 1, False), ("sum", 1, False)),
        [((None, 1.5), 1), ((None, None), 1), ((0, None), 2)],
        [((None, 1.5), -1)],
    )
    assert changes == [
        [((None, 2, 1, 1.5), 1), ((0, 2, 0, None), 1)],
        [((None, 2, 1, 1.5), -1), ((None, 1, 0, None), 1)],
    ]


@pytest.mark.parametrize(
    ("values", "function", "expected"),
    [
        ([0.1, 0.2, 0.3], "sum", 0.6),
        ([0.1] * 3, "avg", 0.1),
        ([1e16, 1.0, -1e16], "sum", 1.0),
        ([1e300, 1e-300, -1e300], "sum", 1e-300),
        ([1.7e308, 1.7e308], "sum", math.inf),
        ([1.7e308, 1.7e308], "avg", 1.7e308),
        ([1.7e308, 1.7e308, -1.7e308], "sum", 1.7e308),
        ([5e-324, 5e-324], "sum", 1e-323),
        ([5e-324, 0.0], "avg", 0.0),
        ([-5e-324, 0.0], "avg", 0.0),
        ([math.inf, 1.0], "sum", math.inf),
        ([math.inf, -math.inf], "avg", math.nan),
        ([math.nan, 1.0], "min", 1.0),
        ([math.nan, math.inf], "max", math.nan),
        ([1.0, 2.0, 4.0], "variance", 7 / 3),
        ([1e16 + 2, 1e16, 1e16 + 4], "stddev", 2.0),
        ([2.0**-500, 3 * 2.0**-500], "stddev_pop", 2.0**-500),
        ([-1.5e308, 1.5e308], "stddev_pop", 1.5e308),
        ([3.0], "stddev", None),
        ([3.0], "variance_pop", 0.0),
        ([math.nan, 1.0], "stddev", math.nan),
    ],
)
def test_numbers_are_exact(values, function, expected):
    assert repr(total(values, function)) == repr(expected)


@pytest.mark.parametrize(
    ("values", "function", "expected"),
    [
        ([TOP, 5, -6], "sum", TOP - 1),
        ([LOWEST, LOWEST, TOP, 1], "sum", LOWEST),
        ([TOP, TOP], "avg", float(2**63)),
        ([2**53 + 1, 2**53 + 3], "avg", float(2**53 + 2)),
        ([1, 2], "avg", 1.5),
        ([TOP, TOP - 2], "stddev_pop", 1.0),
        ([LOWEST, TOP], "variance_pop", float((2**64 - 1) ** 2 / 4)),
        ([LOWEST, 0], "min", LOWEST),
    ],
)
def test_integers_are_exact(values, function, expected):
    assert repr(total(values, function, INTEGER)) == repr(expected)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([1.0], 0.3, 1.0),
        ([4.0, 1.0, 2.0, 2.0], 0.5, 2.0),
        ([0.1, 0.7], 0.3, 0.1 * 0.7 + 0.7 * 0.3),
        ([0.1, 0.1], 0.3, 0.1),
        ([3.0, 1.0, 2.0], 0.0, 1.0),
        ([3.0, 1.0, 2.0], 1.0, 3.0),
        ([-math.inf, 5.0], 0.5, -math.inf),
        ([5.0, math.inf], 0.5, math.inf),
        ([math.inf, math.inf], 0.5, math.inf),
        ([-math.inf, math.inf], 0.5, math.nan),
        ([math.nan, 1.0, 2.0], 0.5, 2.0),
        ([math.nan, 1.0], 0.5, math.nan),
        ([1.7e308, -1.7e308], 0.5, 0.0),
        ([-5e-324, -0.0], 0.5, 0.0),
        ([TOP, TOP - 1], 0.5, float(TOP)),
        ([LOWEST, TOP], 0.5, 0.0),
        ([2, 4], 0.25, 2.5),
    ],
)
def test_quantiles(values, share, expected):
    type_ = INTEGER if isinstance(values[0], int) else NUMBER
    changes = run([type_], (), (("quantile", 0, False, share),), [((v,), 1) for v in values])
    assert repr(changes[0][-1][0][0]) == repr(expected)


@pytest.mark.parametrize(
    ("function", "expected"),
    [("count", 2), ("sum", 3), ("avg", 1.5), ("variance", 0.5), ("quantile", 1.5)],
)
def test_distinct_values_count_once(function, expected):
    assert total([1, 1, 2, 2, 2], function, INTEGER, distinct=True) == expected


def test_texts_are_in_the_order_of_code_points():
    values = ["b", "é", "\U0001f600", "\uffff", "", "B"]
    changes = run(
        *([TEXT], (), (("min", 0, False), ("max", 0, False))),
        [],
        *([((value,), 1)] for value in values),
        [(("",), -1), (("\U0001f600",), -1)],
    )
    assert [part[-1][0] for part in changes if part][1:] == [
        *(("b", "b"), ("b", "é"), ("b", "\U0001f600")),
        *(("", "\U0001f600"), ("B", "\uffff")),
    ]


def test_booleans():
    changes = run(
        *([BOOLEAN], (), (("bool_and", 0, False), ("bool_or", 0, False))),
        [((True,), 1)],
        [((False,), 1)],
        [((True,), -1)],
    )
    assert [part[-1][0] for part in changes] == [(True, True), (False, True), (False, False)]


def test_the_code_of_a_text_may_be_given_to_another():
    texts = StringDictionary()
    operator = make_operator([TEXT], (), (("max", 0, False),), texts=texts)
    source = operator.layout.source
    operator.run([make_deltas(source, [[], [(("m",), 1), (("z",), 1)], [(("z",), -1)]], texts)])
    texts.keep(operator.list_text_codes())
    assert texts.text(1) is None
    out, _ = operator.run([make_deltas(source, [[(("a",), 1)], [(("m",), -1)]], texts)])
    assert texts.code("a") == 1
    assert [row for row, _ in list_output(operator, out, texts)[1]] == [
        (("str", "'a'"),),
        (("str", "'m'"),),
    ]


SUM = ((INTEGER, INTEGER), (0,), (("sum", 1, False), ("max", 1, False)))


def test_an_overflow_is_a_fault_that_names_the_row_and_leaves_nothing():
    texts = StringDictionary()
    operator = make_operator(*SUM, texts=texts)
    source = operator.layout.source
    operator.run([make_deltas(source, [[((1, TOP), 1), ((2, 7), 1)]], texts)])
    known = snapshot(operator)
    bad = [((2, 8), 1), ((1, 1), 1), ((3, 3), 1), ((2, 7), -1)]
    out, fault = operator.run([make_deltas(source, [[((4, 4), 1)], bad, []], texts)])
    assert out.starts.tolist() == [0, 1]
    assert decode(operator.layout.target, out.words, texts) == [(4, 4, 4)]
    assert (fault.transaction, fault.code) == (1, "RT213")
    assert fault.message == "the sum c0 is beyond 64 bits"
    assert decode(source, fault.words.reshape(1, -1), texts) == [(1, 1)]
    operator.take_back([make_deltas(source, [[((4, 4), 1)]], texts)])
    assert snapshot(operator) == known


def test_a_sum_that_is_too_large_for_a_moment_only_is_none():
    changes = run(
        *SUM, [((1, TOP), 1)], [((1, TOP), 3), ((1, TOP), -3), ((1, 1), 1), ((1, TOP), -1)]
    )
    assert changes[1] == [((1, TOP, TOP), -1), ((1, 1, 1), 1)]


def test_weights_beyond_any_count_are_a_fault():
    texts = StringDictionary()
    operator = make_operator([INTEGER], (0,), (("avg", 0, False),), texts=texts)
    known = snapshot(operator)
    for changes in ([((1,), 1), ((1,), TOP)], [((1,), 2**38), ((2,), 1), ((1,), 1)]):
        _, fault = operator.run([make_deltas(operator.layout.source, [changes], texts)])
        assert fault.message == "a group would have more than 274877906944 rows"
        assert snapshot(operator) == known


def test_many_groups_come_and_go():
    texts = StringDictionary()
    operator = make_operator([INTEGER, INTEGER], (0,), (("count", None, False),), texts=texts)
    words = np.stack([np.arange(500) * 2**40, np.zeros(500, np.int64)], 1)
    for sign in (1, -1, 1):
        starts = np.array([0, 500])
        out, _ = operator.run([Deltas(starts, words, np.full(500, sign))])
        assert sorted(out.words[:, 0].tolist()) == (np.arange(500) * 2**40).tolist()
        assert set(out.weights.tolist()) == {sign}
    assert len(operator.store.find_groups()) == 500


FULL_SHAPE = (
    [INTEGER, NUMBER, Type("text", nullable=True)],
    (0,),
    (
        ("sum", 1, False),
        ("stddev", 1, False),
        ("min", 1, False),
        ("max", 2, False),
        ("count", 2, True),
        ("quantile", 1, False, 0.5),
    ),
)
FULL_ROWS = [
    *(((1, 0.1, "a"), 1), ((1, 1e16, "b"), 1), ((1, 1e300, None), 1)),
    *(((2, 0.5, "a"), 3), ((2, math.inf, "c"), 1), ((3, 5e-324, None), 1)),
]


def make_full():
    texts = StringDictionary()
    operator = make_operator(*FULL_SHAPE, texts=texts)
    operator.run([make_deltas(operator.layout.source, [FULL_ROWS], texts)])
    return operator, texts


def test_a_saved_state_is_restored():
    operator, texts = make_full()
    twin = make_operator(*FULL_SHAPE, texts=texts, functions=operator._functions)
    twin.restore(*operator.save())
    assert snapshot(twin) == snapshot(operator)
    changes = [[(row, -weight)] for row, weight in FULL_ROWS]
    deltas = make_deltas(operator.layout.source, changes, texts)
    expected = list_output(operator, operator.run([deltas])[0], texts)
    assert list_output(twin, twin.run([deltas])[0], texts) == expected
    assert snapshot(twin)[0] == {}


def damage(name, place, value):
    def change(arrays):
        arrays[name][place] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.update(records=arrays["records"][:-1]),
        lambda arrays: arrays.update(records=arrays["records"].astype(np.float64)),
        lambda arrays: arrays.update(nodes=arrays["nodes"][:-4]),
        lambda arrays: arrays.pop("blocks"),
        damage("records", 0, 0),
        damage("records", 1, 7),
        damage("nodes", 2, 10**9),
        damage("nodes", 2, 1),
        damage("nodes", 1, 0),
        damage("nodes", slice(1, None, 4), 1),
        damage("text_nodes", 0, 99),
        damage("text_nodes", 0, -5),
        damage("blocks", 5, 2**62),
    ],
)
def test_a_damaged_state_is_refused(change):
    operator, texts = make_full()
    values, arrays = operator.save()
    change(arrays)
    twin = make_operator(*FULL_SHAPE, texts=texts, functions=operator._functions)
    with pytest.raises((ValueError, KeyError)):
        twin.restore(values, arrays)


def test_texts_of_the_state_are_listed():
    operator, texts = make_full()
    codes = {code for part in operator.list_text_codes() for code in part.tolist()}
    assert {texts.text(code) for code in codes} >= {"a", "b", "c"}
    assert operator.count_bytes() > 0


def test_a_block_of_digits_is_given_back():
    operator, texts = make_full()
    source = operator.layout.source
    left = operator.store.counters[12]
    operator.run([make_deltas(source, [[((9, 1e16, "a"), 1), ((9, 1e-16, "a"), 1)]], texts)])
    operator.run([make_deltas(source, [[((9, 1e16, "a"), -1), ((9, 1e-16, "a"), -1)]], texts)])
    assert operator.store.counters[12] == left


@pytest.mark.parametrize("seed", range(20))
def test_random_transactions_equal_a_naive_bag(seed):
    run_trial(seed, transactions=8)


def test_compiled_code_equals_a_naive_bag():
    for seed in range(20):
        run_trial(seed, 0, compiled=True, transactions=8)


def test_a_row_encodes_and_decodes():
    operator, texts = make_full()
    row = (7, -2.5, None)
    words = encode(operator.layout.source, [row], texts)
    assert decode(operator.layout.source, words, texts) == [row]
