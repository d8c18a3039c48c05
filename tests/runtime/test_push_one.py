"""One message, and one session, at a time: waiting rows, threads, failing steps, odd arguments."""

import random
import signal
import threading

import numpy as np
import pytest

import rtbot
from rtbot.compiler import jit
from rtbot.graph import plugins
from rtbot.runtime.direct_path import DirectPath
from rtbot.runtime.plain_push import bind_push
from rtbot.runtime.push_one import to_rows
from rtbot.runtime.waiting_path import FEW, MANY
from rtbot.tables.string_dictionary import StringDictionary
from tests import chains, threads
from tests.subprocess_runs import alone

LATEST = 2**63 - 1


def graph(inputs, operators, outputs, **rest):
    kinds = dict.fromkeys(inputs, "number")
    return rtbot.load({"inputs": kinds, "operators": operators, "outputs": outputs, **rest})


def joined(how="inner", **rest):
    operators = {"j": {"type": "Join", "in": ["a", "b"], "how": how}}
    return graph(["a", "b"], operators, ["j.o1"], **rest)


def merged(**rest):
    return graph(["a", "b"], {"m": {"type": "Merge", "in": ["a", "b"]}}, ["m"], **rest)


def summed(**rest):
    return graph(["x"], {"s": {"type": "CumulativeSum", "in": "x"}}, ["s"], **rest)


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


# ---- rows that wait


@pytest.mark.parametrize("name", chains.CHAINS)
def test_pairings_behind_pairings_give_by_push_one_what_they_give_by_push(name):
    chains.check_chain(chains.chain(name), 0, compiled=False)


HELD = {"type": "ResamplerConstant", "in": "x", "interval": 1}


@pytest.mark.parametrize("gap", [5, 17, 20, 40, 300])
@pytest.mark.parametrize("more", [{}, {"m": HELD | {"in": "y"}}], ids=["one", "two"])
def test_what_follows_a_loop_that_fills_its_room_has_its_times(gap, more):
    """What shares the times of a stream is not there yet when the loop goes on in more room."""
    found = graph(["x"], {"n": HELD, "y": "2 * n"} | more, ["y", *more])
    rows = [(0, 1.0), (1, 2.0), (gap, 3.0), (gap + 1, 4.0), (3 * gap, 5.0)]
    session, names = found.start(), ["y", *more]
    given = [session.push_one("x", *row) for row in rows]
    by_one = {name: [row for rows in given for row in rows.get(name, ())] for name in names}
    whole = found.run({"x": {"t": [t for t, _ in rows], "value": [v for _, v in rows]}})
    assert by_one == {
        name: list(zip(whole[name]["t"].tolist(), whole[name]["value"].tolist(), strict=True))
        for name in names
    }


def test_rows_that_one_pairing_releases_enter_the_next_within_its_buffers():
    session = chains.chain("merge of merge").start()
    for t in range(0, 26, 2):
        assert session.push_one("c", t, float(t)) == {}
        assert session.push_one("a", t + 1, t + 1.0) == {}
    assert session.push_one("b", 100, 0.0) == {"o": [(t, float(t)) for t in range(25)]}


def test_lists_have_room_whatever_way_messages_come():
    made = graph(
        ["x"],
        {"m": {"type": "MovingSum", "in": "x", "window": "40s"}},
        ["m"],
        io={"unit": "s"},
    )
    rng, session, time = random.Random(3), made.start(key="k"), 0
    given = {key: [] for key in range(3)}
    found = {key: [] for key in range(3)}
    for _ in range(150):
        key, count, way = rng.randrange(3), rng.choice([1, 2, 30, 90]), rng.random()
        rows = [(time + n * rng.choice([1, 1, 20]), float(rng.randrange(9))) for n in range(count)]
        rows = sorted(dict(rows).items())
        time = rows[-1][0] + 1
        given[key] += rows
        if way < 0.7:
            for t, value in rows:
                released = session.push_one("x", t, value, key=key)
                found[key] += [row[1:] for row in released.get("m", ())]
        else:
            times, values = map(list, zip(*rows, strict=True))
            table = session.push({"x": {"k": [key] * len(rows), "t": times, "value": values}})["m"]
            found[key] += list(zip(table["t"].tolist(), table["value"].tolist(), strict=True))
        if way > 0.9:
            session = made.resume(session.dump())
        elif way < 0.1:
            session.close_key(key)
            table = made.run({"x": given[key]})["m"]
            expected = list(zip(table["t"].tolist(), table["value"].tolist(), strict=True))
            assert found[key] == expected
            given[key], found[key] = [], []
    assert any(found.values())


