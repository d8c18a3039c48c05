"""The verbs that tell and start: explain, ops, doc, init, sample, completion."""

import doctest
import hashlib
import itertools
import json
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
import pytest
from click.shell_completion import ShellComplete

import rtbot
from rtbot.cli.main import VERBS, program
from rtbot.cli.options import choose_width
from rtbot.cli.shell_completion import VARIABLE
from rtbot.core.error_codes import CODES
from rtbot.explain import (
    describe,
    explain,
    format_graph,
    format_operator,
    group_operators,
    list_operators,
    render_operator_page,
)
from rtbot.explain.examples import ID, ExampleGraph
from rtbot.graph_tests import load_suite as load_tests
from rtbot.operator import Boolean, Integer
from rtbot.operator.relation import Relation
from rtbot.samples import SERIES, STARTERS, SampleOptions, generate_blocks, render_starter
from rtbot.samples.generators import STEPS
from tests import error_pages

GRAPHS = sorted((Path(__file__).parents[2] / "graphs").glob("*.yaml"))
SERIES_GRAPHS = [path for path in GRAPHS if "changes:" not in path.read_text("utf-8")]
BUILT_IN = [cls for cls in list_operators() if cls.__module__.startswith("rtbot.operators")]
OF_SERIES = [cls for cls in BUILT_IN if not issubclass(cls, Relation)]


pytestmark = pytest.mark.usefixtures("own_folder")


def name_of(item):
    return item.__name__ if isinstance(item, type) else Path(item).stem


# ---- explain: warm-up


def settings(cls):
    """Parameters to try: those of the example, each switch on, each of its integers larger."""
    given = dict(cls.example.parameters)
    yield given
    for name, declared in cls.parameters.items():
        if isinstance(declared, Boolean):
            yield given | {name: True}
        elif isinstance(declared, Integer) and name in given and name != "t0":
            yield given | {name: given[name] + 2}


def shapes(kind):
    """Rows of values for an input: a warm-up has to hold for all, and be reached by one."""
    if kind == "boolean":
        return [[True] * 20, [True, False] * 10]
    peaks = [[10.0 if place == peak else 1.0 for place in range(20)] for peak in range(1, 8)]
    rising = [float(place + 2) for place in range(20)]
    return [rising, rising[::-1], [1.0] * 20, [0.5] * 20, *peaks]


def firsts(cls, parameters):
    """For every shape of the data: how many rows it took to the first output, and how many came.

    An operator that gathers emits at the end of the data too: they end after one row, two, ...
    """
    sample = ExampleGraph(cls)
    document = {
        "inputs": {name: sample._kind(port) for port, name in sample.inputs.items()},
        "operators": {ID: {"type": cls.__name__, **parameters, **wiring(sample)}},
        "outputs": [next(iter(sample.outputs.values()))],
    }
    vectors = [name for name, kind in document["inputs"].items() if kind.startswith("vector")]
    document["inputs"] |= dict.fromkeys(vectors, "vector[5]")
    graph, kinds = rtbot.load(document), document["inputs"]
    numbers = range(len(shapes(next(iter(kinds.values())))))
    for shape, apart in itertools.product(numbers, (0.0, 10.0, -0.25)):
        case = graph, kinds, shape, apart
        if cls.gathers:
            counts = [sum(count_outputs(*case, end=end)) for end in range(1, 21)]
        else:
            counts = list(itertools.accumulate(count_outputs(*case)))
        yield next((row for row, count in enumerate(counts, 1) if count), None), counts[-1]


def count_outputs(graph, kinds, shape, apart, end=None):
    """How many outputs each row brings; the data end after `end` rows, or do not end."""
    session = graph.start(compiled=False)
    for row in range(end or 20):
        count = 0
        for place, (name, kind) in enumerate(kinds.items()):
            value = shapes(kind)[shape % len(shapes(kind))][row]
            if kind == "boolean":
                value = value is not (apart > 0 and place % 2 == 1)
            elif kind == "number":
                value += apart * place
            value = [value] * 5 if kind.startswith("vector") else value
            count += sum(map(len, session.push_one(name, 10 * row, value).values()))
        yield count
    if end:
        yield sum(map(len, session.finish().values()))


