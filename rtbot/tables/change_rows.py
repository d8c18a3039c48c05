"""Rows that transactions insert and delete, as columns: what the edge of a session takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from rtbot.tables.forms import Column
    from rtbot.tables.text_columns import TextColumn

    Values = np.ndarray | TextColumn

WEIGHT, OP = "weight", "op"
SIGNS = {"+": 1, "insert": 1, "-": -1, "delete": -1}


@dataclass(frozen=True, slots=True)
class ChangeRows:
    """The changes of one input, in the order in which they came.

    `time` and `weight` are int64; `columns` has the values of every field (float64, int64, bool or
    `TextColumn`) and `valid` the masks of what is not null, None where nothing is. `rows` are the
    places of the rows in the table, None if they are in its order; `times` is as in `Columns`.
    """

    time: np.ndarray
    weight: np.ndarray
    columns: tuple[Values, ...]
    valid: tuple[np.ndarray | None, ...]
    rows: np.ndarray | None = None
    times: tuple[str, Column] | None = None

    def __len__(self) -> int:
        return len(self.time)

    def take(self, rows: np.ndarray) -> ChangeRows:
        """Return these rows, in this order."""
        return replace(
            self,
            time=self.time[rows],
            weight=self.weight[rows],
            columns=tuple(column[rows] for column in self.columns),
            valid=tuple(None if mask is None else mask[rows] for mask in self.valid),
            rows=rows if self.rows is None else self.rows[rows],
        )


def name_time(fields: Sequence[str]) -> str:
    """Return the name of the times beside these fields."""
    return "_t" if "t" in fields else "t"


def name_weight(fields: Sequence[str]) -> str:
    """Return the name of the weights beside these fields."""
    return "_weight" if WEIGHT in fields else WEIGHT
