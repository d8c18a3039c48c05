"""Local times of a zone as instants and back, for whole arrays.

The changes of a zone's offset are found by asking `zoneinfo` for the offset of every other day,
and by bisection between two days that differ: of no zone in the database are two changes less than
three days apart. Only the years that are needed are searched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

import numpy as np

from rtbot.core.errors import DataError, suggest_name
from rtbot.core.times import CYCLE_DAYS, CYCLE_YEARS, DAY_SECONDS

FIRST_YEAR = 1800
"""No zone has changed its offset before."""

REGULAR_YEAR, LAST_YEAR = 2101, 2101 + CYCLE_YEARS
"""From the first of these on the changes of 400 years recur; they are searched up to the second."""

STEP = timedelta(days=2)
SECOND = timedelta(seconds=1)
FIXED = re.compile(r"([+-])([01][0-9]|2[0-3]):([0-5][0-9])")
MACHINE = ("localtime", "posixrules", "Factory")
"""Names of the database that are no zones, or another one on every machine."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LocalTimes:
    """What local times are in a zone: arrays of one value per time.

    `before` and `after` are the offsets in seconds before and after the change of offset that a
    time is at, equal where it is at none. `change` is the instant of that change in seconds.
    """

    before: np.ndarray
    after: np.ndarray
    change: np.ndarray

    @property
    def is_plain(self) -> bool:
        """Whether each of the times occurs once."""
        return bool(np.array_equal(self.before, self.after))

    @property
    def ambiguous(self) -> np.ndarray:
        """Which times occur twice."""
        return self.after < self.before

    @property
    def nonexistent(self) -> np.ndarray:
        """Which times never occur."""
        return self.after > self.before


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of a zone's offset in some years, in order: instants, offsets around them.

    There is one offset more than instants.
    """

    years: tuple[int, int]
    instants: np.ndarray
    offsets: np.ndarray

    def join(self, later: Changes) -> Changes:
        """Return these changes and those of the years that follow."""
        return Changes(
            (self.years[0], later.years[1]),
            np.append(self.instants, later.instants),
            np.append(self.offsets, later.offsets[1:]),
        )


class TimeZone:
    """A zone of the time zone database, or a fixed offset such as +01:00."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._zone = _find_zone(name)
        self._changes: Changes | None = None

    def find_offsets(self, seconds: np.ndarray) -> np.ndarray:
        """Return how many seconds local time is ahead of UTC at each instant."""
        seconds = _wrap_years(seconds)
        changes = self._find_changes(seconds)
        return changes.offsets[np.searchsorted(changes.instants, seconds, "right")]

    def resolve(self, local: np.ndarray) -> LocalTimes:
        """Return what local times are; they are counts of seconds as if the zone were UTC."""
        wrapped = _wrap_years(local)
        changes = self._find_changes(wrapped)
        before, after = changes.offsets[:-1], changes.offsets[1:]
        begun = changes.instants + np.minimum(before, after)
        ended = changes.instants + np.maximum(before, after)
        first = np.searchsorted(ended, wrapped, "right")
        last = np.searchsorted(begun, wrapped, "right")
        instants = np.append(changes.instants, 0)[first] + (local - wrapped)
        return LocalTimes(changes.offsets[first], changes.offsets[last], instants)

    def _find_changes(self, seconds: np.ndarray) -> Changes:
        """Return the changes of the years of these times and of those beside them."""
        known = self._changes
        ends = np.array([seconds.min(), seconds.max()] if len(seconds) else [0, 0])
        years = ends.astype("M8[s]").astype("M8[Y]").astype(np.int64) + 1970
        first, last = (int(year) for year in years)
        if known is None:
            known = _search_changes(self._zone, first - 1, last + 1)
        if first <= known.years[0]:
            known = _search_changes(self._zone, first - 1, known.years[0] - 1).join(known)
        if last >= known.years[1]:
            known = known.join(_search_changes(self._zone, known.years[1] + 1, last + 1))
        self._changes = known
        return known


@lru_cache(64)
def load_zone(name: str) -> TimeZone:
    """Return the zone of a name, or raise DataError."""
    return TimeZone(name)


def _find_zone(name: str) -> tzinfo:
    fixed = FIXED.fullmatch(name)
    if fixed is not None:
        ahead = timedelta(hours=int(fixed[2]), minutes=int(fixed[3]))
        return timezone(-ahead if fixed[1] == "-" else ahead)
    try:
        if name and name not in MACHINE and not name.startswith(("right/", "posix/")):
            return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        pass
    known = available_timezones()
    if not known:
        message = "this machine has no time zone database"
        raise DataError(message, code="RT225", hint="pip install tzdata", value=name)
    hint = suggest_name(name, known) or "name it as Europe/Madrid, or by its offset as +01:00"
    raise DataError("there is no such time zone", code="RT225", hint=hint, value=name)


def _wrap_years(seconds: np.ndarray) -> np.ndarray:
    """Return times of the years that are searched, at which the zone has the same offset."""
    first, last = ((np.datetime64(str(y)) - np.datetime64(0, "Y")) for y in (FIRST_YEAR, LAST_YEAR))
    least, limit = (int(d.astype("m8[s]").astype(np.int64)) for d in (first, last))
    seconds = np.maximum(seconds, least)
    cycle = CYCLE_DAYS * DAY_SECONDS
    wrapped: np.ndarray = seconds - (np.maximum(seconds - limit, -1) // cycle + 1) * cycle
    return wrapped


def _search_changes(zone: tzinfo, first: int, last: int) -> Changes:
    """Return the changes of the years from first to last."""
    at, end = datetime(first, 1, 1, tzinfo=UTC), datetime(last + 1, 1, 1, tzinfo=UTC)
    offsets, instants = [_ask_offset(zone, at)], []
    while at < end:
        after = min(at + STEP, end)
        offset = _ask_offset(zone, after)
        if offset != offsets[-1]:
            instants.append((_bisect(zone, at, after) - EPOCH) // SECOND)
            offsets.append(offset)
        at = after
    seconds = [offset // SECOND for offset in offsets]
    return Changes((first, last), np.array(instants, np.int64), np.array(seconds, np.int64))


def _bisect(zone: tzinfo, before: datetime, after: datetime) -> datetime:
    """Return the first second that has the offset of `after`."""
    offset = _ask_offset(zone, after)
    while after - before > SECOND:
        middle = before + (after - before) // SECOND // 2 * SECOND
        if _ask_offset(zone, middle) == offset:
            after = middle
        else:
            before = middle
    return after


def _ask_offset(zone: tzinfo, at: datetime) -> timedelta:
    ahead = at.astimezone(zone).utcoffset()
    assert ahead is not None, "a zone has an offset at every instant"
    return ahead


def format_offset(seconds: int) -> str:
    """Return an offset such as +01:00; Z if it is not one of whole minutes."""
    if seconds % 60:
        return "Z"
    hours, minutes = divmod(abs(seconds) // 60, 60)
    return f"{'-' if seconds < 0 else '+'}{hours:02}:{minutes:02}"
