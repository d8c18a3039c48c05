"""Span, step, gaps and order of times, and which columns distinguish several series."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

from rtbot.core import arrays
from rtbot.core.number_text import format_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.look.cell_column import CellColumn
    from rtbot.look.column_facts import ColumnFacts

SECOND = 10**6
DAY = 86_400 * SECOND
UNIT_LENGTHS = {
    "d": DAY,
    "h": 3600 * SECOND,
    "m": 60 * SECOND,
    "s": SECOND,
    "ms": 1000,
    "us": 1,
}
REGULAR = 0.5
"""Times have a step if more than this share of their distances is the same."""

KEY_CANDIDATES = 6
KEY_WORD = re.compile(
    r"symbol|ticker|isin|asset|pair|instrument|account|station|device|sensor|meter|channel|tag|host"
    r"|site|location|city|country|region|series|variable|metric|parameter|entity|key|name|serial"
    r"|(?:.*[_ -])?(?:id|no|nr|code|number|name)",
    re.IGNORECASE,
)
"""Names of columns that are likely to hold keys."""

NAMED = "by its name alone"


@dataclass(frozen=True, slots=True)
class SeriesFacts:
    """How times go on; distances are in microseconds, or in units of integers.

    `first` and `last` are the least and the greatest. `step` is the distance that most neighbours
    of a series have, with `share` of all; None if there are fewer than two times. `median` is the
    distance in the middle, which counts where none is usual. `gaps` are longer distances than the
    one that counts, `gap` the longest. `late` rows come after a later one of their series, by up
    to `lateness`; `duplicates` have a time that their series had before. `order` is ascending,
    descending, unsorted or single; `dates` is whether all are at midnight.
    """

    first: int = 0
    last: int = 0
    step: int | None = None
    share: float = 0.0
    median: int | None = None
    calendar: str = ""
    gaps: int = 0
    gap: int = 0
    gap_at: int = 0
    late: int = 0
    lateness: int = 0
    duplicates: int = 0
    duplicate_at: int | None = None
    order: str = "single"
    dates: bool = False

    @property
    def usual(self) -> int | None:
        """The step where most distances are the same, else the median."""
        return self.step if self.share > REGULAR else self.median


@dataclass(frozen=True, slots=True)
class TimedRows:
    """Rows that have a time: `times`, which of them are of one of the `series`, or of one segment.

    All are int64, the latter from 0 on. `known` are the places of these rows among all rows.
    """

    times: np.ndarray
    series: np.ndarray
    segments: np.ndarray
    known: np.ndarray

    @property
    def series_count(self) -> int:
        """How many series there are."""
        return len(arrays.distinct(self.series))


def collect_rows(segments: Sequence[Sequence[int | None]]) -> TimedRows:
    """Return the rows of one series that have a time within int64; a segment is without breaks."""
    every = [*chain.from_iterable(segments)]
    fits = [time is not None and -(2**63) <= time < 2**63 for time in every]
    known = np.flatnonzero(np.array(fits, np.bool_))
    times = np.array([every[place] for place in known], np.int64)
    numbers = np.repeat(np.arange(len(segments)), [len(segment) for segment in segments])
    return TimedRows(times, np.zeros(len(times), np.int64), numbers[known], known)


def measure_series(rows: TimedRows) -> SeriesFacts:
    """Measure times with their series, in the order of the file."""
    if not len(rows.times):
        return SeriesFacts()
    distinct, ranks = np.unique(rows.times, return_inverse=True)
    sorting = np.argsort(rows.series, kind="stable")
    codes, moves = rows.series[sorting], ranks[sorting]
    latest = np.maximum.accumulate(codes * len(distinct) + moves) - codes * len(distinct)
    behind = _subtract(distinct[latest], distinct[moves])
    steps = np.diff(moves)[codes[1:] == codes[:-1]]
    _, firsts = np.unique(rows.series * len(distinct) + ranks, return_index=True)
    again = np.ones(len(ranks), np.bool_)
    again[firsts] = False
    lengths, counts, starts = _measure_steps(rows, distinct, ranks)
    step, share, median = _find_step(lengths, counts)
    usual = step if share > REGULAR else median
    calendar = _name_calendar(lengths.tolist())
    longer = np.zeros(0, np.int64)
    if usual is not None and not calendar:
        longer = np.flatnonzero(lengths > np.uint64(min(usual + usual // 2, 2**64 - 1)))
    return SeriesFacts(
        int(distinct[0]),
        int(distinct[-1]),
        step,
        share,
        median,
        calendar,
        int(counts[longer].sum()),
        int(lengths[longer[-1]]) if len(longer) else 0,
        int(starts[longer[-1]]) if len(longer) else 0,
        int(np.count_nonzero(behind)),
        int(behind.max()),
        int(np.count_nonzero(again)),
        int(rows.times[np.argmax(again)]) if again.any() else None,
        _name_order(bool((steps > 0).any()), bool((steps < 0).any())),
        bool((distinct % DAY == 0).all()),
    )


def _subtract(later: np.ndarray, earlier: np.ndarray) -> np.ndarray:
    """Return distances of int64 times, which may be beyond int64."""
    return later.astype(np.uint64) - earlier.astype(np.uint64)


def _measure_steps(
    rows: TimedRows, distinct: np.ndarray, ranks: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distances of neighbours in a series, how often each is, and where it is first."""
    _, groups = np.unique(
        rows.segments * (int(rows.series.max()) + 1) + rows.series, return_inverse=True
    )
    group, rank = np.divmod(arrays.distinct(groups * len(distinct) + ranks), len(distinct))
    same = group[1:] == group[:-1]
    before = distinct[rank[:-1][same]]
    lengths, places, counts = np.unique(
        _subtract(distinct[rank[1:][same]], before), return_index=True, return_counts=True
    )
    return lengths, counts, before[places]


def find_keys(
    rows: TimedRows, columns: Mapping[str, CellColumn], facts: Sequence[ColumnFacts]
) -> tuple[tuple[str, ...], np.ndarray, str]:
    """Return the columns that distinguish rows of one time, the series of each row, and the reason.

    Where all times differ it is a column whose name is one for keys, and whose values repeat.
    """
    rated = _list_candidates(facts)
    repeats = _count_repeats(rows.times, rows.series)
    if not repeats:
        for name in (f.name for f in rated if has_key_word(f.name) and f.kind != "integer"):
            series = _number_series(rows, [columns[name]])
            if series.any():
                return (name,), series, NAMED
        return (), rows.series, ""
    for size in (1, 2):
        for chosen in combinations([fact.name for fact in rated], size):
            series = _number_series(rows, [columns[name] for name in chosen])
            left = _count_repeats(rows.times, series)
            if left * 20 <= repeats:
                reason = f"{format_count(repeats, 'row')} have a time of another row"
                return chosen, series, f"{reason}; by it {left:,} have"
    return (), rows.series, ""


def _number_series(rows: TimedRows, columns: Sequence[CellColumn]) -> np.ndarray:
    """Return for every row the number of its series."""
    found = np.zeros(len(rows.times), np.int64)
    for column in columns:
        numbers = column.number_texts()
        codes = np.array([*map(numbers.__getitem__, column.cells)], np.int64)[rows.known]
        _, found = np.unique(found * len(numbers) + codes, return_inverse=True)
    return found


def has_key_word(name: str) -> bool:
    """Return whether a column is likely to hold keys by its name."""
    return KEY_WORD.fullmatch(name.strip()) is not None


def describe_duration(length: int) -> str:
    """Write a length in microseconds for reading: at most two parts.

    >>> describe_duration(93_784_000_000)
    '1d 2h'
    """
    parts = []
    for name, size in UNIT_LENGTHS.items():
        count, length = divmod(length, size)
        if count:
            parts.append(f"{count:,}{name}")
        elif parts:
            break
    return " ".join(parts[:2]) or "0s"


def format_instant(time: int, *, date: bool = False) -> str:
    """Write microseconds since 1970 as ISO 8601, without an offset; `date` asks for the date."""
    try:
        found = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time)
    except OverflowError:
        return f"{time} us"
    text = found.replace(tzinfo=None).isoformat()
    return text.removesuffix("T00:00:00") if date else text


def _list_candidates(facts: Sequence[ColumnFacts]) -> list[ColumnFacts]:
    """Return columns whose values repeat and may be names, the likeliest first."""

    def rate(fact: ColumnFacts) -> tuple[bool, bool, int]:
        return not has_key_word(fact.name), fact.kind == "integer", fact.distinct

    fit = [
        fact
        for fact in facts
        if fact.kind in ("text", "code", "integer")
        and 1 < fact.distinct <= fact.cells // 2
        and (fact.kind != "integer" or has_key_word(fact.name))
    ]
    return sorted(fit, key=rate)[:KEY_CANDIDATES]


def _count_repeats(times: np.ndarray, series: np.ndarray) -> int:
    distinct, ranks = np.unique(times, return_inverse=True)
    return len(times) - len(arrays.distinct(series * len(distinct) + ranks))


def _find_step(lengths: np.ndarray, counts: np.ndarray) -> tuple[int | None, float, int | None]:
    """Return the step that is most frequent, its share, and the one in the middle."""
    if not len(lengths):
        return None, 0.0, None
    best, total = int(np.argmax(counts)), int(counts.sum())
    middle = int(np.searchsorted(np.cumsum(counts), (total - 1) // 2, side="right"))
    return int(lengths[best]), int(counts[best]) / total, int(lengths[middle])


def _name_calendar(steps: Sequence[int]) -> str:
    """Name steps of months, quarters and years, which differ in length."""
    days = {step // DAY for step in steps if step % DAY == 0}
    if len(days) < 2 or len(days) < len(steps):
        return ""
    for name, least, most in (("1 month", 28, 31), ("3 months", 90, 92), ("1 year", 365, 366)):
        if all(least <= day <= most for day in days):
            return name
    return ""


def _name_order(rising: bool, falling: bool) -> str:
    if rising and falling:
        return "unsorted"
    return "ascending" if rising else "descending" if falling else "single"
