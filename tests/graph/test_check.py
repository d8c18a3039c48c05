"""The checker: good graphs to nodes, and every mistake to one problem with its place."""

import copy
import pickle
import random
from pathlib import Path

import pytest

import rtbot.operators
from rtbot.core.error_codes import CODES
from rtbot.core.errors import GraphError
from rtbot.expression import Formula, format_expression
from rtbot.graph.check import check
from rtbot.graph.document import load_document, parse_yaml
from rtbot.graph.model import Io, Ref
from rtbot.operator import REGISTRY, Type
from rtbot.operator.relation import Relation
from tests.oracles.vectors import example_kind

GRAPHS = sorted((Path(__file__).parents[2] / "graphs").glob("*.yaml"))
INPUTS = "inputs: {a: number, b: number, i: integer, f: boolean, s: text, n: number?}\n"


def checked(text, **params):
    return check(parse_yaml(text), params)


def graph(operators, outputs="[m]", more=""):
    """A graph of the inputs above, these operators on line 2, and more from line 4 on."""
    return f"{INPUTS}operators: {operators}\noutputs: {outputs}\n{more}"


def problems_of(text, **params):
    with pytest.raises(GraphError) as caught:
        check(parse_yaml(text), params)
    return list(caught.value.problems)


# Good graphs.


def test_a_graph_of_operators_and_expressions():
    found = checked(
        """
name: bands
description: two deviations
params: {window: 3, width: {type: number, default: 2, min: 0}}
inputs: {price: number}
operators:
  upper: ma + $width * sd
  ma: {type: MovingAverage, in: price, window: $window, doc: the middle, meta: {color: red}}
  sd: {type: StandardDeviation, in: [price], window_size: "3"}
outputs: {upper: upper, middle: ma.o1}
io: {unit: ms, time: at, key: symbol, late: drop, duplicates: last, lateness: 1.5s, bad: drop}
meta: {tags: [a, b]}
"""
    )
    assert found.name == "bands"
    assert found.description == "two deviations"
    assert found.params == {"window": 3, "width": 2.0}
    assert found.meta == {"tags": ["a", "b"]}
    assert found.outputs == {"upper": Ref("upper"), "middle": Ref("ma")}
    assert found.io == Io("ms", ("at",), ("symbol",), "drop", "last", 1500, "drop")
    assert list(found.nodes) == ["ma", "sd", "upper"]
    ma, upper = found.nodes["ma"], found.nodes["upper"]
    assert (ma.operator, ma.doc, ma.meta) == (
        REGISTRY["MovingAverage"],
        "the middle",
        {"color": "red"},
    )
    assert ma.values["window"] == found.nodes["sd"].values["window"] == 3
    assert upper.operator is Formula
    assert upper.inputs == {"i1": Ref("ma"), "i2": Ref("sd")}
    assert upper.values == {"width": 2.0}
    assert format_expression(upper.formulas["o1"]) == "i1 + $width * i2"
    assert upper.text == "ma + $width * sd"
    assert upper.mark.line == 7
    assert found.warnings == ()


def test_ports_of_an_expression_are_its_distinct_streams_in_order():
    node = checked(graph("{j: {type: Join, in: [a, b]}, m: j.o2 - b.o1 + j.o2 * b}")).nodes["m"]
    assert node.inputs == {"i1": Ref("j", "o2"), "i2": Ref("b")}
    assert format_expression(node.formulas["o1"]) == "i1 - i2 + i1 * i2"


def test_a_parameter_named_like_a_port_is_no_port():
    node = checked(graph("{m: a * $i1}", more="params: {i1: 2.5}")).nodes["m"]
    assert format_expression(node.formulas["o1"]) == "i1 * $parameter_i1"
    assert node.values == {"parameter_i1": 2.5}


def test_ids_with_a_dash_stand_in_backquotes():
    node = checked(graph("{my-op: a + 1, m: '`my-op` - a'}")).nodes["m"]
    assert node.inputs == {"i1": Ref("my-op"), "i2": Ref("a")}


def test_an_input_can_be_an_output():
    found = checked("inputs: {a: number}\noutputs: {x: a, y: a.o1}\n")
    assert found.outputs == {"x": Ref("a"), "y": Ref("a")}


@pytest.mark.parametrize(
    ("wiring", "expected"),
    [
        ("in: [a, b]", {"i1": "a", "i2": "b"}),
        ("in: {i2: a, i1: b}", {"i1": "b", "i2": "a"}),
        ("in: [a, a, b]", {"i1": "a", "i2": "a", "i3": "b"}),
        ("in: [a, b], numPorts: 2", {"i1": "a", "i2": "b"}),
        ("in: [a, b], portTypes: [number, number]", {"i1": "a", "i2": "b"}),
    ],
)
def test_wiring_by_position_and_by_name(wiring, expected):
    node = checked(graph(f"{{m: {{type: Join, {wiring}}}}}", "[m.o1]")).nodes["m"]
    assert {port: ref.id for port, ref in node.inputs.items()} == expected
    assert list(node.inputs) == sorted(expected)


def test_control_ports():
    expected = {"i1": Ref("a"), "c1": Ref("f")}
    for wiring in ("in: a, control: f", "in: {i1: a}, control: [f]", "in: {c1: f, i1: a}"):
        node = checked(graph(f"{{m: {{type: Variable, {wiring}}}}}")).nodes["m"]
        assert node.inputs == expected
        assert node.types["i1"] == Type("number", nullable=True)


def test_outputs_in_a_list_name_themselves():
    found = checked(graph("{j: {type: Join, in: [a, b]}, m: a}", "[m, j.o2]"))
    assert found.outputs == {"m": Ref("m"), "j_o2": Ref("j", "o2")}


