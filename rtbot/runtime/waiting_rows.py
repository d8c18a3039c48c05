"""Indices of what waits: the rows at an input, and the keys by the time at which they are due.

Those of an input are derived from its heaps, so that no dump holds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.arrays import distinct, grow_array
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
    """Keys by the time for which they wait: a heap, to find those due at a frontier.

    `watched` has, per key, the time of its valid entry, LAST if it has none; others are stale.
    """

    def __init__(self, kernels: ModuleType, capacity: int) -> None:
        self.kernels = kernels
        self.watched = np.full(capacity, LAST)
        self.time = np.empty(LEAST, np.int64)
        self.slot = np.empty(LEAST, np.int64)
        self.size = 0

    def grow(self, capacity: int) -> None:
        """Make room for so many keys; those beyond are as new, and no entry is of one."""
        if capacity < len(self.watched):
            self._drop_stale(0)
        self.watched = grow_array(self.watched, capacity, LAST)

    def clear(self, slot: int) -> None:
        """Make the slot as new."""
        self.watched[slot] = LAST

    def reserve(self, count: int) -> None:
        """Make room for more entries; drop stale ones first, to bound the size of the heap."""
        if self.size + count > len(self.time):
            self._drop_stale(count)

    def _drop_stale(self, count: int) -> None:
        """Drop stale entries; make room for more."""
        time, slot = self.time[: self.size], self.slot[: self.size]
        self._fill(distinct(slot[self.watched[slot] == time]), count)

    def rebuild(self) -> None:
        """Make the heap of `watched`."""
        self._fill(np.flatnonzero(self.watched != LAST), 0)

    def _fill(self, slots: np.ndarray, more: int) -> None:
        """Make the heap of these keys, with room for more: in the order of time it is one."""
        times = self.watched[slots]
        order = np.argsort(times, kind="stable")
        room = max(2 * (len(slots) + more), LEAST)
        self.time = grow_array(times[order], room, 0)
        self.slot = grow_array(slots[order], room, 0)
        self.size = len(slots)

    def fire(self, until: int) -> np.ndarray:
        """Take off the keys whose time is not after `until`."""
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

    def find_due(self, floor: int, roots: np.ndarray, node_time: np.ndarray) -> np.ndarray:
        """Take off the keys whose oldest row is not after the global frontier."""
        out = self.fire(floor)
        self.reserve(len(out))
        kept, self.size = self.kernels.overdue(
            out, len(out), floor, roots, node_time, self.time, self.slot, self.watched, self.size
        )
        return out[:kept]


class SharedWakes(Wakes):
    """Such keys that generated loops add: the size is at a `place` of a header that they have.

    `moved` counts how often the arrays have become others.
    """

    def __init__(self, kernels: ModuleType, capacity: int, header: np.ndarray, place: int) -> None:
        self.header, self.place = header, place
        self.moved = 0
        super().__init__(kernels, capacity)

    @property
    def size(self) -> int:
        """How many entries the heap has."""
        return int(self.header[self.place])

    @size.setter
    def size(self, size: int) -> None:
        self.header[self.place] = size

    def _fill(self, slots: np.ndarray, more: int) -> None:
        self.moved += 1
        super()._fill(slots, more)


def _size(count: int) -> int:
    """Return places of a hash table for so many: a power of two, at most half of them taken."""
    return max(1 << (2 * count - 1).bit_length(), LEAST) if count else LEAST
