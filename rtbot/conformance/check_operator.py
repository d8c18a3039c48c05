"""Every check of an operator, and what failed."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from rtbot.compare.run_variants import AS_READ, VariantComparison
from rtbot.compare.save import build_data
from rtbot.compare.schedules import schedule_whole
from rtbot.compare.sessions import run_steps
from rtbot.compare.variants import ComparisonOptions
from rtbot.conformance.declaration_gaps import list_gaps
from rtbot.conformance.random_cases import draw_case
from rtbot.conformance.throughput import measure_throughput
from rtbot.core.errors import RtbotError
from rtbot.explain.examples import ID, ExampleGraph
from rtbot.graph.check.declaration import find_problems
from rtbot.operator.relation import Relation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.api import Graph
    from rtbot.compare.canonical_outputs import Outputs
    from rtbot.compare.report import MinimalDifference
    from rtbot.conformance.random_cases import RandomCase
    from rtbot.operator import Operator

CHECKS = {
    "declared": "texts of the class, its ports and its parameters; an example that fits",
    "example": "the example gives what it says",
    "values": "any values are taken: zeros of both signs, NaN, infinities, spikes, null, int64",
    "warm-up": "the first row comes when `warm_up` says",
    "batches": "any cuts and interleavings, an input that starves, empty batches",
    "advance": "frontiers that move on without rows, keys that are closed",
    "saved": "saved and restored at every boundary",
    "single": "one message at a time",
    "alone": "a key among others gives what it gives alone",
    "plain": "plain Python gives the bits of compiled code",
}
"""What is checked, by the heading of its column."""

_WAYS = {
    AS_READ: "batches",
    "random batches": "batches",
    "other column types": "batches",
    "advanced": "advance",
    "advanced, keys closed": "advance",
    "saved and resumed": "saved",
    "one message at a time": "single",
    "every key alone": "alone",
    "interpreted": "plain",
}
"""The check that a way of `rtbot compare` belongs to."""

_SILENT = (
    "if the values decide, say silent = True, or return WarmUp(ROWS, certain=False) in warm_up"
)
_FEWER = "return WarmUp(ROWS, certain=...) in warm_up, with fewer"
"""What to do about a warm-up that is not what it says."""

RUNS = 2
"""Runs of a case in every way that is random."""

EVERYWHERE = 1 << 30
"""Dumps of one run: behind every step."""


@dataclass(frozen=True)
class Failure:
    """A check that failed, in lines; of a random case, its graph and the smallest difference."""

    check: str
    lines: tuple[str, ...]
    graph: Graph | None = None
    difference: MinimalDifference | None = None


@dataclass
class OperatorReport:
    """What was checked of an operator, how often, and what failed; rows per second, if known."""

    operator: type[Operator]
    counts: dict[str, int] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    throughput: float | None = None

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    def count(self, check: str) -> None:
        """Note that a check was made once more."""
        self.counts[check] = self.counts.get(check, 0) + 1

    def fail(self, check: str, *lines: str, **more: Any) -> None:
        """Note a failure; of one check the first is enough."""
        if all(failure.check != check for failure in self.failures):
            self.failures.append(Failure(check, lines, **more))


def check_operator(cls: type[Operator], cases: int = 6) -> OperatorReport:
    """Check an operator: its declaration, its example, and so many random cases.

    Operators of tables that change have no random cases here.
    """
    report = OperatorReport(cls)
    report.count("declared")
    relation = issubclass(cls, Relation)
    broken = [] if relation else [str(problem) for problem in find_problems(cast("Any", cls))]
    gaps = broken or list_gaps(cls)
    if gaps:
        report.fail("declared", *gaps)
    if broken:
        return report
    with _catch_errors(report, "example"):
        _check_example(report)
    if relation:
        return report
    for number in range(cases):
        with _catch_errors(report, "values"):
            _check_case(report, draw_case(cls, number))
    return report


@contextmanager
def _catch_errors(report: OperatorReport, check: str) -> Iterator[None]:
    """Let an error be a failure of the check."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 (whatever an operator's own methods raise)
        known = isinstance(error, RtbotError)
        report.fail(check, *(str(error) if known else repr(error)).splitlines())


def _check_example(report: OperatorReport) -> None:
    """Run the example as a test of a graph, and measure its graph."""
    import rtbot
    from rtbot.graph.document import load_document
    from rtbot.graph_tests import Suite

    if report.operator.example is None:
        return
    report.count("example")
    text = ExampleGraph(report.operator).text()
    suite = Suite(load_document(text), {})
    for test in suite.tests:
        outcome = suite.run(test)
        if not outcome.passed:
            report.fail("example", *outcome.lines())
    if not issubclass(report.operator, Relation):
        report.throughput = measure_throughput(rtbot.load(text))


def _check_case(report: OperatorReport, case: RandomCase) -> None:
    """Run a case in all ways, which must give the same bits."""
    data = build_data(case.graph, case.rows, case.key)
    options = ComparisonOptions(runs=RUNS, dumps=EVERYWHERE)
    right = run_steps(case.graph, data, schedule_whole(data.rows))
    report.count("values")
    if right.fault:
        report.fail("values", *right.fault.splitlines(), graph=case.graph)
        return
    _check_warm_up(report, case, right)
    found = VariantComparison(case.graph, data, options).run(right, 0.0)
    for outcome in found.outcomes:
        report.count(_WAYS[outcome.way])
    if found.found is not None:
        check = _WAYS[found.found.way]
        lines = tuple(found.found.lines())
        report.fail(check, *lines, graph=case.graph, difference=found.found)


def _check_warm_up(report: OperatorReport, case: RandomCase, right: Outputs) -> None:
    """Compare the number of rows with what a certain warm-up says, if one stream is read."""
    node = case.graph.checked.nodes[ID]
    if len(node.inputs) > 1:
        return
    needed = node.operator.warm_up(node.values)
    report.count("warm-up")
    counts: dict[Any, int] = {}
    for row in case.rows:
        counts[row.key] = counts.get(row.key, 0) + 1
    wanted = sum(max(0, count - needed.rows + 1) for count in counts.values())
    account: Any = right.account
    lost = sum(sum(port["lost"].values()) for port in account["operators"].get(ID, {}).values())
    for name, rows in right.rows.items():
        more = rows > wanted and not node.operator.sets_time
        if more or (needed.certain and rows + lost < wanted):
            told = "are certain" if needed.certain else "are the most"
            remedy = f"{_FEWER} rows" if more else _SILENT
            report.fail(
                "warm-up",
                f"warm_up says {needed}: of {', '.join(map(str, counts.values()))} rows of keys, "
                f"{wanted} rows {told}, and {name} has {rows}",
                remedy,
                graph=case.graph,
            )