@pytest.mark.parametrize(
    ("operator", "types"),
    [
        ("{type: MovingAverage, in: i, window: 2}", {"i1": "integer", "o1": "number"}),
        ("{type: StandardDeviation, in: i, window: 2}", {"i1": "integer", "o1": "number"}),
        ("{type: EMA, in: i, window: 2}", {"i1": "number", "o1": "number"}),
        ("{type: CompareSyncGT, in: [i, a]}", {"i1": "integer", "i2": "number", "o1": "boolean"}),
        ("{type: Addition, in: [i, i]}", {"i1": "integer", "i2": "integer", "o1": "integer"}),
        ("{type: Addition, in: [i, a]}", {"i1": "number", "i2": "number", "o1": "number"}),
        ("{type: Identity, in: n}", {"i1": "number?", "o1": "number?"}),
        ("{type: Identity, in: s}", {"i1": "text", "o1": "text"}),
        ("{type: Lag, in: s, n: 1}", {"i1": "text", "o1": "text"}),
        ("{type: Merge, in: [s, s]}", {"i1": "text?", "i2": "text?", "o1": "text"}),
        ("{type: Merge, in: [i, a]}", {"i1": "number?", "i2": "number?", "o1": "number"}),
        ("a > i", {"i1": "number", "i2": "integer", "o1": "boolean"}),
        ("coalesce(n, 0) + a", {"i1": "number?", "i2": "number", "o1": "number"}),
        ("n + 1", {"i1": "number?", "o1": "number?"}),
    ],
)
def test_types_of_ports(operator, types):
    node = checked(graph(f'{{m: "{operator}"}}' if operator[0] != "{" else f"{{m: {operator}}}"))
    assert {port: str(t) for port, t in node.nodes["m"].types.items()} == types


@pytest.mark.parametrize(
    ("how", "types"),
    [
        ("inner", ["number", "boolean", "number", "boolean"]),
        ("left", ["number", "boolean?", "number", "boolean?"]),
        ("right", ["number?", "boolean", "number?", "boolean"]),
        ("outer", ["number?", "boolean?", "number?", "boolean?"]),
        ("asof", ["number", "boolean?", "number", "boolean?"]),
    ],
)
def test_a_port_that_may_lack_a_message_is_nullable(how, types):
    found = checked(graph(f"{{m: {{type: Join, in: [a, f], how: {how}}}}}", "[m.o1]"))
    assert [str(t) for t in found.nodes["m"].types.values()] == types


@pytest.mark.parametrize(
    ("unit", "duration", "value"),
    [
        ("ms", "5s", 5_000),
        ("ms", "500ms", 500),
        ("ms", "1.5s", 1_500),
        ("s", "2m", 120),
        ("s", "1h", 3_600),
        ("ns", "1us", 1_000),
        ("us", "2d", 172_800_000_000),
        ("ms", "7", 7),
        ("ms", "0", 0),
        ("ms", "-5s", -5_000),
        ("s", "1.5h", 5_400),
        ("s", "1.50 h", 5_400),
        ("s", "1.0s", 1),
        ("s", "-0.25h", -900),
        ("ns", "0.000000001s", 1),
        ("ns", "9223372036.854775807s", 2**63 - 1),
    ],
)
def test_durations_are_counts_of_units(unit, duration, value):
    text = graph(
        f"{{m: {{type: TimeShift, in: a, shift: {duration}}}}}", more=f"io: {{unit: {unit}}}"
    )
    assert checked(text).nodes["m"].values["shift"] == value


@pytest.mark.parametrize(
    ("unit", "duration", "code"),
    [
        ("s", "0.5s", "RT115"),
        ("s", "1.0001h", "RT115"),
        ("ns", "0.0000000005s", "RT115"),
        ("ns", "9223372036854775808ns", "RT134"),
        ("ns", "106752d", "RT134"),
        ("s", ".5h", "RT113"),
        ("s", "1.h", "RT113"),
        ("s", "1,5h", "RT113"),
        ("s", "1e3s", "RT113"),
    ],
)
def test_a_duration_is_a_whole_number_of_units(unit, duration, code):
    text = graph(
        f"{{m: {{type: TimeShift, in: a, shift: '{duration}'}}}}", more=f"io: {{unit: {unit}}}"
    )
    assert [problem.code for problem in problems_of(text)] == [code]


@pytest.mark.parametrize("given", [None, ((4, 1), (0, 2.5))])
def test_points_are_in_order_of_x(given):
    text = graph(
        "{h: {type: Function, in: a, points: $curve}}",
        "[h]",
        "params: {curve: [[3, 1], [0, 2], [3, 0], [5, -1e3], [9, 1]]}\n",
    )
    if given is None:
        wanted = ((0.0, 2.0), (3.0, 1.0), (3.0, 0.0), (5.0, -1000.0), (9.0, 1.0))
        assert checked(text).nodes["h"].values["points"] == wanted
        assert checked(text).params["curve"] == wanted
    else:
        found = rtbot.load(text, curve=given)
        assert "curve: [[0.0, 2.5], [4.0, 1.0]]" in found.to_yaml()


def test_parameters_keep_their_types():
    text = graph(
        "{m: {type: Linear, in: [a, b], coefficients: $c}, k: {type: Join, in: [a, b], how: $how}}",
        "[m, k.o1]",
        "params: {c: [1, 2.5], how: left, x: '5', y: true, z: 1e3, "
        "d: {type: duration, default: 5s}}\n"
        "io: {unit: ms, lateness: $d}\n",
    )
    found = checked(text)
    assert found.params == {
        "c": (1.0, 2.5),
        "how": "left",
        "x": "5",
        "y": True,
        "z": 1000.0,
        "d": 5000,
    }
    assert found.nodes["m"].values["coefficients"] == (1.0, 2.5)
    assert found.nodes["k"].values["how"] == "left"
    assert found.io.lateness == 5000


@pytest.mark.parametrize("value", [50, "50"])
def test_values_given_at_the_call_are_typed(value):
    text = graph(
        "{m: {type: MovingAverage, in: a, window: $w}}", more="params: {w: {type: integer}}"
    )
    assert checked(text, w=value).nodes["m"].values["window"] == 50


def test_io_given_at_the_call_goes_before_the_file():
    document = load_document(graph("{m: a}", more="io: {unit: ms, key: [x], late: drop}"))
    found = check(document, None, {"key": ("site", "sensor"), "unit": "ns", "time": None})
    assert found.io == Io("ns", (), ("site", "sensor"), "drop")


