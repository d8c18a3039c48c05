"""What an editor shows: the real language server, with the schema that `rtbot schema` writes."""

import shutil
from pathlib import Path

import pytest

from rtbot.graph.schema import format_schema
from tests.editor.client import LanguageServer

ROOT = Path(__file__).parent.parent.parent
SERVER = ROOT / "out/editor/node_modules/yaml-language-server/bin/yaml-language-server"
GRAPHS = sorted((ROOT / "graphs").glob("*.yaml"))
MODELINE = "# yaml-language-server: $schema=rtbot.schema.json\n"
ASSOCIATED = ["by its first line", "by the settings"]
HEAD = "inputs: {a: number, b: number}\noutputs: [m]\noperators:\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if not (shutil.which("node") and SERVER.is_file()):
        pytest.skip("no language server: `make out/editor/ready` gets it, with node and npm")
    folder = tmp_path_factory.mktemp("editor")
    (folder / "rtbot.schema.json").write_text(format_schema(), encoding="utf-8")
    (folder / "settings").mkdir()
    yaml = {
        "validate": True,
        "completion": True,
        "hover": True,
        "schemaStore": {"enable": False},
        "schemas": {(folder / "rtbot.schema.json").as_uri(): "settings/*.yaml"},
    }
    command = ["node", str(SERVER), "--stdio"]
    with LanguageServer(command, folder, {"yaml": yaml}) as started:
        started.folder, started.opened = folder, 0
        yield started


def opened(server, text, associated=ASSOCIATED[0]):
    """Open a text as a file of its own; its URI, the lines above the text, its diagnostics."""
    server.opened += 1
    first = associated == ASSOCIATED[0]
    folder = server.folder if first else server.folder / "settings"
    uri = (folder / f"{server.opened}.yaml").as_uri()
    found = server.diagnostics(uri, (MODELINE if first else "") + text)
    return uri, int(first), found


def asked(server, method, text):
    """What the server answers at the place of the bar in the text."""
    before, _, after = text.partition("|")
    uri, above, _ = opened(server, before + after)
    lines = before.split("\n")
    return server.at(f"textDocument/{method}", uri, above + len(lines) - 1, len(lines[-1]))


def completed(server, text):
    """The completions at the bar: what is inserted, by label."""
    items = asked(server, "completion", text)["items"]
    return {item["label"]: item["insertText"] for item in items}


@pytest.mark.parametrize("associated", ASSOCIATED)
@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_a_good_graph_has_no_marks(server, path, associated):
    assert opened(server, path.read_text(encoding="utf-8"), associated)[2] == []


MISTAKES = [
    (
        "m: {type: MovingAverge, in: a, window: 3}",
        [("MovingAverge", "no operator has this name; `rtbot ops` lists them")],
    ),
    (
        "m: {type: MovingAverage, in: a, windw: 3}",
        [("m", 'Missing property "window".'), ("windw", "Property windw is not allowed.")],
    ),
    ("m: {type: MovingAverage, in: a, window: 0}", [("0", "Value is below the minimum of 1.")]),
    (
        "m: {type: MovingAverage, in: a, window: few}",
        [("few", "an integer from 1 to 16777216 or a duration such as 5s is expected")],
    ),
    (
        "m: {type: PeakDetector, in: a, window: 4}",
        [("4", "an odd integer from 3 to 16777216 or a duration such as 5s is expected")],
    ),
    (
        "m: {type: Join, in: [a, b], how: innr}",
        [("innr", "one of inner, left, right, outer, asof is expected")],
    ),
    (
        "m: {type: Join, in: a}",
        [("a", "a list of references, a mapping by port: one of these feeds the ports")],
    ),
    (
        "m: {type: Lag, in: [a, b], n: 1}",
        [("[a, b]", "Array has too many items. Expected 1 or fewer.")],
    ),
    (
        "m: {type: Lag, in: a + b, n: 1}",
        [("a + b", "a reference is `id` or `id.port`, of an element `id.0`")],
    ),
    (
        "m: {type: Variable, in: a}",
        [("a", "control ports are fed by `control`, or by name in `in`")],
    ),
    ("m: {in: a}", [("m", 'Missing property "type".')]),
    ("1m: a", [("1m", "no name of an operator")]),
]


@pytest.mark.parametrize(("operator", "expected"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_marked_at_its_place(server, operator, expected):
    for associated in ASSOCIATED if operator == MISTAKES[0][0] else ASSOCIATED[:1]:
        _, above, found = opened(server, f"{HEAD}  {operator}\n", associated)
        assert found == [((above + 4, marked), message) for marked, message in expected]


def test_types_complete_to_the_operators(server):
    found = completed(server, HEAD + "  m:\n    type: |\n")
    assert {"MovingAverage", "Join", "PeakDetector", "CountNumber"} <= found.keys()


def test_an_operator_completes_to_the_parameters_of_its_type(server):
    found = completed(server, HEAD + "  m:\n    type: MovingAverage\n    |\n")
    assert found == {
        "window": "window: ${1:3}",
        "partial": "partial: ${1:false}",
        "in": "in: ",
        "doc": "doc: ",
        "meta": "meta:\n  ",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  m:\n    type: Join\n    how: |\n", ["inner", "left", "right", "outer", "asof"]),
        ("  m:\n    type: MovingAverage\n    partial: |\n", ["false", "true"]),
        ("  m: a\nio:\n  unit: |\n", ["s", "ms", "us", "ns"]),
        ("  m: a\nparams:\n  w:\n    type: |\n", ["number", "integer", "duration"]),
        ("  m: a\ntests:\n  - |\n", ["name", "given", "expect", "emits_nothing", "error"]),
        ("  m: a\n|\n", ["version", "name", "params", "tests", "io"]),
    ],
)
def test_values_and_keys_complete(server, text, expected):
    assert set(expected) <= completed(server, HEAD + text).keys()


def test_an_empty_operator_completes_to_whole_operators(server):
    found = completed(server, HEAD + "  m:\n    |\n")
    assert found["MovingAverage"] == "type: MovingAverage\nin: $1\nwindow: ${2:3}"
    assert found["Join"] == "type: Join\nin:\n  - $1\n  - $2"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  m:\n    type: Moving|Average\n    in: a\n", "The mean of the values in a window"),
        ("  m:\n    type: MovingAverage\n    win|dow: 3\n", "messages in the window"),
        ("  m:\n    type: Join\n    i|n: [a, b]\n", "- `i1`, `i2`, ... (any type or null)"),
        ("  m: a\nio:\n  la|te: drop\n", "a row before the latest of its series"),
    ],
)
def test_hovering_shows_the_text(server, text, words):
    assert words in asked(server, "hover", HEAD + text)["contents"]["value"]
