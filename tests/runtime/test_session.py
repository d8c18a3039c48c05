"""Sessions: what is refused leaves no trace; progress, keys, saving, the paths of push_one."""

import numpy as np
import pytest

import rtbot
from rtbot.tables import TextColumn

LATEST = 2**63 - 1


def graph(inputs, operators, outputs, **rest):
    kinds = dict.fromkeys(inputs, "number") if not isinstance(inputs, dict) else inputs
    return rtbot.load({"inputs": kinds, "operators": operators, "outputs": outputs, **rest})


def joined(how="inner", **rest):
    operators = {"j": {"type": "Join", "in": ["a", "b"], "how": how}}
    return graph(["a", "b"], operators, {"left": "j.o1", "right": "j.o2"}, **rest)


def summed(window=2, **rest):
    return graph(["x"], {"s": {"type": "MovingSum", "in": "x", "window": window}}, ["s"], **rest)


def table(*rows, key=None):
    columns = {"t": [r[-2] for r in rows], "value": [r[-1] for r in rows]}
    return columns if key is None else columns | {key: [r[0] for r in rows]}


def rows(result, name, *keys):
    found = result[name]
    values = found["value"].tolist()
    if "value_valid" in found:
        values = [v if ok else None for v, ok in zip(values, found["value_valid"], strict=True)]
    return list(zip(*(found[k].tolist() for k in keys), found["t"].tolist(), values, strict=True))


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


# ---- what is refused changes nothing


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ({"x": table((3, 1.0), (3, 2.0))}, "second message at t=3"),
        ({"x": table((3, 1.0), (2, 2.0))}, "t=2 is late"),
        ({"x": table((2, 1.0))}, "second message at t=2"),
        ({"x": table((1, 1.0))}, "t=1 is late"),
        ({"y": table((9, 1.0))}, "no input 'y'"),
        ({"x": {"t": [9], "value": ["red"]}}, "red"),
        ({"x": {"t": [9, 10], "value": [1.0]}}, "length"),
        ({"x": {"t": [1.5], "value": [1.0]}}, "1.5"),
    ],
)
def test_a_bad_push_changes_nothing(bad, told):
    session = summed().start()
    session.push({"x": table((1, 10.0), (2, 20.0))})
    before = session.dump(), session.account()
    with pytest.raises(rtbot.DataError, match=told):
        session.push(bad)
    assert (session.dump(), session.account()) == before
    assert session.push_one("x", 3, 5.0) == {"s": [(3, 25.0)]}


def test_a_bad_row_is_named_with_its_key_and_its_place_in_the_table():
    session = summed().start(key="k")
    unsorted = table(("b", 1, 1.0), ("a", 5, 1.0), ("b", 2, 1.0), ("a", 4, 1.0), key="k")
    with pytest.raises(rtbot.DataError) as caught:
        session.push({"x": unsorted})
    error = caught.value
    assert (error.row, error.key, error.time, error.input) == (3, "a", 4, "x")


def test_keys_of_a_refused_push_are_forgotten():
    session = summed(window=1).start(key="k")
    with pytest.raises(rtbot.DataError):
        session.push({"x": table(("new", 5, 1.0), ("new", 4, 1.0), key="k")})
    with pytest.raises(rtbot.DataError, match="no key 'new'"):
        session.close_key("new")
    session.push({"x": table((7, 5, 1.0), key="k")})  # even the kind of the key is open again
    assert rows(session.push({"x": table((7, 6, 2.0), key="k")}), "s", "k") == [(7, 6, 2.0)]


def test_a_full_queue_refuses_the_input_that_is_ahead_and_only_that():
    session = joined().start(queue_limit=3)
    session.push({"a": table((1, 1.0), (2, 2.0), (3, 3.0))})
    with pytest.raises(rtbot.QueueFull) as caught:
        session.push({"a": table((4, 4.0))})
    assert (caught.value.rows, caught.value.input) == (3, "b")
    with pytest.raises(rtbot.QueueFull):
        session.push_one("a", 4, 4.0)
    assert session.push_one("b", 3, 0.5) == {"left": [(3, 3.0)], "right": [(3, 0.5)]}
    assert session.push_one("a", 4, 4.0) == {}
    assert session.held() == {"j.i1": 1}


