"""Names that files of custom operators may have from before still work, and say what is new."""

import pytest

import rtbot
import rtbot.operator
from rtbot.operator import EMIT, In, Operator, Out, step


@pytest.fixture
def operator():
    with pytest.warns(DeprecationWarning, match="is called") as found:

        class FormerForTest(Operator):
            known_as = "of_before"
            own_time = True
            frontier = "copy"
            i1 = In("number")
            o1 = Out("number")
            silent = True

            @step
            def step(i1, time):  # noqa: N805
                return EMIT, time, i1

    told = [str(warning.message) for warning in found]
    return FormerForTest, told


def test_former_attributes_of_an_operator_count_and_are_reported(operator):
    cls, told = operator
    assert told == [
        "FormerForTest.own_time is called sets_time now",
        "FormerForTest.known_as is called search_terms now",
    ]
    assert cls.sets_time
    operators = {"y": {"type": "FormerForTest", "in": "x"}}
    graph = rtbot.load({"inputs": {"x": "number"}, "operators": operators, "outputs": ["y"]})
    session = graph.start(compiled=False)
    assert session.push({"x": {"t": [1, 2], "value": [3.0, 4.0]}})["y"]["t"].tolist() == [1, 2]


def test_the_former_decorator_is_the_new_one():
    with pytest.warns(DeprecationWarning, match="rarely is called noinline now"):
        assert rtbot.operator.rarely is rtbot.operator.noinline


def test_another_name_is_no_attribute():
    with pytest.raises(AttributeError, match="has no attribute 'seldom'"):
        _ = rtbot.operator.seldom
