"""Operators over rows in order in graph files: schemas, unique keys, values, what is refused."""

import pytest

from rtbot.core.errors import GraphError
from rtbot.explain.explain_changes import list_parameters
from rtbot.graph.check import check
from rtbot.graph.document import load_document

INPUTS = """
io: {unit: ms}
inputs:
  sales: {changes: {id: integer, region: text, t: integer?, x: number}, unique: [id]}
  more: {changes: {id: integer, region: text, t: integer, x: number}}
params: {limit: 10, key: '-x'}
operators:
"""


def read(operator):
    text = f"{INPUTS}  op: {operator}\noutputs: [op, sales, more]\n"
    return check(load_document(text)).nodes["op"]


ROWS = "id: integer, region: text, t: integer?, x: number"
PAIR = "id_2: integer, region_2: text, t_2: integer, x_2: number"


@pytest.mark.parametrize(
    ("operator", "fields", "unique"),
    [
        ("{type: TopRows, in: sales, order: -x, k: 3}", ROWS, (("id",),)),
        (
            "{type: TopRows, in: sales, by: [region], order: [t], k: 1}",
            ROWS,
            (("id",), ("region",)),
        ),
        ("{type: TopRows, in: more, order: [], k: 1, ties: true}", PAIR.replace("_2", ""), ()),
        (
            "{type: TopRows, in: sales, by: region, order: [$key], k: $limit, number: n}",
            f"{ROWS}, n: integer",
            (("id",), ("region", "n")),
        ),
        (
            "{type: TopRows, in: sales, order: [x], k: 2, ties: true, number: n}",
            f"{ROWS}, n: integer",
            (("id",),),
        ),
        (
            (
                "{type: OverRows, in: sales, by: [region], order: [t], compute: "
                "{n: number(), a: avg(id), p: lag(x), q: 'lead(x, 2, 0)', s: sum(t), c: count(t)}}"
            ),
            f"{ROWS}, n: integer, a: number, p: number?, q: number, s: integer?, c: integer",
            (("id",), ("region", "n")),
        ),
        (
            (
                "{type: OverRows, in: more, order: [t], compute: {m: max(region)}, "
                "frame: rows between 2 preceding and 1 preceding}"
            ),
            f"{PAIR.replace('_2', '')}, m: text?",
            (),
        ),
        (
            "{type: AsOfJoin, in: [sales, more], on: [region], match: [t], how: left}",
            f"{ROWS}, id_2: integer?, region_2: text?, t_2: integer?, x_2: number?",
            (("id",),),
        ),
        (
            "{type: IntervalJoin, in: [more, sales], match: {id: t}, lower: -5s, upper: 1}",
            f"{PAIR.replace('_2', '')}, {ROWS.replace(':', '_2:')}",
            (),
        ),
    ],
)
def test_schema(operator, fields, unique):
    schema = read(operator).types["o1"].schema
    assert (str(schema), schema.unique) == (f"{{{fields}}}", unique)


def test_values():
    node = read("{type: TopRows, in: sales, order: [-x, region], k: 3, offset: 2}")
    expected = {"order": (("x", True), ("region", False)), "k": 3, "offset": 2}
    assert node.values == {"by": (), "ties": False, "number": None, **expected}
    assert list_parameters(node) == {"order": "[-x, region]", "k": "3", "offset": "2"}
    node = read(
        "{type: OverRows, in: sales, compute: {p: lag(x), q: 'lead(x, 2, -1)', r: rank(), "
        "s: \"lead(region, 1, 'a')\", u: sum(x + 1)}, frame: all}"
    )
    assert node.values == {
        "by": (),
        "order": (),
        "frame": ("rows", None, None),
        "compute": (
            ("p", "lag", 1, None),
            ("q", "lead", 2, -1.0),
            ("r", "rank", 0, None),
            ("s", "lead", 1, "a"),
            ("u", "sum", 0, None),
        ),
    }
    assert list(node.formulas) == [f"compute.{name}" for name in "pqsu"]
    shown = "{p: lag(x), q: lead(x, 2, -1.0), r: rank(), s: lead(region, 1, 'a'), u: sum(x + 1.0)}"
    assert list_parameters(node) == {"frame": "all", "compute": shown}
    node = read("{type: IntervalJoin, in: [sales, more], match: t, lower: -5s, upper: 1}")
    assert (node.values["lower"], node.values["upper"]) == (-5000, 1)
    node = read("{type: AsOfJoin, in: [sales, more], match: x, tolerance: 0.5}")
    assert node.values["tolerance"] == 0.5


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("range", ("range", None, 0)),
        ("ROWS", ("rows", None, 0)),
        ("rows between 2 preceding and current row", ("rows", -2, 0)),
        ("ROWS BETWEEN  UNBOUNDED PRECEDING AND 1 FOLLOWING", ("rows", None, 1)),
        ("rows between 1 following and unbounded following", ("rows", 1, None)),
        ("range between unbounded preceding and unbounded following", ("rows", None, None)),
    ],
)
def test_frames(text, frame):
    node = read(f"{{type: OverRows, in: sales, order: t, frame: {text}, compute: {{s: sum(x)}}}}")
    assert node.values["frame"] == frame
    again = list_parameters(node)["frame"]
    node = read(f"{{type: OverRows, in: sales, order: t, frame: {again}, compute: {{s: sum(x)}}}}")
    assert node.values["frame"] == frame