def test_nodes_come_in_dependency_order_and_as_near_to_the_file_as_can_be():
    found = checked(graph("{z: y + 1, c: a, y: b * 2, m: c + z, d: a}", "[m, d]"))
    assert list(found.nodes) == ["c", "y", "z", "m", "d"]


def test_what_nothing_reads_is_a_warning():
    found = checked(graph("{m: a + f1, f1: b, k: i}", "[m]", "params: {p: 1}"))
    assert [(w.code, w.mark.line, w.mark.column) for w in found.warnings] == [
        ("RT190", 1, 44),
        ("RT190", 1, 56),
        ("RT190", 1, 65),
        ("RT191", 2, 31),
        ("RT192", 4, 10),
    ]
    assert all("warning[" in str(w) for w in found.warnings)


def test_tests_are_parsed_and_typed():
    text = graph(
        "{j: {type: Join, in: [a, n], how: left}, m: 'coalesce(j.o2, 0) > 1'}",
        "{hot: m}",
        """
tests:
  - name: keyed
    key: [site, number]
    params: {}
    given: {a: [[x, 1, 5, nan], ["2", 2, -7, -inf]], n: [[x, 1, 5, null]]}
    expect: {hot: [[x, 1, 5, false]], j.o2: [[x, 1, 5, null]], m: []}
    emits_nothing: [j.o1]
    tolerance: 1e-9
  - {given: {a: {csv: some.csv}}, error: RT112}
""",
    )
    keyed, file = checked(text).tests
    assert keyed.name == "keyed"
    assert keyed.key == ("site", "number")
    assert repr(keyed.given["a"].rows) == "(('x', 1, 5, nan), ('2', 2, -7, -inf))"
    assert keyed.given["n"].rows == (("x", 1, 5, None),)
    assert keyed.expect["hot"].rows == (("x", 1, 5, False),)
    assert keyed.expect["j.o2"].rows == (("x", 1, 5, None),)
    assert keyed.expect["m"].rows == ()
    assert keyed.targets["hot"] == Ref("m")
    assert keyed.targets["j.o1"] == Ref("j", "o1")
    assert keyed.tolerance == 1e-9
    assert (file.name, file.given["a"].file, file.error) == ("test 2", "some.csv", "RT112")


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_the_graphs_of_the_project_are_right(path):
    found = check(load_document(path))
    assert found.file == str(path)
    assert found.warnings == ()
    assert found.tests


def test_a_mapping_is_checked_like_a_file():
    source = {
        "params": {"w": 3},
        "inputs": {"a": "number"},
        "operators": {"m": {"type": "MovingAverage", "in": "a", "window": "$w"}, "k": "m * 2"},
        "outputs": ["k"],
    }
    assert check(load_document(source)).nodes["m"].values["window"] == 3
    source["operators"]["m"]["window"] = 2.5
    with pytest.raises(GraphError) as caught:
        check(load_document(source))
    assert str(caught.value) == (
        "<mapping> operators.m.window: error[RT113]: "
        "window is 2.5, an integer from 1 to 16777216 or a duration such as 5s is expected\n"
        "     a duration is a number such as 5 or 1.5, and one of ns, us, ms, s, m, h, d"
    )


JOINED = """\
inputs: {v: "vector[2]", n: number?, x: number}
operators:
  j: {type: Join, in: [v, n, x]}
  m: %s
outputs: [m]
"""


@pytest.mark.parametrize(
    ("operator", "hint"),
    [
        ("{type: MovingAverage, in: j.o1, window: 3}", "name an element: j.o1.0"),
        ("j.o1 + 1", "name an element: j.o1.0"),
        (
            "{type: MovingAverage, in: j.o2, window: 3}",
            "coalesce(j.o2, VALUE), or the operator Fill",
        ),
        ("{type: MovingAverage, in: v, window: 3}", "name an element: v.0"),
        ("{type: MovingAverage, in: n, window: 3}", "coalesce(n, VALUE)"),
        ("v.x + 1", "name an element: v.0, v.1"),
        ("j + 1", "name one of j.o1, j.o2, j.o3"),
        ("{type: Multiplexer, in: [x, x], control: [x]}", "control ports are fed by `control:`"),
    ],
)
def test_a_hint_names_what_a_graph_may_name(operator, hint):
    with pytest.raises(GraphError) as caught:
        check(parse_yaml(JOINED % operator))
    assert hint in caught.value.problems[0].hint


def test_outputs_are_named_as_they_are_declared():
    bar = "  bar: {type: TumblingAggregate, in: x, window: 5, how: [ohlc, sum]}\n"
    text = JOINED.replace("  m: %s\noutputs: [m]", f"{bar}outputs: [%s]")
    with pytest.raises(GraphError) as caught:
        check(parse_yaml(text % "bar"))
    shown = "bar.open, bar.high, bar.low, bar.close, bar.sum"
    assert caught.value.problems[0].hint == f"name one of {shown}"
    found = check(parse_yaml(text % "x"))
    hints = {problem.operator: problem.hint for problem in found.warnings}
    assert hints["bar"] == f"add it to outputs: {shown}"
    assert hints["j"] == "add it to outputs: j.o1, j.o2, j.o3"


SERIES = sorted({cls.__name__ for cls in REGISTRY.values() if not issubclass(cls, Relation)})


@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize("kind", ["number", "integer", "boolean", "text", "number?"])
def test_every_operator_on_every_type_is_a_node_or_a_graph_error(name, kind):
    cls = REGISTRY[name]
    example = cls.example
    generic = {f"x{p}" for p in example.inputs if cls.port(p).kind in ("T", "N")}
    inputs = {f"x{port}": example_kind(cls, port) for port in example.inputs}
    inputs = {name: kind if name in generic else k for name, k in inputs.items()}
    operator = {"type": name, "in": {port: f"x{port}" for port in example.inputs}}
    outputs = [f"m.{port}" for port in example.outputs]
    source = {"io": {"unit": "ms"}, "inputs": inputs, "outputs": outputs}
    source["operators"] = {"m": operator | dict(example.parameters)}
    try:
        node = check(load_document(source)).nodes["m"]
    except GraphError as error:
        assert {p.code for p in error.problems} <= {"RT125", "RT126"}
        assert kind != "number"
    else:
        assert {port.partition(".")[0] for port in node.outputs} >= set(example.outputs)
        assert {p: t.type for p, t in node.formulas.items() if p in node.types}.items() <= (
            node.types.items()
        )


