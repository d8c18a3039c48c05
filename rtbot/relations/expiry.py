"""What an Expire remembers: the copies of rows in the order in which they came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrays import grow_array, trim_array
from rtbot.core.growing_arrays import allocate_growing, extend_array
from rtbot.relations.change_feed import TimedRows
from rtbot.relations.kernels import expiring
from rtbot.relations.kernels.expiring import (
    CAME,
    ENTRY,
    FIRST_ENTRY,
    LAST_ENTRY,
    LEFT_COPIES,
    NEXT_COPIES,
)
from rtbot.relations.stores import Store
from rtbot.tables import hash_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from rtbot.operator.schema import Schema

ROOM_AT_FIRST = 64


class Expiry:
    """Takes changes and gives them with the deletes of what expires.

    A copy of a row that came at t expires at t + `ttl`, if a later change shows that this time has
    come. A delete takes the oldest copy that is there. `lost` counts deletes of rows whose copies
    have all expired, which do nothing.
    """

    def __init__(self, ttl: int, schema: Schema, kernels: ModuleType) -> None:
        self.ttl, self.schema, self.kernels = ttl, schema, kernels
        self.lost = 0
        self._clear()

    def _clear(self) -> None:
        self.rows = Store(self.kernels, self.schema, {"cells": 2})
        self.entries: np.ndarray = allocate_growing(ROOM_AT_FIRST * ENTRY)
        self.cursor = np.zeros(expiring.EXPIRY_CURSOR, np.int64)

    def take(self, rows: TimedRows) -> TimedRows:
        """Take changes whose times ascend, equal rows of a time netted, none below those before."""
        if not len(rows):
            return rows
        width, cursor = self.schema.width, self.cursor
        cursor[expiring.READ_ROW] = cursor[expiring.EMITTED] = 0
        room = 2 * len(rows)
        times, weights = np.empty(room, np.int64), np.empty(room, np.int64)
        words = np.empty(room * width, np.int64)
        store = self.rows
        while True:
            code = self.kernels.expire_rows(
                self.ttl, rows.time, rows.words.reshape(-1), rows.weights, width, store.places,
                store.bits, store.table, store.words, store.columns["cells"], store.meta,
                self.entries, cursor, times, words, weights,
            )  # fmt: skip
            if code == hash_tables.DONE:
                break
            if code == hash_tables.ROOM:
                store.grow()
            elif code == expiring.ROOM_ENTRIES:
                self._make_room()
            else:
                room = room * 2
                times, weights = grow_array(times, room, 0), grow_array(weights, room, 0)
                words = grow_array(words, room * width, 0)
        self.lost += int(cursor[expiring.GONE])
        cursor[expiring.GONE] = 0
        count = int(cursor[expiring.EMITTED])
        return TimedRows(
            trim_array(times, count),
            trim_array(words.reshape(-1, width), count),
            trim_array(weights, count),
        )

    def _find_live(self) -> np.ndarray:
        """Return the numbers of the entries that have copies."""
        first, last = int(self.cursor[FIRST_ENTRY]), int(self.cursor[LAST_ENTRY])
        return first + np.flatnonzero(
            self.entries[first * ENTRY + LEFT_COPIES : last * ENTRY : ENTRY]
        )

    def _make_room(self) -> None:
        """Drop the entries without copies, and make room if most have some."""
        live = self._find_live()
        last = int(self.cursor[LAST_ENTRY])
        if 2 * len(live) > last:
            extend_array(vars(self), "entries", 2 * len(self.entries))
            return
        numbers = np.full(last + 1, -1, np.int64)
        numbers[live] = np.arange(len(live))
        kept = self.entries.reshape(-1, ENTRY)[live]
        kept[:, NEXT_COPIES] = numbers[kept[:, NEXT_COPIES]]
        self.entries[: kept.size] = kept.ravel()
        cells, ids = self.rows.columns["cells"].reshape(-1, 2), np.unique(kept[:, 0])
        cells[ids] = numbers[cells[ids]]
        self.cursor[FIRST_ENTRY], self.cursor[LAST_ENTRY] = 0, len(live)

    def find_frontier(self, reached: int, end: int) -> int:
        """Return up to which time its changes are final; `reached` is that of its input.

        What would expire by then waits for a change at that time or later, unless there is none
        before the `end` of times.
        """
        live = self.cursor[FIRST_ENTRY] < self.cursor[LAST_ENTRY]
        if reached == end or not live:
            return reached
        came = int(self.entries[int(self.cursor[FIRST_ENTRY]) * ENTRY + CAME])
        return min(reached, came + self.ttl - 1)

    # ---- state

    def count_bytes(self) -> int:
        """Return the bytes of rows and entries."""
        return self.rows.count_bytes() + 8 * ENTRY * int(self.cursor[LAST_ENTRY])

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in its rows."""
        return self.rows.list_text_codes()

    def save(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return how many deletes were lost, and all copies in the order in which they came."""
        kept = self.entries.reshape(-1, ENTRY)[self._find_live()]
        words = self.rows.words.reshape(-1, self.schema.width)[kept[:, 0]]
        arrays = {"words": words.ravel(), "came": kept[:, CAME], "copies": kept[:, LEFT_COPIES]}
        return {"lost": self.lost}, {name: array.copy() for name, array in arrays.items()}

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `save` returned; raise ValueError if it does not fit."""
        came, copies = arrays["came"], arrays["copies"]
        words = arrays["words"].reshape(-1, self.schema.width)
        if not len(came) == len(copies) == len(words) or (copies < 1).any():
            raise ValueError("rows without a time or a count")
        if (came[1:] < came[:-1]).any():
            raise ValueError("rows that are not in the order in which they came")
        self._clear()
        if len(self.take(TimedRows(came, words, copies))) > len(came):
            raise ValueError("rows that have expired")
        self.lost = int(values["lost"])
