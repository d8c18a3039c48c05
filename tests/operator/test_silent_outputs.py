"""Outputs that have messages or not, each on its own; outputs that an operator chooses."""

import itertools

import pytest

import rtbot
from rtbot import ops
from rtbot.conformance import check_operator
from rtbot.core.modes import use_mode
from rtbot.operator import REGISTRY, Boolean, In, Operator, Out, step
from rtbot.operator.operator import REGISTERING
from tests import generate
from tests.catalogue import catalogue
from tests.checks import CaseChecks
from tests.operator.silent_operators import OPERATORS
from tests.oracles import pairs, rowwise, timed, vectors, windowed  # noqa: F401 (they register)
from tests.schedules import insert_dumps

READERS = [
    catalogue()[name]
    for name in ("Join", "MovingKeyCount", "Merge", "TimeShift", "Count", "KeyedVariable", "EMA")
]


@pytest.fixture(autouse=True)
def _operators(monkeypatch):
    for cls in OPERATORS:
        monkeypatch.setitem(REGISTRY, cls.__name__, cls)


each = pytest.mark.parametrize("cls", OPERATORS, ids=lambda cls: cls.__name__)


def cases(cls, *styles, seeds=3):
    """The operator alone, and among some that read it."""
    for seed, readers in itertools.product(range(seeds), ([], READERS)):
        name = f"{cls.__name__}/{seed}/{len(readers)}"
        yield CaseChecks(generate.case_of(name, [cls, *readers], styles))


@each
def test_it_does_all_that_an_operator_must(cls):
    with use_mode("never"):
        report = check_operator(cls, cases=4)
    assert report.failures == []


@each
def test_it_equals_its_oracle_in_any_cuts_and_interleavings(cls):
    for checked in cases(cls, "whole", "ones", "random", "starved"):
        checked.schedules()


@pytest.mark.parametrize("limit", [1, 2])
@each
def test_it_does_so_in_loops_of_few_operators(cls, limit, monkeypatch):
    monkeypatch.setattr("rtbot.compiler.plan.SEGMENT_LIMIT", limit)
    for checked in cases(cls, "whole", "ones", "random"):
        checked.schedules()


@each
def test_it_is_the_same_saved_and_restored_and_for_a_key_alone(cls):
    for checked in cases(cls, "ones", "random", seeds=2):
        checked.keyed_is_alone()
        for steps in checked.case.schedules:
            checked.run(insert_dumps(steps), "saved everywhere")


def test_they_are_the_same_compiled():
    case = generate.case_of("compiled", [*OPERATORS, *READERS[:2]], ("whole", "random", "ones"))
    CaseChecks(case).schedules(compiled=True)


GRAPH = """
inputs: {x: number}
operators:
  s: {type: SplitForTest, in: x, n: 3}
  sum: s.above + s.nth
  all: s.above * 10 + s.place
  b: {type: BurstsForTest, in: s.above, gap: 2}
  both: b.last * b.length
  n: {type: MovingKeyCount, in: b.last, window: 5}
outputs: {above: s.above, others: s.others, sum: sum, all: all, both: both, n: n, last: b.last}
"""
ROWS = [(1, 2.0), (2, -1.0), (3, 4.0), (4, 1.0), (7, -3.0), (8, 4.0), (9, 6.0), (11, 6.0)]
RIGHT = {
    "above": [(1, 2.0), (3, 4.0), (4, 1.0), (8, 4.0), (9, 6.0), (11, 6.0)],
    "others": [(2, -1.0), (7, -3.0)],
    "sum": [(3, 7.0), (8, 10.0)],
    "all": [(1, 21.0), (3, 43.0), (4, 14.0), (8, 46.0), (9, 67.0), (11, 68.0)],
    "both": [(6, 2.0), (11, 12.0)],
    "n": [(3, 1), (6, 1), (11, 1), (13, 2)],
    "last": [(3, 2.0), (6, 1.0), (11, 6.0), (13, 6.0)],
}


@pytest.mark.parametrize("compiled", [False, True])
def test_what_reads_several_outputs_has_a_message_where_all_have_one(compiled):
    graph = rtbot.load(GRAPH)
    table = graph.start(compiled=compiled, key="k")
    times, values = zip(*ROWS, strict=True)
    pushed = table.push({"x": {"k": ["a"] * len(ROWS), "t": times, "value": values}})
    rest = table.finish()
    single = graph.start(compiled=compiled)
    released = [single.push_one("x", time, value) for time, value in ROWS]
    last = single.finish()
    for name, rows in RIGHT.items():
        found = [pairs_of(result[name]) for result in (pushed, rest)]
        assert found[0] + found[1] == rows
        ones = [row for result in released for row in result.get(name, [])]
        assert ones + pairs_of(last[name]) == rows


