"""Times in the errors of a session, as the text that they came as."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.core.errors import DataError
from rtbot.core.times import format_times

if TYPE_CHECKING:
    from rtbot.core.times import TimeStyle


def format_error_times(error: DataError, unit: str, style: TimeStyle) -> DataError:
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