def test_thousands_of_rows_wait_by_push_one_alone():
    session, count = merged().start(), 20_000
    for t in range(count):
        assert session.push_one("a", t, float(t)) == {}
    assert session.held() == {"m.i1": count}
    assert session.push_one("b", count, 0.0) == {"m": [(t, float(t)) for t in range(count)]}
    assert session.push_one("a", count + 1, 1.0) == {"m": [(count, 0.0)]}


def test_what_waits_at_one_pairing_finds_room_at_the_next():
    session, times = chains.chain("merge of merge").start(), np.arange(25_000)
    session.push({"a": {"t": times, "value": times / 2}})
    assert session.push_one("b", 30_000, 1.0) == {}
    assert session.held() == {"m.i2": 1, "o.i1": 25_000}
    assert session.push_one("c", 30_000, 1.0) == {"o": [(t, t / 2) for t in range(25_000)]}


@pytest.mark.parametrize("made", [joined, merged])
def test_keys_that_wait_do_not_slow_the_messages_of_others(made, monkeypatch):
    session = made().start("k")
    others = {"k": np.arange(1000), "t": np.full(1000, 5), "value": np.ones(1000)}
    session.push({"a": others})
    session.push({"b": others | {"k": np.arange(1000, 2000)}})
    for name in "ab":
        session.push_one(name, 1, 1.0, key=-1)

    def not_here(*_):
        raise AssertionError("the path of tables")

    monkeypatch.setattr(session, "push_within", not_here)
    found = []
    for t in range(2, 40):
        for name in "ab":
            for rows in session.push_one(name, t, t / 2, key=-1).values():
                found += rows
    assert [t for _, t, _ in found] == list(range(2, 40))


def test_a_full_queue_refuses_push_one_and_leaves_the_session_as_it_was():
    session = joined().start(queue_limit=20)
    for t in range(20):
        session.push_one("a", t, float(t))
    with pytest.raises(rtbot.QueueFull):
        session.push_one("a", 20, 20.0)
    assert session.held() == {"j.i1": 20}
    assert session.push_one("b", 19, 1.0) == {"j_o1": [(19, 19.0)]}
    assert session.push_one("a", 20, 20.0) == {}


def test_compiled_code_stays_within_its_arrays():
    words = ["--chains", "merge of merge", "outer of left", "--random", "1"]
    told = alone("tests.chains", *words, NUMBA_BOUNDSCHECK="1", RTBOT_INTERPRET="0")
    assert told.splitlines() == [
        "bounds are checked",
        "merge of merge: right",
        "outer of left: right",
        "random graph 0: right",
    ]


def test_what_is_compiled_with_bounds_checked_has_a_name_of_its_own(monkeypatch):
    names = []
    for value in ("", "1"):
        monkeypatch.setenv("NUMBA_BOUNDSCHECK", value)
        jit._list_versions.cache_clear()
        names.append(jit.fingerprint("a = 1\n"))
    monkeypatch.undo()
    jit._list_versions.cache_clear()
    assert names[0] == jit.fingerprint("a = 1\n") != names[1]


# ---- texts


def test_refused_texts_give_back_the_codes_that_were_free():
    texts = StringDictionary(["a", None, "b", None])
    mark = texts.mark()
    assert sorted(texts.code(text) for text in ("x", "y", "z")) == [1, 3, 4]
    texts.roll_back(mark)
    assert texts.values == ["a", None, "b", None]
    assert sorted(texts.code(text) for text in ("u", "v")) == [1, 3]
    assert [texts.text(texts.code(text)) for text in "auvb"] == list("auvb")


# ---- threads


class Reading:
    """A column that does something when it is read."""

    def __init__(self, values, act):
        self.values, self.act = values, act

    def __array__(self, dtype=None, copy=None):
        self.act()
        return np.array(self.values, dtype)


@pytest.mark.parametrize("name", threads.GRAPHS)
def test_threads_may_share_a_session(name):
    threads.one_session(name, compiled=False)


def test_threads_may_run_a_graph_at_once():
    for name in threads.GRAPHS:
        threads.many_sessions(name, 5, compiled=False)


def test_threads_may_share_compiled_sessions_and_compile_at_once(tmp_path):
    told = alone("tests.threads", "--times", "3", RTBOT_CACHE_DIR=str(tmp_path))
    assert told.count(": right\n") == 3


