"""State: what is refused leaves nothing; a dump is as large as what is alive and holds it all."""

import datetime as dt
import random
from pathlib import Path

import numpy as np
import pytest

import rtbot
from rtbot.compiler import pairing_layout
from rtbot.operator import EMIT, SILENT, In, Operator, Out, Scalar, step
from rtbot.runtime.executor import Executor
from rtbot.runtime.frontier import FrontierTracker
from rtbot.runtime.inner_keys import InnerKeys
from rtbot.runtime.input_port import InputPort
from rtbot.runtime.keys import KeyTable
from rtbot.runtime.pairing_pool import PairingPool, RowBlocks
from rtbot.runtime.reorder import ReorderBuffer
from rtbot.runtime.session import Session
from rtbot.runtime.session_code import load_kernels
from rtbot.runtime.span_pool import SpanPool
from rtbot.runtime.state_owner import OperatorState
from rtbot.runtime.timers import Timers
from rtbot.tables import TextColumn
from rtbot.tables.string_dictionary import StringDictionary

DUMPS = Path(__file__).parents[1] / "golden" / "dumps"


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


def graph(inputs, operators, outputs, **rest):
    kinds = dict.fromkeys(inputs, "number") if not isinstance(inputs, dict) else inputs
    return rtbot.load({"inputs": kinds, "operators": operators, "outputs": outputs, **rest})


def joined(how="inner", **rest):
    operators = {"j": {"type": "Join", "in": ["a", "b"], "how": how}}
    return graph(["a", "b"], operators, {"left": "j.o1", "right": "j.o2"}, **rest)


def summed(window=2, **rest):
    return graph(["x"], {"s": {"type": "MovingSum", "in": "x", "window": window}}, ["s"], **rest)


def keyed(*rows):
    keys, times, values = zip(*rows, strict=True)
    return {"k": list(keys), "t": list(times), "value": list(values)}


def rows(result, name, *keys):
    found = result[name]
    values = found["value"].tolist()
    if "value_valid" in found:
        values = [v if ok else None for v, ok in zip(values, found["value_valid"], strict=True)]
    return list(zip(*(found[k].tolist() for k in keys), found["t"].tolist(), values, strict=True))


# ---- what is refused leaves nothing


LATE = [
    lambda s: s.push_one("x", 7, 1.0, key="new"),
    lambda s: s.push({"x": keyed(("n1", 50, 1.0), ("n2", 7, 1.0))}),
    lambda s: s.push({"x": keyed((None, 7, 1.0))}),
    lambda s: s.push({"x": keyed(*((f"n{n}", 7, 1.0) for n in range(500)))}),
]


@pytest.mark.parametrize("refused", LATE)
@pytest.mark.parametrize("known", [[], ["b"], ["b", "a"]])
@pytest.mark.parametrize("lateness", [None, 1])
def test_a_refused_push_leaves_the_dump_as_it_was_and_a_session_that_goes_on(
    refused, known, lateness
):
    session = summed(**({"io": {"lateness": lateness}} if lateness else {})).start(key="k")
    if known:
        session.push({"x": keyed(*((key, 60, 1.0) for key in [*known, "closed"]))})
        session.close_key("closed")
    session.advance(100)
    before = session.dump()
    for _ in range(3):
        with pytest.raises(rtbot.DataError, match="late"):
            refused(session)
        assert session.dump() == before
    session.advance(101)
    session.push({"x": keyed(*((key, 102, 2.0) for key in ["c", *known]))})
    session.push({"x": keyed(*((key, 103, 3.0) for key in ["c", *known, "Z"]))})
    found = session.finish()["s"]["k"].tolist() if lateness else sorted(["c", *known])
    assert found == sorted(found)


