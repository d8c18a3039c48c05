"""Times in the errors of a session as the text that they were."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rtbot.errors import DataError
from rtbot.times import render

if TYPE_CHECKING:
    from rtbot.times import Style

COUNTED = re.compile(r"(?<=\bt=)-?\d+\b|(?<=\badvanced to )-?\d+\b")
"""Times as messages write them, counted in io.unit."""


def dated(error: DataError, unit: str, style: Style) -> DataError:
    """Return the error with its times, which count the unit, in the style.

    The `time` of the error stays the integer that it is, and shows both.
    """
    where: dict[str, Any] = dict(error.where)
    if error.time is not None:
        where["time"] = Dated(error.time)
        where["time"].shown = f"{_shown(error.time, unit, style)} = {int(error.time)}"
    message = COUNTED.sub(lambda found: _shown(int(found[0]), unit, style), error.message)
    return DataError(message, code=error.code, hint=error.hint, output=error.output, **where)


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
