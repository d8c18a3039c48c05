"""Joins of rows: random graphs against pairs of bags, shared cases, every transition of one key."""

import itertools
import json
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import rtbot
from rtbot.graph.stages import split_stages
from rtbot.relations import join_condition, joined
from rtbot.relations.deltas import Deltas
from rtbot.relations.region import Region
from rtbot.relations.region_writer import write_region
from rtbot.tables.string_dictionary import StringDictionary
from tests.join_trials import check_join, snapshot
from tests.relations_oracle import encode

GOLDEN = Path(__file__).parents[1] / "golden" / "relational_cases.jsonl"
CASES = {case["id"]: case for case in map(json.loads, GOLDEN.open())}
KINDS = {"INTEGER": "integer?", "VARCHAR": "text?"}


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_joins_are_as_recomputed(first):
    for number in range(first, first + 10):
        check_join(number)


def test_few_pairs_are_looked_at_at_once(monkeypatch):
    monkeypatch.setattr(joined, "LOGGED_AT_ONCE", 2)
    monkeypatch.setattr(joined, "LOADED_AT_ONCE", 1)
    monkeypatch.setattr(join_condition, "PAIRS_AT_ONCE", 3)
    for number in range(100, 112):
        check_join(number)


# ---- shared cases, in operators

ON_K = "j: {type: JoinRows, in: [l, r], on: [k]"
LEFT = [ON_K + ", how: left}", "o: {type: Select, in: j, fields: {k: k, v: v, w: w}}"]
LEFT_SIDE = [ON_K + "}", "o: {type: Select, in: j, fields: {k: k, v: v}}"]
EXISTS = ["o: {type: JoinRows, in: [l, r], on: [k], how: semi}"]
NOT_EXISTS = ["o: {type: JoinRows, in: [l, r], on: [k], how: anti}"]
TOP_TWO = ["o: {type: TopRows, in: l, by: [g], order: [v, id], k: 2}"]
GRAPHS = {
    "join-bag-projection": [ON_K + "}", "o: {type: Select, in: j, fields: {id: id, k: k}}"],
    "join-box-both-move-in": [
        ON_K + ', condition: "x > 0 and x < 10 and z > 0 and z < 10"}',
        "o: {type: Select, in: j, fields: {k: k, v: v}}",
    ],
    **dict.fromkeys(("join-delete-left-insert-right", "join-insert-left-delete-right"), LEFT_SIDE),
    "selfjoin-quadratic-delta": [
        "j: {type: JoinRows, in: [l, l], on: [k]}",
        "o: {type: Select, in: j, fields: {ai: id, bi: id_2}}",
    ],
    "selfjoin-null-exists": [
        'o: {type: JoinRows, in: [l, l], on: [a], how: semi, condition: "b_2 < 10"}'
    ],
    "join-key-change-and-partner-delete": [
        ON_K + "}",
        "o: {type: Select, in: j, fields: {id: id, k: k, w: w}}",
    ],
    "join-dup-projected-rows": [ON_K + "}", "o: {type: Select, in: j, fields: {id: id, w: w}}"],
    **dict.fromkeys(
        (
            *("join-null-keys-plain", "left-degree-to-zero", "left-multiset-padding"),
            "left-inner-side-update-then-delete",
        ),
        LEFT,
    ),
    "multiway-middle-change": [
        ON_K + "}",
        "m: {type: JoinRows, in: [j, s], on: {k_2: k}}",
        "o: {type: Select, in: m, fields: {k: k, v: v, w: w, u: u}}",
    ],
    "theta-range-join": [
        'j: {type: JoinRows, in: [l, r], how: left, condition: "p >= lo and p < hi"}',
        "o: {type: Select, in: j, fields: {id: id, p: p, name: name}}",
    ],
    "cross-join": ["o: {type: JoinRows, in: [l, r], how: cross}"],
    "left-dup-left-unmatched": ["o: {type: JoinRows, in: [l, r], on: [k], how: left}"],
    "full-both-inserted-same-tx": ["o: {type: JoinRows, in: [l, r], on: [k], how: full}"],
    "left-extra-on-condition": [
        'o: {type: JoinRows, in: [l, r], on: [id], how: left, condition: "a > a_2"}'
    ],
    "left-then-where-is-null": [
        ON_K + ", how: left}",
        'f: {type: Where, in: j, condition: "w is null"}',
        "o: {type: Select, in: f, fields: {k: k, v: v}}",
    ],
    "two-leftjoins-onto-aggregates": [
        "a: {type: GroupBy, in: r, by: [k], compute: {mx: max(v)}}",
        "b: {type: GroupBy, in: s, by: [k], compute: {n: count()}}",
        "j: {type: JoinRows, in: [l, a], on: {id: k}, how: left}",
        "m: {type: JoinRows, in: [j, b], on: {id: k}, how: left}",
        "o: {type: Select, in: m, fields: {id: id, mx: mx, n: n}}",
    ],
    "exists-duplicates": ["o: {type: JoinRows, in: [l, r], on: [i], how: semi}"],
    **dict.fromkeys(("antijoin-right-many-values", "antijoin-right-duplicates"), NOT_EXISTS),
    "not-in-null-aware": ["o: {type: NotIn, in: [l, r], on: [y]}"],
    "semi-left-and-right-same-tx": EXISTS,
    "distinct-collapse": [
        ON_K + "}",
        "v: {type: Select, in: j, fields: {v: v}}",
        "o: {type: Distinct, in: v}",
    ],
    **dict.fromkeys(("topn-delete-outside-then-inside", "topn-dropped-then-deleted"), TOP_TWO),
    "topn-weights": ["o: {type: TopRows, in: l, order: [v], k: 3}"],
    "topn-same-key-new-value": ["o: {type: TopRows, in: l, order: [id], k: 2}"],
    "asof-late-right": [
        "j: {type: AsOfJoin, in: [l, r], on: [k], match: [t], how: left}",
        "o: {type: Select, in: j, fields: {k: k, at: t, w: w}}",
    ],
    "upsert-multi-change-one-key": [
        "j: {type: JoinRows, in: [l, r], on: [v]}",
        "o: {type: Select, in: j, fields: {k: k, v: v, w: w}}",
    ],
}
NAMES = {"left": "l", "right": "r", "third": "s"}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_shared_case(name):
    case = CASES[name]
    fields = {NAMES[side]: dict(columns) for side, columns in case["schema"].items()}
    lines = ["inputs:"]
    for side, columns in fields.items():
        shown = ", ".join(f"{column}: {KINDS[kind]}" for column, kind in columns.items())
        lines.append(f"  {side}: {{changes: {{{shown}}}}}")
    lines += ["operators:", *(f"  {line}" for line in GRAPHS[name]), "outputs: {o: o}", ""]
    rows = {side: [] for side in fields}
    for transaction in case["transactions"]:
        for side in transaction.keys() - {"t"}:
            for row, weight in transaction[side]:
                cells = dict(zip(fields[NAMES[side]], row, strict=True))
                rows[NAMES[side]].append([transaction["t"], weight, cells])
    table = rtbot.load("\n".join(lines)).run(rows)["o"]
    expected = {
        (each["t"], *row): weight for each in case["expected"] for row, weight in each["changes"]
    }
    assert read_rows(table) == expected