def test_a_push_refused_for_its_new_keys_leaves_no_room_for_them():
    session = summed().start(key="k")
    session.push({"x": keyed((1, 5, 1.0), (2, 5, 1.0))})
    with pytest.raises(rtbot.DataError):
        session.push({"x": keyed((0, 7, 1.0), (0, 7, 1.0))})
    assert session.keys.ordered
    sizes = [
        lambda: session.runner.capacity,
        lambda: len(session.runner.operators.words),
        lambda: len(session.input_ports["x"].last),
        lambda: len(session.keys.words),
        lambda: len(session.keys.table),
        lambda: len(session.keys.free),
        lambda: len(session.ingest.place),
    ]
    before = [size() for size in sizes]
    many = {"k": np.arange(10, 5_000), "t": np.full(4_990, 7), "value": np.ones(4_990)}
    with pytest.raises(rtbot.DataError):
        session.push({"x": {n: np.append(c, c[:1]) for n, c in many.items()}})
    assert [size() for size in sizes] == before
    session.push({"x": many})
    assert session.keys.list_open_slots().tolist() == list(range(4_992))


@pytest.mark.parametrize("kind", ["integer", "text", "both"])
@pytest.mark.parametrize("seed", range(4))
def test_keys_that_come_go_and_are_refused_are_those_of_a_dictionary(seed, kind):
    rng = random.Random(f"{seed}/{kind}")
    keys = KeyTable(["k", "l"] if kind == "both" else ["k"], load_kernels("now"))
    slots = {}

    def columns(numbers):
        texts = TextColumn(np.arange(len(numbers)), [f"n{n}" for n in numbers])
        integers = np.array(numbers, np.int64)
        return {"integer": [integers], "text": [texts], "both": [texts, integers]}[kind]

    for _ in range(120):
        numbers = rng.choices(range(60), k=rng.randrange(1, 12))
        mark = keys.mark()
        words = keys.encode(columns(numbers))
        found, missing = keys.find(words)
        assert [int(s) for s in found] == [slots.get(n, -1) for n in numbers]
        if missing:
            keys.add(words.reshape(-1, keys.width)[found < 0].ravel())
        if rng.random() < 0.4:
            keys.roll_back(mark)
        else:
            slots |= dict(zip(numbers, keys.find(words)[0].tolist(), strict=True))
        for n in rng.sample(sorted(slots), min(len(slots), rng.randrange(6))):
            keys.drop([slots.pop(n)])
        label = int if kind == "integer" else lambda n: f"n{n}"
        assert keys.list_open_slots().tolist() == [slots[n] for n in sorted(slots, key=label)]
        assert len(set(slots.values())) == len(slots)
    assert keys.count <= 60


def test_a_table_that_grows_while_slots_are_used_again_forgets_the_keys_they_had():
    session = summed(window=1).start(key="k")
    session.push({"x": keyed(*((n, 1, 1.0) for n in range(16)))})
    for n in range(8):
        session.close_key(n)
    session.push({"x": keyed(*((n, 2, 1.0) for n in range(100, 130)))})
    for n in range(100, 130):
        session.close_key(n)
    for n in (*range(8), *range(100, 130)):
        with pytest.raises(rtbot.DataError, match="no key"):
            session.close_key(n)


def test_asking_for_the_frontier_of_a_key_makes_nothing_of_it():
    session = summed().start(key="k")
    before = session.dump()
    assert session.frontiers([TextColumn(np.zeros(1, np.int64), ["a"])]).tolist() == [2**63 - 1]
    assert session.dump() == before
    session.push({"x": keyed((1, 1, 1.0))})


# ---- times


@pytest.mark.parametrize(
    "time",
    [
        dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
        dt.date(2020, 1, 1),
        np.datetime64("2020-01-01"),
        np.datetime64("2020-01-01T00:00:00.000"),
        "2020-01-01T00:00:00Z",
        1577836800000,
        np.int64(1577836800000),
    ],
)
def test_advance_takes_the_times_that_push_one_takes(time):
    session = summed(window=1, io={"unit": "ms"}).start()
    session.advance(time)
    with pytest.raises(rtbot.DataError, match=r"advanced to 1577836800000"):
        session.push_one("x", time, 1.0)
    session.push_one("x", 1577836800001, 1.0)


