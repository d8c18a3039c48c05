"""What no narrow test looked at: each of these fails with one broken line of `tests.sabotages`."""

import numpy as np
import pyarrow as pa
import pytest

import rtbot
from rtbot.exact_digits import DIGIT_BITS, SUM_BASE, SUM_DIGITS
from rtbot.exact_running import DIGIT_LIMIT, add_dropped
from rtbot.formats import cells
from rtbot.kernels import FIRST, LAST

BOTH = {
    "inputs": {"a": "number", "b": "number"},
    "operators": {"m": {"type": "Merge", "in": ["a", "b"]}},
    "outputs": {"m": "m"},
}


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


def echo(kind="number", **rest):
    return rtbot.load({"inputs": {"x": kind}, "outputs": {"x": "x"}, "operators": {}} | rest)


def table(*rows):
    k, t, value = zip(*rows, strict=True)
    return {"k": list(k), "t": list(t), "value": list(value)}


def rows(result, name, *columns):
    return list(zip(*(result[name][c].tolist() for c in columns), strict=True))


# ---- keys


def test_keys_that_two_inputs_brought_into_free_slots_are_forgotten_together():
    session = rtbot.load(BOTH).start("k")
    session.push({"b": table(("stays", 5, 1.0), ("p", 5, 1.0), ("q", 5, 1.0))})
    for key in "pq":
        session.close_key(key)
    before = session.dump()
    with pytest.raises(rtbot.DataError, match="late"):
        session.push({"a": table(("r", 1, 1.0)), "b": table(("s", 1, 1.0), ("stays", 4, 1.0))})
    assert session.dump() == before
    session.push({"a": table(("t", 1, 1.0), ("u", 1, 1.0))})
    assert session.keys.count == 3


def test_the_first_null_key_may_come_in_the_second_table_of_a_push():
    session = rtbot.load(BOTH).start("k")
    data = {"a": table((1, 1, 1.0), (2, 1, 2.0)), "b": table((None, 1, 3.0), (2, 2, 4.0))}
    found = [rows(part, "m", "k", "t", "value") for part in (session.push(data), session.finish())]
    assert found == [[(2, 1, 2.0)], [(1, 1, 1.0), (2, 2, 4.0), (None, 1, 3.0)]]


def test_nulls_stay_with_their_rows_where_keys_are_mixed():
    given = [(2, 1, 1.0), (1, 1, None), (2, 2, None), (1, 2, 4.0), (2, 3, 5.0)]
    result = echo("number?").start("k").push({"x": table(*given)})
    found = rows(result, "x", "k", "t", "value_valid")
    assert found == [(1, 1, False), (1, 2, True), (2, 1, True), (2, 2, False), (2, 3, True)]


# ---- the edge


def test_two_messages_of_one_push_at_the_first_time_of_all_are_duplicates():
    given = {"t": np.full(2, FIRST), "value": np.array([1.0, 2.0])}
    with pytest.raises(rtbot.DataError, match="a second message"):
        echo().start().push({"x": given})
    session = echo(io={"duplicates": "first"}).start()
    assert rows(session.push({"x": given}), "x", "t", "value") == [(FIRST, 1.0)]
    assert session.account()["inputs"]["x"]["lost"] == {"duplicate": 1}


@pytest.mark.parametrize("end", [FIRST, LAST])
def test_a_sum_of_duplicates_may_be_the_first_and_the_last_integer(end):
    session = echo("integer", io={"duplicates": "sum"}).start()
    step = 1 if end < 0 else -1
    session.push({"x": {"t": np.zeros(3, np.int64), "value": np.array([end + step, -step, 0])}})
    assert rows(session.finish(), "x", "t", "value") == [(0, end)]
    assert session.account()["inputs"]["x"]["lost"] == {"duplicate": 2}


# ---- numbers


@pytest.mark.parametrize("sign", [1, -1])
def test_a_digit_of_a_running_sum_that_has_grown_hands_on_what_it_has(sign):
    def total():
        return sum(digit << (DIGIT_BITS * place) for place, digit in enumerate(digits))

    digits, x = [0] * SUM_DIGITS, sign * 1.5 * 2.0**300
    lowest = (300 - 52 - SUM_BASE) // DIGIT_BITS
    for place in range(lowest, lowest + 4):
        digits[place] = sign * DIGIT_LIMIT
    before = total()
    add_dropped(x, digits, 0)
    assert total() - before == int(x) << -SUM_BASE
    assert max(map(abs, digits[lowest : lowest + 4])) <= DIGIT_LIMIT


# ---- files


@pytest.mark.parametrize(
    ("text", "value"),
    [("7", 7), ("9223372036854775807", LAST), ("-9223372036854775808", FIRST)],
)
def test_zeros_in_front_of_an_integer_are_no_digits_of_it(text, value):
    sign = "-" * text.startswith("-")
    array, faults = cells.convert(pa.array([f"{sign}{30 * '0'}{text.lstrip('-')}"]), "integer", "x")
    assert (array.to_pylist(), faults) == ([value], [])