def wiring(sample):
    data = [name for port, name in sample.inputs.items() if port[0] == "i"]
    asks = [name for port, name in sample.inputs.items() if port[0] == "c"]
    return {"in": data} | ({"control": asks} if asks else {})


@pytest.mark.parametrize("cls", OF_SERIES, ids=name_of)
def test_the_warm_up_that_an_operator_declares_is_its_own(cls):
    for parameters in settings(cls):
        defaults = {name: declared.default for name, declared in cls.parameters.items()}
        rows, certain = cls.warm_up(defaults | parameters)
        found = list(firsts(cls, parameters))
        if certain and any(port.repeats for port in cls.outputs.values()):
            assert all(first == rows and count >= 21 - rows for first, count in found), parameters
        elif certain:
            assert set(found) == {(rows, 21 - rows)}, parameters
        else:
            assert min(first for first, _ in found if first is not None) == rows, parameters


CHAIN = """
inputs: {x: number, y: number}
operators:
  mean: {type: MovingAverage, in: x, window: 5}
  change: {type: Difference, in: mean}
  back: {type: Lag, in: change, n: 3}
  both: back + 2 * mean
  early: {type: MovingSum, in: both, window: 4, partial: true}
  asof: {type: Join, in: [change, y], how: asof}
  later: {type: Lag, in: asof.o1, n: 1}
  common: x + y
  sum: {type: MovingSum, in: common, window: 3}
  any: {type: Merge, in: [mean, y]}
  moved: {type: TimeShift, in: mean, shift: 7}
  again: {type: MovingSum, in: moved, window: 2}
  high: {type: GreaterThan, in: mean, value: 0}
  highest: {type: MaxTracker, in: high}
  apart: mean - high
outputs: [early, later, sum, any, again, highest, apart]
"""


@pytest.mark.parametrize(
    ("operator", "told"),
    [
        ("mean", "5 messages; first output at message 5 of x"),
        ("change", "2 messages; first output at message 6 of x"),
        ("back", "4 messages; first output at message 9 of x"),
        ("both", "none of its own; first output at message 9 of x"),
        ("early", "none of its own; first output at message 9 of x"),
        ("asof", "none of its own; first output at message 6 of x"),
        ("later", "2 messages; first output at message 7 of x"),
        ("common", "none of its own; first output at common time 1 of x and y"),
        ("sum", "3 messages; first output at common time 3 of x and y"),
        ("any", "none of its own; first output at message 1 of mean or y"),
        ("moved", "none of its own; first output at message 5 of x"),
        ("again", "2 messages; first output at message 2 of moved"),
        ("high", "the data decide; first output at message 5 of x, or later"),
        ("highest", "none of its own; first output at message 1 of high"),
        ("apart", "none of its own; first output at common time 1 of high and mean"),
    ],
)
def test_warm_ups_add_up_along_the_path(operator, told):
    assert explain(rtbot.load(CHAIN))["operators"][operator]["warm_up"]["text"] == told


def test_first_outputs_come_where_they_are_said_to():
    graph = rtbot.load(CHAIN)
    said = {
        name: item["warm_up"]["first_output"]["row"]
        for name, item in explain(graph)["operators"].items()
        if item["warm_up"]["certain"] and item["warm_up"]["first_output"]["of"] == ["x"]
    }
    session = graph.start(tap=said, compiled=False)
    seen = {}
    for row in range(1, 12):
        for name in ("x", "y"):
            for output in session.push_one(name, 100 * row, float(row)):
                seen.setdefault(output, row)
    assert len(said) == 8
    for name, row in said.items():
        assert seen.get(name, seen.get(f"{name}.o1")) == row, name


# ---- explain: state and progress


@pytest.mark.parametrize("path", SERIES_GRAPHS, ids=name_of)
def test_state_adds_up_to_what_the_plan_lays_out(path):
    graph = rtbot.load(path)
    found = explain(graph)
    session = graph.start(compiled=False)
    row = session.plan.layout.make_template().nbytes
    queues = sum(p.queue.nbytes + 8 * len(p.call.ports) for p in session.runner.pools)
    own = sum(item["state"]["bytes"] for item in found["operators"].values())
    windows = sum(window["bytes"] for window in found["state"]["windows"])
    assert own + windows + found["state"]["padding"] == row
    assert found["state"]["total"] == row + queues