# Mistakes: every one is one problem, at its place.

MOVING = "{m: {type: MovingAverage, in: a, window: 3}}"
BAD_OPERATORS = [
    ("{m: {type: MovingAverge, in: a, window: 3}}", "RT103", 23, "did you mean 'MovingAverage'?"),
    ("{m: {in: a}}", "RT110", 13, "has no type"),
    ("{m: {tpye: Identity, in: a}}", "RT104", 17, "did you mean 'type'?"),
    ("{m: {type: [Identity], in: a}}", "RT105", 23, "a list"),
    ("{m: [a]}", "RT105", 16, "a mapping or an expression"),
    ("{m: }", "RT105", 13, "is empty"),
    ("[a]", "RT141", 12, "come later"),
    ("{m: {prototype: X}}", "RT141", 17, "comes later"),
    ("{m: {type: MovingAverage, in: a, windw: 3}}", "RT104", 45, "did you mean 'window'?"),
    ("{m: {type: MovingAverage, in: a}}", "RT111", 13, "needs the parameter window"),
    ("{m: {type: MovingAverage, in: a, window: 0}}", "RT112", 53, "from 1 to"),
    ("{m: {type: MovingAverage, in: a, window: 2.5}}", "RT113", 53, "an integer"),
    ("{m: {type: MovingAverage, in: a, window: 1_0}}", "RT113", 53, "an integer"),
    ("{m: {type: MovingAverage, in: a, window: \uff13}}", "RT113", 53, "an integer"),
    ("{m: {type: MovingAverage, in: a, window: 5s}}", "RT115", 53, "no io.unit"),
    ("{m: {type: MovingAverage, in: a, window: 5 weeks}}", "RT113", 53, "such as 5s"),
    ("{m: {type: Lag, in: a, n: 5s}}", "RT113", 38, "counts messages"),
    ("{m: {type: MovingAverage, in: a, window: [3]}}", "RT105", 53, "this is a list"),
    ("{m: {type: MovingAverage, in: a, window: }}", "RT105", 53, "has no value"),
    ("{m: {type: MovingAverage, in: a, window: " + "9" * 5000 + "}}", "RT134", 53, "64 bits"),
    ("{m: {type: MovingAverage, in: a, window: 3, window_size: 3}}", "RT106", 56, "given twice"),
    ("{m: {type: MovingAverage, in: a, window: 3, partial: yes}}", "RT113", 65, "true or false"),
    ("{m: {type: PeakDetector, in: a, window: 4}}", "RT112", 52, "odd integer"),
    ("{m: {type: Scale, in: a, value: big}}", "RT113", 44, "a number"),
    ("{m: {type: Scale, in: a, value: nan}}", "RT113", 44, "a number"),
    ("{m: {type: Scale, in: a, value: 1e999}}", "RT113", 44, "a number"),
    ("{m: {type: Linear, in: [a, b], coefficients: 3}}", "RT105", 57, "a list"),
    ("{m: {type: Linear, in: [a, b], coefficients: [1, x]}}", "RT113", 61, "a number"),
    ("{m: {type: Function, in: a, points: 3}}", "RT105", 48, "write [[0, 1], [2.5, 3]]"),
    ("{m: {type: Function, in: a, points: [1, 2]}}", "RT105", 49, "a point of points is [x, y]"),
    ("{m: {type: Function, in: a, points: [[1, 2], [3]]}}", "RT105", 57, "this is a list of 1"),
    ("{m: {type: Function, in: a, points: [[1, 2]]}}", "RT112", 48, "at least 2 points"),
    ("{m: {type: Function, in: a, points: [[1, 2], [3, x]]}}", "RT113", 61, "the y of a point"),
    ("{m: {type: Function, in: a, points: [[1, 2], [1, 3]]}}", "RT116", 13, "one point each"),
    ("{m: {type: MovingAverage, in: a, window: $w}}", "RT114", 53, "unknown parameter $w"),
    ("{m: {type: MovingAverage, in: a, window: $}}", "RT114", 53, "names no parameter"),
    ("{m: {type: MovingAverage, in: a, window: $$w}}", "RT113", 53, "'$w'"),
    ("{m: {type: TimeShift, in: a, shift: 5s}}", "RT115", 48, "no io.unit"),
    ("{m: {type: TimeShift, in: a, shift: soon}}", "RT113", 48, "a duration"),
    ("{m: {type: TimeShift, in: a, shift: 5 s 3}}", "RT113", 48, "a duration"),
    ("{m: {type: Addition, in: [a, b], numPorts: 3}}", "RT116", 13, "3"),
    ("{m: {type: Merge, in: [a, b], ties: frist}}", "RT112", 48, "did you mean 'first'?"),
    ("{m: {type: MovingAverage, in: x, window: 3}}", "RT120", 42, "no input or operator 'x'"),
    ("{m: {type: MovingAverage, in: a + b, window: 3}}", "RT120", 42, "an operator of its own"),
    ("{m: {type: MovingAverage, in: $a, window: 3}}", "RT120", 42, "is not a reference"),
    ("{m: {type: MovingAverage, in: a., window: 3}}", "RT120", 42, "is not a reference"),
    ("{m: {type: MovingAverage, in: a.o1.x, window: 3}}", "RT120", 42, "is not a reference"),
    ("{m: {type: MovingAverage, in: a.o2, window: 3}}", "RT121", 42, "write a"),
    ("{j: {type: Join, in: [a, b]}, m: j + 1}", "RT121", 45, "j.o1, j.o2"),
    ("{m: {type: MovingAverage, in: [a, b], window: 3}}", "RT122", 46, "1 data port, 2 are fed"),
    ("{m: {type: MovingAverage, in: {i2: a}, window: 3}}", "RT122", 43, "only i1"),
    ("{m: {type: MovingAverage, in: a, control: b, window: 3}}", "RT122", 45, "no control port"),
    ("{m: {type: MovingAverage, in: , window: 3}}", "RT105", 42, "a reference is missing"),
    ("{m: {type: MovingAverage, in: [[a]], window: 3}}", "RT105", 43, "this is a list"),
    ("{m: {type: MovingAverage, window: 3}}", "RT123", 13, "m.i1 is not fed"),
    ("{m: {type: MovingAverage, in: [], window: 3}}", "RT123", 38, "m.i1 is not fed"),
    ("{m: {type: Addition, in: a}}", "RT123", 33, "m.i2 is not fed"),
    ("{m: {type: Addition, in: {i1: a, i3: b}}}", "RT123", 33, "m.i2 is not fed"),
    ("{m: {type: Addition, in: {i99999: a}}}", "RT122", 38, "no input port"),
    ("{m: {type: Variable, in: a}}", "RT123", 33, "m.c1 is not fed"),
    ("{m: {type: Variable, in: {i1: a, c1: f}, control: b}}", "RT124", 62, "fed twice"),
    ("{m: {type: MovingAverage, in: f, window: 3}}", "RT125", 42, "integer, f is boolean"),
    ("{m: {type: LogicalAnd, in: [f, a]}}", "RT125", 43, "takes boolean, a is number"),
    ("{m: {type: Addition, in: [a, s]}}", "RT125", 41, "number or integer, s is text"),
    ("{m: {type: Merge, in: [a, f]}}", "RT125", 38, "boolean (f), m.i1 with number (a)"),
    ("{m: {type: Merge, in: [s, s], ties: sum}}", "RT125", 13, "sum"),
    ("{m: {type: MovingAverage, in: n, window: 3}}", "RT126", 42, "coalesce(n, VALUE)"),
    ("{m: b + k, k: m * 2}", "RT127", 20, "m -> k -> m"),
    ("{m: m + a}", "RT127", 16, "m -> m"),
    ("{m: {type: Addition, in: [a, m]}}", "RT127", 41, "m -> m"),
    ("{a: b, m: a}", "RT106", 13, "an input already"),
    ("{m: a, m: b}", "RT106", 19, "first on line 2"),
    ("{1m: a, m: a}", "RT107", 13, "not a valid name"),
    ("{m é: a, m: a}", "RT107", 13, "not a valid name"),
    ("{" + "m" * 65 + ": a, m: a}", "RT107", 13, "not a valid name"),
    ("{m: a +}", "RT130", 19, "a value is expected"),
    ("{m: min(a, b)}", "RT130", 16, "quote an expression that holds a comma"),
    ("{m: 'if(a > 0, b, c)'}", "RT120", 30, "no input or operator 'c'"),
    ("{m: a + f}", "RT133", 18, "number and boolean"),
    ("{m: 3 + 4}", "RT136", 13, "reads no stream"),
    ("{m: a + $p}", "RT114", 20, "unknown parameter $p"),
    ("{my-op: a, m: my-op + 1}", "RT120", 26, "write `my-op` in backquotes"),
    ("{m: a - 9223372036854775808}", "RT134", 20, "64 bits"),
]


@pytest.mark.parametrize(("operators", "code", "column", "words"), BAD_OPERATORS)
def test_mistakes_in_operators(operators, code, column, words):
    found = problems_of(graph(operators))
    assert [(p.code, p.mark.line, p.mark.column) for p in found] == [(code, 2, column)]
    assert words in f"{found[0].message} {found[0].hint}"


BAD_FILES = [
    ("output: [m]", "RT141", 1, 1, "RtBot's own form"),
    ("apiVersion: v1", "RT141", 1, 1, "comes later"),
    (f"{INPUTS}operators: {{m: a}}\noutpts: [m]", "RT104", 3, 1, "did you mean 'outputs'?"),
    (f"inptus: {{a: number}}\noperators: {MOVING}\noutputs: [m]", "RT104", 1, 1, "'inputs'"),
    ("inputs: {a: number}\noperatrs: {m: a}\noutputs: [m]", "RT104", 2, 1, "'operators'"),
    (
        "inputs: {a: number}\nparms: {p: 1}\noperators: {m: a * $p}\noutputs: [m]",
        "RT104",
        2,
        1,
        "'params'",
    ),
    (f"{INPUTS}operators: {{m: a}}", "RT110", 1, 1, "add `outputs: [m]`"),
    (f"{INPUTS}operators: {{m: a}}\noutputs: []", "RT110", 3, 1, "no outputs"),
    ("operators: {m: a}\noutputs: [m]", "RT110", 1, 1, "no inputs"),
    ("inputs: [a]\noperators: {m: a}\noutputs: [m]", "RT105", 1, 9, "a mapping"),
    ("version: 2\n" + graph("{m: a}"), "RT112", 1, 10, "version is 1"),
    ("name: [x]\n" + graph("{m: a}"), "RT105", 1, 7, "name is text"),
    ("meta: x\n" + graph("{m: a}"), "RT105", 1, 7, "meta is a mapping"),
    ("prototypes: {}\n" + graph("{m: a}"), "RT141", 1, 1, "comes later"),
    ("imports: [x.yaml]\n" + graph("{m: a}"), "RT141", 1, 1, "comes later"),
    ("inputs: {a: float}\noutputs: [a]", "RT140", 1, 13, "did you mean 'number'?"),
    ("inputs: {a: nmber}\noutputs: [a]", "RT140", 1, 13, "did you mean 'number'?"),
    ("inputs: {a: Number}\noutputs: [a]", "RT140", 1, 13, "did you mean 'number'?"),
    ("inputs: {a: 'vector[0]'}\noutputs: [a]", "RT112", 1, 13, "a vector of 0 elements"),
    ("inputs: {a: vector}\noutputs: [a]", "RT140", 1, 13, "not a vector"),
    ("inputs: {a: 'record{b: numbr}'}\noutputs: [a.b]", "RT140", 1, 24, "did you mean"),
    ("inputs: {a: 'record{b: number, b: text}'}\noutputs: [a.b]", "RT106", 1, 32, "twice"),
    ("inputs: {a: 'record{b}'}\noutputs: [a.b]", "RT140", 1, 21, "not a field and its type"),
    ("inputs: {a: 'record{}'}\noutputs: [a.b]", "RT110", 1, 13, "no fields"),
    ("inputs: {a: 'record{b: number}?'}\noutputs: [a.b]", "RT140", 1, 13, "not null as a whole"),
    ("inputs: {a: record}\noutputs: [a.b]", "RT140", 1, 13, "not a record"),
    ("inputs: {a: record{b: number}}\noutputs: [a.b]", "RT101", 1, 19, "write {record:"),
    ("inputs: {a: {record: {b: 'record{c: text}'}}}\noutputs: [a.b]", "RT140", 1, 26, "a field is"),
    ("inputs: {a: {record: [b]}}\noutputs: [a.b]", "RT105", 1, 22, "a mapping of names and types"),
    ("inputs: {a: {record: {}}}\noutputs: [a.b]", "RT110", 1, 14, "no fields"),
    ("inputs: {a: {record: {t: number}}}\noutputs: [a.t]", "RT107", 1, 23, "as the time"),
    ("inputs: {a: {record: {b-c: text}}}\noutputs: [a.b]", "RT107", 1, 23, "not a valid name"),
    (
        "inputs: {a: {changes: {b: number?, b_valid: integer}}}\noutputs: [a]",
        "RT107",
        1,
        36,
        "has a field 'b_valid'",
    ),
    (
        (
            "inputs: {a: {changes: {b: integer, c: boolean}}}\noperators:\n"
            "  s: {type: Select, in: a, fields: {b: b, b_valid: c}}\noutputs: [s]"
        ),
        "RT107",
        3,
        3,
        "the output s has a field 'b_valid'",
    ),
    (
        "inputs: {a: {record: {b: number?, b_valid: boolean}}}\noutputs: [a.b]",
        "RT107",
        1,
        35,
        "has a field 'b_valid'",
    ),
    ("inputs: {a: {record: {b: text}, type: text}}\noutputs: [a.b]", "RT104", 1, 33, "there are"),
    ("inputs: {a: {record: {bid: text}}}\noutputs: [a.bdi]", "RT121", 2, 11, "did you mean 'bid'"),
    (
        "inputs: {a: {record: {b: text, c: text}}}\noutputs: {n: a.b, m: {k: a, l: a.c}}",
        "RT121",
        2,
        26,
        "name one of its fields: a.b, a.c",
    ),
    (
        "inputs: {a: {record: {b: text}, io: {columns: {c: X}}}}\noutputs: [a.b]",
        "RT120",
        1,
        48,
        "has no field 'c'",
    ),
    (
        "inputs: {a: {type: text, io: {columns: {c: X}}}}\noutputs: [a]",
        "RT104",
        1,
        31,
        "it is for a record",
    ),
    (
        "inputs: {a: {record: {b: number}}}\noutputs: [a.b]\nio: {duplicates: sum}",
        "RT160",
        3,
        18,
        "needs numbers",
    ),
    (
        "inputs: {a: {record: {b: number}}}\noutputs: [a.b]\nio: {columns_as: k}",
        "RT160",
        3,
        18,
        "one value in every cell",
    ),
    ("inputs: {a: text}\noutputs: {q: {b: a, c: d}}", "RT120", 2, 24, "no input or operator 'd'"),
    ("inputs: {a: text}\noutputs: {q: {t: a}}", "RT107", 2, 15, "as the time"),
    ("inputs: {a: text}\noutputs: {q: {}}", "RT110", 2, 11, "no fields"),
    ("inputs: {a: text}\noutputs: {q: {b: [a]}}", "RT105", 2, 18, "is a reference"),
    ("inputs: {a: {type: number, scope: all}}\noutputs: [a]", "RT141", 1, 28, "comes later"),
    ("inputs: {a: {typ: number}}\noutputs: [a]", "RT104", 1, 14, "did you mean 'type'?"),
    ("inputs: {a: {doc: x}}\noutputs: [a]", "RT110", 1, 10, "no type"),
    ("inputs: {a: }\noutputs: [a]", "RT105", 1, 10, "no type"),
    ("inputs: {a: [number]}\noutputs: [a]", "RT105", 1, 13, "this is a list"),
    ("inputs: {_a: number}\noperators: {m: _a}\noutputs: [m]", "RT107", 1, 10, "not a valid name"),
    (graph("{m: a}", "[m, m]"), "RT106", 3, 14, "given twice"),
    (graph("{m: a}", "{x: }"), "RT105", 3, 14, "a reference is missing"),
    (graph("{m: a}", "{x: [m]}"), "RT105", 3, 14, "this is a list"),
    (graph("{m: a}", "{x y: m}"), "RT107", 3, 11, "not a valid name"),
    (graph("{m: a}", "{x: mm}"), "RT120", 3, 14, "no input or operator"),
    (graph("{m: a}", "{x: m + 1}"), "RT120", 3, 14, "not a reference"),
    (graph("{m: a}", more="io: {unit: sec}"), "RT112", 4, 12, "one of s, ms, us, ns"),
    (graph("{m: a}", more="io: {units: s}"), "RT104", 4, 6, "did you mean 'unit'?"),
    (graph("{m: a}", more="io: {late: dropp}"), "RT112", 4, 12, "did you mean 'drop'?"),
    (graph("{m: a}", more="io: {lateness: 5s}"), "RT115", 4, 16, "no io.unit"),
    (graph("{m: a}", more="io: {lateness: -5}"), "RT112", 4, 16, "at least 0"),
    (graph("{m: a}", more="io: {unit: s, lateness: 5ms}"), "RT115", 4, 25, "whole number of s"),
    (graph("{m: a}", more="io: {key: [x, x]}"), "RT106", 4, 15, "given twice"),
    (graph("{m: a}", more="io: {ttl: 5}"), "RT141", 4, 11, "comes later"),
    (graph("{m: a}", more="io: {duplicates: sum}"), "RT160", 4, 18, "f is boolean"),
    (graph("{m: a}", more="io: [x]"), "RT105", 4, 5, "io is a mapping"),
    (graph("{m: a * $p}", more="params: {p: {type: number}}"), "RT111", 4, 10, "has no value"),
    (graph("{m: a * $p}", more="params: {p: {typ: number, default: 3}}"), "RT104", 4, 14, "'type'"),
    (graph("{m: a * $p}", more="params: {p: {type: nmber}}"), "RT140", 4, 20, "'number'"),
    (
        graph("{m: a * $p}", more="params: {p: {type: integer, default: 2.5}}"),
        "RT113",
        4,
        38,
        "an integer",
    ),
    (graph("{m: a * $p}", more="params: {p: {default: 2, min: 3}}"), "RT112", 4, 23, "at least 3"),
    (
        graph("{m: a * $p}", more="params: {p: {default: 2, min: 3, max: 1}}"),
        "RT116",
        4,
        31,
        "greater",
    ),
    (
        graph("{m: a * $p}", more="params: {p: {default: 2, choices: [1, 3]}}"),
        "RT112",
        4,
        23,
        "1, 3",
    ),
    (graph("{m: a * $p}", more="params: {p: {default: x, min: 3}}"), "RT105", 4, 31, "no min"),
    (graph("{m: a * $p}", more="params: {p: }"), "RT110", 4, 13, "neither a type nor a default"),
    (graph("{m: a * $p}", more="params: {p: text}"), "RT133", 2, 20, "cannot take"),
    (graph("{m: a}", more="params: {p-q: 3}"), "RT107", 4, 10, "not a valid name"),
    (graph("{m: a}", more="tests: {a: 1}"), "RT105", 4, 8, "tests is a list"),
    (graph("{m: a}", more="tests: [{expct: {m: []}}]"), "RT104", 4, 10, "did you mean 'expect'?"),
    (graph("{m: a}", more="tests: [{expect: {m: [[1]]}}]"), "RT150", 4, 23, "[t, value]"),
    (graph("{m: a}", more="tests: [{expect: {m: [[1, x]]}}]"), "RT150", 4, 27, "of type number"),
    (graph("{m: a}", more="tests: [{expect: {m: [[x, 1]]}}]"), "RT150", 4, 24, "not a time"),
    (graph("{m: a}", more="tests: [{expect: {m: 3}}]"), "RT150", 4, 22, "rows are a list"),
    (graph("{m: a}", more="tests: [{expect: {mm: []}}]"), "RT120", 4, 19, "no input or operator"),
    (graph("{m: a}", more="tests: [{given: {z: []}, error: RT112}]"), "RT120", 4, 18, "input 'z'"),
    (graph("{m: a}", more="tests: [{params: {z: 1}, error: RT112}]"), "RT114", 4, 19, "'z'"),
    (graph("{m: a}", more="tests: [{tolerance: -1, error: RT112}]"), "RT112", 4, 21, "at least 0"),
]