CALLS = {
    "push": lambda s: s.push({"x": {"k": [1], "t": [9], "value": [1.0]}}),
    "push_one": lambda s: s.push_one("x", 9, 1.0, key=1),
    "advance": lambda s: s.advance(5),
    "close_key": lambda s: s.close_key(1),
    "finish": lambda s: s.finish(),
    "frontier": lambda s: s.frontier(),
    "frontiers": lambda s: s.frontiers([np.array([1])]),
    "account": lambda s: s.account(),
    "held": lambda s: s.held(),
    "dump": lambda s: s.dump(),
}


def begun(act):
    """A session with a key, and a table that acts when it is pushed."""
    session = summed().start("k")
    session.push_one("x", 1, 1.0, key=1)
    return session, {"x": {"k": [1], "t": [2], "value": Reading([1.0], lambda: act(session))}}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_of_another_thread_waits_for_the_one_that_is_at_work(call):
    waiting = []

    def act(session):
        thread = threading.Thread(target=CALLS[call], args=(session,))
        thread.start()
        thread.join(0.02)
        waiting.append(thread)
        assert thread.is_alive()

    session, table = begun(act)
    result = session.push(table)
    assert result["s"]["value"].tolist() == [2.0]
    for thread in waiting:
        thread.join(5)
        assert not thread.is_alive()
    assert waiting


@pytest.mark.parametrize("call", CALLS)
def test_a_call_from_the_middle_of_another_one_is_refused_at_once(call):
    codes = []

    def act(session):
        with pytest.raises(rtbot.StateError) as caught:
            CALLS[call](session)
        codes.append(caught.value.code)

    session, table = begun(act)
    assert session.push(table)["s"]["value"].tolist() == [2.0]
    assert set(codes) == {"RT308"}
    assert session.push_one("x", 3, 1.0, key=1) == {"s": [(1, 3, 3.0)]}


