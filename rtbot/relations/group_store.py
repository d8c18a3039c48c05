"""What a grouped operator remembers: records of groups, and pools of what they refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrays import allocate_aligned
from rtbot.numeric.exact import INTEGER_LIMB
from rtbot.numeric.exact.weighted import BLOCK_COUNTS
from rtbot.numeric.treap import GREATER, LESSER, NODE
from rtbot.relations import group_counters as code
from rtbot.relations.group_layout import EMITTED, FLAGS, TOUCHED, USED, WEIGHT, WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rtbot.relations.group_layout import GroupLayout

    Saved = tuple[dict[str, Any], dict[str, np.ndarray]]

ENTRIES_AT_FIRST = 15
DIGIT_HIGHEST = 2**61


def _allocate(words: int) -> np.ndarray:
    """Return zeros, aligned so that a node is in one cache line."""
    return allocate_aligned(words).view(np.int64)


class EntryPool:
    """Entries of a fixed number of words, numbered from 1; see `rtbot.numeric.exact.weighted`.

    `entries` is int64[(capacity + 1) * stride], flat, and `counters[base:]` its three counters.
    """

    def __init__(self, counters: np.ndarray, base: int, stride: int) -> None:
        self.counters, self.base, self.stride = counters, base, stride
        self.fill(np.zeros((0, stride), np.int64))

    def fill(self, rows: np.ndarray) -> None:
        """Let these rows be the entries, in place of all others."""
        capacity = max(len(rows), ENTRIES_AT_FIRST)
        self.entries = _allocate((capacity + 1) * self.stride)
        self.rows[1 : len(rows) + 1] = rows
        self.counters[self.base : self.base + 3] = 0, len(rows), capacity - len(rows)

    def grow(self, least: int = 0) -> None:
        """Make room for twice as many entries, and for `least` more."""
        capacity = len(self.entries) // self.stride - 1
        more = max(capacity + 1, least)
        entries = _allocate((capacity + more + 1) * self.stride)
        entries[: len(self.entries)] = self.entries
        self.entries = entries
        self.counters[self.base + 2] += more

    @property
    def rows(self) -> np.ndarray:
        """The entries as int64[capacity + 1, stride]; the first is not one."""
        return self.entries.reshape(-1, self.stride)

    @property
    def ever_used(self) -> np.ndarray:
        """The entries that have been taken once, free ones among them."""
        return self.rows[1 : self.counters[self.base + 1] + 1]


class GroupStore:
    """Groups by their keys, with blocks of digits and the nodes of ordered values.

    `arrays` has all of it by the names of the loop's parameters, `counters` apart.
    """

    def __init__(self, layout: GroupLayout) -> None:
        self.layout = layout
        self.counters = np.zeros(code.COUNTERS, np.int64)
        self.records = EntryPool(self.counters, code.GROUPS, layout.width)
        self.pools: dict[str, EntryPool] = {}
        for name, base, stride in (
            ("blocks", code.BLOCKS, layout.block),
            ("nodes", code.NODES, NODE * bool(layout.list_trees(text=False))),
            ("text_nodes", code.TEXT_NODES, NODE * bool(layout.list_trees(text=True))),
        ):
            if stride:
                self.pools[name] = EntryPool(self.counters, base, stride)
        self.table = np.zeros(0, np.int64)
        self.clear()

    def clear(self) -> None:
        """Forget all groups; without keys there is one."""
        none = np.zeros((0, self.layout.width), np.int64)
        alone = np.zeros((1, self.layout.width), np.int64)
        alone[0, FLAGS] = USED
        self.records.fill(none if self.layout.by else alone)
        for pool in self.pools.values():
            pool.fill(np.zeros((0, pool.stride), np.int64))
        self._clear_table()

    def _clear_table(self) -> None:
        if self.layout.by:
            capacity = len(self.records.entries) // self.layout.width
            self.table = np.zeros(1 << (2 * capacity - 1).bit_length(), np.int64)
            self.counters[code.MASK] = len(self.table) - 1

    def list_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by the names of the loop's parameters."""
        found = {"records": self.records.entries}
        if self.layout.by:
            found["table"] = self.table
        return found | {name: pool.entries for name, pool in self.pools.items()}

    def grow(self, full: int, fill: Callable[..., object] | None) -> None:
        """Grow what a loop has found full; `fill` makes the table of the groups."""
        if full == code.FULL_GROUPS:
            self.records.grow()
            self.make_table(fill)
        else:
            name = {
                code.FULL_BLOCKS: "blocks",
                code.FULL_NODES: "nodes",
                code.FULL_TEXT_NODES: "text_nodes",
            }[full]
            self.pools[name].grow(len(self._list_places(name)))

    def make_table(self, fill: Callable[..., object] | None) -> None:
        """Make the table of the groups that there are."""
        self._clear_table()
        if fill is not None:
            fill(self.records.entries, self.table, self.counters)

    def find_groups(self) -> np.ndarray:
        """Return the records of all groups, int64[groups, width], a copy."""
        records = self.records.ever_used
        found: np.ndarray = records[records[:, FLAGS] & USED != 0]
        return found

    def count_bytes(self) -> int:
        """Return the bytes of all arrays."""
        arrays = self.list_arrays().values()
        return sum(array.nbytes for array in arrays) + self.counters.nbytes

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in keys, in results and among the ordered values."""
        groups = self.find_groups()
        for word in self.layout.list_text_words():
            yield groups[:, word]
        if "text_nodes" in self.pools:
            nodes = self.pools["text_nodes"].ever_used
            yield nodes[nodes[:, 1] != 0, 0]

    # ---- saving

    def save(self) -> Saved:
        """Return all groups; entries that are free are left out, and others numbered again."""
        records = self.find_groups()
        arrays = {"records": records}
        for name, pool in self.pools.items():
            rows = pool.ever_used
            places = self._list_places(name)
            if name == "blocks":
                used = records[:, places]
                arrays[name] = rows[used[used > 0] - 1]
                used[used > 0] = np.arange(1, len(arrays[name]) + 1)
                records[:, places] = used
                continue
            live = rows[:, 1] != 0
            numbers = np.concatenate([[0], np.cumsum(live)])
            arrays[name] = rows[live]
            arrays[name][:, LESSER:] = numbers[arrays[name][:, LESSER:]]
            records[:, places] = numbers[records[:, places]]
        return {"groups": len(records)}, {name: rows.ravel() for name, rows in arrays.items()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned in place of all groups; ValueError if it does not fit.

        The table is empty until `make_table`.
        """
        found = {}
        for name, stride in [("records", self.layout.width), *self._list_strides()]:
            array = arrays[name]
            if array.dtype != np.int64 or array.ndim != 1 or len(array) % stride:
                raise ValueError(f"{name}: {array.shape} of {array.dtype}")
            found[name] = array.reshape(-1, stride)
        self._check_records(found["records"])
        for name in self.pools:
            self._check_entries(name, found[name], found["records"])
        self.records.fill(found["records"])
        for name, pool in self.pools.items():
            pool.fill(found[name])
        self._clear_table()

    def _list_strides(self) -> list[tuple[str, int]]:
        return [(name, pool.stride) for name, pool in self.pools.items()]

    def _list_places(self, name: str) -> list[int]:
        """Return the words of a record that have the number of an entry of a pool."""
        if name == "blocks":
            return self.layout.list_blocks()
        return self.layout.list_trees(text=name == "text_nodes")

    def _check_records(self, records: np.ndarray) -> None:
        if not self.layout.by and len(records) != 1:
            raise ValueError("there is not one group")
        if (records[:, FLAGS] & ~(EMITTED | TOUCHED) != USED).any():
            raise ValueError("flags of a group")
        if (records[:, FLAGS] & TOUCHED).any() or (records[:, WEIGHT] < bool(self.layout.by)).any():
            raise ValueError("a group without rows")
        for key, at in self.layout.places.items():
            state = records[:, at : at + WORDS[key.name]]
            if key.name in {"numbers", "moments"}:
                is_right = np.isfinite(np.ascontiguousarray(state[:, :-1]).view(np.float64))
            elif key.name == "integers":
                is_right = (state < INTEGER_LIMB) & (state >= [-DIGIT_HIGHEST, 0])
            else:
                is_right = state >= 0
            if not is_right.all():
                raise ValueError(f"{key.name} of a group")

    def _check_entries(self, name: str, rows: np.ndarray, records: np.ndarray) -> None:
        """Check that each entry is referred to once, so that loops neither stray nor repeat."""
        used = records[:, self._list_places(name)].ravel()
        if name == "blocks":
            is_right = np.abs(rows[:, BLOCK_COUNTS:]) <= DIGIT_HIGHEST
        else:
            used = np.concatenate([used, rows[:, LESSER : GREATER + 1].ravel()])
            is_right = rows[:, 1] > 0
        used = np.sort(used[used != 0])
        if not is_right.all() or not np.array_equal(used, np.arange(1, len(rows) + 1)):
            raise ValueError(f"{name} of groups")
        if name == "nodes":
            _check_counts(rows, records[:, self.layout.list_counted_trees()].ravel())


def _check_counts(rows: np.ndarray, roots: np.ndarray) -> None:
    """Check that nodes of counted trees have more copies than the trees below them."""
    nodes, copies = roots[roots > 0], np.concatenate([[0], rows[:, 1]])
    while len(nodes):
        below = rows[nodes - 1, LESSER : GREATER + 1]
        if (copies[below].sum(1) >= copies[nodes]).any():
            raise ValueError("copies of nodes of groups")
        nodes = below[below > 0]
