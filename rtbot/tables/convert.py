"""One input's table, of whatever kind, as checked arrays.

A table is a mapping of columns (numpy arrays, lists, Arrow arrays, series), a list of rows, an
Arrow table or batch, or a frame of pandas, polars or anything that speaks Arrow's PyCapsule
protocol. Nothing is copied that already has the right type.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rtbot.core.arrays import put_nulls
from rtbot.core.errors import DataError, suggest_name
from rtbot.core.vector_names import VECTOR
from rtbot.tables import number_columns, text_columns
from rtbot.tables.forms import (
    TIME_NAMES,
    Column,
    LazyTable,
    open_table,
    reduce_column,
    require_single,
)
from rtbot.tables.record_column import (
    FILLERS,
    RecordColumn,
    RecordRows,
    assemble_records,
    list_cells,
    split_records,
)
from rtbot.tables.text_columns import TextColumn
from rtbot.tables.time_column import OWN_NAME, join_texts
from rtbot.tables.vector_column import split_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rtbot.core.time_formats import TimeParser
    from rtbot.operator.schema import Field
    from rtbot.tables.change_rows import ChangeSpec

    Key = np.ndarray | TextColumn | tuple[np.ndarray, np.ndarray]
    AnySpec: TypeAlias = "TableSpec | ChangeSpec"

CONVERTERS = {
    "number": number_columns.to_floats,
    "integer": number_columns.to_integers,
    "boolean": number_columns.to_booleans,
}


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What an input's table has to hold.

    `name` is the input's, `kind` and `nullable` its type, `key` the key columns, `unit` that of
    times. `time` and `value` name columns; of several `time` columns the texts are joined by a
    blank. Without a column of that name the time is the first of `TIME_NAMES` that is there, but
    not if the name is `given` for this table. By default the value is in `value`, else in a column
    named like the input. `clock` reads texts that are not ISO 8601, and local times. A record has
    `fields`, and a column for each, which `columns` names where it has another name; `sparse` is
    whether a row without any of them is no message.
    """

    name: str
    kind: str
    nullable: bool = False
    key: tuple[str, ...] = ()
    unit: str | None = None
    time: tuple[str, ...] = ()
    value: str | None = None
    clock: TimeParser | None = None
    given: bool = False
    fields: tuple[Field, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    sparse: bool = False


@dataclass(frozen=True, slots=True)
class Columns:
    """One input's rows: equally long, C-contiguous arrays.

    `time` is int64; `value` is float64, int64, bool, `TextColumn` or `RecordColumn` by the kind of
    the input;
    `valid` is None where no value is null. A key column is int64, `TextColumn`, or int64 with a
    mask of what is not null. `nulls` counts rows left out because their value was null on a port
    that takes none. `rows` are the places of the rows in the table, None if it has these alone, in
    their order. `times` is the name of the column of times and that column as it came, if there was
    one.
    """

    time: np.ndarray
    value: np.ndarray | TextColumn | RecordColumn
    valid: np.ndarray | None = None
    keys: tuple[Key, ...] = ()
    nulls: int = 0
    rows: np.ndarray | None = None
    times: tuple[str, Column] | None = None

    def __len__(self) -> int:
        return len(self.time)

    def cells(self) -> list[tuple[Any, ...]]:
        """Return rows (key..., time, value) of Python's own types; null is None."""
        cells: list[Any]
        if isinstance(self.value, RecordColumn):
            cells = self.value.tolist()
        else:
            cells = list_cells(self.value, self.valid)
        return list(zip(*map(_key_cells, self.keys), self.time.tolist(), cells, strict=True))


def to_columns(table: Any, spec: TableSpec) -> Columns:
    """Turn a table into arrays, or raise DataError with input, row (from 0), column and value."""
    return table if isinstance(table, Columns) else convert_table(open_table(table, spec), spec)


def convert_table(form: LazyTable, spec: TableSpec) -> Columns:
    """Turn columns of any kind into arrays, as `to_columns` does."""
    time_name, times = read_times(form, spec)
    time = _locate_error(
        spec, time_name, lambda: number_columns.to_times(times, spec.unit, spec.clock)
    )
    lost: np.ndarray | None = None
    value: np.ndarray | TextColumn | RecordColumn
    if spec.fields:
        value_name, (value, valid, lost) = spec.name, _read_records(form, spec)
    else:
        value_name = find_value(form, spec)
        value, valid = _read_values(form, value_name, spec.kind, spec)
    keys = tuple(_convert_column(spec, name, form, convert_key) for name in spec.key)
    lengths = [len(time), len(value), *map(_length, keys)]
    if lengths.count(len(time)) < len(lengths) or (valid is not None and len(valid) != len(time)):
        names = [time_name, value_name, *spec.key]
        raise _make_length_error(dict(zip(names, lengths, strict=True)), spec)
    whole = normalise_nulls(Columns(time, value, valid, keys, times=(time_name, times)), spec)
    return whole if lost is None else replace(whole, nulls=int(lost.sum()))


def _read_values(
    form: LazyTable, name: str, kind: str, spec: TableSpec
) -> tuple[np.ndarray | TextColumn, np.ndarray | None]:
    """Convert a column of values, and the mask of what is not null, which may be beside it."""
    value, valid = _convert_column(spec, name, form, lambda column: convert_values(column, kind))
    if f"{name}_valid" in form:
        given, _ = _convert_column(spec, f"{name}_valid", form, number_columns.to_booleans)
        valid = given if valid is None else valid & given
    return value, valid


def _read_records(form: LazyTable, spec: TableSpec) -> RecordRows:
    """Convert the columns of the fields of a record, or one column of records or vectors."""
    whole = find_records(form, spec)
    if whole is not None:
        split = split_vectors if spec.kind == VECTOR else split_records
        columns = _locate_error(spec, whole, lambda: split(form[whole](), spec.fields, spec.name))
        names = {name: f"{whole}.{name}" for name in columns}
        form = {names[name]: partial(reduce_column, one) for name, one in columns.items()}
    else:
        names = {
            one.name: require_column(form, name_field(form, one.name, spec), spec)
            for one in spec.fields
        }
    parts = [_read_values(form, names[one.name], one.type.kind, spec) for one in spec.fields]
    lengths = {name: len(value) for name, (value, _) in zip(names.values(), parts, strict=True)}
    if len({*lengths.values()}) > 1:
        raise _make_length_error(lengths, spec)
    return assemble_records(spec.fields, parts, sparse=spec.sparse)


def find_records(form: LazyTable, spec: TableSpec) -> str | None:
    """Return the name of a column of whole messages, `value` or that of the input, or None."""
    there = [name_field(form, field.name, spec) in form for field in spec.fields]
    if spec.value is None and any(there) and (all(there) or spec.name not in form):
        return None
    names: tuple[str, ...] = (spec.name,) if spec.sparse else ("value", spec.name)
    if spec.value is not None:
        return require_column(form, spec.value, spec)
    found = next((name for name in names if name in form), None)
    if found is None and spec.kind == VECTOR:
        size = len(spec.fields)
        hint = f"{_list_columns(form)}; a vector is a column of lists, or {size} columns that are "
        hint += f"named {spec.name}.0 and so on, or by inputs={{{spec.name!r}: [...]}}"
        message = f"there is no column {spec.name!r}"
        raise DataError(message, code="RT204", hint=hint, input=spec.name)
    if found is None or spec.kind == VECTOR:
        return found
    return None if isinstance(form[found](), np.ndarray) else found


def name_field(form: LazyTable, name: str, spec: TableSpec) -> str:
    """Return the column of a field of a record: that which is given, `INPUT.FIELD`, or `FIELD`.

    An element of a vector has no name without that of the input.
    """
    full = f"{spec.name}.{name}"
    return spec.columns.get(name) or (full if full in form or spec.kind == VECTOR else name)


def normalise_nulls(whole: Columns, spec: TableSpec) -> Columns:
    """Leave null rows out if the port takes none; else give every null value the same filler."""
    valid = whole.valid
    if valid is None:
        return whole
    if valid.all():
        return replace(whole, valid=None)
    if not spec.nullable:
        return keep_rows(whole, np.flatnonzero(valid))
    value = whole.value
    if isinstance(value, np.ndarray):
        value = np.where(valid, value, FILLERS[spec.kind])
    return replace(whole, value=value)


def keep_rows(whole: Columns, rows: np.ndarray) -> Columns:
    """Keep only these rows, whose values are valid; the others count as nulls."""
    keys = tuple(
        (part[0][rows], part[1][rows]) if isinstance(part, tuple) else part[rows]
        for part in whole.keys
    )
    nulls = len(whole.time) - len(rows)
    time, value = whole.time[rows], whole.value[rows]
    return Columns(time, value, None, keys, nulls, rows, whole.times)


def order_by_time(whole: Columns) -> Columns:
    """Return the rows in the order of their times; those of equal time stay in their order."""
    if (whole.time[1:] >= whole.time[:-1]).all():
        return whole
    order = np.argsort(whole.time, kind="stable")
    return replace(
        keep_rows(whole, order),
        valid=None if whole.valid is None else whole.valid[order],
        nulls=whole.nulls,
        rows=order if whole.rows is None else whole.rows[order],
    )


def convert_values(column: Column, kind: str) -> tuple[np.ndarray | TextColumn, np.ndarray | None]:
    """Convert a column to a kind of value; also the mask of what is not null, or None."""
    if kind == "text":
        text = text_columns.encode_text(column)
        return text, (text.codes >= 0 if (text.codes < 0).any() else None)
    return CONVERTERS[kind](column)


def convert_key(column: Column) -> Key:
    """Convert a key column: integers or text, either with nulls."""
    if isinstance(column, list):
        column = _one_kind(column)
    if text_columns.is_text(column):
        return text_columns.encode_text(column)
    array, valid = number_columns.to_integers(column)
    return array if valid is None else (np.where(valid, array, 0), valid)


def _one_kind(column: list[Any]) -> list[Any]:
    """Return keys with None for the NaN of an empty cell; refuse a mix of text and numbers."""
    kinds = set(map(type, column))
    if kinds <= {str} or kinds <= {int}:
        return column
    column = [None if isinstance(c, float | np.floating) and c != c else c for c in column]
    whole: dict[bool, int] = {}
    for row, value in enumerate(column):
        if isinstance(value, str | int | np.integer):
            whole.setdefault(isinstance(value, str), row)
    if len(whole) > 1:
        first, second = sorted(whole.values())
        message = f"not like the key {column[first]!r} of row {first}: text and integers are mixed"
        hint = "make all keys text, or all integers"
        raise DataError(message, code="RT212", hint=hint, row=second, value=column[second])
    return column


def find_times(form: LazyTable, spec: TableSpec) -> tuple[str, ...]:
    """Return the names of the columns of times: one, or several texts to be joined."""
    if spec.time and (spec.given or {*spec.time} & {*form} or not {*form} & {*TIME_NAMES}):
        return tuple(require_column(form, name, spec) for name in spec.time)
    found = [name for name in TIME_NAMES if name in form and name not in spec.key]
    if len(found) > 1:
        fields = (one.name for one in spec.fields)
        values = {spec.value, spec.name, *fields, *spec.columns.values()}
        found = [name for name in found if name not in values] or found
    if not found:
        message = f"there is no column of times ({', '.join(TIME_NAMES)})"
        taken = {*spec.key, spec.value or spec.name, "value", "input"}
        rest = [name for name in form if name not in taken]
        way = "give it one of these names, or name it: time=COLUMN"
        if len(rest) == 1:
            way = f"name it: time={rest[0]!r}, or in io.time"
        hint = f"{_list_columns(form)}; {way}"
        raise DataError(message, code="RT204", hint=hint, input=spec.name)
    chosen = form[found[0]]  # an index of times has a name of its own before this one
    return (next(name for name in form if form[name] is chosen),)


def read_times(form: LazyTable, spec: TableSpec) -> tuple[str, Column]:
    """Return the name and the column of times; the joined texts of several are called `t`."""
    return join_times(form, spec, find_times(form, spec))


def join_times(form: LazyTable, spec: AnySpec, names: tuple[str, ...]) -> tuple[str, Column]:
    """Return the column of times that has one name, or several; with its name."""
    if len(names) == 1:
        return names[0], _locate_error(spec, names[0], lambda: require_single(form[names[0]]()))
    columns = [_locate_error(spec, name, form[name]) for name in names]
    if len(set(map(len, columns))) > 1:
        raise _make_length_error(dict(zip(names, map(len, columns), strict=True)), spec)
    for name, column in zip(names, columns, strict=True):
        if not text_columns.is_text(column):
            message = f"texts of several columns are joined to times, and {name} holds none"
            hint = "make one column of the times, and name that"
            raise DataError(message, code="RT220", hint=hint, input=spec.name, column=name)
    return OWN_NAME, _locate_error(spec, names[-1], lambda: join_texts(columns))


def find_value(form: LazyTable, spec: TableSpec) -> str:
    """Return the name of the column of values."""
    if spec.value is not None:
        return require_column(form, spec.value, spec)
    if "value" not in form and spec.name in form:
        return spec.name
    if "value" not in form and spec.name:
        return require_column(form, spec.name, spec)
    return require_column(form, "value", spec)


def require_column(form: LazyTable, name: str, spec: AnySpec) -> str:
    """Return the name if the table has this column, or raise DataError."""
    if name not in form:
        what = "key column" if name in spec.key else "column"
        near = suggest_name(name, form)
        hint = near or _list_columns(form)
        if name == spec.name and form:
            hint += f"{' ' if near else '; '}name the column: inputs={{{name!r}: COLUMN}}"
        raise DataError(f"there is no {what} {name!r}", code="RT204", hint=hint, input=spec.name)
    return name


def _list_columns(form: LazyTable) -> str:
    return f"there are {', '.join(form)}" if form else "there is none"


def _make_length_error(lengths: Mapping[str, int], spec: AnySpec) -> DataError:
    shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
    return DataError(f"columns differ in length: {shown}", code="RT214", input=spec.name)


def _convert_column(
    spec: TableSpec, name: str, form: LazyTable, convert: Callable[[Column], Any]
) -> Any:
    require_column(form, name, spec)
    return _locate_error(spec, name, lambda: convert(require_single(form[name]())))


def _locate_error(spec: AnySpec, name: str, convert: Callable[[], Any]) -> Any:
    """Convert; an error has the input and the column."""
    try:
        return convert()
    except DataError as error:
        raise error.at(**{"input": spec.name, "column": name} | error.where) from None


def _key_cells(part: Key) -> list[Any]:
    if isinstance(part, TextColumn):
        return list(part.to_objects().tolist())
    if isinstance(part, tuple):
        return put_nulls(part[0].tolist(), part[1])
    return list(part.tolist())


def _length(part: Key) -> int:
    return len(part[0]) if isinstance(part, tuple) else len(part)
