"""A plan in progress: what users push to, and what they get back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot import kernels as kernels_source
from rtbot import modules, pairs
from rtbot.batch import Batch, Column
from rtbot.errors import DataError, QueueFull, StateError
from rtbot.feed import Feed, Prepared
from rtbot.kernels import FIRST, LAST
from rtbot.keys import Keys, Texts
from rtbot.plan import SegmentCall
from rtbot.result import Result
from rtbot.runner import Runner
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
        self.direct = {
            call.input: Direct(self, call)
            for call in plan.calls
            if isinstance(call, SegmentCall) and Direct.serves(plan, call, self.feeds)
        }

    # ---- input

    def push(self, data: Mapping[str, Any]) -> Result:
        """Push one table per input; returns what that released.

        Raises DataError with the state unchanged if anything in the tables is wrong, QueueFull if an
        input is too far ahead of another, StateError after `finish`.
        """
        self._open()
        tables: dict[str, Columns] = {}
        for name, table in data.items():
            if name not in self.specs:
                raise DataError(f"there is no input {name!r}; inputs: {', '.join(self.specs)}")
            tables[name] = columns(table, self.specs[name])
        return self._push(tables)

    def _push(self, tables: Mapping[str, Columns]) -> Result:
        self._check_queues({n for n, t in tables.items() if len(t)})
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

    def _open(self) -> None:
        if self.broken:
            raise StateError("a push was interrupted: resume from an earlier dump")
        if self.finished:
            raise StateError("the session is finished: it takes no more input")

    def _check_queues(self, coming: set[str]) -> None:
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
        direct = self.direct.get(name)
        if direct is not None:
            return direct.push(time, value, key)
        self._open()
        if name not in self.specs:
            raise DataError(f"there is no input {name!r}; inputs: {', '.join(self.specs)}")
        row: dict[str, Any] = {"t": [time], "value": [value]}
        if self.keys is not None:
            parts = key if isinstance(key, tuple) else (key,)
            row |= {n: [p] for n, p in zip(self.key, parts, strict=True)}
        elif key is not None:
            raise StateError("this session has no key: start(key=...) makes a keyed one")
        return rows_of(self.push({name: row}), self.key)

    # ---- progress

    def advance(self, time: int, name: str | None = None) -> Result:
        """Say that no input (or not this one) will send a message at or before `time` any more."""
        self._open()
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
        self._open()
        if self.keys is None:
            raise StateError("this session has no key: use finish()")
        slot = self.keys.slot(key, create=False)
        if slot < 0:
            raise DataError(f"there is no key {key!r}")
        self.broken = True
        result = self._release(np.array([slot]), ending=True)
        self.runner.clear(slot)
        self.keys.drop([slot])
        self.broken = False
        return result

    def finish(self) -> Result:
        """Say that nothing more will come; releases all that still waits."""
        self._open()
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


class Direct:
    """`push_one` where an input's segment is all there is behind it: one call of the one-row twin."""

    def __init__(self, session: Session, call: SegmentCall) -> None:
        assert call.input is not None
        self.session = session
        self.name = call.input
        self.call = call
        self.function: Any = None
        self.feed = session.feeds[call.input]
        self.kind = self.feed.type.kind
        self.groups = self._groups()

    @staticmethod
    def serves(plan: Plan, call: SegmentCall, feeds: Mapping[str, Feed]) -> bool:
        """Whether everything behind the input is this one call."""
        if call.input is None or call.carried or call.carries:
            return False
        feed = feeds[call.input]
        if feed.lateness is not None or feed.type.nullable or feed.type.kind == "text":
            return False
        made = {call.source, *(index for index, _ in call.groups)}
        used = {c.source for c in plan.calls if c is not call and not hasattr(c, "sources")}
        used |= {s for c in plan.pairings for s, _ in c.sources}
        texts = any(t.kind == "text" for i in made for t in plan.streams[i].types)
        passed_on = any(stream == call.source for stream, _ in plan.places.values())
        return not made & used and not texts and not passed_on

    def _groups(self) -> list[tuple[int, list[tuple[str, int, int | None]]]]:
        """Per group: where its flag stands in the result, and the place of each output's value."""
        place = 0
        groups = []
        for index, _ in self.call.groups:
            flag, columns = place, []
            place += 1
            for kind in self.session.plan.streams[index].types:
                columns.append((place, place + 1 if kind.nullable else None))
                place += 1 + kind.nullable
            outputs = [
                (name, *columns[column])
                for name, (stream, column) in self.session.plan.places.items()
                if stream == index
            ]
            groups.append((flag, outputs))
        return groups

    def _load(self) -> Any:
        self.session._open()  # noqa: SLF001 (one class in two halves)
        self.function = getattr(self.session.module, f"{self.call.name}_one")
        return self.function

    def push(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        """As `Session.push_one`."""
        session = self.session
        if session.finished or session.broken:
            session._open()  # noqa: SLF001
        if type(value) is not float or self.kind != "number" or type(time) is not int:
            time, value = self._converted(time, value)
        slot = 0
        feed = self.feed
        if session.keys is not None:
            slot = session.keys._scalar.get(key, -1)  # noqa: SLF001
            if slot < 0:
                return self._first(time, value, key)
        elif key is not None:
            raise StateError("this session has no key: start(key=...) makes a keyed one")
        newest = feed.view[slot]
        if time <= newest or time <= feed.floor:
            return self._refused(time, value, key)
        feed.view[slot] = time
        feed.counts["arrived"] += 1
        function = self.function or self._load()
        runner = session.runner
        found = function(slot, time, value, runner.F, runner.I)
        released: dict[str, Any] = {}
        for flag, outputs in self.groups:
            if found[flag]:
                for name, place, valid in outputs:
                    result = found[place] if valid is None or found[valid] else None
                    session.rows[name] += 1
                    released[name] = [
                        (time, result) if session.keys is None else (key, time, result)
                    ]
        return released

    def _converted(self, time: Any, value: Any) -> tuple[int, Any]:
        spec = self.session.specs[self.name]
        if not self.session.key:
            checked = columns({"t": [time], "value": [value]}, spec)
        else:
            plain = Spec(spec.name, spec.kind, spec.nullable, (), spec.unit)
            checked = columns({"t": [time], "value": [value]}, plain)
        if not len(checked):
            raise DataError("a null for an input that takes none", input=self.name, time=time)
        return int(checked.time[0]), checked.value[0].item()  # type: ignore[union-attr]

    def _first(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        """The first message of a key seen by this road: the general one finds or makes its slot."""
        session = self.session
        released = self._general(time, value, key)
        assert session.keys is not None
        session.keys.slot(key, create=False)
        return released

    def _refused(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        return self._general(time, value, key)

    def _general(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        session = self.session
        row: dict[str, Any] = {"t": [time], "value": [value]}
        parts = key if isinstance(key, tuple) else (key,)
        if session.keys is not None and len(parts) != len(session.key):
            raise DataError(f"a key of {len(session.key)} columns is needed, not {key!r}")
        row |= dict(zip(session.key, ([p] for p in parts), strict=False))
        return rows_of(session.push({self.name: row}), session.key)


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


def rows_of(result: Result, key: Iterable[str]) -> dict[str, Any]:
    """A result as lists of tuples, outputs without rows left out."""
    names = list(key)
    found: dict[str, Any] = {}
    for output, table in result.items():
        if not len(table["t"]):
            continue
        values = table["value"].tolist()
        if "value_valid" in table:
            values = [v if ok else None for v, ok in zip(values, table["value_valid"], strict=True)]
        parts = [table[n].tolist() for n in names]
        keys = [parts[0]] if len(parts) == 1 else [list(zip(*parts, strict=True))] if parts else []
        found[output] = list(zip(*keys, table["t"].tolist(), values, strict=True))
    return found