def test_a_window_that_two_operators_read_is_there_once():
    found = explain(rtbot.load(GRAPHS[0], window=100))
    assert found["name"] == "bollinger"
    assert found["state"]["windows"] == [
        {"of": "price", "holds": "value", "size": 100, "bytes": 816, "used_by": ["ma", "sd"]}
    ]
    text = found["operators"]["sd"]["state"]["text"]
    assert text == "64 bytes; the last 100 values of price (816 bytes, shared with ma)"


def test_the_state_of_tables_has_what_that_of_series_has():
    tables = rtbot.load(
        {
            "inputs": {"x": {"changes": {"a": "number"}}},
            "operators": {"d": {"type": "Distinct", "in": "x"}},
            "outputs": ["d"],
        }
    )
    assert explain(tables)["state"].keys() == explain(rtbot.load(GRAPHS[0]))["state"].keys()


def test_rows_that_wait_are_no_part_of_the_total():
    [pairing] = explain(rtbot.load(CHAIN.replace("[early, later, sum, any,", "[sum,")))["state"][
        "pairings"
    ][:1]
    assert pairing == {
        "of": ["change", "y"],
        "bytes": 128,
        "bytes_per_waiting_row": 18,
        "used_by": ["asof"],
    }


PROGRESS = """
inputs: {a: number, b: number, c: number}
operators:
  twice: 2 * a
  moved: {type: TimeShift, in: a, shift: -1m}
  behind: 2 * moved
  common: a + b
  after: 2 * common
  left: {type: Join, in: [a, b, c], how: left}
  last: {type: Join, in: [a, b], how: asof, tolerance: 90s}
  all: {type: Merge, in: [a, b]}
  asked: {type: Variable, in: a, control: b}
  grid: {type: ResamplerConstant, in: b, interval: 1h, t0: 0, snap_first: true}
  on_grid: 2 * grid
outputs: [twice, behind, after, left.o1, last.o2, all, asked, on_grid]
io: {unit: s}
"""


@pytest.mark.parametrize(
    ("operator", "told"),
    [
        ("twice", "as a"),
        ("moved", "as a, 1m earlier"),
        ("behind", "as a, 1m earlier"),
        ("common", "needs a message of a and b at one time"),
        ("after", "as a and b together"),
        (
            "left",
            (
                "answers every message of a once b and c have passed its time, null where they "
                "have none"
            ),
        ),
        (
            "last",
            (
                "answers every message of a with the latest of b that is at most 90s old, once b "
                "has passed it"
            ),
        ),
        ("all", "takes any message once a and b have passed its time"),
        ("asked", "answers every message of b with the latest of a, once a has passed it"),
        (
            "grid",
            (
                "of its own, as it emits at times of its own: up to the next one at which it may "
                "still emit; as b, less 1h, while it knows of none"
            ),
        ),
        ("on_grid", "as grid"),
    ],
)
def test_progress_in_words(operator, told):
    assert explain(rtbot.load(PROGRESS))["operators"][operator]["progress"]["text"] == told