@pytest.mark.parametrize(("text", "code", "line", "column", "words"), BAD_FILES)
def test_mistakes_in_files(text, code, line, column, words):
    found = problems_of(text + "\n")
    assert [(p.code, p.mark.line, p.mark.column) for p in found] == [(code, line, column)]
    assert words in f"{found[0].message} {found[0].hint}"


@pytest.mark.parametrize(
    ("operator", "line", "column"),
    [
        ("  m: >\n    a +\n     (b * zz)\n", 5, 11),
        ("  m: |\n    a +\n\n     zz\n", 6, 6),
        ('  m: "a +\n     zz"\n', 4, 6),
        ("  m: a +\n     zz\n", 4, 6),
        ("  m: 'a + zz'\n", 3, 11),
    ],
)
def test_the_place_of_a_mistake_in_an_expression_of_several_lines(operator, line, column):
    found = problems_of(f"{INPUTS}operators:\n{operator}outputs: [m]\n")
    assert [(p.code, p.mark.line, p.mark.column) for p in found] == [("RT120", line, column)]


def test_all_mistakes_at_once_each_once_in_the_order_of_the_file():
    found = problems_of(
        """inputs: {a: number, z: nmber}
operators:
  m: {type: MovingAverage, in: a, window: 0}
  k: {type: Lag, in: m, n: x}
  l: k + q + q
  o: l * z
  p: o and m
outputs: {x: o, y: zz}
io: {unit: week}
"""
    )
    assert [(p.code, p.mark.line, p.operator) for p in found] == [
        ("RT140", 1, ""),
        ("RT112", 3, "m"),
        ("RT113", 4, "k"),
        ("RT120", 5, "l"),
        ("RT120", 8, ""),
        ("RT112", 9, ""),
    ]


