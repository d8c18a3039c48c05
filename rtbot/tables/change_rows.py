"""The table of a change input, of whatever kind, as checked arrays: times, weights and fields.

A table is what it is for series (`rtbot.tables.convert`); a list has rows `[t, weight, {field:
cell, ...}]`, or records. Its columns are the fields, the times, and `weight` (1 where there is no
such column) or `op` ("+" or "insert", "-" or "delete"). A field may have the name `t` or `weight`:
then the times are in `_t`, the weights in `_weight`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.errors import DataError, suggest_name
from rtbot.tables import number_columns, text_columns
from rtbot.tables.convert import convert_values, join_times, require_column
from rtbot.tables.forms import TIME_NAMES, open_table
from rtbot.tables.record_column import FILLERS
from rtbot.tables.text_columns import TextColumn
from rtbot.tables.time_column import OWN_NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.core.time_formats import TimeParser
    from rtbot.operator.schema import Field, Schema
    from rtbot.tables.forms import Column, LazyTable

    Values = np.ndarray | TextColumn

WEIGHT, OP = "weight", "op"
SIGNS = {"+": 1, "insert": 1, "-": -1, "delete": -1}


@dataclass(frozen=True, slots=True)
class ChangeSpec:
    """What the table of a change input has to hold; the fields are as in `TableSpec`."""

    name: str
    schema: Schema
    unit: str | None = None
    time: tuple[str, ...] = ()
    clock: TimeParser | None = None
    given: bool = False
    key: tuple[str, ...] = ()
    value: None = None


@dataclass(frozen=True, slots=True)
class ChangeRows:
    """The changes of one input, in the order in which they came.

    `time` and `weight` are int64; `columns` has the values of every field (float64, int64, bool or
    `TextColumn`) and `valid` the masks of what is not null, None where nothing is. `rows` are the
    places of the rows in the table, None if they are in its order; `times` is as in `Columns`.
    """

    time: np.ndarray
    weight: np.ndarray
    columns: tuple[Values, ...]
    valid: tuple[np.ndarray | None, ...]
    rows: np.ndarray | None = None
    times: tuple[str, Column] | None = None

    def __len__(self) -> int:
        return len(self.time)

    def take(self, rows: np.ndarray) -> ChangeRows:
        """Return these rows, in this order."""
        return replace(
            self,
            time=self.time[rows],
            weight=self.weight[rows],
            columns=tuple(column[rows] for column in self.columns),
            valid=tuple(None if mask is None else mask[rows] for mask in self.valid),
            rows=rows if self.rows is None else self.rows[rows],
        )


def name_time(fields: Sequence[str]) -> str:
    """Return the name of the times beside these fields."""
    return "_t" if OWN_NAME in fields else OWN_NAME


def name_weight(fields: Sequence[str]) -> str:
    """Return the name of the weights beside these fields."""
    return "_weight" if WEIGHT in fields else WEIGHT


def to_change_rows(table: Any, spec: ChangeSpec) -> ChangeRows:
    """Turn a table into arrays, or raise DataError with input, row (from 0), column and value."""
    if isinstance(table, ChangeRows):
        return table
    is_list = isinstance(table, list | tuple)
    if is_list and not (table and all(isinstance(row, Mapping) for row in table)):
        table = _split_rows(table, spec)
    return convert_change_table(open_table(table, spec), spec)


def convert_change_table(form: LazyTable, spec: ChangeSpec) -> ChangeRows:
    """Turn columns of any kind into arrays, as `to_change_rows` does."""
    names = spec.schema.names
    for name in names:
        _require_field(form, name, spec)
    time_name, times = read_change_times(form, spec)
    time = _locate(spec, time_name, lambda: number_columns.to_times(times, spec.unit, spec.clock))
    weight = _read_weights(form, spec, len(time))
    parts = [_convert_field(form, field, spec) for field in spec.schema]
    lengths = {time_name: len(time), name_weight(names): len(weight)}
    lengths |= {name: len(values) for name, (values, _) in zip(names, parts, strict=True)}
    if len({*lengths.values()}) > 1:
        shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise DataError(f"columns differ in length: {shown}", code="RT214", input=spec.name)
    columns, valid = zip(*parts, strict=True)
    return ChangeRows(time, weight, columns, valid, times=(time_name, times))


def order_changes(rows: ChangeRows) -> ChangeRows:
    """Return the rows in the order of their times; those of equal time stay in their order."""
    if (rows.time[1:] >= rows.time[:-1]).all():
        return rows
    return rows.take(np.argsort(rows.time, kind="stable"))


def make_change_row(spec: ChangeSpec, time: int, row: Any, weight: Any) -> ChangeRows:
    """Return one change, whose fields are a mapping."""
    cells = _check_row(spec, row, None)
    table = {name: [cell] for name, cell in cells.items()}
    names = spec.schema.names
    table[name_time(names)], table[name_weight(names)] = [time], [weight]
    own = replace(spec, time=(), given=False)
    try:
        return convert_change_table({name: _defer(cell) for name, cell in table.items()}, own)
    except DataError as error:
        raise error.at(row=None) from None


def _defer(column: list[Any]) -> Callable[[], Column]:
    return lambda: column


# ---- rows


def _split_rows(rows: Sequence[Any], spec: ChangeSpec) -> dict[str, list[Any]]:
    """Return the columns of rows [t, weight, {field: cell, ...}]."""
    names = spec.schema.names
    table: dict[str, list[Any]] = {name: [] for name in names}
    times, weights = [], []
    for place, row in enumerate(rows):
        is_row = isinstance(row, Sequence) and not isinstance(row, str | bytes)
        if not is_row or len(row) != 3:
            message = f"a change is [t, weight, {{{names[0]}: ...}}]"
            raise DataError(message, code="RT214", input=spec.name, row=place, value=row)
        for name, cell in _check_row(spec, row[2], place).items():
            table[name].append(cell)
        times.append(row[0])
        weights.append(row[1])
    return table | {_name_times(spec): times, name_weight(names): weights}


def _name_times(spec: ChangeSpec) -> str:
    """Return a name under which times are found."""
    names = spec.schema.names
    if len(spec.time) == 1 and spec.time[0] not in names:
        return spec.time[0]
    return name_time(names)


def _check_row(spec: ChangeSpec, row: Any, place: int | None) -> Mapping[str, Any]:
    """Return the cells of one row: all fields, and nothing else."""
    names = spec.schema.names
    where: dict[str, Any] = {"input": spec.name, "row": place}
    if not isinstance(row, Mapping):
        message = f"the fields of a change are a mapping {{{names[0]}: ...}}"
        raise DataError(message, code="RT214", value=row, **where)
    for name in row:
        if name not in names:
            hint = suggest_name(str(name), names) or f"there are {', '.join(names)}"
            raise DataError(f"there is no field {name!r}", code="RT204", hint=hint, **where)
    for name in names:
        if name not in row:
            hint = "null is None"
            raise DataError(f"a row without the field {name!r}", code="RT204", hint=hint, **where)
    return {name: row[name] for name in names}


# ---- columns


def _require_field(form: LazyTable, name: str, spec: ChangeSpec) -> None:
    if name in form:
        return
    fields = spec.schema.names
    hint = suggest_name(name, [other for other in form if other not in fields])
    if not hint:
        hint = f"there are {', '.join(form)}" if form else "there is none"
    message = f"there is no column {name!r}"
    raise DataError(message, code="RT204", hint=hint, input=spec.name)


def read_change_times(form: LazyTable, spec: ChangeSpec) -> tuple[str, Column]:
    """Return the name and the column of times; a field is one only if `spec` names it."""
    return join_times(form, spec, _find_times(form, spec))


def _find_times(form: LazyTable, spec: ChangeSpec) -> tuple[str, ...]:
    fields = spec.schema.names
    names = [name_time(fields), *TIME_NAMES]
    candidates = [name for name in names if name in form and name not in fields]
    if spec.time and (spec.given or {*spec.time} & {*form} or not candidates):
        return tuple(require_column(form, name, spec) for name in spec.time)
    if not candidates:
        message = f"there is no column of times ({', '.join(dict.fromkeys(names))})"
        rest = [name for name in form if name not in {*fields, WEIGHT, OP, name_weight(fields)}]
        way = f"name it: time={rest[0]!r}" if len(rest) == 1 else "name it: time=COLUMN"
        hint = f"there are {', '.join(form)}; {way}, or in io.time"
        raise DataError(message, code="RT204", hint=hint, input=spec.name)
    chosen = form[candidates[0]]  # an index of times has a name of its own before this one
    return (next(n for n, column in form.items() if column is chosen and n not in fields),)


def _read_weights(form: LazyTable, spec: ChangeSpec, count: int) -> np.ndarray:
    """Return the weights, from `weight` or `op`; 1 where there is neither."""
    fields = spec.schema.names
    name = name_weight(fields)
    is_op = OP in form and OP not in fields
    if is_op and name in form:
        message = f"a change has {name!r} or {OP!r}, and this table has both"
        raise DataError(message, code="RT214", hint="leave one of them out", input=spec.name)
    if is_op:
        signs: np.ndarray = _locate(spec, OP, lambda: _read_signs(form[OP]()))
        return signs
    if name not in form:
        return np.ones(count, np.int64)
    weight, valid = _locate(spec, name, lambda: number_columns.to_integers(form[name]()))
    if valid is not None and not valid.all():
        row = int(np.argmin(valid))
        message = "a change without a weight"
        raise DataError(message, code="RT211", input=spec.name, row=row, column=name)
    if len(weight) and not weight.all():
        row = int(np.argmin(weight != 0))
        hint = "1 inserts a row, -1 deletes it"
        message = "a weight of 0 is no change"
        where: dict[str, Any] = {"input": spec.name, "row": row, "column": name, "value": 0}
        raise DataError(message, code="RT201", hint=hint, **where)
    found: np.ndarray = weight
    return found


def _read_signs(column: Column) -> np.ndarray:
    """Return weights for the texts of what is done."""
    texts = text_columns.encode_text(column)
    if (texts.codes < 0).any():
        row = int(np.argmax(texts.codes < 0))
        raise DataError("a change without an operation", code="RT211", row=row)
    weights = [SIGNS.get(text, 0) for text in texts.values]
    for code, weight in enumerate(weights):
        if not weight:
            row = int(np.argmax(texts.codes == code))
            hint = f"there are {', '.join(SIGNS)}"
            value = texts.values[code]
            raise DataError("not an operation", code="RT201", hint=hint, row=row, value=value)
    found: np.ndarray = np.array([*weights, 0], np.int64)[texts.codes]
    return found


def _convert_field(
    form: LazyTable, field: Field, spec: ChangeSpec
) -> tuple[Values, np.ndarray | None]:
    """Return the values of a field and the mask of what is not null, or None."""
    name, kind = field.name, field.type.kind
    values, valid = _locate(spec, name, lambda: convert_values(form[name](), kind))
    mask = f"{name}_valid"
    if mask in form and mask not in spec.schema.names:
        given, _ = _locate(spec, mask, lambda: number_columns.to_booleans(form[mask]()))
        if len(given) == len(values):
            valid = given if valid is None else valid & given
    if valid is None or valid.all():
        return values, None
    if not field.type.nullable:
        row = int(np.argmin(valid))
        message = f"null in the field {name}, which is {field.type}"
        hint = f"declare it as {field.type.or_null()} if it may be null"
        where: dict[str, Any] = {"input": spec.name, "row": row, "column": name}
        raise DataError(message, code="RT211", hint=hint, **where)
    if isinstance(values, TextColumn):
        return TextColumn(np.where(valid, values.codes, -1), values.values), valid
    return np.where(valid, values, FILLERS[kind]), valid


def _locate(spec: ChangeSpec, name: str, convert: Callable[[], Any]) -> Any:
    """Convert; an error has the input and the column."""
    try:
        return convert()
    except DataError as error:
        raise error.at(**{"input": spec.name, "column": name} | error.where) from None
