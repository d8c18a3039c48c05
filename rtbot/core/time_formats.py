"""How times are written in files: the parser of a set of options, and the formats of samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from rtbot.core.times import TimeStyle

EPOCHS = {"unix": "s", "unix_ms": "ms", "unix_us": "us", "unix_ns": "ns"}
"""Names of the formats that count since 1970, and the unit that each counts."""


class TimeOptions(Protocol):
    """The part of `ReadOptions` that is about times."""

    @property
    def time_format(self) -> str | None:
        """A name of `EPOCHS`, a text of directives, or None: ISO 8601."""

    @property
    def timezone(self) -> str | None:
        """The time zone of texts without an offset; None: UTC."""

    @property
    def ambiguous(self) -> str:
        """What a local time that occurs twice is: error, earlier, later or order."""

    @property
    def nonexistent(self) -> str:
        """What a local time that never occurs is: error or shift."""


@dataclass(frozen=True, slots=True)
class FormatProblem:
    """What is wrong with an option, and what to try."""

    message: str
    hint: str = ""


def find_format_problem(text: str) -> FormatProblem | None:
    """Return what is wrong with the text of `time_format`, None if nothing is."""
    raise NotImplementedError


def find_timezone_problem(name: str) -> FormatProblem | None:
    """Return what is wrong with the name of a time zone, None if nothing is."""
    raise NotImplementedError


def make_time_parser(options: TimeOptions, unit: str) -> TimeParser:
    """Return the parser of times that are written as the options say, in the unit.

    Raises DataError if `find_format_problem` or `find_timezone_problem` finds something.
    """
    raise NotImplementedError


class TimeParser:
    """Reads texts as int64 counts of the unit since 1970 (UTC)."""

    def parse(self, texts: Any, style: TimeStyle | None = None) -> np.ndarray:
        """Read an Arrow array of text as int64.

        Raises DataError with `row` (from 0) and `value` at the first text that is no time of the
        format, is null, is finer than the unit, or is outside what int64 holds.
        """
        raise NotImplementedError

    def detect_style(self, text: str) -> TimeStyle | None:
        """Return how this text is written, which is how outputs are; None if it is no time."""
        raise NotImplementedError


def detect_time_format(samples: Sequence[str]) -> list[str]:
    """Return the values of `time_format` that read all samples, the likeliest first.

    Where day and month cannot be distinguished both orders are there. ISO 8601, which needs no
    format, is not in the list: `rtbot.core.times.detect_style` finds it.
    """
    raise NotImplementedError
