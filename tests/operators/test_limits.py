"""Faults found by attack in what operators declare, hold and count."""

import pytest

import rtbot
from rtbot.operator import (
    EMIT,
    STATE_LIMIT,
    In,
    Integer,
    Number,
    Operator,
    Out,
    Scalar,
    step,
)

# ---- the account of a Merge


def test_an_overflow_of_a_merge_is_booked_where_messages_came():
    graph = rtbot.load(
        {
            "inputs": {"a": "integer", "b": "integer", "c": "integer"},
            "operators": {"m": {"type": "Merge", "in": ["a", "b", "c"], "ties": "sum"}},
            "outputs": ["m"],
        }
    )
    session = graph.start(compiled=False)
    session.push({"a": {"t": [1, 2], "value": [2**63 - 1, 1]}, "b": {"t": [1], "value": [1]}})
    session.finish()
    account = session.account()["operators"]["m"]
    assert account == {
        "i1": {"in": 2, "consumed": 1, "held": 0, "lost": {"domain": 1}},
        "i2": {"in": 1, "consumed": 0, "held": 0, "lost": {"domain": 1}},
        "i3": {"in": 0, "consumed": 0, "held": 0, "lost": {}},
    }


# ---- state that no memory holds


@pytest.mark.parametrize(
    "operator",
    [
        {"type": "Lag", "n": "$size"},
        {"type": "PeakDetector", "window": "$size"},
        {"type": "WindowMinMax", "window": "$size", "mode": "max"},
        {"type": "StandardDeviation", "window": "$size"},
        {"type": "MovingAverage", "window": "$size"},
        {"type": "MovingSum", "window": "$size", "partial": True},
    ],
    ids=lambda operator: operator["type"],
)
@pytest.mark.parametrize("size", [2**63 - 1, 10**9 + 1, STATE_LIMIT + 1])
def test_a_window_beyond_all_memory_is_refused_by_the_checker(operator, size):
    document = {
        "params": {"size": 3},
        "inputs": {"x": "number"},
        "operators": {"y": operator | {"in": "x"}},
        "outputs": ["y"],
    }
    with pytest.raises(rtbot.GraphError) as caught:
        rtbot.load(document, size=size)
    assert [problem.code for problem in caught.value.problems] == ["RT112"]
    assert "16777216" in str(caught.value).replace(",", "").replace("_", "")


# ---- declarations


def test_a_parameter_cannot_have_the_name_of_the_time_of_a_row():
    class Delayed(Operator):
        """A parameter that a step would never see."""

        time = Number(doc="seconds")
        i1 = In("number")
        o1 = Out("number")

        @step
        def step(i1, time):  # noqa: N805 (a step has no self)
            return i1 + time

    with pytest.raises(rtbot.GraphError, match="a step gets the row's time by this name"):
        rtbot.load(
            {
                "inputs": {"x": "number"},
                "operators": {"y": {"type": "Delayed", "in": "x", "time": 5}},
                "outputs": ["y"],
            }
        )


def test_state_cannot_have_the_name_of_the_time_of_a_row():
    class Stamped(Operator):
        """State that a step would never see."""

        i1 = In("number")
        o1 = Out("number")
        time = Scalar("integer", 0)

        @step
        def step(i1, time):  # noqa: N805 (a step has no self)
            return i1, time

    with pytest.raises(rtbot.GraphError, match="a step gets the row's time by this name"):
        rtbot.load(
            {
                "inputs": {"x": "number"},
                "operators": {"y": {"type": "Stamped", "in": "x"}},
                "outputs": ["y"],
            }
        )


@pytest.mark.parametrize(
    ("feeds", "operators", "expected"),
    [
        (["a", "b"], {}, [(12, 7.0), (14, 12.0)]),
        (["a", "a"], {}, [(11, 2.0), (12, 4.0), (14, 8.0)]),
        (
            ["both.o1", "both.o2"],
            {"both": {"type": "Join", "in": ["a", "b"]}},
            [(12, 7.0), (14, 12.0)],
        ),
        (
            ["a", "c"],
            {"c": {"type": "GreaterThan", "in": "a", "value": 1.5}},
            [(12, 4.0), (14, 8.0)],
        ),
        (["b", "c"], {"c": {"type": "GreaterThan", "in": "a", "value": 3.0}}, [(14, 12.0)]),
    ],
)
def test_inputs_of_an_operator_with_times_of_its_own_are_joined_by_time(feeds, operators, expected):
    class Later(Operator):
        """The sum of two values, some time later."""

        by = Integer(minimum=0, doc="how much later")
        i1 = In("number")
        i2 = In("number")
        o1 = Out("number")
        silent = True
        sets_time = True

        @step
        def step(i1, i2, by, time):  # noqa: N805 (a step has no self)
            return EMIT, time + by, i1 + i2

    graph = rtbot.load(
        {
            "inputs": {"a": "number", "b": "number"},
            "operators": operators | {"y": {"type": "Later", "in": feeds, "by": 10}},
            "outputs": ["y"],
        }
    )
    rows = {"a": [(1, 1.0), (2, 2.0), (4, 4.0)], "b": [(2, 5.0), (4, 8.0)]}
    one_by_one = graph.start(compiled=False)
    found = [
        row
        for name in ("b", "a")
        for time, value in rows[name]
        for row in one_by_one.push_one(name, time, value).get("y", [])
    ]
    assert found == expected
    tables = {
        n: dict(zip(("t", "value"), zip(*own, strict=True), strict=True)) for n, own in rows.items()
    }
    whole = graph.start(compiled=False).push(tables)["y"]
    assert [*zip(whole["t"].tolist(), whole["value"].tolist(), strict=True)] == expected
