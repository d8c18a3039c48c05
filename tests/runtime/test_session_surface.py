"""What users see of sessions and of the package: names, representations, options, `with`."""

import copy
import pickle
import typing

import pytest

import rtbot
import rtbot.operators
from rtbot.api import Graph
from rtbot.compare import ComparisonOptions
from rtbot.compare.variants import CompareOptions
from rtbot.runtime.start_options import POLICIES, StartOptions

GRAPH = {
    "name": "sums",
    "params": {"window": 2},
    "inputs": {"x": "number", "y": "number"},
    "operators": {
        "s": {"type": "MovingSum", "in": "x", "window": "$window"},
        "j": {"type": "Join", "in": ["s", "y"]},
    },
    "outputs": {"s": "j.o1"},
}


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")


def test_dir_lists_the_public_names():
    assert set(dir(rtbot)) == {*rtbot.__all__, "__version__"}
    assert all(getattr(rtbot, name) is not None for name in dir(rtbot))


def test_load_takes_a_graph():
    graph = rtbot.load(GRAPH, window=3)
    assert rtbot.load(graph) is graph
    other = rtbot.load(graph, window=4)
    assert (graph.checked.params["window"], other.checked.params["window"]) == (3, 4)
    with pytest.raises(rtbot.GraphError, match="windw"):
        rtbot.load(graph, windw=4)
    packed = copy.deepcopy(graph)
    assert rtbot.load(packed) is packed
    for change in (lambda: rtbot.load(packed, window=5), lambda: packed.start(late="drop")):
        with pytest.raises(TypeError, match="a graph from a pickle has no text"):
            change()


def test_a_session_shows_what_it_is():
    graph = rtbot.load(GRAPH)
    session = graph.start()
    assert repr(session) == "<Session of sums: 0 rows in, open>"
    session.push({"x": [(t, 1.0) for t in range(1200)]})
    assert repr(session) == "<Session of sums: 1,200 rows in, open>"
    session.finish()
    assert repr(session) == "<Session of sums: 1,200 rows in, finished>"
    session = graph.start(["site", "room"])
    session.push_one("x", 1, 1.0, key=("a", 1))
    session.push_one("x", 1, 1.0, key=("a", 2))
    assert repr(session) == "<Session of sums by site, room (2 keys): 2 rows in, open>"
    session.broken = True
    assert repr(session).endswith(", broken>")


def test_a_with_block_closes_its_session_and_finishes_nothing():
    graph = rtbot.load(GRAPH)
    with graph.start() as session:
        session.push({"x": [(1, 1.0), (2, 2.0)]})
        held = session.held()
        session.push_one("y", 1, 0.0)
    assert repr(session) == "<Session of sums: 3 rows in, closed>"
    calls = (
        lambda: session.push({"y": [(2, 1.0)]}),
        lambda: session.push_one("y", 2, 1.0),
        lambda: session.push_one("nothing", 2, 1.0),
        lambda: session.advance(5),
        session.finish,
        session.__enter__,
    )
    for call in calls:
        with pytest.raises(rtbot.StateError, match="`with` block has ended") as caught:
            call()
        assert caught.value.code == "RT301"
    assert session.held() == held
    again = graph.resume(session.dump())
    assert again.push_one("y", 2, 1.0) == {"s": [(2, 3.0)]}


def test_errors_in_a_with_block_pass():
    with pytest.raises(ZeroDivisionError), rtbot.load(GRAPH).start() as session:
        _ = 1 / 0
    assert session.closed


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_session_is_saved_by_dump_alone(duplicate):
    with pytest.raises(TypeError, match=r"session\.dump\(\).*graph\.resume"):
        duplicate(rtbot.load(GRAPH).start())


MISSPELT = {
    "kye": "did you mean 'key'?",
    "by": "did you mean 'key'?",
    "Time": "did you mean 'time'?",
    "input": "did you mean 'inputs'?",
    "sorted": "did you mean 'sort'?",
    "dedup": "did you mean 'duplicates'?",
    "window": r"a parameter of the graph: rtbot.load\(..., window=...\)",
    "zzz": "there are key, sort, time, inputs",
}


