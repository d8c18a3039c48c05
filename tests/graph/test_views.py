"""The operator SQL in graph files: its nodes, places of what is wrong, and every surface."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import rtbot
from rtbot import ops
from rtbot.builder import Builder
from rtbot.core.errors import GraphError
from rtbot.explain import explain
from rtbot.explain.explain_graph import format_graph
from rtbot.viz.drawing.boxes import build_diagram

ROOT = Path(__file__).parents[2]
ORDERS = "  orders: {changes: {id: integer, region: text, amount: number?}, unique: [id]}"
GRAPH = f"""
params: {{least: 10, where: {{type: text, default: north}}}}
inputs:
{ORDERS}
  more: {{changes: {{id: integer, region: text, amount: number?}}}}
operators:
  view:
    type: SQL
    in: {{o: orders, m: more}}
    doc: what came in
    query: |
      SELECT region, count(*) AS n, sum(amount) AS total
      FROM (SELECT * FROM o UNION ALL SELECT * FROM m) AS every
      WHERE amount > $least AND region <> $where
      GROUP BY region
  big: {{type: Where, in: view, condition: total > 15}}
outputs: [view, big]
tests:
  - name: rows come and go
    given:
      orders:
        - [1, 1, {{id: 1, region: south, amount: 20}}]
        - [1, 1, {{id: 2, region: north, amount: 20}}]
        - [2, -1, {{id: 1, region: south, amount: 20}}]
      more:
        - [2, 1, {{id: 7, region: south, amount: 11}}]
        - [2, 1, {{id: 8, region: south, amount: 1}}]
    expect:
      view:
        - [1, 1, {{region: south, n: 1, total: 20}}]
        - [2, -1, {{region: south, n: 1, total: 20}}]
        - [2, 1, {{region: south, n: 1, total: 11}}]
      big:
        - [1, 1, {{region: south, n: 1, total: 20}}]
        - [2, -1, {{region: south, n: 1, total: 20}}]
"""  # noqa: S608 (a test)


def row(number, region="south", amount=20.0):
    return {"id": number, "region": region, "amount": amount}


def test_a_view_is_the_nodes_of_its_query():
    graph = rtbot.load(GRAPH)
    nodes = {name: node.operator.__name__ for name, node in graph.checked.nodes.items()}
    assert nodes == {
        "view::union": "Union",
        "view::where": "Where",
        "view": "GroupBy",
        "big": "Where",
    }
    assert graph.checked.nodes["view"].types["o1"].schema.unique == (("region",),)
    assert graph.warnings == ()


def test_the_tests_of_a_graph_with_a_view():
    assert [str(outcome) for outcome in rtbot.load(GRAPH).test() if not outcome.passed] == []


def test_a_view_is_dumped_and_resumed_at_every_transaction():
    graph = rtbot.load(GRAPH)
    changes = [("orders", t, row(t % 3), 1) for t in range(1, 8)]
    changes += [("more", t, row(t, "west"), 1) for t in range(1, 8)]
    changes.sort(key=lambda one: one[1])
    whole, parts = graph.start(), graph.start()
    found = [[], []]
    for name, t, value, weight in changes:
        found[0].append(whole.push_one(name, t, value, weight=weight))
        found[1].append(parts.push_one(name, t, value, weight=weight))
        parts = graph.resume(parts.dump())
    assert found[0] == found[1]
    assert all("view" in one or not one for one in found[0])
    assert list(whole.account()["operators"]) == ["view::union", "view::where", "view", "big"]


def test_a_dump_does_not_fit_another_query():
    blob = rtbot.load(GRAPH).start().dump()
    other = rtbot.load(GRAPH.replace("count(*)", "count(amount)"))
    with pytest.raises(rtbot.CheckpointError):
        other.resume(blob)


def test_a_view_is_explained_by_its_query_and_its_operators():
    found = explain(rtbot.load(GRAPH))
    assert {name: one["view"] for name, one in found["operators"].items()} == {
        "view::union": "view",
        "view::where": "view",
        "view": "view",
        "big": None,
    }
    text = "\n".join(format_graph(found, 100))
    assert "view: the operators of this query\n    SELECT region, count(*) AS n" in text
    assert text.count("FROM (SELECT * FROM o UNION ALL SELECT * FROM m) AS every") == 1
    assert "unique (region) to big" in text


def test_a_view_is_drawn_as_one_box():
    drawn = build_diagram(rtbot.load(GRAPH).checked)
    assert [box.title for box in drawn.boxes] == ["orders", "more", "view", "big", "view", "big"]
    box = drawn.boxes[2]
    assert (box.subtitle, [port.label for port in box.ins]) == ("SQL", ["o", "m"])
    assert box.details[0] == "SELECT region, count(*) AS n,"


def test_a_view_is_built_in_python():
    b = Builder("built")
    orders = b.input("orders", {"changes": {"id": "integer", "region": "text"}})
    b.output(
        view=ops.SQL({"o": orders}, query="SELECT region, count(*) AS n FROM o GROUP BY 1"),
        same=ops.SQL(orders, query="SELECT region FROM orders"),
    )
    graph = b.graph()
    result = graph.run({"orders": [[1, 1, {"id": 1, "region": "west"}]]})
    assert result["view"]["n"].tolist() == [1]
    assert result["same"]["region"].tolist() == ["west"]


WRONG = [
    ("in: orders\n    query: |\n      SELECT id,\n        «regin»\n      FROM orders", "RT182"),
    ("in: orders\n    query: >-\n      SELECT id,\n        «regin»\n      FROM orders", "RT182"),
    ('in: orders\n    query: "SELECT id,\n        «regin»\n      FROM orders"', "RT182"),
    ("in: orders\n    query: 'SELECT ''x'' AS x, «regin» FROM orders'", "RT182"),
    ("in: orders\n    query: SELECT id FROM orders WHERE id > «$many»", "RT114"),
    ("in: {o: orders}\n    query: SELECT id FROM «orders»", "RT182"),
    ("in: [orders, «orders»]\n    query: SELECT id FROM orders", "RT124"),
    ("in: «price»\n    query: SELECT value FROM price", "RT125"),
    ("in: {«_o»: orders}\n    query: SELECT id FROM _o", "RT107"),
    ("in: orders\n    query: «[SELECT, id]»", "RT105"),
    ("in: orders\n    «qury»: SELECT id FROM orders", "RT104"),
    ("in: orders\n    «control»: price\n    query: SELECT id FROM orders", "RT122"),
]


@pytest.mark.parametrize(("operator", "code"), WRONG)
def test_what_is_wrong_is_placed_in_the_file(operator, code):
    head = f"inputs:\n{ORDERS}\n  price: number\noperators:\n  view:\n    type: SQL\n    "
    before, _, rest = f"{head}{operator}".partition("«")
    text = before + rest.replace("»", "")
    with pytest.raises(GraphError) as raised:
        rtbot.load(f"{text}\noutputs: [view]\n")
    problem = raised.value.problems[0]
    assert problem.code == code, str(raised.value)
    place = before.count("\n") + 1, len(before) - before.rfind("\n")
    assert (problem.mark.line, problem.mark.column) == place, str(raised.value)


def test_all_problems_of_all_queries_are_found_at_once():
    text = f"""
