"""The rows of a relation with what supports them, and the indexes that find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.datalog.evaluation.kernels import ranked_rows as kernel
from rtbot.tables.hash_tables import EMPTY

if TYPE_CHECKING:
    from types import ModuleType

ROOM = 1 << 12
"""So many bindings are worked on at one time; a call of a kernel adds no more rows than that."""

FIRST, LOAD = 64, 0.6
SAMPLED = 2048
"""So many rows are looked at to estimate how many have the same key."""

LINE = 64
"""Bytes of a line of the cache: a row that is on two of them is read half as fast."""

PACKED, SHARE = 1024, 4
"""More dead rows than this, and than this part of those that are in, are left out."""

NO_LINKS = np.empty(0, np.int32)


class KeyIndex:
    """Rows of a relation by some of their columns; it takes rows in when it is used."""

    def __init__(self, relation: RankedRelation, columns: tuple[int, ...]) -> None:
        self.relation, self.columns = relation, columns
        self.places = np.array(columns, np.int64)
        self.clear()

    def clear(self) -> None:
        """Forget all rows."""
        self.table = np.full(FIRST, EMPTY, np.int64)
        self.links = np.empty(0, np.int32)
        self.meta = np.zeros(2, np.int64)

    def update(self) -> None:
        """Take in the rows that are not in the index yet."""
        count = int(self.relation.meta[kernel.ROWS])
        if self.meta[0] == count:
            return
        relation = self.relation
        if not self.meta[0] and count > SAMPLED:
            keys = int(count / estimate_fan_out(relation, self.columns))
            self.table = np.full(int(keys / LOAD) + FIRST, EMPTY, np.int64)
        if len(self.links) < count:
            self.links = _lengthen(self.links, max(count, 2 * len(self.links)))
        while True:
            limit = int(LOAD * len(self.table))
            relation.kernels.extend_index(
                relation.rows, relation.stride, count, self.places, self.table, self.links,
                self.meta, limit, self.relation.tags,
            )  # fmt: skip
            if self.meta[0] == count:
                return
            self.table = _enlarge(relation.kernels, self.table, 2 * limit)

    def shorten(self) -> None:
        """Leave out rows that the relation does not have any more."""
        relation, base = self.relation, int(self.relation.meta[kernel.BASE])
        relation.kernels.shorten_index(
            relation.rows, relation.stride, base, self.places, self.table, self.links, self.meta
        )

    def count_bytes(self) -> int:
        """Return how much memory it takes."""
        return self.table.nbytes + self.links.nbytes


class RowIndex:
    """Rows by all of their columns, in the form of a `KeyIndex`."""

    links = NO_LINKS

    def __init__(self, relation: RankedRelation) -> None:
        self.relation, self.places = relation, relation.places

    @property
    def table(self) -> np.ndarray:
        """The table of the rows themselves."""
        return self.relation.table

    def update(self) -> None:
        """Do nothing: every row is in the table at once."""


class RankedRelation:
    """The rows of a relation, as in kernels/ranked_rows.py.

    `fresh` and `pending` are lists of ids that the kernels fill; their sizes are in `meta`.
    """

    def __init__(self, kernels: ModuleType, name: str, types: tuple[str, ...]) -> None:
        self.kernels, self.name, self.types = kernels, name, types
        self.width, self.stride = len(types), len(types) + 2
        self.places = np.arange(self.width)
        self.indexes: dict[tuple[int, ...], KeyIndex] = {}
        self.whole = RowIndex(self)
        self.tags = np.empty(ROOM + 1, np.int64)
        self.clear()

    def clear(self) -> None:
        """Forget all rows."""
        self.rows = np.zeros(FIRST * self.stride, np.int64)
        self.table = np.full(2 * FIRST, EMPTY, np.int64)
        self.log = np.empty(0, np.int64)
        self.fresh = np.empty(0, np.int64)
        self.pending = np.empty(0, np.int64)
        self.meta = np.zeros(7, np.int64)
        for index in self.indexes.values():
            index.clear()

    def __len__(self) -> int:
        return int(self.meta[kernel.ALIVE])

    @property
    def count(self) -> int:
        """How many places are taken, by rows that are in and others."""
        return int(self.meta[kernel.ROWS])

    def reserve(self, more: int) -> None:
        """Make room for as many rows, and as many entries of the lists."""
        rows = int(self.meta[kernel.ROWS])
        if len(self.rows) < (rows + more) * self.stride:
            self.rows = _lengthen(self.rows, max(rows + more, 2 * rows) * self.stride)
        if LOAD * len(self.table) < rows + more:
            self.table = _enlarge(self.kernels, self.table, max(rows + more, 2 * rows))
        self.reserve_lists(more)

    def reserve_lists(self, more: int) -> None:
        """Make room for as many entries of each list; an older row is in the log once."""
        logged, fresh, pending, base = self.meta[2:6].tolist()
        logged = 3 * min(logged + more, base)
        if len(self.log) < logged:
            self.log = _lengthen(self.log, min(2 * logged, 3 * base))
        if len(self.fresh) < fresh + more:
            self.fresh = _lengthen(self.fresh, max(fresh + more, 2 * fresh))
        if len(self.pending) < pending + more:
            self.pending = _lengthen(self.pending, max(pending + more, 2 * pending))

    def find_index(self, columns: tuple[int, ...]) -> KeyIndex | RowIndex:
        """Return the index of these columns, made when it is first asked for."""
        if len(columns) == self.width:
            return self.whole
        if columns not in self.indexes:
            self.indexes[columns] = KeyIndex(self, columns)
        index = self.indexes[columns]
        index.update()
        return index

    def take_fresh(self) -> np.ndarray:
        """Return the ids of the rows that came in since the last call."""
        found = self.fresh[: int(self.meta[kernel.FRESH_SIZE])].copy()
        self.meta[kernel.FRESH_SIZE] = 0
        return found

    def take_pending(self) -> np.ndarray:
        """Return the ids of the rows that became due since the last call."""
        found = self.pending[: int(self.meta[kernel.PENDING_SIZE])].copy()
        self.meta[kernel.PENDING_SIZE] = 0
        return found

    def list_changed(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of rows that came in and of those that went out in the epoch."""
        meta = self.meta
        size = int(meta[kernel.ROWS] - meta[kernel.BASE] + meta[kernel.LOG_SIZE])
        if size == 0:
            return NO_IDS, NO_IDS
        added, removed = np.empty(size, np.int64), np.empty(size, np.int64)
        more, less = self.kernels.list_changed(
            self.rows, self.width, meta, self.log, added, removed
        )
        return added[:more], removed[:less]

    def read_rows(self, ids: np.ndarray) -> np.ndarray:
        """Return the columns of rows: int64[n, width]."""
        found: np.ndarray = self.rows.reshape(-1, self.stride)[ids, : self.width]
        return found

    def list_ids(self) -> np.ndarray:
        """Return the ids of the rows that are in."""
        states = self.rows[self.width + 1 : self.count * self.stride : self.stride]
        return np.flatnonzero(states & kernel.IN)

    def list_facts(self) -> np.ndarray:
        """Return the rows that were inserted: int64[n, width]."""
        states = self.rows[self.width + 1 : self.count * self.stride : self.stride]
        return self.read_rows(np.flatnonzero(states & kernel.FACT))

    def find_ids(self, words: np.ndarray) -> np.ndarray:
        """Return the ids of rows, -1 for those that are not there."""
        ids = np.empty(len(words), np.int64)
        self.kernels.find_rows(
            np.ascontiguousarray(words, np.int64).reshape(-1), 0, len(words), self.width,
            self.places, self.table, self.rows, ids,
        )  # fmt: skip
        return ids

    def settle(self) -> None:
        """Begin an epoch; places of dead rows are given up once there are many."""
        meta = self.meta
        if meta[kernel.BASE] != meta[kernel.ROWS] or meta[kernel.LOG_SIZE]:
            self.kernels.settle_rows(self.rows, self.width, meta, self.log)
            self.log, self.fresh, self.pending = NO_IDS, NO_IDS, NO_IDS
        meta[kernel.FRESH_SIZE] = meta[kernel.PENDING_SIZE] = 0
        dead = self.count - len(self)
        if dead > PACKED and dead * SHARE > len(self):
            self._pack()

    def _pack(self) -> None:
        alive = len(self)
        rows = np.zeros(max(alive, FIRST) * self.stride, np.int64)
        table = np.full(max(2 * FIRST, int(alive / LOAD) + 2), EMPTY, np.int64)
        count = self.count
        self.kernels.copy_alive(self.rows, self.width, count, self.places, rows, table)
        self.rows, self.table = rows, table
        self.meta[:] = alive, alive, 0, 0, 0, alive, alive
        for index in self.indexes.values():
            index.clear()

    def roll_back(self) -> None:
        """Take back what the epoch has done."""
        for index in self.indexes.values():
            index.shorten()
        self.kernels.roll_back(self.rows, self.width, self.places, self.table, self.meta, self.log)

    def count_bytes(self) -> int:
        """Return how much memory it takes."""
        own = (self.rows, self.table, self.log, self.fresh, self.pending)
        indexes = sum(index.count_bytes() for index in self.indexes.values())
        return sum(array.nbytes for array in own) + indexes