def test_explanation_as_json(call):
    code, out, _ = call("explain", GRAPHS[0], "-p", "window=7", "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert found["parameters"] == {"window": "7", "width": "2"}
    assert found["operators"]["upper"]["expression"] == "ma + $width * sd"
    assert found["operators"]["ma"]["inputs"] == {"i1": {"type": "number", "from": "price"}}
    assert found["operators"]["ma"]["outputs"]["o1"]["read_by"] == [
        *("upper", "lower", "output middle")
    ]


@pytest.mark.parametrize("columns", [50, 80, 100])
@pytest.mark.parametrize("path", GRAPHS, ids=name_of)
def test_explanations_keep_to_the_width(path, columns):
    graph = rtbot.load(path)
    lines = list(format_graph(explain(graph), columns))
    assert max(map(len, lines)) <= columns
    for name in [*graph.checked.inputs, *graph.checked.nodes]:
        assert name in lines


@pytest.mark.parametrize(("terminal", "used"), [("20", 40), ("80", 80), ("200", 100)])
def test_lines_are_as_wide_as_the_terminal_within_reason(monkeypatch, terminal, used):
    monkeypatch.setenv("COLUMNS", terminal)
    assert choose_width() == used


def test_generated_code_is_still_there(call):
    assert "def segment_0(" in call("explain", "--code", GRAPHS[0])[1]


# ---- explain: error codes

WITHOUT_EXAMPLE = {
    "RT172": "the compiler",
    "RT174": "an installed package",
    "RT186": "an environment without sqlglot",
    "RT219": "a line of 16 MiB",
    "RT302": "an interrupt at the wrong moment",
    "RT305": "a hundred million rows",
    "RT306": "a file beyond any sensible size",
    "RT221": "a pipe",
    "RT222": "a file that grows",
    "RT308": "a call from the middle of another",
    "RT307": "rows that take more than the memory",
    "RT312": "another version",
    "RT314": "a crash, and a file that changes behind it",
    "RT315": "the same, for a file of output",
    "RT316": "two processes at a time",
    "RT320": "two users",
    "RT323": "a stream of Spark",
    "RT324": "a stream of Spark",
    "RT325": "a run of Spark",
}
SHOWN = [code for code in CODES if error_pages.command_of(code)]
IN_PYTHON = [
    code for code in CODES if any(block.language == "python" for block in error_pages.blocks(code))
]


def test_every_code_has_a_page_with_an_example():
    pages = {path.stem for path in error_pages.PAGES.glob("*.md")}
    assert pages == set(CODES)
    assert sorted([*SHOWN, *IN_PYTHON, *WITHOUT_EXAMPLE]) == sorted(CODES)


@pytest.mark.parametrize("code", SHOWN)
def test_the_wrong_files_of_a_page_give_its_code_and_its_message(code):
    command, message = error_pages.command_of(code)
    status, told = error_pages.run_command_of_page(command, error_pages.files(code, wrong=True))
    assert set(re.findall(r"\[(RT\d+)\]", told)) == {code}
    assert status == (0 if "RT190" <= code < "RT2" else {"RT1": 3, "RT2": 4, "RT4": 4}[code[:3]])
    assert told == message


@pytest.mark.parametrize("code", SHOWN)
def test_the_mended_files_of_a_page_are_fine(code):
    command = error_pages.find_mended_command(code)
    status, told = error_pages.run_command_of_page(command, error_pages.files(code, wrong=False))
    assert (status, re.findall(r"\[(RT\d+)\]", told)) == (0, [])


@pytest.mark.parametrize("code", IN_PYTHON)
def test_the_session_of_a_page_goes_as_it_says(code):
    text = "\n".join(b.text for b in error_pages.blocks(code) if b.language == "python")
    assert f"[{code}]" in text
    test = doctest.DocTestParser().get_doctest(text, {}, code, code, 0)
    report = []
    runner = doctest.DocTestRunner()
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def test_explaining_a_code(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    code, out, _ = call("explain", "rt103")
    assert code == 0
    assert out.startswith("RT103: unknown operator type\n\nThe `type` of an operator is not")
    assert "    graph.yaml:3:16: error[RT103]: unknown operator type 'MovingMean'\n" in out
    found = json.loads(call("explain", "RT103", "--format", "json")[1])
    assert (found["code"], found["title"]) == ("RT103", CODES["RT103"])
    assert "MovingMean" in found["wrong"]["graph.yaml"]
    assert "MovingAverage" in found["right"]["graph.yaml"]
    assert found["message"].startswith("$ rtbot validate graph.yaml\n")
    assert json.loads(call("explain", "RT301", "--format", "json")[1])["python"][0][:3] == ">>>"


def test_listing_the_codes(call):
    lines = call("explain", "--codes")[1].splitlines()
    assert [line.split()[0] for line in lines if line.startswith("RT")] == list(CODES)
    assert json.loads(call("explain", "--codes", "--format", "json")[1]) == CODES


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["explain"], 2, "say what: a graph file, an error code, or --codes"),
        (["explain", "RT1O3"], 74, "RT1O3"),
        (["explain", "RT999"], 2, "there is no error code RT999"),
        (["explain", "nothing.yaml"], 74, "nothing.yaml"),
        (["doc", "MovingMean"], 2, "did you mean 'MovingAverage'?"),
        (["doc", "movingaverage"], 2, "did you mean 'MovingAverage'?"),
        (["sample", "price"], 2, "did you mean 'prices'?"),
        (["sample", "prices", "-o", "prices.xlsx"], 2, "the suffix is one of .csv, .jsonl,"),
        (["sample", "prices", "--late", "1.5"], 2, "1.5"),
        (["sample", "prices", "--rows", "0"], 2, "0"),
        (["sample", "prices", "--gaps", "1"], 2, "1"),
        (["init", "x", "--from", "bolinger"], 2, "did you mean 'bollinger'?"),
        (["init", "."], 2, "is a folder"),
        (["init", ""], 2, "is a folder"),
        (["init", "a\nb"], 2, "is not a file name"),
        (["completion", "csh"], 2, "csh"),
    ],
)
def test_mistakes(call, arguments, code, told):
    found, out, err = call(*arguments)
    assert (found, out) == (code, "")
    assert told in err


