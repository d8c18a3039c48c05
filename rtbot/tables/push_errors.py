"""Errors of a push with times as its tables have them."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from numpy import datetime64

from rtbot.core.error_times import format_error_times
from rtbot.core.times import DEFAULT_UNIT, TimeStyle, detect_style
from rtbot.tables.convert import Columns, read_times
from rtbot.tables.forms import open_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.core.errors import PlacedError
    from rtbot.core.time_formats import TimeParser
    from rtbot.tables.convert import TableSpec
    from rtbot.tables.forms import Column


def as_given(
    error: PlacedError, data: Any, tables: Mapping[str, Any], specs: Mapping[str, TableSpec]
) -> PlacedError:
    """Return the error of a push of data with its times as the data has them.

    `tables` are those of the inputs, which the data is or from which they were taken.
    """
    name = error.input
    if error.time is None or name not in tables:
        return error
    spec, table = specs[name], tables[name]
    if isinstance(table, Columns):
        if data is tables:
            return error
        table = data
    _, times = read_times(open_table(table, spec), spec)
    if error.code == "RT202" and error.hint and len(times) > 1:
        error.hint = f"{error.hint}; sort=True sorts a table first"
    style = _detect_style(times, spec.clock)
    return error if style is None else format_error_times(error, spec.unit or DEFAULT_UNIT, style)


def _detect_style(times: Column, clock: TimeParser | None) -> TimeStyle | None:
    """Return how a column has its times; None if they are integers."""
    kind, first = str(getattr(times, "dtype", getattr(times, "type", ""))), times[0]
    first = first.as_py() if hasattr(first, "as_py") else first
    if isinstance(first, str):
        return detect_style(first) if clock is None else clock.detect_style(first)
    if kind.startswith(("datetime64", "timestamp", "date")) or isinstance(first, date | datetime64):
        zoned = "tz=" in kind or getattr(first, "tzinfo", None) is not None
        style = TimeStyle(offset="Z" if zoned else "")
        return style if clock is None else clock.add_zone(style)
    return None
