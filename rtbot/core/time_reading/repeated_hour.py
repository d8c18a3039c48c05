"""Which of two passes a local time belongs to in the hour that occurs twice, by the order of rows.

Rows of a series go forward. So within such an hour the first pass is the earlier one, and where
local time does not go on, the second begins: 01:30, 01:45, 01:00, 01:15 are four times in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence


class RepeatedHour:
    """How far each series is in an hour that occurs twice.

    Of each series the hour is known, as the instant of the change, the latest local time, and
    whether that is of the second pass.
    """

    def __init__(self) -> None:
        self._states: dict[Hashable, tuple[int, int, bool]] = {}

    def find_passes(
        self, series: Sequence[Hashable] | None, change: np.ndarray, local: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return which times are of the second pass, and which go back within it.

        The arrays have the times in order of rows, all of them in an hour that occurs twice; series
        has what each row belongs to, None if all are of one.
        """
        names = [None] if series is None else list(dict.fromkeys(series))
        places = {name: place for place, name in enumerate(names)}
        groups = np.zeros(len(local), np.int64)
        if series is not None:
            groups[:] = [places[name] for name in series]
        order = np.argsort(groups, kind="stable")
        second, back = np.zeros(len(local), np.bool_), np.zeros(len(local), np.bool_)
        cuts = np.flatnonzero(np.diff(groups[order]) | np.diff(change[order])) + 1
        for rows in np.split(order, cuts):
            if len(rows):
                name = names[groups[rows[0]]]
                second[rows], back[rows] = self._follow(name, int(change[rows[0]]), local[rows])
        return second, back

    def _follow(
        self, name: Hashable, change: int, local: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the passes of times of one series in one hour, and which go back in the second."""
        known, last, began = self._states.get(name, (None, 0, False))
        if known != change:
            last, began = int(local[0]) - 1, False
        step = np.diff(local, prepend=last)
        second = np.logical_or.accumulate((step <= 0) | began)
        back = (step < 0) & np.append(began, second[:-1])
        self._states[name] = change, int(local[-1]), bool(second[-1])
        return second, back

    def save(self) -> list[list[Any]]:
        """Return the state as [series, change, latest local time, whether second]."""
        return [
            [list(name) if isinstance(name, tuple) else name, *state]
            for name, state in self._states.items()
        ]

    def restore(self, saved: Iterable[Sequence[Any]]) -> None:
        """Continue from what `save` returned."""
        self._states = {
            tuple(name) if isinstance(name, list) else name: (int(change), int(last), bool(second))
            for name, change, last, second in saved
        }