def test_a_key_that_gets_rows_on_one_side_only_is_named_when_too_many_wait():
    session = joined().start(key="k", queue_limit=10)
    both = {"a": table(("x", 1, 1.0), ("y", 1, 1.0), key="k"), "b": table(("y", 1, 1.0), key="k")}
    for t in range(1, 21):
        for columns in both.values():
            columns["t"] = [t] * len(columns["t"])
        session.push(both)
    assert session.held() == {"j.i1": 20}
    with pytest.raises(rtbot.QueueFull, match="wait for input b, most of all of the key 'x'"):
        session.push({"a": table(("y", 21, 1.0), key="k"), "b": table(("y", 21, 1.0), key="k")})
    session.push({"b": table(("y", 21, 1.0), key="k")})
    session.advance(20, "b")
    assert session.held() == {"j.i2": 1}
    assert session.account()["operators"]["j"]["i1"]["lost"] == {"unmatched": 20}


def test_nothing_goes_in_after_finish_but_it_may_be_saved():
    session = summed().start()
    session.push_one("x", 1, 1.0)
    session.finish()
    for call in (
        lambda: session.push({"x": table((2, 2.0))}),
        lambda: session.push_one("x", 2, 2.0),
        lambda: session.advance(5),
        session.finish,
    ):
        with pytest.raises(rtbot.StateError, match="finished"):
            call()
    again = summed().resume(session.dump())
    with pytest.raises(rtbot.StateError, match="finished"):
        again.push_one("x", 2, 2.0)


def test_a_key_belongs_to_a_keyed_session_only():
    with pytest.raises(rtbot.StateError, match="no key"):
        summed().start().push_one("x", 1, 1.0, key="A")
    with pytest.raises(rtbot.DataError, match="2 columns"):
        summed().start(key=("k", "l")).push_one("x", 1, 1.0, key="A")


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ({"duplicates": "sum"}, "RT160"),
        ({"duplicates": "both"}, "did you mean|one of|duplicates"),
        ({"late": "maybe"}, "late"),
        ({"lateness": -1}, "lateness"),
    ],
)
def test_policies_of_a_call_are_checked_like_those_of_the_graph(policy, told):
    words = graph({"a": "text"}, {"i": {"type": "Identity", "in": "a"}}, ["i"])
    with pytest.raises(rtbot.GraphError, match=told):
        words.start(**policy)


# ---- progress


def test_a_left_join_waits_for_the_other_side_and_no_longer():
    session = joined("left").start()
    assert session.push_one("a", 1, 1.0) == {}
    assert session.push_one("a", 3, 3.0) == {}
    assert session.push_one("b", 2, 0.2) == {"left": [(1, 1.0)], "right": [(1, None)]}
    assert rows(session.advance(3, "b"), "right") == [(3, None)]
    assert session.account()["operators"]["j"]["i2"]["lost"] == {"unmatched": 1}


def test_a_row_at_or_before_an_advance_is_late():
    session = summed(window=1).start()
    session.advance(10)
    with pytest.raises(rtbot.DataError, match="advanced to 10"):
        session.push_one("x", 10, 1.0)
    assert session.push_one("x", 11, 1.0) == {"s": [(11, 1.0)]}


def test_a_waiting_row_holds_the_frontier_of_all_that_is_behind_it():
    operators = {"j": {"type": "Join", "in": ["a", "b"]}, "x": "j.o1 + b", "y": "x + a"}
    session = graph(["a", "b"], operators, ["y"]).start()
    session.push_one("a", 5, 9.0)
    session.advance(5, "a")
    assert session.push_one("b", 5, 1.0) == {"y": [(5, 19.0)]}


def test_the_end_of_one_side_of_an_inner_join_lets_go_what_waits_for_the_join():
    """Also of a key of which the join has never heard."""
    operators = {
        "j": {"type": "Join", "in": ["a", "b"]},
        "l": {"type": "Join", "in": ["c", "j.o1"], "how": "left"},
    }
    session = graph(["a", "b", "c"], operators, {"found": "l.o2"}).start(key="k")
    session.push({"c": table(("x", 5, 1.0), key="k")})
    assert rows(session.advance(5, "a"), "found", "k") == [("x", 5, None)]


def test_what_follows_a_waiting_row_through_an_operator_with_its_own_times_waits_too():
    operators = {
        "j": {"type": "Join", "in": ["a", "b"]},
        "p": {"type": "PeakDetector", "in": "j.o1", "window": 3},
        "l": {"type": "Join", "in": ["c", "p"], "how": "left"},
    }
    session = graph(["a", "b", "c"], operators, {"found": "l.o2"}).start()
    session.push_one("a", 5, 1.0)
    session.advance(5, "a")
    assert session.push_one("c", 5, 1.0) == {}
    assert rows(session.finish(), "found") == [(5, None)]


