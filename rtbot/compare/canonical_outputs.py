"""The outputs of a run, in a form that is equal for equal results; and where two of them differ."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.storage.differences import describe_differences
from rtbot.tables.change_rows import name_time, name_weight
from rtbot.tables.digests import digest_changes, digest_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.operator.schema import Schema

    Table = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class OutputDifference:
    """The first place where two runs differ.

    `output` has another row at place `row`, counted from 0 in the order of (key, t): `expected` and
    `found` are its cells, of these `columns`, None where there is no such row. Otherwise `told` is
    what differs.
    """

    output: str = ""
    row: int = 0
    expected: tuple[Any, ...] | None = None
    found: tuple[Any, ...] | None = None
    told: str = ""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outputs:
    """The rows of every output by key, those of a key as they were released.

    `account` is what the run counted, None where that is not known; `fault` what it raised.
    `schemas` are those of the outputs that are changes, whose rows are in their own order.
    """

    tables: Mapping[str, Table] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    account: Mapping[str, Any] | None = None
    fault: str = ""
    schemas: Mapping[str, Schema] = field(default_factory=dict)

    @property
    def rows(self) -> dict[str, int]:
        """How many rows every output has."""
        return {name: len(next(iter(table.values()))) for name, table in self.tables.items()}

    def digests(self) -> dict[str, str]:
        """Return the digest of every output."""
        return {
            name: digest_changes(table, self.schemas[name])
            if name in self.schemas
            else digest_table(table, self.key)
            for name, table in self.tables.items()
        }

    def list_columns(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the columns that order the rows of an output, and those of values."""
        schema = self.schemas.get(name)
        if schema is None:
            return (*self.key, "t"), ("value",)
        return (name_time(schema.names), name_weight(schema.names)), tuple(schema.names)

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
        heads, values = right.list_columns(name)
        found = _find_first(table, other.tables[name], heads, values)
        if found is not None:
            columns = (*heads, *values)
            expected = _read_row(table, columns, found)
            row = _read_row(other.tables[name], columns, found)
            return OutputDifference(name, found, expected, row, columns=columns)
    if right.account is not None and other.account is not None:
        lines = describe_differences(right.account, other.account)
        return OutputDifference(told=f"the account differs: {lines}") if lines else None
    return None


def _find_first(
    left: Table, right: Table, heads: Sequence[str], values: Sequence[str]
) -> int | None:
    """Return the first row in which two tables differ by a bit."""
    lengths = [len(table[heads[-1]]) for table in (left, right)]
    count = min(lengths)
    differs = np.zeros(count, np.bool_)
    for name in heads:
        differs |= np.asarray(left[name][:count] != right[name][:count], np.bool_)
    for name in values:
        cells = [_to_bits(table[name][:count]) for table in (left, right)]
        unlike = np.asarray(cells[0] != cells[1], np.bool_)
        if f"{name}_valid" in left:
            valid = [table[f"{name}_valid"][:count] for table in (left, right)]
            unlike = (valid[0] != valid[1]) | (unlike & valid[0])
        differs |= unlike
    if differs.any():
        return int(differs.argmax())
    return None if lengths[0] == lengths[1] else count


def _to_bits(column: np.ndarray) -> np.ndarray:
    return column.view(np.int64) if column.dtype == np.float64 else column


def _read_row(table: Table, columns: Sequence[str], place: int) -> tuple[Any, ...] | None:
    if place >= len(table[columns[0]]):
        return None
    return tuple(
        table[name][place : place + 1].tolist()[0]
        if f"{name}_valid" not in table or table[f"{name}_valid"][place]
        else None
        for name in columns
    )


def format_row(row: Sequence[Any] | None, other: Sequence[Any] | None = None) -> str:
    """Return a row as text; with the bits of its number where the other would read the same."""
    if row is None:
        return "no row"
    cells = ["null" if cell is None else str(cell) for cell in row]
    if other is not None and cells == ["null" if cell is None else str(cell) for cell in other]:
        cells[-1] += f" (bits {struct.pack('>d', row[-1]).hex()})"
    return ", ".join(cells)
