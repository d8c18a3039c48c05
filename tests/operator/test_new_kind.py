"""A kind of parameter that is declared outside of the package works wherever parameters do.

The one class `Interval` is in the file of a plugin; nothing else knows it.
"""

import json

import jsonschema
import pytest

import rtbot
from rtbot import ops
from rtbot.cli.main import run
from rtbot.conformance import check_operator
from rtbot.explain import explain, render_operator_page
from rtbot.graph.plugins import load_plugin
from rtbot.graph.schema import build_schema
from rtbot.operator import REGISTRY

PLUGIN = '''
import re
from dataclasses import dataclass
from typing import ClassVar

from rtbot.core.scalar_values import NUMBER
from rtbot.operator import Example, In, Number, Operator, Out, Parameter, step
from rtbot.operator.parameter_kinds.schema_texts import build_scalar

INTERVAL = re.compile(r"(-?[0-9.]+) to (-?[0-9.]+)")


@dataclass(kw_only=True)
class Interval(Parameter):
    """Two numbers, written as `1 to 5`; a step sees `name_low` and `name_high`."""

    annotation: ClassVar[str] = "str"

    def describe(self):
        return "an interval such as 1 to 5"

    def format(self, value, unit):
        return "{:g} to {:g}".format(*value)

    def read_scalar(self, scalar, context):
        found = INTERVAL.fullmatch(scalar.text)
        if found is None:
            raise self.make_error(scalar, "write the lower bound first")
        low, high = map(float, found.groups())
        if low > high:
            raise self.make_error(scalar, code="RT112")
        return low, high

    def build_schema(self, texts):
        return build_scalar(self, "string", [INTERVAL.pattern, *texts])

    def list_arguments(self):
        return [f"{self.name}_low", f"{self.name}_high"]

    def encode(self, name, value):
        return "number", value[name.endswith("_high")]

    def draw(self, rng, span):
        low = rng.randint(-3, 3)
        return f"{low} to {low + rng.randint(0, 3)}"


class Limit(Operator):
    """The nearest value within an interval."""

    bounds = Interval(aliases=("range",), doc="where values stay")
    i1 = In("number", doc="values")
    o1 = Out("number", doc="values within the interval")
    example = Example(
        inputs={"i1": [(1, 0.5), (2, 3.0), (3, 9.0)]},
        outputs={"o1": [(1, 1.0), (2, 3.0), (3, 5.0)]},
        parameters={"bounds": "1 to 5"},
    )

    @step
    def step(i1, bounds_low, bounds_high):
        if i1 < bounds_low:
            return bounds_low
        return bounds_high if i1 > bounds_high else i1


class Inside(Operator):
    """Whether a value is within an interval."""

    bounds = Interval(default="0 to 1", doc="which values are inside")
    i1 = In("number", doc="values")
    o1 = Out("boolean", doc="whether the value is inside")
    formula = "i1 >= bounds_low and i1 <= bounds_high"
    example = Example(
        inputs={"i1": [(1, 0.5), (2, 3.0)]}, outputs={"o1": [(1, True), (2, False)]}
    )
'''
GRAPH = """\
params: {allowed: {type: text, default: -1 to 2}}
inputs: {x: number}
operators:
  within: {type: Limit, in: x, bounds: BOUNDS}
  inside: {type: Inside, in: x}
outputs: [within, inside]
"""
ROWS = {"x": {"t": [1, 2, 3], "value": [-7.0, 0.5, 7.0]}}


@pytest.fixture(autouse=True)
def plugin(own_folder):
    own_folder.joinpath("intervals.py").write_text(PLUGIN, encoding="utf-8")
    load_plugin("intervals.py")
    return "intervals.py"


def values(result, name):
    return result[name]["value"].tolist()


def load(bounds):
    return rtbot.load(GRAPH.replace("BOUNDS", bounds))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("bounds", ["-1 to 2", '"-1 to 2"', "$allowed"])
def test_steps_and_formulas_get_its_words(bounds, compiled):
    session = load(bounds).start(compiled=compiled)
    result = session.push(ROWS)
    assert values(result, "within") == [-1.0, 0.5, 2.0]
    assert values(result, "inside") == [False, True, False]


@pytest.mark.parametrize(
    ("bounds", "code", "message", "hint"),
    [
        ("1-2", "RT113", "bounds is '1-2', an interval such as 1 to 5 is expected", "lower"),
        ("2 to 1", "RT112", "bounds is '2 to 1', an interval such as 1 to 5 is expected", ""),
        ("[1, 2]", "RT105", "bounds is an interval such as 1 to 5, this is a list", "brackets"),
        ("", "RT105", "bounds has no value", "an interval such as 1 to 5 is expected"),
        ("allowed", "RT113", "bounds is allowed, an interval such", "write $allowed for"),
        ("$limits", "RT114", "unknown parameter $limits", "limits: VALUE"),
    ],
)
def test_errors_have_its_words_and_their_place(bounds, code, message, hint):
    with pytest.raises(rtbot.GraphError) as caught:
        load(bounds)
    (problem,) = caught.value.problems
    assert (problem.code, problem.mark.line) == (code, 4)
    assert problem.mark.column == 40
    assert message in problem.message
    assert hint in problem.hint


