"""`push_one` of changes: the short way gives what `push` gives, to the bit, whatever comes."""

import pytest

import rtbot
from rtbot.core.errors import DataError, StateError
from tests.push_one_trials import check_trial

GRAPH = """
inputs: {a: {changes: {k: integer, s: text?}}}
operators: {d: {type: Distinct, in: a}}
outputs: {d: d}
"""


@pytest.mark.parametrize("number", range(8))
def test_one_by_one_is_as_in_one_push(number):
    assert check_trial(number) > 0


def begin(text=GRAPH):
    session = rtbot.load(text).start(compiled="never")
    session.push_one("a", 1, {"k": 1, "s": "x"})
    return session


@pytest.mark.parametrize(
    ("time", "row", "weight", "code"),
    [
        (0, {"k": 1, "s": "x"}, 1, "RT202"),
        (2, {"k": 1.0, "s": "x"}, 1, "RT201"),
        (2, {"k": True, "s": "x"}, 1, "RT201"),
        (2, {"k": 2**63, "s": "new"}, 1, "RT213"),
        (2, {"k": None, "s": "x"}, 1, "RT211"),
        (2, {"k": 1, "s": "\ud800"}, 1, "RT209"),
        (2, {"k": 1}, 1, "RT204"),
        (2, {"k": 1, "t": "x"}, 1, "RT204"),
        (2, {"k": 1, "s": "x"}, 0, "RT201"),
        (2, [1, "x"], 1, "RT214"),
    ],
)
def test_what_is_refused_is_refused_and_leaves_no_text(time, row, weight, code):
    session = begin()
    with pytest.raises(DataError) as caught:
        session.push_one("a", time, row, weight)
    assert caught.value.code == code
    assert session.texts.codes == {"x": 0}
    assert session.push_one("a", 2, {"k": 2, "s": None}) == {"d": [(1, 1, {"k": 1, "s": "x"})]}
    assert session.finish()["d"]["s"].tolist() == [None]


def test_a_bad_transaction_is_the_error_of_the_call_that_closes_it():
    session = begin()
    session.push_one("a", 2, {"k": 9, "s": "x"}, -1)
    with pytest.raises(DataError) as caught:
        session.push_one("a", 3, {"k": 2, "s": "y"})
    assert (caught.value.code, caught.value.time) == ("RT401", 2)
    assert session.push_one("a", 4, {"k": 2, "s": "y"}) == {"d": [(3, 1, {"k": 2, "s": "y"})]}
    assert session.account()["inputs"]["a"]["lost"] == {"discarded": 1}


def test_rows_that_wait_are_held_and_dumped():
    session = begin()
    session.push_one("a", 1, {"k": 2, "s": "z"})
    session.push_one("a", 1, {"k": 2, "s": "z"})
    assert session.held() == {"a": 3}
    again = rtbot.load(GRAPH).resume(session.dump(), compiled="never")
    assert again.push_one("a", 5, {"k": 0, "s": None}) == session.push_one(
        "a", 5, {"k": 0, "s": None}
    )
    assert again.dump() == session.dump()


def test_callbacks_are_called():
    session = begin()
    session.push_one("a", 2, {"k": 2, "s": "x"})
    found = []
    session.on("d", lambda table: found.append(table["k"].tolist()))
    session.push_one("a", 3, {"k": 3, "s": "x"})
    assert found == [[2]]


def test_a_session_that_is_finished_takes_nothing():
    session = begin()
    session.push_one("a", 2, {"k": 2, "s": "x"})
    session.finish()
    with pytest.raises(StateError):
        session.push_one("a", 3, {"k": 3, "s": "x"})


def test_lateness_sorts_rows():
    session = begin(GRAPH + "io: {lateness: 5}\n")
    session.push_one("a", 3, {"k": 3, "s": "x"})
    session.push_one("a", 2, {"k": 2, "s": "x"})
    assert session.finish()["d"]["t"].tolist() == [1, 2, 3]


def test_a_store_that_has_grown_in_a_push_is_found():
    declared = {"x": {"changes": {"a": "integer"}}}
    operators = {"o": {"type": "Distinct", "in": "x"}}
    graph = rtbot.load({"inputs": declared, "operators": operators, "outputs": ["o"]})
    session = graph.start(compiled="never")
    grown = range(4096, 12_000, 300)
    for at, (first, last) in enumerate(zip([0, *grown], grown, strict=False)):
        session.push({"x": [[3 * at, 1, {"a": row}] for row in range(first, last)]})
        row = {"a": last - 1}
        session.push_one("x", 3 * at + 1, row, -1)
        released = session.push_one("x", 3 * at + 2, row)
        assert released["o"] == [(3 * at + 1, -1, row)]