# ---- ops and doc


def test_operators_by_subject(call):
    assert sum(map(len, group_operators().values())) == len(list_operators())
    out = call("ops")[1]
    assert out.index("Arithmetic on one message") < out.index("\n  Addition ")
    assert "\n  Count, CountNumber, CountBoolean " in out
    assert "(number -> number)" in out
    assert max(map(len, out.splitlines())) <= 100


def test_operators_that_are_searched_for(call):
    found = json.loads(call("ops", "--grep", "PEAK", "--format", "json")[1])
    assert [item["name"] for item in found] == ["PeakDetector"]
    assert found[0]["signature"] == "numeric -> numeric"
    assert found[0]["subject"].startswith("Operators that move messages in time")
    assert call("ops", "--grep", "rolling_mean")[1].count("(numeric -> number)") == 1
    code, out, err = call("ops", "--grep", "no such thing")
    assert (code, out) == (0, "")
    assert err == "no operator has 'no such thing' in its name or meaning: rtbot ops\n"


@pytest.mark.parametrize("cls", BUILT_IN, ids=name_of)
def test_the_example_of_an_operator_is_a_graph_that_passes_its_test(cls):
    Path("it.yaml").write_text(describe(cls)["example"]["graph"])
    suite = load_tests("it.yaml")
    [outcome] = map(suite.run, suite.tests)
    assert outcome.passed, str(outcome)


@pytest.mark.parametrize("cls", BUILT_IN, ids=name_of)
def test_the_page_of_an_operator_shows_all_that_is_declared(cls):
    page = render_operator_page(cls)
    assert page.startswith(f"# {cls.__name__}\n\n")
    for item in (*cls.inputs.values(), *cls.outputs.values(), *cls.parameters.values()):
        assert item.doc in page.replace("\\|", "|")
    for name in (*cls.aliases, *cls.parameters):
        assert f"`{name}`" in page
    for line in format_operator(describe(cls), 80):
        assert len(line) <= 80 or line.startswith("        "), line  # rows of a test do not wrap


def test_ranges_of_parameters(call):
    found = json.loads(call("doc", "PeakDetector", "--format", "json")[1])
    [window] = found["parameters"]
    assert window["range"] == "at least 3, at most 16777216, odd"
    assert window["aliases"] == ["window_size"]
    page = call("doc", "SyncEqual", "--format", "markdown")[1]
    assert "| `epsilon` or `tolerance` | number, above 0 | 1e-10 |" in page
    assert (
        "| `coefficients` | numbers, 2 or more | required |"
        in call("doc", "Linear", "--format", "markdown")[1]
    )


PLUGIN = '''
"""Operators of a test."""

from rtbot.operator import Choice, In, Number, Operator, Out, Scalar, step


class {name}(Operator):
    """What is left of all values."""

    keep = None
    share = Number(default=0.5, required=False, doc="what is kept at each message")
    i1 = In("number", doc="values")
    o1 = Out("number", doc="sums")
    total = Scalar("number", 0.0)

    @step
    def step(i1, share, total):
        total = total * share + i1
        return total, total
'''