@pytest.mark.parametrize(
    "time",
    [True, np.True_, 1.5, None, "noon", np.datetime64("NaT"), b"1", [1], np.datetime64(1, "ns")],
)
def test_advance_refuses_a_time_as_push_one_does(time):
    session = summed(window=1, io={"unit": "ms"}).start()
    errors = []
    for call in (lambda: session.advance(time), lambda: session.push_one("x", time, 1.0)):
        with pytest.raises(rtbot.DataError) as caught:
            call()
        errors.append((caught.value.code, caught.value.message))
    assert errors[0] == errors[1]
    session.advance(2**70)


# ---- a dump is as large as what is alive


def filled(session, start, count, *names):
    t = np.arange(start, start + count)
    for name in names:
        session.push({name: {"t": t, "value": t * 1.0}})


def test_a_queue_that_was_long_leaves_nothing_in_a_dump_and_little_in_memory():
    made = joined()
    session = made.start()
    filled(session, 0, 10, "a", "b")
    small = len(session.dump())
    filled(session, 10, 50_000, "a")
    assert len(session.dump()) > 800_000
    filled(session, 10, 50_000, "b")
    assert len(session.dump()) < small + 100
    assert len(made.resume(session.dump()).dump()) < small + 100
    filled(session, 70_000, 10, "a", "b")
    blocks = session.runner.pools[0].blocks[0]
    assert sum(array.nbytes for array in (blocks.time, blocks.next)) < 1e5


def test_what_waits_is_dumped_without_gaps():
    """Rows of one key that lie between those of keys that are gone."""
    made = joined()
    session, other = made.start(key="k"), made.start(key="k")
    few = [("b", t, float(t)) for t in range(20)]
    session.push({"a": keyed(*((key, t, 1.0) for key in "ac" for t in range(1000)))})
    for row in few:
        session.push({"a": keyed(row)})
    session.close_key("a")
    session.push({"b": keyed(*(("c", t, 1.0) for t in range(1000)))})
    session.close_key("c")
    session.push({"b": keyed(("b", 4, 0.0))})
    other.push({"a": keyed(*few), "b": keyed(("b", 4, 0.0))})
    assert len(session.dump()) - len(other.dump()) < 100
    resumed = made.resume(session.dump())
    for each in (session, resumed, other):
        each.push({"a": keyed(("b", 20, 20.0))})
        result = rows(each.push({"b": keyed(*(("b", t, 0.0) for t in range(5, 21)))}), "left")
        assert result == [(t, float(t)) for t in range(5, 21)]


def test_rows_that_wait_at_two_ports_stay_apart_in_a_dump():
    made = joined()
    session = made.start(key="k")
    session.push({"a": keyed(("x", 1, 1.0), ("x", 2, 2.0)), "b": keyed(("y", 1, 3.0))})
    session = made.resume(session.dump())
    result = session.push({"b": keyed(("x", 2, 0.0)), "a": keyed(("y", 1, 0.0))})
    assert rows(result, "left", "k") == [("x", 2, 2.0), ("y", 1, 0.0)]
    assert rows(result, "right", "k") == [("x", 2, 0.0), ("y", 1, 3.0)]


@pytest.mark.parametrize("io", [{}, {"lateness": 5}])
def test_closed_keys_leave_nothing_in_a_dump(io):
    made = joined(io=io)
    session = made.start(key="k")
    begin = len(session.dump())
    for first in range(0, 600, 200):
        session.push({"a": keyed(*((f"k{n}", 1, 1.0) for n in range(first, first + 200)))})
        for n in range(first, first + 200):
            session.close_key(f"k{n}")
    assert len(session.dump()) < begin + 100
    assert made.resume(session.dump()).dump() == session.dump()