def test_all_shared_cases_with_joins_are_here():
    joins = [
        name
        for name, case in CASES.items()
        if any(word in case["query"] for word in ("JOIN", "EXISTS", "NOT IN"))
    ]
    assert set(joins) <= set(GRAPHS)


def read_rows(table):
    """The weights of rows, by time and cells."""
    names = [n for n in table if n not in ("t", "weight") and not n.endswith("_valid")]
    columns = []
    for name in names:
        valid = table.get(f"{name}_valid")
        cells = table[name].tolist()
        columns.append(
            cells if valid is None
            else [c if there else None for c, there in zip(cells, valid, strict=True)]
        )  # fmt: skip
    keys = list(zip(table["t"].tolist(), *columns, strict=True))
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, table["weight"].tolist(), strict=True))


# ---- every transition

MOVES = """
inputs:
  entities: {changes: {id: integer, name: text}, unique: [id]}
  places: {changes: {id: integer, x: integer}, unique: [id]}
operators:
  inner: {type: JoinRows, in: [entities, places], on: [id], condition: x < 10}
  left:  {type: JoinRows, in: [entities, places], on: [id], how: left, condition: x < 10}
  full:  {type: JoinRows, in: [entities, places], on: [id], how: full, condition: x < 10}
  semi:  {type: JoinRows, in: [entities, places], on: [id], how: semi, condition: x < 10}
  anti:  {type: JoinRows, in: [entities, places], on: [id], how: anti, condition: x < 10}
  pairs: {type: JoinRows, in: [entities, places], on: [id]}
  near:  {type: Where, in: pairs, condition: x < 10}
  known: {type: JoinRows, in: [entities, places], on: [id], how: semi}
outputs: [inner, left, full, semi, anti, near, known]
"""
STATES = list(itertools.product((None, "a", "b"), (None, 5, 50)))


