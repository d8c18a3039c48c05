"""The path of one message where streams meet.

The functions of the plan are called one after the other, as for a push of tables, but with buffers
and lists of arguments that are made once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rtbot.compiler import pairing_layout
from rtbot.compiler.calls import PairCall, RetimeCall, SegmentCall
from rtbot.compiler.jit import find_entry
from rtbot.core.arrays import allocate_columns, put_nulls
from rtbot.core.batch import Batch
from rtbot.core.vector_names import VECTOR, group_series, list_vectors
from rtbot.runtime.keyed_call import KeyedCall
from rtbot.runtime.push_one import PushPath

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.core.batch import Column
    from rtbot.runtime.session import Session


class OutputBuffer(NamedTuple):
    """The buffers of an output, several columns of values if it is a vector.

    `series` are those of its elements, `starts` and `time` those of its stream. All but `valid` are
    memoryviews, which are read faster than arrays.
    """

    name: str
    series: Sequence[str]
    starts: Any
    time: Any
    values: list[Any]
    valid: np.ndarray | None
    kind: str


AHEAD = 1024
"""Rows for which `BufferedPath` reserves room at a time."""

MESSAGES = 64
"""The least messages for which it does, where one may make many rows."""

ROOM = 16
"""Rows of the buffers of `BufferedPath` where fewer wait at a key."""


class BufferedPath(PushPath):
    """`push_one` where streams meet: every function is called with arguments that are made once.

    `rows` is the most rows of a stream that a message makes, those that wait left out.
    """

    rows = 1

    def __init__(self, session: Session, name: str) -> None:
        super().__init__(session, name)
        self.fields = self.feed.type.fields
        self.version: object = None
        self.room = ROOM
        self.slot = np.zeros(1, np.int64)
        self.held: list[tuple[Any, int]] = []
        self.waiting: list[tuple[Any, int, int]] = []
        self.buffers: list[Batch] = []
        self.calls: list[tuple[Any, Sequence[Any]]] = []
        self.entries: dict[str, Any] = {}

    def list_functions(self) -> list[Any]:
        """Return the functions that the path calls."""
        return [
            getattr(self.session.module, call.function.name) for call in self.session.plan.calls
        ]

    def _reserve(self) -> None:
        """Make room in the pools for the next `AHEAD` rows, whatever inputs they come to.

        What waits at one pairing may wait again at a later one.
        """
        runner = self.session.runner
        rows = ahead = max(AHEAD, MESSAGES * self.rows)
        for pool in runner.pools:
            ports = range(len(pool.call.ports))
            pool.reserve(rows * len(ports), ahead)
            rows += sum(pool.read_word(k, pairing_layout.HELD) for k in ports)
        for timers in runner.timers.values():
            timers.reserve(ahead)
        runner.ahead = ahead
        floors = runner.progress.list_global_frontiers() if runner.progress.known else ()
        arranged = (runner.version, *floors)
        if arranged != runner.arranged:
            runner.arranged = arranged
        if self.room > max(ROOM, self.rows):
            self.room, self.version = max(ROOM, self.rows), None

    def _any_full(self) -> bool:
        fullest: int = max(header[place] for header, place in self.held)
        return fullest >= self.session.queue_limit

    def _make_room(self, slot: int) -> None:
        """Make the buffers large enough for all that may come out of a call.

        That is at most the message and every row that waits at its key: whatever comes out of a
        pairing has the time of a row that came in, and no time twice.
        """
        rows = self.rows
        for words, width, place in self.waiting:
            rows += words[slot * width + place]
        if rows > self.room:
            self.room = 2 * rows
            self._prepare()

    def _prepare(self) -> None:
        """Make buffers and arguments again, after an array of the state has moved."""
        runner, plan = self.session.runner, self.session.plan
        self.version = runner.arranged
        self.buffers = [
            Batch(
                np.zeros(2, np.int64),
                np.empty(self.room, np.int64),
                allocate_columns(s.types, self.room),
            )
            for s in plan.streams
        ]
        own = next(c.stream.index for c in plan.timelines if c.input == self.name)
        self.source = self.buffers[own]
        self.calls = []
        carried: list[Column] = []
        for call in plan.calls:
            if isinstance(call, SegmentCall):
                passed = carried if call.carries else []
                carried = allocate_columns(call.carried, self.room)
                self.calls.append(self._bind_segment(call, passed, carried))
            elif isinstance(call, PairCall):
                self.calls.append(self._bind_pair(call))
            else:
                self.calls += self._bind_retime(call)
        self._count()
        self.cells: list[Any] = [memoryview(column.value) for column in self.source.columns]
        self.flags = [c.valid for c in self.source.columns if c.valid is not None]
        groups = group_series(plan.places, plan.records)
        self.outputs = [self._find_output(name, series) for name, series in groups.items()]

    def _find_output(self, name: str, series: Sequence[str]) -> OutputBuffer:
        plan = self.session.plan
        places = [plan.places[one] for one in series]
        columns = [self.buffers[stream].columns[place] for stream, place in places]
        stream, place = places[0]
        kind = (
            VECTOR if name in list_vectors(plan.records) else plan.streams[stream].types[place].kind
        )
        buffer = self.buffers[stream]
        starts, time = memoryview(buffer.starts), memoryview(buffer.time)
        values = [memoryview(column.value) for column in columns]
        return OutputBuffer(name, series, starts, time, values, columns[0].valid, kind)

    def _count(self) -> None:
        """Find where rows that wait at the ports are counted, of all keys and of each."""
        self.held, self.waiting = [], []
        for pool in self.session.runner.pools:
            header, words = memoryview(pool.header), memoryview(pool.queue.view(np.int64))
            for k in range(len(pool.call.ports)):
                self.held.append((header, pairing_layout.locate_word(k, pairing_layout.HELD)))
                self.waiting.append(
                    (words, pool.width, pairing_layout.QUEUE * k + pairing_layout.WAITING)
                )

    def look_up(self, call: SegmentCall | PairCall | RetimeCall) -> Any:
        """Return the function of a call, by its entry point once that is known."""
        name = call.function.name
        return self.entries.get(name) or getattr(self.session.module, name)

    def _bind_segment(
        self, call: SegmentCall, passed: list[Column], carried: list[Column]
    ) -> tuple[Any, Sequence[Any]]:
        source = self.buffers[call.source]
        targets = []
        for index, whole in call.groups:
            target = self.buffers[index]
            if whole:
                target.starts, target.time = source.starts, source.time
            targets.append(target)
        given = call, self.slot, source, targets, (passed, carried)
        if call.keys:  # which get their places message by message
            return KeyedCall(self.session, self.look_up(call), *given), ()
        return self.look_up(call), self.session.runner.make_segment_arguments(*given)

    def _bind_retime(self, call: RetimeCall) -> list[tuple[Any, Sequence[Any]]]:
        """Bind the loop of an operator that sets times."""
        raise NotImplementedError

    def _bind_pair(self, call: PairCall) -> tuple[Any, Sequence[Any]]:
        runner = self.session.runner
        runner.write_floors(call, runner.progress.list_global_frontiers())
        batches = [self.buffers[source] for source, _ in call.sources]
        arguments = runner.make_pair_arguments(call, self.slot, batches, self.buffers[call.target])
        return self.look_up(call), arguments

    def _run(self, slot: int, time: int, value: Any, key: Any) -> dict[str, Any]:
        session = self.session
        runner = session.runner
        if runner.ahead < self.rows:
            self._reserve()
        runner.ahead -= self.rows
        if self.version is not runner.arranged:
            self._prepare()
        waiting = 0
        for header, place in self.held:
            waiting += header[place]
        if waiting >= session.queue_limit and self._any_full():
            session.check_queues({self.name})
        if waiting + self.rows > self.room:
            self._make_room(slot)
        if runner.spans is not None and runner.reserve_one(slot, self.room):
            self._reserve()
            self._prepare()
        self._fill(slot, time, value)
        self._call()
        released = self._collect_released(key)
        self.source.starts[1] = 0
        if not self.entries:
            self._find_entries()
        return released

    def _find_entries(self) -> None:
        """Find the entry points of all functions, after they have been called and compiled."""
        module = self.session.module
        names = [call.function.name for call in self.session.plan.calls]
        self.entries = {name: find_entry(getattr(module, name)) for name in names}
        self.version = None

    def _call(self) -> None:
        for function, arguments in self.calls:
            function(*arguments)

    def _fill(self, slot: int, time: int, value: Any) -> None:
        port = self.feed
        port.view[slot] = time
        port.counts["arrived"] += 1
        source = self.source
        self.slot[0] = slot
        source.starts[1] = 1
        source.time[0] = time
        if self.kind == VECTOR:
            self._fill_vector(value)
            return
        if self.fields:
            self._fill_record(value)
            return
        column = source.columns[0]
        if column.valid is not None:
            column.valid[0] = value is not None
        if self.kind == "text":
            self.session.ingest.tidy()
            value = self.session.texts.code(value)
        elif value is None:
            value = np.nan if self.kind == "number" else 0
        column.value[0] = value

    def _fill_vector(self, value: Sequence[float] | None) -> None:
        for flag in self.flags:
            flag[0] = value is not None
        for column, cell in zip(self.cells, value or [math.nan] * len(self.cells), strict=True):
            column[0] = cell

    def _fill_record(self, value: Mapping[str, Any]) -> None:
        if any(field.type.kind == "text" for field in self.fields):
            self.session.ingest.tidy()
        for field, column in zip(self.fields, self.source.columns, strict=True):
            kind, cell = field.type.kind, value[field.name]
            if column.valid is not None:
                column.valid[0] = cell is not None
            if kind == "text":
                cell = self.session.texts.code(cell)
            elif cell is None:
                cell = np.nan if kind == "number" else 0
            column.value[0] = cell

    def _collect_released(self, key: Any) -> dict[str, Any]:
        session = self.session
        released: dict[str, Any] = {}
        for name, series, starts, time, columns, valid, kind in self.outputs:
            count = starts[1]
            if not count:
                continue
            values: list[Any] = columns[0][:count].tolist()
            if kind == VECTOR:
                cells = [column[:count].tolist() for column in columns]
                values = [list(row) for row in zip(*cells, strict=True)]
            elif kind == "text":  # where null, whatever code there is
                values = [session.texts.text(v) for v in values]
            if valid is not None:
                values = put_nulls(values, valid[:count])
            for one in series:
                session.rows[one] += count
            times = time[:count].tolist()
            if self.keyed:
                released[name] = [(key, t, v) for t, v in zip(times, values, strict=True)]
            else:
                released[name] = list(zip(times, values, strict=True))
        return released
