"""The times for which the keys of an operator with a `close` wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.compiler.timer_layout import ENDING, FLOOR, SHIFT, SIZE, TIMER_ARRAYS
from rtbot.runtime.kernels.rows import FIRST, LAST
from rtbot.runtime.state_owner import restore_rows
from rtbot.runtime.waiting_rows import Wakes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from rtbot.runtime.state_owner import Saved

HEADER_WORDS = 4


class Timers(Wakes):
    """Keys by a time at which there may be something to do: the loop of the operator adds them.

    `floor` and `shift` are those of the frontier of its source.
    """

    def __init__(self, kernels: ModuleType, capacity: int, shift: int) -> None:
        self.header = np.zeros(HEADER_WORDS, np.int64)
        self.header[FLOOR], self.header[SHIFT] = FIRST, shift
        self.moved = 0
        super().__init__(kernels, capacity)

    @property
    def size(self) -> int:
        """How many entries the heap has."""
        return int(self.header[SIZE])

    @size.setter
    def size(self, size: int) -> None:
        self.header[SIZE] = size

    def grow(self, capacity: int) -> None:
        """Make room for so many keys; those beyond are as new."""
        if capacity < len(self.watched):
            self.reserve(len(self.time))
        super().grow(capacity)

    def reserve(self, count: int) -> None:
        """Make room for more entries; drop stale ones first."""
        before = self.time
        super().reserve(count)
        self.moved += self.time is not before

    def set_frontier(self, floor: int, *, ending: bool) -> None:
        """Set the global frontier of the source, and whether nothing more comes for these keys."""
        self.header[FLOOR], self.header[ENDING] = floor, ending

    def fire(self, until: int) -> np.ndarray:
        """Take off the keys whose time is not after `until`; those that still wait come back."""
        out = np.empty(self.size, np.int64)
        self.size, taken = self.kernels.wake(
            self.time, self.slot, self.watched, self.size, until, out
        )
        return out[:taken]

    def find_next(self) -> int | None:
        """Return the earliest time for which a key waits; None if none does."""
        while self.size:
            if self.watched[self.slot[0]] == self.time[0]:
                return int(self.time[0])
            self.size -= 1
            self.kernels.sift(self.time, self.slot, self.size)
        return None

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
        waiting = np.flatnonzero(self.watched != LAST)
        times = self.watched[waiting]
        order = np.argsort(times, kind="stable")  # in the order of time it is a heap
        self.reserve(len(waiting))
        self.time[: len(waiting)], self.slot[: len(waiting)] = times[order], waiting[order]
        self.size = len(waiting)
