"""The time column of a table as it came in, and the times of results as a column like it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrow import from_numpy
from rtbot.core.errors import DataError
from rtbot.core.times import DAY_SECONDS, DEFAULT_UNIT, UNITS, TimeStyle, detect_style, format_times

if TYPE_CHECKING:
    import pyarrow as pa

    from rtbot.core.time_formats import TimeParser
    from rtbot.tables.forms import Column

OWN_NAME = "t"
"""What the times of a result are called where no column of times came in."""


@dataclass(frozen=True, slots=True)
class TimeColumn:
    """The name of a column of times, and what determines its type.

    `origin` is a dtype of numpy, a type of Arrow, a cell of a list, or the style of texts; None
    where times are integers.
    """

    name: str = OWN_NAME
    origin: Any = None


def describe_times(name: str, column: Column, clock: TimeParser | None = None) -> TimeColumn | None:
    """Return what a column of times is; None for a list without cells.

    `clock` is what reads texts and local times; those of a time zone become timestamps in it.
    """
    zone = None if clock is None else clock.options.timezone
    if isinstance(column, np.ndarray):
        is_stamp = column.dtype.kind == "M"
        return TimeColumn(name, _add_zone(column.dtype, zone) if is_stamp else None)
    if isinstance(column, list):
        if not column:
            return None
        return TimeColumn(name, _describe_cell(column[0], clock))
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_temporal(kind):
        return TimeColumn(name, _add_zone(kind, zone))
    if pa.types.is_integer(kind) or pa.types.is_null(kind):
        return TimeColumn(name)
    return TimeColumn(name, _describe_cell(column[0].as_py() if len(column) else "", clock))


def _describe_cell(cell: Any, clock: TimeParser | None) -> Any:
    """Return the origin of a column whose first cell this is."""
    if hasattr(cell, "__index__"):
        return None
    if not isinstance(cell, str):
        return _add_zone(cell, None if clock is None else clock.options.timezone)
    if clock is None:
        return detect_style(cell) or TimeStyle()
    return clock.detect_style(cell) or clock.default_style


def _add_zone(origin: Any, zone: str | None) -> Any:
    """Return timestamps of the zone in place of local times; of what has a zone that itself."""
    if zone is None:
        return origin
    import pyarrow as pa

    kind = _find_type(origin)
    if not pa.types.is_timestamp(kind):
        return pa.timestamp("s", zone)
    return origin if kind.tz else pa.timestamp(kind.unit, zone)


def join_texts(columns: list[Column]) -> list[str]:
    """Return the texts of several columns of one length, joined by a blank.

    Raises DataError with `row` where a cell is empty.
    """
    cells = [column if isinstance(column, list) else column.tolist() for column in columns]
    for row, parts in enumerate(zip(*cells, strict=True)):
        if not all(isinstance(part, str) for part in parts):
            raise DataError("a row without a time", code="RT211", row=row)
    return [" ".join(parts) for parts in zip(*cells, strict=True)]


def build_time_column(times: np.ndarray, like: TimeColumn, unit: str | None) -> pa.Array:
    """Return times (int64, in `unit`) as a column of the type that came in.

    Where that type cannot hold one of them exactly (half a second in a column of seconds, noon in
    one of dates), the column is of timestamps in `unit`. Texts are written in their style; raises
    DataError for texts of times outside the years 0 to 9999.
    """
    import pyarrow as pa

    unit = unit or DEFAULT_UNIT
    if like.origin is None:
        return from_numpy(times)
    if isinstance(like.origin, TimeStyle):
        return format_times(times, unit, like.origin)
    kind = _find_type(like.origin)
    stamps = from_numpy(times).cast(pa.timestamp(unit, getattr(kind, "tz", None)))
    whole_days = (times % (DAY_SECONDS * 10 ** UNITS[unit]) == 0).all()
    if pa.types.is_date(kind) and not whole_days:
        return stamps
    try:
        return stamps.cast(kind)
    except pa.ArrowInvalid:
        return stamps


def _find_type(origin: Any) -> pa.DataType:
    """Return the type of Arrow that is nearest to what came in."""
    import pyarrow as pa

    if isinstance(origin, pa.DataType):
        return origin
    if isinstance(origin, np.dtype):
        unit = np.datetime_data(origin)[0]
        return pa.timestamp(unit if unit in UNITS else "s")
    return pa.scalar(origin).type