def test_operators_of_plugins_are_explained_as_well(call):
    Path("mine.py").write_text(PLUGIN.format(name="LeftOver"))
    out = call("doc", "LeftOver", "--plugin", "mine.py")[1]
    assert "What is left of all values." in out
    assert "what is kept at each message (number; default 0.5)" in out
    assert "example" not in out
    assert "\nOperators of a test (mine.py)\n  LeftOver" in call("ops", "--plugin", "mine.py")[1]
    text = "inputs: {x: number}\noperators: {y: {type: LeftOver, in: x}}\noutputs: [y]\n"
    Path("g.yaml").write_text(text)
    out = call("explain", "g.yaml", "--plugin", "mine.py")[1]
    assert "none of its own; first output at message 1 of x" in out
    assert call("doc", "LeftOver", "--plugin", "mine.py", "--example")[0] == 2


def test_an_example_can_be_kept(call):
    Path("it.yaml").write_text(call("doc", "Join", "--example")[1])
    assert call("validate", "it.yaml")[0] == 0


# ---- init


@pytest.mark.parametrize("kind", STARTERS)
def test_the_tests_of_a_starter_pass(kind):
    Path("it.yaml").write_text(render_starter(kind, "mine"))
    suite = load_tests("it.yaml")
    assert suite.checked.name == "mine"
    assert len(suite.tests) >= 1
    for test in suite.tests:
        assert suite.run(test).passed, test.name


@pytest.mark.parametrize("kind", STARTERS)
def test_the_commands_that_init_proposes_work_as_they_stand(call, kind):
    code, out, err = call("init", "my graph", "--from", kind)
    assert (code, out) == (0, "")
    commands = [line.strip() for line in err.partition("Try:\n")[2].splitlines()]
    assert [command.split()[1] for command in commands] == [
        *("test", "sample", "run", "run", "draw", "explain")
    ]
    assert "--plot" in commands[3]
    for command in commands:
        program_, verb, *arguments = shlex.split(command)
        assert program_ == "rtbot"
        if find_spec(f"rtbot.cli.commands.{verb.replace('-', '_')}"):
            assert call(verb, *arguments)[0] == 0, command


def test_what_init_writes_is_for_editors_too(call):
    assert call("init", "graphs/counter")[0] == 0
    text = Path("graphs/counter.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=rtbot.schema.json\nversion: 1\n")
    assert "\nname: counter\n" in text
    assert "type: Difference" in text  # the name says which starter, where nothing else does
    assert json.loads(Path("graphs/rtbot.schema.json").read_text())["type"] == "object"


def test_init_replaces_nothing_unless_told_to(call):
    Path("mine.yaml").write_text("mine")
    code, _, err = call("init", "mine")
    assert (code, Path("mine.yaml").read_text()) == (2, "mine")
    assert "mine.yaml exists already; --force replaces it" in err
    assert call("init", "mine.yaml", "--force")[0] == 0
    assert call("validate", "mine.yaml")[0] == 0


@pytest.mark.parametrize("title", ["no", "12", "a: b", "it's", "#1", "- x"])
def test_a_starter_takes_any_title(title):
    assert rtbot.load(render_starter("sensors", title)).name == title


def test_the_advice_of_a_sample_and_its_starter_fit():
    assert {STARTERS[series.starter] for series in SERIES.values()} == set(SERIES)


# ---- sample


def csv(call, *options):
    code, out, _ = call("sample", *options)
    assert code == 0
    return [line.split(",") for line in out.splitlines()]


DIGESTS = {
    "prices": "e02f62423bcabf74",
    "sensors": "ef12fd7b9664ea35",
    "ecg": "743e443cf247c45a",
    "counter": "d013ba3ee7096535",
}


@pytest.mark.parametrize("name", SERIES)
def test_samples_are_the_same_bytes_everywhere(call, name):
    options = ["--rows", 20_000, "--late", 0.01, "--gaps", 0.02, "--duplicates", 0.01]
    out = call("sample", name, "--seed", 7, *options)[1]
    assert hashlib.sha256(out.encode()).hexdigest()[:16] == DIGESTS[name]
    assert call("sample", name, "--seed", 8, *options)[1] != out


@pytest.mark.parametrize("rows", [1, 999, 5000])
@pytest.mark.parametrize("name", SERIES)
def test_a_sample_has_as_many_rows_as_were_asked_for(call, name, rows):
    assert len(csv(call, name, "--rows", rows, "--gaps", 0.3, "--duplicates", 0.2)) == rows + 1


