"""One input's table, of whatever kind, as checked arrays.

A table is a mapping of columns (numpy arrays, lists, Arrow arrays, series), a list of rows, an
Arrow table or batch, or a frame of pandas, polars or anything that speaks Arrow's PyCapsule
protocol. Nothing is copied that already has the right type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.errors import DataError, nearest
from rtbot.tables import number_columns, text_columns
from rtbot.tables.forms import TIME_NAMES, Column, Form, named
from rtbot.tables.text_columns import Text

if TYPE_CHECKING:
    Key = np.ndarray | Text | tuple[np.ndarray, np.ndarray]

FILLERS = {"number": np.nan, "integer": 0, "boolean": False}


@dataclass(frozen=True, slots=True)
class Spec:
    """What an input's table has to hold.

    `name` is the input's, `kind` and `nullable` its type, `key` the key columns, `unit` that of
    times. `time` and `value` name columns; without that column the time is the first of
    `TIME_NAMES` that is there, and by default the value is in `value`, else in a column named like
    the input.
    """

    name: str
    kind: str
    nullable: bool = False
    key: tuple[str, ...] = ()
    unit: str | None = None
    time: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Columns:
    """One input's rows: equally long, C-contiguous arrays.

    `time` is int64; `value` is float64, int64, bool or `Text` by the kind of the input; `valid`
    is None where no value is null. A key column is int64, `Text`, or int64 with a mask of what is
    not null. `nulls` counts rows left out because their value was null on a port that takes none;
    `rows` are then the places of the others in the table.
    """

    time: np.ndarray
    value: np.ndarray | Text
    valid: np.ndarray | None = None
    keys: tuple[Key, ...] = ()
    nulls: int = 0
    rows: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.time)

    def cells(self) -> list[tuple[Any, ...]]:
        """Return rows (key..., time, value) of Python's own types; null is None."""
        value: Any = self.value.objects() if isinstance(self.value, Text) else self.value
        cells = value.tolist()
        if self.valid is not None:
            cells = [c if ok else None for c, ok in zip(cells, self.valid.tolist(), strict=True)]
        return list(zip(*map(_key_cells, self.keys), self.time.tolist(), cells, strict=True))


def columns(table: Any, spec: Spec) -> Columns:
    """Turn a table into arrays, or raise DataError with input, row (from 0), column and value."""
    return table if isinstance(table, Columns) else of_form(named(table, spec), spec)


def of_form(form: Form, spec: Spec) -> Columns:
    """Turn columns of any kind into arrays, as `columns` does."""
    time_name, value_name = find_time(form, spec), find_value(form, spec)
    time = _part(spec, time_name, form, lambda column: number_columns.times(column, spec.unit))
    value, valid = _part(spec, value_name, form, lambda column: values(column, spec.kind))
    if f"{value_name}_valid" in form:
        given, _ = _part(spec, f"{value_name}_valid", form, number_columns.booleans)
        valid = given if valid is None else valid & given
    keys = tuple(_part(spec, name, form, key) for name in spec.key)
    lengths = {time_name: len(time), value_name: len(value)}
    lengths |= {name: _length(part) for name, part in zip(spec.key, keys, strict=True)}
    if len(set(lengths.values())) > 1 or (valid is not None and len(valid) != len(time)):
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise DataError(f"columns differ in length: {told}", code="RT214", input=spec.name)
    return settled(Columns(time, value, valid, keys), spec)


def settled(whole: Columns, spec: Spec) -> Columns:
    """Leave null rows out if the port takes none; else give every null value the same filler."""
    valid = whole.valid
    if valid is None or valid.all():
        return Columns(whole.time, whole.value, None, whole.keys)
    if not spec.nullable:
        return taken(whole, np.flatnonzero(valid))
    value = whole.value
    if isinstance(value, np.ndarray):
        value = np.where(valid, value, FILLERS[spec.kind])
    return Columns(whole.time, value, valid, whole.keys)


def taken(whole: Columns, rows: np.ndarray) -> Columns:
    """Keep only these rows, whose values are valid; the others count as nulls."""
    keys = tuple(
        (part[0][rows], part[1][rows]) if isinstance(part, tuple) else part[rows]
        for part in whole.keys
    )
    nulls = len(whole.time) - len(rows)
    return Columns(whole.time[rows], whole.value[rows], None, keys, nulls, rows)


def values(column: Column, kind: str) -> tuple[np.ndarray | Text, np.ndarray | None]:
    """Convert a column to a kind of value; also the mask of what is not null, or None."""
    if kind == "text":
        text = text_columns.encode(column)
        return text, (text.codes >= 0 if (text.codes < 0).any() else None)
    return {
        "number": number_columns.floats,
        "integer": number_columns.integers,
        "boolean": number_columns.booleans,
    }[kind](column)


def key(column: Column) -> Key:
    """Convert a key column: integers or text, either with nulls."""
    if isinstance(column, list):
        column = _one_kind(column)
    if text_columns.is_text(column):
        return text_columns.encode(column)
    array, valid = number_columns.integers(column)
    return array if valid is None else (np.where(valid, array, 0), valid)


def _one_kind(column: list[Any]) -> list[Any]:
    """Return keys with None for the NaN of an empty cell; DataError if text and numbers mix."""
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


def find_time(form: Form, spec: Spec) -> str:
    """Name of the column of times."""
    if spec.time is not None and (spec.time in form or not {*form} & {*TIME_NAMES}):
        return _wanted(form, spec.time, spec)
    candidates = [name for name in TIME_NAMES if name in form and name not in spec.key]
    candidates = [name for name in candidates if name not in (spec.value, spec.name)] or candidates
    if not candidates:
        message = f"there is no column of times ({', '.join(TIME_NAMES)})"
        hint = f"{_there(form)}; give it one of these names, or name it in io.time"
        raise DataError(message, code="RT204", hint=hint, input=spec.name)
    return candidates[0]


def find_value(form: Form, spec: Spec) -> str:
    """Name of the column of values."""
    if spec.value is not None:
        return _wanted(form, spec.value, spec)
    if "value" not in form and spec.name in form:
        return spec.name
    if "value" not in form and spec.name:
        return _wanted(form, spec.name, spec)
    return _wanted(form, "value", spec)


def _wanted(form: Form, name: str, spec: Spec) -> str:
    if name not in form:
        what = "key column" if name in spec.key else "column"
        hint = nearest(name, form) or _there(form)
        raise DataError(f"there is no {what} {name!r}", code="RT204", hint=hint, input=spec.name)
    return name


def _there(form: Form) -> str:
    return f"there are {', '.join(form)}" if form else "there is none"


def _part(spec: Spec, name: str, form: Form, convert: Any) -> Any:
    _wanted(form, name, spec)
    try:
        return convert(form[name]())
    except DataError as error:
        raise error.at(**{"input": spec.name, "column": name} | error.where) from None


def _key_cells(part: Key) -> list[Any]:
    if isinstance(part, Text):
        return list(part.objects().tolist())
    if isinstance(part, tuple):
        return [c if ok else None for c, ok in zip(part[0].tolist(), part[1].tolist(), strict=True)]
    return list(part.tolist())


def _length(part: Key) -> int:
    return len(part[0]) if isinstance(part, tuple) else len(part)
