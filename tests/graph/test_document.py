"""The loader: text to nodes with places, and what it refuses."""

import json
import random

import pytest

import rtbot
from rtbot.core.errors import GraphError
from rtbot.graph.document import MappingNode, ScalarNode, SequenceNode, from_mapping, load_document
from rtbot.graph.document.parse import parse_yaml
from rtbot.graph.document.text import decode_text


def plain(node):
    """The nodes as Python values: every scalar as it is."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, SequenceNode):
        return [plain(item) for item in node.items]
    return {key: plain(item) for key, item in node.items.items()}


def refusals(text):
    """(code, line, column, text) of every problem of a text that cannot be read."""
    with pytest.raises(GraphError) as caught:
        parse_yaml(text)
    return [(p.code, p.mark.line, p.mark.column, str(p)) for p in caught.value.problems]


def test_every_scalar_stays_text():
    text = "{a: no, b: 010, c: 12:30, d: 1e3, e: 2024-01-01, f: ~, g: 0x1F, h: .nan, i: '5', j: }"
    assert plain(parse_yaml(text).root) == {
        "a": "no",
        "b": "010",
        "c": "12:30",
        "d": "1e3",
        "e": "2024-01-01",
        "f": "~",
        "g": "0x1F",
        "h": ".nan",
        "i": "5",
        "j": "",
    }


def test_keys_that_yaml_would_convert_stay_text():
    assert list(parse_yaml("on: 1\nno: 2\n1: 3\nnull: 4\n").root.items) == ["on", "no", "1", "null"]


def test_json_is_read_as_the_yaml_it_is():
    text = '{"version": 1, "inputs": {"a": "number"},\n\t"x": ["é\\n", true, null, -1.5e3]}'
    assert plain(load_document(text).root) == {
        "version": "1",
        "inputs": {"a": "number"},
        "x": ["é\n", "true", "null", "-1.5e3"],
    }


def test_json_may_escape_a_character_as_two_halves():
    text = r'{"a": "\ud83d\ude00", "b": "\\\\ud83d", "c": "\u00e9"}'
    assert plain(load_document(text).root) == {"a": "\U0001f600", "b": r"\\ud83d", "c": "\u00e9"}


def test_values_and_keys_know_their_places():
    root = parse_yaml("a: 1\nb:\n  - x\n  - {c: 'two words'}\n").root
    last = root.items["b"].items[1]
    assert (root.keys["b"].line, root.keys["b"].column) == (2, 1)
    assert (last.keys["c"].line, last.keys["c"].column) == (4, 6)
    mark = last.items["c"].mark
    assert (mark.line, mark.column, mark.length) == (4, 9, 11)


@pytest.mark.parametrize(
    "text",
    [
        "e: price + 3 * width\n",
        "e: 'price + 3 * width'\n",
        'e: "price + 3 * width"\n',
        "e: price\n  + 3\n  * width\n",
        "e: |\n  price\n    + 3\n  * width\n",
        "e: >-\n  price +\n  3 * width\n",
        'e: "price \\\n  + 3 * width"\n',
        "{e: 'price + 3\n   * width'}\n",
        "# ä comment\n\nx: [ä, {e: price + 3 * width}]\n",
    ],
)
def test_every_character_of_a_text_knows_its_place(text):
    root = parse_yaml(text).root
    scalar = root.items["e"] if "e" in root.items else root.items["x"].items[1].items["e"]
    lines = text.split("\n")
    for offset, character in enumerate(scalar.text):
        if not character.isspace():
            mark = scalar.place(offset)
            assert lines[mark.line - 1][mark.column - 1] == character


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "words"),
    [
        ("a: [1, 2\n", "RT101", 1, 4, "this is not YAML"),
        ("a: 'x\nb: 2\n", "RT101", 1, 4, "closing quote"),
        ("a: 1\n b: 2\n", "RT101", 2, 3, "indent less"),
        ("a: b\n- c\n", "RT101", 2, 1, "indented like its neighbours"),
        ("e: a: b\n", "RT101", 1, 5, "quote the text"),
        ("e: %w\n", "RT101", 1, 4, "quote the expression"),
        ("e: `a` + 1\n", "RT101", 1, 4, "quote the expression"),
        ("e: >b\n", "RT101", 1, 4, "quote the expression"),
        ("e: *w + 1\n", "RT101", 1, 4, "quote the expression"),
        ("e: *w\n", "RT102", 1, 4, "an alias, *w"),
        ("a: &b 1\n", "RT102", 1, 4, "an anchor, &b"),
        ("a: !!int 3\n", "RT102", 1, 4, "a tag"),
        ("a: !python/object 3\n", "RT102", 1, 4, "a tag"),
        ("a: 1\n---\nb: 2\n", "RT102", 2, 1, "second document"),
        ("a:\n\tb: 1\n", "RT102", 2, 1, "a tab in the indentation"),
        ("- a\n", "RT105", 1, 1, "a graph file is a mapping"),
        ("just text\n", "RT105", 1, 1, "a graph file is a mapping"),
        ("", "RT105", 1, 1, "the graph file is empty"),
        ("# nothing\n", "RT105", 1, 1, "the graph file is empty"),
        ("? [1]\n: 2\n", "RT105", 1, 3, "a key is text"),
        ("{a: " + "[" * 40 + "]" * 40 + "}\n", "RT108", 1, 36, "32 levels"),
        ("a: [" + "1, " * 100_001 + "]\n", "RT108", 1, 299_996, "100000 values"),
        ("a: " + "x" * 70_000 + "\n", "RT108", 1, 4, "65536 characters"),
        ("a: 1\nb: \x01\n", "RT109", 2, 4, "U+0001"),
        ("a: 1\rb: 2\n", "RT109", 1, 5, "U+000D"),
        ("a: \u2028\n", "RT109", 1, 4, "U+2028"),
        ("a: \ud800\n", "RT109", 1, 4, "U+D800"),
    ],
)
def test_what_is_refused_and_where(text, code, line, column, words):
    found = refusals(text)
    assert [problem[:3] for problem in found] == [(code, line, column)]
    assert words in found[0][3]


def test_anchors_aliases_and_merge_keys_are_all_named():
    text = "a: &x {b: 1}\nc:\n  <<: *x\n"
    assert [p[:3] for p in refusals(text)] == [("RT102", 1, 4), ("RT102", 3, 7)]


def test_an_alias_bomb_is_refused_before_it_expands():
    lines = ["a0: &a0 [x]"] + [f"a{k}: &a{k} [{f'*a{k - 1}, ' * 9}]" for k in range(1, 30)]
    assert {p[0] for p in refusals("\n".join(lines))} == {"RT102"}


def test_duplicate_keys_name_both_lines_and_do_not_stop_the_check():
    document = parse_yaml("a: 1\nb: 2\na: 3\n")
    problem = document.problems.found[0]
    assert (problem.code, problem.mark.line, problem.mark.column) == ("RT106", 3, 1)
    assert "first on line 1" in problem.message
    assert plain(document.root) == {"a": "1", "b": "2"}


def test_duplicate_keys_are_compared_after_normalisation():
    assert len(parse_yaml("\u00e9: 1\ne\u0301: 2\n").problems.found) == 1


@pytest.mark.parametrize(
    ("data", "line", "column", "words"),
    [
        (b"a: 1\nb: \xff\n", 2, 4, "0xff is not UTF-8"),
        (b"a: \xc3\xa9 \xc3\n", 1, 6, "0xc3 is not UTF-8"),
        ("a: 1\n".encode("utf-16"), 1, 1, "UTF-16"),
        (b"a: " + b"x" * (1 << 20), 1, 1, "1048576 bytes"),
    ],
)
def test_bytes_that_are_no_text_of_a_graph(data, line, column, words):
    with pytest.raises(GraphError) as caught:
        parse_yaml(decode_text(data, "g.yaml", 1 << 20), "g.yaml")
    problem = caught.value.problems[0]
    assert (problem.mark.line, problem.mark.column) == (line, column)
    assert words in problem.message


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path):
    path = tmp_path / "g.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb:\r\n  c: 2\r\n")
    document = load_document(path)
    assert plain(document.root) == {"a": "1", "b": {"c": "2"}}
    assert document.root.items["b"].keys["c"].line == 3


def test_a_path_is_a_path_and_text_is_text(tmp_path):
    path = tmp_path / "g.yaml"
    path.write_text("a: 1\n")
    assert load_document(str(path)).file == load_document(path).file == str(path)
    assert load_document("a: 1\n").file == "<graph>"
    assert plain(load_document("{a: 1}").root) == {"a": "1"}
    with pytest.raises(FileNotFoundError):
        load_document("no such file.yaml")
    with pytest.raises(TypeError, match="not int"):
        load_document(3)


def test_a_mapping_keeps_its_values_and_names_the_keys_that_lead_to_them():
    source = {"a": {"b": [1, 2.5, True, None, "x"]}, "c": ("y",)}
    document = load_document(source)
    assert plain(document.root) == {"a": {"b": [1, 2.5, True, None, "x"]}, "c": ["y"]}
    assert document.root.items["a"].items["b"].items[2].mark.file == "<mapping> a.b[2]"


@pytest.mark.parametrize(
    ("source", "code", "place"),
    [
        ({"a": {1: 2}}, "RT105", "<mapping> a.1"),
        ({"a": object()}, "RT105", "<mapping> a"),
        ({"a": 10**9999}, "RT134", "<mapping> a"),
        ({"a": [b"x"]}, "RT105", "<mapping> a[0]"),
        ({"a": "x" * 70_000}, "RT108", "<mapping> a"),
    ],
)
def test_what_a_mapping_cannot_hold(source, code, place):
    with pytest.raises(GraphError) as caught:
        load_document(source)
    assert [(p.code, p.mark.file) for p in caught.value.problems] == [(code, place)]


def test_a_mapping_that_holds_itself_is_refused():
    source = {}
    source["a"] = source
    with pytest.raises(GraphError, match="32 levels"):
        load_document(source)


def test_a_problem_shows_its_line_and_a_caret():
    with pytest.raises(GraphError) as caught:
        parse_yaml("first: 1\nsecond: !!int 3\n", "g.yaml")
    assert str(caught.value).splitlines() == [
        "g.yaml:2:9: error[RT102]: a tag, !!int",
        "   2 | second: !!int 3",
        "     |         ^^^^^ remove it, or quote the text",
    ]


def test_a_long_line_is_cut_around_the_caret():
    with pytest.raises(GraphError) as caught:
        parse_yaml("a: [" + "1, " * 500 + "!!int 3]\n")
    shown = str(caught.value).splitlines()
    assert max(map(len, shown)) < 160
    assert shown[1][shown[2].index("^") :].startswith("!!int")


def test_without_the_c_parser_the_nodes_are_the_same(monkeypatch):
    texts = ["a: [1, {b: c}]\nd: |\n  x\n  y\ne: 'f ''g'\n", '{"a": "\\u00e9 \\n"}', "a: b\n c\n"]
    with_c = [parse_yaml(text).root for text in texts]
    monkeypatch.delattr("yaml.CSafeLoader", raising=False)
    assert [parse_yaml(text).root for text in texts] == with_c
    for text in ("a: [1\n", "a: *b\n", "a: %\n", "a: \ud800\n", 'a: "\\UFFFFFFFF"\n'):
        with pytest.raises(GraphError):
            parse_yaml(text)


def test_no_text_makes_anything_but_nodes_or_a_graph_error():
    alphabet = [
        "a",
        ":",
        " ",
        "\n",
        "-",
        "[",
        "]",
        "{",
        "}",
        "&",
        "*",
        "!",
        "|",
        ">",
        "'",
        '"',
        "#",
    ]
    alphabet += ["%", "@", "`", "?", ",", "\t", "---", "\\", "\\u0041", "\\ud800", "<<", "é", "1"]
    rng = random.Random(20)
    for _ in range(3_000):
        text = "".join(rng.choices(alphabet, k=rng.randint(0, 30)))
        try:
            assert isinstance(parse_yaml(text).root, MappingNode)
        except GraphError as error:
            assert error.problems
            assert str(error)


ROWS = [["7", 1, "null"], [7, 2, None]]


def test_a_text_of_a_mapping_is_a_text_as_in_json():
    graph = {
        "inputs": {"word": "text?"},
        "params": {"size": {"default": "20"}, "loud": True},
        "outputs": ["word"],
        "tests": [{"key": ["k"], "given": {"word": ROWS}, "expect": {}}],
    }
    for source in (graph, json.dumps(graph)):
        checked = rtbot.load(source).checked
        assert checked.params == {"size": "20", "loud": True}
        assert [list(row) for row in checked.tests[0].given["word"].rows] == ROWS


def test_a_text_that_is_no_unicode_is_refused():
    with pytest.raises(GraphError) as caught:
        from_mapping({"name": "a\ud800"})
    assert [(p.code, p.mark.file) for p in caught.value.problems] == [("RT109", "<mapping> name")]
