"""The edge of a session of stages: what tables have to hold, and tables of outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrays import allocate_columns, put_nulls
from rtbot.core.errors import DataError, StateError
from rtbot.runtime.input_options import InputOptions, make_specs
from rtbot.tables.change_rows import ChangeSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.core.batch import Column
    from rtbot.graph.model import Io
    from rtbot.operator import Type
    from rtbot.operator.schema import Field
    from rtbot.runtime.staged_plan import StagedPlan
    from rtbot.tables import TableSpec

    Spec = TableSpec | ChangeSpec


def check_run_key(plan: StagedPlan, io: Io, key: Sequence[str] | None) -> tuple[str, ...]:
    """Return the run's key; raise StateError for another than that of the graph's `io`."""
    if key is not None and tuple(key) != io.key:
        message = "the key of a graph with change streams is that of its io"
        hint = "write it in the graph, with its type: io: {key: {COLUMN: text}}"
        if all(one.type.schema is not None for one in plan.checked.inputs.values()):
            hint = "key is for series: GroupBy computes for each value of a field"
        raise StateError(message, code="RT303", hint=hint)
    return tuple(io.key)


def find_key_fields(plan: StagedPlan, key: Sequence[str]) -> tuple[Field, ...]:
    """Return the key columns as fields, if there is a ToChanges that puts them in rows."""
    for stage in plan.stages:
        for source in stage.sources:
            schema = source.type.schema
            if schema is not None and source.reads_series:
                return schema.fields[: len(key)]
    return ()


def make_all_specs(
    plan: StagedPlan, io: Io, options: InputOptions, key: tuple[str, ...]
) -> dict[str, Spec]:
    """Return what the table of every input has to hold."""
    inputs = plan.checked.inputs
    series = make_specs(inputs, io, options, key)
    found: dict[str, Spec] = {}
    for name, declared in inputs.items():
        schema, spec = declared.type.schema, series[name]
        found[name] = spec
        if schema is not None:
            found[name] = ChangeSpec(name, schema, spec.unit, spec.time, spec.clock, spec.given)
    return found


def make_empty_table(type_: Type, key: Sequence[str]) -> dict[str, Any]:
    """Return the table of an output of series without rows."""
    column: Column = allocate_columns([type_], 0)[0]
    value = np.empty(0, object) if type_.kind == "text" else column.value
    table = {name: np.empty(0, np.int64) for name in key} | {"t": np.empty(0, np.int64)}
    table["value"] = value
    return table | ({} if column.valid is None else {"value_valid": column.valid})


def list_messages(table: Mapping[str, Any], key: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the messages of a series as push_one does: (t, value) or (key, t, value)."""
    values = put_nulls(table["value"].tolist(), table.get("value_valid"))
    times = table["t"].tolist()
    if not key:
        return list(zip(times, values, strict=True))
    keys: list[Any] = list(zip(*(table[name].tolist() for name in key), strict=True))
    if len(key) == 1:
        keys = [one for (one,) in keys]
    return list(zip(keys, times, values, strict=True))


def make_message(
    key: Sequence[str], column: str, time: Any, value: Any, parts: Any
) -> dict[str, list[Any]]:
    """Return one message of a series as a table; `parts` is its key, ... if none is given.

    Raises DataError for a key that does not fit the key columns.
    """
    table = {"t": [time], column: [value]}
    if not key:
        return table
    if parts is ...:
        hint = f"push_one(name, t, value, key=...) for {', '.join(key)}"
        raise DataError("this session has a key", code="RT303", hint=hint)
    cells = parts if isinstance(parts, tuple) else (parts,)
    if len(cells) != len(key):
        message = f"a key has {len(key)} values, not {len(cells)}"
        raise DataError(message, code="RT207")
    return table | {name: [cell] for name, cell in zip(key, cells, strict=True)}