def test_advance_reaches_only_keys_that_wait():
    session = joined("left").start(key="k")
    many = 1000
    data = {"k": np.arange(many), "t": np.arange(many) + 1, "value": np.ones(many)}
    session.push({"a": data})
    assert len(session.advance(10)["left"]["t"]) == 10
    assert session.held() == {"j.i1": many - 10}
    assert len(session.advance(LATEST)["left"]["t"]) == many - 10


def test_the_end_of_an_input_reaches_a_row_at_the_last_time_of_all():
    session = joined("left").start(key="k")
    session.push({"a": table(("x", LATEST, 1.0), key="k")})
    assert rows(session.advance(LATEST), "right", "k") == [("x", LATEST, None)]


def test_a_null_text_by_the_road_of_push_one():
    session = graph(
        {"a": "text?", "b": "number"},
        {"j": {"type": "Join", "in": ["a", "b"]}},
        {"text": "j.o1", "number": "j.o2"},
    ).start()
    assert session.push_one("a", 1, None) == {}
    assert session.push_one("b", 1, 2.0) == {"text": [(1, None)], "number": [(1, 2.0)]}


def test_lateness_sorts_and_finish_lets_go():
    session = summed(window=1).start(key=())
    held = summed(window=1, io={"lateness": 2}).start()
    for t in (5, 3, 4, 8):
        held.push_one("x", t, float(t))
    assert rows(held.finish(), "s") == [(8, 8.0)]
    with pytest.raises(rtbot.DataError):
        [session.push_one("x", t, float(t)) for t in (5, 3)]


# ---- keys


def test_results_are_in_the_order_of_keys_and_nulls_come_last():
    session = summed(window=1).start(key=("k", "n"))
    keys = {"k": ["b", None, "a", "b"], "n": [1, 2, 3, None]}
    result = session.push({"x": keys | {"t": [1] * 4, "value": [1.0] * 4}})["s"]
    assert list(zip(result["k"], result["n"], strict=True)) == [
        ("a", 3), ("b", 1), ("b", None), (None, 2),
    ]  # fmt: skip


def test_a_closed_key_begins_anew_and_its_slot_serves_another():
    session = summed().start(key="k")
    session.push({"x": table(("a", 1, 1.0), ("b", 1, 10.0), key="k")})
    session.close_key("a")
    assert session.push_one("x", 1, 5.0, key="c") == {}
    assert session.push_one("x", 1, 7.0, key="a") == {}
    assert session.push_one("x", 2, 1.0, key="c") == {"s": [("c", 2, 6.0)]}
    assert session.push_one("x", 2, 1.0, key="a") == {"s": [("a", 2, 8.0)]}
    assert session.push_one("x", 2, 1.0, key="b") == {"s": [("b", 2, 11.0)]}


def test_what_a_closed_key_looked_up_is_not_found_by_the_next():
    session = joined("asof").start(key="k")
    session.push({"b": table(("x", 1, 9.0), key="k"), "a": table(("x", 2, 1.0), key="k")})
    session.close_key("x")
    session.push({"a": table(("y", 3, 1.0), key="k")})
    assert rows(session.finish(), "right", "k") == [("y", 3, None)]


def test_an_integer_outside_its_range_gives_no_message_and_is_counted():
    operators = {"d": {"type": "Difference", "in": "n"}, "s": {"type": "CumulativeSum", "in": "n"}}
    session = graph({"n": "integer"}, operators, ["d", "s"]).start()
    session.push_one("n", 1, LATEST)
    assert session.push_one("n", 2, -2) == {"s": [(2, LATEST - 2)]}
    assert session.push_one("n", 3, LATEST) == {}
    lost = {name: ports["i1"]["lost"] for name, ports in session.account()["operators"].items()}
    assert lost == {"d": {"domain": 2}, "s": {"domain": 1}}


# ---- saving


