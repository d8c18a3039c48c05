"""A plan in progress: what users push to, and what they get back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot import kernels as kernels_source
from rtbot import modules, pairs
from rtbot.batch import Batch, Column
from rtbot.errors import DataError, QueueFull, StateError
from rtbot.feed import Feed, Prepared
from rtbot.intake import Teller, writable
from rtbot.kernels import FIRST, LAST
from rtbot.keys import Keys, Texts
from rtbot.result import Result
from rtbot.runner import Runner
from rtbot.single import OneMessage, key_columns, roads, rows_of
from rtbot.tables import Columns, Spec, columns

if TYPE_CHECKING:
    from types import ModuleType

    from rtbot.graph import Io
    from rtbot.plan import Plan

UNKEYED = np.zeros(1, np.int64)
DEFAULT_QUEUE_LIMIT = 1_000_000


def kernels() -> ModuleType:
    """The runtime's own loops, compiled."""
    return modules.compiled(Path(kernels_source.__file__).read_text("utf-8"))


class Session:
    """A run in progress. `push`, `push_one`, `advance`, `close_key` and `finish` return what they
    released; see INTERFACE 3 for the form.

    `key` names the key columns; none means an unkeyed run. `queue_limit` bounds the rows that wait at
    one port. An exception of the errors tree leaves the session as it was; any other one inside a
    push (an interrupt, no memory) breaks it, and only `resume` of an earlier dump helps.
    """

    def __init__(
        self,
        plan: Plan,
        io: Io,
        key: Sequence[str] = (),
        *,
        queue_limit: int = DEFAULT_QUEUE_LIMIT,
        compiled: bool = True,
    ) -> None:
        self.plan = plan
        self.io = io
        self.key = tuple(key)
        self.queue_limit = queue_limit
        self.kernels = kernels()
        load = modules.compiled if compiled else modules.interpreted
        self.module = load(plan.text)
        self.keys = Keys(self.key, self.kernels) if self.key else None
        self.texts = Texts()
        self.feeds = {
            name: Feed(declared, io, self.kernels, 1)
            for name, declared in plan.checked.inputs.items()
        }
        self.runner = Runner(plan, self.module, self.kernels, self.feeds)
        self.place = np.full(1, -1, np.int32)
        self.finished = False
        self.broken = False
        self.rows: dict[str, int] = dict.fromkeys(plan.outputs, 0)
        self.specs = {
            name: Spec(name, d.type.kind, d.type.nullable, self.key, io.unit)
            for name, d in plan.checked.inputs.items()
        }
        self.known_slots: dict[Any, int] = {}
        self.roads: dict[str, OneMessage] | None = None

    # ---- input

    def push(self, data: Mapping[str, Any]) -> Result:
        """Push one table per input; returns what that released.

        Raises DataError with the state unchanged if anything in the tables is wrong, QueueFull if an
        input is too far ahead of another, StateError after `finish`.
        """
        self.check_open()
        tables: dict[str, Columns] = {}
        for name, table in data.items():
            if name not in self.specs:
                raise DataError(f"there is no input {name!r}; inputs: {', '.join(self.specs)}")
            tables[name] = columns(table, self.specs[name])
        return self._push(tables)

    def _push(self, tables: Mapping[str, Columns]) -> Result:
        self.check_queues({n for n, t in tables.items() if len(t)})
        before = self._mark()
        added: list[int] = []
        try:
            found = self._slots(tables, added)
            slots, batches, orders = self._runs(tables, found)
            prepared = {
                name: self.feeds[name].prepare(batch, slots, Teller(self, tables[name], orders[name], slots, batch))
                for name, batch in batches.items()
            }
        except BaseException:
            if added:
                assert self.keys is not None
                self.keys.drop(added)
            self._back_to(before)
            raise
        for name, table in tables.items():
            if table.nulls:
                lost = prepared[name].lost
                lost["null"] = lost.get("null", 0) + table.nulls
                prepared[name].arrived += table.nulls
        return self._commit(slots, prepared)

    def _mark(self) -> tuple[Any, ...]:
        """What a refused push must leave as it was: the sizes of dictionaries, the kinds of keys."""
        if self.keys is None:
            return len(self.texts.values), None, ()
        return len(self.texts.values), self.keys.kinds, [len(t.values) for t in self.keys.texts]

    def _back_to(self, mark: tuple[Any, ...]) -> None:
        self.texts.shrink(mark[0])
        if self.keys is not None:
            self.keys.kinds = mark[1]
            for texts, length in zip(self.keys.texts, mark[2], strict=True):
                texts.shrink(length)

    def _commit(self, slots: np.ndarray, prepared: Mapping[str, Prepared]) -> Result:
        self.broken = True
        batches = {name: self.feeds[name].accept(p, slots) for name, p in prepared.items()}
        result = self._result(slots, self.runner.run(slots, batches))
        self.broken = False
        return result

    def check_open(self) -> None:
        """Raise StateError unless the session takes input."""
        if self.broken:
            raise StateError("a push was interrupted: resume from an earlier dump")
        if self.finished:
            raise StateError("the session is finished: it takes no more input")

    def check_queues(self, coming: set[str]) -> None:
        """Refuse rows for an input that is ahead where the queue behind it is full."""
        for pool in self.runner.pools:
            call = pool.call
            for k, port in enumerate(call.ports):
                held = pool.word(k, pairs.HELD)
                if held < self.queue_limit:
                    continue
                ahead = self._origins(call.sources[k][0])
                others = [self._origins(s) for j, (s, _) in enumerate(call.sources) if j != k]
                stalled = set().union(*others) - ahead
                if coming and coming <= ahead and stalled:
                    raise QueueFull(call.name, port.name, held, min(stalled))

    def _origins(self, stream: int) -> set[str]:
        kind, of = self.plan.progress[self.plan.streams[stream].progress[0]]
        while kind == "own":
            kind, of = self.plan.progress[of[0]]
        if kind == "input":
            return {of}
        return set().union(*(self._origins(s) for s, _ in self.plan.pairings[of].sources))

    # ---- keys and runs

    def _slots(
        self, tables: Mapping[str, Columns], added: list[int]
    ) -> dict[str, np.ndarray] | None:
        """Slots of every table's rows; keys that are new get slots, which are noted in `added`."""
        if self.keys is None:
            return None
        words = {n: self.keys.encode(t.keys) for n, t in tables.items() if len(t)}
        if self.keys.width > len(self.key):
            words = {n: self.keys.encode(t.keys) for n, t in tables.items() if len(t)}
        found: dict[str, np.ndarray] = {}
        for name, flat in words.items():
            slots, missing = self.keys.find(flat)
            if missing:
                new = flat.reshape(-1, self.keys.width)[slots < 0].ravel()
                added += self.keys.add(new).tolist()
                slots, _ = self.keys.find(flat)
            found[name] = slots
        self._grow(self.keys.count)
        return found

    def _grow(self, count: int) -> None:
        if count > self.runner.capacity:
            self.runner.grow(count)
        if self.runner.capacity > len(self.place):
            self.place = np.full(self.runner.capacity, -1, np.int32)

    def _runs(
        self, tables: Mapping[str, Columns], found: Mapping[str, np.ndarray] | None
    ) -> tuple[np.ndarray, dict[str, Batch], dict[str, np.ndarray | None]]:
        if found is None:
            batches = {}
            for name, table in tables.items():
                starts = np.array([0, len(table)])
                batches[name] = Batch(starts, writable(table.time), [self._column(name, table)])
            return UNKEYED, batches, dict.fromkeys(tables)
        assert self.keys is not None
        distinct = np.empty(min(sum(map(len, found.values())), self.keys.count), np.int64)
        count = 0
        for slots in found.values():
            count = self.kernels.mark(slots, len(slots), self.place, distinct, count)
        order = self.keys.sort(distinct[:count])
        self.kernels.arrange(order, count, self.place)
        try:
            batches = {n: self._sorted(n, tables[n], found.get(n), order) for n in tables}
        finally:
            self.kernels.forget(order, count, self.place)
        return order, batches, dict(found)

    def _column(self, name: str, table: Columns) -> Column:
        value = table.value
        if not isinstance(value, np.ndarray):
            value = self.texts.encode(value)
        valid = table.valid
        if valid is None and self.specs[name].nullable:
            valid = np.ones(len(table), bool)
        return Column(writable(value), None if valid is None else writable(valid))

    def _sorted(
        self, name: str, table: Columns, slots: np.ndarray | None, order: np.ndarray
    ) -> Batch:
        runs, rows = len(order), len(table)
        starts, ends = np.zeros(runs + 1, np.int64), np.empty(runs, np.int64)
        column = self._column(name, table)
        time = writable(table.time)
        if slots is None or self.kernels.tally(slots, rows, self.place, runs, starts, ends):
            return Batch(starts, time, [column])
        out_time, out = np.empty(rows, np.int64), np.empty_like(column.value)
        self.kernels.scatter(
            slots, rows, self.place, ends, time, column.value, out_time, out
        )
        valid = None
        if column.valid is not None:
            valid = np.empty(rows, bool)
            ends[:] = starts[:-1]
            self.kernels.scatter_valid(slots, rows, self.place, ends, column.valid, valid)
        return Batch(starts, out_time, [Column(out, valid)])

    # ---- one message

    def push_one(self, name: str, time: int, value: Any, *, key: Any = None) -> dict[str, Any]:
        """Push one message; returns {output: [(t, value), ...]} of outputs that emitted.

        In a keyed session rows are (key, t, value). Null is None.
        """
        if self.roads is None:
            self.roads = roads(self)
        road = self.roads.get(name)
        if road is not None:
            return road.push(time, value, key)
        self.check_open()
        if name not in self.specs:
            raise DataError(f"there is no input {name!r}; inputs: {', '.join(self.specs)}")
        row: dict[str, Any] = {"t": [time], "value": [value]} | key_columns(self.key, key)
        return rows_of(self.push({name: row}), self.key)

    # ---- progress

    def advance(self, time: int, name: str | None = None) -> Result:
        """Say that no input (or not this one) will send a message at or before `time` any more."""
        self.check_open()
        if name is not None and name not in self.feeds:
            raise DataError(f"there is no input {name!r}; inputs: {', '.join(self.specs)}")
        if isinstance(time, bool) or not hasattr(time, "__index__"):
            raise DataError(f"a time is an integer in io.unit, not {time!r}")
        time = min(max(time.__index__(), FIRST), LAST)
        self.broken = True
        touched: list[np.ndarray] = []
        for feed in self.feeds.values() if name is None else [self.feeds[name]]:
            touched.append(np.array(feed.advance(time), np.int64))
        touched.append(self.runner.woken())
        slots = UNKEYED
        if self.keys is not None:
            slots = self.keys.sort(np.unique(np.concatenate(touched)))
        result = self._release(slots, ending=False)
        self.broken = False
        return result

    def _release(self, slots: np.ndarray, *, ending: bool) -> Result:
        batches = {n: f.let_go(slots, ending=ending) for n, f in self.feeds.items() if f.holds}
        return self._result(slots, self.runner.run(slots, batches, ending=ending))

    def close_key(self, key: Any) -> Result:
        """Finish one key: release all it still has, and forget it. A later message begins anew."""
        self.check_open()
        if self.keys is None:
            raise StateError("this session has no key: use finish()")
        slot = self.keys.slot(key, create=False)
        if slot < 0:
            raise DataError(f"there is no key {key!r}")
        self.broken = True
        result = self._release(np.array([slot]), ending=True)
        self.runner.clear(slot)
        self.keys.drop([slot])
        self.known_slots.clear()
        self.broken = False
        return result

    def finish(self) -> Result:
        """Say that nothing more will come; releases all that still waits."""
        self.check_open()
        self.broken = True
        slots = UNKEYED if self.keys is None else self.keys.open_slots()
        result = self._release(slots, ending=True)
        self.finished = True
        self.broken = False
        return result

    # ---- what comes out

    def _result(self, slots: np.ndarray, batches: list[Batch]) -> Result:
        shared: dict[int, dict[str, np.ndarray]] = {}
        tables: dict[str, dict[str, np.ndarray]] = {}
        for name, (stream, place) in self.plan.places.items():
            batch = batches[stream]
            if stream not in shared:
                shared[stream] = self._frame(slots, batch)
            column = batch.columns[place]
            tables[name] = shared[stream] | self._values(self.plan.streams[stream].types[place].kind, column)
            self.rows[name] += len(batch)
        return Result(tables, self.key)

    def _frame(self, slots: np.ndarray, batch: Batch) -> dict[str, np.ndarray]:
        if self.keys is None:
            return {"t": batch.time}
        rows = np.diff(batch.starts)
        keys = self.keys.columns(slots)
        return {n: np.repeat(c, rows) for n, c in keys.items()} | {"t": batch.time}

    def _values(self, kind: str, column: Column) -> dict[str, np.ndarray]:
        value = column.value
        if kind == "text":
            codes = value if column.valid is None else np.where(column.valid, value, -1)
            value = self.texts.decode(codes)
        if column.valid is None:
            return {"value": value}
        return {"value": value, "value_valid": column.valid}

    def frontier(self) -> int | None:
        """The time up to which every output of an unkeyed run is final; None before any message."""
        if self.keys is not None or self.finished:
            return LAST if self.finished else None
        found = []
        floors = self.runner.floors()
        for stream, _ in self.plan.places.values():
            index, shift = self.plan.streams[stream].progress
            frontier, pinned = self.runner.progress(index)
            best = int(frontier[0]) if pinned[0] else max(int(frontier[0]), floors[index])
            found.append(min(max(best + shift, FIRST), LAST) if best != FIRST else FIRST)
        least = min(found, default=FIRST)
        return None if least == FIRST else least

    # ---- accounts

    def account(self) -> dict[str, Any]:
        """Counters: per operator and port in = consumed + held + lost, with a reason for every loss."""
        from rtbot.account import account

        return account(self)

    def held(self) -> dict[str, int]:
        """Rows that wait, by port (`m.i2`) or input; only where some do."""
        from rtbot.account import held

        return held(self)

    # ---- saving

    def dump(self) -> bytes:
        """Everything the session knows, as bytes for `Graph.resume`; never pickle."""
        if self.broken:
            raise StateError("a push was interrupted: there is nothing whole to save")
        from rtbot.checkpoint import dump

        return dump(self)