def test_keys_of_a_sample(call):
    head, *rows = csv(call, "prices", "--keys", 4, "--rows", 8)
    assert head == ["time", "symbol", "price"]
    assert [row[1] for row in rows] == [f"symbol-{k}" for k in (1, 2, 3, 4)] * 2
    assert csv(call, "prices", "--keys", 0)[0] == ["time", "price"]
    assert csv(call, "ecg", "--keys", 1)[0] == ["t", "patient", "ecg"]
    one = [row[2] for row in csv(call, "prices", "--keys", 1, "--rows", 50)[1:]]
    several = csv(call, "prices", "--keys", 3, "--rows", 150)[1:]
    assert [row[2] for row in several if row[1] == "symbol-1"] == one


def test_gaps_and_duplicates_of_a_sample(call):
    rows = csv(call, "sensors", "--gaps", 0.2, "--rows", 5000)[1:]
    empty = sum(cell == "" for row in rows for cell in row[1:])
    assert 0.15 < empty / 10_000 < 0.25
    assert ["", ""] not in [row[1:] for row in rows]
    times = [row[0] for row in csv(call, "ecg", "--duplicates", 0.1, "--rows", 5000)[1:]]
    assert 0.08 < 1 - len(set(times)) / len(times) < 0.12


def test_late_rows_of_a_sample_are_a_few_steps_late(call):
    clean = [row[0] for row in csv(call, "ecg", "--rows", STEPS)[1:]]
    mixed = [int(row[0]) for row in csv(call, "ecg", "--rows", STEPS, "--late", 0.1)[1:]]
    assert sorted(mixed) == [int(time) for time in clean]
    late = [max(mixed[:place], default=0) - time for place, time in enumerate(mixed)]
    assert max(late) == 5 * 4
    assert 0.05 < sum(delay > 0 for delay in late) / STEPS < 0.12


def test_late_rows_come_in_with_the_lateness_that_a_sample_tells(call):
    options = ["counter", "--rows", 2 * STEPS, "-o"]
    assert call("sample", *options, "clean.csv")[0] == 0
    err = call("sample", *options, "late.csv", "--late", 0.1)[2]
    assert "io: {lateness: 75s} puts the late rows in order\n" in err
    graph = rtbot.load(render_starter("counter", "it"))
    wanted = graph.run("clean.csv")["total"]["value"].tolist()
    assert graph.run("late.csv", lateness=75)["total"]["value"].tolist() == wanted
    with pytest.raises(rtbot.DataError, match="RT202"):
        graph.run("late.csv")


def test_a_sample_of_many_keys_comes_in_order(call):
    rows = csv(call, "counter", "--keys", 9000, "--rows", 150_000)[1:]
    places = [(time, int(host.removeprefix("host-"))) for time, host, _ in rows]
    assert places == sorted(set(places))


def test_the_forms_of_a_sample_hold_the_same(call):
    for suffix in ("csv", "jsonl", "parquet", "arrow"):
        assert call("sample", "prices", "--gaps", 0.1, "-o", f"p.{suffix}")[0] == 0
    parquet = pa.parquet.read_table("p.parquet")
    with pa.ipc.open_file("p.arrow") as reader:
        arrow = reader.read_all()
    seconds = [int(t.timestamp()) for t in parquet["time"].to_pylist()]
    assert [int(t.timestamp()) for t in arrow["time"].to_pylist()] == seconds
    tables = (arrow, pa.csv.read_csv("p.csv"), pa.json.read_json("p.jsonl"))
    for table in tables:
        assert table["symbol"].to_pylist() == parquet["symbol"].to_pylist()
        assert table["price"].to_pylist() == parquet["price"].to_pylist()
    assert len(parquet) == 1000


def test_sensors_without_a_reading_have_none_in_any_form(call):
    for suffix in ("csv", "jsonl", "parquet"):
        assert call("sample", "sensors", "--gaps", 0.3, "-o", f"s.{suffix}")[0] == 0
    wanted = pa.parquet.read_table("s.parquet")["outlet"].to_pylist()
    assert None in wanted
    assert pa.csv.read_csv("s.csv")["outlet"].to_pylist() == wanted
    assert pa.json.read_json("s.jsonl")["outlet"].to_pylist() == wanted


