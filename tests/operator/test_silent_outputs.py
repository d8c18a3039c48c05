"""Steps with several outputs, each of which has a message or not on its own."""

import itertools

import pytest

import rtbot
from rtbot.conformance import check_operator
from rtbot.core.modes import use_mode
from rtbot.operator import REGISTRY
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
