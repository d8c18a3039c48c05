"""Graphs as pictures: nothing overlaps, wires arrive at their ports, no text breaks a picture."""

import itertools
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

import rtbot
from rtbot.cli.main import run
from rtbot.core.number_text import format_duration, format_plain
from rtbot.viz.drawing import draw_graph
from rtbot.viz.drawing.boxes import (
    Box,
    BoxPort,
    Diagram,
    Wire,
    build_diagram,
)
from rtbot.viz.drawing.coordinates import BEND_GAP, BOX_GAP, assign_coordinates
from rtbot.viz.drawing.crossings import Ordering, reduce_crossings
from rtbot.viz.drawing.faces import PADDING, PORT_SIZE, TEXT_SIZE, TITLE_SIZE, measure_port
from rtbot.viz.drawing.layers import BoxShape, build_layers
from rtbot.viz.drawing.mermaid import render_mermaid
from rtbot.viz.drawing.placement import lay_out
from rtbot.viz.drawing.svg import render_svg
from rtbot.viz.svg_text import escape, measure_width, shorten, wrap_text

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"

DIAMOND = {
    "name": "diamond",
    "inputs": {"x": "number", "y": "number"},
    "operators": {
        "left": {"type": "MovingAverage", "in": "x", "window": 5},
        "right": {"type": "StandardDeviation", "in": "x", "window": 5},
        "a": "left * 2",
        "b": {"type": "MovingAverage", "in": "a", "window": 3},
        "c": "b + 1",
        "high": "c > right",
        "end": "if(high, c, x) + y",
        "z": "end - left",
    },
    "outputs": ["end", "high", "z", "left"],
}
MIXED = {
    "inputs": {"x": "number", "flag": "boolean", "word": "text", "count": "integer"},
    "operators": {
        "all": {"type": "Join", "in": ["x", "flag", "word", "count"], "how": "left"},
        "pick": "if(coalesce(all.o2, true), all.o3, all.o3)",
        "merged": {"type": "Merge", "in": ["x", "all.o1"]},
    },
    "outputs": {"graph": "pick", "style": "merged", "n": "all.o4"},
}
HOSTILE = [
    "<script>alert(1)</script>",
    "</title></svg>",
    "\"quotes\" and 'quotes'",
    "a & b &amp; c &#0;",
    "]]> --> <!-- %% ]]",
    "`ticks` [square] (round) {curly} | ; #35; #quot;",
    "end",
    "new\nline\ttab\r\x00\x1b[31m",
    "\u202eright to left\u202c \ud800 lone \ufffe\uffff",
    "漢字 ☃ Ünïcødé 🚀 " * 20,
    "x" * 500,
    "",
    "   ",
]


def pipeline(count, seed, inputs=4):
    """A graph of so many operators, each fed by some of those before it."""
    source = random.Random(seed)
    made = [f"in{k}" for k in range(inputs)]
    operators = {}
    for k in range(count):
        near = made[-12:] if source.random() < 0.9 else made
        a, b = source.choice(near), source.choice(near)
        operators[f"op{k}"] = source.choice(
            [
                {"type": "MovingAverage", "in": a, "window": source.randint(2, 50)},
                {"type": "Merge", "in": [a, b]},
                f"{a} - {b}",
                f"if({a} > {b}, {a} * 2, {b}) + 1",
            ]
        )
        made.append(f"op{k}")
    read = str(operators)
    ends = [name for name in operators if len(re.findall(rf"\b{name}\b", read)) == 1]
    return {
        "name": f"pipeline-{count}-{seed}",
        "inputs": dict.fromkeys(made[:inputs], "number"),
        "operators": operators,
        "outputs": ends,
    }


GRAPHS = {
    "bollinger": ROOT / "graphs/bollinger.yaml",
    "two sensors": ROOT / "graphs/two_sensors.yaml",
    "share in oil": ROOT / "graphs/share_in_oil.yaml",
    "diamond": DIAMOND,
    "mixed": MIXED,
    "60 operators": pipeline(60, 1),
    **{f"random {seed}": pipeline(seed + 2, seed, 1 + seed % 3) for seed in range(15)},
}
DIAGRAMS = {name: build_diagram(rtbot.load(graph).checked) for name, graph in GRAPHS.items()}
EVERY = [
    pytest.param(made, direction, id=f"{name} {direction}")
    for name, made in DIAGRAMS.items()
    for direction in ("right", "down")
]


