"""From checked tables to the batches of one push: keys to slots, rows to runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.batch import Batch, Column
from rtbot.tables.record_column import RecordColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import ModuleType

    from rtbot.runtime.keys import KeyTable, Mark
    from rtbot.tables import Columns, TableSpec
    from rtbot.tables.string_dictionary import StringDictionary
    from rtbot.tables.text_columns import TextColumn

UNKEYED = np.zeros(1, np.int64)
"""The slots of a run without keys."""


class SortedPush:
    """The tables of one push as batches, all of the same runs: one per slot of `slots`."""

    def __init__(self, tables: Mapping[str, Columns], keys: KeyTable | None) -> None:
        self.tables = tables
        self.keys = keys
        self.slots = UNKEYED
        self.batches: dict[str, Batch] = {}
        self.found: Mapping[str, np.ndarray] = {}

    def locate_row(self, name: str, row: int) -> dict[str, Any]:
        """Return the origin of row `row` of an input's batch: row of the table, time and key."""
        batch, table, found = self.batches[name], self.tables[name], self.found.get(name)
        message: dict[str, Any] = {"row": row, "time": int(batch.time[row])}
        if found is not None:
            run = int(np.searchsorted(batch.starts, row, side="right")) - 1
            slot = int(self.slots[run])
            assert self.keys is not None
            message["key"] = self.keys.decode_key(slot)
            place = row - int(batch.starts[run])
            message["row"] = int(np.flatnonzero(found == slot)[place])
        if table.rows is not None:
            message["row"] = int(table.rows[message["row"]])
        return message


class Ingest:
    """Gives keys slots and texts codes, and sorts rows into runs; can roll that back.

    `codes` gives the codes of texts that a state or a row that waits has.
    """

    def __init__(
        self,
        specs: Mapping[str, TableSpec],
        kernels: ModuleType,
        keys: KeyTable | None,
        texts: StringDictionary,
        codes: Callable[[], Iterable[np.ndarray]],
    ) -> None:
        self.specs = specs
        self.kernels = kernels
        self.keys = keys
        self.texts = texts
        self.codes = codes
        self.place = np.full(1, -1, np.int32)

    # ---- a refused push leaves everything as it was

    def tidy(self) -> None:
        """Forget texts that are of no open key, in no state and wait nowhere, if that is due."""
        if self.texts.is_crowded():
            self.texts.keep(self.codes())
        if self.keys is not None:
            self.keys.forget_texts()

    def mark(self) -> tuple[tuple[int, int], Mark | None]:
        """Return what `roll_back` needs."""
        self.tidy()
        return self.texts.mark(), None if self.keys is None else self.keys.mark()

    def roll_back(self, mark: tuple[tuple[int, int], Mark | None]) -> None:
        """Forget the texts and keys that came after the mark."""
        self.texts.roll_back(mark[0])
        if self.keys is not None:
            assert mark[1] is not None
            self.keys.roll_back(mark[1])

    # ---- keys to slots

    def assign_slots(self, tables: Mapping[str, Columns]) -> dict[str, np.ndarray]:
        """Return slots of the rows of every table that has some; new keys get one."""
        assert self.keys is not None
        width = self.keys.width
        words = {n: self.keys.encode(t.keys) for n, t in tables.items() if len(t)}
        if self.keys.width != width:  # the first null of all: what came before it is narrower
            words = {n: self.keys.encode(t.keys) for n, t in tables.items() if len(t)}
        found: dict[str, np.ndarray] = {}
        for name, flat in words.items():
            slots, missing = self.keys.find(flat)
            if missing:
                new = flat.reshape(-1, self.keys.width)[slots < 0].ravel()
                self.keys.add(new)
                slots, _ = self.keys.find(flat)
            found[name] = slots
        return found

    def grow(self, capacity: int) -> None:
        """Make room for so many keys."""
        if capacity != len(self.place):
            self.place = np.full(capacity, -1, np.int32)

    # ---- rows to runs

    def sort_rows(
        self, tables: Mapping[str, Columns], found: Mapping[str, np.ndarray]
    ) -> SortedPush:
        """Sort the rows by key, those of a key in the order in which they came."""
        runs = SortedPush(tables, self.keys)
        if self.keys is None:
            for name, table in tables.items():
                starts = np.array([0, len(table)])
                columns = self._make_columns(name, table)
                runs.batches[name] = Batch(starts, make_writable(table.time), columns)
            return runs
        runs.found = found
        distinct = np.empty(min(sum(map(len, found.values())), self.keys.count), np.int64)
        count = 0
        for slots in found.values():
            count = self.kernels.mark(slots, len(slots), self.place, distinct, count)
        try:
            order = runs.slots = self.keys.sort(distinct[:count])
            self.kernels.arrange(order, count, self.place)
            for name, table in tables.items():
                runs.batches[name] = self._sort_table(name, table, found.get(name), order)
        finally:
            self.kernels.forget(distinct, count, self.place)
        return runs

    def _make_columns(self, name: str, table: Columns) -> list[Column]:
        value, spec = table.value, self.specs[name]
        if not isinstance(value, RecordColumn):
            return [self._make_column(value, table.valid, nullable=spec.nullable)]
        return [
            self._make_column(column, valid, nullable=field.type.nullable)
            for column, valid, field in zip(value.values, value.valid, spec.fields, strict=True)
        ]

    def _make_column(
        self, value: np.ndarray | TextColumn, valid: np.ndarray | None, *, nullable: bool
    ) -> Column:
        if not isinstance(value, np.ndarray):
            value = self.texts.encode(value)
        if valid is None and nullable:
            valid = np.ones(len(value), bool)
        return Column(make_writable(value), None if valid is None else make_writable(valid))

    def _sort_table(
        self, name: str, table: Columns, slots: np.ndarray | None, order: np.ndarray
    ) -> Batch:
        runs, rows = len(order), len(table)
        starts, ends = np.zeros(runs + 1, np.int64), np.empty(runs, np.int64)
        columns = self._make_columns(name, table)
        time = make_writable(table.time)
        if slots is None or self.kernels.tally(slots, rows, self.place, runs, starts, ends):
            return Batch(starts, time, columns)
        out_time, found = np.empty(rows, np.int64), []
        for column in columns:
            out, valid = np.empty_like(column.value), None
            self.kernels.scatter(slots, rows, self.place, ends, time, column.value, out_time, out)
            if column.valid is not None:
                valid = np.empty(rows, bool)
                ends[:] = starts[:-1]
                self.kernels.scatter_valid(slots, rows, self.place, ends, column.valid, valid)
            np.copyto(ends, starts[:-1])
            found.append(Column(out, valid))
        return Batch(starts, out_time, found)


def make_writable(array: np.ndarray) -> np.ndarray:
    """Return the same memory, not marked read-only: compiled functions are typed by that mark."""
    if array.flags.writeable and array.flags.c_contiguous and array.flags.aligned:
        return array
    if not (array.flags.c_contiguous and array.flags.aligned):
        return np.array(array)
    return np.asarray(_WritableView(array))


class _WritableView:
    """Exposes another array's memory without its read-only mark; nothing here writes to it."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface
