"""One table of all inputs as a table for each: wide, a column per input, or long.

The rules are those of files: a wide table has a column named after every input, where an absent
cell is no message; else the columns `input` and `value` give the input of a row and its value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.errors import DataError, suggest_name
from rtbot.core.vector_names import RECORD, VECTOR
from rtbot.tables import text_columns
from rtbot.tables.convert import Columns, TableSpec, convert_table, name_field
from rtbot.tables.forms import TIME_NAMES, Column, open_table
from rtbot.tables.record_column import check_shared

if TYPE_CHECKING:
    from rtbot.tables.convert import AnySpec
    from rtbot.tables.forms import LazyTable


def split_by_input(data: Any, specs: Mapping[str, AnySpec]) -> Mapping[str, Any]:
    """Return a table for each input: `data` is a mapping of them already, or one table of all.

    Raises DataError if it is neither; a change input has a table of its own.
    """
    inputs = list(specs)
    if isinstance(data, Mapping) and not _is_one_table(data, specs):
        return data
    if len(inputs) == 1:
        return {inputs[0]: data}
    series = {name: spec for name, spec in specs.items() if isinstance(spec, TableSpec)}
    if len(series) < len(specs):
        message = "one table cannot feed change streams beside other inputs"
        hint = f"give a table for each input: {{{inputs[0]!r}: table, ...}}"
        raise DataError(message, code="RT214", hint=hint)
    return _split_table(data, series)


def _split_table(data: Any, specs: Mapping[str, TableSpec]) -> Mapping[str, Any]:
    """Return a table for each series of one table of them all."""
    inputs = list(specs)
    first = specs[inputs[0]]
    form = open_table(data, first)
    columns = {name: _name_columns(spec, form) for name, spec in specs.items()}
    missing = [specs[name] for name, names in columns.items() if not {*names} <= {*form}]
    if not missing:
        records = [spec for spec in specs.values() if spec.fields]
        check_shared([name for names in columns.values() for name in names], records)
        return {name: _split_wide(form, spec) for name, spec in specs.items()}
    named = [spec for spec in missing if spec.value is not None or spec.kind == RECORD]
    if not named and "input" in form and "value" in form:
        return _split_long(form, specs)
    raise _make_missing_error((named or missing)[0], form, inputs)


def is_column(table: Any) -> bool:
    """Return whether this is one column, where a table is expected."""
    if isinstance(table, list | tuple):
        return bool(table) and not isinstance(table[0], list | tuple | Mapping)
    if isinstance(table, np.ndarray):
        return table.dtype.names is None
    return hasattr(table, "dtype") and not hasattr(table, "columns")


def _name_columns(spec: TableSpec, form: LazyTable) -> list[str]:
    """Return the columns of an input in a wide table."""
    if not spec.fields:
        return [spec.value or spec.name]
    names = [name_field(form, one.name, spec) for one in spec.fields]
    whole, there = spec.value or spec.name, {*names} & {*form}
    if spec.value or (not there if spec.kind == VECTOR else whole in form and there < {*names}):
        return [whole]
    return names


def _make_missing_error(spec: TableSpec, form: LazyTable, inputs: list[str]) -> DataError:
    column = next(name for name in _name_columns(spec, form) if name not in form)
    hint = suggest_name(column, form)
    if spec.value is not None or spec.fields:
        message = f"the table has no column {column!r} for the input {spec.name}"
        return DataError(message, code="RT204", hint=hint or f"there are {', '.join(form)}")
    message = f"the table has no column {column!r}, nor the columns 'input' and 'value'"
    way = f"give {{{inputs[0]!r}: table, ...}}, or one table with a column for every input"
    way = hint + " " if hint else way + "; "
    way += f"name a column: inputs={{{spec.name!r}: COLUMN}}"
    return DataError(message, code="RT204", hint=way)


def _is_one_table(data: Mapping[str, Any], specs: Mapping[str, AnySpec]) -> bool:
    """Return whether a mapping has columns, one of them times, and not a table for each input."""
    if data.keys() <= specs.keys():
        return False
    given = {name for spec in specs.values() for name in spec.time}
    times = {*TIME_NAMES, *given} - specs.keys()
    return any(name in times for name in data)


def _split_wide(form: LazyTable, spec: TableSpec) -> Columns:
    """Return the messages of an input in a wide table."""
    if spec.fields:
        return convert_table(form, replace(spec, sparse=True, nullable=False))
    strict = replace(spec, value=spec.value or spec.name, nullable=False)
    return replace(convert_table(form, strict), nulls=0)


def _split_long(form: LazyTable, specs: Mapping[str, TableSpec]) -> dict[str, Any]:
    """Return the rows of every input in a long table."""
    names = text_columns.encode_text(form["input"]())
    for code, name in enumerate(names.values):
        if name not in specs:
            row = int(np.argmax(names.codes == code))
            hint = suggest_name(name, specs) or f"the inputs are {', '.join(specs)}"
            message = f"there is no input {name!r}"
            raise DataError(message, code="RT206", hint=hint, row=row, column="input")
    if (names.codes < 0).any():
        row = int(np.argmax(names.codes < 0))
        raise DataError("a row without an input", code="RT211", row=row, column="input")
    found: dict[str, Any] = {}
    for code, name in enumerate(names.values):
        rows = np.flatnonzero(names.codes == code)
        found[name] = {c: _take_rows(form[c](), rows) for c in form if c != "input"}
    return found


def _take_rows(column: Column, rows: np.ndarray) -> Column:
    if isinstance(column, list):
        return [column[row] for row in rows]
    return column[rows] if isinstance(column, np.ndarray) else column.take(rows)