def inside(spot, x, y, by=0.01):
    return (
        spot.x + by < x < spot.x + spot.width - by and spot.y + by < y < spot.y + spot.height - by
    )


def parsed(markup):
    return ET.fromstring(markup)  # noqa: S314 (our own)


# ---- layout


@pytest.mark.parametrize(("made", "direction"), EVERY)
def test_boxes_stand_apart(made, direction):
    spots = lay_out(made, direction).spots
    assert len(spots) == len(made.boxes)
    for one, other in itertools.combinations(spots, 2):
        apart_x = max(one.x, other.x) - min(one.x + one.width, other.x + other.width)
        apart_y = max(one.y, other.y) - min(one.y + one.height, other.y + other.height)
        assert max(apart_x, apart_y) >= BOX_GAP - 0.01


@pytest.mark.parametrize(("made", "direction"), EVERY)
def test_every_wire_goes_from_its_port_to_its_port(made, direction):
    layout = lay_out(made, direction)
    for wire in made.wires:
        stretches = layout.nets[wire.start, wire.start_port, wire.looked_up]
        source = layout.spots[wire.start].outs[wire.start_port]
        (last,) = (s for s in stretches if s.feeds == (wire.end, wire.end_port))
        assert last.end == layout.spots[wire.end].ins[wire.end_port]
        ends = {s.end for s in stretches}
        assert all(s.begin == source or s.begin in ends for s in stretches)
        assert any(s.begin == source for s in stretches)


@pytest.mark.parametrize(("made", "direction"), EVERY)
def test_no_wire_crosses_a_box(made, direction):
    layout = lay_out(made, direction)
    for stretch in itertools.chain.from_iterable(layout.nets.values()):
        (x0, y0), (x1, y1), end = stretch.begin, stretch.leave, stretch.end
        straight = [(x0 + (x1 - x0) * k / 8, y0 + (y1 - y0) * k / 8) for k in range(9)]
        assert not any(inside(spot, x, y) for spot in layout.spots for x, y in straight)
        axis = direction == "down"
        low, high = stretch.leave[axis], end[axis]
        assert low < high
        for spot in layout.spots:
            begin, size = (spot.y, spot.height) if axis else (spot.x, spot.width)
            assert begin >= high - 0.01 or begin + size <= low + 0.01


@pytest.mark.parametrize(("made", "direction"), EVERY)
def test_texts_fit_into_their_boxes(made, direction):
    layout = lay_out(made, direction)
    sizes = {"title": TITLE_SIZE}
    for box, spot in zip(made.boxes, layout.spots, strict=True):
        for line in spot.face.lines:
            size = sizes.get(line.style, TEXT_SIZE)
            room = measure_width(
                line.text, size, bold=line.style == "title", mono=line.style == "code"
            )
            for port in () if box.form == "operator" else (*box.ins, *box.outs):
                room += 8 + measure_width(port.type, PORT_SIZE)
            assert room <= spot.width - PADDING
            assert line.baseline < spot.height
        if box.form == "operator" and direction == "right":
            for left, right in itertools.zip_longest(box.ins, box.outs):
                taken = sum(measure_port(port) for port in (left, right) if port)
                assert taken + 2 * PADDING < spot.width
        for x, y in (*spot.ins, *spot.outs):
            assert spot.x <= x <= spot.x + spot.width
            assert spot.y <= y <= spot.y + spot.height


