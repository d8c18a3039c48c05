"""A plan in progress: all state of its operators as arrays, and the calls of the generated functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot import pairs
from rtbot.batch import DTYPES, Batch, Column
from rtbot.errors import ResourceLimit
from rtbot.feed import grown
from rtbot.kernels import FIRST, LAST
from rtbot.plan import OwnCall, PairCall, Plan, SegmentCall

if TYPE_CHECKING:
    from types import ModuleType

    from rtbot.feed import Feed
    from rtbot.operator import Type

OWN_ROWS_LIMIT = 100_000_000
"""Rows that an operator with its own times may release in one push."""


class Pool:
    """What waits in one pairing: lists of all keys and ports, and who is to be woken when."""

    def __init__(self, call: PairCall, capacity: int) -> None:
        self.call = call
        ports = len(call.ports)
        self.width = pairs.width(call.ports)
        self.header = np.zeros(pairs.tolerance_place(ports) + 1, np.int64)
        self.header[pairs.FREE] = -1
        self.header[pairs.tolerance_place(ports)] = call.tolerance
        for k in range(ports):
            self.header[pairs.header_place(k, pairs.FLOOR)] = FIRST
        self.queue = np.zeros(capacity * self.width)
        self.time = np.zeros(0, np.int64)
        self.value = np.zeros(0)
        self.valid = np.zeros(0, bool)
        self.next = np.zeros(0, np.int64)
        self.heaps = [(np.zeros(0, np.int64), np.zeros(0, np.int64)) for _ in call.ports]
        self.watched = [np.full(capacity, LAST) for _ in call.ports]
        self.emitted = 0
        self.moved = 0

    def grow(self, capacity: int) -> None:
        """Room for more keys."""
        self.queue = grown(self.queue, capacity * self.width, 0)
        self.watched = [grown(w, capacity, LAST) for w in self.watched]

    def reserve(self, rows: int, runs: int) -> None:
        """Room for `rows` more rows of `runs` keys, and for waking these keys."""
        ports = len(self.call.ports)
        blocks = int(self.header[pairs.FRESH]) + rows // pairs.BLOCK + min(rows, runs * ports) + 1
        if blocks > len(self.next):
            self.moved += 1
            blocks = max(blocks, 2 * len(self.next))
            self.next = grown(self.next, blocks, -1)
            rows = blocks * pairs.BLOCK
            self.time = grown(self.time, rows, 0)
            self.value = grown(self.value, rows, 0)
            self.valid = grown(self.valid, rows, 0)
        for k, (times, slots) in enumerate(self.heaps):
            size = int(self.header[pairs.header_place(k, pairs.WATCHED)]) + runs
            if size > len(times):
                self.moved += 1
                self.heaps[k] = grown(times, 2 * size, 0), grown(slots, 2 * size, 0)

    def most(self, *rows: int) -> int:
        """The most rows that can come out: what waits and what comes, of the ports that decide."""
        ports = self.call.ports
        coming = rows if len(rows) == len(ports) else rows * len(ports)
        waiting = [n + self.word(k, pairs.HELD) for k, n in enumerate(coming)]
        must = [n for n, p in zip(waiting, ports, strict=True) if p.role == "must"]
        return min(must) if must else sum(waiting)

    def word(self, port: int, word: int) -> int:
        """A word of a port's header."""
        return int(self.header[pairs.header_place(port, word)])

    def clear(self, slot: int) -> None:
        """Make the slot as new; nothing waits any more."""
        self.queue[slot * self.width : (slot + 1) * self.width] = 0
        for watched in self.watched:
            watched[slot] = LAST


