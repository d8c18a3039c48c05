"""The times for which the keys of an operator with a `close` wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.compiler.timer_layout import ENDING, FLOOR, SHIFT, SIZE, TIMER_ARRAYS
from rtbot.runtime.kernels.rows import FIRST
from rtbot.runtime.state_owner import restore_rows
from rtbot.runtime.waiting_rows import SharedWakes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

    from rtbot.runtime.state_owner import Saved

HEADER_WORDS = 4


class Timers(SharedWakes):
    """Keys by a time at which there may be something to do: the loop of the operator adds them.

    `source` is the index of the frontier of its source, whose shift is in the header.
    """

    def __init__(self, kernels: ModuleType, capacity: int, progress: tuple[int, int]) -> None:
        super().__init__(kernels, capacity, np.zeros(HEADER_WORDS, np.int64), SIZE)
        self.source, self.header[SHIFT] = progress
        self.header[FLOOR] = FIRST

    def set_frontier(self, floors: Sequence[int], *, ending: bool) -> None:
        """Set the global frontier of the source, and whether nothing more comes for these keys."""
        self.header[FLOOR], self.header[ENDING] = floors[self.source], ending

    def name_arrays(self, frontier: np.ndarray, pinned: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arrays by the names that the loop has for them, with those of its source."""
        own = (self.header, self.time, self.slot, self.watched)
        return dict(zip(TIMER_ARRAYS, (*own, frontier, pinned), strict=True))

    def list_text_codes(self, slots: np.ndarray | slice) -> Iterator[np.ndarray]:  # noqa: ARG002
        """Yield nothing: these are times."""
        return iter(())

    def save(self, slots: np.ndarray) -> Saved:
        """Return the times for which these slots wait."""
        return {}, {"watched": self.watched[slots]}

    def restore(self, values: Mapping[str, object], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what was saved; the heap is made again."""
        del values
        restore_rows("watched", self.watched, arrays["watched"])
        self.rebuild()
