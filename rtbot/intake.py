"""From checked tables to the batches of one push: keys to slots, rows to runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rtbot.batch import Batch
    from rtbot.session import Session
    from rtbot.tables import Columns


class Teller:
    """Says where a sorted row came from, for messages about it."""

    def __init__(
        self,
        session: Session,
        table: Columns,
        found: np.ndarray | None,
        slots: np.ndarray,
        batch: Batch,
    ) -> None:
        self.session, self.table, self.found = session, table, found
        self.slots, self.batch = slots, batch

    def __call__(self, row: int) -> dict[str, Any]:
        """Row of the table and key of row `row` of the batch."""
        told: dict[str, Any] = {"row": row, "time": int(self.batch.time[row])}
        if self.found is not None:
            run = int(np.searchsorted(self.batch.starts, row, side="right")) - 1
            slot = int(self.slots[run])
            assert self.session.keys is not None
            told["key"] = self.session.keys.value(slot)
            place = row - int(self.batch.starts[run])
            told["row"] = int(np.flatnonzero(self.found == slot)[place])
        if self.table.rows is not None:
            told["row"] = int(self.table.rows[told["row"]])
        return told


def writable(array: np.ndarray) -> np.ndarray:
    """The same memory, not marked read-only: compiled functions are typed by that mark."""
    if array.flags.writeable and array.flags.c_contiguous and array.flags.aligned:
        return array
    if not (array.flags.c_contiguous and array.flags.aligned):
        return np.array(array)
    return np.asarray(_Unmarked(array))


class _Unmarked:
    """Hands out another array's memory without its read-only mark; nothing here writes to it."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface
