"""Columns of numbers, integers, booleans and times as numpy arrays, exactly or not at all."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core import times as iso
from rtbot.core.arrow import fill_nulls, to_numpy
from rtbot.core.errors import DataError

if TYPE_CHECKING:
    from rtbot.core.time_formats import TimeParser
    from rtbot.tables.forms import Column

NULL_TYPES = ("NoneType", "NAType", "NaTType")
"""Names of the types of None and of pandas' two markers."""

OF_DECIMALS = "convert the column to integers, or declare the input as number"

Parts = tuple[np.ndarray, np.ndarray | None]
"""An array, and the mask of what is not null, or None if nothing is."""


def to_floats(column: Column) -> Parts:
    """Convert to float64; integers are rounded as IEEE says, booleans and text are refused."""
    if isinstance(column, list):
        return _from_list(column, np.float64, (float, int, np.floating, np.integer))
    array, valid = _from_arrow(column, np.float64)
    if array.dtype.kind not in "fiu" and len(array):
        raise _make_kind_error("number", array)
    return np.ascontiguousarray(array, np.float64), valid


def to_integers(column: Column) -> Parts:
    """Convert to int64; nothing but integers is taken, and none beyond 64 bits."""
    if isinstance(column, list):
        return _from_list(column, np.int64, (int, np.integer))
    array, valid = _from_arrow(column, np.int64)
    if array.dtype.kind not in "iu" and len(array):
        raise _make_kind_error("integer", array)
    if array.dtype == np.uint64 and (large := array > np.uint64(2**63 - 1)).any():
        row = int(large.argmax())
        value = int(array[row])
        raise DataError("an integer beyond 64 bits", code="RT213", row=row, value=value)
    return np.ascontiguousarray(array, np.int64), valid


def to_booleans(column: Column) -> Parts:
    """Convert to bool; only booleans are taken."""
    if isinstance(column, list):
        return _from_list(column, np.bool_, (bool, np.bool_))
    array, valid = _from_arrow(column, np.bool_)
    if array.dtype.kind != "b" and len(array):
        raise _make_kind_error("boolean", array)
    return np.ascontiguousarray(array, np.bool_), valid


def to_times(column: Column, unit: str | None, clock: TimeParser | None = None) -> np.ndarray:
    """Convert to int64 in the unit: integers as they are, datetime64 and text exactly.

    Text is ISO 8601 and UTC if it has no offset, as datetimes are, unless a `clock` in the same
    unit reads other forms or knows the time zone.
    """
    unit = unit or iso.DEFAULT_UNIT
    if isinstance(column, list):
        kinds = set(map(type, column))
        if str in kinds:
            return _from_texts(column, kinds, unit, clock)
        if any(issubclass(kind, date) for kind in kinds):
            return _from_datetimes(column, unit, clock)
        if kinds and all(issubclass(kind, np.datetime64) for kind in kinds):
            return _from_naive(np.array(column), unit, clock)
    elif not isinstance(column, np.ndarray):
        return _from_arrow_times(column, unit, clock)
    elif column.dtype.kind == "M":
        return _from_naive(column, unit, clock)
    array, valid = to_integers(column)
    if valid is not None:
        raise DataError("a row without a time", code="RT211", row=int(np.argmin(valid)))
    return array


def _from_list(column: list[Any], kind: type, accepted: tuple[type, ...]) -> Parts:
    kinds = set(map(type, column))
    if kind is np.float64 and Decimal in kinds:
        column = [_round_decimal(cell) if type(cell) is Decimal else cell for cell in column]
        kinds = set(map(type, column))
    nulls = {known for known in kinds if known.__name__ in NULL_TYPES}
    name = {np.float64: "number", np.int64: "integer", np.bool_: "boolean"}[kind]
    strange = {
        known
        for known in kinds - nulls
        if not issubclass(known, accepted) or (known is bool and bool not in accepted)
    }
    if strange:
        row = next(place for place, value in enumerate(column) if type(value) in strange)
        hint = OF_DECIMALS if isinstance(column[row], Decimal) else ""
        raise DataError(
            f"not {_add_article(name)}", code="RT201", hint=hint, row=row, value=column[row]
        )
    if not nulls:
        return _make_array(column, kind), None
    valid = np.fromiter((type(value) not in nulls for value in column), np.bool_, len(column))
    array: np.ndarray = np.zeros(len(column), kind)
    array[valid] = _make_array(list(compress(column, valid)), kind)
    return array, valid


def _round_decimal(cell: Decimal) -> float:
    """Return the nearest float64, as for a column of decimals in Arrow; NaN for any NaN."""
    return float(cell) if not cell.is_snan() else np.nan


def _make_array(column: list[Any], kind: type) -> np.ndarray:
    try:
        return np.array(column, kind)
    except OverflowError:
        row = next(place for place, value in enumerate(column) if not _is_of_kind(value, kind))
        size = "64 bits" if kind is np.int64 else "the range of a number"
        message, value = f"an integer beyond {size}", int(column[row])
        raise DataError(message, code="RT213", row=row, value=value) from None


