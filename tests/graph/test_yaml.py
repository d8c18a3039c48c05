"""The text that `to_yaml` writes loads as the same graph, and looks as a person would write it."""

import dataclasses
import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import rtbot
from rtbot.graph.document import (
    DocumentNode,
    MappingNode,
    ScalarNode,
    SequenceNode,
    from_mapping,
    parse_yaml,
)
from rtbot.graph.document.writer import WIDTH, write_yaml
from tests.catalogue import catalogue
from tests.generate import case
from tests.oracles.vectors import example_kind

ROOT = Path(__file__).parents[2]
GRAPHS = sorted((ROOT / "graphs").glob("*.yaml"))


PLACES = ("mark", "lines", "style")
"""Fields that say where something stands in a file, and how."""


def plain(value):
    """A part of a checked graph without places; free values as the text of a file."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value)]
        named = {name: plain(getattr(value, name)) for name in fields if name not in PLACES}
        free = {"meta", "params"} & named.keys()
        return named | {name: as_text(getattr(value, name)) for name in free}
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return repr(value)


def as_text(value):
    if isinstance(value, dict):
        return {name: as_text(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_text(item) for item in value]
    return {None: "", True: "true", False: "false"}.get(value, str(value))


def told(graph):
    """Everything that a graph says of itself but for places."""
    found = plain(graph.checked)
    return {name: item for name, item in found.items() if name not in ("file", "warnings")}


def survives(graph):
    """The graph as text, after it was seen that the text loads as the graph."""
    text = graph.to_yaml()
    again = rtbot.load(text)
    assert told(again) == told(graph), text
    assert again.to_yaml() == text
    assert [w.code for w in again.warnings] == [w.code for w in graph.warnings]
    assert again == graph
    assert again.plan().text == graph.plan().text
    return text


# ---- the same graph


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_graphs_on_real_data_survive(path):
    text = survives(rtbot.load(path))
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize("name", catalogue())
def test_every_operator_survives(name):
    cls = catalogue()[name]
    example = cls.example
    operator = {"type": name, **example.parameters}
    wiring = {"in": [], "control": []}
    for port in example.inputs:
        wiring["control" if port[0] == "c" else "in"].append(f"x_{port}")
    operator |= {key: refs for key, refs in wiring.items() if refs}
    inputs = {f"x_{port}": kind_of(cls, port, rows) for port, rows in example.inputs.items()}
    ports = list(example.outputs)
    outputs = {f"out_{port}": f"node.{port}" for port in ports}
    survives(rtbot.load({"inputs": inputs, "operators": {"node": operator}, "outputs": outputs}))


def kind_of(cls, port, rows):
    kind = example_kind(cls, port)
    return kind if all(value is not None for _, value in rows) else f"{kind}?"


@pytest.mark.parametrize("part", range(10))
def test_random_graphs_survive(part):
    for number in range(100):
        document = case(f"yaml/{part}/{number}", schedules=1).document
        graph = rtbot.load(document)
        text = graph.to_yaml()
        again = rtbot.load(text)
        assert told(again) == told(graph), text
        assert again.to_yaml() == text
        assert rtbot.load(json.dumps(document)).to_yaml() == text


def test_graphs_that_differ_are_not_equal():
    path = ROOT / "graphs" / "bollinger.yaml"
    graph = rtbot.load(path)
    assert graph == rtbot.load(path)
    assert hash(graph) == hash(rtbot.load(path))
    assert graph != rtbot.load(path, window=21)
    late = path.read_text(encoding="utf-8").replace("io: {key", "io: {late: drop, key")
    assert graph != rtbot.load(late, window=20)
    assert graph != "bollinger"
    assert len(graph.fingerprint) == 64


# ---- parameters


PARAMS = """\
inputs: {x: number}
params:
  window: {type: integer, min: 1, doc: how many}
  scale: 2
  ratio: 0.5
  wait: {type: duration, default: 5s}
  weights: [1, 2]
  loud: false
  word: hello
operators:
  mean: {type: MovingAverage, in: x, window: $window}
  later: {type: TimeShift, in: mean, shift: $wait}
  both: {type: Linear, in: [later, later], coefficients: $weights}
  y: if($loud, $scale * $ratio * both, both)
