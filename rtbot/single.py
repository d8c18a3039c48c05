"""One message at a time, without building tables: `Direct` where one call of a one-row twin does it all,
`Single` where the plan's functions are called with buffers that are made once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot import pairs
from rtbot.batch import Batch, Column
from rtbot.errors import DataError, StateError
from rtbot.plan import OwnCall, PairCall, SegmentCall
from rtbot.runner import Pool, arrays, room
from rtbot.tables import Spec, columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.feed import Feed
    from rtbot.plan import Plan
    from rtbot.result import Result
    from rtbot.session import Session

AHEAD = 1024
"""Messages for which `Single` reserves room at a time."""

ROOM = 16
"""Rows of the buffers of `Single`; what may release more takes the general road."""


class OneMessage:
    """What both roads share: the checks of one message, and the general road where they do not hold."""

    def __init__(self, session: Session, name: str) -> None:
        self.session = session
        self.name = name
        self.feed = session.feeds[name]
        self.kind = self.feed.type.kind
        self.keyed = session.keys is not None
        spec = session.specs[name]
        self.spec = Spec(spec.name, spec.kind, spec.nullable, (), spec.unit)

    def push(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        """As `Session.push_one`."""
        session = self.session
        if session.finished or session.broken:
            session.check_open()
        if type(value) is not float or self.kind != "number" or type(time) is not int:
            time, value = self._converted(time, value)
        slot = 0
        if self.keyed:
            slot = session.known_slots.get(key, -1)
            if slot < 0:
                return self._first(time, value, key)
        elif key is not None:
            raise StateError("this session has no key: start(key=...) makes a keyed one")
        feed = self.feed
        if time <= feed.view[slot] or time <= feed.floor:
            return self._general(time, value, key)
        return self._run(slot, time, value, key)

    def _run(self, slot: int, time: int, value: Any, key: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _converted(self, time: Any, value: Any) -> tuple[int, Any]:
        checked = columns({"t": [time], "value": [value]}, self.spec)
        if not len(checked):
            raise DataError("a null for an input that takes none", input=self.name, time=time)
        if checked.valid is not None and not checked.valid[0]:
            return int(checked.time[0]), None
        if self.kind == "text":
            return int(checked.time[0]), value
        return int(checked.time[0]), checked.value[0].item()  # type: ignore[union-attr]

    def _first(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        """The first message of a key by this road: the general one finds or makes its slot."""
        released = self._general(time, value, key)
        session = self.session
        assert session.keys is not None
        session.known_slots[key] = session.keys.slot(key, create=False)
        return released

    def _general(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        session = self.session
        row: dict[str, Any] = {"t": [time], "value": [value]}
        row |= key_columns(session.key, key)
        return rows_of(session.push({self.name: row}), session.key)


class Direct(OneMessage):
    """`push_one` where an input's segment is all there is behind it: one call of the one-row twin."""

    def __init__(self, session: Session, call: SegmentCall) -> None:
        assert call.input is not None
        super().__init__(session, call.input)
        self.call = call
        self.function = getattr(session.module, f"{call.name}_one")
        self.groups = self._groups()

    @staticmethod
    def serves(plan: Plan, call: SegmentCall, feeds: Mapping[str, Feed]) -> bool:
        """Whether everything behind the input is this one call."""
        if call.input is None or call.carried or call.carries:
            return False
        feed = feeds[call.input]
        if feed.holds or feed.type.nullable or feed.type.kind == "text":
            return False
        made = {call.source, *(index for index, _ in call.groups)}
        used = {c.source for c in plan.calls if c is not call and not isinstance(c, PairCall)}
        used |= {s for c in plan.pairings for s, _ in c.sources}
        texts = any(t.kind == "text" for i in made for t in plan.streams[i].types)
        passed_on = any(stream == call.source for stream, _ in plan.places.values())
        return not made & used and not texts and not passed_on

    def _groups(self) -> list[tuple[int, list[tuple[str, int, int | None]]]]:
        """Per group: where its flag stands in the result, and the place of each output's value."""
        place = 0
        groups = []
        for index, _ in self.call.groups:
            flag, found = place, []
            place += 1
            for kind in self.session.plan.streams[index].types:
                found.append((place, place + 1 if kind.nullable else None))
                place += 1 + kind.nullable
            outputs = [
                (name, *found[column])
                for name, (stream, column) in self.session.plan.places.items()
                if stream == index
            ]
            groups.append((flag, outputs))
        return groups

    def _run(self, slot: int, time: int, value: Any, key: Any) -> dict[str, Any]:
        session, feed, runner = self.session, self.feed, self.session.runner
        feed.view[slot] = time
        feed.counts["arrived"] += 1
        found = self.function(slot, time, value, runner.F, runner.I)
        released: dict[str, Any] = {}
        for flag, outputs in self.groups:
            if found[flag]:
                for name, place, valid in outputs:
                    result = found[place] if valid is None or found[valid] else None
                    session.rows[name] += 1
                    released[name] = [(key, time, result) if self.keyed else (time, result)]
        return released