NO_IDS = np.empty(0, np.int64)


def estimate_fan_out(relation: RankedRelation, columns: tuple[int, ...]) -> float:
    """Return how many rows have the key of a row, from pairs of rows of a sample."""
    count = relation.count
    if count < 2:
        return float(count)
    ids = np.arange(count)
    if count > SAMPLED:
        ids = np.linspace(0, count - 1, SAMPLED).astype(np.int64)
    rows = relation.read_rows(ids)
    mixed = np.zeros(len(ids), np.int64)
    with np.errstate(over="ignore"):
        for column in columns:
            mixed = mixed * np.int64(0x5851F42D4C957F2D) + rows[:, column]
            mixed ^= mixed >> 29
    mixed.sort()
    ends = np.flatnonzero(np.append(mixed[1:] != mixed[:-1], True)) + 1
    runs = np.diff(ends, prepend=0)
    pairs = float((runs * (runs - 1)).sum())
    return 1 + pairs / (len(ids) * (len(ids) - 1)) * (count - 1)


def _lengthen(array: np.ndarray, size: int) -> np.ndarray:
    """Return a longer copy, whose new places hold anything; it begins with a line of the cache."""
    room = np.empty(size + LINE // array.itemsize, array.dtype)
    first = -room.__array_interface__["data"][0] % LINE // array.itemsize
    longer = room[first : first + size]
    longer[: len(array)] = array
    return longer


def _enlarge(kernels: ModuleType, table: np.ndarray, entries: int) -> np.ndarray:
    """Return a table for so many entries with those of another."""
    larger = np.full(int(entries / LOAD) + 2, EMPTY, np.int64)
    kernels.move_entries(table, larger)
    return larger
