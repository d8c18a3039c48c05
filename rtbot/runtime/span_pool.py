"""The lists of all keys: the words of every list, and the pool of their entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.compiler.span_layout import (
    POOL_FRESH,
    POOL_MISSING,
    POOL_USED,
    POOL_WORDS,
    SPAN_CAPACITY,
    SPAN_COUNT,
    SPAN_FIRST,
    SPAN_FULL,
    SPAN_START,
    SPAN_WORDS,
)
from rtbot.core.arrays import grow_array
from rtbot.core.errors import CheckpointError
from rtbot.runtime.kernels.spans import SPAN_LEAST
from rtbot.runtime.state_owner import OTHER_STATE, WORDS, check_words
from rtbot.storage.differences import describe_differences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import ModuleType

    from rtbot.compiler.layout import StateLayout
    from rtbot.runtime.state_owner import Saved

POOL_LEAST = 1 << 12
"""Words that a pool has at least."""

POOL_SPARE = 8
"""A pool is made smaller if it has so many times the words that its lists use."""

WORD_NAMES = {"count": SPAN_COUNT, "full": SPAN_FULL}
"""The words of a list that a dump has, beside its entries."""


class SpanPool:
    """Lists of entries, by key: each in a block of its own, which doubles when it is full.

    `table` has `SPAN_WORDS` int64 of every list, key after key; `items` is the pool, float64. A
    list is pushed at its end and popped in front; what is popped stays where it is until the list
    moves to the start of its block.
    """

    def __init__(self, layout: StateLayout, kernels: ModuleType, capacity: int) -> None:
        self.kernels = kernels
        self.names = list(layout.spans)
        self.kinds = [layout.spans[name] for name in self.names]
        self.fields = np.array([len(kinds) for kinds in self.kinds], np.int64)
        self.width = len(self.names) * SPAN_WORDS
        self.keys = capacity
        self.places = range(0, self.width, SPAN_WORDS)
        self.table = np.zeros(capacity * self.width, np.int64)
        self.words = memoryview(self.table)
        self.items = np.zeros(POOL_LEAST)
        self.header = np.zeros(POOL_WORDS, np.int64)
        self._one = np.zeros(1, np.int64), np.zeros(2, np.int64)

    def name_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by the names that generated functions have for them."""
        return {
            "spans": self.table,
            "spans_F": self.items,
            "spans_I": self.items.view(np.int64),
        }

    def grow(self, capacity: int) -> None:
        """Make room for so many keys; those beyond are as new."""
        self.table = grow_array(self.table, capacity * self.width, 0)
        self.words = memoryview(self.table)
        self.keys = capacity

    def clear(self, slot: int) -> None:
        """Make the slot as new; its blocks are free when the pool is packed."""
        words = self.table[slot * self.width : (slot + 1) * self.width]
        self.header[POOL_USED] -= (words[SPAN_CAPACITY::SPAN_WORDS] * self.fields).sum()
        words[:] = 0

    def reserve(self, lists: Iterable[int], slots: np.ndarray, starts: np.ndarray) -> bool:
        """Make room in lists for an entry per row of these runs; return whether arrays moved."""
        runs, moved = len(slots), False
        for index in lists:
            place, fields, run = index * SPAN_WORDS, int(self.fields[index]), 0
            while run < runs:
                items = self.items.view(np.int64)
                run = self.kernels.make_room(
                    slots, starts, run, runs, self.table, self.width, place, fields, items,
                    self.header,
                )  # fmt: skip
                if run < runs:
                    self._pack(int(self.header[POOL_MISSING]))
                    moved = True
        if len(self.items) > POOL_SPARE * (int(self.header[POOL_USED]) + self.keys + POOL_LEAST):
            self._pack(0)
            moved = True
        return moved

    def reserve_one(self, slot: int, rows: int) -> bool:
        """Make room for so many entries in all lists of a key; return whether arrays moved."""
        words, at = self.words, slot * self.width
        full = []
        for place in self.places:
            first = at + place
            end = words[first + SPAN_FIRST] + words[first + SPAN_COUNT] + rows
            if end > words[first + SPAN_START] + words[first + SPAN_CAPACITY]:
                full.append(place // SPAN_WORDS)
        if not full:
            return False
        slots, starts = self._one
        slots[0], starts[1] = slot, rows
        return self.reserve(full, slots, starts)

    def _pack(self, missing: int) -> None:
        """Move all blocks to another pool: twice as large as they are, with `missing` more words.

        It has a word more for every key, so that looking at all of them pays.
        """
        words = 2 * int(self.header[POOL_USED]) + missing + self.keys + POOL_LEAST
        items = np.zeros(words)
        self.header[POOL_FRESH] = self.kernels.pack_blocks(
            self.table, self.keys, self.width, self.fields,
            self.items.view(np.int64), items.view(np.int64),
        )  # fmt: skip
        self.items = items

    def count(self, name: str) -> int:
        """Return how many entries a list has, of all keys together."""
        counts = self._read_words(self.names.index(name), SPAN_COUNT, slice(None))
        return int(counts.sum())

    def empty(self, name: str, slots: np.ndarray) -> int:
        """Empty a list of these slots; return how many entries it had."""
        place = self.names.index(name) * SPAN_WORDS + SPAN_COUNT
        counts = self.table.reshape(-1, self.width)[:, place]
        found = int(counts[slots].sum())
        counts[slots] = 0
        return found

    def list_text_codes(self, slots: np.ndarray | slice) -> Iterator[np.ndarray]:
        """Yield the codes of texts in the lists of these slots."""
        for index, kinds in enumerate(self.kinds):
            for field, kind in enumerate(kinds.values()):
                if kind == "text":
                    yield self._read_field(index, field, slots).view(np.int64)

    def _read_words(self, index: int, word: int, slots: np.ndarray | slice) -> np.ndarray:
        """Return a word of a list of these slots."""
        words: np.ndarray = self.table.reshape(-1, self.width)[slots, index * SPAN_WORDS + word]
        return words

    def _read_field(self, index: int, field: int, slots: np.ndarray | slice) -> np.ndarray:
        """Return a field of all entries of a list of these slots, one list after the other."""
        first = self._read_words(index, SPAN_FIRST, slots)
        first = first + field * self._read_words(index, SPAN_CAPACITY, slots)
        counts = self._read_words(index, SPAN_COUNT, slots)
        entries: np.ndarray = self.items[_spread(first, counts)]
        return entries

    # ---- saving

    def save(self, slots: np.ndarray) -> Saved:
        """Return the entries of every list, field by field, and how many there are by key."""
        arrays: dict[str, np.ndarray] = {}
        for index, (name, kinds) in enumerate(zip(self.names, self.kinds, strict=True)):
            for part, word in WORD_NAMES.items():
                arrays[f"{name}.{part}"] = self._read_words(index, word, slots)
            for field, (part, kind) in enumerate(kinds.items()):
                entries = self._read_field(index, field, slots)
                arrays[f"{name}.of.{part}"] = entries.view(WORDS[kind])
        return {"spans": self._describe()}, arrays

    def _describe(self) -> dict[str, str]:
        kinds = [", ".join(f"{n} {k}" for n, k in kinds.items()) for kinds in self.kinds]
        return dict(zip(self.names, kinds, strict=True))

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore lists, each in a block of its own; CheckpointError if there are others now."""
        difference = describe_differences(values["spans"], self._describe())
        if difference:
            message = f"the operators have other lists now: {difference}"
            raise CheckpointError(message, code="RT312", hint=OTHER_STATE)
        for index, (name, kinds) in enumerate(zip(self.names, self.kinds, strict=True)):
            for part, word in WORD_NAMES.items():
                given = arrays[f"{name}.{part}"]
                slots = check_words(part, given, np.dtype(np.int64))
                self.table.reshape(-1, self.width)[:slots, index * SPAN_WORDS + word] = given
            self._place(index)
            first = self._read_words(index, SPAN_START, slice(None))
            capacity = self._read_words(index, SPAN_CAPACITY, slice(None))
            places = _spread(first, self._read_words(index, SPAN_COUNT, slice(None)))
            apart = np.repeat(capacity, self._read_words(index, SPAN_COUNT, slice(None)))
            for field, (part, kind) in enumerate(kinds.items()):
                given = arrays[f"{name}.of.{part}"]
                if check_words(part, given, np.dtype(WORDS[kind])) != len(places):
                    raise ValueError(f"{name}: {len(given)} entries, not {len(places)}")
                self.items[places + field * apart] = given.view(np.float64)

    def _place(self, index: int) -> None:
        """Give a list of every key a block for the entries that it has to have."""
        counts = self._read_words(index, SPAN_COUNT, slice(None))
        if counts.min(initial=0) < 0:
            raise ValueError(f"{self.names[index]}: fewer entries than none")
        fields = int(self.fields[index])
        capacity = np.where(counts > 0, np.maximum(2 * counts, SPAN_LEAST), 0)
        starts = self.header[POOL_FRESH] + fields * (np.cumsum(capacity) - capacity)
        rows = self.table.reshape(-1, self.width)
        rows[:, index * SPAN_WORDS + SPAN_CAPACITY] = capacity
        rows[:, index * SPAN_WORDS + SPAN_START] = starts
        rows[:, index * SPAN_WORDS + SPAN_FIRST] = starts
        words = fields * int(capacity.sum())
        self.header[POOL_USED] += words
        self.header[POOL_FRESH] += words
        room = int(self.header[POOL_FRESH]) + POOL_LEAST
        self.items = grow_array(self.items, room, 0.0)


def _spread(first: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the places of lists one after the other: of each, `counts` from `first` on."""
    before = np.cumsum(counts) - counts
    places: np.ndarray = np.repeat(first - before, counts) + np.arange(counts.sum())
    return places