outputs: [y]
io: {unit: ms}
"""


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({}, "  window: {type: integer, default: 3, min: 1, doc: how many}"),
        ({"scale": 7}, "  scale: 7"),
        ({"scale": "7"}, "  scale: 7"),
        ({"ratio": 3}, "  ratio: 3.0"),
        ({"ratio": 1e300}, "  ratio: 1e+300"),
        ({"wait": "2m"}, "  wait: {type: duration, default: 2m}"),
        ({"wait": 90}, "  wait: {type: duration, default: 90}"),
        ({"weights": [0.25, 4]}, "  weights: [0.25, 4.0]"),
        ({"loud": True}, "  loud: true"),
        ({"word": "17"}, '  word: "17"'),
        ({"word": "$$price"}, "  word: $$price"),
        ({"word": "a: b # c"}, '  word: "a: b # c"'),
        ({"word": ""}, '  word: ""'),
    ],
)
def test_what_was_given_becomes_the_default(given, line):
    given = {"window": 3} | given
    graph = rtbot.load(PARAMS, **given)
    assert line in survives(graph).splitlines()


# ---- how it looks


def test_the_canonical_form():
    text = """\
io:
    key: symbol
outputs: [ma, "upper"]
tests:
- {name: flat prices have no width, given: {price: [[1, 5], [2, 5], [3, 5]]}, expect: {"ma": [[3, 5]]}}
- {given: {price: []}, emits_nothing: [ma, upper], params: {window: 3}}
operators:
  ma: {window: $window, doc: "the middle", in: 'price', type: MovingAverage}
  wide: {type: WindowMinMax, window_size: "20", in: {i1: price}, mode: max, doc: "the highest price of the last days, which nothing reads"}
  upper: "ma + max($width, 1, 2)"
inputs: {price: {type: "number"}}
params: {window: 20, width: {default: 2, doc: 'band width: in deviations'}}
description: "A long text that a person would not leave on one line, because nobody likes to scroll to the right"
"""  # noqa: E501
    assert (
        rtbot.load(text).to_yaml()
        == """\
version: 1
description: >-
  A long text that a person would not leave on one line, because nobody likes to scroll to the right

params:
  window: 20
  width: {default: 2, doc: "band width: in deviations"}

inputs:
  price: {type: number}

operators:
  ma: {type: MovingAverage, in: price, window: $window, doc: the middle}
  wide:
    type: WindowMinMax
    in: {i1: price}
    window_size: "20"
    mode: max
    doc: the highest price of the last days, which nothing reads
  upper: ma + max($width, 1, 2)

outputs: [ma, upper]

tests:
  - name: flat prices have no width
    given: {price: [[1, 5], [2, 5], [3, 5]]}
    expect: {ma: [[3, 5]]}

  - given: {price: []}
    emits_nothing: [ma, upper]
    params: {window: 3}