def test_a_missing_one_is_asked_for():
    with pytest.raises(rtbot.GraphError, match=r"Limit needs the parameter bounds"):
        rtbot.load("inputs: {x: number}\noperators: {y: {type: Limit, in: x}}\noutputs: [y]\n")


@pytest.mark.parametrize(
    ("bounds", "fits"),
    [("1 to 5", True), ("$allowed", True), ("1-5", False), ([1, 5], False), (3, False)],
)
def test_the_schema_of_editors_has_it(bounds, fits):
    graph = {
        "params": {"allowed": "1 to 5"},
        "inputs": {"x": "number"},
        "operators": {"y": {"type": "Limit", "in": "x", "range": bounds}},
        "outputs": ["y"],
    }
    schema = build_schema()
    assert jsonschema.Draft7Validator(schema).is_valid(graph) is fits
    shown = json.dumps(schema)
    assert "where values stay; an interval such as 1 to 5" in shown
    assert "which values are inside; an interval such as 1 to 5; default 0 to 1" in shown


def test_constructors_take_it():
    builder = rtbot.Builder("limits")
    x = builder.input("x", "number")
    limited = ops.Limit(x, bounds="-1 to 2")
    builder.output(within=limited, inside=ops.Inside(x, bounds=builder.parameter("p", "0 to 1")))
    result = builder.graph().start(compiled=False).push(ROWS)
    assert values(result, "within") == [-1.0, 0.5, 2.0]
    assert values(result, "inside") == [False, True, False]
    assert "bounds: 'str | ParameterRef'" in str(ops.Limit.__signature__)
    assert "bounds: 'str | ParameterRef' = '0 to 1'" in str(ops.Inside.__signature__)


def test_pages_explanations_and_pictures_show_it(capfd):
    page = render_operator_page(REGISTRY["Limit"])
    assert "| `bounds` or `range` | interval | required | where values stay |" in page
    assert "| `bounds` | interval | 0 to 1 | which values are inside |" in render_operator_page(
        REGISTRY["Inside"]
    )
    graph = load("-1 to 2")
    assert explain(graph)["operators"]["within"]["parameters"] == {"bounds": "-1 to 2"}
    assert "bounds = -1 to 2" in graph.draw()
    assert run(["doc", "Limit", "--plugin", "intervals.py"]) == 0
    assert "where values stay (or range; interval; required)" in capfd.readouterr().out


def test_operators_with_it_pass_all_checks():
    for name in ("Limit", "Inside"):
        report = check_operator(REGISTRY[name])
        assert report.failures == [], name
        assert report.counts["values"] == 6


def test_a_dump_fits_graphs_that_have_the_same_value():
    dump = load("-1 to 2").start(compiled=False).dump()
    load("$allowed").resume(dump)
    with pytest.raises(rtbot.CheckpointError):
        load("-1 to 3").resume(dump)


UNFINISHED = """
from rtbot.operator import In, Number, Operator, Out, Parameter


class Vague(Parameter):
    "A kind that says nothing."


class Blurred(Operator):
    "An operator."

    how = Vague(default=1)
    i1 = In("number")
    o1 = Out("number")
    formula = "i1"
"""


def test_a_kind_that_lacks_methods_is_refused(own_folder):
    own_folder.joinpath("vague.py").write_text(UNFINISHED, encoding="utf-8")
    with pytest.raises(rtbot.GraphError) as caught:
        load_plugin("vague.py")
    lacking = ("read_scalar", "build_schema", "encode")
    assert [(p.code, p.mark.line, p.message) for p in caught.value.problems] == [
        ("RT170", 12, f"Blurred: the kind Vague has no {method}") for method in lacking
    ]


def test_a_kind_that_gives_steps_names_has_to_encode_them(own_folder):
    text = PLUGIN.replace("def encode", "def encode_no")
    own_folder.joinpath("intervals.py").write_text(text, encoding="utf-8")
    with pytest.raises(rtbot.GraphError, match=r"RT170.*the kind Interval has no encode"):
        load_plugin("intervals.py")


def test_a_kind_without_random_values_cannot_be_checked(own_folder):
    text = PLUGIN.replace("def draw", "def draw_no")
    own_folder.joinpath("intervals.py").write_text(text, encoding="utf-8")
    load_plugin("intervals.py")
    failures = check_operator(REGISTRY["Limit"]).failures
    (line,) = [line for line in failures[0].lines if "bounds" in line]
    assert line.startswith("intervals.py:")
    assert line.endswith(": bounds has no random values: the kind Interval has no draw")


def test_the_verb_checks_operators_with_it(capfd):
    assert run(["check-operators", "intervals.py", "--cases", "2"]) == 0
    assert "2 operators: all is as it should be" in capfd.readouterr().out