inputs:
{ORDERS}
operators:
  one: {{type: SQL, in: orders, query: "SELECT regin, sum(region) AS s FROM orders GROUP BY 1"}}
  two: {{type: SQL, in: orders, query: "SELECT foo(id) AS f FROM orders"}}
outputs: [one, two]
"""  # noqa: S608 (a test)
    with pytest.raises(GraphError) as raised:
        rtbot.load(text)
    codes = [(p.code, p.operator) for p in raised.value.problems]
    assert codes == [("RT182", "one"), ("RT133", "one"), ("RT131", "two")]


def test_a_query_of_a_mapping_has_lines_of_its_own():
    document = {
        "inputs": {"orders": {"changes": {"id": "integer"}}},
        "operators": {"v": {"type": "SQL", "in": "orders", "query": "SELECT\n  ix\nFROM orders"}},
        "outputs": ["v"],
    }
    with pytest.raises(GraphError) as raised:
        rtbot.load(document)
    assert str(raised.value).startswith("<mapping> operators.v.query:2:3: error[RT182]")
    assert "\n   2 |   ix\n     |   ^^" in str(raised.value)


def test_a_table_that_is_not_read_is_named():
    text = GRAPH.replace(" UNION ALL SELECT * FROM m", "")
    (warning,) = rtbot.load(text).warnings
    assert (warning.code, warning.message) == ("RT190", "the query does not read m")


def test_without_sqlglot_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(GraphError) as raised:
        rtbot.load(GRAPH)
    assert [p.code for p in raised.value.problems] == ["RT186"]
    assert "rtbot-graphs[sql]" in str(raised.value)


def test_without_sqlglot_a_query_ends_with_the_name_of_the_extra():
    code = "import sys; sys.modules['sqlglot'] = None; from rtbot.cli import main; main()"
    arguments = ["sql", "SELECT id FROM flights", "--in", "flights=graphs/data/flights.csv"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "error[RT186]: SQL needs sqlglot" in done.stderr
    assert "rtbot-graphs[sql]" in done.stderr


def test_parameters_of_a_query_may_touch_any_sign():
    text = "SELECT id FROM o WHERE id IN ($a,$b) OR id = $a-$b OR region = $c||$c"
    document = f"""
params: {{a: 5, b: -2, c: "it's"}}
inputs:
{ORDERS}
operators:
  view: {{type: SQL, in: {{o: orders}}, query: "{text}"}}
outputs: [view]
"""
    rows = [[1, 1, row(n)] for n in (1, 5, 7)] + [[1, 1, row(8, "it'sit's")]]
    result = rtbot.load(document).run({"orders": rows}, compiled="never")["view"]
    assert result["id"].tolist() == [5, 7, 8]


def test_a_parameter_that_is_wrong_is_reported_once():
    document = f"""
params: {{p: null}}
inputs:
{ORDERS}
operators:
  view: {{type: SQL, in: {{o: orders}}, query: SELECT $p AS k FROM o}}
outputs: [view]
"""  # noqa: S608 (a test)
    with pytest.raises(GraphError) as caught:
        rtbot.load(document)
    assert [problem.code for problem in caught.value.problems] == ["RT110"]
