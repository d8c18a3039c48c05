"""Sessions: what users push to, and what they get back."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.compiler.tiers.tiered_module import InterpretedFunction
from rtbot.core.arrays import distinct
from rtbot.core.errors import DataError, PlacedError, StateError, suggest_name
from rtbot.core.modes import NOW, choose_mode
from rtbot.core.time_formats import make_clock
from rtbot.graph.model import collect_own
from rtbot.runtime.exclusive import by_itself, exclusive, wait
from rtbot.runtime.executor import Executor
from rtbot.runtime.grids import check_grids
from rtbot.runtime.ingest import UNKEYED, Ingest, SortedPush
from rtbot.runtime.input_options import InputOptions, check_key, make_specs
from rtbot.runtime.kernels.rows import FIRST, LAST
from rtbot.runtime.keys import KeyTable
from rtbot.runtime.output_assembler import OutputAssembler
from rtbot.runtime.output_frontiers import find_frontier, find_frontiers
from rtbot.runtime.push_one import General, TieredPath, make_keyless_error
from rtbot.runtime.push_paths import choose_paths
from rtbot.runtime.queue_limits import check_queues
from rtbot.runtime.rehearsal import rehearse
from rtbot.runtime.reorder import ReorderBuffer, make_input_port
from rtbot.runtime.result import Result
from rtbot.runtime.session_base import SessionBase
from rtbot.runtime.session_code import SessionCode
from rtbot.runtime.waiting_path import load_kept
from rtbot.tables import Columns, TableSpec, order_by_time, split_by_input, to_columns
from rtbot.tables.number_columns import to_times
from rtbot.tables.push_errors import as_given
from rtbot.tables.split import is_column
from rtbot.tables.string_dictionary import StringDictionary
from rtbot.tables.time_column import describe_times

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.compiler.plan import Plan
    from rtbot.core.batch import Batch
    from rtbot.graph.model import Io
    from rtbot.runtime.input_port import PreparedRows
    from rtbot.runtime.push_one import PushPath
    from rtbot.runtime.state_owner import StateOwner
    from rtbot.tables.time_column import TimeColumn

DEFAULT_QUEUE_LIMIT = 1_000_000


class Session(SessionBase):
    """A run in progress.

    `key` names the key columns; none means an unkeyed run. `inputs` is what is given for single
    ones, by default the `io` of their own that they have in the plan. `queue_limit` bounds the rows
    that wait at one port.

    What is refused (DataError, QueueFull, StateError, RT305 at the edge) leaves the session as it
    was. What breaks off the work of operators (a step that fails, RT305 behind other operators, an
    interrupt, no memory) breaks the session on every path: from then on it raises StateError RT302,
    and only `resume` of an earlier dump helps.

    Threads may share a session: their calls wait for each other. A `with` block that ends closes
    its session: it takes no more input, and has not been finished by that. It may be dumped.
    """

    def __init__(
        self,
        plan: Plan,
        io: Io,
        key: Sequence[str] = (),
        *,
        inputs: InputOptions | None = None,
        queue_limit: int = DEFAULT_QUEUE_LIMIT,
        compiled: bool | str = NOW,
    ) -> None:
        self.plan = plan
        self.io = io
        chosen = inputs or InputOptions(collect_own(plan.checked.inputs))
        self.own, self.columns = chosen.own, chosen.columns
        self.key = check_key(key, plan.records)
        self.queue_limit = queue_limit
        self.code = SessionCode(plan.text, choose_mode(compiled))
        self.module, self.kernels = self.code.module, self.code.kernels
        self.keys = KeyTable(self.key, self.kernels) if self.key else None
        self.texts = StringDictionary()
        self.input_ports = {
            name: make_input_port(declared, self.own.get(name, io), self.kernels)
            for name, declared in plan.checked.inputs.items()
        }
        self.runner = Executor(plan, self.module, self.kernels, self.input_ports)
        if self.code.tiers:
            self.runner.expect = self.prepare
        self.finished = self.broken = self.closed = False
        self.time_column: TimeColumn | None = None
        self.may_get_messages = True
        self.rows: dict[str, int] = dict.fromkeys(plan.outputs, 0)
        self.specs = make_specs(plan.checked.inputs, io, chosen, self.key)
        self.clock = make_clock(io.reading, io.unit)
        codes = self.runner.list_text_codes
        self.ingest = Ingest(self.specs, self.kernels, self.keys, self.texts, codes)
        self.assembler = OutputAssembler(plan, self.keys, self.texts)
        self.known_slots: dict[Any, int] = {}
        self.push_paths: dict[str, PushPath] = {}
        self.busy = False

    def __repr__(self) -> str:
        keys = ""
        if self.keys is not None:
            keys = f" by {', '.join(self.key)} ({len(self.keys.list_open_slots()):,} keys)"
        rows = sum(port.counts["arrived"] for port in self.input_ports.values())
        return f"<Session of {self.plan.checked.name}{keys}: {rows:,} rows in, {self.condition}>"

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self.push_paths = {}

    # ---- input

    def _make_no_input_error(self, name: str, given: Mapping[str, Any] | None = None) -> DataError:
        hint = suggest_name(name, self.specs) or f"the inputs are {', '.join(self.specs)}"
        others = [n for n in given or () if n not in self.specs]
        if given is not None and all(is_column(given[other]) for other in others):
            column = repr(others[0]) if len(others) == 1 else "COLUMN"
            hint += f"; if these are the columns of one table, name the times: time={column}"
        return DataError(f"there is no input {name!r}", code="RT206", hint=hint)

    @exclusive
    def push(self, data: Any, *, sort: bool = False) -> Result:
        """Push {input: table}, or one table of all inputs; return what that released.

        With `sort` the rows of every input are put in the order of their times first; those of
        equal time stay in their order. Raises DataError with the state unchanged if anything in the
        tables is wrong, QueueFull if an input is too far ahead of another, ResourceLimit if a gap
        in time would release too many rows, StateError after `finish`.
        """
        result = self.push_within(data, self.specs, sort=sort, noted=True)
        if self.may_get_messages and self.time_column is not None:
            self.may_get_messages = False
            load_kept(self)
        return result

    def push_within(
        self,
        data: Any,
        specs: Mapping[str, TableSpec],
        *,
        sort: bool = False,
        noted: bool = False,
    ) -> Result:
        """Push as `push` does, in a call that has the session already.

        `specs` are what the tables have to hold. If `noted`, results have times as these tables do.
        """
        self.check_open()
        tables: dict[str, Columns] = {}
        given = split_by_input(data, specs)
        for name, table in given.items():
            if name not in specs:
                raise self._make_no_input_error(name, given)
            columns = to_columns(table, specs[name])
            tables[name] = order_by_time(columns) if sort else columns
        before, tiered = self.time_column, bool(self.code.tiers)
        started = perf_counter() if tiered else 0.0
        if tiered:
            self.prepare(sum(map(len, tables.values())))
        try:
            if noted and before is None:
                self._note_first_times(tables, specs)
            result = self._push(tables)
        except BaseException as error:
            self.time_column = before
            if isinstance(error, PlacedError):
                raise as_given(error, data, given, specs) from None
            raise
        if tiered:
            self.spend(perf_counter() - started)
        return result

    def note_times(self, column: TimeColumn | None) -> None:
        """Note what the times are that come in: those of results are like the first."""
        if self.time_column is None:
            self.time_column = column

    def _note_first_times(
        self, tables: Mapping[str, Columns], specs: Mapping[str, TableSpec]
    ) -> None:
        for name, columns in tables.items():
            if columns.times is not None:
                self.note_times(describe_times(*columns.times, specs[name].clock))

    def _push(self, tables: Mapping[str, Columns]) -> Result:
        if self.runner.pools:
            self.check_queues({n for n, t in tables.items() if len(t)})
        before, capacity = self.ingest.mark(), self.runner.capacity
        try:
            runs = self.ingest.sort_rows(tables, self._assign_slots(tables))
            prepared = self._prepare_rows(runs)
            if self.plan.grids:
                check_grids(self, runs, prepared)
        except BaseException:
            self.ingest.roll_back(before)
            if self.runner.capacity > 2 * capacity:
                self._resize(capacity)
            raise
        for name, table in tables.items():
            if table.nulls:
                lost = prepared[name].lost
                lost["null"] = lost.get("null", 0) + table.nulls
                prepared[name].arrived += table.nulls
        return self._commit(runs.slots, prepared)

    def _assign_slots(self, tables: Mapping[str, Columns]) -> dict[str, np.ndarray]:
        if self.keys is None:
            return {}
        found = self.ingest.assign_slots(tables)
        if self.keys.count > self.runner.capacity:
            self._resize(max(self.keys.count, 2 * self.runner.capacity))
        self.ingest.grow(self.runner.capacity)
        return found

    def _resize(self, capacity: int) -> None:
        self.runner.resize(capacity)
        self.ingest.grow(capacity)

    def _prepare_rows(self, runs: SortedPush) -> dict[str, PreparedRows]:
        return {
            name: self.input_ports[name].prepare(batch, runs.slots, partial(runs.locate_row, name))
            for name, batch in runs.batches.items()
        }

    def _commit(self, slots: np.ndarray, prepared: Mapping[str, PreparedRows]) -> Result:
        self.broken = True
        batches = {name: self.input_ports[name].accept(p, slots) for name, p in prepared.items()}
        result = self._make_result(slots, self.runner.run(slots, batches))
        self.broken = False
        return result

    def check_queues(self, coming: set[str]) -> None:
        """Refuse rows for an input that is ahead of another where the queue behind it is full."""
        check_queues(self, coming)

    # ---- code that goes over

    def prepare(self, count: int) -> None:
        """Go over to compiled code at once if that is worth it for so many rows.

        That changes when they are done, and nothing else.
        """
        if self.code.tiers:
            self.code.prepare(count, partial(rehearse, self))
            self._renew_paths()

    def spend(self, seconds: float) -> None:
        """Note the time of a call that has ended; functions may go over to compiled code now."""
        if self.code.tiers:
            self.code.spend(seconds, partial(rehearse, self))
            self._renew_paths()

    def _renew_paths(self) -> None:
        if self.push_paths and self.code.has_changed():
            self.push_paths = {}

    # ---- one message

    @by_itself
    def push_one(self, name: str, time: int, value: Any, *, key: Any = ...) -> dict[str, Any]:
        """Push one message; return {output: [(t, value), ...]} of outputs that emitted.

        In a keyed session `key` has to be given, and rows are (key, t, value). Null is None.
        """
        busy, self.busy = self.busy, True
        if busy:
            wait(self)
        try:
            if key is ...:
                if self.key:
                    raise make_keyless_error(self.key)
                key = None
            path = self.push_paths.get(name)
            if path is None:
                path = self._road(name)
            return path.push(time, value, key)
        finally:
            self.busy = False

    def _road(self, name: str) -> PushPath:
        if self.closed or name not in self.specs:
            self.check_open()
            raise self._make_no_input_error(name)
        if not self.push_paths:
            chosen = choose_paths(self).items()
            self.push_paths = {n: TieredPath(p) if self._is_tiered(p) else p for n, p in chosen}
        return self.push_paths.setdefault(name, General(self, name))

    def _is_tiered(self, path: PushPath) -> bool:
        functions = path.list_functions() if self.code.tiers else ()
        return any(isinstance(function, InterpretedFunction) for function in functions)

    # ---- progress

    @exclusive
    def advance(self, time: Any, name: str | None = None) -> Result:
        """Declare that no input (or not this one) will send a message at or before `time` any more.

        A time is given as to `push_one`. An integer beyond int64 is the end of all times.
        """
        self.check_open()
        if name is not None and name not in self.input_ports:
            raise self._make_no_input_error(name)
        time = self._time(time)
        self.broken = True
        ports = self.input_ports.values() if name is None else [self.input_ports[name]]
        touched = [np.array(port.advance(time), np.int64) for port in ports]
        touched.append(self.runner.progress.fire_timers())
        slots = UNKEYED
        if self.keys is not None and time == LAST:  # an end for all keys, whatever they wait for
            slots = self.keys.list_open_slots()
        elif self.keys is not None:
            slots = self.keys.sort(distinct(np.concatenate(touched)))
        result = self._release(slots, ending=False)
        self.broken = False
        return result

    def _time(self, time: Any) -> int:
        if hasattr(time, "__index__") and not isinstance(time, bool | np.bool_):
            return int(min(max(time.__index__(), FIRST), LAST))
        try:
            return int(to_times([time], self.io.unit, self.clock)[0])
        except DataError as error:
            raise error.at(row=None) from None

    def _release(self, slots: np.ndarray, *, ending: bool) -> Result:
        held = {n: f for n, f in self.input_ports.items() if isinstance(f, ReorderBuffer)}
        batches = {n: f.release(slots, ending=ending) for n, f in held.items()}
        return self._make_result(slots, self.runner.run(slots, batches, ending=ending))

    @exclusive
    def close_key(self, key: Any) -> Result:
        """Finish one key: release all it still has, drop it. A later message starts it again."""
        self.check_open()
        if self.keys is None:
            raise StateError("this session has no key", code="RT303", hint="use finish()")
        before = self.ingest.mark()
        slot = self.keys.find_slot(key, create=False)
        if slot < 0:
            self.ingest.roll_back(before)
            raise DataError(f"there is no key {key!r}", code="RT206")
        self.broken = True
        result = self._release(np.array([slot]), ending=True)
        self.runner.clear(slot)
        self.keys.drop([slot])
        self.known_slots.clear()
        if self.keys.forget_room():
            self._resize(1)
        self.broken = False
        return result

    @exclusive
    def finish(self) -> Result:
        """Declare that nothing more will come; release all that still waits."""
        self.check_open()
        self.broken = True
        slots = UNKEYED if self.keys is None else self.keys.list_open_slots()
        result = self._release(slots, ending=True)
        self.finished = True
        self.broken = False
        return result

    # ---- what comes out

    def _make_result(self, slots: np.ndarray, batches: list[Batch]) -> Result:
        for name, (stream, _) in self.plan.places.items():
            self.rows[name] += len(batches[stream])
        tables = self.assembler.build_tables(slots, batches)
        records = self.plan.records
        return Result(tables, self.key, self.io.unit, self.time_column, records=records)

    @exclusive
    def frontier(self) -> int | None:
        """Return up to which time an unkeyed run's outputs are final; None before any message."""
        return find_frontier(self)

    @exclusive
    def frontiers(self, columns: Sequence[Any]) -> np.ndarray:
        """Return up to which time all is final, for the keys in these columns (as in `Columns`).

        A key that the session does not hold (any more) has the greatest time.
        """
        return find_frontiers(self, columns)

    @exclusive
    def due(self) -> int | None:
        """Return the least time to which an `advance` could release something, or None."""
        return self.runner.progress.find_due_time()

    # ---- accounts

    @exclusive
    def account(self) -> dict[str, Any]:
        """Count per operator and port in = consumed + held + lost, with reasons for losses."""
        from rtbot.runtime.account import build_account

        return build_account(self)

    @exclusive
    def held(self) -> dict[str, int]:
        """Count rows that wait, by port (`m.i2`) or input; only where some do."""
        from rtbot.runtime.account import count_held

        return count_held(self)

    # ---- saving

    def list_owners(self) -> dict[str, StateOwner | KeyTable]:
        """Return all that has state, by the names in dumps."""
        keys = {} if self.keys is None else {"keys": self.keys}
        return {**keys, **self.runner.owners}

    @exclusive
    def dump(self) -> bytes:
        """Return everything the session knows, as bytes for `Graph.resume`; never pickle."""
        self.check_whole()
        from rtbot.runtime.dump import dump

        return dump(self)
