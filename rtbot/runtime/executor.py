"""The execution of a plan: the state of its operators as arrays, calls of generated functions."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rtbot.compiler import pairing_layout
from rtbot.compiler.calls import PairCall, RetimeCall, SegmentCall
from rtbot.compiler.user_step_errors import make_due_error, to_step_error
from rtbot.core.arrays import (
    allocate_columns,
    allocate_rows,
    concat_batches,
    flatten_columns,
    make_empty_batch,
    trim_array,
    trim_column,
)
from rtbot.core.batch import Batch, Column
from rtbot.core.errors import ResourceLimit
from rtbot.runtime.frontier import FrontierTracker
from rtbot.runtime.inner_keys import InnerKeys
from rtbot.runtime.pairing_pool import PairingPool
from rtbot.runtime.span_pool import SpanPool
from rtbot.runtime.state_owner import OperatorState
from rtbot.runtime.timers import Timers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import ModuleType

    from rtbot.compiler.calls import KeyColumn, Signature
    from rtbot.compiler.plan import Plan
    from rtbot.runtime.input_port import InputPort
    from rtbot.runtime.state_owner import StateOwner
    from rtbot.runtime.waiting_rows import SharedWakes

OWN_ROWS_LIMIT = 100_000_000
"""Rows that an operator with its own times may release in one push."""

MOST_ROOM = 1 << 22
"""Rows for which a call of the loop of such an operator has room at most."""

NO_TIMES = np.zeros(0, np.int64)


@dataclass
class Run:
    """What the calls of one run hand on: the batch of every stream, and columns between segments.

    `floors` are the global frontiers; `ending` says that nothing more comes for these keys.
    """

    slots: np.ndarray
    batches: list[Batch | None]
    floors: list[int]
    ending: bool
    carried: list[Column] = field(default_factory=list)


class Executor:
    """State and execution; independent of keys, tables and policies.

    `changes` counts what may have taken room in lists, or moved arrays; `rooms` are the rows for
    which operators that set times get room at once.
    `expect` is called with a number of rows before a function runs over them.
    """

    def __init__(
        self, plan: Plan, module: ModuleType, kernels: ModuleType, ports: Mapping[str, InputPort]
    ) -> None:
        self.plan = plan
        self.module = module
        self.kernels = kernels
        self.input_ports = ports
        self.capacity = 1
        self.sources = [(c.input, c.stream) for c in plan.timelines if c.input is not None]
        self.operators = OperatorState(plan)
        self.pools = [PairingPool(call, kernels, 1) for call in plan.pairings]
        for pool in self.pools:
            for k, (source, _) in enumerate(pool.call.sources):
                shift = plan.streams[source].progress[1]
                pool.write_word(k, pairing_layout.SHIFT, shift)
        self.timers = {
            call.node: Timers(kernels, 1, plan.streams[call.source].progress)
            for call in plan.calls
            if isinstance(call, RetimeCall) and call.closes
        }
        wakes = itertools.chain(*(pool.wakes for pool in self.pools))
        self.movers: list[PairingPool | SharedWakes] = [*self.pools, *wakes, *self.timers.values()]
        self.grew = self.changes = 0
        self.ahead = 0
        self.arranged: object = None
        self.progress = FrontierTracker(plan, kernels, ports, self.pools, self.timers)
        self.own_rows: dict[str, int] = {}
        self.rooms: dict[str, int] = {}
        self.selectors: dict[str, Callable[[Sequence[Any]], tuple[Any, ...]]] = {}
        self.arrays: dict[int | str, tuple[int, Mapping[str, Any]]] = {}
        self.expect: Callable[[int], object] = _ignore
        self.spans = SpanPool(plan.layout, kernels, 1) if plan.layout.spans else None
        self.spaces = [InnerKeys(space, kernels) for space in plan.layout.spaces]
        self.owners = self._list_owners()
        self.renew_views()

    def _list_owners(self) -> dict[str, StateOwner]:
        """Return all that has state, by the names in dumps."""
        pools = zip(self.plan.pairing_names, self.pools, strict=True)
        return {
            "operators": self.operators,
            "frontiers": self.progress,
            **{f"pairing {name}": pool for name, pool in pools},
            **{f"space {space.layout.name}": space for space in self.spaces},
            **{f"timers {name}": timers for name, timers in self.timers.items()},
            **{f"input {name}": port for name, port in self.input_ports.items()},
            **({"spans": self.spans} if self.spans is not None else {}),
        }

    @property
    def version(self) -> int:
        """Changes whenever an array of the state has moved."""
        return self.grew + sum([one.moved for one in self.movers])

    def list_state_arrays(self, call: SegmentCall) -> tuple[np.ndarray, ...]:
        """Return the arrays of state that the function of one row of a segment takes."""
        return self.with_spans if call.spans else (self.F, self.I)

    def renew_views(self) -> None:
        """Renew the views of the state's arrays, after one of them has moved."""
        self.grew += 1
        self.changes += 1
        self.ahead = 0
        self.F = self.operators.words
        self.I = self.operators.words.view(np.int64)
        self.views = {"F": self.F, "I": self.I}
        if self.spans is not None:
            self.views |= self.spans.name_arrays()
        self.with_spans = tuple(self.views.values())
        for number, space in enumerate(self.spaces):
            self.views |= {f"space{number}_{name}": own for name, own in space.fields.items()}
            space.moved = False
        self.header = self.operators.header

    def resize(self, capacity: int) -> None:
        """Make room for so many keys; what is beyond has to be unused."""
        for owner in self.owners.values():
            owner.grow(capacity)
        self.capacity = capacity
        self.renew_views()

    def clear(self, slot: int) -> None:
        """Make the slot as new."""
        for owner in self.owners.values():
            owner.clear(slot)

    def list_text_codes(self, slots: np.ndarray | slice = slice(None)) -> Iterator[np.ndarray]:
        """Return the codes of all texts in a state of these slots or in a row that waits."""
        for owner in self.owners.values():
            yield from owner.list_text_codes(slots)

    # ---- execution

    def run(
        self, slots: np.ndarray, inputs: Mapping[str, Batch], *, ending: bool = False
    ) -> list[Batch]:
        """Run every call over these keys; returns the batch of every stream."""
        plan = self.plan
        self.ahead = 0
        self.changes += 1
        runs = len(slots)
        nothing = np.zeros(runs + 1, np.int64)
        batches: list[Batch | None] = [None] * len(plan.streams)
        for name, stream in self.sources:
            batch = inputs.get(name)
            batches[stream.index] = (
                batch if batch is not None else make_empty_batch(nothing, stream.types)
            )
        waits = self.pools or self.timers or self.progress.known
        floors = self.progress.list_global_frontiers() if waits else []
        run = Run(slots, batches, floors, ending=ending)
        try:
            for call in plan.calls:
                RUN[type(call)](self, call, run)
        except Exception as error:
            found = to_step_error(error, plan)
            if found is None:
                raise
            raise found from error
        if ending:
            self._lose_waiting(slots)
        return batches  # type: ignore[return-value]

    def _lose_waiting(self, slots: np.ndarray) -> None:
        """Count what operators still hold back, which nothing follows any more."""
        for port in self.plan.ports.values():
            if port.waits and self.spans is not None and port.domain is not None:
                self.header[port.domain] += self.spans.empty(port.waits, slots)

    def run_segment(self, call: SegmentCall, run: Run) -> None:
        """Run a segment over the rows of its stream."""
        batches, runs = run.batches, len(run.slots)
        source = batches[call.source]
        assert source is not None, "a call comes after those that it reads"
        rows = len(source)
        streams = self.plan.streams
        if not rows:
            nothing = np.zeros(runs + 1, np.int64)
            for index, _ in call.groups:
                batches[index] = make_empty_batch(nothing, streams[index].types)
            run.carried = []
            return
        self.expect(rows)
        self.reserve(call, run.slots, source)
        targets = []
        for index, whole in call.groups:
            starts = source.starts if whole else np.empty(runs + 1, np.int64)
            time = source.time if whole else np.empty(rows, np.int64)
            targets.append(Batch(starts, time, allocate_columns(streams[index].types, rows)))
        carried, run.carried = run.carried, allocate_columns(call.carried, rows)
        arguments = self.make_segment_arguments(
            call, run.slots, source, targets, (carried, run.carried)
        )
        getattr(self.module, call.function.name)(*arguments)
        for (index, whole), target in zip(call.groups, targets, strict=True):
            batches[index] = target if whole else _trim_batch(target, int(target.starts[runs]))

    def reserve(self, call: SegmentCall | RetimeCall, slots: np.ndarray, source: Batch) -> None:
        """Make room for the rows of a batch in the lists that a call pushes them to."""
        if self.spans is None or not call.spans:
            return
        if self.spans.reserve(call.spans, slots, source.starts):
            self.renew_views()

    def reserve_one(self, slot: int, rows: int) -> bool:
        """Make room for so many entries in all lists of a key; return whether arrays moved."""
        moved = self.spans is not None and self.spans.reserve_one(slot, rows)
        if moved:
            self.renew_views()
        return moved

    def make_segment_arguments(
        self,
        call: SegmentCall,
        slots: np.ndarray,
        source: Batch,
        targets: Sequence[Batch],
        carried: tuple[list[Column], list[Column]],
    ) -> Sequence[Any]:
        """Return the arguments of a segment's function.

        `targets` are the batches of its groups; `carried` are the columns of the segment before and
        those for the next one.
        """
        arrays = self._list_source(call, source)
        if call.carries:
            arrays += flatten_columns(carried[0])
        if call.keys:
            arrays += self.locate_keys(call, slots, source, carried[0])
        for (_, whole), batch in zip(call.groups, targets, strict=True):
            arrays += [] if whole else [batch.starts, batch.time]
            arrays += flatten_columns(batch.columns)
        if call.carried:
            arrays += flatten_columns(carried[1])
        return self._arrange(call.function, arrays, slots, self.views)

    def locate_keys(
        self, call: SegmentCall, slots: np.ndarray, source: Batch, carried: list[Column]
    ) -> list[np.ndarray]:
        """Return the places of keys inside keys that a segment reads; new keys get theirs first."""
        rows = int(source.starts[len(slots)])
        found = []
        for key in call.keys:
            column, flags = self.find_keys(call, key, source, carried)
            mask = np.logical_and.reduce([flag[:rows] for flag in flags]) if flags else None
            space = self.spaces[key.space]
            keys = source.starts, column.value[:rows], mask
            found.append(space.locate(slots, keys, create=key.create))
        if any(space.moved for space in self.spaces):
            self.renew_views()
        return found

    @staticmethod
    def find_keys(
        call: SegmentCall, key: KeyColumn, source: Batch, carried: list[Column]
    ) -> tuple[Column, list[np.ndarray]]:
        """Return a column of keys, and the flags that are all true in rows that have one."""
        column = carried[key.place] if key.carried else source.columns[call.columns[key.place]]
        flags = [carried[flag].value for flag in key.flags]
        return column, flags + ([] if column.valid is None else [column.valid])

    @staticmethod
    def _list_source(call: SegmentCall | RetimeCall, source: Batch) -> list[np.ndarray]:
        """Return the arrays that a loop over the rows of a batch reads."""
        columns = flatten_columns([source.columns[c] for c in call.columns])
        return [source.starts, source.time, *columns]

    def _arrange(
        self,
        function: Signature,
        arrays: list[np.ndarray],
        slots: np.ndarray,
        more: Mapping[str, Any],
    ) -> Sequence[Any]:
        """Return the arguments of a function: the arrays that it reads and writes, and others."""
        assert len(arrays) == len(function.arrays), "arrays without a name"
        select = self.selectors.get(function.name)
        if select is None:
            names = ["runs", "slots", *more, *function.arrays]
            select = self.selectors[function.name] = function.make_selector(names)
        return select([len(slots), slots, *more.values(), *arrays])

    def run_retime(self, call: RetimeCall, whole: Run) -> None:
        """Run an operator that sets times, and settle frontiers."""
        slots, batches, runs = whole.slots, whole.batches, len(whole.slots)
        source = batches[call.source]
        assert source is not None, "a call comes after those that it reads"
        starts = np.zeros(runs + 1, np.int64)
        self.reserve(call, slots, source)
        if call.closes:
            timers = self.timers[call.node]
            timers.reserve(runs)
            timers.set_frontier(whole.floors, ending=whole.ending)
        room = self.rooms.get(call.node, 0)
        place = (0, 0, max(len(source), room) + 16, 0)
        parts = self.call_retime(call, slots, source, starts, place)
        if call.closes:
            timers.set_frontier(whole.floors, ending=False)
        batches[call.target] = concat_batches(starts, parts, self.plan.streams[call.target].types)
        total = int(starts[runs])
        self.own_rows[call.node] = self.own_rows.get(call.node, 0) + total
        if total:  # the next push may have as many, and so needs one call
            self.rooms[call.node] = min(max(total, room - room // 8), MOST_ROOM)
        for index in call.settles:
            self.progress.settle(index, slots, whole.floors)

    def call_retime(
        self,
        call: RetimeCall,
        slots: np.ndarray,
        source: Batch,
        starts: np.ndarray,
        place: tuple[int, int, int, int],
    ) -> list[tuple[np.ndarray, list[Column]]]:
        """Call the loop of an operator that sets times until it is done; return what it wrote.

        `place` is the run and the row to go on with, the room of the first call, and how many rows
        there are before it.
        """
        run, row, room, total = place
        types = self.plan.streams[call.target].types
        rows = len(source) + (len(slots) if call.closes else 0)
        parts = []
        while rows and run < len(slots):
            time, columns = allocate_rows(types, room)
            target = Batch(starts, time, columns)
            self.expect(max(total, rows))
            place = run, row, room, total
            arguments = self.make_retime_arguments(call, slots, source, target, place)
            run, row, count = getattr(self.module, call.function.name)(*arguments)
            if run < 0:
                raise make_due_error(call.node, row, count, self.plan)
            parts.append((trim_array(time, count), [trim_column(c, count) for c in columns]))
            total += count
            room = min(2 * room, MOST_ROOM)
            if total > OWN_ROWS_LIMIT:
                raise make_flood_error(call, int(time[count - 1]))
        return parts

    def make_retime_arguments(
        self,
        call: RetimeCall,
        slots: np.ndarray,
        source: Batch,
        target: Batch,
        place: tuple[int, int, int, int],
    ) -> Sequence[Any]:
        """Return the arguments of the loop of an operator that sets times.

        `place` is the run and the row to go on with, the room, and how many rows were written.
        """
        arrays = [*self._list_source(call, source), target.starts, target.time]
        arrays += flatten_columns(target.columns)
        known = self.progress.known[call.progress] if call.keeps_frontier else NO_TIMES
        given: dict[str, Any] = {**self.views, "progress": known}
        given |= zip(("from_run", "from_row", "room", "out_base"), place, strict=True)
        if call.closes:
            given |= self._name_timer_arrays(call)
        return self._arrange(call.function, arrays, slots, given)

    def _name_timer_arrays(self, call: RetimeCall) -> Mapping[str, Any]:
        version = self.version
        if self.arrays.get(call.node, (None,))[0] != version:
            timers = self.timers[call.node]
            found = timers.name_arrays(*self.progress.lookup(timers.source))
            self.arrays[call.node] = version, found
        return self.arrays[call.node][1]

    def run_pairing(self, call: PairCall, run: Run) -> None:
        """Run a pairing: rows that wait and new ones; what is decided comes out."""
        slots, runs, batches = run.slots, len(run.slots), cast("list[Batch]", run.batches)
        pool = self.pools[call.key]
        stream = self.plan.streams[call.target]
        sources = [batches[source] for source, _ in call.sources]
        rows = [len(batch) for batch in sources]
        pool.reserve(sum(rows), runs)
        self.expect(sum(rows))
        self.write_floors(call, run.floors)
        most = pool.count_rows_max(*rows)
        starts, time = np.empty(runs + 1, np.int64), np.empty(most, np.int64)
        target = Batch(starts, time, allocate_columns(stream.types, most))
        pool.header[pairing_layout.ENDING] = run.ending
        arguments = self.make_pair_arguments(call, slots, sources, target)
        count = getattr(self.module, call.function.name)(*arguments)
        pool.header[pairing_layout.ENDING] = 0
        batches[call.target] = _trim_batch(target, count)

    def write_floors(self, call: PairCall, floors: Sequence[int]) -> None:
        """Set the global frontiers of what a pairing reads."""
        for k, (source, _) in enumerate(call.sources):
            index = self.plan.streams[source].progress[0]
            self.pools[call.key].write_word(k, pairing_layout.FLOOR, floors[index])

    def make_pair_arguments(
        self, call: PairCall, slots: np.ndarray, sources: list[Batch], target: Batch
    ) -> Sequence[Any]:
        """Return the arguments of a pairing's function."""
        arrays: list[np.ndarray] = []
        for batch, (_, columns) in zip(sources, call.sources, strict=True):
            given = [batch.columns[column] for column in columns]
            arrays += [batch.starts, batch.time, *flatten_columns(given)]
        arrays += [target.starts, target.time, *flatten_columns(target.columns)]
        return self._arrange(call.function, arrays, slots, self._name_pool_arrays(call))

    def _name_pool_arrays(self, call: PairCall) -> Mapping[str, Any]:
        """Return the arrays of a pairing's state by name, kept until one of them has moved."""
        version = self.version
        if self.arrays.get(call.key, (None,))[0] != version:
            found = self.pools[call.key].name_arrays()
            for k, (source, _) in enumerate(call.sources):
                place = self.plan.streams[source].progress[0]
                found[f"frontier{k}"], found[f"pinned{k}"] = self.progress.lookup(place)
            found["out_frontier"], found["out_pinned"] = self.progress.lookup(call.progress)
            self.arrays[call.key] = version, found
        return self.arrays[call.key][1]


RUN: dict[type, Callable[[Executor, Any, Run], None]] = {
    SegmentCall: Executor.run_segment,
    RetimeCall: Executor.run_retime,
    PairCall: Executor.run_pairing,
}
"""How each kind of call is run; another kind of call is one more line."""


def _trim_batch(batch: Batch, count: int) -> Batch:
    columns = [trim_column(column, count) for column in batch.columns]
    return Batch(batch.starts, trim_array(batch.time, count), columns)


def make_flood_error(call: RetimeCall, time: int) -> ResourceLimit:
    """Make the error of an operator that has released too many rows, the last one at `time`."""
    message = f"{call.node} released more than {OWN_ROWS_LIMIT:,} rows in one push, up to t={time}"
    hint = (
        "the session is broken: resume from an earlier dump, then push smaller tables; if one row"
    )
    hint += " releases so many, leave it out, close its key before it, or take a larger interval"
    return ResourceLimit(message, code="RT305", hint=hint)


def _ignore(rows: int) -> None:
    """Expect nothing."""