def pairs_of(table):
    return list(zip(table["t"].tolist(), table["value"].tolist(), strict=True))


def test_the_account_counts_the_messages_of_every_output():
    session = rtbot.load(GRAPH).start(compiled=False)
    for time, value in ROWS:
        session.push_one("x", time, value)
    session.finish()
    operators = session.account()["operators"]
    assert operators["b"]["i1"]["in"] == 6
    assert operators["sum"]["i1"] == {
        "in": 6, "consumed": 2, "held": 0, "lost": {"unmatched": 4}
    }  # fmt: skip
    assert operators["both"]["i1"]["in"] == 4
    assert operators["both"]["i2"]["in"] == 2
    assert operators["n"]["i1"] == {"in": 4, "consumed": 4, "held": 0, "lost": {}}


# ---- outputs that depend on parameters and on how many inputs there are


_REGISTER = REGISTERING.set({})


class NeighboursForTest(Operator):
    """Differences of neighbours, and their number if it is asked for."""

    counted = Boolean(default=False)
    i = In("number", variadic=True)
    o1 = Out("number")

    @classmethod
    def outputs_for(cls, values, arity):
        found = {f"o{k}": Out("number", alias=f"gap_{k}") for k in range(1, arity)}
        return found | ({f"o{arity}": Out("integer", alias="count")} if values["counted"] else {})

    @staticmethod
    def formula(values, ports):
        found = {f"o{k}": f"{b} - {a}" for k, (a, b) in enumerate(itertools.pairwise(ports), 1)}
        return found | ({f"o{len(ports)}": str(len(ports) - 1)} if values["counted"] else {})


class EndsForTest(Operator):
    """The first and the last of all inputs."""

    i = In("T", variadic=True)
    o1 = Out("T")

    @classmethod
    def outputs_for(cls, values, arity):  # noqa: ARG003 (always two)
        return {"o1": Out("T", alias="first"), "o2": Out("T", silent=True, alias="last")}

    @step
    def step(i):
        return i[0], i[-1], i[-1] != i[0]


REGISTERING.reset(_REGISTER)


def neighbours(operator, inputs, outputs, **values):
    return {
        "inputs": dict.fromkeys(inputs, "number"),
        "operators": {"g": {"type": operator, "in": list(inputs), **values}},
        "outputs": [f"g.{port}" for port in outputs],
    }


def run_neighbours(document, **rows):
    result = rtbot.load(document).run({n: {"t": [1, 2], "value": v} for n, v in rows.items()})
    return {name: table["value"].tolist() for name, table in result.items()}


@pytest.fixture
def _choosing(monkeypatch):
    monkeypatch.setenv("RTBOT_INTERPRET", "1")
    for cls in (NeighboursForTest, EndsForTest):
        monkeypatch.setitem(REGISTRY, cls.__name__, cls)


@pytest.mark.usefixtures("_choosing")
def test_outputs_may_depend_on_parameters_and_the_number_of_inputs():
    rows = {"a": [1.0, 2.0], "b": [5.0, 5.0], "c": [7.0, 0.0]}
    document = neighbours("NeighboursForTest", "abc", ["gap_1", "o2", "count"], counted=True)
    found = run_neighbours(document, **rows)
    assert found == {"g_gap_1": [4.0, 3.0], "g_o2": [2.0, -5.0], "g_count": [2, 2]}
    for inputs, port in (("ab", "o2"), ("ab", "count"), ("abc", "gap_3")):
        with pytest.raises(rtbot.GraphError, match=f"g has no output '{port}'"):
            rtbot.load(neighbours("NeighboursForTest", inputs, [port]))
    builder = rtbot.Builder("graph")
    made = ops.of(NeighboursForTest)(*map(builder.input, "abc"), counted=True)
    builder.output(gap=made.gap_2, count=made.count)
    assert "outputs: {gap: neighbours_for_test.o2" in builder.graph().to_yaml()
    assert "gap_2" in rtbot.load(document).draw()


@pytest.mark.usefixtures("_choosing")
def test_a_step_may_have_outputs_that_are_chosen():
    document = neighbours("EndsForTest", "abc", ["first", "last"])
    found = run_neighbours(document, a=[1.0, 2.0], b=[5.0, 5.0], c=[7.0, 2.0])
    assert found == {"g_first": [1.0, 2.0], "g_last": [7.0]}
