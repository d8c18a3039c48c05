"""The rows of a run, held so that any of them can be pushed in any order."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.compare.schedules import Change, Row
from rtbot.tables import Columns
from rtbot.tables.change_rows import ChangeRows
from rtbot.tables.concat import concat_rows
from rtbot.tables.record_column import list_cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Table = Columns | ChangeRows


class Data:
    """Rows of all inputs in one order, which keeps that of every input: by time, where it can.

    `tables` has the rows of every input; row n of the data is row `places[n]` of the table of input
    number `sources[n]`. `key` names the key columns.
    """

    def __init__(
        self,
        tables: Mapping[str, Table],
        key: tuple[str, ...],
        sources: np.ndarray,
        places: np.ndarray,
    ) -> None:
        self.whole, self.key = tables, key
        self.sources, self.places = sources, places

    @classmethod
    def of(cls, tables: Mapping[str, Table], key: tuple[str, ...]) -> Data:
        """Put the rows of tables in order."""
        counts = [len(table) for table in tables.values()]
        newest = [np.maximum.accumulate(table.time) for table in tables.values()]
        order = np.argsort(np.concatenate(newest), kind="stable")
        sources = np.repeat(np.arange(len(counts)), counts)[order]
        places = np.concatenate([np.arange(count) for count in counts])[order]
        return cls(tables, key, sources, places)

    def __len__(self) -> int:
        return len(self.sources)

    def select(self, numbers: Sequence[int] | np.ndarray) -> Data:
        """Keep these rows, whose numbers ascend."""
        chosen = np.asarray(numbers, np.int64)
        return Data(self.whole, self.key, self.sources[chosen], self.places[chosen])

    @property
    def has_changes(self) -> bool:
        """Whether an input has changes."""
        return any(isinstance(table, ChangeRows) for table in self.whole.values())

    def tables(self, numbers: Sequence[int] | np.ndarray | None = None) -> dict[str, Table]:
        """Return tables of these rows, in their order, or of all; only of inputs that have some."""
        chosen = slice(None) if numbers is None else np.asarray(numbers, np.int64)
        sources, places = self.sources[chosen], self.places[chosen]
        found = {
            name: table.take(chosen_rows)
            if isinstance(table, ChangeRows)
            else take_rows(table, chosen_rows)
            for source, (name, table) in enumerate(self.whole.items())
            for chosen_rows in [places[sources == source]]
        }
        return {name: table for name, table in found.items() if len(table)}

    def drop_key(self) -> Data:
        """Return the rows of a single key as those of a run without keys."""
        series = {n: table for n, table in self.whole.items() if isinstance(table, Columns)}
        tables = {name: replace(table, keys=()) for name, table in series.items()}
        return Data(tables, (), self.sources, self.places)

    @cached_property
    def rows(self) -> list[Row]:
        """The rows one by one."""
        cells: list[Any] = [
            _list_changes(table) if isinstance(table, ChangeRows) else table.cells()
            for table in self.whole.values()
        ]
        names = list(self.whole)
        return [
            Row(names[source], row[:-2], row[-2], row[-1])
            for source, place in zip(self.sources.tolist(), self.places.tolist(), strict=True)
            for row in [cells[source][place]]
        ]

    @cached_property
    def keys(self) -> dict[tuple[Any, ...], list[int]]:
        """The numbers of the rows of every key."""
        found: dict[tuple[Any, ...], list[int]] = {}
        for number, row in enumerate(self.rows):
            found.setdefault(row.key, []).append(number)
        return found


def _list_changes(table: ChangeRows) -> list[tuple[int, Change]]:
    """Return the time and the change of every row."""
    columns = map(list_cells, table.columns, table.valid)
    heads = zip(table.time.tolist(), table.weight.tolist(), strict=True)
    rows = zip(heads, zip(*columns, strict=True), strict=True)
    return [(time, Change(weight, cells)) for (time, weight), cells in rows]


def take_rows(table: Columns, rows: np.ndarray) -> Columns:
    """Return these rows of a table."""
    keys = tuple(
        (part[0][rows], part[1][rows]) if isinstance(part, tuple) else part[rows]
        for part in table.keys
    )
    valid = None if table.valid is None else table.valid[rows]
    return Columns(table.time[rows], table.value[rows], valid, keys)


class PushCollector:
    """Tables as they are pushed, to be concatenated; what no input takes (nulls) is left out."""

    def __init__(self, inputs: Iterable[str], key: tuple[str, ...]) -> None:
        self.parts: dict[str, list[Table]] = {name: [] for name in inputs}
        self.key = key

    def add(self, tables: Mapping[str, Table]) -> dict[str, Table]:
        """Take the tables of a push, and return them as they are to be pushed."""
        given: dict[str, Table] = {
            name: replace(table, nulls=0) if isinstance(table, Columns) else table
            for name, table in tables.items()
        }
        for name, table in given.items():
            self.parts[name].append(table)
        return given

    def data(self) -> Data:
        """Return all that was pushed."""
        width = len(self.key)
        return Data.of(
            {name: _concat_tables(parts, width) for name, parts in self.parts.items()}, self.key
        )


def _concat_tables(parts: Sequence[Table], width: int) -> Table:
    """Concatenate tables of one input; without any, the table is empty."""
    if any(len(part) for part in parts):
        return concat_rows(parts)
    nothing = np.empty(0, np.int64)
    return Columns(nothing, nothing.astype(np.float64), None, (nothing,) * width)
