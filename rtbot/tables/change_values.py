"""The table of a change output: its fields, times and weights; and its rows as Python values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrays import put_nulls
from rtbot.tables.change_rows import name_time, name_weight
from rtbot.tables.output_table import OutputTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.operator.schema import Schema

    ChangeValue = tuple[int, int, dict[str, Any]]


def make_change_table(
    columns: Mapping[str, np.ndarray], time: np.ndarray, weight: np.ndarray, schema: Schema
) -> OutputTable:
    """Return times, weights and the columns of the fields, as results have them."""
    heads = {name_time(schema.names): time, name_weight(schema.names): weight}
    return OutputTable(heads | dict(columns))


def list_changes(table: Mapping[str, np.ndarray], schema: Schema) -> list[ChangeValue]:
    """Return rows (t, weight, {field: value}) of Python's own types; null is None."""
    columns: list[list[Any]] = []
    for field in schema:
        valid = table.get(f"{field.name}_valid") if field.type.nullable else None
        columns.append(put_nulls(table[field.name].tolist(), valid))
    times = table[name_time(schema.names)].tolist()
    weights = table[name_weight(schema.names)].tolist()
    rows = (dict(zip(schema.names, cells, strict=True)) for cells in zip(*columns, strict=True))
    return list(zip(times, weights, rows, strict=True))


def count_rows(
    table: Mapping[str, np.ndarray], schema: Schema, key: Sequence[str] = ()
) -> dict[str, np.ndarray]:
    """Return how many rows there are after each time, as the table of a series; its `key` is null.

    The rows are those of these changes: there are none before.
    """
    times, weights = table[name_time(schema.names)], table[name_weight(schema.names)]
    last = np.ones(len(times), np.bool_)
    np.not_equal(times[1:], times[:-1], out=last[:-1])
    counts = np.cumsum(weights)[last]
    empty: dict[str, np.ndarray] = {name: np.full(len(counts), None, object) for name in key}
    return empty | {"t": times[last], "value": counts}
