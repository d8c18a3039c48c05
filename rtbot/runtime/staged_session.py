"""Sessions of graphs with change streams: parts of series and regions, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from rtbot.core.error_times import format_error_times
from rtbot.core.errors import DataError, PlacedError, QueueFull, StateError, suggest_name
from rtbot.core.modes import NOW
from rtbot.core.time_formats import make_clock
from rtbot.core.times import DEFAULT_UNIT, TimeStyle
from rtbot.graph.model import collect_own
from rtbot.graph.stages import SeriesStage
from rtbot.relations.change_feed import FIRST, LAST
from rtbot.relations.region_runner import RegionRunner
from rtbot.relations.row_codec import RowCodec
from rtbot.runtime.bridges import check_keys
from rtbot.runtime.exclusive import by_itself, exclusive, wait
from rtbot.runtime.input_options import InputOptions
from rtbot.runtime.push_change import choose_change_paths
from rtbot.runtime.result import Result
from rtbot.runtime.session import DEFAULT_QUEUE_LIMIT, Session
from rtbot.runtime.session_base import SessionBase
from rtbot.runtime.stage_runners import (
    Flow,
    RegionStageRunner,
    SeriesStageRunner,
    StagesCode,
)
from rtbot.runtime.staged_edge import (
    check_run_key,
    find_key_fields,
    list_messages,
    make_all_specs,
    make_empty_table,
    make_message,
)
from rtbot.tables import split_by_input, to_columns
from rtbot.tables.change_rows import (
    ChangeRows,
    ChangeSpec,
    make_change_row,
    order_changes,
    to_change_rows,
)
from rtbot.tables.change_values import list_changes, make_change_table
from rtbot.tables.number_columns import to_times
from rtbot.tables.output_table import OutputTable
from rtbot.tables.string_dictionary import StringDictionary
from rtbot.tables.time_column import describe_times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rtbot.graph.model import Io, Ref
    from rtbot.relations.change_feed import ChangeFeed, TimedRows
    from rtbot.runtime.push_change import ChangePath
    from rtbot.runtime.staged_plan import StagedPlan
    from rtbot.tables import TableSpec
    from rtbot.tables.time_column import TimeColumn

    Spec = TableSpec | ChangeSpec
    Take = Callable[[Any], object]


class StagedSession(SessionBase):
    """A run of a graph with change streams in progress; its methods are those of `Session`.

    Run keys are for series: `key` is that of the graph's `io`. A push is refused as a whole where
    its tables are wrong. A transaction that turns out bad when it closes is an error of the call
    that closes it: `error.output` is what was released before it, the rows of the call are taken,
    and `push({})` goes on behind it. With `io.on_bad_transaction: discard` it is counted only.
    """

    stopped = False
    """Whether the last call has left transactions behind a bad one."""
    _paths: dict[str, ChangePath] | None = None

    def __init__(
        self,
        plan: StagedPlan,
        io: Io,
        key: Sequence[str] | None = None,
        *,
        inputs: InputOptions | None = None,
        queue_limit: int = DEFAULT_QUEUE_LIMIT,
        compiled: bool | str = NOW,
    ) -> None:
        self.plan, self.io, self.key = plan, io, check_run_key(plan, io, key)
        chosen = inputs or InputOptions(collect_own(plan.checked.inputs))
        self.own, self.columns = chosen.own, chosen.columns
        self.queue_limit = queue_limit
        self.texts = StringDictionary()
        self.finished = self.broken = self.closed = self.ending = False
        self.time_column: TimeColumn | None = None
        self.may_get_messages = True
        self.busy = False
        self.clock = make_clock(io.reading, io.unit)
        self.specs = make_all_specs(plan, io, chosen, self.key)
        self.rows: dict[str, int] = dict.fromkeys(plan.outputs, 0)
        self.stages = [
            self._make_stage(number, chosen, compiled) for number in range(len(plan.stages))
        ]
        self.feeds: dict[str, ChangeFeed] = {
            source.name: stage.runner.feeds[source.name]
            for stage in self.stages
            if isinstance(stage, RegionStageRunner)
            for source in stage.stage.sources
            if source.is_input
        }
        self.code = StagesCode(self.stages)
        first = self.stages[0]
        self.series: Session | None = None
        if isinstance(first, SeriesStageRunner) and first.is_first:
            self.series = first.session
        self.callbacks: dict[str, list[Take]] = {}
        self._key_fields = find_key_fields(plan, self.key)
        self._reached: dict[Ref, int] = {}

    def _make_stage(
        self, number: int, inputs: InputOptions, compiled: bool | str
    ) -> SeriesStageRunner | RegionStageRunner:
        stage, plan = self.plan.stages[number], self.plan.plans[number]
        if isinstance(stage, SeriesStage):
            names = stage.checked.inputs
            own = {name: one for name, one in inputs.own.items() if name in names}
            io = self.io if number == 0 else stage.checked.io
            options = InputOptions(own, self.columns) if number == 0 else InputOptions()
            session = Session(
                plan,  # type: ignore[arg-type]
                io,
                self.key,
                inputs=options,
                queue_limit=self.queue_limit,
                compiled=compiled,
            )
            session.may_get_messages = False
            return SeriesStageRunner(stage, session, self.texts, self.key)
        lateness = {
            source.name: self.own.get(source.name, self.io).lateness
            for source in stage.sources
            if source.is_input
        }
        runner = RegionRunner(plan, self.texts, compiled, lateness)  # type: ignore[arg-type]
        return RegionStageRunner(stage, runner, self.key)

    def __repr__(self) -> str:
        rows = sum(line["in"] for line in self._count_inputs().values())
        return f"<Session of {self.plan.checked.name}: {rows:,} rows in, {self.condition}>"

    # ---- input

    def _make_no_input_error(self, name: str) -> DataError:
        hint = suggest_name(name, self.specs) or f"the inputs are {', '.join(self.specs)}"
        return DataError(f"there is no input {name!r}", code="RT206", hint=hint)

    @exclusive
    def push(self, data: Any, *, sort: bool = False) -> Result:
        """Push {input: table}; return what that released. See `Session.push`."""
        self.check_open()
        tables = split_by_input(data, self.specs)
        for name in tables:
            if name not in self.specs:
                raise self._make_no_input_error(name)
        return self._push(tables, sort=sort)

    def _push(self, tables: Mapping[str, Any], *, sort: bool = False) -> Result:
        """Check all tables, then take them: nothing has changed if an error is raised before."""
        given = {name: table for name, table in tables.items() if name not in self.feeds}
        if self.texts.is_crowded():
            self.texts.keep(self.list_text_codes())
        before = self.texts.mark()
        column = self.time_column
        try:
            changes = self._read_changes(tables, sort=sort)
            self._check_queues({name for name, rows in changes.items() if len(rows)})
            self._check_ending(given, changes)
            rows = {name: self.feeds[name].prepare(found) for name, found in changes.items()}
            results = self._push_series(given, sort=sort)
        except BaseException as error:
            self.texts.roll_back(before)
            self.time_column = column
            if isinstance(error, PlacedError) and error.input in self.feeds:
                raise self._show_times(error) from None
            raise
        for name, found in rows.items():
            self.feeds[name].accept(found)
        return self._run(results)

    def _check_ending(self, series: Mapping[str, Any], changes: Mapping[str, ChangeRows]) -> None:
        """Refuse rows where `finish` has begun, and a bad transaction has stopped it."""
        if self.ending and (series or any(map(len, changes.values()))):
            message = "the session is being finished: it takes no more input"
            raise StateError(message, code="RT301", hint="call finish() again")

    def _read_changes(self, tables: Mapping[str, Any], *, sort: bool) -> dict[str, ChangeRows]:
        found = {}
        for name, table in tables.items():
            spec = self.specs[name]
            if isinstance(spec, ChangeSpec):
                rows = to_change_rows(table, spec)
                if rows.times is not None and len(rows):
                    self.note_times(describe_times(*rows.times, spec.clock))
                found[name] = order_changes(rows) if sort else rows
        return found

    def _push_series(self, tables: Mapping[str, Any], *, sort: bool) -> list[Result]:
        if not tables or self.series is None:
            return []
        if self._key_fields:
            for name, table in tables.items():
                spec: Any = self.specs[name]
                check_keys(to_columns(table, spec), self._key_fields)
        result = self.series.push(tables, sort=sort)
        self.note_times(self.series.time_column)
        return [result]

    def note_times(self, column: TimeColumn | None) -> None:
        """Note what the times are that come in: those of results are like the first."""
        if self.time_column is None:
            self.time_column = column

    def _show_times(self, error: PlacedError) -> PlacedError:
        """Return an error with its times as they came."""
        style = self.time_column.origin if self.time_column is not None else None
        if error.time is None or not isinstance(style, TimeStyle):
            return error
        return format_error_times(error, self.io.unit or DEFAULT_UNIT, style)

    def _check_queues(self, coming: set[str]) -> None:
        """Refuse rows for an input whose changes wait for another one, if too many do."""
        for stage in self.stages:
            if not isinstance(stage, RegionStageRunner):
                continue
            feeds = stage.runner.feeds
            slowest = min(feeds.values(), key=lambda feed: feed.frontier)
            for name in coming & feeds.keys():
                feed = feeds[name]
                is_ahead = feed.frontier > slowest.frontier and slowest.name not in coming
                if feed.held >= self.queue_limit and is_ahead:
                    raise QueueFull(stage.stage.name, name, feed.held, slowest.name)

    # ---- one message

    @by_itself
    def push_one(
        self, name: str, time: Any, value: Any, weight: int = 1, *, key: Any = ...
    ) -> dict[str, Any]:
        """Push one message or change; return {output: rows} of the outputs that emitted.

        `value` is that of a series, or a mapping of the fields of a row, which `weight` inserts or
        deletes. A row of a change output is (t, weight, {field: value}). Null is None.
        """
        busy, self.busy = self.busy, True
        if busy:
            wait(self)
        try:
            if self._paths is None:
                self._paths = choose_change_paths(self)
            path = self._paths.get(name)
            if path is not None and key is ...:
                released = path.push(time, value, weight)
                if released is not None:
                    return released
            return self._push_general(name, time, value, weight, key)
        finally:
            self.busy = False

    def _push_general(
        self, name: str, time: Any, value: Any, weight: int, key: Any
    ) -> dict[str, Any]:
        """Push one message or change as a table of one row."""
        self.check_open()
        if name not in self.specs:
            raise self._make_no_input_error(name)
        spec = self.specs[name]
        try:
            if isinstance(spec, ChangeSpec):
                if key is not ...:
                    raise DataError("changes have no run key", code="RT303", input=name)
                table: Any = make_change_row(spec, time, value, weight)
            else:
                column = self.columns.name_value(name) or "value"
                table = make_message(self.key, column, time, value, key)
            result = self._push({name: table})
        except PlacedError as error:
            raise error.at(row=None) from None
        return self._list_rows(result)

    def _list_rows(self, result: Result) -> dict[str, Any]:
        """Return the rows of outputs that have any, of Python's own types."""
        found: dict[str, Any] = {}
        for name, table in result.items():
            schema = result.schemas.get(name)
            if schema is not None:
                rows = list_changes(table, schema)
            else:
                rows = list_messages(table, self.key)
            if rows:
                found[name] = rows
        return found

    # ---- progress

    @exclusive
    def advance(self, time: Any, name: str | None = None) -> Result:
        """Declare that no input (or not this one) will send anything at or before `time` any more.

        See `Session.advance`.
        """
        self.check_open()
        if name is not None and name not in self.specs:
            raise self._make_no_input_error(name)
        until = self._time(time)
        for feed in self.feeds.values():
            if name in (None, feed.name):
                feed.advance(until)
        results = []
        if self.series is not None and not self.series.finished and name not in self.feeds:
            results.append(self.series.advance(until, name))
        return self._run(results)

    def _time(self, time: Any) -> int:
        if hasattr(time, "__index__") and not isinstance(time, bool | np.bool_):
            return int(min(max(time.__index__(), FIRST), LAST))
        try:
            return int(to_times([time], self.io.unit, self.clock)[0])
        except DataError as error:
            raise error.at(row=None) from None

    def close_key(self, key: Any) -> NoReturn:
        """Raise StateError: what came of a key cannot be told from the rest in change streams."""
        del key
        message = "a graph with change streams closes no key: its rows are of the whole run"
        raise StateError(message, code="RT303", hint="delete the rows of the key, or finish()")

    @exclusive
    def finish(self) -> Result:
        """Declare that nothing more will come; release all that still waits.

        If a transaction turns out bad, call it again: it goes on behind that one.
        """
        self.check_open()
        for feed in self.feeds.values():
            feed.advance(LAST)
        results = []
        if self.series is not None and not self.series.finished:
            results.append(self.series.finish())
        self.ending = True
        return self._run(results)

    @exclusive
    def release_over_nothing(self) -> Result:
        """Return rows that are there without any transaction, as a count of 0, at the time 0."""
        flow = Flow({})
        for stage in self.stages:
            if isinstance(stage, RegionStageRunner):
                stage.release_over_nothing(flow)
        return self._make_result(flow)

    def prepare(self, count: int) -> None:
        """Do nothing: every stage goes over to compiled code when it has the rows."""

    @exclusive
    def frontier(self) -> int | None:
        """Return up to which time all outputs are final; None before any message."""
        if self.finished:
            return LAST
        flow = self._measure()
        least = min((flow[ref] for ref in self.plan.outputs.values()), default=FIRST)
        return None if least == FIRST else least

    def _measure(self) -> dict[Ref, int]:
        """Return up to which time the streams that leave stages are final."""
        found: dict[Ref, int] = dict(self._reached)
        for stage in self.stages:
            if isinstance(stage, RegionStageRunner):
                found |= dict.fromkeys(stage.stage.outputs.values(), stage.runner.frontier)
            else:
                found |= stage.measure()
        return found

    @exclusive
    def due(self) -> int | None:
        """Return the least time to which an `advance` could release something, or None."""
        found = []
        for stage in self.stages:
            if isinstance(stage, RegionStageRunner):
                feeds = stage.runner.feeds.values()
                found += [at for at in (feed.find_earliest() for feed in feeds) if at is not None]
            elif not stage.session.finished:
                at = stage.session.due()
                found += [] if at is None else [at]
        return min(found, default=None)

    # ---- what comes out

    def on(self, name: str, take: Take) -> None:
        """Call `take` with every table of an output that has rows, as soon as it is released."""
        if name not in self.plan.outputs:
            hint = suggest_name(name, self.plan.outputs)
            hint = hint or f"the outputs are {', '.join(self.plan.outputs)}"
            raise DataError(f"there is no output {name!r}", code="RT206", hint=hint)
        self.callbacks.setdefault(name, []).append(take)

    def _run(self, results: list[Result]) -> Result:
        """Run all stages; raise DataError if a transaction was bad: the first one by its time."""
        self.broken = True
        flow = Flow({}, ending=self.ending)
        for stage in self.stages:
            if isinstance(stage, SeriesStageRunner):
                stage.run(flow, results)
            else:
                stage.run(flow)
        bad = None
        if flow.bad:
            stage, bad = min(flow.bad, key=lambda found: found[1].time)
            stage.discard(bad, flow)
        result = self._make_result(flow)
        self._reached = flow.reached
        if self.ending and min(flow.reached.values()) == LAST and self._is_drained():
            self.finished = True
        self.broken, self.stopped = False, bad is not None
        for name, callbacks in self.callbacks.items():
            if len(next(iter(result[name].values()))):
                for take in callbacks:
                    take(result[name])
        if bad is not None:
            raise self._show_times(bad.make_error(result))
        return result

    def _is_drained(self) -> bool:
        """Return whether all parts of series have come to their end."""
        return all(
            stage.session.finished for stage in self.stages if isinstance(stage, SeriesStageRunner)
        )

    def _make_result(self, flow: Flow) -> Result:
        tables: dict[str, OutputTable] = {}
        for name, ref in self.plan.outputs.items():
            schema = self.plan.change_outputs.get(name)
            if schema is None:
                table = flow.series.get(ref)
                if table is None:
                    table = make_empty_table(self.plan.types[ref], self.key)
                tables[name] = table if isinstance(table, OutputTable) else OutputTable(table)
                self.rows[name] += len(table["t"])
            else:
                tables[name] = self._decode(flow.changes.get(ref), schema)
                self.rows[name] += len(next(iter(tables[name].values())))
        schemas = self.plan.change_outputs
        records = self.plan.records
        return Result(tables, self.key, self.io.unit, self.time_column, schemas, records)

    def _decode(self, rows: TimedRows | None, schema: Any) -> OutputTable:
        codec = RowCodec(schema, self.texts)
        if rows is None:
            empty = np.empty(0, np.int64)
            words = np.empty((0, schema.width), np.int64)
            return make_change_table(codec.decode(words), empty, empty, schema)
        return make_change_table(codec.decode(rows.words), rows.time, rows.weights, schema)

    # ---- accounts, saving

    def list_text_codes(self) -> Iterator[np.ndarray]:
        """Yield the codes of texts in the state of regions and in rows that wait for them."""
        for stage in self.stages:
            if isinstance(stage, RegionStageRunner):
                yield from stage.runner.list_text_codes()

    def _count_inputs(self) -> dict[str, Any]:
        from rtbot.runtime.staged_account import count_inputs

        return count_inputs(self)

    @exclusive
    def account(self) -> dict[str, Any]:
        """Count per operator and port in = consumed + held + lost, with reasons for losses."""
        from rtbot.runtime.staged_account import build_staged_account

        return build_staged_account(self)

    @exclusive
    def held(self) -> dict[str, int]:
        """Count rows that wait, by port (`m.i2`) or input; only where some do."""
        from rtbot.runtime.staged_account import count_staged_held

        return count_staged_held(self)

    @exclusive
    def dump(self) -> bytes:
        """Return everything the session knows, as bytes for `Graph.resume`; never pickle."""
        self.check_whole()
        from rtbot.runtime.staged_dump import dump_stages

        return dump_stages(self)
