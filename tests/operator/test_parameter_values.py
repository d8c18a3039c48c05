"""Kinds of parameters: random values fit their limits, and a step gets a word for none."""

import math
import random

import pytest

import rtbot
from rtbot.operator import (
    Boolean,
    Choice,
    Choices,
    Duration,
    In,
    Integer,
    Integers,
    Number,
    Numbers,
    Operator,
    Out,
    Points,
    WindowLength,
)

DRAWN = [
    Number(minimum=10, maximum=100),
    Number(above=3e16),
    Number(above=0.0, maximum=1e-12),
    Number(minimum=-5.0, maximum=-3.0),
    Number(minimum=7.0, maximum=7.0),
    Integer(maximum=-10),
    Integer(minimum=2, maximum=4, odd=True),
    Integer(minimum=8, odd=True),
    Integer(minimum=3, maximum=3),
    Duration(maximum=3),
    Duration(minimum=2, maximum=3),
    Duration(minimum=None, maximum=-2),
    WindowLength(minimum=10),
    WindowLength(minimum=2, maximum=4, odd=True),
    WindowLength(minimum=9, maximum=9),
    Integers(shortest=4),
    Integers(shortest=2, minimum=3),
    Numbers(shortest=3),
    Points(shortest=3),
    Choice(options=("a", "b")),
    Choices(options=("a", "b")),
    Boolean(),
]


def load(parameter, value, **params):
    """Load a graph whose operator has a parameter `p` of this kind and value."""

    class LimitedForTest(Operator):
        """A value that a parameter does not change."""

        i1 = In("number", doc="values")
        o1 = Out("number", doc="the same")
        p = parameter
        formula = "i1"

    node = {"type": "LimitedForTest", "in": "x"} | ({} if value is None else {"p": value})
    document = {"inputs": {"x": "number"}, "operators": {"y": node}, "outputs": ["y"]}
    graph = rtbot.load(document | {"params": params} | {"io": {"unit": "ns"}})
    return graph.checked.nodes["y"]


@pytest.mark.parametrize("parameter", DRAWN, ids=lambda one: type(one).__name__)
def test_random_values_are_allowed(parameter):
    rng = random.Random(3)
    values = [parameter.draw(rng, 10**6) for _ in range(200)]
    for value in {repr(value): value for value in values}.values():
        load(parameter, value)


@pytest.mark.parametrize(
    ("parameter", "word"),
    [
        (Number(required=False), math.nan),
        (Integer(required=False), -1),
        (Duration(required=False), -1),
        (WindowLength(required=False), -1),
        (Choice(options=("a", "b"), required=False), -1),
        (Choices(options=("a", "b"), required=False), 0),
        (Boolean(required=False), 0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_step_gets_a_word_for_a_value_that_is_not_given(parameter, word):
    node = load(parameter, None)
    assert node.values["p"] is None
    assert repr(node.operator.parameters["p"].encode("p", None)[1]) == repr(word)


def test_integers_of_a_parameter_of_the_graph_are_those_that_may_be_written():
    for kind, given in [(Integers(), [-3, 4]), (Integers(minimum=-3), [-3, 4])]:
        assert load(kind, given).values["p"] == (-3, 4)
        assert load(kind, "$list", list=given).values["p"] == (-3, 4)
    with pytest.raises(rtbot.GraphError, match="RT113"):
        load(Integers(minimum=-2), "$list", list=[-3, 4])
    with pytest.raises(rtbot.GraphError, match="RT113"):
        load(Integers(), "$list", list=[0.5, 4])
