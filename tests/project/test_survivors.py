"""What no narrow test looked at: each of these fails with one broken line of `tests.mutants`."""

import hashlib
import operator

import numpy as np
import pyarrow as pa
import pytest

import rtbot
from rtbot.io.sources import cells
from rtbot.numeric.exact.cumulative import DIGIT_LIMIT, add_dropped
from rtbot.numeric.exact.digits import DIGIT_BITS, SUM_BASE, SUM_DIGITS
from rtbot.operator import Example, In, Number, Operator, Out
from rtbot.runtime.kernels.rows import FIRST, LAST
from rtbot.storage import container

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
    array, faults = cells.convert_cells(
        pa.array([f"{sign}{30 * '0'}{text.lstrip('-')}"]), "integer", "x"
    )
    assert (array.to_pylist(), faults) == ([value], [])


# ---- dumps


def test_a_dump_of_operators_with_other_state_is_refused_and_names_it():
    operators = {"m": {"type": "MovingAverage", "in": "x", "window": 3}}
    graph = rtbot.load({"inputs": {"x": "number"}, "operators": operators, "outputs": ["m"]})
    header, arrays = container.decode_blob(graph.start().dump())
    fields = header["owners"]["operators"]["fields"]
    name, field = next(iter(fields.items()))
    fields |= {name: f"1{field}", "x.more": "1 number"}
    with pytest.raises(rtbot.CheckpointError) as caught:
        graph.resume(container.encode_blob(header, arrays))
    assert caught.value.code == "RT312"
    assert f"state.{name} was '1{field}' and is '{field}'" in str(caught.value)
    assert "state.x.more is gone" in str(caught.value)


def test_bytes_behind_the_arrays_of_a_dump_are_no_dump():
    blob = container.encode_blob({}, {"a": np.arange(3)})[: -container.DIGEST] + bytes(8)
    start, end = len(container.MAGIC), container.START
    version, length, head = container.LENGTHS.unpack(blob[start:end])
    blob = blob[:start] + container.LENGTHS.pack(version, length + 8, head) + blob[end:]
    with pytest.raises(rtbot.CheckpointError, match="does not hold what a dump holds"):
        container.decode_blob(blob + hashlib.sha256(blob).digest())


@pytest.mark.parametrize("io", [{}, {"lateness": 3}])
def test_what_was_late_before_a_dump_is_late_after_it(io):
    graph = echo(io=io)
    session = graph.start()
    session.advance(10)
    session = graph.resume(session.dump())
    with pytest.raises(rtbot.DataError, match="advanced to 10"):
        session.push_one("x", 10, 1.0)
    session.push_one("x", 11, 1.0)
    assert session.account()["inputs"]["x"]["in"] == 1


# ---- the account


COUNT = {"type": "Count", "in": "x"}


def test_rows_that_wait_at_an_input_have_not_come_to_the_operators():
    graph = echo(
        io={"lateness": 3}, operators={"c": {"type": "Count", "in": "x"}}, outputs={"c": "c"}
    )
    session = graph.start()
    for time in (1, 2, 5):
        session.push_one("x", time, 1.0)
    assert session.account() == {
        "inputs": {"x": {"in": 3, "consumed": 1, "held": 2, "lost": {}}},
        "operators": {"c": {"i1": {"in": 1, "consumed": 1, "held": 0, "lost": {}}}},
        "outputs": {"c": 1},
    }


# ---- expressions


@pytest.mark.parametrize("text", ["if(x + 1 > 0, 1, 2)", "if(x > 0, x + 1, 2)"])
def test_an_overflow_in_any_used_part_of_an_if_gives_no_message(text):
    graph = echo("integer", operators={"e": text}, outputs={"e": "e"})
    session = graph.start()
    session.push({"x": {"t": np.arange(2), "value": np.array([LAST, -1])}})
    assert session.account()["operators"]["e"]["i1"]["lost"] == {"domain": 1}
    assert session.account()["outputs"] == {"e": 1}


def test_an_overflow_in_the_unused_part_of_an_if_is_none():
    session = echo("integer", operators={"e": "if(x > 0, 1, x - 1)"}, outputs={"e": "e"}).start()
    assert session.push_one("x", 1, LAST) == {"e": [(1, 1)]}


def test_an_overflow_in_what_is_in_place_of_null_counts_where_that_is_null():
    inputs = {"x": "integer?", "y": "integer"}
    made = {"operators": {"e": "coalesce(x, y + 1)"}, "outputs": {"e": "e"}}
    session = rtbot.load({"inputs": inputs} | made).start()
    both = {"t": [1, 2, 3], "value": [LAST, LAST, 7]}
    result = session.push({"x": {"t": [1, 2, 3], "value": [5, None, None]}, "y": both})
    assert rows(result, "e", "t", "value") == [(1, 5), (3, 8)]


SIGNS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
WRITTEN = dict(zip(("<", "<=", ">", ">=", "==", "!="), SIGNS, strict=True))


@pytest.mark.parametrize("sign", WRITTEN)
def test_a_number_in_front_of_an_integer_is_compared_with_it_exactly(sign):
    ports = {"i1": In("N", doc="values"), "o1": Out("N", doc="those beside the bound")}
    parts = ports | {"value": Number(doc="a bound")}
    example = Example(parameters={"value": 0.0}, inputs={"i1": []}, outputs={"o1": []})
    parts |= {"formula": "i1", "keep": f"value {sign} i1", "example": example}
    type("MirrorForTest", (Operator,), {"__doc__": "Values beside a bound.", **parts})
    values = [2**53 + step for step in (-1, 0, 1)]
    made = {"y": {"type": "MirrorForTest", "in": "x", "value": 2.0**53}}
    session = echo("integer", operators=made, outputs={"y": "y"}).start()
    found = session.push({"x": {"t": np.arange(3), "value": np.array(values)}})["y"]["value"]
    assert found.tolist() == [value for value in values if WRITTEN[sign](2**53, value)]


# ---- the checker


def problems(**parts):
    with pytest.raises(rtbot.GraphError) as caught:
        echo(**parts)
    return [(problem.code, problem.message) for problem in caught.value.problems]


def test_sixty_four_columns_are_a_key_and_one_more_is_none():
    names = [f"k{n}" for n in range(65)]
    assert echo(io={"key": names[:64]}).start().key == tuple(names[:64])
    assert problems(io={"key": names}) == [("RT108", "65 key columns")]


def test_a_cycle_is_noted_once_whatever_stands_before_and_behind_it():
    made = {"z": "a + x", "a": "b + x", "b": "c + x", "c": "a + 1", "y": "z + b"}
    found = problems(operators=made, outputs={"y": "y"})
    assert found == [("RT127", "a cycle: a -> c -> b -> a")]