@pytest.mark.parametrize("made", DIAGRAMS.values(), ids=DIAGRAMS)
def test_long_wires_are_straight_where_they_pass_boxes(made):
    shapes = [
        BoxShape(40.0, 100.0, (20.0,) * len(b.ins), (20.0,) * len(b.outs)) for b in made.boxes
    ]
    graph = build_layers(made.boxes, made.wires, shapes)
    reduce_crossings(graph)
    starts = assign_coordinates(graph)
    position = {place: k for layer in graph.layers for k, place in enumerate(layer)}
    inner = [k for k in graph.links if graph.is_bend(k.start) and graph.is_bend(k.end)]
    _, after = graph.neighbours()
    for link in inner:
        start, end = position[link.start], position[link.end]
        crossed = any(
            (position[k.start] - start) * (position[k.end] - end) < 0
            for k in inner
            if graph.ranks[k.start] == graph.ranks[link.start]
        )
        if not crossed and len(after[link.start]) == 1:
            assert starts[link.start] == pytest.approx(starts[link.end])
    for layer in graph.layers:
        for upper, lower in itertools.pairwise(layer):
            gap = starts[lower] - starts[upper] - graph.shapes[upper].breadth
            assert gap >= min(BEND_GAP, BOX_GAP) - 0.01


def test_a_long_wire_beside_boxes_is_one_straight_line():
    layout = lay_out(DIAGRAMS["bollinger"])
    (middle,) = (
        place
        for place, box in enumerate(DIAGRAMS["bollinger"].boxes)
        if (box.form, box.title) == ("output", "middle")
    )
    stretches = [s for lines in layout.nets.values() for s in lines]
    last = next(s for s in stretches if s.feeds == (middle, 0))
    assert last.begin[1] == last.leave[1] == last.end[1]


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("bollinger", 1),
        ("two sensors", 0),
        ("share in oil", 0),
        ("diamond", 4),
        ("60 operators", 80),
    ],
)
def test_few_wires_cross(name, most):
    assert lay_out(DIAGRAMS[name]).crossings <= most


@pytest.mark.parametrize("seed", range(25))
def test_the_order_is_near_the_best_there_is(seed):
    source = random.Random(seed)
    boxes = [
        Box("operator", str(k), ins=(BoxPort("", "", ""),), outs=(BoxPort("", "", ""),))
        for k in range(10)
    ]
    pairs = [(a, b) for a in range(4) for b in range(4, 7)]
    pairs += [(a, b) for a in range(4, 7) for b in range(7, 10)]
    wires = [Wire(a, 0, b, 0) for a, b in pairs if source.random() < 0.4]
    made = build_layers(boxes, wires, [BoxShape(10.0, 10.0, (5.0,), (5.0,))] * 10)
    every = itertools.product(*(itertools.permutations(layer) for layer in made.layers))
    best = min(crossings_of(made, orders) for orders in every)
    assert reduce_crossings(made) <= best + 1


def crossings_of(made, orders):
    made.layers = [list(layer) for layer in orders]
    return Ordering(made).crossings()


def test_wires_into_the_wrong_order_of_ports_cross():
    boxes = [
        *(Box("input", name, outs=(BoxPort("o1", "", ""),)) for name in "ab"),
        Box("operator", "sum", ins=(BoxPort("i1", "", ""), BoxPort("i2", "", ""))),
    ]
    shapes = [*[BoxShape(20.0, 9.0, (), (10.0,))] * 2, BoxShape(40.0, 9.0, (10.0, 30.0))]
    made = build_layers(boxes, [Wire(0, 0, 2, 1), Wire(1, 0, 2, 0)], shapes)
    assert crossings_of(made, [[0, 1], [2]]) == 1
    assert reduce_crossings(made) == 0
    assert made.layers == [[1, 0], [2]]


def test_wires_of_one_port_share_their_way():
    made = DIAGRAMS["diamond"]
    start = next(k for k, box in enumerate(made.boxes) if box.title == "left")
    stretches = lay_out(made).nets[start, 0, False]
    assert len({stretch.begin for stretch in stretches}) < len(stretches)
    assert sum(s.feeds is not None for s in stretches) == 3


@pytest.mark.parametrize("form", ["svg", "mermaid"])
def test_the_same_graph_is_the_same_picture_in_every_process(form):
    load = f"rtbot.load(pathlib.Path({str(GRAPHS['bollinger'])!r})).checked"
    code = "import pathlib, rtbot, sys; from rtbot.viz.drawing import draw_graph; "
    code += f"sys.stdout.write(draw_graph({load}, {form!r}))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
        ).stdout
        for seed in ("1", "2")
    }
    assert found == {draw_graph(rtbot.load(GRAPHS["bollinger"]).checked, form).encode()}


# ---- what is shown


