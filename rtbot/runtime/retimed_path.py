"""The path of one message in a plan in which an operator gives its messages times of their own.

A message may make any number of rows. So there is room for a few, and where a loop has used that up
it is called again until it is done, and all buffers are made larger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.compiler.calls import RetimeCall
from rtbot.compiler.jit import find_entry
from rtbot.compiler.user_step_errors import make_due_error
from rtbot.core.arrays import concat_batches, flatten_columns, trim_column
from rtbot.runtime import executor
from rtbot.runtime.buffered_path import ROOM, BufferedPath
from rtbot.runtime.push_one import UnservedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.core.batch import Batch
    from rtbot.runtime.session import Session

MOST_ROOM = 1024
"""Rows of a message beyond which the room for so many is not kept."""

GRID_POINTS = 1000
"""A message behind so many points of a grid goes the general path, which may refuse it."""


class RetimedPath(BufferedPath):
    """`push_one` in such a plan. `own_room` is how many rows a loop may write in one call."""

    def __init__(self, session: Session, name: str) -> None:
        super().__init__(session, name)
        plan = session.plan
        self.loops = sum(isinstance(call, RetimeCall) for call in plan.calls)
        points = min(GRID_POINTS, executor.OWN_ROWS_LIMIT)
        spans = [grid.interval * points for grid in plan.grids.values() if grid.input == name]
        self.gap = min(spans, default=None)
        self._set_room(ROOM)

    def _set_room(self, own_room: int) -> None:
        self.own_room = own_room
        self.rows = 1 + self.loops * own_room
        self.room = max(self.room, self.rows)

    def _reserve(self) -> None:
        if self.own_room > MOST_ROOM:
            self._set_room(ROOM)
            self.version = None
        super()._reserve()

    def _run(self, slot: int, time: int, value: Any, key: Any) -> dict[str, Any]:
        if self.gap is not None and time - self.feed.view[slot] > self.gap:
            raise UnservedError
        return super()._run(slot, time, value, key)

    def _call(self) -> None:
        """Call everything; the calls may be made again on the way."""
        place = 0
        while place < len(self.calls):
            function, arguments = self.calls[place]
            function(*arguments)
            place += 1

    def _bind_retime(self, call: RetimeCall) -> list[tuple[Any, Sequence[Any]]]:
        runner = self.session.runner
        floors = runner.progress.list_global_frontiers()
        source, target = self.buffers[call.source], self.buffers[call.target]
        if call.closes:
            runner.timers[call.node].set_frontier(floors, ending=False)
        place = (0, 0, self.own_room, 0)
        arguments = runner.make_retime_arguments(call, self.slot, source, target, place)
        generated = self.look_up(call)
        counts, node = runner.own_rows, call.node
        counts.setdefault(node, 0)

        def function(*given: Any) -> None:
            run, row, count = generated(*given)
            if run != 1:
                count = self._go_on(call, run, row, count)
            counts[node] += count

        settled = [runner.progress.bind_settle(index, self.slot, floors) for index in call.settles]
        if self.entries:  # so they have been called
            settled = [(find_entry(settle), given) for settle, given in settled]
        return [(function, arguments), *settled]

    def _go_on(self, call: RetimeCall, run: int, row: int, count: int) -> int:
        """Run a loop that has filled its room to its end; return how many rows it has written."""
        session = self.session
        if run < 0:
            raise make_due_error(call.node, row, count, session.plan)
        source, target = self.buffers[call.source], self.buffers[call.target]
        first = target.time[:count], [trim_column(column, count) for column in target.columns]
        place = (run, row, 2 * self.own_room, count)
        more = session.runner.call_retime(call, self.slot, source, target.starts, place)
        types = session.plan.streams[call.target].types
        self._enlarge(call, concat_batches(target.starts, [first, *more], types))
        return int(target.starts[1])

    def _enlarge(self, call: RetimeCall, released: Batch) -> None:
        """Make room for what the loop has released, and put that and all other rows there.

        Streams that share its times are written by what follows.
        """
        before = self.buffers
        before[call.target] = released
        self._set_room(2 * len(released))
        super()._reserve()
        slot = int(self.slot[0])
        self._make_room(slot)
        if self.session.runner.spans is not None:
            self.session.runner.reserve_one(slot, self.room)
        self._prepare()
        for old, new in zip(before, self.buffers, strict=True):
            if old.starts is released.starts and old is not released:
                continue
            count = int(old.starts[1])
            new.starts[1] = count
            new.time[:count] = old.time[:count]
            columns = zip(flatten_columns(old.columns), flatten_columns(new.columns), strict=True)
            for column, copy in columns:
                copy[:count] = column[:count]
