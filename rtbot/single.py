"""The road of one message where streams meet, and the choice of a road for every input.

The functions of the plan are called one after the other, as for a push of tables, but with buffers
and lists of arguments that are made once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot import pairs
from rtbot.arrays import flat, room
from rtbot.batch import Batch
from rtbot.calls import OwnCall, PairCall, SegmentCall
from rtbot.direct import Direct
from rtbot.message import OneMessage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.batch import Column
    from rtbot.feed import Feed
    from rtbot.plan import Plan
    from rtbot.pool import Pool
    from rtbot.session import Session

AHEAD = 1024
"""Messages for which `Single` reserves room at a time."""

ROOM = 16
"""Rows of the buffers of `Single`; what may release more takes the general road."""


class Single(OneMessage):
    """`push_one` where streams meet: every function is called with arguments that are made once."""

    def __init__(self, session: Session, name: str) -> None:
        super().__init__(session, name)
        self.version = -1
        self.held: list[Any] = []
        self.buffers: list[Batch] = []
        self.calls: list[tuple[Any, list[Any]]] = []

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
        self.outputs = []
        for name, (stream, place) in plan.places.items():
            target, kind = self.buffers[stream], plan.streams[stream].types[place].kind
            self.outputs.append((name, target, target.columns[place], kind))

    def _segment(
        self, call: SegmentCall, passed: list[Column], carried: list[Column]
    ) -> tuple[Any, list[Any]]:
        runner = self.session.runner
        wrap = runner.wrap
        source = self.buffers[call.source]
        arguments = [1, wrap(self.slot), wrap(source.starts), wrap(source.time)]
        arguments += [wrap(a) for a in flat(source.columns[c] for c in call.columns)]
        arguments += [wrap(a) for a in flat(passed)]
        arguments += [runner.F, runner.I]
        for index, whole in call.groups:
            target = self.buffers[index]
            if whole:
                target.starts, target.time = source.starts, source.time
            else:
                arguments += [wrap(target.starts), wrap(target.time)]
            arguments += [wrap(a) for a in flat(target.columns)]
        arguments += [wrap(a) for a in flat(carried)]
        return getattr(self.session.module, call.name), arguments

    def _pair(self, call: PairCall) -> tuple[Any, list[Any]]:
        runner = self.session.runner
        batches = [self.buffers[source] for source, _ in call.sources]
        arguments = runner.pair_arguments(call, 1, self.slot, batches, self.buffers[call.target])
        return getattr(self.session.module, call.name), arguments

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
                return self.general(time, value, key)
        self._fill(slot, time, value)
        session.broken = True
        for function, arguments in self.calls:
            function(*arguments)
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
        if self.kind == "text":
            self.session.intake.tidy()
            value = self.session.texts.code(value)
        elif value is None:
            value = np.nan if self.kind == "number" else 0
        column.value[0] = value

    def _released(self, key: Any) -> dict[str, Any]:
        session = self.session
        released: dict[str, Any] = {}
        for name, batch, column, kind in self.outputs:
            count = int(batch.starts[1])
            if not count:
                continue
            values = column.value[:count].tolist()
            if kind == "text":  # where null, whatever code there is
                values = [session.texts.text(v) for v in values]
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
    """The header, where it counts what waits, where for ports that decide, how those combine."""
    places = [pairs.header_place(k, pairs.HELD) for k in range(len(pool.call.ports))]
    must = [n for n, p in zip(places, pool.call.ports, strict=True) if p.role == "must"]
    return memoryview(pool.header), places, must or places, min if must else sum


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
