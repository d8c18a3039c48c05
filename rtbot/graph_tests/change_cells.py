"""Released changes as rows of tests: (cells, t, weight)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.graph.check.test_changes import FieldCells
from rtbot.tables.change_rows import ChangeRows, name_time, name_weight
from rtbot.tables.text_columns import TextColumn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np

    from rtbot.graph.check.test_rows import Row
    from rtbot.operator.schema import Schema


def list_table_changes(table: Mapping[str, np.ndarray], schema: Schema) -> list[Row]:
    """Return the rows of a table of a result."""
    columns = []
    for field in schema:
        cells, valid = table[field.name].tolist(), table.get(f"{field.name}_valid")
        columns.append(_mask(cells, None if valid is None or not field.type.nullable else valid))
    times, weights = table[name_time(schema.names)], table[name_weight(schema.names)]
    return list(_join(schema, columns, times.tolist(), weights.tolist()))


def list_change_rows(rows: ChangeRows, schema: Schema) -> list[Row]:
    """Return the rows of a file."""
    columns = []
    for values, valid in zip(rows.columns, rows.valid, strict=True):
        cells = values.to_objects() if isinstance(values, TextColumn) else values
        columns.append(_mask(cells.tolist(), valid))
    return list(_join(schema, columns, rows.time.tolist(), rows.weight.tolist()))


def make_change_rows(changes: Iterable[tuple[int, int, Mapping[str, Any]]]) -> list[Row]:
    """Return what `push_one` released of a change output."""
    return [(FieldCells(fields.items()), time, weight) for time, weight, fields in changes]


def _mask(cells: list[Any], valid: np.ndarray | None) -> list[Any]:
    if valid is None:
        return cells
    return [cell if there else None for cell, there in zip(cells, valid.tolist(), strict=True)]


def _join(
    schema: Schema, columns: Sequence[list[Any]], times: list[int], weights: list[int]
) -> Iterator[Row]:
    for cells, time, weight in zip(zip(*columns, strict=True), times, weights, strict=True):
        yield FieldCells(zip(schema.names, cells, strict=True)), time, weight
