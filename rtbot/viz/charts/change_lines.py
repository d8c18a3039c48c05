"""What a chart shows of a change output: how many rows there are, or the numbers of a few rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrays import put_nulls
from rtbot.tables.change_rows import name_time, name_weight

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rtbot.operator.schema import Schema
    from rtbot.viz.charts.downsample import Collector

    Table = Mapping[str, np.ndarray]

GROUPS = 4
"""So many rows have lines of their own at most."""


class ChangeLines:
    """The lines of one output, as step lines: a value holds until the next one.

    Rows with a unique key have a line for every number beside the key, as long as there are few
    keys; of all others it is shown how many rows there are. `key` are the key columns of the run,
    which changes do not have.
    """

    def __init__(self, name: str, schema: Schema, key: Sequence[str] = ()) -> None:
        self.name, self.schema = name, schema
        self._heads = dict.fromkeys(key)
        self._unique = min(schema.unique, key=len, default=None)
        fields = [f.name for f in schema if f.type.kind in ("integer", "number")]
        self._fields = [f for f in fields if self._unique is not None and f not in self._unique]
        self._rows = 0
        self._groups: dict[tuple[Any, ...], list[str]] = {}
        self._ends: dict[str, tuple[int, float]] = {}

    @property
    def names(self) -> list[str]:
        """The names of the lines."""
        lines = [name for group in self._groups.values() for name in group]
        return lines if self._unique == () and self._fields else [f"{self.name} (rows)", *lines]

    def add(self, table: Table, collected: Collector) -> None:
        """Take the table of a push, and give the lines to the chart."""
        times = table[name_time(self.schema.names)]
        weights = table[name_weight(self.schema.names)]
        if not len(times):
            return
        last = _find_last(times)
        counts = self._rows + np.cumsum(weights)[last]
        self._rows = int(counts[-1])
        if self._unique != () or not self._fields:
            self._draw(f"{self.name} (rows)", times[last], counts.astype(np.float64), collected)
        if self._fields:
            self._add_groups(table, times, weights, collected)
        if len(self._groups) > GROUPS:
            self._fields = []
            for group in self._groups.values():
                collected.drop(group)
            self._groups = {}

    def extend(self, end: int, collected: Collector) -> None:
        """Let the lines hold their values up to a time."""
        for name in self.names:
            time, value = self._ends.get(name, (end, 0.0))
            if time < end:
                heads: dict[str, Any] = {head: np.array([None], object) for head in self._heads}
                line = {"t": np.array([end]), "value": np.array([value])}
                collected.add({name: heads | line})

    def _add_groups(
        self, table: Table, times: np.ndarray, weights: np.ndarray, collected: Collector
    ) -> None:
        for key, rows in self._split(table, len(times)):
            if key not in self._groups:
                more = "".join(f" {_format_cell(part)}" for part in key)
                self._groups[key] = [f"{self.name}.{field}{more}" for field in self._fields]
            if len(self._groups) > GROUPS:
                return
            own = rows[_find_last(times[rows])]
            for field, name in zip(self._fields, self._groups[key], strict=True):
                valid = weights[own] > 0
                if f"{field}_valid" in table:
                    valid &= table[f"{field}_valid"][own]
                values = np.where(valid, table[field][own].astype(np.float64), np.nan)
                self._draw(name, times[own], values, collected)

    def _split(self, table: Table, count: int) -> Iterator[tuple[tuple[Any, ...], np.ndarray]]:
        """Yield the keys and the places of their rows; one key more than are shown at most."""
        if not self._unique:
            yield (), np.arange(count)
            return
        columns = [
            put_nulls(table[field].tolist(), table.get(f"{field}_valid")) for field in self._unique
        ]
        places: dict[tuple[Any, ...], list[int]] = {}
        for place, key in enumerate(zip(*columns, strict=True)):
            places.setdefault(key, []).append(place)
            if len(places) > GROUPS:
                break
        for key, rows in places.items():
            yield key, np.array(rows)

    def _draw(self, name: str, times: np.ndarray, values: np.ndarray, collected: Collector) -> None:
        """Give points to the chart, and before each, if there is room, one with the old value."""
        before = self._ends.get(name, (int(times[0]), float(values[0])))
        self._ends[name] = int(times[-1]), float(values[-1])
        earlier = np.concatenate([[before[0]], times[:-1]])
        held = np.concatenate([[before[1]], values[:-1]])
        steps = np.flatnonzero(times > np.maximum(earlier, earlier + 1))
        stepped = np.insert(times, steps, times[steps] - 1)
        heads: dict[str, Any] = {head: np.full(len(stepped), None, object) for head in self._heads}
        line = {"t": stepped, "value": np.insert(values, steps, held[steps])}
        collected.add({name: heads | line})


def _format_cell(cell: Any) -> str:
    if cell is None:
        return "null"
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


def _find_last(times: np.ndarray) -> np.ndarray:
    """Return the places of the last row of every time."""
    found: np.ndarray = np.flatnonzero(np.append(times[1:] != times[:-1], True))
    return found
