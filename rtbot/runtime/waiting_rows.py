"""Indices of the rows that wait at an input: which there are, and which keys are due when.

Both are derived from the heaps, so that no dump holds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.arrays import grow_array
from rtbot.runtime.kernels.rows import LAST

if TYPE_CHECKING:
    from types import ModuleType

    from rtbot.core.batch import Batch

LEAST = 64


class Places:
    """The rows that wait, by key and time: a hash table of their nodes, to find duplicates.

    `owner` has the slot of every node that waits, -1 of the others.
    """

    def __init__(self, kernels: ModuleType) -> None:
        self.kernels = kernels
        self.owner = np.full(0, -1, np.int64)
        self.table = np.full(LEAST, -1, np.int32)
        self.count = 0

    def grow(self, nodes: int) -> None:
        """Make room for more nodes."""
        self.owner = grow_array(self.owner, nodes, -1)

    def twin(
        self,
        batch: Batch,
        late: np.ndarray,
        slots: np.ndarray,
        largest: np.ndarray,
        node_time: np.ndarray,
    ) -> int:
        """Return the first row that waits already or is twice in the batch, or -1; change nothing.

        A row that is newer than all of its key is neither, so rows in order cost no search.
        """
        runs, starts, time = len(slots), batch.starts, batch.time
        if not self.kernels.behind(slots, runs, starts, time, late, largest):
            return -1
        rows = np.full(_size(len(time)), -1, np.int32)
        found: int = self.kernels.first_twin(
            slots, runs, starts, time, late, self.table, len(self.table) - 1, self.owner,
            node_time, rows, len(rows) - 1, np.empty(len(time), np.int64),
        )  # fmt: skip
        return found

    def add(self, nodes: np.ndarray, time: np.ndarray) -> None:
        """Note those of the nodes that have an owner."""
        size = _size(self.count + len(nodes))
        if size > len(self.table):
            old = self.table
            self.table = np.full(size, -1, np.int32)
            self._enlist(old, time)
        self.count += self._enlist(nodes, time)

    def _enlist(self, nodes: np.ndarray, time: np.ndarray) -> int:
        nodes = nodes.astype(np.int32, copy=False)
        mask = len(self.table) - 1
        added: int = self.kernels.enlist(nodes, len(nodes), self.table, mask, self.owner, time)
        return added

    def drop(self, nodes: np.ndarray, since: int, time: np.ndarray, order: np.ndarray) -> None:
        """Forget nodes; those whose order is at least `since` have not been noted yet."""
        mask = len(self.table) - 1
        self.count -= self.kernels.delist(
            nodes, len(nodes), since, self.table, mask, self.owner, time, order
        )

    def rebuild(self, roots: np.ndarray, pool: dict[str, np.ndarray]) -> None:
        """Rebuild the table of rows that wait, from their heaps."""
        slots = np.flatnonzero(roots >= 0)
        nodes = len(pool["time"])
        self.owner = np.full(nodes, -1, np.int64)
        self.table = np.full(LEAST, -1, np.int32)
        self.count = 0
        stack = np.empty(nodes + 2, np.int64)
        if not self.kernels.own_nodes(
            slots, len(slots), roots, pool["child"], pool["sibling"], stack, self.owner
        ):
            raise ValueError("rows that wait twice")
        self.add(np.flatnonzero(self.owner >= 0), pool["time"])


class Wakes:
    """Keys by the time of their oldest row that waits: a heap, to find those due at a frontier.

    `watched` has, per key, the time of its valid entry, LAST if it has none; others are stale.
    """

    def __init__(self, kernels: ModuleType, capacity: int) -> None:
        self.kernels = kernels
        self.watched = np.full(capacity, LAST)
        self.time = np.empty(LEAST, np.int64)
        self.slot = np.empty(LEAST, np.int64)
        self.size = 0

    def grow(self, capacity: int) -> None:
        """Make room for more keys."""
        self.watched = grow_array(self.watched, capacity, LAST)

    def clear(self, slot: int) -> None:
        """Make the slot as new."""
        self.watched[slot] = LAST

    def reserve(self, count: int) -> None:
        """Make room for more entries; drop stale ones first, to bound the size of the heap."""
        if self.size + count <= len(self.time):
            return
        time, slot = np.empty(self.size, np.int64), np.empty(self.size, np.int64)
        self.size = self.kernels.without_stale(
            self.time, self.slot, self.watched, self.size, time, slot
        )
        room = max(2 * (self.size + count), LEAST)
        self.time = grow_array(time[: self.size], room, 0)
        self.slot = grow_array(slot[: self.size], room, 0)

    def due(self, floor: int, roots: np.ndarray, node_time: np.ndarray) -> np.ndarray:
        """Take off the keys whose oldest row is not after the global frontier."""
        out = np.empty(self.size, np.int64)
        self.size, taken = self.kernels.wake(
            self.time, self.slot, self.watched, self.size, floor, out
        )
        self.reserve(taken)
        kept, self.size = self.kernels.overdue(
            out, taken, floor, roots, node_time, self.time, self.slot, self.watched, self.size
        )
        return out[:kept]


def _size(count: int) -> int:
    """Return places of a hash table for so many: a power of two, at most half of them taken."""
    return max(1 << (2 * count - 1).bit_length(), LEAST) if count else LEAST