def list_views(name, x):
    """The rows of all outputs, for one entity and one place or None."""
    one, place = (7, name), (7, x)
    match = name is not None and x is not None and x < 10
    pair = [one + place] if match else []
    padded = [] if name is None or match else [(*one, None, None)]
    other = [] if x is None or match else [(None, None, *place)]
    return {
        "inner": pair,
        "near": pair,
        "left": pair + padded,
        "full": pair + padded + other,
        "semi": [one] if match else [],
        "anti": [one] if name is not None and not match else [],
        "known": [one] if name is not None and x is not None else [],
    }


def list_changes(field, before, after):
    """The put or the delete of the one row of an input."""
    if before == after:
        return []
    weight = -1 if after is None else 1
    return [[2, weight, {"id": 7, field: before if after is None else after}]]


def test_the_72_transitions_of_a_key_and_a_foreign_key():
    graph = rtbot.load(MOVES)
    transitions = list(itertools.permutations(STATES, 2))
    assert len(transitions) == 72
    for before, after in transitions:
        session = graph.start()
        rows = {}
        for name, field, start, end in zip(
            ("entities", "places"), ("name", "x"), before, after, strict=True
        ):
            rows[name] = [] if start is None else [[1, 1, {"id": 7, field: start}]]
            rows[name] += list_changes(field, start, end)
        session.push(rows)
        result = session.finish()
        views = list_views(*before), list_views(*after)
        for output, table in result.items():
            change = Counter(views[1][output])
            change.subtract(views[0][output])
            found = {k[1:]: w for k, w in read_rows(table).items() if k[0] == 2}
            assert found == {row: n for row, n in change.items() if n}, (before, after, output)


# ---- what is refused, and what is kept


def load(operators, fields="{id: integer, v: integer}", **io):
    lines = ["inputs:", f"  l: {{changes: {fields}}}", f"  r: {{changes: {fields}}}", "operators:"]
    lines += [f"  {line}" for line in operators]
    lines += [f"io: {json.dumps(io)}"] if io else []
    return rtbot.load("\n".join([*lines, "outputs: [j]", ""]))


def make_row(number, value=0):
    return {"id": number, "v": value}


@pytest.mark.parametrize("condition", ["", ", condition: v_2 > 1000"])
def test_too_many_pairs_are_refused_before_they_are_made(condition):
    graph = load([f"j: {{type: JoinRows, in: [l, r], on: [id]{condition}}}"], max_delta_rows=100)
    rows = [[1, 1, make_row(1, k)] for k in range(99)]
    session = graph.start()
    session.push({"l": [*rows, [3, 1, make_row(1)]], "r": [[2, 1, make_row(1)]]})
    session.push({"l": [[3, 1, make_row(2)]], "r": [[3, 1, make_row(1, 2)]]})
    with pytest.raises(rtbot.DataError) as caught:
        session.finish()
    assert (caught.value.code, caught.value.time) == ("RT403", 3)
    assert "more than 100" in str(caught.value)


@pytest.mark.parametrize(("most", "times"), [(10_000, 3), (2_500, 0.2)])
def test_memory_of_a_change_with_many_partners(most, times):
    rows = 2_000
    graph = load(["j: {type: JoinRows, in: [l, r], on: [id]}"], max_delta_rows=most)
    (stage,) = split_stages(graph.checked, graph.checked.outputs)
    region = Region(write_region(stage, graph.checked), StringDictionary(), "never")
    one = np.ones(rows, np.int64)
    left = Deltas(np.array([0, rows, rows]), np.stack([7 * one, np.arange(rows)], 1), one)
    right = Deltas(np.array([0, 0, 1]), np.array([[7, 1]]), one[:1])
    assert region.close(np.arange(2), {"l": left, "r": right}).fault is None
    change = Deltas(np.array([0, 2]), np.array([[7, 1], [7, 2]]), np.array([-1, 1]))
    tracemalloc.start()
    closed = region.close(np.arange(1), {"l": left.cut(1, 2), "r": change})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    made = closed.outputs["j"]
    assert (len(made), closed.fault is None) == ((2 * rows, True) if times == 3 else (0, False))
    assert peak <= times * 2 * rows * 8 * (made.words.shape[1] + 1)


def test_the_least_left_row_without_a_value_is_blamed():
    graph = load(["j: {type: JoinRows, in: [l, r], on: [id], how: anti, condition: v // v_2 > 0}"])
    left = [[1, 1, make_row(1, k)] for k in (5, 3, 4)]
    for turn in range(3):
        with pytest.raises(rtbot.DataError) as caught:
            graph.run({"l": left[turn:] + left[:turn], "r": [[2, 1, make_row(1, 0)]]})
        error = caught.value
        assert (error.code, error.time, error.value) == ("RT406", 2, make_row(1, 3))
        assert sorted(error.output["j"]["v"].tolist()) == [3, 4, 5]


