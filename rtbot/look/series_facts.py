"""Span, step, gaps and order of times, and which columns distinguish several series."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.look.column_facts import ColumnFacts

    Segment = Sequence[tuple[int | None, tuple[str, ...]]]

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
    of a series have, with `share` of all; None if there are fewer than two times. `gaps` are longer
    distances, `gap` the longest. `late` rows come after a later one of their series, at most by
    `lateness`; `duplicates` have a time that their series had before. `order` is ascending,
    descending, unsorted or single; `dates` is whether all are at midnight.
    """

    first: int = 0
    last: int = 0
    step: int | None = None
    share: float = 0.0
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


def measure_series(segments: Sequence[Segment]) -> SeriesFacts:
    """Measure times with their keys, in the order of the file; each segment is without breaks."""
    every = [time for segment in segments for time, _ in segment if time is not None]
    if not every:
        return SeriesFacts()
    series = [times for segment in segments for times in split_series(segment).values()]
    steps: Counter[int] = Counter()
    starts: dict[int, int] = {}
    for times in series:
        for before, after in pairwise(sorted(set(times))):
            steps[after - before] += 1
            starts.setdefault(after - before, before)
    whole = [*split_series([pair for segment in segments for pair in segment]).values()]
    late, lateness = _measure_lateness(whole)
    duplicates, duplicate_at = _count_duplicates(whole)
    step, share = _find_step(steps)
    longer = {} if step is None else {d: n for d, n in steps.items() if d * 2 > step * 3}
    calendar = _name_calendar(steps)
    if calendar:
        longer = {}
    gap = max(longer, default=0)
    return SeriesFacts(
        min(every),
        max(every),
        step,
        share,
        calendar,
        sum(longer.values()),
        gap,
        starts.get(gap, 0),
        late,
        lateness,
        duplicates,
        duplicate_at,
        _name_order(whole),
        all(time % DAY == 0 for time in every),
    )


def split_series(segment: Segment) -> dict[tuple[str, ...], list[int]]:
    """Split times by their keys."""
    found: dict[tuple[str, ...], list[int]] = {}
    for time, key in segment:
        if time is not None:
            found.setdefault(key, []).append(time)
    return found


def find_keys(
    times: Sequence[int | None], columns: Mapping[str, Sequence[str]], facts: Sequence[ColumnFacts]
) -> tuple[tuple[str, ...], str]:
    """Return the columns that distinguish rows of one time, with the reason; none if all differ.

    Where all times differ it is a column whose name is one for keys, and whose values repeat.
    """
    rated = _list_candidates(facts)
    repeats = _count_repeats(times, [()] * len(times))
    if not repeats:
        named = [f.name for f in rated if _has_key_word(f.name) and f.kind != "integer"]
        return tuple(named[:1]), NAMED if named else ""
    for size in (1, 2):
        for chosen in combinations([fact.name for fact in rated], size):
            keys = list(zip(*(columns[name] for name in chosen), strict=True))
            left = _count_repeats(times, keys)
            if left * 20 <= repeats:
                return chosen, f"{repeats} rows have a time of another row; by it {left} have"
    return (), ""


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
        return not _has_key_word(fact.name), fact.kind == "integer", fact.distinct

    fit = [
        fact
        for fact in facts
        if fact.kind in ("text", "code", "integer")
        and 1 < fact.distinct <= fact.cells // 2
        and (fact.kind != "integer" or _has_key_word(fact.name))
    ]
    return sorted(fit, key=rate)[:KEY_CANDIDATES]


def _has_key_word(name: str) -> bool:
    return KEY_WORD.fullmatch(name.strip()) is not None


def _count_repeats(times: Sequence[int | None], keys: Sequence[tuple[str, ...]]) -> int:
    seen, count = set(), 0
    for pair in zip(times, keys, strict=True):
        count += pair in seen
        seen.add(pair)
    return count


def _measure_lateness(series: Sequence[Sequence[int]]) -> tuple[int, int]:
    late, lateness = 0, 0
    for times in series:
        last = times[0]
        for time in times:
            late += time < last
            lateness = max(lateness, last - time)
            last = max(last, time)
    return late, lateness


def _count_duplicates(series: Sequence[Sequence[int]]) -> tuple[int, int | None]:
    count, first = 0, None
    for times in series:
        seen: set[int] = set()
        for time in times:
            if time in seen:
                count += 1
                first = time if first is None else first
            seen.add(time)
    return count, first


def _find_step(steps: Counter[int]) -> tuple[int | None, float]:
    """Return the step and its share; where no distance is usual, the one in the middle."""
    if not steps:
        return None, 0.0
    step, count = max(steps.items(), key=lambda item: (item[1], -item[0]))
    share = count / steps.total()
    if share > REGULAR:
        return step, share
    return sorted(steps.elements())[(steps.total() - 1) // 2], share


def _name_calendar(steps: Counter[int]) -> str:
    """Name steps of months, quarters and years, which differ in length."""
    days = {step // DAY for step in steps if step % DAY == 0}
    if len(days) < 2 or len(days) < len(steps):
        return ""
    for name, least, most in (("1 month", 28, 31), ("3 months", 90, 92), ("1 year", 365, 366)):
        if all(least <= day <= most for day in days):
            return name
    return ""


def _name_order(series: Sequence[Sequence[int]]) -> str:
    rising = any(a < b for times in series for a, b in pairwise(times))
    falling = any(a > b for times in series for a, b in pairwise(times))
    if rising and falling:
        return "unsorted"
    return "ascending" if rising else "descending" if falling else "single"
