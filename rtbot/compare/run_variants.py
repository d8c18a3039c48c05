"""Running data in every variant, comparing, and shrinking the first difference."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbot.compare.canonical_outputs import find_difference
from rtbot.compare.report import ComparisonReport, MinimalDifference, VariantOutcome
from rtbot.compare.schedules import schedule_whole
from rtbot.compare.sessions import compiles, run_steps
from rtbot.compare.shrink import list_kept_parts, shrink_case
from rtbot.compare.variants import ReadAttempt, Variant, list_variants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rtbot.api import Graph
    from rtbot.compare.canonical_outputs import OutputDifference, Outputs
    from rtbot.compare.data import Data
    from rtbot.compare.variants import Attempt, ComparisonOptions

    Tell = Callable[[str, int], object]
    """Is called with the variant and the run that begins."""

SHRINK_SECONDS = 30.0
TRIALS = 1_000_000
AS_READ = "as rtbot run reads it"


@dataclass(frozen=True)
class Trial:
    """Some data and a run of it."""

    data: Data
    attempt: Attempt

    def drop_rows(self) -> Iterator[Trial]:
        """Yield it without a part of the rows."""
        for kept in list_kept_parts(len(self.data)):
            yield Trial(self.data.select(kept), self.attempt.select(self.data, kept))

    def simplify(self) -> Iterator[Trial]:
        """Yield it with a simpler run."""
        for attempt in self.attempt.simplify():
            yield Trial(self.data, attempt)


class VariantComparison:
    """A graph and data in every variant that the options ask for."""

    def __init__(
        self, graph: Graph, data: Data, options: ComparisonOptions, tell: Tell | None = None
    ) -> None:
        self.graph, self.data, self.options = graph, data, options
        self.tell = tell or _ignore_progress
        self.interprets = not compiles()
        self._right: list[tuple[Data, Outputs]] = []
        self.left_out: list[str] = []
        self.found: MinimalDifference | None = None

    def run(self, read: Outputs, seconds: float) -> ComparisonReport:
        """Run every variant; `read` is what came out while reading the data, in so many seconds."""
        with ExitStack() as stack:
            outcomes = tuple(
                self._run_variant(way) for way in self._list_variants(read, seconds, stack)
            )
        return self.make_report(outcomes, self.found)

    def make_report(
        self, outcomes: tuple[VariantOutcome, ...], found: MinimalDifference | None
    ) -> ComparisonReport:
        """Assemble the report."""
        right = self._run_reference(self.data)
        rows, digests = right.rows, right.digests()
        return ComparisonReport(
            self.graph.name,
            len(self.data),
            self.options.seed,
            outcomes,
            {name: (rows[name], digests[name]) for name in rows},
            tuple(self.left_out),
            found,
        )

    def _list_variants(self, read: Outputs, seconds: float, stack: ExitStack) -> Iterator[Variant]:
        yield Variant(AS_READ, self.data, iter([ReadAttempt.of(self.data, read)]), seconds=seconds)
        yield from list_variants(self.data, self.options, interprets=self.interprets)
        if self.interprets:
            self.left_out.append("compiled code: RTBOT_INTERPRET is set")
        if self.data.has_changes:
            self.left_out.append(
                "other column types, every key alone: there are tables that change"
            )
        elif not self.data.key:
            self.left_out.append("every key alone: the run has no key")
        if not self.options.spark:
            self.left_out.append("Spark: it was not asked for")
            return
        from rtbot.compare.spark import SparkCluster, explain_unfit, make_spark_variant

        why = explain_unfit(self.graph, self._run_reference(self.data))
        if why:
            self.left_out.append(f"Spark: {why}")
        else:
            yield make_spark_variant(stack.enter_context(SparkCluster()), self.data, self.options)

    def _run_variant(self, way: Variant) -> VariantOutcome:
        """Run a variant until it differs."""
        right = self._run_reference(way.data)
        begun, run, same = time.perf_counter(), 0, True
        for run, attempt in enumerate(way.attempts, 1):
            self.tell(way.name, run)
            first = self.find_difference(Trial(way.data, attempt), right)
            if first is not None:
                same = False
                break
        seconds = way.seconds + time.perf_counter() - begun
        if not same and self.found is None:
            self.found = self._shrink_difference(way, run, attempt)
        rows = len(way.data)
        return VariantOutcome(way.name, run, rows, same, seconds, way.note)

    def _run_reference(self, data: Data) -> Outputs:
        """Return the outputs of one push of the data."""
        for known, right in self._right:
            if known is data:
                return right
        right = run_steps(self.graph, data, schedule_whole(data.rows))
        self._right.append((data, right))
        return right

    def find_difference(
        self, trial: Trial, right: Outputs | None = None
    ) -> OutputDifference | None:
        """Return where a trial differs from one push of its rows; None if it does not."""
        if right is None:
            right = run_steps(self.graph, trial.data, schedule_whole(trial.data.rows))
        found = trial.attempt.outputs(self.graph, trial.data)
        return find_difference(trial.attempt.adapt_reference(right), found)

    def _shrink_difference(self, way: Variant, run: int, attempt: Attempt) -> MinimalDifference:
        """Return the smallest data and run that differ in the same way."""
        self.tell(f"{way.name}: looking for the smallest input", 0)
        deadline = time.monotonic() + SHRINK_SECONDS
        first = self.find_difference(Trial(way.data, attempt))
        assert first is not None

        def fails(trial: Trial) -> bool:
            if time.monotonic() > deadline:
                return False
            found = self.find_difference(trial)
            return found is not None and bool(found.told) == bool(first.told)

        moves = (Trial.drop_rows, Trial.simplify)
        small = shrink_case(Trial(way.data, attempt), moves, fails, TRIALS)
        last = self.find_difference(small) or first
        in_time = time.monotonic() <= deadline
        return MinimalDifference(way.name, run, last, small.data, small.attempt, in_time)


def _ignore_progress(way: str, run: int) -> None:
    """Ignore the progress."""
