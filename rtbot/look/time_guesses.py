"""Which columns are the time of a row, and how it is written."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise, takewhile
from typing import TYPE_CHECKING

from rtbot.core.number_text import format_count
from rtbot.look import time_texts
from rtbot.look.cell_column import CellColumn
from rtbot.look.cell_forms import CLOCK, TIME, describe_cell, is_absent
from rtbot.look.column_facts import CODE
from rtbot.look.dotted_clocks import is_dotted_clock
from rtbot.look.series_facts import SeriesFacts, collect_rows, describe_duration, measure_series
from rtbot.look.table_layout import TIME_WORD
from rtbot.tables.forms import TIME_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.look.column_facts import ColumnFacts, SampledTable

WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,19}")
LIKELY = 1.0
"""Columns with a lower rating are integers that ascend, and may be anything."""

PERIOD = re.compile(r"\s*(?:19|20)[0-9]{2}[- ]?(?:Q[1-4]|[SH][12]|W[0-9]{2})\s*")
"""Quarters, half-years and weeks."""

GOOD = 0.9
"""A column is of times if at least this share of its cells is read."""

PARTS = (
    ("%Y", r"#?(?:year|yr|yyyy|yy|jahr|anno|año|annee|année)", range(1000, 3000)),
    ("%m", r"(?:month|mon|mo|mm|monat|mes|mois)", range(1, 13)),
    ("%d", r"(?:day|dd|dy|dom|tag|dia|día|jour)", range(1, 32)),
    ("%H", r"(?:hour|hr|hh|h|stunde|hora|heure)", range(25)),
    ("%M", r"(?:minute|min|mn|mm|mi|minuto)", range(60)),
    ("%S", r"(?:second|sec|ss|sekunde|segundo)", range(61)),
)
"""Names of columns that hold one part of a time, in the order of the parts, and their values."""

MEASURED = 20_000
"""So many rows of each part of a file decide between formats that read all times."""

UNNAMED = re.compile(r"column_[0-9]+")
RECENT = range(1900, 2101)
"""Years that columns without a name may hold."""

TRIED = 4
"""So many formats are tried, the likeliest ones."""

DAY_OF_YEAR = ("%j", r"(?:doy|yday|day_of_year|dayofyear|julian_day|jday)", range(1, 367))
SERIAL = range(20_000, 80_000)
"""Days since 1899-12-30, as sheets count them, from 1954 to 2119."""


@dataclass(frozen=True, slots=True)
class TimeFacts:
    """The time of rows: its columns, and how their text, joined by a blank, is written.

    `form` is the value of `time_format`, None for ISO 8601 and for integers; `unit` is that of
    integers which count since 1970, `integer` whether they are integers. `naive` is whether texts
    have no offset. `others` are further formats that read all of it, with what would be different;
    `doubts` what is not certain, `obstacle` why no option reads it.
    """

    columns: tuple[str, ...]
    form: str | None = None
    unit: str | None = None
    integer: bool = False
    naive: bool = False
    reason: str = ""
    others: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    obstacle: str = ""
    bad: int = 0
    rating: float = 0.0
    texts: tuple[str, ...] = field(default=(), repr=False)
    series: SeriesFacts = field(default_factory=SeriesFacts)


def show_columns(columns: Sequence[str]) -> str:
    """Return names of columns for reading."""
    return " + ".join(name or "(no name)" for name in columns)


def guess_times(table: SampledTable, facts: Sequence[ColumnFacts]) -> list[TimeFacts]:
    """Return what may be the time of rows, the likeliest first."""
    found = [
        *(_find_parts(facts) or _find_unnamed_parts(table, facts)),
        *_find_pairs(table, facts),
        *(
            single
            for place, fact in enumerate(facts)
            if (single := _read_column(table, place, fact)) is not None
        ),
    ]
    if any(_rate_name(fact.name, 0) > LIKELY for fact in facts):
        found = [time for time in found if time.rating >= LIKELY]
    if len(found) > 1:
        constant = {fact.name for fact in facts if fact.distinct == 1 and fact.cells > 2}
        found = [time for time in found if not {*time.columns} <= constant] or found
    return sorted(found, key=lambda time: -time.rating)


def join_columns(table: SampledTable, names: Sequence[str]) -> list[list[str]]:
    """Return the texts of the columns of all rows, joined by a blank, by segment."""
    columns = [table.column(name).cells for name in names]
    joined = iter(columns[0] if len(columns) == 1 else map(" ".join, zip(*columns, strict=True)))
    return [[*islice(joined, len(rows))] for rows in table.segments()]


def parse_guess(table: SampledTable, time: TimeFacts) -> list[list[int | None]]:
    """Return the times of all rows in microseconds, or as the integers that they are."""
    return [parse_segment(texts, time) for texts in join_columns(table, time.columns)]


def parse_segment(texts: Sequence[str], time: TimeFacts) -> list[int | None]:
    """Return the times of texts in microseconds, or as the integers that they are."""
    if time.integer and time.unit is None and time.form is None:
        return [*map(_to_integer, texts)]
    form = time.form
    if time.integer and time.unit is not None and form is None:
        form = "unix" if time.unit == "s" else f"unix_{time.unit}"
    return time_texts.parse_texts(texts, form)


def _to_integer(text: str) -> int | None:
    return int(text) if WHOLE_NUMBER.fullmatch(text) else None


def _rate_name(name: str, place: int) -> float:
    bare = name.strip().lower()
    if bare in TIME_NAMES:
        return 3.0 - 0.1 * TIME_NAMES.index(bare) - 0.01 * place
    return (1.5 if TIME_WORD.search(bare) else 0.0) - 0.01 * place


def _find_parts(facts: Sequence[ColumnFacts]) -> list[TimeFacts]:
    """Find columns that hold the year, the month and so on, from the year on without a gap."""
    start = next((p for p, fact in enumerate(facts) if _is_part(fact, PARTS[0])), None)
    if start is None:
        return []
    chosen, forms = [facts[start]], ["%Y" if (facts[start].least or 0) >= 1000 else "%y"]
    rest = list(facts[start + 1 :])
    wanted = [DAY_OF_YEAR, *PARTS[3:]] if rest and _is_part(rest[0], DAY_OF_YEAR) else PARTS[1:]
    for part, fact in zip(wanted, rest, strict=False):
        if not _is_part(fact, part):
            break
        chosen.append(fact)
        forms.append(part[0])
    if len(chosen) < (2 if "%j" in forms else 3):
        return []
    names = tuple(fact.name for fact in chosen)
    doubts = ("hour 24 is there",) if any(f.greatest == 24 for f in chosen[3:4]) else ()
    return [TimeFacts(names, " ".join(forms), naive=True, doubts=doubts, rating=5.0)]


def _find_unnamed_parts(table: SampledTable, facts: Sequence[ColumnFacts]) -> list[TimeFacts]:
    """Find columns without names that hold the year, the month and so on, by their values.

    Of further parts so many are taken that times are in order, different and evenly spaced.
    """
    if not all(UNNAMED.fullmatch(fact.name) for fact in facts):
        return []
    start = next((p for p, fact in enumerate(facts) if _has_values(fact, RECENT)), len(facts))
    pairs = zip(PARTS[1:], facts[start + 1 :], strict=False)
    fits = takewhile(lambda pair: _has_values(pair[1], pair[0][2]), pairs)
    names = [fact.name for fact in (*facts[start : start + 1], *(fact for _, fact in fits))]
    guesses = [
        TimeFacts(tuple(names[:count]), " ".join(part[0] for part in PARTS[:count]), naive=True)
        for count in range(3, len(names) + 1)
    ]
    measured = [(_measure_guess(table, guess), guess) for guess in guesses]
    facts_of, best = min(measured, key=lambda pair: _rate_parts(pair[0]), default=(None, None))
    if facts_of is None or best is None or facts_of.order not in ("ascending", "descending"):
        return []
    doubts = ("taken for parts of a time by their values alone",)
    return [replace(best, doubts=doubts, rating=2.0)]


def _has_values(fact: ColumnFacts, values: range) -> bool:
    if fact.kind not in ("integer", CODE) or fact.least is None or fact.greatest is None:
        return False
    return not fact.tokens and int(fact.least) in values and int(fact.greatest) in values


def _rate_parts(facts: SeriesFacts) -> tuple[bool, int, float]:
    return facts.order == "unsorted", facts.late + facts.duplicates, facts.gaps - facts.share


def _measure_guess(table: SampledTable, time: TimeFacts) -> SeriesFacts:
    """Measure the times of the first rows of each part of a file."""
    chosen = [segment[:MEASURED] for segment in join_columns(table, time.columns)]
    return measure_series(collect_rows([parse_segment(texts, time) for texts in chosen]))


def _is_part(fact: ColumnFacts, part: tuple[str, str, range]) -> bool:
    directive, names, values = part
    if fact.kind not in ("integer", CODE) or not re.fullmatch(names, fact.name.strip().lower()):
        return False
    least, greatest = int(fact.least or 0), int(fact.greatest or 0)
    short_year = directive == "%Y" and 0 <= least <= greatest < 100
    return short_year or (least in values and greatest in values)


def _find_pairs(table: SampledTable, facts: Sequence[ColumnFacts]) -> list[TimeFacts]:
    """Find a column of dates beside one of times of the day."""
    clocks = [place for place, fact in enumerate(facts) if _is_clock(fact)]
    for place, fact in enumerate(facts):
        if fact.kind != TIME and not (fact.kind == "integer" and _is_compact(table, fact.name)):
            continue
        if fact.kind == TIME and ":" in fact.example:
            continue
        for clock in sorted(clocks, key=lambda other: abs(other - place)):
            names = (fact.name, facts[clock].name)
            if names[0] == names[1]:  # columns without names
                continue
            found = _read_texts(table, names, place)
            if found is not None and not found.obstacle:
                bonus = 1.0 if abs(clock - place) == 1 else 0.0
                return [replace(found, rating=found.rating + bonus)]
    return []


def _is_clock(fact: ColumnFacts) -> bool:
    """Return whether a column has times of the day, with colons or as 6 digits such as 093000."""
    if fact.kind == CLOCK:
        return True
    timed = fact.kind in (CODE, "integer") and TIME_WORD.search(fact.name) is not None
    return timed and len(fact.example.strip()) == 6 and (fact.greatest or 0) < 240_000


def _is_compact(table: SampledTable, name: str) -> bool:
    return time_texts.find_compact_format([*table.column(name).counts]) == "%Y%m%d"


def _read_column(table: SampledTable, place: int, fact: ColumnFacts) -> TimeFacts | None:
    """Return how a column is a time, or None."""
    if table.types.get(fact.name) in ("timestamp", "instant", "date"):
        naive = table.types[fact.name] == "timestamp"
        return TimeFacts((fact.name,), naive=naive, rating=4.0 + _rate_name(fact.name, place))
    if fact.kind in ("integer", "number", CODE):
        return _read_numbers(table, place, fact)
    if fact.kind in (TIME, "text"):
        return _read_texts(table, (fact.name,), place)
    if fact.kind == CLOCK:
        obstacle = f"times of the day without a date, such as {fact.example.strip()!r}"
        return TimeFacts((fact.name,), obstacle=obstacle, rating=_rate_name(fact.name, place))
    return None


def _read_numbers(table: SampledTable, place: int, fact: ColumnFacts) -> TimeFacts | None:
    """Return how numbers are times: counts since 1970, dates as integers, or bare integers."""
    column = table.column(fact.name)
    texts = [text for text in column.sample if text not in fact.tokens]
    rating = _rate_name(fact.name, place)
    name = (fact.name,)
    compact = time_texts.find_compact_format(texts) if fact.kind == "integer" else None
    if compact is not None:
        reason = "integers that are dates: without an option they are read as the numbers they are"
        return TimeFacts(name, compact, naive=True, rating=rating + 1.5, reason=reason)
    unit = time_texts.find_epoch_unit(texts)
    if not texts or (unit is not None and rating <= 1 and not _goes_one_way(column, fact)):
        return None
    if unit is not None and (rating > 1 or fact.distinct > fact.cells // 3):
        digits = len(texts[0].partition(".")[0])
        reason = f"{digits} digits: counts since 1970 in {unit}"
        if fact.kind == "integer":
            return TimeFacts(name, None, unit, integer=True, rating=rating + 1.5, reason=reason)
        form = "unix" if unit == "s" else f"unix_{unit}"
        return TimeFacts(name, form, "ns", rating=rating + 1.5, reason=reason)
    values = range(int(fact.least or 0), int(fact.greatest or 0) + 1)
    if rating > 1 and values and values[0] in SERIAL and values[-1] in SERIAL:
        obstacle = f"numbers such as {texts[0]} look like days of a sheet: save them as dates"
        return TimeFacts(name, integer=True, obstacle=obstacle, rating=rating)
    plain = all(time_texts.EPOCH.fullmatch(text) for text in texts)
    if rating > 1 and fact.kind == "number" and plain and _ascends(column, fact):
        doubts = (f"seconds since a start, {texts[0]} and so on, are taken as seconds since 1970",)
        return TimeFacts(name, "unix", "ns", rating=rating, doubts=doubts)
    if rating > 1 and fact.kind == "integer":
        return TimeFacts(name, integer=True, rating=rating, reason="integers, whatever they count")
    if fact.kind == "integer" and _ascends(column, fact):
        doubts = ("integers that ascend: are they the times?",)
        return TimeFacts(name, integer=True, rating=rating, doubts=doubts)
    return None


def _list_moves(column: CellColumn, fact: ColumnFacts) -> Iterator[float]:
    """Yield the distances of numbers from the one before."""
    numbers = (float(text) for text in column.cells if text and text not in fact.tokens)
    return (after - before for before, after in pairwise(numbers))


def _goes_one_way(column: CellColumn, fact: ColumnFacts) -> bool:
    """Return whether most numbers are greater than the one before, or most are less."""
    signs = Counter(move > 0 for move in _list_moves(column, fact) if move)
    return 4 * max(signs.values(), default=0) >= 3 * signs.total()


def _ascends(column: CellColumn, fact: ColumnFacts) -> bool:
    """Return whether every number is greater than the one before."""
    return len(column.counts) > 1 and all(move > 0 for move in _list_moves(column, fact))


def _read_texts(table: SampledTable, names: tuple[str, ...], place: int) -> TimeFacts | None:
    """Return how texts are times, or None; what most of them are decides."""
    column = CellColumn(chain.from_iterable(join_columns(table, names)))
    filled = [text for text in column.sample if not is_absent(text)]
    timely = [text for text in filled if describe_cell(text).kind == TIME or _is_date_clock(text)]
    if filled and all(map(PERIOD.fullmatch, filled)):
        obstacle = f"periods such as {filled[0].strip()!r} are not read: write their first day"
        rating = 2.0 + _rate_name(names[0], place)
        return TimeFacts(names, obstacle=obstacle, rating=rating, texts=tuple(filled[:1]))
    if not filled or len(timely) < GOOD * len(filled):
        return None
    rating = 3.0 + _rate_name(names[0], place)
    rating += 0.5 if any(":" in text for text in timely[:20]) else 0.0
    forms = _list_dotted_formats(timely) or time_texts.list_formats(timely)
    if not forms:
        obstacle = _explain_unread(timely)
        return TimeFacts(names, obstacle=obstacle, rating=rating - 2.0, texts=tuple(timely[:1]))
    time = TimeFacts(names, rating=rating)
    unit = "ns" if time_texts.choose_unit(column.counts) == "ns" else None
    time = _choose_form(table, replace(time, unit=unit), _keep_best(column, forms))
    naive = time.form is None or not re.search(r"%z|Z$| UTC$", time.form)
    if time.form is None:
        naive = not re.search(r"(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)$", timely[0][11:], re.IGNORECASE)
        naive = naive and len(timely[0]) > len("2024-01-31")
    return replace(time, naive=naive, texts=tuple(timely[:1]))


def _keep_best(column: CellColumn, forms: Sequence[str | None]) -> list[str | None]:
    """Return the formats that read most of all texts, of several that read a sample of them."""
    tried = list(forms[:TRIED])
    if len(column.counts) <= len(column.sample) or len(tried) < 2:
        return tried
    texts = list(column.counts)
    unread = [time_texts.parse_texts(texts, form).count(None) for form in tried]
    return [form for form, count in zip(tried, unread, strict=True) if count == min(unread)]


def _list_dotted_formats(texts: Sequence[str]) -> list[str | None]:
    """Return the formats of dates with times of the day with points behind a blank, else none."""
    pairs = [text.strip().split(" ") for text in texts]
    if not all(len(pair) == 2 and is_dotted_clock(pair[1]) for pair in pairs):
        return []
    points = {clock.count(".") for _, clock in pairs}
    if len(points) != 1:
        return []
    clock = "%H.%M.%S" if points == {2} else "%H.%M"
    dates = time_texts.list_formats([date for date, _ in pairs])
    forms: list[str | None] = [f"{date or '%Y-%m-%d'} {clock}" for date in dates]
    return [form for form in forms if None not in time_texts.parse_texts(texts[:100], form)]


def _is_date_clock(text: str) -> bool:
    day, _, clock = text.partition(" ")
    if not re.fullmatch(r"(?:19|20)[0-9]{6}", day) and describe_cell(day).kind != TIME:
        return False
    if describe_cell(clock).kind == CLOCK or is_dotted_clock(clock):
        return True
    return re.fullmatch(r"[0-9]{6}", clock) is not None


def _choose_form(table: SampledTable, time: TimeFacts, forms: Sequence[str | None]) -> TimeFacts:
    """Choose the format by which times are most regular; the others are doubts."""
    if len(forms) == 1:
        return replace(time, form=forms[0])
    measured = [(form, _measure_guess(table, replace(time, form=form))) for form in forms]
    rated = sorted(measured, key=lambda pair: _rate_disorder(pair[1]))
    best, facts = rated[0]
    others, doubts = [], []
    for form, other in rated[1:]:
        others.append(str(form))
        doubts.append(f"{form} reads all times too: {_compare(facts, other)}")
    return replace(time, form=best, others=tuple(others), doubts=tuple(doubts))


def _rate_disorder(facts: SeriesFacts) -> tuple[bool, int, float]:
    return facts.order == "unsorted", facts.late, facts.gaps - facts.share


def _compare(chosen: SeriesFacts, other: SeriesFacts) -> str:
    """Say how times would differ in another format, which is why this one was chosen."""
    if other.order == "unsorted" and chosen.order != "unsorted":
        return f"{format_count(other.late, 'row')} would be late"
    if other.step is None or chosen.step is None:
        return "nothing in the file decides"
    if (other.gaps, other.usual) != (chosen.gaps, chosen.usual):
        steps = [_name_step(facts) for facts in (chosen, other)]
        return f"the step would be {steps[1]}, and not {steps[0]}"
    return "nothing in the file decides"


def _name_step(facts: SeriesFacts) -> str:
    text = facts.calendar or describe_duration(facts.usual or 0)
    gaps = f" with {format_count(facts.gaps, 'gap')} up to {describe_duration(facts.gap)}"
    return text + gaps if facts.gaps else text


def _explain_unread(texts: Sequence[str]) -> str:
    text = texts[0]
    halves = re.split(r"\s+(?:-|to|/|\u2013)\s+|/(?=[0-9]{4})", text)
    if len(halves) == 2 and all(describe_cell(half).kind == TIME for half in halves):
        return f"{text!r} is an interval: only one time is read; keep its beginning"
    zones = [re.search(r"[+-][0-9]{2}:?[0-9]{2}$|Z$", text) is not None for text in texts]
    if any(zones) and not all(zones):
        return "times with and without an offset are mixed"
    return f"no format reads times such as {text!r}"
