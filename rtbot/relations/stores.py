"""What change operators remember: rows by their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rtbot.compiler.tiers.tiered_module import InterpretedFunction
from rtbot.core.growing_arrays import allocate_growing, extend_array
from rtbot.relations.row_codec import MASK_BITS, list_text_words
from rtbot.tables.hash_tables import EMPTY, LIMIT, USED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

    from rtbot.operator.schema import Schema

    Saved = tuple[dict[str, Any], dict[str, np.ndarray]]

ROOM_AT_FIRST = 16
DOUBLED, MORE = 4096, 1.5
"""So many rows and fewer are doubled; more grow by this factor."""

AHEAD = 64
"""So many rows are looked up in advance, to wait for memory once; a power of two."""

LOAD = 0.75
"""How full the table of a store may be."""


class Store:
    """Rows of a schema, each with columns of int64 of its own, found by a key.

    The key are the fields `unique`, or the whole row; null is equal to null in it. All that is
    remembered are `words` and `columns` of the ids in use, flat, and what finds them: `table` and
    `meta` as in rtbot/tables/hash_tables.py. Columns of free ids are 0. These are other arrays
    whenever `growths` has changed.
    """

    growths = 0

    def __init__(
        self,
        kernels: ModuleType,
        schema: Schema,
        columns: Mapping[str, int],
        unique: Sequence[str] | None = None,
    ) -> None:
        self.words: np.ndarray
        self.columns: dict[str, np.ndarray]
        self.table: np.ndarray
        self.meta: np.ndarray
        self.kernels, self.schema = kernels, schema
        self.width, self.widths = schema.width, dict(columns)
        self.places, self.bits = list_key_parts(schema, unique)
        self.clear()

    def clear(self) -> None:
        """Forget all rows."""
        self._allocate(ROOM_AT_FIRST)

    def __len__(self) -> int:
        return int(self.meta[2])

    @property
    def capacity(self) -> int:
        """How many ids there is room for."""
        return int(self.meta[LIMIT])

    def grow(self, least: int = 0) -> None:
        """Make room for more rows, and for `least` in all; ids stay."""
        before = self.capacity
        limit = max(2 * before if before < DOUBLED else int(MORE * before), least)
        self.growths += 1
        extend_array(vars(self), "words", limit * self.width)
        for name, width in self.widths.items():
            extend_array(self.columns, name, limit * width)
        table = self._make_table(limit)
        if len(table):
            self.kernels.move_entries(self.table, table)
        self.table = table
        self.meta[LIMIT] = limit

    def list_arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays of the store by name."""
        return {"words": self.words, **self.columns, "table": self.table, "meta": self.meta}

    def count_bytes(self) -> int:
        """Return the bytes of all arrays, without what no row has been written to."""
        row = 8 * (self.width + sum(self.widths.values()))
        return self.table.nbytes + self.meta.nbytes + row * int(self.meta[USED])

    def hash_rows(self, words: np.ndarray) -> np.ndarray:
        """Return the hashes of the keys of rows."""
        tags = np.empty(len(words), np.int64)
        self.kernels.hash_rows(words.reshape(-1), self.width, self.places, self.bits, tags)
        return tags

    def find_ids(self) -> np.ndarray:
        """Return the ids in use, ascending."""
        entries = self.table[self.table != EMPTY]
        return np.sort(entries & 0x7FFFFFFF)

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in the rows."""
        if any(field.type.kind == "text" for field in self.schema):
            yield from list_text_words(self.schema, self._select("words", self.width))

    def save(self) -> Saved:
        """Return the rows and their columns; free ids are left out."""
        arrays = {"words": self._select("words", self.width).ravel()}
        for name, width in self.widths.items():
            arrays[name] = self._select(name, width).ravel()
        return {"rows": len(self)}, arrays

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned in place of all rows; ValueError if it does not fit."""
        rows = values["rows"]
        for name, width in {"words": self.width, **self.widths}.items():
            array = arrays[name]
            if array.dtype != np.int64 or array.shape != (rows * width,):
                raise ValueError(f"{name}: {array.shape} of {array.dtype}, not {rows} by {width}")
        self._allocate(max(rows, ROOM_AT_FIRST))
        self.words[: rows * self.width] = arrays["words"]
        for name, width in self.widths.items():
            self.columns[name][: rows * width] = arrays[name]
        self.meta[:LIMIT] = rows, -1, rows
        index = self.kernels.index_rows
        twin = index(self.table, self.words, rows, self.width, self.places, self.bits)
        if twin >= 0:
            self.clear()
            raise ValueError(f"row {twin} is there twice")

    def _allocate(self, capacity: int) -> None:
        self.words = allocate_growing(capacity * self.width)
        self.columns = {n: allocate_growing(capacity * w) for n, w in self.widths.items()}
        self.table = self._make_table(capacity)
        self.growths += 1
        self.meta = np.array([0, -1, 0, capacity], np.int64)

    def _make_table(self, limit: int) -> np.ndarray:
        """Return an empty table for so many rows."""
        return np.full(int(limit / LOAD) + 2, EMPTY, np.int64)

    def _select(self, name: str, width: int) -> np.ndarray:
        """Return the rows in use of an array."""
        array = self.words if name == "words" else self.columns[name]
        ids = self.find_ids()
        used = int(self.meta[USED])
        rows: np.ndarray = array[: used * width].reshape(used, width)
        return rows.copy() if len(ids) == used else rows[ids]


