"""State has names: a version may give an operator another optional parameter, and dumps go on."""

import pytest

import rtbot
from rtbot.operator import Integer
from rtbot.operators.smoothing import EMA
from rtbot.storage.container import decode_blob

LATER = Integer(required=False, default=0, name="later", doc="one that a later version has")
VALUES = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


def load(**parameters):
    average = {"type": "EMA", "in": "x", "window": 3} | parameters
    return rtbot.load({"inputs": {"x": "number"}, "operators": {"y": average}, "outputs": ["y"]})


def push(session, begin, end):
    table = {"t": list(range(begin, end)), "value": VALUES[begin:end]}
    return session.push({"x": table})["y"]["value"].tolist()


def dump_half(**parameters):
    session = load(**parameters).start()
    push(session, 0, 4)
    return session.dump()


def go_on(dump):
    return push(load().resume(dump), 4, 8)


def test_another_optional_parameter_does_not_refuse_an_old_dump(monkeypatch):
    dump = dump_half()
    monkeypatch.setitem(EMA.parameters, "later", LATER)
    assert load().checked.nodes["y"].values["later"] == 0
    assert go_on(dump) == push(load().start(), 0, 8)[-4:]


def test_a_dump_of_a_version_with_another_optional_parameter_goes_on(monkeypatch):
    with monkeypatch.context() as later:
        later.setitem(EMA.parameters, "later", LATER)
        dump = dump_half()
    assert go_on(dump) == push(load().start(), 0, 8)[-4:]


def test_one_that_has_not_its_default_is_another_graph(monkeypatch):
    with monkeypatch.context() as later:
        later.setitem(EMA.parameters, "later", LATER)
        dump = dump_half(later=2)
    gone = r"operators\.y\.values\.later is gone"
    with pytest.raises(rtbot.CheckpointError, match=gone) as caught:
        go_on(dump)
    assert caught.value.code == "RT313"


def test_a_parameter_that_is_given_is_compared():
    dump = dump_half(seed="mean")
    with pytest.raises(rtbot.CheckpointError, match=r"values\.seed"):
        go_on(dump)


def test_state_is_named_by_operator_and_item():
    header, arrays = decode_blob(dump_half())
    named = {name for name in arrays if name.startswith("operators/")}
    assert named == {f"operators/y.{item}" for item in EMA.state if item != "scratch"}
    assert header["owners"]["operators"]["counters"]["y.o1 passed"] == 2


def test_a_shared_window_has_the_name_of_its_first_operator():
    operators = {
        "short": {"type": "MovingAverage", "in": "x", "window": 4},
        "spread": {"type": "StandardDeviation", "in": "x", "window": 4},
    }
    graph = rtbot.load({"inputs": {"x": "number"}, "operators": operators, "outputs": ["spread"]})
    _, arrays = decode_blob(graph.start().dump())
    windows = [name for name, array in arrays.items() if len(array) == 4]
    assert "operators/short.values" in windows
    assert "operators/spread.values" not in arrays
