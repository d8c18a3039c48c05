"""What the columns of a table hold: kinds, ranges, tokens of absent cells, signs of numbers."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rtbot.look import cell_forms
from rtbot.look.cell_forms import COMMA, EMPTY, NUMBER, POINT, describe_cell
from rtbot.look.sparkline import draw_text_sparkline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

NUMERIC = ("number", "integer")
CODE = "code"
"""The kind of integers some of which begin with zeros: names, or parts of times."""

TOKENS_MAX = 8
"""A column of numbers has no more kinds of tokens than this; else it is text."""

MOST = 0.5
"""A column is of numbers if more than this share of its cells are."""

SENTINELS = frozenset(
    sign * value
    for digits in (99, 999, 9999, 99999, 999999)
    for value in (digits, digits + 0.9, digits + 0.99, digits / 10)
    for sign in (1, -1)
)
"""Numbers that some sources write for an absent value."""


THREE_DIGITS = "all decimals have three digits: is the point perhaps one of thousands?"


@dataclass(frozen=True, slots=True)
class SampledTable:
    """Cells of a table as text: rows of the beginning, and rows of later parts.

    `types` has the type of a column where the file itself has it (JSON, Parquet, Arrow). `clocks`
    are the places of columns of times of the day with points.
    """

    names: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    parts: Sequence[Sequence[Sequence[str]]] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    clocks: frozenset[int] = frozenset()

    def column(self, place: int) -> list[str]:
        """Return the cells of a column in all rows."""
        return [row[place] for rows in self.segments() for row in rows]

    def segments(self) -> list[Sequence[Sequence[str]]]:
        """Return the rows of the beginning and of every part."""
        return [self.rows, *self.parts]


@dataclass(frozen=True, slots=True)
class DetectedSigns:
    """The decimal sign and the sign of thousands; `doubt` is what speaks against them."""

    decimal: str = POINT
    thousands: str = ""
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column: its kind is number, integer, code, boolean, time, clock, measure, text or empty.

    `cells` are those looked at, of which `empty` are blank. `tokens` are texts in a column of
    numbers with their counts; `known` are those of them that are known to mean an absent value.
    `sentinels` are numbers that may mean one. `distinct` is how many different cells there are,
    `least` and `greatest` are of numbers; `note` is what else is to be known.
    """

    name: str
    kind: str
    cells: int
    empty: int = 0
    tokens: Mapping[str, int] = field(default_factory=dict)
    known: tuple[str, ...] = ()
    sentinels: Mapping[str, int] = field(default_factory=dict)
    distinct: int = 0
    least: float | None = None
    greatest: float | None = None
    picture: str = ""
    note: str = ""
    example: str = ""


def describe_columns(table: SampledTable, signs: DetectedSigns) -> list[ColumnFacts]:
    """Describe every column."""
    return [
        _describe_clocks(name, table.column(place))
        if place in table.clocks
        else describe_column(name, table.column(place), signs)
        for place, name in enumerate(table.names)
    ]


def _describe_clocks(name: str, cells: Sequence[str]) -> ColumnFacts:
    """Describe a column of times of the day with points."""
    counts = Counter(cell.strip() for cell in cells)
    empty = counts.pop("", 0)
    example = next((cell for cell in cells if cell.strip()), "")
    return ColumnFacts(
        name, cell_forms.CLOCK, len(cells), empty, distinct=len(counts), example=example
    )


def describe_column(name: str, cells: Sequence[str], signs: DetectedSigns) -> ColumnFacts:
    """Describe the cells of a column."""
    counts = Counter(cell.strip() for cell in cells)
    empty = counts.pop("", 0)
    kinds: Counter[str] = Counter()
    for text, count in counts.items():
        kinds[_read_kind(text, signs)] += count
    example = next((cell for cell in cells if cell.strip()), "")
    if not kinds:
        return ColumnFacts(name, EMPTY, len(cells), empty)
    others = {t: n for t, n in counts.items() if _read_kind(t, signs) != NUMBER}
    if kinds[NUMBER] > MOST * (kinds.total() - _count_absent(counts)) or (
        kinds[NUMBER] and len(others) == 1 and cell_forms.is_absent(next(iter(others)))
    ):
        found = _describe_numbers(name, cells, signs, counts, others)
        strange = len(found.tokens) - len(found.known)
        if len(others) <= TOKENS_MAX and not (found.kind == CODE and strange):
            return found
    distinct = len(counts)
    known = _count_absent(counts)
    kind, count = max(kinds.items(), key=lambda item: item[1])
    kind = kind if count >= 0.9 * (kinds.total() - known) and kind != NUMBER else "text"
    note = _describe_measures(counts) if kind == cell_forms.MEASURE else ""
    if NUMBER in kinds and kind == "text" and kinds[NUMBER] > MOST * kinds.total():
        note = f"numbers, and {len(others)} other texts"
    return ColumnFacts(name, kind, len(cells), empty, distinct=distinct, note=note, example=example)


