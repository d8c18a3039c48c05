"""Times of the day with points, such as 18.00 and 18.00.00: they look like numbers or dates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtbot.look.cell_forms import CLOCK, TIME
from rtbot.look.table_layout import TIME_WORD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.look.cell_column import CellColumn

SHORT = re.compile(r"(?:[01]?[0-9]|2[0-4])\.[0-5][0-9]")
LONG = re.compile(r"([01]?[0-9]|2[0-4])\.([0-5][0-9])\.([0-5][0-9])")


def is_dotted_clock(text: str) -> bool:
    """Return whether a cell may be a time of the day with points."""
    text = text.strip()
    return SHORT.fullmatch(text) is not None or LONG.fullmatch(text) is not None


def find_dotted_clocks(names: Sequence[str], columns: Sequence[CellColumn]) -> frozenset[int]:
    """Return the places of columns that are times of the day with points.

    With two points it is one if some cells cannot be dates. With one point, if there is a column of
    dates and the name is one of times, or if times of a date that is there several times ascend.
    """
    found = {place for place, column in enumerate(columns) if _are_long_clocks(column)}
    kinds = [{form.kind for form in column.forms} for column in columns]
    dates = [
        column
        for place, column in enumerate(columns)
        if kinds[place] == {TIME} and place not in found and not any(map(_has_colon, column.counts))
    ]
    if found or not dates or any(CLOCK in kind for kind in kinds):
        return frozenset(found)
    for place, column in enumerate(columns):
        if column.counts and all(map(SHORT.fullmatch, column.counts)):
            named = TIME_WORD.search(names[place].lower()) is not None
            if named or _ascends_by_date(dates[0].cells, column.cells):
                return frozenset([place])
    return frozenset()


def _has_colon(text: str) -> bool:
    return ":" in text


def _are_long_clocks(column: CellColumn) -> bool:
    """Return whether all cells are h.mm.ss, and some of them no date in any order."""
    if not LONG.fullmatch(column.example):
        return False
    matches = [LONG.fullmatch(text) for text in column.counts]
    if not all(matches):
        return False
    return any(not _may_be_date(*map(int, found.groups())) for found in matches if found)


def _may_be_date(first: int, second: int, third: int) -> bool:
    if 0 < second < 13:
        return 0 < first < 32 or 0 < third < 32
    return 0 < first < 13 and 0 < second < 32


def _ascends_by_date(dates: Sequence[str], clocks: Sequence[str]) -> bool:
    last: dict[str, tuple[int, ...]] = {}
    repeats = 0
    for date, clock in zip(dates, clocks, strict=True):
        if not clock:
            continue
        here = tuple(map(int, clock.split(".")))
        if date in last:
            repeats += 1
            if here <= last[date]:
                return False
        last[date] = here
    return repeats > 1 and repeats >= len(clocks) // 2