def test_pairs_that_never_meet_need_no_value():
    graph = load(["j: {type: JoinRows, in: [l, r], on: [id], condition: v // v_2 > 0}"])
    rows = {"l": [[1, 1, make_row(1, 5)], [2, -1, make_row(1, 5)]], "r": [[2, 1, make_row(1)]]}
    assert len(graph.run(rows)["j"]["t"]) == 0


def test_more_copies_than_can_be_counted():
    graph = load(["j: {type: JoinRows, in: [l, r], on: [id]}"])
    rows = {"l": [[1, 2**40, make_row(1, 7)]], "r": [[2, 2**23, make_row(1)]]}
    with pytest.raises(rtbot.DataError) as caught:
        graph.run(rows)
    assert (caught.value.code, caught.value.value) == ("RT404", make_row(1))


def test_masks_of_many_nullable_fields():
    names = [f"f{k}" for k in range(70)]
    fields = "{" + ", ".join(f"{name}: integer?" for name in names) + "}"
    operators = [
        "a: {type: JoinRows, in: [l, r], on: [f0], how: full}",
        "j: {type: JoinRows, in: [a, r], on: {f69_2: f69}, how: left, null_safe: [f69_2]}",
    ]
    row = {name: None if k % 3 else k for k, name in enumerate(names)}
    other = {name: None if k % 4 else -k for k, name in enumerate(names)}
    other["f0"] = 1
    table = load(operators, fields).run({"l": [[1, 1, row]], "r": [[1, 1, other], [2, 1, row]]})[
        "j"
    ]
    pads = [None] * 70
    one, two = list(row.values()), list(other.values())
    assert read_rows(table) == {
        (1, *one, *pads, *two): 1,
        (1, *pads, *two, *two): 1,
        (2, *one, *pads, *two): -1,
        (2, *one, *one, *row.values()): 1,
    }


def test_state_is_forgotten_with_its_rows():
    graph = load(["j: {type: JoinRows, in: [l, r], on: [id], how: full, condition: v < v_2}"])
    session = graph.start()
    for first in range(0, 1500, 30):
        numbers = range(first, first + 30)
        for side in ("l", "r"):
            session.push({side: [[first, 1, make_row(k % 7, k)] for k in numbers]})
        for side in ("l", "r"):
            session.push({side: [[first + 1, -1, make_row(k % 7, k)] for k in numbers]})
    session.advance(1500)
    (operator,) = [
        step.operator
        for stage in session.stages
        if hasattr(stage, "runner")
        for step in stage.runner.region.steps
        if step.node.skeleton == "joined"
    ]
    stores = [*operator.sides, operator.keys]
    assert [len(store) for store in stores] == [0, 0, 0]
    assert max(store.capacity for store in stores) <= 256
    assert [side.matches.any() for side in operator.sides] == [False, False]


def test_a_state_that_does_not_fit_is_refused():
    texts = StringDictionary()
    plan = write_plan("full, condition: v < v_2")
    region = Region(plan, texts, "never")
    rows = [[((1, 1), 2), ((1, 5), 1), ((2, 3), 1)]]
    given = {name: encode(rows, plan.streams[0], texts) for name in ("l", "r")}
    region.close(np.arange(1), given)
    values, arrays = region.save()
    assert arrays["j.left.matches"].tolist() == [1, 0, 0]
    fresh = Region(plan, texts, "never")
    fresh.restore(json.loads(json.dumps(values)), arrays)
    assert snapshot(fresh) == snapshot(region)
    for name, array in (
        ("j.left.weights", [2, 0, 1]),
        ("j.left.matches", [1, 0, -1]),
        ("j.left.weights", [2, 1]),
        ("j.left.words", [1, 1, 1, 1, 2, 3]),
    ):
        broken = {**arrays, name: np.array(array)}
        with pytest.raises(ValueError):
            fresh.restore(values, broken)
    with pytest.raises(ValueError):
        fresh.restore(values, {})


def test_codes_of_texts_that_are_only_counted_are_alive():
    texts = StringDictionary()
    fields = "{id: text, v: integer}"
    plan = write_plan("anti", fields)
    region = Region(plan, texts, "never")
    rows = {"l": [[]], "r": [[(("tea", 1), 1)]]}
    given = {name: encode(rows[name], plan.streams[0], texts) for name in rows}
    region.close(np.arange(1), given)
    operator = region.steps[-1].operator
    assert texts.code("tea") in {c for part in operator.list_text_codes() for c in part.tolist()}
    assert operator.save()[0] == {"left": 0, "right": 1}


def write_plan(how, fields="{id: integer, v: integer}"):
    checked = load([f"j: {{type: JoinRows, in: [l, r], on: [id], how: {how}}}"], fields).checked
    (stage,) = split_stages(checked, checked.outputs)
    return write_region(stage, checked)
