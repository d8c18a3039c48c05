"""Regions: what stops a transaction, what an output is ordered by, what a dump keeps."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from rtbot import relations
from rtbot.relations.deltas import Deltas, make_empty_deltas
from rtbot.relations.output_order import net_changes
from rtbot.relations.region import FEW, Region
from rtbot.relations.region_code import CHANGE_LOOPS
from rtbot.tables.string_dictionary import StringDictionary
from tests.relations_cases import list_contents
from tests.relations_oracle import MOST, NAN, decode, encode, identify, make_plan, make_schema

ONE = make_schema(["integer"])


def source_plan(schema, **options):
    setting = options.pop("setting", {})
    return make_plan([], [("s", setting)], [schema], {"out": 0}, **options)


def push(region, transactions, first=0):
    """Close transactions of the one source; (outputs by transaction, fault)."""
    schema = region.plan.streams[0]
    closed = region.close(
        np.arange(first, first + len(transactions)),
        {"s": encode(transactions, schema, region.texts)},
    )
    out = region.plan.streams[region.plan.outputs["out"]]
    return decode(closed.outputs["out"], out, region.texts), closed.fault


def start(plan):
    return Region(plan, StringDictionary(), "never")


def plain(transactions):
    return [[(row[0][1], weight) for row, weight in changes] for changes in transactions]


def test_what_precedes_a_bad_transaction_has_taken_effect():
    region = start(source_plan(ONE))
    out, bad = push(region, [[((7,), 1)], [((7,), -2)], [((8,), 1)]])
    assert plain(out) == [[(7, 1)]]
    assert (bad.operator, bad.is_source, bad.time, bad.row) == ("s", True, 1, {"f0": 7})
    error = bad.make_error("released")
    assert str(error) == (
        "error[RT401]: a row is deleted more often than it is there (input 's', time 1, "
        "value {'f0': 7})\n     io.excess: ignore takes no notice of such deletes and counts them"
    )
    assert (error.output, error.input, error.time) == ("released", "s", 1)
    assert plain(push(region, [[((8,), 1)], [((7,), -1)]], 2)[0]) == [[(8, 1)], [(7, -1)]]


@pytest.mark.parametrize(
    ("weights", "code"),
    [
        ([MOST, 1, -1], None),
        ([1, MOST, -1], None),
        ([-1, MOST, 1], None),
        ([MOST, MOST, -MOST, -MOST - 1, 1, 3], None),
        ([MOST, 1], "RT404"),
        ([MOST, MOST, MOST], "RT404"),
        ([-MOST - 1], "RT401"),
        ([-MOST - 1, -MOST - 1, -MOST - 1], "RT401"),
        ([-MOST - 1, MOST, 1], None),
    ],
)
def test_the_order_of_weights_cannot_make_one_overflow(weights, code):
    region = start(source_plan(ONE))
    out, bad = push(region, [[((0,), weight) for weight in weights]])
    if code is not None:
        assert (bad.fault.code, bad.row) == (code, {"f0": 0})
        assert len(region.steps[0].operator.store) == 0
        return
    assert bad is None
    assert plain(out) == [[(0, sum(weights))] if sum(weights) else []]


def test_an_output_that_overflows_is_a_fault_of_its_operator():
    plan = make_plan(
        [("u", "weighed", (0, 1), 2, {"weigh": "union", "all": True})],
        [("a", {}), ("b", {})], [ONE, ONE, ONE], {"out": 2},
    )  # fmt: skip
    region = start(plan)
    given = [[((1,), 1)], [((1,), MOST - 1), ((2,), 1)]]
    both = {name: encode(given, ONE, region.texts) for name in "ab"}
    closed = region.close(np.arange(2), both)
    assert (closed.taken, closed.fault.operator, closed.fault.row) == (1, "u", {"f0": 1})
    assert closed.fault.fault.code == "RT404"
    assert region.counts["a"].rows_in == 1
    assert list_contents(region)[:2] == [{(1,): (1,)}] * 2


def test_the_least_row_is_blamed_in_any_order():
    rows = [((k,), -1) for k in (5, 3, 9, 4)]
    for turn in range(4):
        _, bad = push(start(source_plan(ONE)), [rows[turn:] + rows[:turn]])
        assert bad.row == {"f0": 3}


def test_outputs_have_one_order():
    schema = make_schema(["number?", "text?", "boolean?", "integer?"])
    values = [-1.0, 0.0, 2.5, float("inf"), NAN, None]
    region = start(source_plan(schema))
    rows = [(v, t, b, n) for v in values for t in ("B", "a", "é", None)
            for b in (False, True, None) for n in (-5, 3, None)]  # fmt: skip
    mixed = sorted(rows, key=lambda row: hash(str(row)))
    (out,), _ = push(region, [[(row, 1) for row in mixed]])
    assert [row for row, _ in out] == [identify(row) for row in rows]
    (out,), _ = push(region, [[(row, -1) for row in mixed[::2]] + [(row, 1) for row in mixed]], 1)
    kept = [identify(row) for row in rows if row in mixed[1::2]]
    assert [(row, weight) for row, weight in out] == [(row, 1) for row in kept]


def test_deletes_come_before_inserts():
    region = start(source_plan(ONE))
    push(region, [[((9,), 2), ((3,), 1)]])
    out, _ = push(region, [[((1,), 1), ((9,), -1), ((3,), -1), ((4,), 2)]], 1)
    assert plain(out) == [[(3, -1), (9, -1), (1, 1), (4, 2)]]


def test_transactions_without_rows_are_netted_in_no_room():
    starts, words, weights = np.array([0, 0, 2, 2]), np.array([[8], [7]]), np.array([1, 2])
    made = net_changes(Deltas(starts, words, weights), CHANGE_LOOPS.load("never"))
    assert made.starts.tolist() == starts.tolist()
    assert (made.words.tolist(), made.weights.tolist()) == ([[7], [8]], [2, 1])


def test_too_many_rows_of_a_transaction():
    region = start(source_plan(ONE, max_delta_rows=3))
    out, bad = push(region, [[((k,), 1) for k in range(3)], [((k,), 1) for k in range(4)]])
    assert len(out) == 1
    assert bad.fault.code == "RT403"
    assert bad.fault.message == "one transaction changes 4 rows, more than 3"
    assert region.steps[0].operator.store.list_counts() == {(k,): (1,) for k in range(3)}


def test_many_bad_transactions_are_not_tried_together():
    region = start(source_plan(ONE, max_delta_rows=1))
    given = [[((k,), 1)] * (1 + (k % 3 > 0)) + [((k + 1,), 1)] * (k % 3 == 0) for k in range(300)]
    at, bad, found = 0, 0, []
    while True:
        out, fault = push(region, given[at:], at)
        found += out
        at += len(out)
        if fault is None:
            break
        assert fault.time == at
        at, bad = at + 1, bad + 1
    assert (bad, len(found)) == (100, 200)
    assert region._attempt in {0, FEW, 2 * FEW}


def test_upserts():
    schema = make_schema(["integer", "text"])
    region = start(source_plan(schema, setting={"unique": ("f0",)}))
    steps = [
        ([((1, "a"), 1), ((2, "b"), 1)], [((1, "a"), 1), ((2, "b"), 1)]),
        ([((1, "a"), 1)], []),
        ([((1, "x"), -1), ((1, "c"), 1)], [((1, "a"), -1), ((1, "c"), 1)]),
        ([((1, "c"), 1), ((1, "c"), -1)], []),
        ([((2, "other"), -1), ((3, ""), -1)], [((2, "b"), -1)]),
        ([((2, "z"), 5)], [((2, "z"), 1)]),
    ]
    out, bad = push(region, [given for given, _ in steps])
    assert bad is None
    assert out == [[(identify(row), weight) for row, weight in made] for _, made in steps]
    assert region.counts["s"].absent == 1
    _, bad = push(region, [[((1, "y"), 1), ((1, "x"), 1)]], 6)
    assert (bad.fault.code, bad.row) == ("RT402", {"f0": 1, "f1": "x"})


def test_a_null_in_a_key_is_a_key():
    schema = make_schema(["integer?", "integer?"])
    region = start(source_plan(schema, setting={"unique": ("f0",)}))
    given = [[((None, 1), 1), ((0, 2), 1)], [((None, None), 1)], [((None, 5), -1)]]
    out, _ = push(region, given)
    assert [len(changes) for changes in out] == [2, 2, 1]


def test_a_dump_is_json_and_arrays_and_fits_only_its_own():
    schema = make_schema(["integer", "text?"])
    region = start(source_plan(schema))
    push(region, [[((1, "a"), 2), ((2, None), 1), ((3, "b"), 1)], [((1, "a"), -2)]])
    values, arrays = region.save()
    assert {name: a.tolist() for name, a in arrays.items() if "counts" in name} == {
        "s.counts": [1, 1]
    }
    fresh = Region(region.plan, region.texts, "never")
    fresh.restore(json.loads(json.dumps(values)), arrays)
    assert list_contents(fresh) == list_contents(region)
    assert fresh.counts == region.counts
    codes = {code for part in region.list_text_codes() for code in part.tolist()}
    assert region.texts.code("b") in codes
    twice = {n: np.concatenate([a, a]) for n, a in arrays.items()}
    values["operators"]["s"]["state"]["rows"] *= 2
    for broken in (twice, {**twice, "s.counts": twice["s.counts"] * 0}, {}, arrays):
        with pytest.raises(ValueError):
            fresh.restore(values, broken)
    with pytest.raises(ValueError):
        fresh.restore({"operators": {}}, {})


def test_freed_ids_are_used_again():
    region = start(source_plan(ONE))
    store = region.steps[0].operator.store
    for first in range(0, 4000, 100):
        rows = [((k,), 1) for k in range(first, first + 100)]
        push(region, [rows, [(row, -1) for row, _ in rows]])
    assert len(store) == 0
    assert store.capacity <= 256


def test_nothing_to_close():
    region = start(source_plan(ONE))
    closed = region.close(np.empty(0, np.int64), {"s": make_empty_deltas(0, 1)})
    assert (closed.taken, closed.fault, len(closed.outputs["out"])) == (0, None, 0)
    closed = region.close(np.arange(3), {"s": make_empty_deltas(3, 1)})
    assert (closed.taken, closed.outputs["out"].starts.tolist()) == (3, [0, 0, 0, 0])


def test_loops_that_python_calls_are_called_by_no_other_loop():
    """What another loop calls is compiled without an entry from Python."""
    loops = CHANGE_LOOPS.list_functions()
    helpers = {name for loop in loops.values() for name in loop.__code__.co_names}
    files = Path(relations.__file__).parent.glob("*.py")
    text = "\n".join(path.read_text("utf-8") for path in files)
    entries = {*re.findall(r"kernels\.(\w+)", text)} & loops.keys()
    assert "restore_transaction" in entries
    assert not entries & helpers


def test_memory_of_three_integers():
    region = Region(source_plan(make_schema(["integer"] * 3)), StringDictionary(), "now")
    store = region.steps[0].operator.store
    rows = 200_000
    words = np.arange(3 * rows).reshape(-1, 3)
    deltas = make_empty_deltas(rows, 3)
    worst = 0.0
    for first in range(0, rows, 5000):
        part = type(deltas)(np.arange(5001), words[first : first + 5000], np.ones(5000, np.int64))
        region.close(np.arange(first, first + 5000), {"s": part})
        if len(store) > 20_000:
            worst = max(worst, store.count_bytes() / len(store))
    assert Counter(store.columns["counts"].tolist())[1] == rows
    assert worst <= 60
