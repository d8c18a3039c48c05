"""Texts of one pattern as counts of a unit, by layouts: all texts of a layout are read at once.

A layout is where the fields are in a text. The first text that has not been read gives the next
layout; texts of its length, with digits where it has digits and equal characters elsewhere, match
the pattern with the same fields. What is wrong, or beyond the arithmetic of 64 bits, is left to
the parser of a single text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrow import from_numpy
from rtbot.core.errors import DataError
from rtbot.core.time_reading.directives import CENTURY, MONTHS, SHORT
from rtbot.core.times import DAY_SECONDS, INT64_MAX, UNITS

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

LAYOUTS = 512
"""Layouts that are tried in one array; texts that have others are read one by one."""

MONTH_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.int32)
DIGITS = ("year", "year2", "month", "day", "yday", "hour", "hour12", "minute", "second")
OTHERS = ("fraction", "short_month", "long_month", "half", "offset")
ZERO, MINUS, PLUS = b"0-+"
LOWER = 0x20
"""The bit of a letter that is set in lower case."""


def read_fields(
    texts: Any,
    pattern: re.Pattern[str],
    unit: str,
    read_one: Callable[[str], int],
    *,
    zoned: bool,
) -> np.ndarray:
    """Read an Arrow array of text without nulls as int64 counts of the unit.

    The groups of the pattern are fields: those of `DIGITS` and `OTHERS`, all else is literal.
    `zoned` is whether texts have an offset. `read_one` reads one text, or raises DataError, which
    is raised with its `row`: of several it is the first.
    """
    letters, starts, lengths = view_texts(texts)
    counts = np.zeros(len(texts), np.int64)
    rows = np.arange(len(texts))
    for _ in range(LAYOUTS):
        if not len(rows):
            return counts
        first = int(rows[0])
        text = texts[first].as_py()
        counts[first] = _read_single(text, read_one, first)
        rows = rows[1:]
        layout = _find_layout(pattern, text, zoned=zoned) if len(rows) else None
        if layout is not None:
            alike = lengths[rows] == lengths[first]
            chosen = rows[alike]
            found, good = layout.read(_gather(letters, starts[chosen], layout.width), unit)
            counts[chosen] = found
            alike[alike] = good
            rows = rows[~alike]
    for row, text in zip(rows.tolist(), texts.take(from_numpy(rows)).to_pylist(), strict=True):
        counts[row] = _read_single(text, read_one, row)
    return counts


def _read_single(text: str, read_one: Callable[[str], int], row: int) -> int:
    try:
        return read_one(text)
    except DataError as error:
        raise error.at(row=row) from None


def view_texts(texts: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the bytes of all texts, and where each starts and how long it is."""
    import pyarrow as pa

    kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    _, places, data = texts.buffers()
    ends = np.frombuffer(places, kind, len(texts) + 1, texts.offset * np.dtype(kind).itemsize)
    letters = np.frombuffer(b"" if data is None else data, np.uint8)
    ends = ends.astype(np.int64)
    return letters, ends[:-1], np.diff(ends)


def _gather(letters: np.ndarray, starts: np.ndarray, width: int) -> np.ndarray:
    """Return texts of one width as an array of bytes (width, texts)."""
    count = len(starts)
    if count and int(starts[-1] - starts[0]) == (count - 1) * width:
        whole = letters[int(starts[0]) : int(starts[0]) + count * width]
        return np.ascontiguousarray(whole.reshape(count, width).T)
    return letters[starts + np.arange(width)[:, None]]


def _find_layout(pattern: re.Pattern[str], text: str, *, zoned: bool) -> Layout | None:
    """Return the layout of a text that matches; None if it cannot have one."""
    found = pattern.fullmatch(text)
    groups = {} if found is None else found.groupdict()
    if found is None or bool(groups.get("offset")) != zoned:
        return None
    spans = {}
    for name in (*DIGITS, *OTHERS):
        if groups.get(name) is not None:
            start = len(text[: found.start(name)].encode())
            spans[name] = (start, start + len(groups[name]))
    return Layout(text.encode(), spans)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the fields of a text are: `spans` of bytes by name; `letters` are those of the text."""

    letters: bytes
    spans: dict[str, tuple[int, int]]

    @property
    def width(self) -> int:
        """Bytes of the text."""
        return len(self.letters)

    def read(self, block: np.ndarray, unit: str) -> tuple[np.ndarray, np.ndarray]:
        """Read texts, as bytes (width, texts); return their counts, and which of them are good."""
        good = np.ones(block.shape[1], np.bool_)
        inside = {place for span in self.spans.values() for place in range(*span)}
        for place in set(range(self.width)) - inside:
            good &= block[place] == self.letters[place]
        fields = {
            name: _read_digits(block[slice(*span)], good)
            for name, span in self.spans.items()
            if name in DIGITS
        }
        for name in set(self.spans) - set(DIGITS):
            start, stop = self.spans[name]
            part, letters = block[start:stop], self.letters[start:stop]
            fields |= _read_other(name, part, letters, unit, good)
        seconds = _count_days(fields, good) * DAY_SECONDS + _count_seconds(fields, good)
        scale = 10 ** UNITS[unit]
        good &= np.abs(seconds) <= INT64_MAX // scale - 1
        return np.where(good, seconds, 0) * scale + fields.get("fraction", 0), good


def _read_digits(part: np.ndarray, good: np.ndarray) -> np.ndarray:
    """Return the number in rows of digits, at most nine; what is none is not good."""
    number = np.zeros(part.shape[1], np.int32)
    for row in part:
        digit = row - np.uint8(ZERO)
        good &= digit <= 9
        number *= 10
        number += digit
    return number


def _read_other(
    name: str, part: np.ndarray, letters: bytes, unit: str, good: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the field of letters and signs that has this name, as a number."""
    if name == "fraction":
        digits = UNITS[unit]
        for row in part[digits:]:
            good &= row == ZERO
        shown = part[:digits]
        return {name: _read_digits(shown, good).astype(np.int64) * 10 ** (digits - len(shown))}
    if name == "offset":
        return {name: _read_offset(part, letters, good)}
    lowered = part | np.uint8(LOWER)
    if name == "half":
        for place in range(1, len(letters)):
            point = letters[place] == ord(".")
            good &= part[place] == ord(".") if point else lowered[place] == ord("m")
        afternoon = lowered[0] == ord("p")
        good &= afternoon | (lowered[0] == ord("a"))
        return {name: afternoon.astype(np.int32)}
    month = np.zeros(part.shape[1], np.int32)
    for number, known in enumerate(MONTHS, 1):
        written = known[:SHORT] if name == "short_month" else known
        if len(written) == len(letters):
            alike = [row == ord(letter) for row, letter in zip(lowered, written, strict=True)]
            month[np.logical_and.reduce(alike)] = number
    return {"month": month}


def _read_offset(part: np.ndarray, letters: bytes, good: np.ndarray) -> np.ndarray:
    """Return seconds that local time is ahead of UTC."""
    if len(letters) == 1:
        good &= part[0] == letters[0]
        return np.zeros(part.shape[1], np.int32)
    good &= (part[0] == PLUS) | (part[0] == MINUS)
    colon = letters[3:4] == b":"
    if colon:
        good &= part[3] == letters[3]
    hours, minutes = _read_digits(part[1:3], good), _read_digits(part[3 + colon :], good)
    good &= (hours <= 23) & (minutes <= 59)
    seconds: np.ndarray = np.where(part[0] == MINUS, -60, 60) * (hours * 60 + minutes)
    return seconds


def _count_days(fields: dict[str, np.ndarray], good: np.ndarray) -> np.ndarray:
    """Return days since 1970 as int64.

    Howard Hinnant, chrono-compatible low-level date algorithms (2014).
    """
    if "year2" in fields:
        year = fields["year2"] + np.where(fields["year2"] < CENTURY, 2000, 1900)
    else:
        year = fields["year"]
    month, day = fields.get("month", np.int32(1)), fields.get("day", np.int32(1))
    good &= (month >= 1) & (month <= 12) & (day >= 1)
    days_left = day - MONTH_DAYS[np.clip(month, 0, 12)]
    leap = (month == 2) & (days_left == 1)
    if leap.any():
        days_left = days_left - (leap & _is_leap(year))
    good &= days_left <= 0
    if "yday" in fields:
        yday = fields["yday"]
        good &= (yday >= 1) & (yday <= 365 + _is_leap(year))
    start = year - (month <= 2) + 400  # years begin in March, and none is negative
    cycle = start // 400
    in_cycle = start - cycle * 400
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = in_cycle * 365 + in_cycle // 4 - in_cycle // 100 + day_of_year
    days = days + cycle * 146097 - 719468 - 146097
    counted: np.ndarray = days + (fields["yday"] - 1 if "yday" in fields else 0)
    return counted.astype(np.int64)


def _is_leap(year: np.ndarray) -> np.ndarray:
    leap: np.ndarray = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    return leap


def _count_seconds(fields: dict[str, np.ndarray], good: np.ndarray) -> np.ndarray | int:
    """Return seconds since midnight UTC."""
    if "hour" not in fields and "hour12" not in fields:
        return 0
    zero = np.int32(0)
    minute, second = fields.get("minute", zero), fields.get("second", zero)
    if "hour12" in fields:
        good &= (fields["hour12"] >= 1) & (fields["hour12"] <= 12)
        hour = fields["hour12"] % 12 + 12 * fields["half"]
    else:
        hour = fields["hour"]
    ends_day = (hour == 24) & (minute == 0) & (second == 0) & (fields.get("fraction", zero) == 0)
    good &= ((hour <= 23) | ends_day) & (minute <= 59) & (second <= 59)
    seconds: np.ndarray = hour * 3600 + minute * 60 + second - fields.get("offset", zero)
    return seconds
