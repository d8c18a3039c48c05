"""Operators of one's own: declared in a file, they are as good as ours; mistakes have a line."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

import pytest

import rtbot
from rtbot.explain.explain_operator import describe
from rtbot.explain.operator_page import format_operator, render_operator_page
from rtbot.graph.check.declaration import find_problems
from rtbot.graph.plugins import PluginError, load_plugin
from rtbot.operator import REGISTRY
from tests.catalogue import catalogue

ROOT = Path(__file__).parents[2]
HEAD = """\
import math
import statistics

from rtbot.operator import (
    EMIT, NEVER, SILENT, Boolean, Cells, Choice, Example, In, Integer, Number, Numbers, Operator,
    Out, Ring, Scalar, Span, WindowLength, step,
)

LIMIT = 1e6
ITEMS = [1, 2]


def plain(x):
    return x


@step
def clamp(x):
    return min(max(x, -LIMIT), LIMIT)


"""
DECAY = """\
class DecayForTest(Operator):
    '''Sum of all values so far, each weighed less with every message since.'''

    keep_share = Number(default=0.5, minimum=0, maximum=1, doc="what is kept at each message")
    i1 = In("number", alias="values", doc="values")
    o1 = Out("number", alias="sum", doc="their decaying sum")
    total = Scalar("number", 0.0)
    example = Example(
        inputs={"i1": [(1, 4.0), (2, 2.0)]}, outputs={"o1": [(1, 4.0), (2, 4.0)]}
    )

    @step
    def step(i1, keep_share, total):
        total = clamp(keep_share * total + i1)
        return total, total
"""
GRAPH = {
    "inputs": {"x": "number"},
    "operators": {"y": {"type": "DecayForTest", "in": "x"}},
    "outputs": ["y"],
    "tests": [
        {
            "name": "a sum decays",
            "given": {"x": [[1, 4], [2, 2]]},
            "expect": {"y": [[1, 4], [2, 4]]},
        }
    ],
}


@pytest.fixture
def plugin(tmp_path):
    """A function that writes a file of operators and loads it."""

    def load(text, name="plugin.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(HEAD + text, encoding="utf-8")
        load_plugin(str(path))
        return path

    return load


def push(graph, values=(4.0, 2.0), **options):
    rows = {"t": list(range(1, len(values) + 1)), "value": list(values)}
    result = rtbot.load(graph).start(**options).push({"x": rows})
    return next(iter(result.values()))["value"].tolist()


# ---- the whole way


NO_TEST_VERB = pytest.mark.skipif(
    find_spec("rtbot.cli.commands.test") is None, reason="this verb comes later"
)


def rtbot_of(folder, *arguments):
    command = [sys.executable, "-m", "rtbot", *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "RTBOT_INTERPRET": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env=environment
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["validate", "g.yaml"], "g.yaml: ok"),
        (["run", "g.yaml", "d.csv"], "t,y\n1,4\n2,4\n"),
        (["explain", "g.yaml"], "DecayForTest"),
        (["explain", "g.yaml", "--code=all"], "def DecayForTest__step("),
        pytest.param(["test", "g.yaml"], "", marks=NO_TEST_VERB),
        (["draw", "g.yaml", "-o", "-"], "DecayForTest"),
        (["ops", "--grep", "weighed"], "DecayForTest"),
        (["doc", "DecayForTest"], "what is kept at each message"),
        (["schema"], '"DecayForTest"'),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_every_verb_knows_the_operators_of_a_plugin(arguments, shown, tmp_path):
    (tmp_path / "my_ops.py").write_text(HEAD + DECAY)
    (tmp_path / "g.yaml").write_text(YAML)
    (tmp_path / "d.csv").write_text("t,x\n1,4\n2,2\n")
    code, out, err = rtbot_of(tmp_path, *arguments, "--plugin", "my_ops.py")
    assert (code, shown in out + err) == (0, True), out + err
    assert not (tmp_path / "__pycache__").exists()


YAML = """\
inputs: {x: number}
operators: {y: {type: DecayForTest, in: x}}
outputs: [y]
tests:
  - {given: {x: [[1, 4], [2, 2]]}, expect: {y: [[1, 4], [2, 4]]}}
