"""Times in the errors of a session as the text that they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.core.errors import DataError
from rtbot.core.times import render

if TYPE_CHECKING:
    from rtbot.core.times import Style


def dated(error: DataError, unit: str, style: Style) -> DataError:
    """Return the error with its times, which count the unit, in the style.

    The `time` of the error stays the integer that it is, and shows both.
    """

    def shown(time: int) -> str:
        return _shown(time, unit, style)

    if error.time is None:
        return error.with_times(shown)
    time = Dated(error.time)
    time.shown = f"{shown(int(error.time))} = {int(error.time)}"
    return error.with_times(shown, time=time)


class Dated(int):
    """A time in io.unit that is shown as something else."""

    shown = ""

    def __repr__(self) -> str:
        return self.shown


def _shown(count: int, unit: str, style: Style) -> str:
    import numpy as np

    try:
        return str(render(np.array([count], np.int64), unit, style)[0])
    except DataError:  # a year that ISO 8601 cannot tell
        return str(count)