def texts(picture, look=None):
    """The visible texts of a picture, or those of one class."""
    root = parsed(picture)
    found = [e for e in root.iter(f"{SVG}text") if look is None or e.get("class") == look]
    return ["".join(element.itertext()) for element in found]


def test_a_box_shows_id_type_parameters_and_ports():
    picture = rtbot.load(GRAPHS["share in oil"]).draw()
    shown = texts(picture)
    for text in ("pair", "Join", "how = asof", "tolerance = 7d", "window = 20", "i2number?"):
        assert text in shown
    assert texts(picture, "code") == ["pair.o1 / pair.o2", "coalesce(barrels, 0)"]
    assert "pair.o1number" in shown, "a port of an expression is named by what feeds it"


def test_given_parameters_are_shown():
    assert "window = 7" in texts(rtbot.load(GRAPHS["bollinger"], window=7).draw())


def test_wires_that_may_be_absent_are_dashed():
    made = DIAGRAMS["share in oil"]
    dashed = {
        (made.boxes[w.start].title, made.boxes[w.end].title) for w in made.wires if w.looked_up
    }
    assert dashed == {("oil", "pair")}
    assert render_svg(made, lay_out(made)).count("looked-up") == 2, "one rule, one wire"
    assert render_mermaid(made).count("-.->") == 1


def test_wires_of_every_type_have_their_colour():
    kinds = {"a": "number", "b": "integer", "c": "boolean", "d": "text", "e": "vector[2]?"}
    graph = rtbot.load(
        {
            "inputs": kinds | {"f": {"changes": {"id": "integer"}}},
            "outputs": [*kinds, "f"],
        }
    )
    picture = graph.draw()
    used = set(re.findall(r'class="(?:wire|end|type end) ([^"]*)"', picture))
    assert used == {"number", "integer", "boolean", "text", "vector", "changes"}
    for name in used:
        assert f".wire.{name} {{" in picture


def test_a_picture_tells_those_who_do_not_see_it():
    root = parsed(rtbot.load(GRAPHS["bollinger"]).draw())
    assert root.get("role") == "img"
    assert root.get("aria-label") == root.find(f"{SVG}title").text == "Graph bollinger"
    assert "operators: ma, sd, upper, lower" in root.find(f"{SVG}desc").text


def test_boxes_and_wires_have_tooltips():
    root = parsed(rtbot.load(GRAPHS["bollinger"]).draw())
    tips = [title.text for title in root.iter(f"{SVG}title")]
    assert any(
        re.fullmatch(r"ma: MovingAverage\n.+\nbollinger.yaml, line \d+", tip) for tip in tips
    )
    assert "ma.o1: number → upper.ma, lower.ma, middle".replace(".ma", ".i1") in tips


def test_a_picture_is_self_contained_and_for_white_and_dark_pages():
    picture = rtbot.load(GRAPHS["bollinger"]).draw()
    assert "prefers-color-scheme: dark" in picture
    assert "@media print { .rtbot-graph { max-width: 100%; height: auto; } }" in rules(picture)
    assert set(re.findall(r"https?://[^\"]+", picture)) == {"http://www.w3.org/2000/svg"}
    assert "url(" not in picture
    assert all(
        rule.startswith((".rtbot-graph", "@media", "}", "stroke")) for rule in rules(picture)
    )


def rules(picture):
    style = parsed(picture).find(f"{SVG}style").text
    return [line.strip() for line in style.splitlines() if line.strip()]


def test_many_parameters_are_cut_to_the_first():
    checked = rtbot.load(GRAPHS["bollinger"]).checked
    many = replace(checked.nodes["ma"], values={f"p{k}": k for k in range(8)} | {"none": None})
    made = build_diagram(replace(checked, nodes=checked.nodes | {"ma": many}))
    (box,) = (box for box in made.boxes if box.title == "ma")
    assert box.details == (*(f"p{k} = {k}" for k in range(5)), "and 3 more")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "ms", "0ms"),
        (90_000, "ms", "90s"),
        (604_800, "s", "7d"),
        (1, "ns", "1ns"),
        (3_600_000_000, "us", "1h"),
        (-60, "s", "-1m"),
    ],
)
def test_durations_are_told_in_the_longest_unit(value, unit, text):
    assert format_duration(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (2.0, "2"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        ([1.0, 2.5], "[1, 2.5]"),
        (7, "7"),
    ],
)
def test_values_are_told_as_graph_files_have_them(value, text):
    assert format_plain(value) == text


