"""Runs data in every way, compares, and makes the first difference small."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbot.compare.canonical_outputs import difference
from rtbot.compare.report import Agreement, Found, Outcome
from rtbot.compare.schedules import whole
from rtbot.compare.sessions import fed
from rtbot.compare.shrink import parts_kept, smallest
from rtbot.compare.variants import Read, Way, ways

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rtbot.api import Graph
    from rtbot.compare.canonical_outputs import Difference, Outputs
    from rtbot.compare.data import Data
    from rtbot.compare.variants import Attempt, Wish

    Tell = Callable[[str, int], object]
    """Is told the way and the run that begins."""

SHRINK_SECONDS = 30.0
TRIALS = 1_000_000
AS_READ = "as rtbot run reads it"


@dataclass(frozen=True)
class Trial:
    """Some data and a run of it."""

    data: Data
    attempt: Attempt

    def rows_dropped(self) -> Iterator[Trial]:
        """Yield it without a part of the rows."""
        for kept in parts_kept(len(self.data)):
            yield Trial(self.data.part(kept), self.attempt.part(self.data, kept))

    def simpler(self) -> Iterator[Trial]:
        """Yield it with a simpler run."""
        for attempt in self.attempt.simpler():
            yield Trial(self.data, attempt)


class Comparison:
    """A graph and data in every way that `wish` asks for."""

    def __init__(self, graph: Graph, data: Data, wish: Wish, tell: Tell | None = None) -> None:
        self.graph, self.data, self.wish = graph, data, wish
        self.tell = tell or _hush
        self.interprets = os.environ.get("RTBOT_INTERPRET") == "1"
        self._right: list[tuple[Data, Outputs]] = []
        self.left_out: list[str] = []
        self.found: Found | None = None

    def run(self, read: Outputs, seconds: float) -> Agreement:
        """Run every way; `read` is what came while the data was read, in so many seconds."""
        with ExitStack() as stack:
            outcomes = tuple(self._outcome(way) for way in self._ways(read, seconds, stack))
        return self.agreement(outcomes, self.found)

    def agreement(self, outcomes: tuple[Outcome, ...], found: Found | None) -> Agreement:
        """Put together what came of it."""
        right = self._reference(self.data)
        rows, digests = right.rows, right.digests()
        return Agreement(
            self.graph.name,
            len(self.data),
            self.wish.seed,
            outcomes,
            {name: (rows[name], digests[name]) for name in rows},
            tuple(self.left_out),
            found,
        )

    def _ways(self, read: Outputs, seconds: float, stack: ExitStack) -> Iterator[Way]:
        yield Way(AS_READ, self.data, iter([Read.of(self.data, read)]), seconds=seconds)
        yield from ways(self.data, self.wish, interprets=self.interprets)
        if self.interprets:
            self.left_out.append("compiled code: RTBOT_INTERPRET is set")
        if not self.data.key:
            self.left_out.append("every key alone: the run has no key")
        if not self.wish.spark:
            self.left_out.append("Spark: it was not asked for")
            return
        from rtbot.compare.spark import Cluster, spark_way, unfit

        why = unfit(self.graph, self._reference(self.data))
        if why:
            self.left_out.append(f"Spark: {why}")
        else:
            yield spark_way(stack.enter_context(Cluster()), self.data, self.wish)

    def _outcome(self, way: Way) -> Outcome:
        """Run a way until it differs."""
        right = self._reference(way.data)
        begun, run, same = time.perf_counter(), 0, True
        for run, attempt in enumerate(way.attempts, 1):
            self.tell(way.name, run)
            first = self.difference(Trial(way.data, attempt), right)
            if first is not None:
                same = False
                break
        seconds = way.seconds + time.perf_counter() - begun
        if not same and self.found is None:
            self.found = self._smallest(way, run, attempt)
        rows = len(way.data)
        return Outcome(way.name, run, rows, same, seconds, way.note)

    def _reference(self, data: Data) -> Outputs:
        """The outputs of one push of the data."""
        for known, right in self._right:
            if known is data:
                return right
        right = fed(self.graph, data, whole(data.rows))
        self._right.append((data, right))
        return right

    def difference(self, trial: Trial, right: Outputs | None = None) -> Difference | None:
        """Return where a trial differs from one push of its rows; None if it does not."""
        if right is None:
            right = fed(self.graph, trial.data, whole(trial.data.rows))
        found = trial.attempt.outputs(self.graph, trial.data)
        return difference(trial.attempt.right(right), found)

    def _smallest(self, way: Way, run: int, attempt: Attempt) -> Found:
        """Return the smallest data and run that differ in the same way."""
        self.tell(f"{way.name}: looking for the smallest input", 0)
        deadline = time.monotonic() + SHRINK_SECONDS
        first = self.difference(Trial(way.data, attempt))
        assert first is not None

        def fails(trial: Trial) -> bool:
            if time.monotonic() > deadline:
                return False
            found = self.difference(trial)
            return found is not None and bool(found.told) == bool(first.told)

        moves = (Trial.rows_dropped, Trial.simpler)
        small = smallest(Trial(way.data, attempt), moves, fails, TRIALS)
        last = self.difference(small) or first
        in_time = time.monotonic() <= deadline
        return Found(way.name, run, last, small.data, small.attempt, in_time)


def _hush(way: str, run: int) -> None:
    """Tell nobody."""
