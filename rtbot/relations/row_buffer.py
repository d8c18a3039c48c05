"""The rows of one stream in one small transaction, in arrays that are made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.relations.deltas import Deltas

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOM = 64
"""So many rows a buffer has; a transaction that needs more goes the general way."""

WaitingRow = tuple[int, int, bytes]
"""A time, a weight, and the words of a row as bytes."""


class RowBuffer:
    """At most ROOM rows: the arrays of `Deltas` of one transaction, and views of them for Python.

    `ends[1]` is how many rows there are.
    """

    def __init__(self, width: int) -> None:
        self.words = np.zeros((ROOM, width), np.int64)
        self.flat = self.words.reshape(-1)
        self.floats = self.flat.view(np.float64)
        self.weights = np.zeros(ROOM, np.int64)
        self.starts = np.zeros(2, np.int64)
        self.integers, self.numbers = memoryview(self.flat), memoryview(self.floats)
        self.signs, self.ends = memoryview(self.weights), memoryview(self.starts)
        self.bytes = self.integers.cast("B")
        self.size = 8 * width

    def put(self, rows: Sequence[WaitingRow]) -> None:
        """Let these rows be all of them."""
        size, at = self.size, 0
        for place, (_, weight, words) in enumerate(rows):
            self.bytes[at : at + size] = words
            self.signs[place] = weight
            at += size
        self.ends[1] = len(rows)

    def fill(self, deltas: Deltas) -> bool:
        """Let the rows of one transaction be all of them; False if they are too many."""
        count = len(deltas)
        if count > ROOM:
            return False
        self.words[:count] = deltas.words
        self.weights[:count] = deltas.weights
        self.ends[1] = count
        return True

    def take(self, other: RowBuffer, row: int) -> None:
        """Append a row of another buffer of the same width."""
        size, count = self.size, self.ends[1]
        self.bytes[count * size : (count + 1) * size] = other.bytes[row * size : (row + 1) * size]
        self.signs[count] = other.signs[row]
        self.ends[1] = count + 1

    def copy(self) -> Deltas:
        """Return the rows as a transaction of its own arrays."""
        count = self.ends[1]
        return Deltas(self.starts.copy(), self.words[:count].copy(), self.weights[:count].copy())
