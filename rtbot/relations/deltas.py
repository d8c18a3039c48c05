"""The rows that transactions insert and delete, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Deltas:
    """The changes of one stream in several transactions.

    `starts` int64[transactions + 1] says which rows belong to which transaction of the region's
    batch, which may have none; `words` int64[rows, width] are the rows as `RowCodec` encodes them,
    C-contiguous; `weights` int64[rows] are never 0. Never written to once made.
    """

    starts: np.ndarray
    words: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def floats(self) -> np.ndarray:
        """The words as float64, a view: what a field of numbers has."""
        return self.words.view(np.float64)

    def cut(self, first: int, last: int) -> Deltas:
        """Return the changes of the transactions first to last - 1, views."""
        begin, end = int(self.starts[first]), int(self.starts[last])
        starts = self.starts[first : last + 1] - begin
        return Deltas(starts, self.words[begin:end], self.weights[begin:end])


def make_empty_deltas(transactions: int, width: int) -> Deltas:
    """Return deltas without a change."""
    starts = np.zeros(transactions + 1, np.int64)
    return Deltas(starts, np.empty((0, width), np.int64), np.empty(0, np.int64))
