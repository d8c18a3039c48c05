"""What validates, explains, draws, builds and tests a graph, for tables that change."""

import json
from pathlib import Path

import pytest

import rtbot
from rtbot import ops
from rtbot.explain.examples import ExampleGraph
from rtbot.operator import REGISTRY
from rtbot.operator.relation import Relation

pytestmark = pytest.mark.usefixtures("own_folder")
RELATIONS = sorted({c for c in REGISTRY.values() if issubclass(c, Relation) and not c.abstract},
                   key=lambda cls: cls.__name__)  # fmt: skip
GRAPH = """\
name: g
inputs:
  orders: {changes: {id: integer, region: text?}, unique: [id]}
operators:
  some: {type: Where, in: orders, condition: id > 0}
  per: {type: GroupBy, in: some, by: [region], compute: {n: count()}}
outputs: [per]
tests:
  - given:
      orders: [[1, 1, {id: 7, region: north}], [2, -1, {id: 7, region: null}]]
"""
EXPECTED = (
    '    expect:\n      per: [[1, 1, {region: north, "n": 1}], [2, -1, {region: north, "n": 1}]]\n'
)


def test_validate_reports_all_problems_with_their_places(call):
    assert call("validate", "g.yaml", g__yaml=GRAPH)[:2] == (0, "")
    text = GRAPH.replace("id > 0", "idd > 0").replace("outputs: [per]", "outputs: [pr]")
    code, _, err = call("validate", "g.yaml", g__yaml=text)
    assert code == 3
    assert "g.yaml:5:46: error[RT1" in err
    assert "g.yaml:7:11: error[RT1" in err
    assert err.count("did you mean") == 2


@pytest.mark.parametrize("cls", RELATIONS, ids=lambda cls: cls.__name__)
def test_every_operator_is_listed_and_explained_and_has_a_constructor(call, cls):
    name = cls.__name__
    assert name in call("ops", "--grep", name)[1]
    assert f"type: {name}\n" in call("doc", name)[1]
    example = ExampleGraph(cls).text()
    assert call("test", "example.yaml", example__yaml=example)[0] == 0
    assert callable(getattr(ops, name))
    stub = Path(rtbot.__file__).with_name("ops.pyi").read_text("utf-8")
    assert f"def {name}(" in stub


def test_explain_shows_keys_states_and_code(call):
    code, out, _ = call("explain", "g.yaml", g__yaml=GRAPH)
    assert code == 0
    for part in ("the row of every key", "unique (region)", "compute {n: count()}"):
        assert part in out
    assert "def " in call("explain", "g.yaml", "--code")[1]
    shown = json.loads(call("explain", "g.yaml", "--format", "json")[1])
    assert json.dumps(shown).count("region") > 1


def test_the_schema_knows_inputs_and_operators(call):
    text = call("schema")[1]
    assert '"changes"' in text
    assert all(f'"{cls.__name__}"' in text for cls in RELATIONS)


def test_expectations_are_filled_in(call):
    assert call("test", "g.yaml", "--update", g__yaml=GRAPH)[0] == 0
    assert Path("g.yaml").read_text() == GRAPH + EXPECTED
    assert call("test", "g.yaml")[0] == 0


def test_deletes_are_filled_in_before_inserts_as_they_come_out(call):
    text = GRAPH.replace("[2, -1, {id: 7, region: null}]", "[2, 1, {id: 7, region: east}]")
    assert call("test", "g.yaml", "--update", g__yaml=text)[0] == 0
    rows = Path("g.yaml").read_text().partition("      per: ")[2]
    assert rows.index("[2, -1, {region: north") < rows.index("[2, 1, {region: east")


def test_inputs_written_in_another_way_are_explained(call):
    text = GRAPH.replace("unique: [id]", "key: [id]")
    assert "write unique: [...]" in call("validate", "g.yaml", g__yaml=text)[2]
    text = "inputs: {quote: {bid: number, ask: number}}\noutputs: [quote]\n"
    assert "write {record: {bid: number}}" in call("validate", "q.yaml", q__yaml=text)[2]


def test_a_graph_of_changes_is_built_in_python():
    g = rtbot.Builder("g")
    orders = g.changes("orders", {"id": "integer", "region": "text?"}, unique=["id"])
    some = ops.Where(orders, condition="id > 0", id="some")
    g.output(per=ops.GroupBy(some, by=["region"], compute={"n": "count()"}, id="per"))
    assert g.graph() == rtbot.load(GRAPH.partition("tests:")[0])
    assert g.graph().run({"orders": [[1, 1, {"id": 1, "region": None}]]})["per"]["n"].tolist() == [
        1
    ]