@pytest.mark.parametrize(
    ("operator", "code", "part"),
    [
        ("{type: TopRows, in: sales, order: [-y], k: 1}", "RT120", "no field 'y'"),
        ("{type: TopRows, in: sales, order: [x, -x], k: 1}", "RT106", "twice"),
        ("{type: TopRows, in: sales, order: {x: 1}, k: 1}", "RT105", "without brackets"),
        ("{type: TopRows, in: sales, order: [x], k: 0}", "RT112", "from 1 to"),
        ("{type: TopRows, in: sales, k: 1}", "RT111", "order"),
        ("{type: TopRows, in: sales, order: [x], k: 1, offset: 1, ties: true}", "RT116", "ties"),
        ("{type: TopRows, in: sales, order: [x], k: 1, number: id}", "RT106", "already"),
        ("{type: TopRows, in: sales, order: [x], k: 1, number: 1a}", "RT107", "valid name"),
        ("{type: OverRows, in: sales, compute: {id: rank()}}", "RT106", "already"),
        ("{type: OverRows, in: sales, compute: {n: row_number()}}", "RT131", "number()"),
        ("{type: OverRows, in: sales, compute: {n: 'lag(x, y)'}}", "RT120", "'y'"),
        ("{type: OverRows, in: sales, compute: {n: 'lag(x, id)'}}", "RT133", "constant"),
        ("{type: OverRows, in: sales, compute: {n: 'lag(x, -1)'}}", "RT133", "from 0"),
        ("{type: OverRows, in: sales, compute: {n: 'lag(id, 1, 0.5)'}}", "RT133", "default"),
        ("{type: OverRows, in: sales, compute: {n: lag()}}", "RT132", "1 to 3"),
        ("{type: OverRows, in: sales, compute: {n: sum(region)}}", "RT133", "numbers"),
        ("{type: OverRows, in: sales, compute: {n: x + 1}}", "RT133", "window function"),
        ("{type: OverRows, in: sales, compute: {n: sum(x)}, frame: row}", "RT112", "preceding"),
        (
            (
                "{type: OverRows, in: sales, compute: {n: sum(x)}, "
                "frame: rows between 1 following and current row}"
            ),
            "RT112",
            "no rows",
        ),
        (
            (
                "{type: OverRows, in: sales, compute: {n: sum(x)}, "
                "frame: range between 1 preceding and current row}"
            ),
            "RT112",
            "up to the current row",
        ),
        ("{type: AsOfJoin, in: [sales, more], match: [t, x]}", "RT112", "more than 1"),
        ("{type: AsOfJoin, in: [sales, more], match: region}", "RT125", "a time"),
        ("{type: AsOfJoin, in: [sales, more], match: {t: x}}", "RT125", "integer"),
        ("{type: AsOfJoin, in: [sales, more], match: t, tolerance: 0.5}", "RT116", "fraction"),
        ("{type: AsOfJoin, in: [sales, more], match: t, tolerance: -1}", "RT112", "at least 0"),
        ("{type: AsOfJoin, in: [sales, more], match: t, tolerance: near}", "RT113", "-5s"),
        (
            "{type: IntervalJoin, in: [sales, more], match: t, lower: 1, upper: 0}",
            "RT116",
            "above upper",
        ),
    ],
)
def test_refusal(operator, code, part):
    with pytest.raises(GraphError) as caught:
        read(operator)
    (problem,) = caught.value.problems
    assert (problem.code, problem.mark.line) == (code, 8)
    assert part in f"{problem.message} {problem.hint}"
