"""The edge: what comes in is checked whole, sorted into runs, and only then let in.

`Feed` is one input. `prepare` changes nothing; `accept` takes effect. Under `lateness`, and under rules
for duplicates that need the later ones, rows wait in one heap per key until nothing can precede them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.batch import DTYPES, Batch, Column
from rtbot.errors import DataError
from rtbot.kernels import FIRST, LAST

if TYPE_CHECKING:
    from types import ModuleType

    from rtbot.graph import Input, Io

HOLDING = ("last", "min", "max", "sum")
PER_KEY = ("last", "roots", "watched")


@dataclass
class Prepared:
    """Rows of one push, sorted into runs and checked; `lost` counts by reason."""

    batch: Batch
    late: np.ndarray | None = None
    lost: dict[str, int] = field(default_factory=dict)
    arrived: int = 0


class Feed:
    """One input: its newest times per key, its policies, its counters."""

    def __init__(self, declared: Input, io: Io, kernels: ModuleType, capacity: int) -> None:
        self.name = declared.name
        self.type = declared.type
        self.io = io
        self.kernels = kernels
        self.lateness = io.lateness
        if self.lateness is None and io.duplicates in HOLDING:
            self.lateness = 0
        self.floor = FIRST
        self.last = np.full(capacity, FIRST)
        self.view = memoryview(self.last)
        self.pinned = np.zeros(capacity, np.uint8)
        self.begun = np.zeros(capacity, np.uint8)
        self.counts = {"arrived": 0, "held": 0}
        self.lost: dict[str, int] = {}
        self.frontier = self.last
        if self.lateness is not None:
            self.frontier = np.full(capacity, FIRST)
            self.roots = np.full(capacity, -1)
            self.watched = np.full(capacity, LAST)
            self.pool = {n: np.zeros(0, np.int64) for n in ("time", "order", "child", "sibling")}
            self.pool_value = Column(np.zeros(0, DTYPES[self.type.kind]), np.zeros(0, bool))
            self.free = np.zeros(0, np.int64)
            self.unused = 0
            self.order = 0
            self.times: set[tuple[int, int]] = set()

    @property
    def holds(self) -> bool:
        """Whether rows may wait here."""
        return self.lateness is not None

    def grow(self, capacity: int) -> None:
        """Room for more keys."""
        self.last = grown(self.last, capacity, FIRST)
        self.view = memoryview(self.last)
        self.pinned = grown(self.pinned, capacity, 0)
        self.begun = grown(self.begun, capacity, 0)
        if self.lateness is None:
            self.frontier = self.last
            return
        self.frontier = grown(self.frontier, capacity, FIRST)
        self.roots = grown(self.roots, capacity, -1)
        self.watched = grown(self.watched, capacity, LAST)

    def clear(self, slot: int) -> None:
        """Make the slot as new."""
        self.last[slot] = FIRST
        self.begun[slot] = 0
        if self.lateness is not None:
            self.frontier[slot] = FIRST

    # ---- checks; nothing is changed

    def prepare(self, batch: Batch, slots: np.ndarray, tell: Callable[[int], dict[str, Any]]) -> Prepared:
        """Check the rows against what came before. `tell(row)` says where a sorted row came from."""
        prepared = Prepared(batch, arrived=len(batch))
        if not len(batch):
            return prepared
        if self.lateness is None:
            self._prepare_direct(prepared, slots, tell)
        else:
            self._prepare_held(prepared, slots, tell)
        return prepared

    def _prepare_direct(
        self, prepared: Prepared, slots: np.ndarray, tell: Callable[[int], dict[str, Any]]
    ) -> None:
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
        )
        for reason, policy, place in (("late", self.io.late, 0), ("duplicate", self.io.duplicates, 1)):
            if counts[place] and policy == "error":
                row = int(counts[place + 2])
                raise self._refused(reason, batch, row, slots, tell)
            if counts[place]:
                prepared.lost[reason] = int(counts[place])
        columns = [
            Column(c.value[keep], None if c.valid is None else c.valid[keep]) for c in batch.columns
        ]
        prepared.batch = Batch(starts, batch.time[keep], columns)

    def _refused(
        self,
        reason: str,
        batch: Batch,
        row: int,
        slots: np.ndarray,
        tell: Callable[[int], dict[str, Any]],
    ) -> DataError:
        run = int(np.searchsorted(batch.starts, row, side="right")) - 1
        time = int(batch.time[row])
        newest = max(int(self.last[slots[run]]), int(batch.time[batch.starts[run] : row].max(initial=FIRST)))
        if reason == "duplicate":
            told = f"a second message at t={time}; set io.duplicates to say which one counts"
        elif self.lateness is not None:
            told = f"t={time} is more than the lateness {self.lateness} behind t={newest}"
        elif time <= self.floor:
            told = f"t={time} is late: the input was advanced to {self.floor}"
        else:
            told = f"t={time} is late: t={newest} came before it; set io.late: drop to leave it out"
        return DataError(told, input=self.name, **({"time": time} | tell(row)))

    def _prepare_held(
        self, prepared: Prepared, slots: np.ndarray, tell: Callable[[int], dict[str, Any]]
    ) -> None:
        batch = prepared.batch
        late = np.empty(len(batch), bool)
        count = self.kernels.judge(
            slots, len(slots), batch.starts, batch.time, self.last, self.lateness, self.floor, late
        )
        if count and self.io.late == "error":
            raise self._refused("late", batch, int(np.argmax(late)), slots, tell)
        if count:
            prepared.lost["late"] = int(count)
        prepared.late = late
        if self.io.duplicates == "error":
            self._refuse_duplicates(batch, late, slots, tell)

    def _refuse_duplicates(
        self,
        batch: Batch,
        late: np.ndarray,
        slots: np.ndarray,
        tell: Callable[[int], dict[str, Any]],
    ) -> None:
        runs = np.repeat(slots, np.diff(batch.starts))
        seen: set[tuple[int, int]] = set()
        for row in np.flatnonzero(~late):
            place = (int(runs[row]), int(batch.time[row]))
            if place in self.times or place in seen:
                raise self._refused("duplicate", batch, int(row), slots, tell)
            seen.add(place)

    # ---- effects

    def accept(self, prepared: Prepared, slots: np.ndarray) -> Batch:
        """Let the rows in; returns what goes on into the graph."""
        self.counts["arrived"] += prepared.arrived
        for reason, count in prepared.lost.items():
            self.lost[reason] = self.lost.get(reason, 0) + count
        batch = prepared.batch
        if self.lateness is None:
            self.kernels.accept(
                slots, len(slots), batch.starts, batch.time, self.last, self.begun
            )
            return batch
        if len(batch):
            self._hold(prepared, slots)
        return self.let_go(slots, ending=False)

    def _hold(self, prepared: Prepared, slots: np.ndarray) -> None:
        batch = prepared.batch
        assert prepared.late is not None
        wanted = np.flatnonzero(~prepared.late)
        self._reserve(len(wanted))
        nodes = np.full(len(batch), -1)
        nodes[wanted] = self.free[self.unused - len(wanted) : self.unused]
        self.unused -= len(wanted)
        column = batch.columns[0]
        self.pool_value.value[nodes[wanted]] = column.value[wanted]
        assert self.pool_value.valid is not None
        self.pool_value.valid[nodes[wanted]] = True if column.valid is None else column.valid[wanted]
        pool = self.pool
        self.kernels.hold(
            slots, len(slots), batch.starts, batch.time, nodes, self.roots,
            pool["time"], pool["order"], pool["child"], pool["sibling"], self.order,
        )  # fmt: skip
        self.order += len(batch)
        self.counts["held"] += len(wanted)
        if self.io.duplicates == "error":
            runs = np.repeat(slots, np.diff(batch.starts))
            self.times.update(zip(runs[wanted].tolist(), batch.time[wanted].tolist(), strict=True))
        filled = np.diff(batch.starts) > 0
        newest = np.maximum.reduceat(batch.time, batch.starts[:-1][filled])
        self.last[slots[filled]] = np.maximum(self.last[slots[filled]], newest)

    def _reserve(self, rows: int) -> None:
        if rows <= self.unused:
            return
        old = len(self.pool["time"])
        new = max(2 * old, old + rows, 64)
        for name, array in self.pool.items():
            self.pool[name] = grown(array, new, -1)
        value, valid = self.pool_value.value, self.pool_value.valid
        assert valid is not None
        self.pool_value = Column(grown(value, new, 0), grown(valid, new, 0))
        self.free = grown(self.free, new, -1)
        self.free[self.unused : self.unused + new - old] = np.arange(new - 1, old - 1, -1)
        self.unused += new - old

    def let_go(self, slots: np.ndarray, *, ending: bool) -> Batch:
        assert self.lateness is not None
        newest = self.last[slots]
        known = np.where(newest >= FIRST + self.lateness + 1, newest - self.lateness - 1, FIRST)
        until = np.full(len(slots), LAST) if ending else np.maximum(known, self.floor)
        self.frontier[slots] = until
        pool = self.pool
        out = np.empty(self.counts["held"], np.int64)
        starts = np.empty(len(slots) + 1, np.int64)
        count = self.kernels.release(
            slots, len(slots), until, self.roots,
            pool["time"], pool["order"], pool["child"], pool["sibling"], out, starts,
        )  # fmt: skip
        nodes = out[:count]
        time = pool["time"][nodes]
        valid = self.pool_value.valid
        assert valid is not None
        column = Column(
            self.pool_value.value[nodes], valid[nodes] if self.type.nullable else None
        )
        self.free[self.unused : self.unused + count] = nodes
        self.unused += int(count)
        self.counts["held"] -= int(count)
        if self.io.duplicates == "error":
            runs = np.repeat(slots, np.diff(starts))
            self.times.difference_update(zip(runs.tolist(), time.tolist(), strict=True))
            return Batch(starts, time, [column])
        return self._settle_ties(Batch(starts, time, [column]))

    def _settle_ties(self, batch: Batch) -> Batch:
        """One row per key and time, by the rule for duplicates."""
        time = batch.time
        new = np.ones(len(time), bool)
        new[1:] = time[1:] != time[:-1]
        new[batch.starts[:-1][np.diff(batch.starts) > 0]] = True
        if new.all():
            return batch
        firsts = np.flatnonzero(new)
        ends = np.append(firsts[1:], len(time))
        lost = len(time) - len(firsts)
        self.lost["duplicate"] = self.lost.get("duplicate", 0) + lost
        column = batch.columns[0]
        value, valid = column.value[firsts], None if column.valid is None else column.valid[firsts]
        for place in np.flatnonzero(ends - firsts > 1):
            rows = slice(int(firsts[place]), int(ends[place]))
            flags = None if column.valid is None else column.valid[rows]
            result, alive = settle_tie(self.io.duplicates, column.value[rows], flags)
            if isinstance(result, int) and not FIRST <= result <= LAST:
                self.lost["domain"] = self.lost.get("domain", 0) + 1
                new[firsts[place]] = False
                continue
            value[place] = result
            if valid is not None:
                valid[place] = alive
        kept = np.concatenate([[0], np.cumsum(new)])
        stays = new[firsts]
        column = Column(value[stays], None if valid is None else valid[stays])
        return Batch(kept[batch.starts], time[firsts[stays]], [column])

    def advance(self, until: int) -> list[int]:
        """Raise the floor; the slots that hold rows which this lets go."""
        self.floor = max(self.floor, until)
        if self.lateness is None or not self.counts["held"]:
            return []
        roots = self.roots
        waiting = np.flatnonzero(roots >= 0)
        ready = self.pool["time"][roots[waiting]] <= self.floor
        return waiting[ready].tolist()  # type: ignore[no-any-return]


def settle_tie(rule: str, values: np.ndarray, valid: np.ndarray | None) -> tuple[Any, bool]:
    """One value for several of one time, in order of arrival: (value, whether it is not null)."""
    if rule in ("first", "last"):
        place = 0 if rule == "first" else -1
        return values[place], valid is None or bool(valid[place])
    if valid is not None:
        values = values[valid]
        if not len(values):
            return 0, False
    if rule == "sum":
        return exact_sum(values.tolist()), True
    ordered = sorted(values.tolist(), key=lambda v: (v, math.copysign(1, v)))
    if any(v != v for v in values.tolist()):
        return math.nan, True
    return ordered[0 if rule == "min" else -1], True


def exact_sum(values: list[Any]) -> Any:
    """`math.fsum` without its exceptions; of integers their sum, whatever its size."""
    if isinstance(values[0], int):
        return sum(values)
    if any(v != v for v in values) or {math.inf, -math.inf} <= set(values):
        return math.nan
    infinite = [v for v in values if v in (math.inf, -math.inf)]
    if infinite:
        return infinite[0]
    try:
        return math.fsum(values)
    except OverflowError:
        from fractions import Fraction

        total = sum(map(Fraction, values))
        try:
            return float(total)
        except OverflowError:
            return math.inf if total > 0 else -math.inf


def grown(array: np.ndarray, capacity: int, fill: Any) -> np.ndarray:
    """A longer copy of the array; new places hold `fill`."""
    if capacity <= len(array):
        return array
    result = np.full(capacity, fill, array.dtype)
    result[: len(array)] = array
    return result