def test_room_is_given_back_when_nothing_is_left():
    made = joined(io={"lateness": 5})
    session = made.start(key="k")
    for cycle in range(2):
        data = {"k": np.arange(1_100), "t": np.full(1_100, cycle), "value": np.ones(1_100)}
        session.push({"a": data})
        session.push({"a": data | {"t": data["t"] + 6}})
        for n in range(1_100):
            session.close_key(n)
        assert (session.runner.capacity, session.keys.count, len(session.keys.words)) == (1, 0, 16)
        resumed = made.resume(session.dump())
        for each in (session, resumed):
            each.push({"a": keyed((7, 1, 1.0)), "b": keyed((7, 1, 2.0), (8, 1, 2.0))})
            assert rows(each.close_key(7), "left", "k") == [(7, 1, 1.0)]
            each.close_key(8)


def test_rows_that_waited_for_late_ones_leave_little_in_memory():
    session = summed(window=1, io={"lateness": 10}).start()
    session.push({"x": {"t": np.arange(50_000), "value": np.ones(50_000)}})
    session.advance(50_000)
    session.push({"x": {"t": [50_003, 50_002], "value": [1.0, 2.0]}})
    assert len(session.input_ports["x"].free) < 100
    assert rows(session.finish(), "s") == [(50_002, 2.0), (50_003, 1.0)]


def test_keys_that_come_and_go_do_not_fill_the_heap_that_wakes_them():
    session = joined().start(key="k")
    for n in range(800):
        session.push({"a": keyed((n, 1, 1.0))})
        session.close_key(n)
    assert max(len(wakes.time) for wakes in session.runner.pools[0].wakes) < 100
    session.push({"a": keyed(*((n, 1, 1.0) for n in range(100)))})
    for n in range(100):
        session.close_key(n)
    for n in range(5_000, 5_300):
        session.push({"a": keyed((n, 1, 1.0))})
        session.close_key(n)
    waking = [session.runner.pools[0].read_word(k, pairing_layout.WATCHED) for k in range(2)]
    assert max(waking) < 20


def test_rows_that_waited_for_late_ones_leave_nothing_in_a_dump():
    made = summed(window=1, io={"lateness": 10})
    session = made.start()
    session.push({"x": {"t": [0], "value": [1.0]}})
    session.advance(0)
    begin = len(session.dump())
    session.push({"x": {"t": np.full(1, 5), "value": np.ones(1)}})
    session.advance(5)
    session.push({"x": {"t": np.arange(10, 20_000), "value": np.ones(19_990)}})
    session.advance(20_000)
    assert len(session.dump()) < begin + 200
    session.push({"x": {"t": [20_005, 20_003, 20_004], "value": [5.0, 3.0, 4.0]}})
    resumed = made.resume(session.dump())
    assert rows(resumed.finish(), "s") == [(20_003, 3.0), (20_004, 4.0), (20_005, 5.0)]


def test_a_dump_changes_nothing_and_the_same_session_has_the_same():
    made = joined("left", io={"lateness": 2})
    session = made.start(key="k")
    session.push({"a": keyed(*((key, t, 1.0) for key in "cab" for t in range(9)))})
    session.push({"b": keyed(("c", 3, 2.0), ("b", 7, 3.0))})
    session.close_key("a")
    state = repr(saved(session))
    blob = session.dump()
    assert repr(saved(session)) == state
    assert made.resume(blob).dump() == blob


def saved(session):
    """All arrays, numbers and tables of the session's parts."""
    parts = [session, session.runner, session.keys, session.texts, session.runner.progress]
    parts += [*session.runner.pools, *session.input_ports.values(), session.ingest]
    plain = (int, str, list, dict, set, tuple, np.ndarray)
    with np.printoptions(threshold=10**6):
        return [{n: repr(v) for n, v in vars(p).items() if isinstance(v, plain)} for p in parts]


def test_resume_makes_one_session(monkeypatch):
    made, begun = summed(), []
    blob = made.start().dump()
    real = Session.__init__

    def counted(self, *arguments, **options):
        begun.append(1)
        real(self, *arguments, **options)

    monkeypatch.setattr(Session, "__init__", counted)
    made.resume(blob)
    assert begun == [1]


# ---- what is resumed goes on