class Single(OneMessage):
    """`push_one` where streams meet: every function is called with arguments that are made once."""

    def __init__(self, session: Session, name: str) -> None:
        super().__init__(session, name)
        self.version = -1
        self.held: list[Any] = []
        self.buffers: list[Batch] = []
        self.calls: list[tuple[Any, list[Any], Any]] = []

    @staticmethod
    def serves(plan: Plan, feeds: Mapping[str, Feed]) -> bool:
        """Whether no operator gives times of its own and no input holds rows back."""
        own = any(isinstance(c, OwnCall) for c in plan.calls)
        return not own and not any(feed.holds for feed in feeds.values())

    def _reserve(self) -> None:
        """Room in the pools for the next `AHEAD` messages, whatever inputs they come to."""
        runner = self.session.runner
        for pool in runner.pools:
            pool.reserve(AHEAD * len(pool.call.ports), AHEAD)
        runner.ahead = AHEAD

    def _prepare(self) -> None:
        """Make buffers and arguments anew, after an array of the state has moved."""
        runner, plan = self.session.runner, self.session.plan
        self.version = runner.version
        self.slot = np.zeros(1, np.int64)
        self.buffers = [
            Batch(np.zeros(2, np.int64), np.zeros(ROOM, np.int64), room(s.types, ROOM))
            for s in plan.streams
        ]
        own = next(c.stream.index for c in plan.clocks if c.input == self.name)
        self.source = self.buffers[own]
        self.calls = []
        carried: list[Column] = []
        for call in plan.calls:
            if isinstance(call, SegmentCall):
                passed = carried if call.carries else []
                carried = room(call.carried, ROOM)
                self.calls.append(self._segment(call, passed, carried))
            elif isinstance(call, PairCall):
                self.calls.append(self._pair(call))
        self.held = [held_words(pool) for pool in runner.pools]
        self.outputs = [
            (name, self.buffers[stream], self.buffers[stream].columns[column], plan.streams[stream].types[column].kind)
            for name, (stream, column) in plan.places.items()
        ]

    def _segment(
        self, call: SegmentCall, passed: list[Column], carried: list[Column]
    ) -> tuple[Any, list[Any], Any]:
        runner = self.session.runner
        wrap = runner.wrap
        source = self.buffers[call.source]
        arguments = [1, wrap(self.slot), wrap(source.starts), wrap(source.time)]
        arguments += [wrap(a) for a in arrays(source.columns[c] for c in call.columns)]
        arguments += [wrap(a) for a in arrays(passed)]
        arguments += [runner.F, runner.I]
        for index, whole in call.groups:
            target = self.buffers[index]
            if whole:
                target.starts, target.time = source.starts, source.time
            else:
                arguments += [wrap(target.starts), wrap(target.time)]
            arguments += [wrap(a) for a in arrays(target.columns)]
        arguments += [wrap(a) for a in arrays(carried)]
        return getattr(self.session.module, call.name), arguments, None

    def _pair(self, call: PairCall) -> tuple[Any, list[Any], Any]:
        runner = self.session.runner
        batches = [self.buffers[source] for source, _ in call.sources]
        arguments = runner.pair_arguments(call, 1, self.slot, batches, self.buffers[call.target])
        return getattr(self.session.module, call.name), arguments, runner.pools[call.key]

    def _run(self, slot: int, time: int, value: Any, key: Any) -> dict[str, Any]:
        session = self.session
        runner = session.runner
        if runner.ahead == 0:
            self._reserve()
        runner.ahead -= 1
        if self.version != runner.version:
            self._prepare()
        for view, waiting, deciding, least in self.held:
            if max([view[place] for place in waiting]) >= session.queue_limit:
                session.check_queues({self.name})
            if least([view[place] for place in deciding]) >= ROOM - len(deciding):
                return self._general(time, value, key)
        self._fill(slot, time, value)
        session.broken = True
        for function, arguments, pool in self.calls:
            count = function(*arguments)
            if pool is not None:
                pool.emitted += count
        session.broken = False
        released = self._released(key)
        self.source.starts[1] = 0
        return released

    def _fill(self, slot: int, time: int, value: Any) -> None:
        feed = self.feed
        feed.view[slot] = time
        feed.counts["arrived"] += 1
        source, column = self.source, self.source.columns[0]
        self.slot[0] = slot
        source.starts[1] = 1
        source.time[0] = time
        if column.valid is not None:
            column.valid[0] = value is not None
        if value is None:
            value = np.nan if self.kind == "number" else 0
        column.value[0] = self.session.texts.code(value) if self.kind == "text" else value

    def _released(self, key: Any) -> dict[str, Any]:
        session = self.session
        released: dict[str, Any] = {}
        for name, batch, column, kind in self.outputs:
            count = int(batch.starts[1])
            if not count:
                continue
            values = column.value[:count].tolist()
            if kind == "text":
                values = [session.texts.values[v] for v in values]
            if column.valid is not None:
                valid = column.valid[:count].tolist()
                values = [v if ok else None for v, ok in zip(values, valid, strict=True)]
            session.rows[name] += count
            times = batch.time[:count].tolist()
            if self.keyed:
                released[name] = [(key, t, v) for t, v in zip(times, values, strict=True)]
            else:
                released[name] = list(zip(times, values, strict=True))
        return released