"""


@pytest.mark.parametrize("compiled", [False, True])
def test_a_step_runs_compiled_and_interpreted_and_goes_on_after_a_restart(plugin, compiled):
    plugin(DECAY)
    assert push(GRAPH, compiled=compiled) == [4.0, 4.0]
    graph = rtbot.load(GRAPH)
    session = graph.start(key="k", compiled=compiled)
    first = session.push({"x": {"k": ["a", "b"], "t": [1, 1], "value": [4.0, 8.0]}})
    assert first["y"]["value"].tolist() == [4.0, 8.0]
    session = graph.resume(session.dump(), compiled=compiled)
    assert session.push_one("x", 2, 1.0, key="b") == {"y": [("b", 2, 5.0)]}


def test_a_class_in_a_module_that_is_imported_needs_no_plugin(tmp_path, monkeypatch):
    (tmp_path / "my_package_for_test.py").write_text(HEAD + DECAY)
    monkeypatch.syspath_prepend(tmp_path)
    import my_package_for_test

    assert push(GRAPH, compiled=False) == [4.0, 4.0]
    assert my_package_for_test.DecayForTest is REGISTRY["DecayForTest"]


def test_names_of_two_files_do_not_meet(plugin):
    for name, limit in (("OneForTest", 1.0), ("TwoForTest", 2.0)):
        text = DECAY.replace("DecayForTest", name)
        plugin(f"LIMIT = {limit}\n\n\n" + text, f"{name}.py")
    graph = {
        "inputs": {"x": "number"},
        "operators": {
            "OneForTest__step": {"type": "OneForTest", "in": "x"},
            "TwoForTest__LIMIT": {"type": "TwoForTest", "in": "x"},
            "all": "OneForTest__step * 100 + TwoForTest__LIMIT",
        },
        "outputs": ["all"],
    }
    for compiled in (False, True):
        assert push(graph, [9.0], compiled=compiled) == [102.0]


def test_a_helper_may_be_named_like_one_of_ours(plugin):
    text = DECAY.replace("clamp", "prefer")
    plugin("@step\ndef prefer(x):\n    return x\n\n\n" + text)
    graph = {
        "inputs": {"x": "number"},
        "operators": {
            "a": {"type": "DecayForTest", "in": "x"},
            "b": {"type": "WindowMinMax", "in": "a", "window": 2, "mode": "max", "partial": True},
        },
        "outputs": ["b"],
    }
    assert push(graph, compiled=False) == [4.0, 4.0]


def test_the_operator_of_the_documentation_does_what_its_example_says():
    path = ROOT / "graphs" / "operators" / "drawdown.py"
    page = (ROOT / "docs" / "custom-operators.md").read_text(encoding="utf-8")
    assert path.read_text(encoding="utf-8") in page
    load_plugin(str(path))
    example = REGISTRY["Drawdown"].example
    graph = rtbot.load(
        {
            "inputs": {"x": "number"},
            "operators": {"y": {"type": "Drawdown", "in": {"values": "x"}}},
            "outputs": ["y.share"],
        }
    )
    for compiled in (False, True):
        table = graph.start(compiled=compiled).push({"x": example.inputs["i1"]})["y_share"]
        assert list(zip(table["t"], table["value"], strict=True)) == example.outputs["o1"]


# ---- editing


def test_an_edited_plugin_gives_its_new_results(plugin):
    plugin(DECAY)
    assert push(GRAPH, compiled=True) == [4.0, 4.0]
    graph = rtbot.load(GRAPH)
    blob = graph.start(compiled=True).dump()
    plugin(DECAY.replace("+ i1)", "- i1)"))
    assert push(GRAPH, compiled=True) == [-4.0, -4.0]
    with pytest.raises(rtbot.CheckpointError, match="another graph"):
        rtbot.load(GRAPH).resume(blob)
    plugin(DECAY.replace("+ i1)", "- i1)").replace("LIMIT", "LIMIT").replace("0.5", "0.0"))
    assert push(GRAPH, compiled=True) == [-4.0, -2.0]


def test_an_edited_constant_or_helper_counts_too(plugin):
    plugin(DECAY)
    text = rtbot.load(GRAPH).code()
    plugin("LIMIT = 3.0\n\n\n" + DECAY)
    assert rtbot.load(GRAPH).code() != text
    assert push(GRAPH, compiled=True) == [3.0, 3.0]


def test_the_same_file_twice_is_one(plugin):
    path = plugin(DECAY)
    load_plugin(str(path))
    load_plugin(os.path.relpath(path))
    assert push(GRAPH, compiled=False) == [4.0, 4.0]


def test_an_alias_that_an_edit_removes_is_gone(plugin):
    alias = DECAY.replace("    keep_share", '    aliases = ("FadingForTest",)\n    keep_share')
    plugin(alias)
    assert REGISTRY["FadingForTest"] is REGISTRY["DecayForTest"]
    plugin(DECAY)
    assert "FadingForTest" not in REGISTRY


@pytest.mark.parametrize("name", ["MovingAverage", "CountNumber", "DecayForTest"])
def test_two_operators_of_one_name_are_refused_with_both_places(name, plugin):
    plugin(DECAY)
    with pytest.raises(rtbot.GraphError) as caught:
        plugin(DECAY.replace("DecayForTest", name), "other.py")
    (problem,) = caught.value.problems
    assert problem.code == "RT171"
    assert problem.source == f"class {name}(Operator):"
    assert problem.mark.file.endswith("other.py")
    assert {"DecayForTest": "plugin.py"}.get(name, "operators") in problem.hint
    assert REGISTRY["MovingAverage"].__module__ == "rtbot.operators.windows"


# ---- mistakes in declarations


def operator(body, base="Operator"):
    return f"class WrongForTest({base}):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


PORTS = 'i1 = In("number")\no1 = Out("number")\n'
STEP = PORTS + "total = Scalar('number', 0.0)\n\n@step\n"
DUE = PORTS + "due = Scalar('integer', NEVER)\nsilent = True\nsets_time = True\n"
CLOSE = "@step\ndef close(time):\n    return EMIT, time, 0.0, NEVER\n"
OPEN = "@step\ndef step(i1, time):\n    return SILENT, time, i1, time + 1"
SILENT_OUTPUT = 'i1 = In("number")\no1 = Out("number", silent=True)\n'

MISTAKES = [
    (PORTS, "class WrongForTest", "neither a step nor a formula", "write a step, or a formula"),
    ('o1 = Out("number")\nformula = "1"', "class WrongForTest", "has no input", ""),
    ('i1 = In("number")\nformula = "i1"', "class WrongForTest", "has no output", ""),
    ('i1 = In("numbr")\no1 = Out("number")\nformula = "i1"', 'i1 = In("numbr")', "a kind", "numb"),
    ('i1 = In("number")\no1 = Out("T")\nformula = "i1"', 'o1 = Out("T")', "no input is", ""),
    (
        'i1 = In("number", role="should")\no1 = Out("number")\nformula = "i1"',
        "i1",
        "not a role",
        "may",
    ),
    ('x = In("number")\no1 = Out("number")\nformula = "x"', 'x = In("number")', "not a name", "i1"),
    ('i2 = In("number")\no1 = Out("number")\nformula = "i2"', "i2", "not a name of a port", "i1"),
    ('i1 = In("number")\nout = Out("number")\nformula = "i1"', "out", "not a name of a port", "o1"),
    (PORTS + 'doc = Number()\nformula = "i1"', "doc = Number()", "meaning of its own", "rename"),
    (PORTS + 'm = Choice(options=("a",), default="b")\nformula = "i1"', "m = ", "default 'b'", "a"),
    (PORTS + 'formula = "2 * i1 +"', '"', "a value is expected", ""),
    (PORTS + 'formula = "2 * i2"', "i2", "i2 is neither a port nor a parameter", "only i1"),
    (
        PORTS + 'formula = "2 * squrt(i1)"',
        "squrt",
        "unknown function 'squrt'",
        "did you mean 'sqrt'",
    ),
    (PORTS + 'formula = "$w * i1"', "$w", "$w is not a parameter here", "write w"),
    (PORTS + 'formula = "i1"\nkeep = "i1 > limit"', "limit", "limit is neither a port", ""),
    (
        PORTS + 'formula = "i1"\n\n@step\ndef step(i1):\n    return i1',
        "formula",
        "a step and a form",
        "keep",
    ),
    (PORTS + 'x = Scalar("float", 0.0)\nformula = "i1"', "x = Scalar", "'float' is not a kind", ""),
    (PORTS + 'x = Ring("i2", size="n")\nformula = "i1"', "x = Ring", "not an input port", "i1"),
    (
        PORTS + 'x = Ring("i1", size="n")\nformula = "i1"',
        "x = Ring",
        "'n' is not an Integer",
        "add n =",
    ),
    (STEP + "def step(i1, totl):\n    return i1, totl", "totl", "totl names nothing", "'total'"),
    (
        STEP + "def step(self, i1, total):\n    return i1, total",
        "self",
        "has no self",
        "leave it out",
    ),
    (STEP + "def step(i1, total, n=3):\n    return i1, total", "def step", "plain arguments", ""),
    (STEP + "def step(i1, total):\n    return i1 + 1", "return", "1 value, 2 are", "o1, total"),
    (STEP + "def step(i1, total):\n    return EMIT, i1, total", "return", "3 values, 2 are", "o1"),
    (STEP + "def step(i1, total):\n    return 'high', total", "'high'", "returns 'high'", "text"),
    (
        STEP + "def step(i1, total):\n    return i1 if i1 > 0 else None, total",
        "None",
        "it returns None",
        "SILENT",
    ),
    (
        STEP
        + "def step(i1, total):\n    if i1 < 0:\n        raise ValueError\n    return i1, total",
        "raise",
        "it raises",
        "return SILENT",
    ),
    (
        STEP
        + "def step(i1, total):\n    try:\n        total = 1 / i1\n    except ZeroDivisionError:\n"
        "        pass\n    return i1, total",
        "try",
        "it has a try",
        "`divide`",
    ),
    (
        STEP + "def step(i1, total):\n    ITEMS.append(i1)\n    return i1, total",
        "ITEMS",
        "it uses ITEMS",
        "is state: a Scalar",
    ),
    (
        STEP + "def step(i1, total):\n    return i1 + id(i1) % 2, total",
        "id",
        "it uses id",
        "from its arguments alone",
    ),
    (
        STEP + "def step(i1, total):\n    if i1 > 0:\n        return\n    return i1, i1",
        "return",
        "0 v",
        "",
    ),
    (
        STEP + "def step(i1, total):\n    total += i1",
        "def step",
        "returns nothing",
        "return o1, tot",
    ),
    (STEP + "def step(i1, total):\n    return plain(i1), total", "plain", "neither a ", "@step"),
    (STEP + "def step(i1, total):\n    return ITEMS[0], total", "ITEMS", "nor a number", ""),
    (STEP + "def step(i1, total):\n    return vlaue, total", "vlaue", "vlaue is not defined", ""),
    (
        STEP + "def step(i1, total):\n    return statistics.pi, total",
        "statistics",
        "module",
        "math",
    ),
    (
        "silent = True\n" + STEP + "def step(i1, total):\n    return i1, total",
        "return",
        "3 are",
        "code",
    ),
    (PORTS + "step = step(lambda i1: i1)", "step = step", "cannot be read", "`def`"),
    (
        PORTS + "sets_time = True\n" + CLOSE + OPEN,
        "def close",
        "no state says when it is due",
        "Scalar",
    ),
    (
        SILENT_OUTPUT + 'formula = "i1"',
        "o1 = Out",
        "o1 is silent, and made by a formula",
        "keep",
    ),
    (
        SILENT_OUTPUT + "@step\ndef step(i1):\n    return i1 + 1",
        "return",
        "1 value, 2 are",
        "o1, o1_on",
    ),
    (
        PORTS + 'i2 = In("number", within="i9")\nformula = "i1 + i2"',
        "i2 = In",
        "within is 'i9', not another port",
        'within="i1"',
    ),
    (DUE + "sets_time = False\n" + CLOSE + OPEN, "def close", "of its own", "sets_time"),
    (DUE + 'frontier = Scalar("integer", 0)\n' + CLOSE + OPEN, "frontier", "no frontier", "leave"),
    (
        DUE + CLOSE.replace("(time)", "(i1)") + OPEN,
        "i1",
        "close: the argument i1 names nothing",
        "time",
    ),
    (
        DUE + CLOSE.replace("EMIT, time", "EMIT") + OPEN,
        "return",
        "close: it returns 3 values, 4 are",
        "code, time, o1, due",
    ),
]


@pytest.mark.parametrize(("body", "underlined", "message", "hint"), MISTAKES)
def test_a_wrong_declaration_is_told_at_its_line(body, underlined, message, hint, plugin):
    with pytest.raises(rtbot.GraphError) as caught:
        plugin(operator(body))
    problem = next(p for p in caught.value.problems if message in p.message)
    assert problem.code == "RT170"
    assert problem.mark.file.endswith("plugin.py")
    start = problem.mark.column - 1
    assert problem.source[start:].startswith(underlined)
    assert hint in problem.hint
    assert "WrongForTest" in str(problem)


def test_a_name_that_a_file_declares_twice_is_told_at_the_second(plugin):
    with pytest.raises(rtbot.GraphError) as caught:
        plugin(DECAY + "\n\n" + DECAY.replace("Sum of", "A sum of"))
    (problem,) = caught.value.problems
    assert (problem.code, problem.source) == ("RT171", "class DecayForTest(Operator):")
    assert problem.mark.line > HEAD.count("\n") + DECAY.count("\n")
    assert f"plugin.py:{HEAD.count(chr(10)) + 1}" in problem.hint


def test_all_mistakes_are_told_at_once(plugin):
    with pytest.raises(rtbot.GraphError) as caught:
        plugin(operator('x = In("a")\no2 = Out("b")\nformula = "("'))
    assert len(caught.value.problems) == 5


def test_a_class_that_was_never_checked_is_checked_by_the_graph_that_uses_it(tmp_path, monkeypatch):
    text = HEAD + operator(STEP + "def step(i1, wrong):\n    return i1, i1")
    (tmp_path / "unchecked_for_test.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    import unchecked_for_test  # noqa: F401

    graph = {"inputs": {"x": "number"}, "operators": {}, "outputs": ["a"]}
    graph["operators"] = {name: {"type": "WrongForTest", "in": "x"} for name in "ab"}
    with pytest.raises(rtbot.GraphError) as caught:
        rtbot.load(graph)
    (problem,) = caught.value.problems
    assert (problem.code, problem.source.strip()) == ("RT170", "def step(i1, wrong):")


@pytest.mark.parametrize("name", catalogue())
def test_our_own_declarations_have_no_problem(name):
    assert find_problems(catalogue()[name]) == ()


def test_a_formula_that_is_chosen_and_wrong_is_told_at_the_class(plugin):
    plugin(
        operator(
            PORTS + "@staticmethod\ndef formula(values, ports):\n    return 'i1 + nothing'",
        )
    )
    with pytest.raises(rtbot.GraphError, match="nothing is neither a port") as caught:
        push(GRAPH | {"operators": {"y": {"type": "WrongForTest", "in": "x"}}, "tests": []})
    assert caught.value.problems[0].code == "RT170"
    assert caught.value.problems[0].mark.file.endswith("plugin.py")


# ---- mistakes that only the compiler or a run finds


FAULTS = [
    ("return i1.size, total", "RT172", "step cannot be compiled: Unknown attribute 'size'", True),
    ("return [i1][0], total", "RT172", "it makes a list, a text or an array", True),
    ("a = i1, total, 3\n    return a", "RT172", "more or fewer values than are declared", True),
    ("a = i1, total, 3\n    return a", "RT173", "more or fewer values than are declared", False),
    ("x = 'a'\n    return x, total", "RT172", "what it returns as o1 is no number", True),
    (
        "o = None\n    if i1 > 5:\n        o = i1\n    return o, total",
        "RT173",
        "of another type",
        True,
    ),
    ("return i1, (1.0, None)[int(i1)]", "RT173", "what it returns as total is no number", False),
    ("return 1 / (i1 - i1), total", "RT173", "raised ZeroDivisionError", False),
    ("return helper(i1), total", "RT173", "helper raised ZeroDivisionError", False),
    ("return helper(i1), total", None, "", True),
]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("body", "value"), [("i1 > 0.0", 1.0), ("7", 7.0)])
def test_a_number_is_one_whatever_a_step_returns_for_it(body, value, compiled, plugin):
    plugin(operator(STEP + f"def step(i1, total):\n    return {body}, {body}"))
    graph = GRAPH | {"operators": {"y": {"type": "WrongForTest", "in": "x"}}, "tests": []}
    session = rtbot.load(graph).start(compiled=compiled)
    pushed = session.push({"x": {"t": [1], "value": [1.0]}})["y"]["value"].tolist()
    found = [value for _, value in session.push_one("x", 2, 1.0)["y"]]
    assert [repr(one) for one in (*pushed, *found)] == [repr(value)] * 2


@pytest.mark.parametrize(("body", "code", "message", "compiled"), FAULTS)
@pytest.mark.parametrize("one", [False, True])
def test_what_the_compiler_or_a_run_finds_is_told_at_the_step(
    body, code, message, compiled, one, plugin
):
    helper = "@step\ndef helper(x):\n    return 1 / (x - x)\n\n\n"
    text = f"def step(i1, total):\n    {body}"
    plugin(helper + operator(STEP + text))
    graph = GRAPH | {"operators": {"y": {"type": "WrongForTest", "in": "x"}}, "tests": []}
    session = rtbot.load(graph).start(compiled=compiled)
    push_it = {
        False: lambda: session.push({"x": {"t": [1], "value": [1.0]}}),
        True: lambda: session.push_one("x", 1, 1.0),
    }[one]
    if code is None:
        assert push_it()["y"]
        return
    with pytest.raises(rtbot.GraphError) as caught:
        push_it()
    (problem,) = caught.value.problems
    assert (problem.code, message in problem.message) == (code, True), problem
    assert problem.mark.file.endswith("plugin.py")
    assert problem.source.strip() in [
        *body.split("\n    "),
        *text.split("\n"),
        "return 1 / (x - x)",
    ]


@pytest.mark.parametrize(
    ("due", "message"),
    [
        ("time + 0.5", "step raised TypeError: what it returns as due is no integer"),
        ("time + (1 << 62) * 2", "it returns an integer beyond 64 bits"),
    ],
)
def test_state_that_cannot_be_kept_is_told_at_the_step(due, message, plugin):
    plugin(operator(DUE + CLOSE + OPEN.replace("time + 1", due)))
    graph = GRAPH | {"operators": {"y": {"type": "WrongForTest", "in": "x"}}, "tests": []}
    session = rtbot.load(graph).start(compiled="never")
    with pytest.raises(rtbot.GraphError) as caught:
        session.push_one("x", 1, 1.0)
    (problem,) = caught.value.problems
    assert (problem.code, message in problem.message) == ("RT173", True), problem
    assert problem.mark.file.endswith("plugin.py")


LEAVING = """\
window = WindowLength(doc="how long the window is")
i1 = In("number")
o1 = Out("number")
values = Ring("i1", size="window")
seen = Span({"time": "integer"})
count = Scalar("integer", 0)
total = Scalar("number", 0.0)
@step
def leave(values_leaving, count, total):
    return LEFT, total - values_leaving