def test_a_key_closed_before_a_dump_shares_no_slot_after_it():
    made = summed()
    session = made.start(key="k")
    session.push({"x": keyed(("A", 1, 1.0), ("B", 1, 2.0))})
    session.close_key("A")
    session = made.resume(session.dump())
    session.push({"x": keyed(("A", 2, 10.0), ("Z", 2, 100.0))})
    result = session.push({"x": keyed(("A", 3, 10.0), ("B", 3, 2.0), ("Z", 3, 100.0))})
    assert rows(result, "s", "k") == [("A", 3, 20.0), ("B", 3, 4.0), ("Z", 3, 200.0)]


def test_a_second_row_at_a_time_that_waits_is_refused_after_a_resume():
    made = summed(window=1, io={"lateness": 10})
    session = made.start(key="k")
    session.push({"x": keyed(("gone", 5, 0.0), ("B", 5, 0.0), ("A", 5, 1.0))})
    session.close_key("gone")
    for _ in range(2):
        session = made.resume(session.dump())
        for key in "AB":
            with pytest.raises(rtbot.DataError) as caught:
                session.push_one("x", 5, 2.0, key=key)
            assert caught.value.code == "RT203"
    session.push_one("x", 5, 3.0, key="gone")
    assert rows(session.finish(), "s", "k") == [("A", 5, 1.0), ("B", 5, 0.0), ("gone", 5, 3.0)]


def test_what_the_version_before_dumped_with_closed_keys_goes_on():
    inputs = {"a": "number", "b": "text"}
    operators = {
        "j": {"type": "Join", "in": ["a", "b"], "how": "asof"},
        "m": {"type": "MovingSum", "in": "a", "window": 2},
    }
    made = graph(inputs, operators, {"n": "j.o1", "text": "j.o2", "sum": "m"})
    session = made.resume((DUMPS / "1-closed.dump").read_bytes())
    assert session.keys.decode_keys(session.keys.list_open_slots())["k"].tolist() == [
        "B",
        "C",
        "D",
        None,
    ]
    both = keyed(("A", 3, 1.0), ("Z", 3, 2.0), ("B", 3, 3.0), (None, 3, 4.0))
    assert rows(session.push({"a": both}), "sum", "k") == [("B", 3, 5.0), (None, 3, 9.0)]
    assert rows(session.push({"a": keyed(("A", 4, 1.0), ("Z", 4, 2.0))}), "sum", "k") == [
        ("A", 4, 2.0),
        ("Z", 4, 4.0),
    ]
    again = made.resume(session.dump())
    expected = [
        ("A", 3, None), ("A", 4, None), ("B", 3, "y"), ("C", 1, None), ("D", 1, None),
        ("Z", 3, None), ("Z", 4, None), (None, 2, None), (None, 3, None),
    ]  # fmt: skip
    assert rows(session.finish(), "text", "k") == rows(again.finish(), "text", "k") == expected


def test_what_the_version_before_dumped_with_rows_that_wait_goes_on():
    inputs = {"a": "number", "b": "text"}
    operators = {
        "j": {"type": "Join", "in": ["a", "b"], "how": "asof"},
        "m": {"type": "MovingSum", "in": "a", "window": 2},
    }
    io = {"io": {"lateness": 10}}
    made = graph(inputs, operators, {"n": "j.o1", "text": "j.o2", "sum": "m"}, **io)
    session = made.resume((DUMPS / "1-held.dump").read_bytes())
    with pytest.raises(rtbot.DataError, match="second message"):
        session.push_one("a", 30, 1.0, key="A")
    again = made.resume(session.dump())
    expected = [("A", 10, "x"), ("A", 30, "x"), ("B", 8, None), ("B", 10, None)]
    assert rows(session.finish(), "text", "k") == rows(again.finish(), "text", "k") == expected


# ---- waking and free lists