def held_words(pool: Pool) -> tuple[Any, list[int], list[int], Any]:
    """The header, where it counts what waits, where of the ports that decide, and how those combine."""
    places = [pairs.header_place(k, pairs.HELD) for k in range(len(pool.call.ports))]
    must = [n for n, p in zip(places, pool.call.ports, strict=True) if p.role == "must"]
    return memoryview(pool.header), places, must or places, min if must else sum


def key_columns(names: Iterable[str], key: Any) -> dict[str, list[Any]]:
    """Columns of one row of the key, a tuple where there are several."""
    names = tuple(names)
    if not names:
        if key is not None:
            raise StateError("this session has no key: start(key=...) makes a keyed one")
        return {}
    parts = key if isinstance(key, tuple) else (key,)
    if len(parts) != len(names):
        raise DataError(f"a key of {len(names)} columns is needed, not {key!r}")
    return {name: [part] for name, part in zip(names, parts, strict=True)}


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


def roads(session: Session) -> dict[str, OneMessage]:
    """The best road of every input that has a better one than `push`."""
    plan, feeds = session.plan, session.feeds
    found: dict[str, OneMessage] = {}
    if Single.serves(plan, feeds):
        found |= {name: Single(session, name) for name in feeds}
    for call in plan.calls:
        if isinstance(call, SegmentCall) and Direct.serves(plan, call, feeds):
            assert call.input is not None
            found[call.input] = Direct(session, call)
    return found