def test_an_interrupt_leaves_the_session_to_the_next_call():
    session, table = begun(lambda _: signal.raise_signal(signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            session.push(table)
    finally:
        signal.signal(signal.SIGINT, before)
    assert session.push_one("x", 3, 1.0, key=1) == {"s": [(1, 3, 2.0)]}


# ---- steps that fail

FRAGILE = """
from rtbot.operator import Example, In, Operator, Out, Scalar, step


class FragileForTest(Operator):
    '''The sum so far; it has no number beyond 100.'''

    i1 = In("number", doc="values")
    o1 = Out("number", doc="their sum")
    total = Scalar("number", 0.0)
    example = Example(inputs={"i1": [(1, 4.0)]}, outputs={"o1": [(1, 4.0)]})

    @step
    def step(i1, total):
        assert i1 <= 100, "too large"
        total += i1
        return total, total
"""
DIRECT = {"y": {"type": "FragileForTest", "in": "x"}}
BEHIND = {"j": {"type": "Merge", "in": ["x", "z"]}, "y": {"type": "FragileForTest", "in": "j"}}
LARGE = {"x": {"k": ["a"], "t": [5], "value": [500.0]}}


def held_back(session):
    session.push(LARGE)
    return session


PATHS = {
    "push": (DIRECT, {}, lambda s: s.push(LARGE)),
    "push_one": (DIRECT, {}, lambda s: s.push_one("x", 5, 500.0, key="a")),
    "push_one of a new key": (DIRECT, {}, lambda s: s.push_one("x", 5, 500.0, key="b")),
    "push_one where streams meet": (
        BEHIND,
        {},
        lambda s: (s.push_one("x", 5, 500.0, key="a"), s.push_one("z", 6, 1.0, key="a")),
    ),
    "advance": (DIRECT, {"lateness": 10}, lambda s: held_back(s).advance(5)),
    "close_key": (DIRECT, {"lateness": 10}, lambda s: held_back(s).close_key("a")),
    "finish": (DIRECT, {"lateness": 10}, lambda s: held_back(s).finish()),
}


@pytest.fixture
def fragile(tmp_path):
    path = tmp_path / "fragile.py"
    path.write_text(FRAGILE)
    plugins.load_plugin(str(path))


@pytest.mark.parametrize("way", PATHS)
@pytest.mark.usefixtures("fragile")
def test_a_step_that_fails_breaks_the_session_on_every_path(way):
    operators, io, act = PATHS[way]
    used = graph(["x", "z"] if operators is BEHIND else ["x"], operators, ["y"], io=io)
    session = used.start("k")
    for name in used.checked.inputs:
        session.push_one(name, 1, 1.0, key="a")
    blob = session.dump()
    with pytest.raises(rtbot.GraphError, match="RT173"):
        act(session)
    for call in (act, lambda s: s.push_one("x", 7, 1.0, key="a"), lambda s: s.dump()):
        with pytest.raises(rtbot.StateError, match="RT302"):
            call(session)
    again = used.resume(blob)
    found = again.push_one("x", 7, 2.0, key="a").get("y", [])
    found += to_rows(again.finish(), ["k"]).get("y", [])
    assert found[-1] == ("a", 7, 3.0)


@pytest.mark.parametrize("name", ["direct", "where streams meet"])
def test_an_interrupt_in_push_one_breaks_the_session(name):
    session = summed().start() if name == "direct" else merged().start()
    name = next(iter(session.specs))
    for time in (1, 2):
        session.push_one(name, time, 1.0)
    path = session.push_paths[name]

    def interrupted(*_):
        raise KeyboardInterrupt

    if isinstance(path, DirectPath):
        path.generated = interrupted
        path.push = bind_push(path, path.push)
    else:
        path.calls = [(interrupted, [])]
    with pytest.raises(KeyboardInterrupt):
        session.push_one(name, 3, 1.0)
    with pytest.raises(rtbot.StateError, match="RT302"):
        session.push_one(name, 4, 1.0)


# ---- times and keys that push_one takes


@pytest.mark.parametrize("made", [summed, merged])
@pytest.mark.parametrize("value", [1.0, 1])
@pytest.mark.parametrize(
    ("time", "code"),
    [
        (2**63, "RT213"),
        (2**64, "RT213"),
        (-(2**63) - 1, "RT213"),
        (1.5, "RT201"),
        (True, "RT201"),
        ([1], "RT201"),
    ],
)
def test_a_time_that_is_none_is_refused_and_changes_nothing(made, time, value, code):
    session = made().start()
    name = next(iter(session.specs))
    session.push_one(name, 1, 1.0)
    before = session.dump()
    with pytest.raises(rtbot.DataError, match=code):
        session.push_one(name, time, value)
    assert session.dump() == before
    session.push_one(name, np.int64(2), 1.0)
    session.push_one(name, LATEST, 1.0)


@pytest.mark.parametrize("first", [1, "1", None, ("1",)])
@pytest.mark.parametrize(
    "key", [True, False, 1.0, 0.0, np.True_, np.float64(1), [1], {1}, {}, b"1", ("1", 1), (True,)]
)
def test_what_is_no_key_is_refused_behind_a_key_as_before_one(first, key):
    codes = []
    for session in (summed().start("k"), summed().start("k")):
        if codes:
            session.push_one("x", 0, 1.0, key=first)
        with pytest.raises(rtbot.DataError) as caught:
            session.push_one("x", 1, 1.0, key=key)
        codes.append(caught.value.code)
    assert set(codes) <= {"RT201", "RT212"}, codes


@pytest.mark.parametrize(
    ("names", "first", "same"),
    [
        ("k", 1, [np.int64(1), np.int8(1), np.uint64(1), (1,), (np.int64(1),)]),
        ("k", "a", [np.str_("a"), ("a",)]),
        ("k", None, [(None,)]),
        (("k", "l"), (1, "a"), [(np.int64(1), "a"), (1, np.str_("a"))]),
    ],
)
def test_numbers_and_texts_of_numpy_are_the_same_key(names, first, same):
    session = summed().start(names)
    session.push_one("x", 0, 1.0, key=first)
    for time, key in enumerate(same, 1):
        (*row,) = session.push_one("x", time, 1.0, key=key)["s"][0]
        assert row == [first, time, time + 1.0]
        assert type(row[0]) is type(first)


@pytest.mark.parametrize("key", [(True, "a"), (1.0, "a"), (1, ["a"])])
def test_what_is_no_key_is_refused_in_several_columns(key):
    session = summed().start(("k", "l"))
    session.push_one("x", 0, 1.0, key=(1, "a"))
    with pytest.raises(rtbot.DataError):
        session.push_one("x", 1, 1.0, key=key)
    assert session.push_one("x", 1, 1.0, key=(1, "a")) == {"s": [((1, "a"), 1, 2.0)]}


# ---- while the function for one row is still to be compiled


class Compilation:
    """A compilation beside: it is going on until it is told that it is done, or waited for."""

    def __init__(self, *_arguments):
        self.done = False

    def is_alive(self):
        return not self.done

    def join(self):
        self.done = True


@pytest.fixture
def compilations(monkeypatch):
    """Sessions find no compiled function for one row; returns the compilations that began."""
    begun = []
    monkeypatch.setattr(jit, "is_ready", lambda _function: False)
    monkeypatch.setattr(jit, "compile_aside", lambda *a: begun.append(Compilation(*a)) or begun[-1])
    return begun


@pytest.mark.parametrize("key", [None, "k"])
@pytest.mark.parametrize("done", [0, 1, 70, 500])
def test_messages_go_another_way_until_their_function_is_compiled(compilations, key, done):
    own = {} if key is None else {"key": "a"}
    session, found = summed().start(key), []
    for t in range(600):
        found.append(session.push_one("x", t, 1.0, **own))
        assert len(compilations) == (t >= FEW)
        if t >= done and compilations:
            compilations[0].done = True
    values = [row["s"][0][-1] for row in found]
    assert values == [float(t + 1) for t in range(600)]
    assert type(session.push_paths["x"]).__name__ == "DirectPath"
    with pytest.raises(rtbot.DataError, match="is late"):
        session.push_one("x", 5, 1.0, **own)
    assert session.account()["inputs"]["x"]["in"] == 600


@pytest.mark.parametrize(("seconds", "waited"), [(1e9, True), (-1.0, False)])
def test_messages_that_come_fast_wait_for_the_compilation(
    compilations, monkeypatch, seconds, waited
):
    monkeypatch.setattr("rtbot.runtime.waiting_path.SECONDS", seconds)
    session = summed().start()
    for t in range(FEW + 2 * MANY):
        session.push_one("x", t, 1.0)
    assert compilations[0].done is waited


def test_rows_that_wait_elsewhere_are_not_in_the_way_of_a_path_that_changes(compilations):
    operators = {
        "s": {"type": "CumulativeSum", "in": "x"},
        "j": {"type": "Join", "in": ["a", "b"]},
    }
    session = graph(["x", "a", "b"], operators, ["s", "j.o1"]).start()
    for t in range(200):
        assert session.push_one("x", t, 1.0) == {"s": [(t, t + 1.0)]}
        assert session.push_one("a", t, float(t)) == {}
        if t == 100:
            compilations[0].done = True
    assert session.push_one("b", 150, 0.0) == {"j_o1": [(150, 150.0)]}


def test_what_is_on_the_disk_is_loaded_by_the_first_push(monkeypatch):
    loaded = []
    monkeypatch.setattr(jit, "has_code", lambda _function: False)
    monkeypatch.setattr(jit, "is_kept", lambda _function: True)
    monkeypatch.setattr(jit, "compile_for", lambda *arguments: loaded.append(arguments))
    made = summed()
    made.run({"x": [(1, 1.0)]})
    assert loaded == []
    session = made.start()
    session.push({"x": [(1, 1.0)]})
    session.push({"x": [(2, 1.0)]})
    functions = [name for name in vars(session.module) if name.endswith("_one")]
    assert [function for function, _ in loaded] == [getattr(session.module, *functions)]
    assert loaded[0][1][:3] == (0, 0, 0.0)


# ---- records and vectors


PAIRS = {
    "record{a: number, b: boolean}": ("f: 'if(p.b, p.a, -p.a)'", {"a": 2.0, "b": True}),
    "record{a: number}": ("f: 1 * p.a", {"a": 2.0}),
    "vector[2]": ("f: p.0 * p.1", [2.0, 1.0]),
}
ODD = [
    {"a": 2.0}, {"a": 2, "b": True}, {"a": 2.0, "b": 1}, {"a": "2", "b": True}, {},
    {"a": 2.0, "b": True, "c": 1.0}, {"b": True, "a": 2.0}, {"a": None, "b": True},
    [2.0, 1.0], (2.0, 1.0), [2, 1], [2.0], [2.0, 1.0, 0.0], [2.0, None], ["2", 1.0], [], None, 2.0,
]  # fmt: skip


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", PAIRS)
def test_odd_groups_of_values_are_treated_as_in_a_first_message(kind, compiled):
    formula, plain = PAIRS[kind]
    graph = rtbot.load(f"inputs: {{p: '{kind}'}}\noperators: {{{formula}}}\noutputs: [f]")

    def push(session, time, value):
        try:
            return session.push_one("p", time, value)["f"][0][1]
        except rtbot.RtbotError as error:
            return error.code

    used = graph.start(compiled=compiled)
    assert [push(used, time, plain) for time in (1, 2, 3)] == [2.0] * 3
    for time, value in enumerate(ODD, 4):
        fresh = push(graph.start(compiled=compiled), time, value)
        assert (push(used, time, value), value) == (fresh, value)
    assert push(used, 99, plain) == 2.0