# ---- texts of any kind


def hostile(text):
    port = BoxPort(text, text, "number?")
    return Diagram(
        text,
        text,
        [
            Box("input", text, outs=(port,), tip=text),
            Box("operator", text, text, True, (text,) * 3, (port, port), (port,), text),
            Box("operator", text, text, False, (), (port,), (port, port), text),
            Box("output", text, ins=(port,), tip=text),
        ],
        [Wire(0, 0, 1, 0), Wire(0, 0, 1, 1, True), Wire(1, 0, 2, 0), Wire(2, 1, 3, 0)],
    )


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("direction", ["right", "down"])
def test_no_text_breaks_an_svg(text, direction):
    made = hostile(text)
    picture = render_svg(made, lay_out(made, direction))
    root = parsed(picture.encode())
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {
        "svg",
        "title",
        "desc",
        "style",
        "rect",
        "g",
        "path",
        "circle",
        "line",
        "text",
        "tspan",
    }
    assert not any(name.startswith("on") for element in root.iter() for name in element.attrib)
    for element in root.iter(f"{SVG}text"):
        assert measure_width("".join(element.itertext()), 10) < float(root.get("width"))


@pytest.mark.parametrize("seed", range(20))
def test_no_mix_of_characters_breaks_an_svg(seed):
    source = random.Random(seed)
    alphabet = [*"<>&\"'`#;[](){}|\\/\n\t\0\x7f", "\ud800", "\u202e", "\ufffe", "🚀", "é", " ", "a"]
    text = "".join(source.choices(alphabet, k=40))
    made = hostile(text)
    assert parsed(render_svg(made, lay_out(made)).encode()).find(f"{SVG}title") is not None
    check_mermaid(render_mermaid(made))


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_mermaid(text):
    check_mermaid(render_mermaid(hostile(text)))
    check_mermaid(render_mermaid(hostile(text), "down"))


LABEL = r'"(?:[^"`#<>;\[\]{}&\n]|#\d+;|<br/>)*"'
LINES = [
    r"flowchart (LR|TB)",
    rf"  n\d+(\(\[{LABEL}\]\)|\[{LABEL}\]):::(input|operator|output)",
    rf"  n\d+ (-->|-\.->)(\|{LABEL}\|)? n\d+",
    r"  classDef (input|operator|output) [-a-z0-9#:,]+",
]


def check_mermaid(text):
    """Every line is of a form that Mermaid's grammar has, whatever the names are."""
    assert text.endswith("\n")
    for number, line in enumerate(text[:-1].split("\n")):
        forms = LINES[:1] if number == 0 else LINES[1:]
        assert any(re.fullmatch(form, line) for form in forms), line


def test_mermaid_of_a_small_graph():
    graph = {"inputs": {"x": "number"}, "operators": {"end": "x > 1"}, "outputs": ["end"]}
    assert draw_graph(rtbot.load(graph).checked, "mermaid").splitlines()[:6] == [
        "flowchart LR",
        '  n0(["x: number"]):::input',
        '  n1["end<br/>x #62; 1"]:::operator',
        '  n2(["end: boolean"]):::output',
        "  n0 --> n1",
        "  n1 --> n2",
    ]


@pytest.mark.parametrize("mono", [False, True])
@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("room", [5, 40, 200])
def test_texts_are_cut_to_their_room(text, room, mono):
    cut = shorten(text, room, 11, mono=mono)
    assert measure_width(cut, 11, mono=mono) <= max(room, 11)
    assert cut == "".join(c if c.isprintable() else " " for c in text) or cut.endswith("…")
    lines = wrap_text(text, room, 11, 3, mono=mono)
    assert len(lines) <= 3
    assert all(measure_width(line, 11, mono=mono) <= max(room, 11) for line in lines)


def test_escaped_text_comes_back():
    text = "a <b> & \"c\" 'd' é 🚀"
    assert parsed(f'<x y="{escape(text)}">{escape(text)}</x>').attrib["y"] == text


# ---- how it is asked for