def _is_of_kind(value: Any, kind: type) -> bool:
    if kind is np.int64:
        return -(2**63) <= int(value) < 2**63
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _from_arrow(column: Column, kind: type) -> Parts:
    """Return numpy arrays as they are; an Arrow array as numpy array and mask.

    `kind` is for a column of nothing but nulls, which has no type.
    """
    if isinstance(column, np.ndarray):
        return column, None
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_decimal(column.type) and kind is np.float64:
        column = pc.cast(pc.cast(column, pa.string()), pa.float64())
    if pa.types.is_null(column.type):
        return np.zeros(len(column), kind), np.zeros(len(column), np.bool_)
    known = (pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean)
    if not any(is_kind(column.type) for is_kind in known):
        name = {"f": "number", "i": "integer", "b": "boolean"}[np.dtype(kind).kind]
        message = f"{_add_article(name)} is expected, not a column of {column.type}"
        hint = OF_DECIMALS if pa.types.is_decimal(column.type) else "convert the column first"
        raise DataError(message, code="RT220", hint=hint)
    return fill_nulls(column, 0)


def _from_arrow_times(column: Column, unit: str, clock: TimeParser | None) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if column.null_count:
        row = pc.index(pc.is_null(column), pa.scalar(value=True)).as_py()
        raise DataError("a row without a time", code="RT211", row=row)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _parse_texts(pc.cast(column, pa.string()), unit, clock)
    if pa.types.is_timestamp(kind):
        stamps = to_numpy(column.cast(pa.int64())).view(f"M8[{kind.unit}]")
        return _from_naive(stamps, unit, None if kind.tz else clock)
    if pa.types.is_date(kind):
        days = column.cast(pa.timestamp("ms" if pa.types.is_date64(kind) else "s"))
        return _from_arrow_times(days, unit, clock)
    return to_integers(column)[0]


def _from_texts(
    column: list[Any], kinds: set[type], unit: str, clock: TimeParser | None
) -> np.ndarray:
    import pyarrow as pa

    for row, value in enumerate(column if kinds != {str} else ()):
        if not isinstance(value, str):
            message = "times are text in some rows and not in others"
            raise DataError(message, code="RT218", row=row, value=value)
    return _parse_texts(pa.array(column, pa.string()), unit, clock)


def _parse_texts(texts: Any, unit: str, clock: TimeParser | None) -> np.ndarray:
    return iso.parse_times(texts, unit)[0] if clock is None else clock.parse(texts)


def _from_naive(stamps: np.ndarray, unit: str, clock: TimeParser | None) -> np.ndarray:
    """Convert datetime64, which are local times if the clock has a time zone."""
    counts = iso.convert_datetimes(stamps, unit)
    local = clock is not None and clock.options.timezone is not None
    return clock.to_instants(counts, stamps) if clock is not None and local else counts


def _from_datetimes(column: list[Any], unit: str, clock: TimeParser | None) -> np.ndarray:
    """Convert datetimes and dates; without a time zone they are local times of the clock's."""
    stamps = _to_stamps(column)
    aware = [isinstance(value, datetime) and value.tzinfo is not None for value in column]
    if clock is None or not any(aware):
        return _from_naive(stamps, unit, clock)
    counts, naive = iso.convert_datetimes(stamps, unit), np.flatnonzero(~np.array(aware))
    try:
        counts[naive] = _from_naive(stamps[naive], unit, clock)
    except DataError as error:
        raise error.at(row=int(naive[error.row])) from None
    return counts


def _to_stamps(column: list[Any]) -> np.ndarray:
    """Return datetimes as datetime64, those with an offset in UTC.

    They are in microseconds, as Python keeps them, or in nanoseconds, which timestamps of pandas
    may have beside them.
    """
    stamps = np.empty(len(column), "M8[us]")
    for row, value in enumerate(column):
        if not isinstance(value, date):
            raise DataError("not a time", code="RT205", row=row, value=value)
        if isinstance(value, datetime) and value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)  # noqa: PLW2901
        stamps[row] = np.datetime64(value, "us")
    finer = np.array([getattr(value, "nanosecond", 0) for value in column], np.int64)
    if not finer.any():
        return stamps
    return (iso.convert_datetimes(stamps, "ns") + finer).view("M8[ns]")


def _make_kind_error(name: str, array: np.ndarray) -> DataError:
    message = f"{_add_article(name)} is expected, not a column of {array.dtype}"
    hint = "convert the column first"
    if name == "integer" and array.dtype.kind == "f":
        hint = "convert the column first: .astype('Int64') in pandas keeps empty cells"
    return DataError(message, code="RT220", hint=hint, row=0, value=array[0].item())


def _add_article(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"