def test_two_cycles_are_two_problems_and_what_stands_behind_them_is_none():
    found = problems_of(graph("{m: k, k: m, x: y, y: z, z: x, behind: m + x}", "[behind]"))
    assert [p.message for p in found] == ["a cycle: m -> k -> m", "a cycle: x -> z -> y -> x"]


@pytest.mark.parametrize(
    ("params", "code", "place", "words"),
    [
        ({"w": 0}, "RT112", "<parameters> w", "at least 1"),
        ({"w": "many"}, "RT113", "<parameters> w", "an integer"),
        ({"w": None}, "RT113", "<parameters> w", "None"),
        ({"w": object()}, "RT105", "<parameters> w", "object"),
        ({"w": 10**9999}, "RT134", "<parameters> w", "64 bits"),
        ({"w": 10**30}, "RT134", "<parameters> w", "64 bits"),
        ({"window": 3}, "RT114", "<parameters>", "unknown parameter 'window'"),
    ],
)
def test_wrong_values_given_at_the_call(params, code, place, words):
    text = graph(
        "{m: {type: MovingAverage, in: a, window: $w}}", more="params: {w: {default: 2, min: 1}}"
    )
    found = problems_of(text, **params)
    assert [(p.code, p.mark.file) for p in found] == [(code, place)]
    assert words in found[0].message


