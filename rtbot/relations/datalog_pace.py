"""When the loops of Datalog go over to compiled code while a commit lasts."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from rtbot.compiler.tiers.background import BACKGROUND
from rtbot.core.modes import BESIDE, choose_mode
from rtbot.relations.datalog_loops import DATALOG_LOOPS

if TYPE_CHECKING:
    from rtbot.datalog.evaluation.engine import Evaluation

LOOK_SECONDS = 0.05


class LoopPace:
    """Notes how long the loops of an evaluation run, and lets them go over when that is worth it.

    `begin` comes before a commit, `end` behind it; between batches the evaluation calls `tick`.
    """

    def __init__(self, evaluation: Evaluation, compiled: bool | str | None) -> None:
        self.is_tiered = choose_mode(compiled) == BESIDE
        self._last = 0.0
        if self.is_tiered:
            evaluation.on_pause.append(self.tick)

    def begin(self) -> None:
        """Start the clock."""
        self._last = perf_counter()

    def tick(self) -> None:
        """Count the time since the last call, if it is worth a look."""
        if perf_counter() - self._last > LOOK_SECONDS:
            self.end()

    def end(self) -> None:
        """Count the time since the last call, and take what has been compiled."""
        if not self.is_tiered:
            return
        now = perf_counter()
        DATALOG_LOOPS.tiered.seconds += now - self._last
        self._last = now
        if BACKGROUND.is_due([DATALOG_LOOPS.tiered]):
            BACKGROUND.turn()
