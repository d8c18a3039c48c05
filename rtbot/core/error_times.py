"""Times in the errors of a session, as the text that they came as."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rtbot.core.errors import DataError, PlacedError
from rtbot.core.times import DAY_SECONDS, UNITS, format_times

if TYPE_CHECKING:
    from rtbot.core.times import TimeStyle

E = TypeVar("E", bound=PlacedError)


def format_error_times(error: E, unit: str, style: TimeStyle) -> E:
    """Return the error with its times, which count the unit, in the style.

    The `time` of the error stays an integer, and shows both.
    """

    def shown(time: int) -> str:
        return _format_time(time, unit, style)

    if error.time is None:
        return error.with_times(shown)
    time = FormattedTime(error.time)
    time.shown = f"{shown(int(error.time))} = {int(error.time)}"
    return error.with_times(shown, time=time)


class FormattedTime(int):
    """A time in io.unit that is shown as something else."""

    shown = ""

    def __repr__(self) -> str:
        return self.shown


def _format_time(count: int, unit: str, style: TimeStyle) -> str:
    import numpy as np

    try:
        return str(format_times(np.array([count], np.int64), unit, style)[0])
    except DataError:  # a year that ISO 8601 cannot express
        return str(count)


def describe_span(count: int, unit: str | None) -> str:
    """Return a span of times as text, in days, hours, minutes or seconds if the unit is known."""
    if unit is None:
        return f"{count:,}"
    seconds = count / 10 ** UNITS[unit]
    sizes = {"days": DAY_SECONDS, "hours": 3600, "minutes": 60}
    name, size = next(((n, s) for n, s in sizes.items() if seconds >= 2 * s), ("seconds", 1))
    return f"{seconds / size:,.0f} {name}"