def test_an_advance_wakes_all_keys_that_wait_for_it_and_no_other():
    """Many keys in one heap, in an order that no child of a node may be taken for the other."""
    times = list(range(1, 41))
    for seed in range(6):
        random.Random(seed).shuffle(times)
        session = joined("left").start(key="k")
        for key, time in enumerate(times):
            session.push({"a": keyed((key, time, float(time)))})
        for until in (3, 4, 9, 17, 18, 30, 40):
            session.advance(until - 1, "b")
            found = session.advance(until, "b")["left"]["t"].tolist()
            assert found == [until]
        assert session.held() == {}


def test_rows_that_come_and_go_beside_one_that_stays_use_the_same_blocks():
    session = joined().start(key="k")
    session.push({"a": keyed(("stays", 0, 0.0))})
    for t in range(300):
        session.push({"a": keyed(*(("k", 10 * t + n, 1.0) for n in range(10)))})
        session.push({"b": keyed(*(("k", 10 * t + n, 1.0) for n in range(10)))})
    assert len(session.runner.pools[0].blocks[0].next) < 20


# ---- texts


def test_numbers_that_wait_keep_no_text(monkeypatch):
    monkeypatch.setattr("rtbot.tables.string_dictionary.ROOM", 8)
    inputs = {"a": "integer", "b": "integer", "x": "text"}
    operators = {
        "j": {"type": "Join", "in": ["a", "b"]},
        "m": {"type": "MovingSum", "in": "a", "window": 300},
        "y": {"type": "Identity", "in": "x"},
    }
    made = graph(inputs, operators, {"j": "j.o1", "m": "m", "y": "y"})
    session = made.start(key="k")
    numbers = {"k": [1] * 200, "t": range(200), "value": range(200)}
    session.push({"a": {n: list(c) for n, c in numbers.items()}})
    for t in range(200):
        session.push({"x": keyed((1, t, f"text {t}"))})
    assert len(session.texts.codes) <= 20
    resumed = made.resume(session.dump())
    assert len(resumed.texts.codes) == 0


KEEPING = {
    "ResamplerConstant": ({"interval": 1000}, "A2"),
    "Lag": ({"n": 3}, "A0"),
    "PreviousText": ({}, "A2"),
}


@pytest.fixture
def previous_text():
    """An operator that keeps a text as what its step sees, an integer."""

    class PreviousText(Operator):
        i1 = In("text")
        o1 = Out("text")
        known = Scalar("integer", 0)
        some = Scalar("boolean", False)
        silent = True

        @step
        def step(i1, known, some):  # noqa: N805
            return EMIT if some else SILENT, known, i1, True


@pytest.mark.usefixtures("previous_text")
@pytest.mark.parametrize("name", KEEPING)
@pytest.mark.parametrize("saved_between", [False, True])
def test_texts_in_the_state_of_an_operator_stay(monkeypatch, name, saved_between):
    monkeypatch.setattr("rtbot.tables.string_dictionary.ROOM", 2)
    parameters, kept = KEEPING[name]
    operators = {
        "op": {"type": name, "in": "x"} | parameters,
        "y": {"type": "Identity", "in": "x"},
    }
    made = graph({"x": "text"}, operators, {"o": "op", "y": "y"})
    session = made.start(key="k")
    session.push({"x": keyed(*(("A", t, f"A{t}") for t in range(3)))})
    for t in range(40):
        session.push({"x": keyed(("B", t, f"B{t}"))})
        session = made.resume(session.dump()) if saved_between else session
    result = session.push({"x": keyed(("A", 1500, "new"))})
    assert [value for *_, value in rows(result, "o")] == [kept]
    assert len(session.texts.codes) < 20


