"""What the columns of a table hold: kinds, ranges, tokens of absent cells, signs of numbers."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from rtbot.core.vector_names import VECTOR
from rtbot.look import cell_forms
from rtbot.look.cell_column import CellColumn
from rtbot.look.cell_forms import COMMA, EMPTY, NUMBER, POINT
from rtbot.look.sparkline import draw_text_sparkline

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

NUMERIC = ("number", "integer")
LIST = "list"
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
) | {-200.0}
"""Numbers that some sources write for an absent value."""


THREE_DIGITS = "all decimals have three digits: is the point perhaps one of thousands?"


@dataclass(frozen=True)
class SampledTable:
    """Cells of a table as text: rows of the beginning, and rows of later parts.

    `types` has the type of a column where the file itself has it (JSON, Parquet, Arrow); that of a
    column of lists is `vector[n]`, or `list`. `clocks` are the places of columns of times of the
    day with points.
    """

    names: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    parts: Sequence[Sequence[Sequence[str]]] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    clocks: frozenset[int] = frozenset()

    @cached_property
    def columns(self) -> list[CellColumn]:
        """The cells of every column in all rows."""
        cells = zip(*(row for rows in self.segments() for row in rows), strict=True)
        return [*map(CellColumn, cells)] or [CellColumn(()) for _ in self.names]

    def column(self, name: str) -> CellColumn:
        """Return the cells of the column of this name."""
        return self.columns[self.names.index(name)]

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

    That of lists is `vector[n]`, if each has n numbers, else `list`.

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
    found = []
    for place, (name, column) in enumerate(zip(table.names, table.columns, strict=True)):
        type_ = table.types.get(name, "")
        if place in table.clocks:
            found.append(_describe_texts(name, column, cell_forms.CLOCK))
        elif type_.startswith((LIST, VECTOR)):
            found.append(_describe_texts(name, column, type_))
        else:
            found.append(describe_column(name, column, signs))
    return found


def name_lists(lists: Iterable[Sequence[object] | None]) -> str:
    """Return the kind of a column of lists: `vector[n]` if each but null has n numbers."""
    sizes = {
        len(cells) if all(type(cell) in (int, float) for cell in cells) else 0
        for cells in lists
        if cells is not None
    }
    size = sizes.pop() if len(sizes) == 1 else 0
    return f"{VECTOR}[{size}]" if size else LIST


def _describe_texts(name: str, column: CellColumn, kind: str) -> ColumnFacts:
    """Describe a column of which nothing but its kind is told, such as times with points."""
    return ColumnFacts(
        name,
        kind,
        len(column),
        column.empty,
        distinct=len(column.counts),
        example=column.example,
    )


def describe_column(name: str, column: CellColumn, signs: DetectedSigns) -> ColumnFacts:
    """Describe the cells of a column."""
    counts, cells, empty = column.counts, len(column), column.empty
    if not counts:
        return ColumnFacts(name, EMPTY, cells, empty)
    numbers = column.read_numbers(signs.decimal, signs.thousands)
    kinds: Counter[str] = Counter()
    for form, count in column.count_forms().items():
        kinds[form.kind] += count
    read = column.count_cells(numbers)
    kinds["text"] += kinds[NUMBER] - read
    kinds[NUMBER] = read
    known = sum(column.absent.values())
    strange = len(numbers) < len(counts)
    others = {t: n for t, n in counts.items() if t not in numbers} if strange else {}
    if kinds[NUMBER] > MOST * (kinds.total() - known) or (
        kinds[NUMBER] and len(others) == 1 and known
    ):
        found = _describe_numbers(name, column, numbers, others)
        unknown = len(found.tokens) > len(found.known)
        if len(others) <= TOKENS_MAX and not (found.kind == CODE and unknown):
            return found
    kind, count = max(kinds.items(), key=lambda item: item[1])
    kind = kind if count >= 0.9 * (kinds.total() - known) and kind != NUMBER else "text"
    note = _describe_measures(column.sample) if kind == cell_forms.MEASURE else ""
    if numbers and kind == "text" and kinds[NUMBER] > MOST * kinds.total():
        note = f"numbers, and {len(others):,} other texts"
    distinct, example = len(counts), column.example
    return ColumnFacts(name, kind, cells, empty, distinct=distinct, note=note, example=example)


def find_number_signs(table: SampledTable, delimiter: str) -> DetectedSigns:
    """Find the decimal sign and that of thousands by the cells of all columns of numbers.

    What may be either, such as 1.234, counts for neither where another cell decides. A file with
    another delimiter than a comma may be from where points are between thousands.
    """
    found: Counter[tuple[str, str, str]] = Counter()
    for place, column in enumerate(table.columns):
        if place in table.clocks:
            continue
        forms = column.count_forms()
        numbers = {form: count for form, count in forms.items() if form.kind == NUMBER}
        if sum(numbers.values()) > MOST * (forms.total() - sum(column.absent.values())):
            for form, count in numbers.items():
                found[form.decimal, form.thousands, form.unsure] += count
    decimals = _count_signs(found, 0)
    thousands = _count_signs(found, 1)
    unsure = _count_signs(found, 2)
    found_signs = _decide_signs(decimals, thousands, unsure)
    if found_signs.decimal == delimiter:
        count = decimals[delimiter]
        doubt = f"{count:,} cells have {delimiter!r} as decimal sign, which separates cells"
        return DetectedSigns(POINT, delimiter, doubt if count else "")
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
        counts = f"{decimals[other]:,}", f"{decimals[decimal]:,}"
        doubt = f"{counts[0]} cells have {other!r} as decimal sign, {counts[1]} others"
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


def _describe_numbers(
    name: str, column: CellColumn, numbers: Mapping[str, float], others: Mapping[str, int]
) -> ColumnFacts:
    """Describe a column of numbers, in which other texts are tokens."""
    sentinels = _find_sentinels(numbers.values())
    chosen = [text for text, value in numbers.items() if value in sentinels] if sentinels else ()
    return measure_numbers(
        ColumnFacts(
            name,
            _name_number_kind(column, numbers),
            len(column),
            column.empty,
            dict(others),
            tuple(text for text in others if text in column.absent),
            {text: column.counts[text] for text in chosen},
            len(column.counts),
            example=column.example,
        ),
        column,
        numbers,
    )


def measure_numbers(
    facts: ColumnFacts, column: CellColumn, numbers: Mapping[str, float]
) -> ColumnFacts:
    """Fill in the range of the numbers and their picture, without the sentinels."""
    left = dict(numbers)
    for text in facts.sentinels:
        del left[text]
    finite = [value for value in left.values() if math.isfinite(value)]
    return replace(
        facts,
        least=min(finite, default=None),
        greatest=max(finite, default=None),
        picture=draw_text_sparkline([*map(left.get, column.cells)]),
    )


def _name_number_kind(column: CellColumn, numbers: Iterable[str]) -> str:
    if any(form.kind == NUMBER and (form.decimal or form.unsure) for form in column.forms):
        return "number"
    if not all(map(cell_forms.INTEGER.fullmatch, numbers)):
        return "number"
    return CODE if any(text[0] == "0" and len(text) > 1 for text in numbers) else "integer"


def _find_sentinels(numbers: Collection[float]) -> set[float]:
    """Return numbers that sources write for absent ones, where they are far from all others."""
    values = {value for value in numbers if math.isfinite(value)}
    found: set[float] = set()
    while len(values) > 2 and not SENTINELS.isdisjoint((min(values), max(values))):
        chosen = next(filter(None, (_take_end(values, low=low) for low in (True, False))), None)
        if chosen is None:
            break
        found.add(chosen)
    return found


def _take_end(values: set[float], *, low: bool) -> float | None:
    """Remove the least or the greatest value if it is far from all others; return it, or None."""
    end = min(values) if low else max(values)
    if end not in SENTINELS:
        return None
    rest = values - {end}
    least, greatest = min(rest), max(rest)
    if (least - end if low else end - greatest) <= greatest - least:
        return None
    values.remove(end)
    return end


def _describe_measures(counts: Iterable[str]) -> str:
    """Name the unit that is written beside the numbers."""
    units = Counter(text.strip("0123456789+-., ") for text in counts)
    return f"numbers with {units.most_common(1)[0][0]!r} beside them: only bare numbers are read"
