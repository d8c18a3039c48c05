"""What an operator makes of transactions, in arrays that grow."""

from __future__ import annotations

import numpy as np

from rtbot.core.arrays import grow_array, trim_array
from rtbot.relations.deltas import Deltas


class RowOutput:
    """Rows of `width` words with their weights, and where each of the transactions begins."""

    def __init__(self, transactions: int, width: int, rows: int) -> None:
        self.words = np.empty((rows, width), np.int64)
        self.weights = np.empty(rows, np.int64)
        self.starts = np.zeros(transactions + 1, np.int64)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Words, flat, weights and starts, as loops take them."""
        return self.words.reshape(-1), self.weights, self.starts

    def grow(self, needed: int) -> None:
        """Make room for so many rows, and some more."""
        held = len(self.weights)
        if needed > held:
            room = max(needed, held * 3 // 2)
            words = np.empty((room, self.words.shape[1]), np.int64)
            words[:held] = self.words
            self.words, self.weights = words, grow_array(self.weights, room, 0)

    def cut(self, done: int) -> Deltas:
        """Return the changes of the first so many transactions."""
        starts = self.starts[: done + 1]
        count = int(starts[-1])
        return Deltas(starts, trim_array(self.words, count), trim_array(self.weights, count))
