"""The commands of an epoch that is not committed yet: the last one on a fact wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.arrays import sort_equal_rows

if TYPE_CHECKING:
    Change = tuple[np.ndarray, np.ndarray]


class PendingChanges:
    """Rows that were inserted and removed since the last commit, by relation, as they came."""

    def __init__(self) -> None:
        self._parts: dict[str, list[tuple[np.ndarray, bool]]] = {}

    def __bool__(self) -> bool:
        return bool(self._parts)

    def __len__(self) -> int:
        return sum(len(words) for parts in self._parts.values() for words, _ in parts)

    def add(self, relation: str, words: np.ndarray, *, inserts: bool) -> None:
        """Note rows (int64[n, width]) that are inserted, or removed."""
        if len(words):
            self._parts.setdefault(relation, []).append((words, inserts))

    def clear(self) -> None:
        """Forget everything."""
        self._parts.clear()

    def collect(self) -> dict[str, Change]:
        """Return what is to be removed and inserted, by relation."""
        return {name: _settle(parts) for name, parts in self._parts.items()}


def _settle(parts: list[tuple[np.ndarray, bool]]) -> Change:
    """Return removed and inserted rows, none in both."""
    words = np.concatenate([part for part, _ in parts])
    inserts = np.concatenate([np.full(len(part), flag) for part, flag in parts])
    if inserts.all() or not inserts.any():
        nothing = words[:0]
        return (nothing, words) if inserts[0] else (words, nothing)
    order, begins = sort_equal_rows(words)
    last = order[np.append(begins[1:], True)]
    words, inserts = words[last], inserts[last]
    return words[~inserts], words[inserts]
