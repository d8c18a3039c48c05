"""Columns that are series of one input: a row of a wide file as a row of each series."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.tables import Columns, TextColumn

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rtbot.tables.convert import Key

    Value = tuple[np.ndarray | TextColumn, np.ndarray | None]


def name_series(names: Sequence[str], *, integer: bool) -> Key:
    """Return the key of every series, by its number: text, or int64 if the names are integers."""
    if integer:
        return np.array([int(name) for name in names], np.int64)
    return TextColumn(np.arange(len(names)), list(names))


def stack_series(
    frame: Columns, place: int, values: Sequence[Value], dropped: Collection[int]
) -> tuple[Columns, np.ndarray]:
    """Return a row for every cell that is there, row by row, and the rows that they are from.

    `values` are equally long columns with the mask of what is not null. `frame` has the times and
    keys of their rows; only the key at `place` has a value per column. `dropped` rows are left out.
    """
    good = np.ones((len(frame.time), len(values)), np.bool_)
    for number, (_, valid) in enumerate(values):
        if valid is not None:
            good[:, number] = valid
    good[list(dropped)] = False
    rows, numbers = np.nonzero(good)
    keys = tuple(
        _select(key, numbers if other == place else rows) for other, key in enumerate(frame.keys)
    )
    return Columns(frame.time[rows], _stack_values(values, good), None, keys), rows


def _select(key: Key, rows: np.ndarray) -> Key:
    return (key[0][rows], key[1][rows]) if isinstance(key, tuple) else key[rows]


def _stack_values(values: Sequence[Value], good: np.ndarray) -> np.ndarray | TextColumn:
    """Return the values of all columns where they are good, row by row."""
    first = values[0][0]
    matrix = np.empty(good.shape, np.int64 if isinstance(first, TextColumn) else first.dtype)
    texts: dict[str, int] = {}
    for number, (value, _) in enumerate(values):
        if isinstance(value, TextColumn):
            codes = [texts.setdefault(text, len(texts)) for text in value.values]
            matrix[:, number] = np.array([*codes, -1], np.int64)[value.codes]
        else:
            matrix[:, number] = value
    return TextColumn(matrix[good], list(texts)) if isinstance(first, TextColumn) else matrix[good]