@pytest.mark.parametrize("how", ["inner", "left", "asof"])
def test_texts_that_are_needed_stay_whatever_comes(monkeypatch, how):
    """In queues, as the latest of their port, and held back; keys come, go and share blocks."""
    monkeypatch.setattr("rtbot.tables.string_dictionary.ROOM", 4)
    operators = {"j": {"type": "Join", "in": ["a", "b"], "how": how}}
    made = graph({"a": "text", "b": "text"}, operators, {"l": "j.o1", "r": "j.o2"},
                 io={"lateness": 3})  # fmt: skip
    session, found = made.start(key="k"), []
    for t in range(120):
        keys = [f"k{t % 3}", f"k{t % 5}x"]
        result = [session.push({"a": keyed(*((key, t, f"a{t}{key}") for key in keys))})]
        if t % 4 == 3:
            late = [(key, s, f"b{s}{key}") for s in range(t - 3, t + 1) for key in keys]
            result += [session.push({"b": keyed(*sorted(late, key=lambda row: row[1]))})]
        if t % 10 == 9:
            result += [session.advance(t - 3)]
            session = made.resume(session.dump())
        if t % 17 == 16:
            result += [session.close_key(keys[0])]
        found += [row for one in result for row in rows(one, "l", "k")]
        found += [row for one in result for row in rows(one, "r", "k")]
    assert len(found) > 100
    assert all(v in (None, f"a{t}{key}", f"b{t}{key}") or how == "asof" for key, t, v in found)
    assert all(v is None or v.endswith(key) for key, _, v in found)


# ---- too many rows from one push


GRID = {"type": "ResamplerConstant", "interval": 10}


@pytest.mark.parametrize("key", [None, "A"])
@pytest.mark.parametrize("begin", [{}, {"t0": 3}])
def test_a_row_behind_a_huge_gap_is_refused_and_the_session_goes_on(monkeypatch, key, begin):
    monkeypatch.setattr("rtbot.runtime.executor.OWN_ROWS_LIMIT", 100)
    made = graph(["x"], {"r": GRID | begin | {"in": "x"}}, ["r"])
    begun = made.start(key=None if key is None else "k")
    own = {} if key is None else {"key": key}
    begun.push_one("x", 5, 1.0, **own)
    before = begun.dump()
    for session in (begun, made.resume(before)):
        with pytest.raises(rtbot.ResourceLimit, match="r would release more than 100") as caught:
            session.push_one("x", 2000, 2.0, **own)
        assert "close its key before it" in caught.value.hint
        assert session.dump() == before
        assert len(session.push_one("x", 900, 2.0, **own)["r"]) in (89, 90)
        assert len(session.push_one("x", 1890, 2.0, **own)["r"]) == 99
    if key is not None:
        session.close_key(key)
        assert session.push_one("x", 10**9, 3.0, **own) == {}


def test_many_small_gaps_are_refused_together_and_taken_in_parts(monkeypatch):
    monkeypatch.setattr("rtbot.runtime.executor.OWN_ROWS_LIMIT", 100)
    session = graph(["x"], {"r": GRID | {"in": "x"}}, ["r"]).start(key="k")
    parts = [[(n, t, 1.0) for t in (0, 500)] for n in range(3)]
    with pytest.raises(rtbot.ResourceLimit) as caught:
        session.push({"x": keyed(*parts[0], *parts[1], *parts[2])})
    assert caught.value.hint == "push smaller tables"
    assert [len(session.push({"x": keyed(*p)})["r"]["t"]) for p in parts] == [50, 50, 50]


def test_a_grid_that_begins_later_may_have_any_gap_before_it(monkeypatch):
    monkeypatch.setattr("rtbot.runtime.executor.OWN_ROWS_LIMIT", 100)
    begin = {"t0": 2**62, "in": "x"}
    session = graph(["x"], {"r": GRID | begin}, ["r"]).start()
    session.push_one("x", -(2**63) + 1, 1.0)
    assert session.push_one("x", 2**62, 2.0) == {"r": [(2**62, 2.0)]}
    with pytest.raises(rtbot.ResourceLimit, match=f"up to t={2**63 - 1}"):
        session.push_one("x", 2**63 - 1, 2.0)


