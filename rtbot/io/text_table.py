"""A table for reading: aligned columns, and no more rows than can be read."""

from __future__ import annotations

import math
import shutil
from collections import deque
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from rtbot.core.aligned_text import align_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from rtbot.io.sinks.writers import TimeFormat

SHOWN_ROWS = 1000
"""So many rows are shown from the beginning and from the end; those between are counted."""

CELL_LENGTH = 80
"""Characters of a cell of text; of a longer one the beginning is shown."""

GAP = "..."


class TextTable:
    """Writer of the rows at the end, when the widths of the columns are known."""

    def __init__(self, stream: BinaryIO, clock: TimeFormat) -> None:
        self._stream, self._clock = stream, clock
        self._names: list[str] = []
        self._right: list[bool] = []
        self._first: list[Sequence[str]] = []
        self._last: deque[Sequence[str]] = deque(maxlen=SHOWN_ROWS)
        self._rows = 0

    def write(self, table: pa.Table) -> None:
        """Take rows, and keep those that may be shown."""
        if not self._names:
            self._names = list(map(_clean_cell, table.column_names))
            kinds = self._clock.format_table(table.slice(0, 0)).schema.types
            self._right = [not pa.types.is_string(kind) for kind in kinds]
        self._rows += table.num_rows
        room = SHOWN_ROWS - len(self._first)
        self._first += self._format_table(table.slice(0, room))
        later = table.slice(room)
        self._last.extend(self._format_table(later.slice(max(later.num_rows - SHOWN_ROWS, 0))))

    def close(self) -> None:
        """Write the whole table; of one with more rows or columns than are shown, also how many."""
        missing = self._rows - len(self._first) - len(self._last)
        gap = [(GAP,) * len(self._names)] if missing else []
        rows = [self._names, *self._first, *gap, *self._last]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        chosen = self._choose_columns(widths)
        right = [place is None or self._right[place] for place in chosen]
        cells = [[GAP if c is None else row[c] for c in chosen] for row in rows]
        lines = align_cells(cells, right)
        hidden = [f"{self._rows - missing:,} of {self._rows:,} rows"] if missing else []
        if None in chosen:
            hidden.append(f"{len(chosen) - 1} of {len(widths)} columns")
        lines += [f"({', '.join(hidden)})"] if hidden else []
        self._stream.write("".join(f"{line}\n" for line in lines).encode())

    def _format_table(self, table: pa.Table) -> Iterator[Sequence[str]]:
        columns = []
        for column in self._clock.format_table(table).columns:
            texts = pc.fill_null(pc.cast(column, pa.string()), "")
            columns.append([_clean_cell(text) for text in texts.to_pylist()])
        return zip(*columns, strict=True)

    def _choose_columns(self, widths: Sequence[int]) -> list[int | None]:
        """Return the columns that are shown, with None where there are more between them.

        On a terminal these are as many as fit, taken by turns from the left and from the right.
        """
        every = [*range(len(widths))]
        wide = shutil.get_terminal_size().columns if self._stream.isatty() else math.inf
        if sum(widths) + 2 * (len(widths) - 1) <= wide or len(every) < 3:
            return [*every]
        left, right, middle = every[:1], every[-1:], every[1:-1]
        wide -= widths[0] + 2 + len(GAP) + 2 + widths[-1]
        while (wide := wide - 2 - widths[middle[0 if len(left) == len(right) else -1]]) >= 0:
            if len(left) == len(right):
                left.append(middle.pop(0))
            else:
                right.insert(0, middle.pop())
        return [*left, None, *right]


def _clean_cell(text: str) -> str:
    """Return a cell on one line, without what controls a terminal."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: CELL_LENGTH + 1])
    return text if len(text) <= CELL_LENGTH else f"{text[: CELL_LENGTH - len(GAP)]}{GAP}"
