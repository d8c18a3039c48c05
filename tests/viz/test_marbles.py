"""Pictures of examples: every message of a run is in it, at its time, and nothing overlaps."""

import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from rtbot.explain.example_run import draw_example, run_example
from rtbot.explain.examples import ExampleGraph
from rtbot.operator import REGISTRY, Example, In, Operator, Out
from rtbot.viz.marbles import Lane, Marble, draw_marbles

SVG = "{http://www.w3.org/2000/svg}"
OPERATORS = sorted(set(REGISTRY.values()), key=lambda cls: cls.__name__)

every_operator = pytest.mark.parametrize("cls", OPERATORS, ids=lambda cls: cls.__name__)


def lanes_of(name):
    return {lane.name: lane for lane in run_example(ExampleGraph(REGISTRY[name]))}


def pills(text):
    """The marbles of a picture as (left, top, right, bottom, label)."""
    found = []
    for group in ET.fromstring(text).iter(f"{SVG}g"):  # noqa: S314 (our own text)
        items = list(group)
        for rect, label in pairwise(items):
            if rect.tag == f"{SVG}rect" and rect.get("class") != "operator":
                x, y, width, height = (float(rect.get(k)) for k in ("x", "y", "width", "height"))
                found.append((x, y, x + width, y + height, label.text))
    return found


@every_operator
def test_every_message_of_the_example_is_drawn(cls):
    text = draw_example(cls)
    rows = [row for part in (cls.example.inputs, cls.example.outputs) for row in part.values()]
    drawn = pills(text)
    assert len(drawn) == sum(map(len, rows))
    wide, high = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text).groups())
    for left, top, right, bottom, _ in drawn:
        assert 0 < left < right < wide
        assert 0 < top < bottom < high
    for one in drawn:
        for other in drawn:
            apart = one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]
            assert one is other or apart


@every_operator
def test_the_times_of_outputs_are_those_of_the_example(cls):
    example = ExampleGraph(cls)
    found = {lane.name: lane for lane in run_example(example)}
    for port, name in {**example.inputs, **example.outputs}.items():
        rows = {**cls.example.inputs, **cls.example.outputs}[port]
        assert sorted(m.time for m in found[name].marbles) == sorted(row[0] for row in rows)


def test_a_picture_is_the_same_every_time():
    assert draw_example(REGISTRY["Join"]) == draw_example(REGISTRY["Join"])


def test_a_message_that_comes_later_than_its_time_says_when():
    marbles = lanes_of("ResamplerConstant")["result"].marbles
    assert [(m.time, m.released) for m in marbles] == [(5, 10), (10, None), (15, 16)]
    assert draw_example(REGISTRY["ResamplerConstant"]).count('class="later"') == 2
    assert 'class="later"' not in draw_example(REGISTRY["MovingAverage"])


def test_a_row_that_goes_away_looks_so():
    lanes = lanes_of("TopRows")
    assert [(m.label, m.removed) for m in lanes["x"].marbles] == [
        ("+ north 5", False),
        ("+ south 8", False),
        ("\N{MINUS SIGN} south 8", True),
    ]
    assert lanes["x"].detail == "region, total"


def test_times_are_apart_as_they_are_unless_they_are_far():
    marbles = [Marble(time, "1") for time in (0, 1, 3, 4, 1_000_000)]
    drawn = pills(draw_marbles("X", "", [Lane("a", "input", marbles), Lane("b", "output")]))
    near, wide, _, far = [later[0] - one[0] for one, later in pairwise(drawn)]
    assert near < wide < far < 4 * near


def test_what_is_long_is_cut_and_what_is_not_markup_is_escaped():
    lanes = [Lane("a" * 200, "input", [Marble(1, "<&" * 100)], "d" * 200), Lane("b", "output")]
    text = draw_marbles("X", "p: <" + "q" * 500, lanes)
    wide = float(re.search(r'viewBox="0 0 ([\d.]+)', text)[1])
    assert wide < 760
    assert "<&" not in text
    ET.fromstring(text)  # noqa: S314 (our own text)


def test_an_example_without_outputs_is_drawn():
    class Never(Operator):
        """Nothing, ever."""

        i1 = In("number", doc="values")
        o1 = Out("number", doc="nothing")
        keep = "false"
        formula = "i1"
        example = Example(inputs={"i1": [(1, 1.0)]}, outputs={"o1": []})

    assert len(pills(draw_example(Never))) == 1
