"""Keys of a session: any number of columns of integers or text, null allowed, to slots and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rtbot.core.arrays import distinct, grow_array
from rtbot.core.errors import DataError
from rtbot.tables.string_dictionary import NULL_TEXT, StringDictionary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from rtbot.runtime.state_owner import Saved

TABLE_SIZE_MIN, MANY = 16, 1024


def detect_key_kind(column: Any) -> str | None:
    """Return integer or text; None for a column that holds nothing but nulls, or nothing."""
    if isinstance(column, tuple):
        return "integer" if column[1].any() else None
    if isinstance(column, np.ndarray):
        return "integer"
    return "text" if len(column.values) else None


def find_null_rows(column: Any) -> np.ndarray | None:
    """Return which rows of a key column are null, or None if none is."""
    if isinstance(column, np.ndarray):
        return None
    absent = ~column[1] if isinstance(column, tuple) else column.codes < 0
    return absent if absent.any() else None


class Mark(NamedTuple):
    """What `KeyTable.roll_back` needs to forget all that came after."""

    kinds: list[str | None] | None
    texts: list[tuple[int, int]]
    used: int
    ordered: bool
    room: tuple[int, int]


class KeyTable:
    """The table of keys. A slot is a small integer; slots of closed keys are used again."""

    def __init__(self, names: Sequence[str], kernels: ModuleType) -> None:
        self.names = tuple(names)
        self.kernels = kernels
        self.kinds: list[str | None] | None = None
        self.nulls = False
        self.texts = [StringDictionary() for _ in self.names]
        self.words = np.zeros(TABLE_SIZE_MIN, np.int64)
        self.table = np.full(2 * TABLE_SIZE_MIN, -1, np.int64)
        self.count = 0
        self.free: list[int] = []
        self.ordered = True
        self._taken: list[int] = []

    @property
    def width(self) -> int:
        """Words per key: one per column, and a mask of null integers where there are any."""
        return len(self.names) + self.nulls

    # ---- lookup

    def encode(self, columns: Sequence[Any]) -> np.ndarray:
        """Encode key columns as words, flat, `width` a row; null is 0 and a bit of the mask."""
        self._note_kinds([detect_key_kind(c) for c in columns])
        nulls = [find_null_rows(c) for c in columns]
        if not self.nulls and any(n is not None for n in nulls):
            self._allow_nulls()
        parts: list[np.ndarray] = []
        first = columns[0]
        mask = np.zeros(len(first[0] if isinstance(first, tuple) else first), np.int64)
        for place, (column, absent) in enumerate(zip(columns, nulls, strict=True)):
            part = column[0] if isinstance(column, tuple) else column
            if not isinstance(part, np.ndarray):
                part = self.texts[place].encode(part)
            if absent is not None:
                part = np.where(absent, 0, part)
                mask |= absent.astype(np.int64) << place
            parts.append(part)
        if self.nulls:
            parts.append(mask)
        return parts[0] if len(parts) == 1 else np.ascontiguousarray(np.stack(parts, 1)).ravel()

    def _note_kinds(self, kinds: list[str | None]) -> None:
        known = self.kinds or [None] * len(kinds)
        for name, kind, before in zip(self.names, kinds, known, strict=True):
            if kind != before and kind is not None and before is not None:
                message = f"key column {name} holds {kind}, but {before} before"
                raise DataError(message, code="RT212")
        self.kinds = [b or k for k, b in zip(kinds, known, strict=True)]

    def _allow_nulls(self) -> None:
        width = self.width
        words = np.zeros((max(self.count, TABLE_SIZE_MIN), width + 1), np.int64)
        words[: self.count, :width] = self.words[: self.count * width].reshape(-1, width)
        self.nulls, self.words = True, words.ravel()
        self._rebuild(len(self.table))

    def find(self, words: np.ndarray) -> tuple[np.ndarray, int]:
        """Return slots (int32) of the keys, -1 where unknown, and how many are unknown."""
        width = self.width
        rows = len(words) // width
        slots = np.empty(rows, np.int32)
        mask = len(self.table) - 1
        if width == 1:
            missing = self.kernels.find_1(words, rows, self.table, mask, self.words, slots)
        else:
            missing = self.kernels.find_many(
                words, rows, width, self.table, mask, self.words, slots
            )
        return slots, int(missing)

    def add(self, words: np.ndarray) -> np.ndarray:
        """Give slots to new keys (words of rows, repeated or not); return the new slots."""
        width = self.width
        if width == 1 and self.kinds == ["integer"]:
            new = distinct(words)[:, None]
        else:
            new = self._distinct(words.reshape(-1, width))
        slots = self._take_slots(len(new))
        known = self.words.reshape(-1, width)
        before = known[self.count - 1] if self.count else None
        reused = bool(len(slots)) and int(slots[0]) < self.count
        known[slots] = new
        if self.ordered and len(slots):
            self.ordered = not reused and self._is_after(before, new[:1])
        self.count = max(self.count, int(slots.max(initial=-1)) + 1)
        self.kernels.insert(slots, len(slots), width, self.table, len(self.table) - 1, self.words)
        return slots

    def _is_after(self, before: Any, first: np.ndarray) -> bool:
        if before is None:
            return True
        if self.kinds == ["integer"] and self.width == 1:
            return bool(before[0] < first[0][0])
        return list(self._sort_words(np.stack([before, first[0]]))) == [0, 1]

    def _take_slots(self, wanted: int) -> np.ndarray:
        again = min(wanted, len(self.free))
        total = self.count + wanted - again
        if total * self.width > len(self.words):
            self.words = grow_array(self.words, max(total, 2 * self.count) * self.width, 0)
        if 2 * total > len(self.table):  # while the free slots are still known to be free
            self._rebuild(1 << (4 * total - 1).bit_length())
        reuse = [self.free.pop() for _ in range(again)]
        self._taken += reuse
        fresh = np.arange(self.count, total)
        return np.concatenate([np.array(sorted(reuse), np.int64), fresh])

    def _rebuild(self, size: int) -> None:
        table, slots = np.full(size, -1, np.int64), self.find_open()
        self.kernels.insert(slots, len(slots), self.width, table, size - 1, self.words)
        self.table = table

    def _replace(self, words: np.ndarray, count: int) -> None:
        """Replace all keys by these."""
        if len(words) != count * self.width:
            raise ValueError("keys that are not there")
        total = max(count, TABLE_SIZE_MIN)
        self.words = grow_array(words, total * self.width, 0)
        self.count, self.free = count, []
        self._rebuild(1 << (4 * total - 1).bit_length())

    def fill(self, slots: np.ndarray, words: np.ndarray) -> None:
        """Replace all keys by these, int64[n, width], in these slots; others are free."""
        count = int(slots.max(initial=-1)) + 1
        self.words = np.zeros(max(count, TABLE_SIZE_MIN) * self.width, np.int64)
        self.words.reshape(-1, self.width)[slots] = words
        self.count, self.ordered = count, False
        self.free = np.setdiff1d(np.arange(count), slots)[::-1].tolist()
        self._rebuild(1 << (4 * max(count, TABLE_SIZE_MIN) - 1).bit_length())

    def save(self, slots: np.ndarray) -> Saved:
        """Return the keys of these slots and the texts in them, in this order."""
        words = self.rows_of(slots)
        nulls = bool(self.nulls and words[:, -1].any())
        arrays = {"words": words[:, : len(self.names) + nulls].ravel()}
        texts = []
        for place, known in enumerate(self.texts):
            found, arrays[f"texts.{place}"] = known.save([words[:, place]])
            texts.append(found)
        return {"kinds": self.kinds, "nulls": nulls, "texts": texts, "count": len(slots)}, arrays

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what was saved in place of all keys: slots in the order of the keys."""
        self.kinds, self.nulls = values["kinds"], values["nulls"]
        for place, (known, texts) in enumerate(zip(self.texts, values["texts"], strict=True)):
            known.load(texts, arrays[f"texts.{place}"])
        self.ordered = values.get("ordered", True)
        self._replace(arrays["words"], values["count"])

    def drop(self, slots: Sequence[int]) -> None:
        """Take keys out; their slots may be used again."""
        mask = len(self.table) - 1
        self.free += map(int, slots)
        if len(slots) > MANY:
            self._rebuild(len(self.table))
            return
        for slot in slots:
            self.kernels.remove(int(slot), self.width, self.table, mask, self.words)

    def forget_room(self) -> bool:
        """Shrink to few slots if there are many and no key is open; return whether it did."""
        if len(self.free) < self.count or self.count < MANY:
            return False
        self.ordered = True
        self._replace(np.zeros(0, np.int64), 0)
        return True

    def forget_texts(self) -> None:
        """Forget the texts of no open key, if it is time to."""
        if any(texts.is_crowded() for texts in self.texts):
            words = self.rows_of(self.find_open())
            for place, texts in enumerate(self.texts):
                texts.keep([words[:, place]])

    def rows_of(self, slots: np.ndarray) -> np.ndarray:
        """Return the words of these keys, a row each."""
        rows: np.ndarray = self.words[: self.count * self.width].reshape(-1, self.width)[slots]
        return rows

    # ---- what is refused leaves no key

    def mark(self) -> Mark:
        """Return what `roll_back` needs."""
        self._taken = []
        texts = [t.mark() for t in self.texts]
        room = len(self.words) // self.width, len(self.table)
        return Mark(self.kinds, texts, self.count, self.ordered, room)

    def roll_back(self, mark: Mark) -> None:
        """Forget the keys and texts that came after the mark; their kinds are open again.

        A word for nulls, once allocated, stays: no dump has it unless an open key is null.
        """
        added = [*self._taken, *range(mark.used, self.count)]
        many = len(added) > mark.used
        if not many:
            mask = len(self.table) - 1
            for slot in added:
                self.kernels.remove(slot, self.width, self.table, mask, self.words)
        self.free += reversed(self._taken)
        self._taken = []
        self.kinds, self.count, self.ordered = mark.kinds, mark.used, mark.ordered
        if many:
            self.words = grow_array(self.words, mark.room[0] * self.width, 0)
            self._rebuild(mark.room[1])
        for texts, before in zip(self.texts, mark.texts, strict=True):
            texts.roll_back(before)

    # ---- one key

    def encode_key(self, key: Any) -> np.ndarray:
        """Encode one key given by value, a tuple where there are several columns, as words."""
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) != len(self.names):
            message = f"a key has {len(self.names)} columns here, not {len(parts)}: {key!r}"
            raise DataError(message, code="RT212")
        return self.encode([self._make_key_column(part) for part in parts])

    @staticmethod
    def _make_key_column(part: Any) -> Any:
        from rtbot.tables import TextColumn

        if isinstance(part, str):
            return TextColumn(np.zeros(1, np.int64), [part])
        if part is None:
            return np.zeros(1, np.int64), np.zeros(1, bool)
        if isinstance(part, bool) or not hasattr(part, "__index__"):
            raise DataError(f"a key is an integer or text, not {part!r}", code="RT212")
        value = part.__index__()
        if not -(2**63) <= value < 2**63:
            raise DataError(f"a key does not fit into 64 bits: {part!r}", code="RT213")
        return np.array([value], np.int64)

    def find_slot(self, key: Any, *, create: bool) -> int:
        """Return the slot of one key, -1 if it is unknown and not to be created."""
        words = self.encode_key(key)
        slots, missing = self.find(words)
        if missing and not create:
            return -1
        return int(self.add(words)[0]) if missing else int(slots[0])

    # ---- order and output

    def sort(self, slots: np.ndarray) -> np.ndarray:
        """Sort the slots in the order of their keys: columns left to right, null last."""
        if self.ordered:
            return np.sort(slots)
        if self.width == 1 and self.kinds == ["integer"]:
            order = np.argsort(self.words[slots])
        else:
            order = self._sort_words(self.words.reshape(-1, self.width)[slots])
        ordered: np.ndarray = slots[order]
        return ordered

    def _sort_words(self, words: np.ndarray) -> np.ndarray:
        assert self.kinds is not None
        columns: list[np.ndarray] = []
        for place, kind in enumerate(self.kinds):
            column = words[:, place]
            if self.nulls:
                columns.append(words[:, -1] >> place & 1)
            columns.append(self.texts[place].ranks(column) if kind == "text" else column)
        order: np.ndarray = np.lexsort(columns[::-1])
        return order

    def _distinct(self, words: np.ndarray) -> np.ndarray:
        """Return the distinct rows, in the order of their keys: equal ones are side by side."""
        words = words[self._sort_words(words)]
        begins = np.ones(len(words), np.bool_)
        np.any(words[1:] != words[:-1], axis=1, out=begins[1:])
        found: np.ndarray = words[begins]
        return found

    def decode_keys(self, slots: np.ndarray) -> dict[str, np.ndarray]:
        """Return the key columns of these slots: int64, or objects where text or null."""
        if self.kinds is None:
            return {name: np.zeros(0, np.int64) for name in self.names}
        words = self.words.reshape(-1, self.width)[slots]
        result = {}
        for place, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True)):
            column = words[:, place]
            absent = words[:, -1] >> place & 1 == 1 if self.nulls else None
            if kind == "text":
                codes = column if absent is None else np.where(absent, NULL_TEXT, column)
                column = self.texts[place].decode(codes)
            elif absent is not None and absent.any():
                column = column.astype(object)
                column[absent] = None
            result[name] = np.ascontiguousarray(column)
        return result

    def decode_key(self, slot: int) -> Any:
        """Return the key of a slot, a tuple where there are several columns."""
        parts = tuple(c[0] for c in self.decode_keys(np.array([slot])).values())
        parts = tuple(p.item() if isinstance(p, np.generic) else p for p in parts)
        return parts if len(parts) > 1 else parts[0]

    def list_open_slots(self) -> np.ndarray:
        """Return the slots of all keys, in the order of the keys."""
        return self.sort(self.find_open())

    def find_open(self) -> np.ndarray:
        """Return the slots of all keys, ascending."""
        is_open = np.ones(self.count, np.bool_)
        is_open[self.free] = False
        return np.flatnonzero(is_open)