@step
def step(
    i1, time, values_leaving, values_evicts, seen_count, seen_time, seen_time_first, count, total
):
    seen_time[seen_time_first + seen_count] = time
    dropped = 1 if seen_count == 3 else 0
    count += 1
    total += i1
    if values_evicts:
        count -= 1
        total -= values_leaving
    return 100 * (seen_count + 1 - dropped) + total, dropped, seen_count + 1 - dropped, count, total
"""


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("left", ["count - 1", "count - 0.5"])
def test_what_leaves_a_window_is_checked_without_the_lists(left, compiled, plugin):
    plugin(operator(LEAVING.replace("LEFT", left)))
    node = {"type": "WrongForTest", "in": "x", "window": "3ns"}
    graph = GRAPH | {"operators": {"y": node}, "tests": [], "io": {"unit": "ns"}}
    session = rtbot.load(graph).start(compiled=compiled)
    table = {"t": [1, 2, 3, 10, 11], "value": [1.0, 2.0, 3.0, 4.0, 5.0]}
    if left == "count - 1":
        found = session.push({"x": table})["y"]["value"]
        assert found.tolist() == [101.0, 203.0, 306.0, 304.0, 309.0]
        return
    with pytest.raises(rtbot.GraphError, match="what it returns as count is no integer"):
        session.push({"x": table})


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("place", ["step", "close"])
def test_a_time_that_is_no_integer_is_told_at_the_step(compiled, place, plugin):
    parts = {"close": CLOSE, "step": OPEN}
    parts[place] = parts[place].replace("time, ", "time + 0.5, ", 1)
    plugin(operator(DUE + parts["close"] + parts["step"]))
    graph = GRAPH | {"operators": {"y": {"type": "WrongForTest", "in": "x"}}, "tests": []}
    session = rtbot.load(graph).start(compiled=compiled)
    with pytest.raises(rtbot.GraphError, match="what it returns as time is no integer") as caught:
        session.push({"x": {"t": [1, 9], "value": [1.0, 1.0]}})
    (problem,) = caught.value.problems
    assert problem.code == ("RT172" if compiled else "RT173")


def test_a_silent_output_is_marked_on_its_page(plugin):
    ports = PORTS.replace('o1 = Out("number")', 'o1 = Out("number", silent=True, doc="peaks")')
    body = 'o2 = Out("number", doc="all")\n@step\ndef step(i1):\n    return i1, i1 > 0, i1'
    plugin(operator(ports + body))
    cls = REGISTRY["WrongForTest"]
    assert [port["role"] for port in describe(cls)["outputs"]] == ["no message now and then", ""]
    page = render_operator_page(cls)
    assert "| `o1` | number | peaks; no message now and then |" in page
    assert "| `o2` | number | all |" in page
    lines = [*format_operator(describe(cls), 80)]
    assert "  o1          peaks (number; no message now and then)" in lines


STARTS = {"number": 0.0, "integer": 0, "boolean": False}
RETURNS = [
    ("number", "integer", "i1, total + 0.5", "total is no integer"),
    ("number", "integer", "i1, i1 > 2", ""),
    ("number", "boolean", "i1, i1", "total is no boolean"),
    ("number", "boolean", "i1, int(i1) & 1", ""),
    ("number", "number", "i1, 3", ""),
    ("integer", "number", "i1, 1.0", "o1 is no integer"),
    ("boolean", "number", "i1, 1.0", "o1 is no boolean"),
    ("integer", "number", "int(i1), 1.0", ""),
]


@pytest.mark.parametrize(("output", "state", "returned", "told"), RETURNS)
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("one", [False, True])
def test_a_value_of_another_kind_than_declared_is_told(
    output, state, returned, told, compiled, one, plugin
):
    ports = f'i1 = In("number")\no1 = Out({output!r})\ntotal = Scalar({state!r}, {STARTS[state]})\n'
    plugin(operator(f"{ports}@step\ndef step(i1, total):\n    return {returned}"))
    graph = GRAPH | {"operators": {"y": {"type": "WrongForTest", "in": "x"}}, "tests": []}
    session = rtbot.load(graph).start(compiled=compiled)

    def push():
        if one:
            return session.push_one("x", 1, 4.0)
        return session.push({"x": {"t": [1], "value": [4.0]}})

    if not told:
        assert push()["y"]
        return
    with pytest.raises(rtbot.GraphError, match=f"what it returns as {told}") as caught:
        push()
    (problem,) = caught.value.problems
    assert problem.code == ("RT172" if compiled else "RT173")
    assert problem.source.strip() == "def step(i1, total):"


LIST = """\
i1 = In("number")
o1 = Out("integer")
recent = Span({"time": "integer"})