def test_a_notebook_gets_the_picture_and_the_text():
    graph = rtbot.load(DIAMOND)
    bundle = graph._repr_mimebundle_(include=None, exclude=None)
    assert bundle == {"image/svg+xml": graph.draw(), "text/plain": repr(graph)}


@pytest.mark.parametrize(
    ("name", "begins"), [("x.svg", "<svg"), ("x.SVG", "<svg"), ("x.mmd", "flowchart LR")]
)
def test_draw_writes_what_the_suffix_says(tmp_path, name, begins):
    text = rtbot.load(DIAMOND).draw(tmp_path / name)
    assert text.startswith(begins)
    assert (tmp_path / name).read_text(encoding="utf-8") == text


def test_draw_refuses_other_suffixes(tmp_path):
    with pytest.raises(ValueError, match=r"a picture is \.svg or \.mmd, not .*x\.png"):
        rtbot.load(DIAMOND).draw(tmp_path / "x.png")
    assert not list(tmp_path.iterdir())


BOLLINGER = str(GRAPHS["bollinger"])


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        ([], "<svg"),
        (["-o", "-"], "<svg"),
        (["--format", "mermaid"], "flowchart LR"),
        (["--format", "mermaid", "--direction", "down"], "flowchart TB"),
    ],
)
def test_the_verb_writes_to_stdout(capfdbinary, arguments, begins):
    assert run(["draw", BOLLINGER, *arguments]) == 0
    assert capfdbinary.readouterr().out.decode().startswith(begins)


def test_the_verb_writes_files_with_given_parameters(tmp_path):
    target = tmp_path / "x.svg"
    assert run(["draw", BOLLINGER, "-o", str(target), "-p", "window=9", "--direction", "down"]) == 0
    assert "window = 9" in texts(target.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ([BOLLINGER, "-o", "x.png"], 2, "-o x.png: a picture is .svg, .mmd"),
        ([BOLLINGER, "--direction", "up"], 2, "'up' is not one of"),
        ([BOLLINGER, "-p", "windw=9"], 3, "error[RT114]"),
        ([str(ROOT / "none.yaml")], 74, "none.yaml"),
        ([BOLLINGER, "-o", "none/x.svg"], 74, "none/x.svg"),
    ],
)
def test_mistakes_are_told(capfd, tmp_path, monkeypatch, arguments, code, told):
    monkeypatch.chdir(tmp_path)
    assert run(["draw", *arguments]) == code
    out, err = capfd.readouterr()
    assert told in err
    assert out == ""
    assert not list(tmp_path.iterdir())


def test_operators_of_changes_show_what_they_compute():
    graph = rtbot.load("""
    inputs: {orders: {changes: {id: integer, region: text?, net: number}, unique: [id]}}
    operators:
      some: {type: Where, in: orders, condition: net > 10}
      less: {type: Select, in: some, fields: {region: region, net: net * 0.8}}
      per:
        type: GroupBy
        in: less
        by: [region]
        compute: {n: count(), total: sum(net), kinds: count(distinct net)}
    outputs: [per]
    """)
    assert [box.details for box in build_diagram(graph.checked).boxes] == [
        (),
        ("condition = net > 10",),
        ("region", "net: net * 0.8"),
        ("by = [region]", "n: count()", "total: sum(net)", "kinds: count(distinct net)"),
        (),
    ]
    join = "{{type: JoinRows, in: [orders, some], on: {}}}"
    for on, shown in [
        ("[id]", "[id]"),
        ("{id: id, net: other}", "{id: id, net: other}"),
        ("[]", ""),
    ]:
        joined = rtbot.load(f"""
        inputs: {{orders: {{changes: {{id: integer, net: number}}}}}}
        operators:
          some: {{type: Select, in: orders, fields: {{id: id, other: net}}}}
          pairs: {join.format(on)}
        outputs: [pairs]
        """)
        wanted = (f"on = {shown}",) * bool(shown) + ("how = inner",)
        assert build_diagram(joined.checked).boxes[2].details == wanted
    picture = graph.draw()
    assert picture.count('class="wire changes"') == 4
    assert "{id: integer, region: text?, net: number}" in picture
    assert "orders: changes" in render_mermaid(build_diagram(graph.checked))
