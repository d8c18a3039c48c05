"""The outputs of a run, in a form that is equal for equal results; and where two of them differ."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.storage.differences import describe_differences
from rtbot.tables.digests import digest_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Table = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class OutputDifference:
    """The first place where two runs differ.

    `output` has another row at place `row`, counted from 0 in the order of (key, t): `expected` and
    `found` are its cells (key..., t, value), None where there is no such row. Otherwise `told` is
    what differs.
    """

    output: str = ""
    row: int = 0
    expected: tuple[Any, ...] | None = None
    found: tuple[Any, ...] | None = None
    told: str = ""


@dataclass(frozen=True)
class Outputs:
    """The rows of every output by key, those of a key as they were released.

    `account` is what the run counted, None where that is not known; `fault` what it raised.
    """

    tables: Mapping[str, Table] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    account: Mapping[str, Any] | None = None
    fault: str = ""

    @property
    def rows(self) -> dict[str, int]:
        """How many rows every output has."""
        return {name: len(table["t"]) for name, table in self.tables.items()}

    def digests(self) -> dict[str, str]:
        """Return the digest of every output."""
        return {name: digest_table(table, self.key) for name, table in self.tables.items()}

    def drop_nulls(self) -> Outputs:
        """Return the same without null messages, and without what was counted."""
        tables: dict[str, Table] = {}
        for name, table in self.tables.items():
            valid = table.get("value_valid", slice(None))
            columns = (column for column in table if column != "value_valid")
            tables[name] = {column: table[column][valid] for column in columns}
        return Outputs(tables, self.key)


def sort_by_key(table: Table, key: Sequence[str]) -> Table:
    """Return the rows by key; those of a key stay in their order."""
    if not key:
        return table
    order = np.lexsort([_rank_values(table[name]) for name in reversed(key)])
    return {name: column[order] for name, column in table.items()}


def is_ordered(table: Table, key: Sequence[str]) -> bool:
    """Return whether the rows are in the order of (key, t), as those of every result have to be."""
    heads = [table["t"], *(_rank_values(table[name]) for name in reversed(key))]
    order = np.lexsort(heads)
    return bool((order[1:] > order[:-1]).all())


def _rank_values(column: np.ndarray) -> np.ndarray:
    """Return numbers in the order of the values: integers, text by code point, null last."""
    if column.dtype != object:
        return column
    cells = column.tolist()
    ranks = {value: rank for rank, value in enumerate([*sorted({*cells} - {None}), None])}
    return np.fromiter((ranks[cell] for cell in cells), np.int64, len(cells))


def find_difference(right: Outputs, other: Outputs) -> OutputDifference | None:
    """Return where another run differs from the right one; None if it does not."""
    if right.fault or other.fault:
        return OutputDifference(told=other.fault or f"one push: {right.fault}")
    for name, table in right.tables.items():
        found = _find_first(table, other.tables[name], right.key)
        if found is not None:
            expected = _read_row(table, right.key, found)
            return OutputDifference(
                name, found, expected, _read_row(other.tables[name], right.key, found)
            )
    if right.account is not None and other.account is not None:
        lines = describe_differences(right.account, other.account)
        return OutputDifference(told=f"the account differs: {lines}") if lines else None
    return None


def _find_first(left: Table, right: Table, key: Sequence[str]) -> int | None:
    """Return the first row in which two tables differ by a bit."""
    count = min(len(left["t"]), len(right["t"]))
    differs = np.zeros(count, np.bool_)
    for name in (*key, "t"):
        differs |= np.asarray(left[name][:count] != right[name][:count], np.bool_)
    cells = [_to_bits(table["value"][:count]) for table in (left, right)]
    unlike = np.asarray(cells[0] != cells[1], np.bool_)
    if "value_valid" in left:
        valid = [table["value_valid"][:count] for table in (left, right)]
        unlike = (valid[0] != valid[1]) | (unlike & valid[0])
    differs |= unlike
    if differs.any():
        return int(differs.argmax())
    return None if len(left["t"]) == len(right["t"]) else count


def _to_bits(column: np.ndarray) -> np.ndarray:
    return column.view(np.int64) if column.dtype == np.float64 else column


def _read_row(table: Table, key: Sequence[str], place: int) -> tuple[Any, ...] | None:
    if place >= len(table["t"]):
        return None
    cells = [table[name][place : place + 1].tolist()[0] for name in (*key, "t", "value")]
    if "value_valid" in table and not table["value_valid"][place]:
        cells[-1] = None
    return tuple(cells)


def format_row(row: Sequence[Any] | None, other: Sequence[Any] | None = None) -> str:
    """Return a row as text; with the bits of its number where the other would read the same."""
    if row is None:
        return "no row"
    cells = ["null" if cell is None else str(cell) for cell in row]
    if other is not None and cells == ["null" if cell is None else str(cell) for cell in other]:
        cells[-1] += f" (bits {struct.pack('>d', row[-1]).hex()})"
    return ", ".join(cells)