def find_number_signs(table: SampledTable, delimiter: str) -> DetectedSigns:
    """Find the decimal sign and that of thousands by the cells of all columns of numbers.

    What may be either, such as 1.234, counts for neither where another cell decides. A file with
    another delimiter than a comma may be from where points are between thousands.
    """
    found: Counter[tuple[str, str, str]] = Counter()
    for place in {*range(len(table.names))} - table.clocks:
        known = [cell for cell in table.column(place) if not cell_forms.is_absent(cell)]
        cells = [describe_cell(cell) for cell in known]
        numbers = [form for form in cells if form.kind == NUMBER]
        if len(numbers) > MOST * sum(form.kind != EMPTY for form in cells):
            found.update((form.decimal, form.thousands, form.unsure) for form in numbers)
    decimals = _count_signs(found, 0)
    thousands = _count_signs(found, 1)
    unsure = _count_signs(found, 2)
    found_signs = _decide_signs(decimals, thousands, unsure)
    doubtful = unsure[POINT] > 2 and not decimals and not thousands and delimiter == ";"
    return replace(found_signs, doubt=THREE_DIGITS) if doubtful else found_signs


def _count_signs(found: Mapping[tuple[str, str, str], int], place: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for signs, count in found.items():
        counts[signs[place]] += count
    counts.pop("", None)
    return counts


def _decide_signs(
    decimals: Counter[str], thousands: Counter[str], unsure: Counter[str]
) -> DetectedSigns:
    group = thousands.most_common(1)[0][0] if thousands else ""
    if decimals[POINT] and decimals[COMMA]:
        decimal = POINT if decimals[POINT] >= decimals[COMMA] else COMMA
        other = COMMA if decimal == POINT else POINT
        doubt = (
            f"{decimals[other]} cells have {other!r} as decimal sign, {decimals[decimal]} others"
        )
        return DetectedSigns(decimal, group if group != decimal else "", doubt)
    if decimals:
        decimal = next(iter(+decimals))
        other = COMMA if decimal == POINT else POINT
        return DetectedSigns(decimal, group or (other if unsure[other] else ""))
    if group in (POINT, COMMA):
        return DetectedSigns(COMMA if group == POINT else POINT, group)
    if unsure[COMMA]:
        doubt = "numbers such as 1,234 may be 1.234 or 1234: no other cell decides"
        return DetectedSigns(COMMA, group, doubt)
    return DetectedSigns(POINT, group)


def _read_kind(text: str, signs: DetectedSigns) -> str:
    """Return the kind of a cell; a number with other signs than those of the file is text."""
    form = describe_cell(text)
    if form.kind == NUMBER and cell_forms.to_number(text, signs.decimal, signs.thousands) is None:
        return "text"
    return form.kind


def _count_absent(counts: Mapping[str, int]) -> int:
    return sum(count for text, count in counts.items() if cell_forms.is_absent(text))


def _describe_numbers(
    name: str,
    cells: Sequence[str],
    signs: DetectedSigns,
    counts: Mapping[str, int],
    others: Mapping[str, int],
) -> ColumnFacts:
    """Describe a column of numbers, in which other texts are tokens."""
    values = [
        None if cell.strip() in others else cell_forms.to_number(cell, *_pair(signs))
        for cell in cells
    ]
    finite = [value for value in values if value is not None and math.isfinite(value)]
    sentinels = _find_sentinels(finite)
    shown = [None if value in sentinels else value for value in values]
    left = [value for value in finite if value not in sentinels]
    return ColumnFacts(
        name,
        _name_number_kind([text for text in counts if text not in others]),
        len(cells),
        sum(not cell.strip() for cell in cells),
        dict(others),
        tuple(text for text in others if cell_forms.is_absent(text)),
        {f"{value:g}": finite.count(value) for value in sorted(sentinels)},
        len(counts),
        min(left, default=None),
        max(left, default=None),
        draw_text_sparkline(shown),
        example=next((cell for cell in cells if cell.strip()), ""),
    )


def _name_number_kind(texts: Sequence[str]) -> str:
    if not all(cell_forms.INTEGER.fullmatch(text) for text in texts):
        return "number"
    return CODE if any(len(text) > 1 and text.startswith("0") for text in texts) else "integer"


def _pair(signs: DetectedSigns) -> tuple[str, str]:
    return signs.decimal, signs.thousands


def _find_sentinels(values: Sequence[float]) -> set[float]:
    """Return values that sources write for absent ones, where they are far from all others."""
    found = set()
    distinct = sorted(set(values))
    for value, rest in (
        ((distinct[0], distinct[1:]), (distinct[-1], distinct[:-1])) if len(distinct) > 2 else ()
    ):
        span = rest[-1] - rest[0]
        if value in SENTINELS and min(abs(value - rest[0]), abs(value - rest[-1])) > span:
            found.add(value)
    return found


def _describe_measures(counts: Iterable[str]) -> str:
    """Name the unit that is written beside the numbers."""
    units = Counter(text.strip("0123456789+-., ") for text in counts)
    return f"numbers with {units.most_common(1)[0][0]!r} beside them: only bare numbers are read"