@pytest.mark.parametrize("io", [{}, {"lateness": 5}])
def test_too_many_rows_behind_other_operators_break_the_session_and_say_so(monkeypatch, io):
    monkeypatch.setattr("rtbot.runtime.executor.OWN_ROWS_LIMIT", 100)
    operators = {"f": {"type": "GreaterThan", "in": "x", "value": 0}, "r": GRID | {"in": "f"}}
    made = graph(["x"], operators, ["r"], io=io)
    session = made.start()
    session.push_one("x", 5, 1.0)
    session.advance(5)
    before = session.dump()
    push = session.advance if io else lambda time: session.push_one("x", time, 2.0)
    if io:
        session.push_one("x", 2000, 2.0)
    with pytest.raises(rtbot.ResourceLimit, match="r released more than 100 rows") as caught:
        push(2000)
    assert "the session is broken: resume from an earlier dump" in caught.value.hint
    for call in (lambda: session.push_one("x", 3000, 1.0), session.dump, session.finish):
        with pytest.raises(rtbot.StateError, match="was broken off in its middle") as broken:
            call()
        assert "resume from an earlier dump" in broken.value.hint
    again = made.resume(before)
    again.push_one("x", 300, 2.0)
    assert len(rows(again.finish(), "r")) in (0, 29)


# ---- all that is state is saved


DERIVED = {
    Session: "plan io own key columns queue_limit code kernels module keys input_ports runner"
    " broken closed specs ingest assembler known_slots push_paths texts busy time_column clock"
    " may_get_messages",
    Executor: "plan module kernels input_ports pools arrays timers selectors views expect grew"
    " sources ahead arranged operators progress owners capacity F I header spans spaces"
    " changes with_spans movers rooms",
    SpanPool: "kernels names kinds fields width keys places header _one words",
    InnerKeys: "layout numbers moved met",
    OperatorState: "layout counters text_words template width length",
    FrontierTracker: "plan kernels input_ports wakes",
    Timers: "kernels header place source moved time slot",
    PairingPool: "call kernels width held moved wakes header blocks stores",
    RowBlocks: "width header free",
    InputPort: "name type io kernels view held_back frontier",
    ReorderBuffer: "name type io kernels view held_back types labels lateness wakes places free"
    " unused",
    KeyTable: "names kernels table _taken texts",
    StringDictionary: "codes _free _given _limit _ranks _objects _decoded",
}
"""What another part saves, what follows from the graph or from what is saved, what is no state."""

SAVED = {
    Session: "finished rows",
    Executor: "own_rows",
    OperatorState: "words",
    FrontierTracker: "frontiers held_back known",
    Timers: "watched",
    PairingPool: "queue",
    RowBlocks: "time value valid next",
    InputPort: "floor last begun counts lost",
    ReorderBuffer: "floor last begun counts lost frontier roots pool pool_values order",
    InnerKeys: "keys owners fields",
    SpanPool: "table items",
    KeyTable: "kinds nulls words count free ordered",
    StringDictionary: "values",
}


COUNTS = {"y": {"type": "MovingKeyCount", "in": "x", "window": 5}}
BURSTS = {"y": {"type": "Debounce", "in": "x", "quiet": 5}}
SUMS = {"y": {"type": "MovingSum", "in": "x", "window": "5s"}}


def owners():
    session = joined(io={}).start(key="k")
    held = summed(io={"lateness": 1}).start()
    runner = session.runner
    parts = [session, runner, runner.operators, runner.progress, runner.pools[0]]
    parts += runner.pools[0].blocks
    parts += [
        session.keys,
        session.texts,
        *graph(["x"], BURSTS, ["y"]).start().runner.timers.values(),
        *graph(["x"], COUNTS, ["y"]).start().runner.spaces,
        graph(["x"], SUMS, ["y"], io={"unit": "ms"}).start().runner.spans,
    ]
    return [*parts, session.input_ports["a"], held.input_ports["x"]]


@pytest.mark.parametrize("owner", owners(), ids=lambda owner: type(owner).__name__)
def test_every_attribute_of_a_part_with_state_is_saved_or_follows(owner):
    known = f"{SAVED[type(owner)]} {DERIVED[type(owner)]}".split()
    assert sorted(vars(owner)) == sorted(known)
