"""Input ports: what comes in is checked as a whole, sorted into runs, and only then accepted.

`InputPort` is one input. `prepare` changes nothing; `accept` takes effect. An input whose rows must
wait before they are released is a `ReorderBuffer` (reorder.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrays import grow_array
from rtbot.core.batch import Batch, Column
from rtbot.core.errors import DataError
from rtbot.runtime.kernels.rows import FIRST
from rtbot.runtime.state_owner import restore_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    from rtbot.graph.model import Input, Io
    from rtbot.runtime.state_owner import Saved

    Tell = Callable[[int], dict[str, Any]]
    """Where a sorted row came from: its row in the table, its key."""


@dataclass
class PreparedRows:
    """Rows of one push, sorted into runs and checked; `lost` counts by reason."""

    batch: Batch
    late: np.ndarray | None = None
    lost: dict[str, int] = field(default_factory=dict)
    arrived: int = 0


class InputPort:
    """One input: its newest times per key, its policies, its counters."""

    holds = False
    """Whether rows may wait here."""

    def __init__(self, declared: Input, io: Io, kernels: ModuleType, capacity: int) -> None:
        self.name = declared.name
        self.type = declared.type
        self.io = io
        self.kernels = kernels
        self.floor = FIRST
        self.last = np.full(capacity, FIRST)
        self.view = memoryview(self.last)
        self.held_back = np.zeros(capacity, np.uint8)
        self.begun = np.zeros(capacity, np.uint8)
        self.counts = {"arrived": 0, "held": 0}
        self.lost: dict[str, int] = {}
        self.frontier = self.last

    def grow(self, capacity: int) -> None:
        """Make room for more keys."""
        self.last = grow_array(self.last, capacity, FIRST)
        self.view = memoryview(self.last)
        self.held_back = grow_array(self.held_back, capacity, 0)
        self.begun = grow_array(self.begun, capacity, 0)
        self.frontier = self.last

    def clear(self, slot: int) -> None:
        """Make the slot as new."""
        self.last[slot] = FIRST
        self.begun[slot] = 0

    def list_text_codes(self, slots: np.ndarray | slice) -> Iterator[np.ndarray]:  # noqa: ARG002
        """Yield the codes of texts that wait here."""
        return iter(())

    def save(self, slots: np.ndarray) -> Saved:
        """Return the global frontier and the counters, and the newest times of these slots."""
        values = {"floor": self.floor, "counts": dict(self.counts), "lost": dict(self.lost)}
        return values, {"last": self.last[slots], "begun": self.begun[slots]}

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what was saved."""
        self.floor = values["floor"]
        self.counts, self.lost = dict(values["counts"]), dict(values["lost"])
        restore_rows("last", self.last, arrays["last"])
        restore_rows("begun", self.begun, arrays["begun"])

    # ---- checks; nothing is changed

    def prepare(self, batch: Batch, slots: np.ndarray, tell: Tell) -> PreparedRows:
        """Check the rows against what came before."""
        prepared = PreparedRows(batch, arrived=len(batch))
        if len(batch):
            self._check(prepared, slots, tell)
        return prepared

    def _check(self, prepared: PreparedRows, slots: np.ndarray, tell: Tell) -> None:
        batch = prepared.batch
        runs = len(slots)
        bad = self.kernels.first_unordered(
            slots, runs, batch.starts, batch.time, self.last, self.floor
        )
        if bad < 0:
            return
        keep = np.empty(len(batch), bool)
        starts = np.empty(runs + 1, np.int64)
        counts = np.array([0, 0, -1, -1])
        self.kernels.admit(
            slots, runs, batch.starts, batch.time, self.last, self.begun,
            self.floor, keep, starts, counts,
        )  # fmt: skip
        policies = (("late", self.io.late), ("duplicate", self.io.duplicates))
        for place, (reason, policy) in enumerate(policies):
            if counts[place] and policy == "error":
                row = int(counts[place + 2])
                raise self.make_refused_error(reason, batch, row, slots, tell)
            if counts[place]:
                prepared.lost[reason] = int(counts[place])
        columns = [
            Column(c.value[keep], None if c.valid is None else c.valid[keep]) for c in batch.columns
        ]
        prepared.batch = Batch(starts, batch.time[keep], columns)

    def make_refused_error(
        self, reason: str, batch: Batch, row: int, slots: np.ndarray, tell: Tell
    ) -> DataError:
        """Return the error for a row that is late or a duplicate, where these are not allowed."""
        time = int(batch.time[row])
        if reason == "duplicate":
            code, message, times = "RT203", "a second message at t={}", [time]
            hint = "set io.duplicates to say which one counts, or io.key if it is of another series"
        else:
            run = int(np.searchsorted(batch.starts, row, side="right")) - 1
            before = batch.time[batch.starts[run] : row]
            newest = max(int(self.last[slots[run]]), int(before.max(initial=FIRST)))
            code, message, times = "RT202", "t={} is late: t={} came before it", [time, newest]
            hint = "sort the rows by time, set io.lateness, or io.late: drop to leave it out"
            if time <= self.floor:
                message, times = "t={} is late: the input was advanced to {}", [time, self.floor]
                hint = ""
        where = {"time": time} | tell(row)
        return DataError(message, code=code, hint=hint, times=times, input=self.name, **where)

    # ---- effects

    def accept(self, prepared: PreparedRows, slots: np.ndarray) -> Batch:
        """Accept the rows; return what goes on into the graph."""
        self._count(prepared)
        batch = prepared.batch
        self.kernels.accept(slots, len(slots), batch.starts, batch.time, self.last, self.begun)
        return batch

    def _count(self, prepared: PreparedRows) -> None:
        self.counts["arrived"] += prepared.arrived
        for reason, count in prepared.lost.items():
            self.lost[reason] = self.lost.get(reason, 0) + count

    def advance(self, until: int) -> list[int]:
        """Raise the global frontier; return the slots with rows that this releases."""
        self.floor = max(self.floor, until)
        return []
