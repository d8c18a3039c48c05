"""Scales of a chart, and the round numbers and dates at them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.times import DEFAULT_UNIT, UNITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.core.times import TimeStyle

NANOSECONDS = {unit: 10 ** (9 - digits) for unit, digits in UNITS.items()}
SECOND, DAY = 10**9, 86_400 * 10**9
MONDAY = 4 * DAY
STEPS = (
    *(digit * 10**power for power in range(9) for digit in (1, 2, 5)),
    *(seconds * SECOND for seconds in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800)),
    *(hours * 3600 * SECOND for hours in (1, 2, 3, 6, 12, 24, 48)),
    7 * DAY,
    14 * DAY,
)
"""Distances of dates that are shorter than a month, in nanoseconds."""

MONTH_DAYS = 30.44
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12_000, 60_000, 120_000)
TINY = 1e-290
TICK_ROOM = 30.0
"""The least distance of round numbers in a picture."""

DATED_FROM = 365 * 86_400
MICROSECONDS = 10**14, 10**16

CALENDAR_SECONDS = 62 * 10**9
"""From 1970 to the beginning of the calendar; what is further away is no date."""

REPRESENTABLE = 2**63 - DAY
"""Times that stay within int64 when they are shown in local time."""


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """What times are: counts of a unit since 1970; integers, if there is no unit.

    They are shown in local time, which is `offset` seconds ahead of UTC and named `zone`. If it is
    not `sure` that they are dates, `fit_times` looks at them.
    """

    unit: str | None = None
    offset: int = 0
    zone: str = "UTC"
    sure: bool = False

    @staticmethod
    def of(unit: str | None, style: TimeStyle | None) -> TimeAxis:
        """Return the axis of times that are written in this style; None if they are integers."""
        if style is None:
            return TimeAxis(unit)
        zone = style.offset if style.offset not in ("", "Z") else "UTC"
        return TimeAxis(unit or DEFAULT_UNIT, style.offset_seconds, zone, sure=True)

    def fit_times(self, first: int, last: int) -> TimeAxis:
        """Return the axis for these times.

        Times near 1970 rather count from an origin of their own. Without a unit, times from 1973 on
        in microseconds, as times of all kinds become, are taken for that.
        """
        near, far = sorted((abs(first), abs(last)))
        if self.unit is None:
            return (
                TimeAxis(DEFAULT_UNIT)
                if near >= MICROSECONDS[0] and far < MICROSECONDS[1]
                else self
            )
        scale = 10 ** UNITS[self.unit]
        told = far < min(CALENDAR_SECONDS * scale, REPRESENTABLE)
        return self if told and (self.sure or far >= DATED_FROM * scale) else TimeAxis()

    def text(self, time: int) -> str:
        """Return a time in full, with no more parts than it needs."""
        if self.unit is None:
            return f"{time:,}"
        shown = str(self._local(time)).replace("T", " ")
        date, _, clock = shown.partition(" ")
        clock = clock.rstrip("0").rstrip(".") if "." in clock else clock
        return date if clock in ("", "00:00:00", "00:00") else f"{date} {clock}"

    def _local(self, time: int) -> Any:
        """Return the local time as a datetime64."""
        assert self.unit is not None
        local = np.array(time + self.offset * 10 ** UNITS[self.unit], np.int64)
        return local.astype(f"M8[{self.unit}]")[()]

    def ticks(self, first: int, last: int, count: int) -> list[tuple[int, str]]:
        """Return times for about so many marks from first to last, and what is written there."""
        if self.unit is None:
            step = max(int(round_step(last - first, count)), 1)
            start = -(-first // step) * step
            return [(time, f"{time:,}") for time in range(start, last + 1, step)]
        if first == last:
            whole = first * NANOSECONDS[self.unit] % (60 * SECOND) == 0
            return [(first, _format_date(self._local(first), 60 * SECOND if whole else SECOND))]
        wanted = (last - first) * NANOSECONDS[self.unit] / count
        if wanted > STEPS[-1]:
            return list(self._calendar_ticks(first, last, wanted))
        least = max(wanted, NANOSECONDS[self.unit])
        return list(self._regular_ticks(first, last, next(step for step in STEPS if step >= least)))

    def _regular_ticks(self, first: int, last: int, step: int) -> Iterator[tuple[int, str]]:
        """Return marks at equal distances; weeks begin on Monday."""
        assert self.unit is not None
        scale, shift = NANOSECONDS[self.unit], self.offset * SECOND
        shift -= MONDAY if step % (7 * DAY) == 0 else 0
        at = -(-(first * scale + shift) // step) * step
        while at - shift <= last * scale:
            time = (at - shift) // scale
            yield time, _format_date(self._local(time), step)
            at += step

    def _calendar_ticks(self, first: int, last: int, wanted: float) -> Iterator[tuple[int, str]]:
        """Return marks at the first day of months or years."""
        assert self.unit is not None
        months = next((m for m in MONTHS if m * MONTH_DAYS * DAY >= wanted), MONTHS[-1])
        at = int(self._local(first).astype("M8[M]").astype(np.int64)) // months * months
        while True:
            days = int(np.datetime64(at, "M").astype("M8[D]").astype(np.int64))
            time = (days * 86_400 - self.offset) * 10 ** UNITS[self.unit]
            if time > last:
                return
            if time >= first:
                yield time, _format_date(np.datetime64(at, "M"), DAY * 31 if months < 12 else None)
            at += months


def _format_date(date: Any, step: int | None) -> str:
    """Return what is new at a mark: the year, the month, the day, or the time of the day."""
    full = date.astype("M8[us]").astype(object)
    midnight = date == date.astype("M8[D]")
    if step is None or (midnight and full.month == full.day == 1):
        return str(full.year)
    if step > 14 * DAY:
        return f"{full:%b}"
    if midnight and (step >= SECOND):
        return f"{full:%b} {full.day}"
    if step >= 60 * SECOND:
        return f"{full:%H:%M}"
    if step >= SECOND:
        return f"{full:%H:%M:%S}"
    digits = math.ceil(9 - math.log10(step))
    return str(date).rpartition(":")[2][: 3 + digits]


def round_step(span: float, count: int) -> float:
    """Return the smallest of 1, 2, 5, 10, ... (of any size) that is at most `count` times in span.

    >>> round_step(97.0, 5)
    20.0
    """
    least = min(max(span / count, TINY), 1e307)
    power = 10.0 ** math.floor(math.log10(least))
    return next((d * power for d in (1, 2, 5) if d * power >= least), 10.0 * power)


def choose_ticks(low: float, high: float, count: int) -> list[tuple[float, str]]:
    """Return round numbers from low to high, and what is written there."""
    step = round_step(high - low, count)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [(k * step, format_number(k * step, step)) for k in range(first, last + 1)]


def format_number(value: float, step: float) -> str:
    """Return a number with the digits that distinguish it from others a step away."""
    if step >= 1e6 or step < 1e-4:
        return f"{value:.12g}" if value == 0 else f"{value:.{_count_digits(value, step)}e}"
    return f"{value:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"


def _count_digits(value: float, step: float) -> int:
    return min(max(0, math.floor(math.log10(abs(value))) - math.floor(math.log10(step) + 1e-9)), 15)


def format_brief(value: float) -> str:
    """Return a number as a table shows it: five digits, more for integers.

    >>> [format_brief(x) for x in (1234567.0, 0.000123456, 2 / 3)]
    ['1,234,567', '0.00012346', '0.66667']
    """
    if math.isfinite(value) and value == int(value) and abs(value) < 1e12:
        return f"{int(value):,}"
    text = f"{value:,.5g}"
    return f"{value:,.1f}" if "e+" in text and abs(value) < 1e12 else text


@dataclass(frozen=True, slots=True)
class TimeScale:
    """From times to places: `first` at `left`, `last` at the right end of `width`."""

    first: int
    last: int
    left: float
    width: float

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return places of int64 times, also where their distance does not fit into int64."""
        distance = times.astype(np.uint64) - np.int64(self.first).astype(np.uint64)
        if self.last == self.first:
            return np.full(len(times), self.left + self.width / 2)
        return self.left + distance.astype(np.float64) * (self.width / (self.last - self.first))

    def one(self, time: int) -> float:
        """Return the place of one time."""
        return float(self.at(np.array([time], np.int64))[0])


ROUNDING = 2.0**-43
"""The share of a value that sums and differences of a few floats may be off."""


@dataclass(frozen=True, slots=True)
class ValueScale:
    """From values to places: `high` at `top`, `low` at the bottom of `height`."""

    low: float
    high: float
    top: float
    height: float

    def at(self, values: np.ndarray) -> np.ndarray:
        """Return places of values."""
        return (
            self.top + (self.high / 2 - values / 2) / (self.high / 2 - self.low / 2) * self.height
        )

    def one(self, value: float) -> float:
        """Return the place of one value."""
        return float(self.at(np.array(value)))

    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers as close as they can be read, and what is written there."""
        return choose_ticks(self.low, self.high, max(int(self.height // TICK_ROOM), 2))

    @staticmethod
    def around(low: float, high: float, top: float, height: float) -> ValueScale:
        """Return the scale that has a little room above and below what it shows.

        What differs by rounding alone is one value, but for integers that differ by as little.
        """
        room, size = high / 2 - low / 2, max(abs(low), abs(high))
        noise = size * ROUNDING if size < 1 / ROUNDING else 0.0
        pad = 0.1 * room if room > max(TINY, noise) else size * 0.05 or 1.0
        limit = np.finfo(np.float64).max
        return ValueScale(max(low - pad, -limit), min(high + pad, limit), top, height)
