"""Times of the day with points, such as 18.00 and 18.00.00: they look like numbers or dates."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from rtbot.look.cell_forms import CLOCK, TIME, describe_cell
from rtbot.look.table_layout import TIME_WORD

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORT = re.compile(r"(?:[01]?[0-9]|2[0-4])\.[0-5][0-9]")
LONG = re.compile(r"([01]?[0-9]|2[0-4])\.([0-5][0-9])\.([0-5][0-9])")


def is_dotted_clock(text: str) -> bool:
    """Return whether a cell may be a time of the day with points."""
    text = text.strip()
    return SHORT.fullmatch(text) is not None or LONG.fullmatch(text) is not None


def find_dotted_clocks(names: Sequence[str], rows: Sequence[Sequence[str]]) -> frozenset[int]:
    """Return the places of columns that are times of the day with points.

    With two points it is one if some cells cannot be dates. With one point, if there is a column of
    dates and the name is one of times, or if times of a date that is there several times ascend.
    """
    columns = [[row[place].strip() for row in rows] for place in range(len(names))]
    filled = [[cell for cell in column if cell] for column in columns]
    kinds = [Counter(describe_cell(cell).kind for cell in cells) for cells in filled]
    dates = [
        place
        for place, cells in enumerate(filled)
        if cells
        and kinds[place][TIME] == len(cells)
        and not any(":" in cell for cell in cells)
        and not _are_long_clocks(cells)
    ]
    found = {place for place, cells in enumerate(filled) if cells and _are_long_clocks(cells)}
    if found or not dates or any(kind[CLOCK] for kind in kinds):
        return frozenset(found)
    for place, cells in enumerate(filled):
        if cells and all(map(SHORT.fullmatch, cells)):
            named = TIME_WORD.search(names[place].lower()) is not None
            if named or _ascends_by_date(columns[dates[0]], columns[place]):
                return frozenset([place])
    return frozenset()


def _are_long_clocks(cells: Sequence[str]) -> bool:
    """Return whether all cells are h.mm.ss, and some of them no date in any order."""
    matches = [LONG.fullmatch(cell) for cell in cells]
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