class Runner:
    """State and execution; knows nothing of keys, tables or policies."""

    def __init__(
        self, plan: Plan, module: ModuleType, kernels: ModuleType, feeds: Mapping[str, Feed]
    ) -> None:
        self.plan = plan
        self.module = module
        self.kernels = kernels
        self.feeds = feeds
        self.wrap = memoryview if module.__dict__.get("INTERPRETED") else _same
        self.capacity = 1
        self.template = plan.layout.template()
        self.width = plan.layout.width
        self.length = plan.layout.length
        self.state = aligned(self.length + self.width)
        self.state[: self.length] = plan.layout.first_header()
        self.state[self.length :] = self.template
        self.pools = [Pool(call, 1) for call in plan.pairings]
        for pool in self.pools:
            for k, (source, _) in enumerate(pool.call.sources):
                shift = plan.streams[source].progress[1]
                pool.header[pairs.header_place(k, pairs.SHIFT)] = shift
        self.grew = 0
        self.ahead = 0
        self.frontiers: dict[int, np.ndarray] = {}
        self.pins: dict[int, np.ndarray] = {}
        self.known: dict[int, np.ndarray] = {}
        for index, (kind, _) in enumerate(plan.progress):
            if kind != "input":
                self.frontiers[index] = np.full(1, FIRST)
                self.pins[index] = np.zeros(1, np.uint8)
            if kind == "own":
                self.known[index] = np.full(1, LAST)
        self.own_rows: dict[str, int] = {}
        self._views()

    @property
    def version(self) -> int:
        """Changes whenever an array of the state has moved."""
        return self.grew + sum([pool.moved for pool in self.pools])

    def _views(self) -> None:
        self.grew += 1
        self.F = self.wrap(self.state)
        self.I = self.wrap(self.state.view(np.int64))  # noqa: E741 (its name in generated code)
        self.header = self.state[: self.length].view(np.int64)

    def grow(self, capacity: int) -> None:
        """Room for at least this many keys."""
        if capacity <= self.capacity:
            return
        capacity = max(capacity, 2 * self.capacity)
        state = aligned(self.length + capacity * self.width)
        state[: len(self.state)] = self.state
        state[len(self.state) :].reshape(-1, self.width)[:] = self.template
        self.state = state
        for pool in self.pools:
            pool.grow(capacity)
        for table, fill in ((self.frontiers, FIRST), (self.pins, 0), (self.known, LAST)):
            for index, array in table.items():
                table[index] = grown(array, capacity, fill)
        for feed in self.feeds.values():
            feed.grow(capacity)
        self.capacity = capacity
        self._views()

    def clear(self, slot: int) -> None:
        """Make the slot as new."""
        begin = self.length + slot * self.width
        self.state[begin : begin + self.width] = self.template
        for pool in self.pools:
            pool.clear(slot)
        for index, array in self.frontiers.items():
            array[slot] = FIRST
            self.pins[index][slot] = 0
        for array in self.known.values():
            array[slot] = LAST
        for feed in self.feeds.values():
            feed.clear(slot)

    # ---- progress

    def progress(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Frontier per key, and whether it holds whatever the floor is."""
        kind, of = self.plan.progress[index]
        if kind == "input":
            feed = self.feeds[of]
            return feed.frontier, feed.pinned
        return self.frontiers[index], self.pins[index]

    def floors(self) -> list[int]:
        """The floor of every progress: what holds for keys that wait for nothing."""
        floors: list[int] = []
        for kind, of in self.plan.progress:
            if kind == "input":
                floors.append(self.feeds[of].floor)
            elif kind == "own":
                floors.append(shifted(floors[of[0]], of[1]))
            else:
                floors.append(self._pair_floor(self.plan.pairings[of], floors))
        return floors

    def _pair_floor(self, call: PairCall, floors: list[int]) -> int:
        values = {}
        for k, (stream, _) in enumerate(call.sources):
            index, shift = self.plan.streams[stream].progress
            values[k] = shifted(floors[index], shift)
        must = [values[k] for k, p in enumerate(call.ports) if p.role == "must"]
        return max(must) if must else min(values.values())

    def woken(self) -> np.ndarray:
        """Keys whose waiting rows the present floors let go or drop."""
        floors = self.floors()
        found: list[np.ndarray] = []
        for pool in self.pools:
            for k, (stream, _) in enumerate(pool.call.sources):
                index, shift = self.plan.streams[stream].progress
                until = shifted(floors[index], shift)
                place = pairs.header_place(k, pairs.WATCHED)
                times, slots = pool.heaps[k]
                size = int(pool.header[place])
                out = np.empty(size, np.int64)
                size, taken = self.kernels.wake(times, slots, pool.watched[k], size, until, out)
                pool.header[place] = size
                found.append(out[:taken])
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)

    # ---- execution

    def run(
        self, slots: np.ndarray, inputs: Mapping[str, Batch], *, ending: bool = False
    ) -> list[Batch]:
        """Run every call over these keys; returns the batch of every stream."""
        plan = self.plan
        self.ahead = 0
        runs = len(slots)
        nothing = np.zeros(runs + 1, np.int64)
        batches: list[Batch | None] = [None] * len(plan.streams)
        for clock in plan.clocks:
            if clock.input is None:
                continue
            batch = inputs.get(clock.input)
            stream = clock.stream
            batches[stream.index] = batch if batch is not None else empty(nothing, stream.types)
        floors = self.floors() if self.pools or self.known else []
        carried: list[Any] = []
        for call in plan.calls:
            if isinstance(call, SegmentCall):
                carried = self._segment(call, slots, runs, batches, carried)
            elif isinstance(call, OwnCall):
                self._own(call, slots, runs, batches, floors)
            else:
                self._pair(call, slots, runs, batches, floors, ending=ending)
        return batches  # type: ignore[return-value]

    def _segment(
        self, call: SegmentCall, slots: np.ndarray, runs: int, batches: list[Any], carried: list[Any]
    ) -> list[Any]:
        source = batches[call.source]
        rows = len(source)
        streams = [self.plan.streams[index] for index, _ in call.groups]
        if not rows:
            for stream in streams:
                batches[stream.index] = empty(np.zeros(runs + 1, np.int64), stream.types)
            return []
        wrap = self.wrap
        arguments = [runs, wrap(slots), wrap(source.starts), wrap(source.time)]
        arguments += self._flat(source, call.columns)
        arguments += [wrap(a) for a in carried] if call.carries else []
        arguments += [self.F, self.I]
        results = []
        for (_, whole), stream in zip(call.groups, streams, strict=True):
            starts = source.starts if whole else np.empty(runs + 1, np.int64)
            time = source.time if whole else np.empty(rows, np.int64)
            columns = room(stream.types, rows)
            arguments += [] if whole else [wrap(starts), wrap(time)]
            arguments += [wrap(a) for a in arrays(columns)]
            results.append((stream.index, whole, starts, time, columns))
        passed = arrays(room(call.carried, rows))
        arguments += [wrap(a) for a in passed]
        getattr(self.module, call.name)(*arguments)
        for index, whole, starts, time, columns in results:
            count = rows if whole else int(starts[runs])
            batches[index] = Batch(starts, cut(time, count), [cut_column(c, count) for c in columns])
        return passed

    def _flat(self, batch: Batch, columns: Iterable[int]) -> list[Any]:
        wrap = self.wrap
        found = []
        for column in (batch.columns[c] for c in columns):
            found.append(wrap(column.value))
            if column.valid is not None:
                found.append(wrap(column.valid))
        return found

    def _own(
        self, call: OwnCall, slots: np.ndarray, runs: int, batches: list[Any], floors: list[int]
    ) -> None:
        source = batches[call.source]
        stream = self.plan.streams[call.target]
        starts = np.zeros(runs + 1, np.int64)
        known = self.known[call.progress] if call.keeps_frontier else np.zeros(0, np.int64)
        parts: list[tuple[np.ndarray, list[Column]]] = []
        run, row, total, room_rows = 0, 0, 0, len(source) + 16
        wrap = self.wrap
        while len(source) and run < runs:
            time, columns = np.empty(room_rows, np.int64), room(stream.types, room_rows)
            run, row, count = getattr(self.module, call.name)(
                runs, wrap(slots), wrap(source.starts), wrap(source.time),
                *self._flat(source, call.columns), self.F, self.I, wrap(known),
                run, row, room_rows, total, wrap(starts), wrap(time),
                *(wrap(a) for a in arrays(columns)),
            )  # fmt: skip
            parts.append((time[:count], [cut_column(c, count) for c in columns]))
            total += count
            room_rows = min(2 * room_rows, 1 << 22)
            if total > OWN_ROWS_LIMIT:
                raise ResourceLimit(f"{call.name} released over {OWN_ROWS_LIMIT} rows in one push")
        batches[call.target] = joined(starts, parts, stream.types)
        self.own_rows[call.node] = self.own_rows.get(call.node, 0) + total
        if call.keeps_frontier:
            index, shift = self.plan.progress[call.progress][1]
            frontier, pinned = self.progress(index)
            self.kernels.settle(
                slots, runs, known, frontier, pinned, floors[index], shift,
                self.frontiers[call.progress], self.pins[call.progress],
            )  # fmt: skip

    def _pair(
        self,
        call: PairCall,
        slots: np.ndarray,
        runs: int,
        batches: list[Any],
        floors: list[int],
        *,
        ending: bool,
    ) -> None:
        pool = self.pools[call.key]
        stream = self.plan.streams[call.target]
        sources = [batches[source] for source, _ in call.sources]
        rows = [len(batch) for batch in sources]
        pool.reserve(sum(rows), runs)
        for k, (source, _) in enumerate(call.sources):
            index = self.plan.streams[source].progress[0]
            pool.header[pairs.header_place(k, pairs.FLOOR)] = floors[index]
        most = pool.most(*rows)
        target = Batch(np.empty(runs + 1, np.int64), np.empty(most, np.int64), room(stream.types, most))
        pool.header[pairs.ENDING] = ending
        arguments = self.pair_arguments(call, runs, slots, sources, target)
        count = getattr(self.module, call.name)(*arguments)
        pool.header[pairs.ENDING] = 0
        pool.emitted += count
        columns = [cut_column(c, count) for c in target.columns]
        batches[call.target] = Batch(target.starts, cut(target.time, count), columns)

    def pair_arguments(
        self, call: PairCall, runs: int, slots: np.ndarray, sources: list[Batch], target: Batch
    ) -> list[Any]:
        """Arguments of a pairing's function, in the order of `pairs.Pair.parameters`."""
        pool = self.pools[call.key]
        wrap = self.wrap
        found: list[Any] = [runs, wrap(slots)]
        for batch, (source, column) in zip(sources, call.sources, strict=True):
            frontier, pinned = self.progress(self.plan.streams[source].progress[0])
            found += [wrap(batch.starts), wrap(batch.time), *self._flat(batch, [column])]
            found += [wrap(frontier), wrap(pinned)]
        queue, value = pool.queue, pool.value
        found += [wrap(a) for a in (queue.view(np.int64), queue, pool.header, pool.time)]
        found += [wrap(a) for a in (value, value.view(np.int64), pool.valid, pool.next)]
        for (times, heap_slots), watched in zip(pool.heaps, pool.watched, strict=True):
            found += [wrap(times), wrap(heap_slots), wrap(watched)]
        found += [wrap(self.frontiers[call.progress]), wrap(self.pins[call.progress])]
        return [*found, *(wrap(a) for a in (target.starts, target.time, *arrays(target.columns)))]


def _same(array: np.ndarray) -> np.ndarray:
    return array


def shifted(time: int, shift: int) -> int:
    """A time moved; the ends of the range stay where they are and bound the rest."""
    if time in (FIRST, LAST):
        return time
    return min(max(time + shift, FIRST), LAST)


def aligned(words: int) -> np.ndarray:
    """Zeroed float64 words that begin at a multiple of 64 bytes."""
    buffer = np.zeros(words + 8)
    offset = (-buffer.ctypes.data % 64) // 8
    return buffer[offset : offset + words]


def room(types: Iterable[Type], rows: int) -> list[Column]:
    """Uninitialised columns."""
    return [
        Column(np.empty(rows, DTYPES[t.kind]), np.empty(rows, bool) if t.nullable else None)
        for t in types
    ]


def arrays(columns: Iterable[Column]) -> list[np.ndarray]:
    """Value and valid arrays in the order of parameters of generated functions."""
    return [a for c in columns for a in (c.value, c.valid) if a is not None]


def empty(starts: np.ndarray, types: Iterable[Type]) -> Batch:
    """A batch without rows."""
    return Batch(starts, np.empty(0, np.int64), room(types, 0))


def cut(array: np.ndarray, count: int) -> np.ndarray:
    """The first rows; a copy where a view would keep much more alive."""
    return array[:count].copy() if count * 4 < len(array) else array[:count]


def cut_column(column: Column, count: int) -> Column:
    """`cut` for a column."""
    return Column(
        cut(column.value, count), None if column.valid is None else cut(column.valid, count)
    )


def joined(
    starts: np.ndarray, parts: list[tuple[np.ndarray, list[Column]]], types: list[Type]
) -> Batch:
    """One batch of the parts that a stopped and resumed loop wrote."""
    if not parts:
        return empty(starts, types)
    if len(parts) == 1:
        return Batch(starts, *parts[0])
    columns = []
    for k in range(len(types)):
        valid = [p[1][k].valid for p in parts]
        columns.append(
            Column(
                np.concatenate([p[1][k].value for p in parts]),
                None if valid[0] is None else np.concatenate(valid),  # type: ignore[arg-type]
            )
        )
    return Batch(starts, np.concatenate([p[0] for p in parts]), columns)
