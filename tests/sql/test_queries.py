"""Queries give what DuckDB and the shared cases say, by the oracle of their nodes."""

import json
from pathlib import Path

import pytest

import rtbot
from rtbot.core.errors import DataError
from rtbot.expression import Expression
from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from rtbot.sql import lower_query
from rtbot.tables.change_rows import name_time
from tests.sql_random import follow_cases, run_cases
from tests.sql_streams import read_changes

KINDS = {"INTEGER": "integer", "DOUBLE": "number", "VARCHAR": "text", "BOOLEAN": "boolean"}
CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "golden" / "relational_cases.jsonl").open()
]
by_id = lambda case: case["id"]  # noqa: E731 (the ids of two tables)


def schema(text):
    """A schema as `id: integer, region: text?`."""
    pairs = (each.split(": ") for each in text.split(", "))
    return Schema(tuple(Field(n, Type(k.rstrip("?"), k.endswith("?"))) for n, k in pairs))


TABLES = {
    "orders": schema("id: integer, region: text?, amount: number?, n: integer, ok: boolean?"),
    "more": schema("id: integer, region: text, amount: number, n: integer, ok: boolean"),
}


def show(tree):
    """An expression as text."""
    if tree.op in ("field", "constant"):
        return tree.value if tree.op == "field" else repr(tree.value)
    return f"{tree.op}({', '.join(map(show, tree.args))})"


def lowered(text):
    """The nodes of a query, one line each."""
    lines = []
    for node in lower_query(text, TABLES).nodes:
        setting = dict(node.values) | {n: show(tree) for n, tree in node.formulas.items()}
        lines.append(f"{node.id} of {', '.join(node.inputs)}: {setting}")
    return lines


# ---- answers of others


def test_random_queries_have_the_answers_of_duckdb():
    outcomes, _, differing = run_cases("pytest", 120, report=lambda *_: None)
    assert [case for case in differing if case[0] == "DIFFERENT"] == []
    assert outcomes["equal"] > 90, outcomes


def test_random_queries_have_the_answers_of_duckdb_at_every_transaction():
    outcomes, _, differing = follow_cases("pytest", 14, 4, report=lambda *_: None)
    assert differing == []
    assert outcomes["equal"] > 8, outcomes


@pytest.mark.parametrize("case", CASES, ids=by_id)
def test_a_shared_case(case):
    names = {"left": "l", "right": "r", "third": "s"}
    inputs = {
        names[side]: {"changes": {name: f"{KINDS[kind]}?" for name, kind in columns}}
        for side, columns in case["schema"].items()
    }
    view = {"type": "SQL", "in": list(inputs), "query": case["query"]}
    graph = rtbot.load({"inputs": inputs, "operators": {"view": view}, "outputs": ["view"]})
    columns = graph.checked.nodes["view"].types["o1"].schema.names
    session = graph.start(compiled="never")
    found = {}
    for transaction in case["transactions"]:
        given = {}
        for side, changes in transaction.items():
            if side != "t":
                fields = [name for name, _ in case["schema"][side]]
                given[names[side]] = [
                    [transaction["t"], weight, dict(zip(fields, row, strict=True))]
                    for row, weight in changes
                ]
        try:
            released = [session.push(given), session.advance(transaction["t"])]
        except DataError:
            found[transaction["t"]] = None
            continue
        for result in released:
            times = result["view"][name_time(columns)].tolist()
            for t, (row, weight) in zip(times, read_changes(result["view"], columns), strict=True):
                found.setdefault(t, {})[row] = weight
    wanted = {
        each["t"]: None if "error" in each else {tuple(r): w for r, w in each["changes"]}
        for each in case["expected"]
    }
    assert found == {t: changes for t, changes in wanted.items() if changes != {}}


# ---- lowering


@pytest.mark.parametrize(
    ("query", "nodes"),
    [
        (
            "SELECT region, count(*) FROM orders GROUP BY region",
            [
                (
                    "groupby of orders: {'by': ('region',), "
                    "'compute': (('count_star', 'count', False),)}"
                )
            ],
        ),
        (
            "SELECT * FROM more WHERE n > 1 AND ok",
            ["where of more: {'condition': 'and(>(n, 1), ok)'}"],
        ),
        (
            "SELECT upper(region) AS r, sum(n + 1) AS s FROM orders GROUP BY r",
            [
                (
                    "select of orders: {'fields': ('r', 'value_1'), "
                    "'fields.r': 'upper(region)', 'fields.value_1': '+(n, 1)'}"
                ),
                (
                    "groupby of select: {'by': ('r',), 'compute': (('s', 'sum', False),), "
                    "'compute.s': 'value_1'}"
                ),
            ],
        ),
        (
            "SELECT id, n FROM orders UNION ALL (SELECT id, amount FROM more)",
            [
                (
                    "select of orders: {'fields': ('id', 'n'), "
                    "'fields.id': 'id', 'fields.n': 'widen(n)'}"
                ),
                (
                    "select_2 of more: {'fields': ('id', 'n'), "
                    "'fields.id': 'id', 'fields.n': 'amount'}"
                ),
                "union of select, select_2: {'all': True}",
            ],
        ),
        (
            "WITH w AS (SELECT DISTINCT region FROM orders) SELECT * FROM w EXCEPT SELECT * FROM w",
            [
                "select of orders: {'fields': ('region',), 'fields.region': 'region'}",
                "distinct of select: {}",
                "except of distinct, distinct: {'all': False}",
            ],
        ),
    ],
)
def test_the_nodes_of_a_query(query, nodes):
    assert lowered(query) == nodes


@pytest.mark.parametrize(
    ("expression", "tree"),
    [
        ("n BETWEEN 1 AND 3", "and(>=(n, 1), <=(n, 3))"),
        ("n NOT IN (1, 2)", "not(in(n, 1, 2))"),
        ("region NOT LIKE 'a%'", "not(like(region, 'a%'))"),
        ("ok IS NOT TRUE", "not(not(is_distinct(ok, True)))"),
        ("nullif(n, 0)", "case(==(n, 0), None, n)"),
        ("CASE n WHEN 1 THEN 'x' END", "case(==(n, 1), 'x', None)"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("n / 2", "/(widen(n), 2.0)"),
        ("n // 2 % 3", "%(//(n, 2), 3)"),
        ("concat(region, 'x')", "concat(coalesce(region, ''), 'x')"),
        ("region || 'x'", "concat(region, 'x')"),
        ("log(amount)", "log10(amount)"),
        ("if(ok, NULL, NULL) IN (n)", "in(case(ok, None, None), n)"),
        ("CAST(n AS DOUBLE)", "widen(n)"),
        ("trim(LEADING FROM region)", "ltrim(region)"),
        ("-n ** 2", "power(widen(neg(n)), 2.0)"),
    ],
)
def test_the_tree_of_an_expression(expression, tree):
    node = lower_query(f"SELECT {expression} AS e FROM orders", TABLES).nodes[-1]  # noqa: S608
    assert show(node.formulas["fields.e"]) == tree


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("SELECT id, amount a, n AS b FROM orders", "id: integer, a: number?, b: integer"),
        ("SELECT n, n FROM orders", "n: integer, n_2: integer"),
        ("SELECT sum(n), count(DISTINCT region) FROM orders", None),
        ("SELECT NULL AS x FROM orders", "x: integer?"),
        ("SELECT NULL AS x FROM orders UNION SELECT region FROM orders", "x: text?"),
        ("SELECT w.b FROM (SELECT id FROM orders) AS w(b)", "b: integer"),
    ],
)
def test_the_columns_of_a_query(query, result):
    found = str(lower_query(query, TABLES).schema)
    assert found == f"{{{result or 'sum_n: integer?, count_distinct_region: integer'}}}"


@pytest.mark.parametrize(
    ("condition", "on"),
    [
        ("o.id = m.id AND o.n > 1", [("id", "id")]),
        ("o.n > 1 AND o.id + 1 = m.id", [("key_1", "id")]),
        ("o.n % 2 = m.id", [("key_1", "id")]),
        ("o.n <> 0 AND 10 // o.n = m.id", []),
        ("o.id = m.id AND 10 // o.n = m.n", [("id", "id")]),
    ],
)
@pytest.mark.parametrize("form", ["o, more m WHERE", "o JOIN more m ON"])
def test_an_equality_becomes_a_key_unless_a_condition_before_it_guards_it(form, condition, on):
    query = lower_query(f"SELECT o.id FROM orders {form} {condition}", TABLES)  # noqa: S608
    (join,) = [node for node in query.nodes if node.operator == "JoinRows"]
    assert list(join.values["on"]) == on


@pytest.mark.parametrize(
    ("conditions", "safe"),
    [
        (["a.n = b.n", "a.n IS NOT DISTINCT FROM b.n"], ()),
        (["a.n IS NOT DISTINCT FROM b.id", "a.n = b.n"], ()),
        (["a.n = b.n", "a.id IS NOT DISTINCT FROM b.n"], ("id",)),
        (["a.n IS NOT DISTINCT FROM b.n"], ("n",)),
    ],
)
@pytest.mark.parametrize(
    "form", ["JOIN more b ON {}", "LEFT JOIN more b ON {}", ", more b WHERE {}"]
)
def test_null_is_equal_to_null_unless_a_plain_equality_has_the_field(form, conditions, safe):
    query = "SELECT a.id FROM orders a " + form.format(" AND ".join(conditions))  # noqa: S608
    [join] = [node for node in lower_query(query, TABLES).nodes if "null_safe" in dict(node.values)]
    assert tuple(dict(join.values)["null_safe"]) == safe


def test_unique_keys_are_derived():
    tables = {"t": Schema(TABLES["orders"].fields, (("id",),))}
    query = lower_query("SELECT id AS k, n FROM t WHERE n > 0", tables)
    assert query.schema.unique == (("k",),)
    query = lower_query("SELECT region, n, count(*) FROM t GROUP BY 1, 2", tables)
    assert query.schema.unique == (("region", "n"),)


def test_every_part_of_a_formula_has_a_place():
    place = lower_query("SELECT id FROM orders WHERE\n  amount > 1", TABLES).nodes[0]
    tree = place.formulas["condition"]
    assert isinstance(tree, Expression)
    assert [(tree.mark.line, tree.mark.column), tree.mark.length] == [(2, 3), 10]
