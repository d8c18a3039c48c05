"""Joins of rows: random graphs against pairs of bags, shared cases, every transition of one key."""

import itertools
import json
from collections import Counter
from pathlib import Path

import pytest

import rtbot
from rtbot.relations import join_condition, joined
from tests.join_trials import check_join

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
    assert set(joins) - set(GRAPHS) == {"asof-late-right"}


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