@step
def step(time, recent_count, recent_time, recent_time_first):
    recent_time[recent_time_first + recent_count] = time
    return recent_count, """


@pytest.mark.parametrize("one", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ("0, recent_count + 1", None),
        ("recent_count, 1", None),
        ("0, recent_count + 2", "it leaves entries of recent that are not there"),
        ("1, recent_count + 1", "it leaves entries of recent that are not there"),
        ("-1, recent_count + 1", "it leaves entries of recent that are not there"),
        ("0, -1", "it leaves entries of recent that are not there"),
        ("2**63 - 1, 1", "it leaves entries of recent that are not there"),
        ("0, 0.5", "what it returns as recent_count is no integer"),
    ],
)
def test_a_list_has_no_more_entries_than_were_written(counts, message, compiled, one, plugin):
    plugin(operator(LIST + counts))
    graph = GRAPH | {"operators": {"y": {"type": "WrongForTest", "in": "x"}}, "tests": []}
    session = rtbot.load(graph).start(compiled=compiled)

    def push_rows():
        for time in range(3):
            if one:
                session.push_one("x", time, 1.0)
            else:
                session.push({"x": {"t": [time], "value": [1.0]}})

    if message is None:
        push_rows()
        return
    with pytest.raises(rtbot.GraphError, match=message) as caught:
        push_rows()
    (problem,) = caught.value.problems
    assert problem.code in ("RT172", "RT173")
    assert problem.source.startswith("    def step")


# ---- files that are no plugin


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = = 1\n", "p.py:1: SyntaxError: invalid syntax"),
        ("\nimport no_such_module_anywhere\n", "p.py:2: ModuleNotFoundError"),
        ("\n\n\nprint(undefined)\n", "p.py:4: NameError: name 'undefined' is not defined"),
        ("def f():\n    return 1 / 0\nf()\n", "p.py:2: ZeroDivisionError: division by zero"),
        (
            HEAD
            + "class Late(Operator):\n    @step\n    def step(i1, time):\n        return 1\n\n"
            + "    @step\n    def close(time):\n        return time\n",
            "write close and helpers above step",
        ),
        (None, "there is no such Python file"),
    ],
)
def test_a_file_that_cannot_be_imported_says_where(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("p.py").write_text(text)
    with pytest.raises(PluginError) as caught:
        load_plugin("p.py")
    assert message in str(caught.value)
    Path("g.yaml").write_text("inputs: {x: number}\noutputs: [x]\n")
    code, _, err = rtbot_of(tmp_path, "validate", "g.yaml", "--plugin", "p.py")
    assert (code, message in err, "Traceback" in err) == (2, True, False), err


def test_a_wrong_declaration_is_an_invalid_program_for_the_command_line(tmp_path):
    (tmp_path / "p.py").write_text(HEAD + operator(PORTS))
    (tmp_path / "g.yaml").write_text(dedent(YAML))
    code, _, err = rtbot_of(tmp_path, "validate", "g.yaml", "--plugin", "p.py")
    assert (code, "error[RT170]" in err, "p.py:" in err) == (3, True, True), err