def test_the_text_of_an_error():
    with pytest.raises(GraphError) as caught:
        check(parse_yaml(graph("{m: {type: MovingAverge, in: a, window: 3}}"), "bollinger.yaml"))
    assert str(caught.value).splitlines() == [
        "bollinger.yaml:2:23: error[RT103]: unknown operator type 'MovingAverge'",
        "   2 | operators: {m: {type: MovingAverge, in: a, window: 3}}",
        "     |                       ^^^^^^^^^^^^ did you mean 'MovingAverage'?",
    ]


def test_errors_survive_pickling():
    with pytest.raises(GraphError) as caught:
        checked(graph("{m: a +}"))
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 (our own bytes)
    assert again.problems == caught.value.problems


def test_codes_are_tested():
    tested = {row[1] for row in BAD_OPERATORS} | {row[1] for row in BAD_FILES}
    elsewhere = {"RT101", "RT102", "RT108", "RT109", "RT131", "RT132", "RT135"}
    warnings = {f"RT19{k}" for k in range(8)}  # from RT193 on in tests/datalog
    operators = {f"RT17{k}" for k in range(5)}
    queries = {f"RT18{k}" for k in range(8)}  # tests/sql
    everything = tested | elsewhere | warnings | operators | queries
    assert {code for code in CODES if code < "RT2"} == everything


# Mappings that chance has made; files are made by tests.fuzz_files.

RICH = {
    "version": 1,
    "params": {
        "p": {"type": "number", "default": 2, "choices": [1, 2]},
        "d": {"type": "duration", "default": "5s", "min": "1s"},
        "c": [1, 2, 3],
        "how": "left",
        "u": {"type": "boolean", "default": True},
    },
    "inputs": {
        "a": "number",
        "n": {"type": "number?", "doc": "x", "io": {"time": ["d", "h"], "csv": {"skip": 1}}},
        "s": "text",
        "i": "integer",
    },
    "operators": {
        "j": {"type": "Join", "in": ["a", "n"], "how": "$how"},
        "m": {"type": "Linear", "in": ["a", "a", "a"], "coefficients": "$c"},
        "e": "if(j.o1 > 3 and not isnan(j.o1), coalesce(j.o2, 1), -j.o1 ** 2) * $p + if($u, 1, 0)",
        "v": {"type": "Variable", "in": "a", "control": {"c1": "s"}, "meta": {"a": [1]}},
        "t": {"type": "TimeShift", "in": {"i1": "i"}, "shift": "$d"},
        "x": "i ** 2 - e % 3",
    },
    "outputs": {"e": "e", "j": "j.o1", "v": "v", "t": "t", "m": "m", "x": "x"},
    "io": {
        "unit": "ms",
        "lateness": "$d",
        "key": {"k": "text"},
        "late": "drop",
        "time": "t",
        "null": ["?", -999],
        "columns_as": "k",
        "csv": {"delimiter": ";", "decimal": ",", "names": ["t", "a"]},
    },
    "tests": [
        {
            "name": "z",
            "key": ["k"],
            "params": {"p": 1, "c": [1]},
            "given": {"a": [["x", 1, 2]], "n": [["x", 1, None]], "s": {"csv": "f.csv"}},
            "expect": {"e": [["x", 1, 2]], "j.o2": []},
            "emits_nothing": ["v"],
            "tolerance": 0.1,
        }
    ],
}
JUNK = [None, [], {}, "x", 5, -1, True, 1.5, "$w", "$$", "$p", "$d", "$c", "", "a", "a.o1", "e"]
JUNK += ["j", "5s", "text?", "type", ["a"], ["a", "a"], {"i1": "a"}, "a + b", "a +", "min(a)"]
JUNK += ["1e400", 10**30, float("nan"), [[1, 2]], {"a": {"b": {}}}, "x y", "\x00", {1: 2}]
JUNK += [{"type": "Merge", "in": ["a", "i"]}, {"type": "Join", "in": ["a", "s"]}, object()]


def places(node):
    """Every (container, key) of nested dicts and lists."""
    keys = list(node) if isinstance(node, dict) else range(len(node))
    for key in keys:
        yield node, key
        if isinstance(node[key], dict | list):
            yield from places(node[key])


def test_mutated_mappings_give_nothing_but_graph_errors():
    check(load_document(RICH))
    rng = random.Random(11)
    for _ in range(500):
        source = copy.deepcopy(RICH)
        for _ in range(rng.randint(1, 3)):
            container, key = rng.choice(list(places(source)) or [({}, "a")])
            if rng.random() < 0.7:
                container[key] = copy.deepcopy(rng.choice(JUNK))
            elif key in container or isinstance(container, list):
                del container[key]
        try:
            check(load_document(source))
        except GraphError as error:
            assert error.problems
            assert str(error)


def test_thousands_of_mistakes_are_found_quickly():
    import time

    names = ", ".join(f"op-{k}: {{type: Type{k}, in: x{k}}}" for k in range(5_000))
    hidden = " ".join(["(a + f)", "\n"] * 30_000)
    long = " + ".join(["a"] * 90) + " " * 50_000 + "\n   + f"
    start = time.process_time()
    assert len(problems_of(graph("{" + names + "}", "[op-1]"))) == 5_000
    problems_of(graph(f"{{m: '{hidden}'}}"))
    problems_of(graph(f"{{m: '{long}', k: '{long}'}}"))
    assert time.process_time() - start < 5


def test_a_large_file_is_checked_quickly():
    import time

    lines = ["inputs: {a: number, b: number}", "params: {w: 20}", "operators:"]
    for k in range(1_000):
        source = f"e{k - 1}" if k else "a"
        lines.append(f"  m{k}: {{type: MovingAverage, in: {source}, window: $w}}")
        lines.append(f"  e{k}: m{k} + 2 * abs(b) - {k}")
    text = "\n".join([*lines, "outputs: [e999]", ""])
    start = time.process_time()
    assert len(checked(text).nodes) == 2_000
    assert time.process_time() - start < 2