class Bag(Store):
    """Distinct rows with a count for each port; those whose counts are all 0 are not there."""

    def __init__(
        self,
        kernels: ModuleType,
        schema: Schema,
        ports: int = 1,
        unique: Sequence[str] | None = None,
    ) -> None:
        super().__init__(kernels, schema, {"counts": ports}, unique)
        self.ports = ports

    @property
    def counts(self) -> np.ndarray:
        """The counts of all ports, id after id."""
        return self.columns["counts"]

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore as a store does; counts are not negative, and not all 0."""
        counts = arrays["counts"].reshape(-1, self.ports)
        if (counts < 0).any() or not counts.any(axis=1).all():
            raise ValueError("rows without a count")
        super().restore(values, arrays)

    def list_counts(self) -> dict[tuple[int, ...], tuple[int, ...]]:
        """Return the words of every row with its counts, for tests and messages."""
        words = self._select("words", self.width).tolist()
        counts = self._select("counts", self.ports).tolist()
        return dict(zip(map(tuple, words), map(tuple, counts), strict=True))


class Remembered(Protocol):
    """What keeps the rows of an operator."""

    def count_bytes(self) -> int:
        """Return the bytes of all arrays, without what no row has been written to."""

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in the rows."""

    def save(self) -> Saved:
        """Return the rows: values that JSON can hold, and arrays."""

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""


class StoreOwner:
    """An operator whose state is one store."""

    store: Remembered

    def count_bytes(self) -> int:
        """Return the bytes of its rows."""
        return self.store.count_bytes()

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in its rows."""
        return self.store.list_text_codes()

    def save(self) -> Saved:
        """Return its rows."""
        return self.store.save()

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""
        self.store.restore(values, arrays)


def choose_ahead(kernels: ModuleType) -> int:
    """Return how many rows are looked up in advance, which is of use to compiled code only."""
    return 0 if isinstance(kernels.hash_rows, InterpretedFunction) else AHEAD


def list_key_parts(
    schema: Schema, unique: Sequence[str] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the words of a key, and the bits of them that count."""
    if unique is None:
        return np.arange(schema.width), np.full(schema.width, -1, np.int64)
    places = [schema.place(name) for name in unique]
    masks: dict[int, int] = {}
    for place in places:
        if schema.fields[place].type.nullable:
            word = len(schema.fields) + place // MASK_BITS
            masks[word] = masks.get(word, 0) | 1 << place % MASK_BITS
    bits = [-1] * len(places) + list(masks.values())
    return np.array([*places, *masks], np.int64), np.array(bits, np.int64)