def test_what_samples_look_like():
    def values(name, rows):
        series = SERIES[name]
        made = generate_blocks(series, SampleOptions(rows=rows, seed=3))
        columns = zip(*(block.values for block in made), strict=True)
        return [[v for part in parts for v in part.tolist()] for parts in columns]

    [price] = values("prices", 20_000)
    assert min(price) >= 500
    assert max(abs(b - a) for a, b in itertools.pairwise(price)) < 300
    inlet, outlet = values("sensors", 3000)
    apart = [b - a for a, b in zip(inlet, outlet, strict=True)]
    assert sum(apart[:50]) / 50 < -120
    assert sum(apart[1400:1450]) / 50 > 500
    [ecg] = values("ecg", 5000)
    beats = sum(a < 700 <= b for a, b in itertools.pairwise(ecg))
    assert 20 <= beats <= 28
    [count] = values("counter", 5000)
    falls = sum(b < a for a, b in itertools.pairwise(count))
    assert 8 <= falls <= 35


def test_a_sample_says_what_to_do_with_it(call):
    _, out, err = call("sample", "sensors", "--keys", 2, "-o", "s.csv")
    assert out == ""
    assert "rtbot init sensors\n" in err
    assert "rtbot run sensors.yaml s.csv --key site\n" in err
    assert [line.split()[0] for line in call("sample")[1].splitlines()] == list(SERIES)


# ---- completion


def offered(*words):
    """What a shell is offered for the last of these words."""
    *before, incomplete = words
    completion = ShellComplete(program, {}, "rtbot", VARIABLE)
    return [item.value for item in completion.get_completions(list(before), incomplete)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["s"], ["sample", "sql", "schema"]),
        (["doc", "Multipli"], ["Multiplication"]),
        (["doc", "multipli"], ["Multiplication"]),
        (["doc", "--plugin", "mine.py", "Remain"], ["Remainder"]),
        (["doc", "--plugin", "no.py", "Mov"], []),
        (["explain", "RT31"], [f"RT31{k}" for k in range(1, 7)]),
        (["explain", "rt31"], [f"RT31{k}" for k in range(1, 7)]),
        (["explain", "t"], ["two.yaml"]),
        (["run", "t"], ["two.yaml"]),
        (["run", "sub/"], ["sub/one.yml"]),
        (["validate", "two.yaml", "br"], ["broken.yaml"]),
        (["explain", "two.yaml", "-p", ""], ["window=", "width="]),
        (["run", "two.yaml", "-p", "wi"], ["window=", "width="]),
        (["run", "two.yaml", "-p", "window=3", "-p", "wid"], ["width="]),
        (["run", "-p", "w"], []),
        (["run", "two.yaml", "--in", ""], ["left=", "right="]),
        (["run", "two.yaml", "--out", ""], ["sum="]),
        (["run", "broken.yaml", "--in", ""], []),
        (["run", "none.yaml", "--in", ""], []),
        (["completion", "b"], ["bash"]),
        (["init", "x", "--fo"], ["--force"]),
    ],
)
def test_completions(words, expected):
    Path("two.yaml").write_text(
        "params: {window: 2, width: 3}\ninputs: {left: number, right: number}\n"
        "operators: {sum: $width * left + $window * right}\noutputs: [sum]\n"
    )
    Path("broken.yaml").write_text("inputs: {a: b}")
    Path("data.csv").write_text("t,a\n")
    Path("sub").mkdir()
    Path("sub/one.yml").write_text("")
    Path("mine.py").write_text(PLUGIN.format(name="Remainder"))
    assert offered(*words) == expected


def test_where_no_graph_fits_a_shell_looks_for_folders():
    completion = ShellComplete(program, {}, "rtbot", VARIABLE)
    [item] = completion.get_completions(["run"], "nowhere/")
    assert (item.type, item.value) == ("dir", "nowhere/")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_the_program(call, shell):
    code, out, _ = call("completion", shell)
    assert code == 0
    assert f"{VARIABLE}={shell}_complete" in out


def test_every_verb_has_help(call):
    for verb in VERBS:
        if find_spec(f"rtbot.cli.commands.{verb.replace('-', '_')}"):
            out = call(verb, "--help")[1]
            assert out.startswith(f"Usage: rtbot {verb} ")
            assert isinstance(program.get_command(click.Context(program), verb), click.Command)
