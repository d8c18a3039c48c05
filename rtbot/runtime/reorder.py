"""Inputs whose rows wait: under `lateness`, and where the last of several duplicates may count.

Rows wait in one heap per key until nothing can precede them; all heaps share one pool of nodes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.core.arrays import grow_array
from rtbot.core.batch import DTYPES, Batch, Column
from rtbot.runtime.input_port import InputPort, PreparedRows
from rtbot.runtime.kernels.rows import FIRST, LAST
from rtbot.runtime.state_owner import check_places, check_words, restore_rows
from rtbot.runtime.waiting_rows import Places, Wakes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from rtbot.graph.model import Input, Io
    from rtbot.operator import Type
    from rtbot.runtime.input_port import Tell
    from rtbot.runtime.state_owner import Saved

WAITING_RULES = ("last", "min", "max", "sum")
"""Rules for duplicates that need the later ones."""


def make_input_port(declared: Input, io: Io, kernels: ModuleType) -> InputPort:
    """Return the port of an input, with room for one key."""
    waits = io.lateness is not None or io.duplicates in WAITING_RULES
    return (ReorderBuffer if waits else InputPort)(declared, io, kernels, 1)


WHOLE_RULES = ("first", "last")
"""Rules that choose a row as it is."""

LINKS = ("child", "sibling")
"""Fields of the pool that are numbers of nodes."""

SPARE, FEW = 4, 8192
"""Empty room is given back if it is more than so many times that for the rows that come, or for so
few."""


def find_nodes(size: int, unused: np.ndarray) -> np.ndarray:
    """Return the nodes of a pool of this size that are not among the unused ones, ascending."""
    waits = np.ones(size, np.bool_)
    waits[unused] = False
    return np.flatnonzero(waits)


def number_nodes(
    roots: np.ndarray, pool: Mapping[str, np.ndarray], nodes: np.ndarray
) -> dict[str, np.ndarray]:
    """Return roots and fields of a pool as dumps have them: of these nodes only, without gaps."""
    numbers = np.full(len(pool["time"]) + 1, -1)
    numbers[nodes] = np.arange(len(nodes))
    found = {"roots": numbers[roots]}
    for field, array in pool.items():
        found[f"pool.{field}"] = numbers[array[nodes]] if field in LINKS else array[nodes]
    return found


class ReorderBuffer(InputPort):
    """An input that releases rows once no other can precede them, in the order of time."""

    holds = True

    def __init__(self, declared: Input, io: Io, kernels: ModuleType, capacity: int) -> None:
        super().__init__(declared, io, kernels, capacity)
        self.types = [*declared.ports.values()]
        self.labels = [f".{name}" for name in declared.ports] if self.type.fields else [""]
        self.lateness = io.lateness or 0
        self.frontier = np.full(capacity, FIRST)
        self.roots = np.full(capacity, -1)
        self.wakes = Wakes(kernels, capacity)
        self.places = Places(kernels) if io.duplicates == "error" else None
        self.pool = {n: np.zeros(0, np.int64) for n in ("time", "order", "child", "sibling")}
        self.pool_values = {
            label: Column(np.zeros(0, DTYPES[type_.kind]), np.zeros(0, bool))
            for label, type_ in zip(self.labels, self.types, strict=True)
        }
        self.free = np.zeros(0, np.int64)
        self.unused = 0
        self.order = 0

    def grow(self, capacity: int) -> None:
        """Room for more keys."""
        frontier = self.frontier
        super().grow(capacity)
        self.frontier = grow_array(frontier, capacity, FIRST)
        self.roots = grow_array(self.roots, capacity, -1)
        self.wakes.grow(capacity)

    def clear(self, slot: int) -> None:
        """Make the slot as new; nothing waits any more."""
        super().clear(slot)
        self.frontier[slot] = FIRST
        self.wakes.clear(slot)

    def rebuild(self) -> None:
        """Rebuild what is derived from the heaps."""
        self.wakes = Wakes(self.kernels, len(self.roots))
        if self.places is not None:
            self.places.rebuild(self.roots, self.pool)
        waiting = np.flatnonzero(self.roots >= 0)
        self._release(waiting, np.full(len(waiting), FIRST))

    def list_text_codes(self, slots: np.ndarray | slice) -> Iterator[np.ndarray]:  # noqa: ARG002
        """Yield the codes of texts that wait here, whatever their slots."""
        for column, type_ in zip(self.pool_values.values(), self.types, strict=True):
            if type_.kind == "text":
                yield column.value[self._find_nodes()]

    def _find_nodes(self) -> np.ndarray:
        """Return the nodes in which a row waits, ascending."""
        return find_nodes(len(self.free), self.free[: self.unused])

    def save(self, slots: np.ndarray) -> Saved:
        """Return also the rows that wait, as heaps whose nodes have no gaps."""
        values, arrays = super().save(slots)
        arrays |= {"frontier": self.frontier[slots]}
        arrays |= number_nodes(self.roots[slots], self._name_pool(), self._find_nodes())
        return values | {"order": self.order}, arrays

    def _name_pool(self) -> dict[str, np.ndarray]:
        """Return the arrays of the pool by their names in dumps."""
        found = dict(self.pool)
        for label, column in self.pool_values.items():
            assert column.valid is not None
            found |= {f"value{label}": column.value, f"valid{label}": column.valid}
        return found

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what was saved; what follows from it is computed again."""
        super().restore(values, arrays)
        self.order = values["order"]
        restore_rows("frontier", self.frontier, arrays["frontier"])
        restore_rows("roots", self.roots, arrays["roots"])
        own = self._name_pool()
        given = {field: arrays[f"pool.{field}"] for field in own}
        size = len(given["time"])
        for field, array in own.items():
            if check_words(field, given[field], array.dtype) != size:
                raise ValueError(f"{field}: {len(given[field])} of {size} nodes")
        self.pool = {field: given[field] for field in self.pool}
        self.pool_values = {
            label: Column(given[f"value{label}"], given[f"valid{label}"]) for label in self.labels
        }
        self.free, self.unused = np.full(size, -1), 0
        for links in (self.roots, *(self.pool[field] for field in LINKS)):
            check_places(links, size)
        self.rebuild()

    # ---- checks; nothing is changed

    def _check(self, prepared: PreparedRows, slots: np.ndarray, tell: Tell) -> None:
        batch = prepared.batch
        late = np.empty(len(batch), bool)
        count = self.kernels.judge(
            slots, len(slots), batch.starts, batch.time, self.last, self.lateness, self.floor, late
        )
        if count and self.io.late == "error":
            raise self.make_refused_error("late", batch, int(np.argmax(late)), slots, tell)
        if count:
            prepared.lost["late"] = int(count)
        prepared.late = late
        if self.places is not None:
            row = self.places.twin(batch, late, slots, self.last, self.pool["time"])
            if row >= 0:
                raise self.make_refused_error("duplicate", batch, row, slots, tell)

    # ---- effects

    def accept(self, prepared: PreparedRows, slots: np.ndarray) -> Batch:
        """Hold the rows; return what goes on into the graph, of these and of earlier ones."""
        self._count(prepared)
        since = self.order
        nodes = self._hold(prepared, slots) if len(prepared.batch) else None
        released = self._let_go(slots, since, ending=False)
        if self.places is not None and nodes is not None:
            self.places.add(nodes, self.pool["time"])
        return released

    def _hold(self, prepared: PreparedRows, slots: np.ndarray) -> np.ndarray:
        """Put the rows into the heaps; return their nodes."""
        batch = prepared.batch
        assert prepared.late is not None
        wanted = np.flatnonzero(~prepared.late)
        self._reserve(len(wanted))
        nodes = np.full(len(batch), -1)
        taken = self.free[self.unused - len(wanted) : self.unused].copy()
        nodes[wanted] = taken
        self.unused -= len(wanted)
        for column, kept in zip(batch.columns, self.pool_values.values(), strict=True):
            assert kept.valid is not None
            kept.value[taken] = column.value[wanted]
            kept.valid[taken] = True if column.valid is None else column.valid[wanted]
        pool = self.pool
        self.kernels.hold(
            slots, len(slots), batch.starts, batch.time, nodes, self.roots,
            pool["time"], pool["order"], pool["child"], pool["sibling"], self.order,
        )  # fmt: skip
        self.order += len(batch)
        self.counts["held"] += len(wanted)
        if self.places is not None:
            self.places.owner[taken] = np.repeat(slots, np.diff(batch.starts))[wanted]
        filled = np.diff(batch.starts) > 0
        newest = np.maximum.reduceat(batch.time, batch.starts[:-1][filled])
        self.last[slots[filled]] = np.maximum(self.last[slots[filled]], newest)
        return taken

    def _reserve(self, rows: int) -> None:
        if self.unused == len(self.free) > SPARE * max(rows, FEW):
            self._resize(0)
        if rows > self.unused:
            old = len(self.free)
            self._resize(max(2 * old, old + rows, 64))

    def _resize(self, new: int) -> None:
        """Make room for so many rows; for fewer than there is only if nothing waits."""
        old = min(len(self.free), new)
        for name, array in self.pool.items():
            self.pool[name] = grow_array(array, new, -1)
        for label, column in self.pool_values.items():
            assert column.valid is not None
            grown = Column(grow_array(column.value, new, 0), grow_array(column.valid, new, 0))
            self.pool_values[label] = grown
        if self.places is not None:
            self.places.grow(new)
        self.free = grow_array(self.free, new, -1)
        self.unused = min(self.unused, old)
        self.free[self.unused : self.unused + new - old] = np.arange(new - 1, old - 1, -1)
        self.unused += new - old

    def release(self, slots: np.ndarray, *, ending: bool) -> Batch:
        """Release the rows that nothing can precede any more, all of them at the end."""
        return self._let_go(slots, self.order, ending=ending)

    def _let_go(self, slots: np.ndarray, since: int, *, ending: bool) -> Batch:
        """Release as `release`; rows that arrived from `since` on are not among the places yet."""
        newest = self.last[slots]
        known = np.where(newest >= FIRST + self.lateness + 1, newest - self.lateness - 1, FIRST)
        until = np.full(len(slots), LAST) if ending else np.maximum(known, self.floor)
        self.frontier[slots] = until
        nodes, starts = self._release(slots, until)
        count = len(nodes)
        time = self.pool["time"][nodes]
        columns = [
            Column(kept.value[nodes], _choose_flags(kept.valid, nodes, type_))
            for kept, type_ in zip(self.pool_values.values(), self.types, strict=True)
        ]
        self.free[self.unused : self.unused + count] = nodes
        self.unused += count
        self.counts["held"] -= count
        if self.places is not None:
            self.places.drop(nodes, since, self.pool["time"], self.pool["order"])
            return Batch(starts, time, columns)
        return self._settle_ties(Batch(starts, time, columns))

    def _release(self, slots: np.ndarray, until: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take the rows up to each run's `until` off the heaps: nodes, and starts of the runs."""
        pool, wakes = self.pool, self.wakes
        out = np.empty(self.counts["held"], np.int64)
        starts = np.empty(len(slots) + 1, np.int64)
        wakes.reserve(len(slots))
        count, wakes.size = self.kernels.release(
            slots, len(slots), until, self.roots,
            pool["time"], pool["order"], pool["child"], pool["sibling"], out, starts,
            wakes.time, wakes.slot, wakes.watched, wakes.size,
        )  # fmt: skip
        return out[:count], starts

    def _settle_ties(self, batch: Batch) -> Batch:
        """Keep one row per key and time, by the rule for duplicates."""
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
        if self.io.duplicates in WHOLE_RULES:
            return _choose_rows(batch, new, firsts if self.io.duplicates == "first" else ends - 1)
        (column,) = batch.columns
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
        """Raise the global frontier; return the slots with rows that this releases."""
        super().advance(until)
        due = self.wakes.find_due(self.floor, self.roots, self.pool["time"])
        return due.tolist()  # type: ignore[no-any-return]


def _choose_flags(valid: np.ndarray | None, nodes: np.ndarray, kind: Type) -> np.ndarray | None:
    """Return the flags of rows where their type may be null."""
    return None if valid is None or not kind.nullable else valid[nodes]


def _choose_rows(batch: Batch, new: np.ndarray, chosen: np.ndarray) -> Batch:
    """Keep the chosen row of every time; `new` is where a time is another one than before."""
    starts = np.concatenate([[0], np.cumsum(new)])[batch.starts]
    columns = [
        Column(c.value[chosen], None if c.valid is None else c.valid[chosen]) for c in batch.columns
    ]
    return Batch(starts, batch.time[chosen], columns)


def settle_tie(rule: str, values: np.ndarray, valid: np.ndarray | None) -> tuple[Any, bool]:
    """Return one value for several of a time by min, max or sum: (value, whether it is valid)."""
    if valid is not None:
        values = values[valid]
        if not len(values):
            return 0, False
    if rule == "sum":
        return sum_exactly(values.tolist()), True
    ordered = sorted(values.tolist(), key=lambda v: (v, math.copysign(1, v)))
    if any(v != v for v in values.tolist()):
        return math.nan, True
    return ordered[0 if rule == "min" else -1], True


def sum_exactly(values: list[Any]) -> Any:
    """Sum as `math.fsum` without its exceptions; of integers their sum, whatever its size."""
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