def test_a_dump_of_another_graph_or_a_damaged_one_is_refused():
    blob = summed().start().dump()
    with pytest.raises(rtbot.CheckpointError, match=r"s.values.window was 2 and is 3"):
        summed(window=3).resume(blob)
    with pytest.raises(rtbot.CheckpointError, match="outputs"):
        graph(["x"], {"s": {"type": "MovingSum", "in": "x", "window": 2}}, {"y": "s"}).resume(blob)
    for place in range(0, len(blob), 97):
        broken = bytearray(blob)
        broken[place] ^= 1
        with pytest.raises(rtbot.CheckpointError):
            summed().resume(bytes(broken))
    with pytest.raises(rtbot.CheckpointError):
        summed().resume(b"")


# ---- texts that nothing needs any more


def looked_up(key=()):
    """A session in which the latest text of `b` is looked up for every number of `a`."""
    made = graph(
        {"a": "number", "b": "text"},
        {"j": {"type": "Join", "in": ["a", "b"], "how": "asof"}},
        {"text": "j.o2"},
    )
    return made, made.start(key=key)


def looked_up_rows(session, start, end, *, by_one=False):
    """Push a text of its own at every time, except that every tenth is the same."""
    found = []
    for t in range(start, end):
        text = f"text {t}" if t % 10 else "again"
        if by_one:
            found += session.push_one("b", t, text).get("text", [])
            found += session.push_one("a", t, 1.0).get("text", [])
        else:
            both = {"b": table((t, text)), "a": table((t, 1.0))}
            found += rows(session.push(both), "text")
    return found


@pytest.mark.parametrize("by_one", [False, True])
def test_texts_in_no_state_are_forgotten(monkeypatch, by_one):
    monkeypatch.setattr("rtbot.tables.string_dictionary.ROOM", 8)
    made, session = looked_up()
    found = looked_up_rows(session, 1, 200, by_one=by_one)
    session = made.resume(session.dump())
    found += looked_up_rows(session, 200, 400, by_one=by_one)
    assert len(session.texts.values) < 40
    found += rows(session.finish(), "text")
    assert found == [(t, f"text {t}" if t % 10 else "again") for t in range(1, 400)]


def test_texts_that_wait_are_kept(monkeypatch):
    monkeypatch.setattr("rtbot.tables.string_dictionary.ROOM", 4)
    made = graph({"x": "text"}, {"y": {"type": "Identity", "in": "x"}}, ["y"], io={"lateness": 50})
    session = made.start()
    found = []
    for t in range(300):
        found += rows(session.push({"x": table((t, f"text {t}"))}), "y")
    found += rows(session.finish(), "y")
    assert found == [(t, f"text {t}") for t in range(300)]
    assert len(session.texts.values) < 200


def test_a_dump_has_the_texts_that_are_needed():
    """Otherwise what is allowed until the next cleaning would grow with every resume."""
    made = graph({"x": "text"}, {"y": {"type": "Identity", "in": "x"}}, ["y"])
    session = made.start(key="k")
    for t in range(40):
        keys = {"k": [f"{t} {n}" for n in range(50)], "t": [t] * 50}
        session.push({"x": keys | {"value": [f"text {t} {n}" for n in range(50)]}})
        for key in keys["k"]:
            session.close_key(key)
        session = made.resume(session.dump())
        assert len(session.texts.values) < 20  # some are kept in vain
        assert session.keys.texts[0].values == []


def test_a_refused_push_gives_back_the_codes_that_it_took(monkeypatch):
    monkeypatch.setattr("rtbot.tables.string_dictionary.ROOM", 8)
    _, session = looked_up()
    looked_up_rows(session, 1, 15)
    session.ingest.tidy()
    before = session.dump()
    for t in range(20):
        with pytest.raises(rtbot.DataError):
            session.push({"b": table((99, f"new {t}"), (100, f"newer {t}"), (98, "late"))})
        assert session.dump() == before
    assert rows(session.push({"a": table((15, 1.0)), "b": table((16, "x"))}), "text") == [
        (15, "text 14")
    ]


def test_texts_of_closed_keys_are_forgotten(monkeypatch):
    monkeypatch.setattr("rtbot.tables.string_dictionary.ROOM", 8)
    made = summed()
    session = made.start(key=("k", "n"))
    stays = {"k": ["stays"], "n": [None]}
    session.push({"x": stays | {"t": [1], "value": [1.0]}})
    for n in range(100):
        keys = {"k": [f"b{n}", f"a{n}"], "n": ["same", None]}
        session.push({"x": keys | {"t": [1, 1], "value": [1.0, 1.0]}})
        session.close_key((f"a{n}", None))
        if n > 3:
            session.close_key((f"b{n - 3}", "same"))
        if n == 50:
            session = made.resume(session.dump())
    assert len(session.keys.texts[0].values) < 80
    assert session.keys.count < 12
    keys = {"k": ["stays", "b99", "aa"], "n": [None, "same", "same"]}
    result = session.push({"x": keys | {"t": [2] * 3, "value": [2.0] * 3}})["s"]
    assert list(zip(result["k"], result["n"], result["value"], strict=True)) == [
        ("b99", "same", 3.0), ("stays", None, 3.0),
    ]  # fmt: skip


# ---- one message at a time


def test_the_roads_of_push_one_may_be_mixed_with_push():
    """Pools move under the buffers that push_one has made."""
    one, other = joined().start(), joined().start()
    expected = {"left": [], "right": []}
    found = {"left": [], "right": []}
    for t in range(0, 400, 4):
        for name in "ab":
            data = {name: table(*((t + k, float(t + k)) for k in range(1 + (name == "a"))))}
            for output in expected:
                expected[output] += rows(other.push(data), output) if output == "left" else []
        for k in range(2):
            for output, got in one.push_one("a", t + k, float(t + k)).items():
                found[output] += got
        last = {"b": table((t, float(t)))}
        released = one.push(last) if t % 8 else one.push_one("b", t, float(t))
        for output in found:
            got = released.get(output, [])
            found[output] += rows(released, output) if isinstance(got, dict) else got
    assert found["left"] == expected["left"]
    assert [v for _, v in found["right"]] == [v for _, v in found["left"]]


def test_outputs_come_in_the_order_of_the_graph():
    operators = {
        "m": {"type": "MovingAverage", "in": "x", "window": 1},
        "d": {"type": "StandardDeviation", "in": "x", "window": 1},
        "up": "m + d",
    }
    session = graph(["x"], operators, {"up": "up", "mean": "m", "deviation": "d"}).start()
    assert list(session.push_one("x", 1, 1.0)) == ["up", "mean", "deviation"]


def test_a_tap_adds_an_output_and_changes_nothing_else():
    session = graph(["x"], {"m": "x * 2", "n": "m + 1"}, ["n"]).start(tap=["m"])
    assert session.push_one("x", 1, 3.0) == {"n": [(1, 7.0)], "m": [(1, 6.0)]}


def test_every_key_has_the_frontier_that_it_has_alone():
    text = """
inputs: {a: number, b: number}
operators:
  both: {type: Join, in: [a, b], how: left}
  early: {type: TimeShift, in: a, shift: -3}
  peak: {type: PeakDetector, in: a, window: 3}
outputs: {both: both.o2, early: early, peak: peak}
"""
    graph = rtbot.load(text)
    keyed = graph.start("k")
    rows = {"x": ([1, 2, 5], [1]), "y": ([4], [9]), "z": ([], [3])}
    alone = []
    for key, (times, others) in rows.items():
        session = graph.start()
        for name, given in (("a", times), ("b", others)):
            table = {"t": np.array(given, np.int64), "value": np.array(given, float)}
            session.push({name: table})
            keyed.push({name: table | {"k": [key] * len(given)}})
        alone.append(session.frontier())
    least = -(2**63)
    names = TextColumn(np.arange(4), [*rows, "unknown"])
    expected = [least if time is None else time for time in alone]
    assert keyed.frontiers([names]).tolist() == [*expected, 2**63 - 1]
    assert expected[0] > least


def test_an_advance_of_one_input_wakes_keys_that_need_no_other():
    """Behind a merge: the key has had a message of the other, which stands for its floor."""
    operators = {
        "big": {"type": "GreaterThan", "in": "a", "value": 9},
        "one": {"type": "Merge", "in": ["big", "b"]},
        "both": {"type": "Join", "in": ["one", "c"], "how": "outer"},
    }
    made = graph(dict.fromkeys("abc", "number"), operators, {"c": "both.o2"})
    session = made.start(key="k")
    session.push({name: table(("x", 1, 1.0), key="k") for name in "ac"})
    session.push({"c": table(("y", 1, 2.0), key="k")})
    assert rows(session.advance(0, "b"), "c", "k") == []
    assert rows(session.advance(1, "b"), "c", "k") == [("x", 1, 1.0)]
    assert rows(session.advance(1, "a"), "c", "k") == [("y", 1, 2.0)]