io: {key: symbol}
"""
    )


def test_the_name_of_a_file_stays_its_name(tmp_path):
    path = tmp_path / "two words.yaml"
    path.write_text("inputs: {x: number}\noutputs: [x]\n")
    assert survives(rtbot.load(path)).splitlines()[:2] == ["version: 1", "name: two words"]


def test_long_lists_of_rows_stand_row_by_row():
    rows = [[time, time / 4] for time in range(40)]
    graph = {
        "inputs": {"x": "number"},
        "outputs": ["x"],
        "tests": [{"given": {"x": rows}, "expect": {"x": rows}}],
    }
    lines = survives(rtbot.load(graph)).splitlines()
    assert lines[9:12] == ["      x:", "        - [0, 0.0]", "        - [1, 0.25]"]


# ---- texts that YAML might take for something else


NASTY = [
    *("no", "on", "yes", "true", "null", "~", "010", "12:30", "1e3", "2024-01-01", "0x10", ".5"),
    *("$x", "$$x", "$", "a: b", "a #b", "#", "- a", "-", "?", "? a", ":", "a:", "*a", "&a", "!a"),
    *("%a", "@a", "`a-b` + 1", "{", "}", "[a]", "a, b", "'", '"', "'a\"b'", "\\", "a\\nb"),
    *(" a", "a ", "  ", "a  b", "\t", "a\tb", "a\nb", "a\n", "\na", "a\n\nb", "a\n\n", "a \nb"),
    *("a\n  b\n", "a\r\nb", "\x00", "\x7f", "\x85", "\u2028", "\ufeff", "\ufffe"),
    *("é", "中文", "😀", "|", ">", "%"),
    *("---", "...", "--- a", "=", "<<", "a" * 300, "word " * 60 + "end", "- word " * 60, "#\n" * 9),
    *("x" * 90 + "\n" + "word " * 60, "\u00a0a", "a\u00a0", "\u3000", "e\u0301", ""),
]


@pytest.mark.parametrize("text", NASTY, ids=ascii)
def test_nasty_texts_survive_everywhere(text):
    graph = {
        "name": text,
        "description": text,
        "meta": {"key": text, f"k{text}": [text, {"x": [text]}], "deep": {"er": {"": text}}},
        "inputs": {"x": {"type": "text?", "doc": text}, "y": "text"},
        "params": {"word": {"type": "text", "default": text.replace("$", "$$", 1) or "w"}},
        "operators": {"same": {"type": "Identity", "in": "x", "doc": text, "meta": {"m": text}}},
        "outputs": {"same": "same", "y": "y"},
        "tests": [
            {
                "name": text,
                "key": ["k"],
                "params": {"word": "a"},
                "given": {"x": [[text, 1, text], [text, 2, None]], "y": [[text, 1, text]]},
                "expect": {"same": [[text, 1, text], [text, 2, None]]},
            }
        ],
    }
    survives(rtbot.load(graph))


TEXTS = some.one_of(
    some.sampled_from(NASTY),
    some.text(some.characters(exclude_categories=["Cs"]), max_size=30),
    some.lists(some.sampled_from(NASTY), max_size=4).map("".join),
    some.text("ab \n:#-?'\"\\,[]{}&*!|>%@`$\t.0", max_size=12),
)
SCALARS = some.one_of(TEXTS, some.integers(), some.booleans(), some.floats(allow_nan=False))
FREE = some.recursive(
    SCALARS,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(some.dictionaries(TEXTS, FREE, max_size=5), some.integers(0, 3))
def test_any_tree_survives(tree, levels):
    root = from_mapping(tree).root
    opened = dict.fromkeys(list(root.items)[::2], levels)
    text = write_yaml(root, opened) if root.items else "{}\n"
    again = parse_yaml(text).root
    assert shape(again) == shape(root), text
    assert again.items == {} or write_yaml(again, opened) == text


def shape(node: DocumentNode):
    """A tree as texts; one that a test might take for null or a number says if it is quoted."""
    match node:
        case MappingNode():
            return {key: shape(item) for key, item in node.items.items()}
        case SequenceNode():
            return [shape(item) for item in node.items]
        case ScalarNode(value=str(text)) if re.fullmatch(r"null|~|[0-9]+|", text):
            return node.quoted, text
        case ScalarNode(value=str(text)):
            return text
        case ScalarNode():
            return (False, node.text) if re.fullmatch(r"[0-9]+", node.text) else node.text
    raise AssertionError(node)


def test_a_key_of_any_length_survives():
    rng = random.Random(1)
    for length in (100, 600, 2_000, 60_000):
        key = "".join(rng.choice("ab: \n\x00é") for _ in range(length))
        graph = {"meta": {key: {key: [key]}}, "inputs": {"x": "number"}, "outputs": ["x"]}
        survives(rtbot.load(graph))
        root = from_mapping({key: {key: [key]}}).root
        assert shape(parse_yaml(write_yaml(root, {key: 1})).root) == shape(root)


def test_what_is_empty_is_left_out():
    graph = rtbot.load("tests:\nmeta: {}\nio: {}\ninputs: {x: number}\noutputs: x\nparams:\n")
    assert survives(graph) == "version: 1\n\ninputs:\n  x: number\n\noutputs: x\n"
