"""Rows of cells as lines of aligned columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def align_cells(
    rows: Iterable[Sequence[str]], right: Sequence[bool], widths: Sequence[int] = ()
) -> list[str]:
    """Return rows of cells as lines in which the columns are aligned; some of them at the right.

    `widths` are those of the columns, by default of the longest cells.
    """
    rows = list(rows)
    widths = widths or [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at_right else cell.ljust(width)
            for cell, width, at_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in rows
    ]