@pytest.mark.parametrize(("name", "told"), MISSPELT.items())
def test_an_option_that_there_is_not_is_named_with_the_nearest(name, told):
    graph = rtbot.load(GRAPH)
    for call in (graph.start, lambda **options: graph.run({"x": []}, **options)):
        with pytest.raises(TypeError, match=f"there is no option '{name}': .*{told}"):
            call(**{name: 1})
    with pytest.raises(TypeError, match="there is no option 'rnus': did you mean 'runs'"):
        graph.compare({"x": []}, rnus=1)


@pytest.mark.parametrize(
    ("method", "options"),
    [(Graph.start, StartOptions), (Graph.run, StartOptions), (Graph.compare, CompareOptions)],
)
def test_options_are_typed(method, options):
    names = {"StartOptions": StartOptions, "CompareOptions": CompareOptions}
    hint = eval_annotation(method.__annotations__["options"], names)
    assert hint == typing.Unpack[options]
    assert not options.__required_keys__


def eval_annotation(text, names):
    """An annotation such as `Unpack[StartOptions]`."""
    return typing.Unpack[names[text.removeprefix("Unpack[").removesuffix("]")]]


def test_every_option_has_a_type_and_an_effect():
    assert set(CompareOptions.__annotations__) == set(ComparisonOptions.__dataclass_fields__)
    given = {
        "time": "ts",
        "inputs": {"x": "a"},
        "tap": ["s"],
        "queue_limit": 7,
        "compiled": False,
        "late": "drop",
        "duplicates": "last",
        "lateness": 3,
    }
    assert given.keys() == StartOptions.__annotations__.keys()
    session = rtbot.load(GRAPH).start(**given)
    assert {name: getattr(session.io, name) for name in POLICIES} == {
        name: given[name] for name in POLICIES
    }
    assert session.columns.time == ("ts",)
    assert session.columns.inputs == {"x": "a"}
    assert session.queue_limit == 7
    assert "s" in session.rows


# ---- messages


def test_a_gap_too_wide_for_a_grid_is_shown_where_it_is(call):
    graph = (
        "inputs: {value: number}\n"
        "operators: {g: {type: ResamplerConstant, in: value, interval: 1s, t0: 0}}\n"
        "outputs: [g]\nio: {unit: s}\n"
    )
    rows = "1970-01-01T00:00:05Z,1\n2024-01-01T00:00:00Z,2\n2024-01-01T00:00:02Z,3\n"
    code, _, err = call("run", "g.yaml", "c.csv", g__yaml=graph, c__csv=f"time,value\n{rows}")
    assert code == 6
    assert err.splitlines()[-2:] == [
        (
            "c.csv:3: error[RT305]: g would release more than 100,000,000 rows in one push, most "
            "of them up to t=2024-01-01T00:00:02Z: here is a gap of 19,723 days (input 'value', "
            "time 2024-01-01T00:00:00Z = 1704067200)"
        ),
        (
            "     leave the row out, close its key before it or start another session behind it, "
            "or take a larger interval"
        ),
    ]


def test_the_gap_is_of_the_right_key_also_among_late_rows(monkeypatch):
    monkeypatch.setattr("rtbot.runtime.executor.OWN_ROWS_LIMIT", 100)
    graph = rtbot.load(
        {
            "inputs": {"x": "number"},
            "operators": {"r": {"type": "ResamplerConstant", "interval": 10, "in": "x"}},
            "outputs": ["r"],
            "io": {"late": "drop"},
        }
    )
    rows = [("a", 5, 1.0), ("b", 5, 1.0), ("b", 2, 1.0), ("a", 9, 1.0), ("b", 5000, 1.0)]
    with pytest.raises(rtbot.ResourceLimit) as caught:
        graph.run({"x": [*rows, ("b", 5001, 1.0)]}, key="k")
    assert (caught.value.row, caught.value.key, caught.value.time) == (4, "b", 5000)
    assert "a gap of 4,995" in caught.value.message


@pytest.mark.parametrize(
    ("name", "told"),
    [("direction", "never a later or the nearest one"), ("allow_exact_matches", "TimeShift")],
)
def test_what_an_asof_join_does_not_have_is_explained(name, told):
    join = {"type": "Join", "in": ["x", "y"], "how": "asof", name: "nearest"}
    with pytest.raises(rtbot.GraphError) as caught:
        rtbot.load({"inputs": {"x": "number", "y": "number"}, "operators": {"j": join}})
    assert any(told in problem.hint for problem in caught.value.problems)
