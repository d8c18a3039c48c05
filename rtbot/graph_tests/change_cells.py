"""Released changes as rows of tests: (cells, t, weight)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.graph.check.test_changes import FieldCells
from rtbot.runtime.push_one import to_rows
from rtbot.runtime.result import Result
from rtbot.tables.change_values import list_changes
from rtbot.tables.record_column import list_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rtbot.graph.check.test_rows import Row
    from rtbot.operator.schema import Schema
    from rtbot.runtime.staged_plan import StagedPlan
    from rtbot.tables.change_rows import ChangeRows


def list_change_rows(rows: ChangeRows, schema: Schema) -> list[Row]:
    """Return the rows of a file."""
    columns = list(map(list_cells, rows.columns, rows.valid))
    return list(_join(schema, columns, rows.time.tolist(), rows.weight.tolist()))


def list_stage_rows(result: Result, plan: StagedPlan) -> dict[str, Any]:
    """Return the rows of a result as `push_one` returns them."""
    schemas = plan.change_outputs
    series = {name: table for name, table in result.items() if name not in schemas}
    found = to_rows(Result(series, result.key), result.key)
    return found | {name: list_changes(result[name], schemas[name]) for name in schemas}


def collect_stage_rows(
    emitted: dict[str, list[Row]], found: Mapping[str, Any], plan: StagedPlan
) -> None:
    """Add what was released: changes as (cells, t, weight), keys as cells of their own."""
    for name, rows in found.items():
        if name in plan.change_outputs:
            emitted[name] += [(FieldCells(cells.items()), t, weight) for t, weight, cells in rows]
        else:
            several = len(plan.checked.io.key) > 1
            emitted[name] += [(*row[0], *row[1:]) for row in rows] if several else rows


def _join(
    schema: Schema, columns: Sequence[list[Any]], times: list[int], weights: list[int]
) -> Iterator[Row]:
    for cells, time, weight in zip(zip(*columns, strict=True), times, weights, strict=True):
        yield FieldCells(zip(schema.names, cells, strict=True)), time, weight
