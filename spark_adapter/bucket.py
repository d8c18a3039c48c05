"""Keys that share one state: bytes and rows in, rows and bytes out, no Spark.

A stream's keys are dealt to buckets, and those of a bucket to slices. A slice has one keyed session
for all of its keys. Rows wait in it until the watermark has passed them, then they go through the
session in the order of time; rows of the result wait until every output of their key is final.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot.core.arrow import of_list, of_numpy
from rtbot.core.errors import CheckpointError, DataError
from rtbot.runtime.dump import describe
from rtbot.runtime.kernels.rows import FIRST, LAST
from rtbot.runtime.output_frontiers import all_final, frontiers, newest
from rtbot.runtime.result import Result, joined
from rtbot.tables.convert import key as key_column
from spark_adapter.states import OTHER, Saved, encoded, fits, form, opened

if TYPE_CHECKING:
    from rtbot import Session
    from spark_adapter.rows import Work
    from spark_adapter.states import Split

ONE = "__one"
"""The key of a stream that has none."""

WAITING = ""
"""The name of the rows that wait, beside those of outputs."""

Table = Mapping[str, np.ndarray]


@dataclass
class Slice:
    """The keys of a slice in progress; `state` makes bytes of it, `resumed` it of bytes.

    `history` is the newest time of a batch run that the slice began with.
    """

    work: Work
    split: Split
    session: Session
    until: int = FIRST
    waiting: pa.Table | None = None
    late: int = 0
    history: int = FIRST
    unfinished: dict[str, Table] = field(default_factory=dict)

    def push(self, rows: pa.Table | None, until: int) -> pa.Table:
        """Take rows, if any, let in those with t <= `until`; returns what is complete.

        Rows that the history of the slice had are left out and counted in `late`. Others at a time
        that was let in before are late: by `io.late` an error, or left out and counted. `rows` has
        the columns of the key, the time in io.unit as int64, port and values. After an error the
        slice is of no use any more.
        """
        rows = self._in_time(rows)
        self.until = until = max(until, self.until)
        tables = [table for table in (self.waiting, rows) if table is not None]
        if len({str(table.schema) for table in tables}) > 1:
            message = "the rows that wait have columns of other types than those that come"
            raise CheckpointError(message, code="RT313", hint=OTHER)
        if not tables:
            return self._complete([self.session.advance(until)])
        rows = pa.concat_tables(tables)
        ripe = pc.less_equal(rows.column(self.work.time), until)
        rest = rows.filter(pc.invert(ripe))
        self.waiting = rest.combine_chunks() if rest.num_rows else None
        released = self._let_in(rows.filter(ripe))
        return self._complete([*released, self.session.advance(until)])

    def _in_time(self, rows: pa.Table | None) -> pa.Table | None:
        self.late = 0
        if rows is None:
            return None
        rows = self._after_history(rows)
        early = pc.greater(rows.column(self.work.time), self.until)
        if pc.all(early).as_py():
            return rows
        late = self.work.tables(rows.filter(pc.invert(early)), keyed=True)
        self.late += sum(len(table["t"]) for table in late.values())
        if late and self.work.graph.checked.io.late == "error":
            raise self._placed(self._refused(late), {})
        return rows.filter(early)

    def _after_history(self, rows: pa.Table) -> pa.Table:
        """Leave out messages not after the newest that the history had of their key and input."""
        work, times = self.work, rows.column(self.work.time).to_numpy()
        if not (times <= self.history).any():
            return rows
        keys = [key_column(rows.column(name).combine_chunks()) for name in work.keys]
        keep = np.ones(len(times), np.bool_)
        for feed in work.feeds:
            brings = np.ones(len(times), np.bool_)
            if feed.port is not None:
                brings &= rows.column(work.port).to_numpy() == feed.port
            if feed.sparse:
                brings &= pc.is_valid(rows.column(feed.column)).to_numpy()
            seen = brings & (times <= newest(self.session, feed.input, keys))
            self.late += int(seen.sum())
            if feed.port is not None or not feed.sparse:
                keep &= ~seen
                continue
            place, cells = rows.column_names.index(feed.column), rows.column(feed.column)
            left = pc.if_else(pa.array(seen), pa.scalar(None, cells.type), cells)
            rows = rows.set_column(place, feed.column, left)
        return rows.filter(pa.array(keep))

    def _refused(self, late: Mapping[str, Mapping[str, pa.ChunkedArray]]) -> DataError:
        """The error for the first of messages that are late."""
        name = min(late, key=lambda name: pc.min(late[name]["t"]).as_py())
        row = pc.index(late[name]["t"], pc.min(late[name]["t"])).as_py()
        cells = {title: column[row].as_py() for title, column in late[name].items()}
        message = "t={} is late: the watermark has passed t={}"
        times = cells["t"], self.until
        hint = "make watermark= longer, or set io.late: drop to leave such rows out and count them"
        where = {"time": cells["t"], "input": name, "value": cells["value"]}
        key = tuple(cells[key] for key in self.work.keys)
        where["key"] = key[0] if len(key) == 1 else key
        return DataError(message, code="RT202", hint=hint, times=times, **where)

    def take(self, rows: pa.Table) -> pa.Table:
        """Let in rows at once, of every key in the order of time; returns what is complete."""
        self.history = max(self.history, pc.max(rows.column(self.work.time)).as_py())
        released = self._let_in(rows)
        return self._complete(released) if released else self.work.schema.empty_table()

    def finish(self) -> pa.Table:
        """Let in what waits, and return the rest of the result."""
        released = [] if self.waiting is None else self._let_in(self.waiting)
        whole = joined([*self._unfinished(), *released, self.session.finish()])
        self.waiting, self.unfinished = None, {}
        return self.work.shaped(whole, None)

    def due(self) -> int | None:
        """The time up to which the watermark has to come before anything more can be released."""
        if self.until == FIRST:
            return FIRST + 1
        found = [self._next_complete(), self.session.due()]
        if self.waiting is not None:
            found.append(pc.min(self.waiting.column(self.work.time)).as_py())
        return min((time for time in found if time is not None), default=None)

    def _let_in(self, rows: pa.Table) -> list[Result]:
        if not rows.num_rows:
            return []
        rows = rows.take(pa.array(np.argsort(rows.column(self.work.time), kind="stable")))
        tables = self.work.tables(rows, keyed=True)
        try:
            return [self.session.push(tables)]
        except DataError as error:
            raise self._placed(error, tables) from None

    def _placed(self, error: DataError, tables: Mapping[str, Any]) -> DataError:
        """The error with the value, and without what means nothing: a row's number, no key."""
        where = {"row": None} | ({"key": None} if self.work.keys == (ONE,) else {})
        if error.row is not None and error.input in tables:
            where["value"] = tables[error.input]["value"][error.row].as_py()
        return error.at(**where)

    # ---- rows of the result that wait for the other outputs

    def _unfinished(self) -> list[Result]:
        return [Result(self.unfinished, self.work.keys)] if self.unfinished else []

    def _complete(self, released: list[Result]) -> pa.Table:
        whole = joined([*self._unfinished(), *released])
        self.unfinished = {}
        if not self._one_stream() and not all_final(self.session, _newest(whole)):
            final = self._final(whole)
            if not all(rows.all() for rows in final.values()):
                self.unfinished = _chosen(whole, {name: ~rows for name, rows in final.items()})
                whole = Result(_chosen(whole, final), self.work.keys)
        return self.work.shaped(whole, None)

    def _one_stream(self) -> bool:
        """Whether all outputs come from one stream, whose rows are complete at once."""
        return len({stream for stream, _ in self.work.graph.plan().places.values()}) == 1

    def _final(self, tables: Mapping[str, Table]) -> dict[str, np.ndarray]:
        """Which rows of every output are at a time that is final for their key."""
        return {name: table["t"] <= self._frontiers(table) for name, table in tables.items()}

    def _frontiers(self, table: Table, *, ever: bool = False) -> np.ndarray:
        """The frontier of the key of every row."""
        if not len(table["t"]):
            return np.zeros(0, np.int64)
        starts = np.zeros(len(table["t"]), np.bool_)
        starts[0] = True
        for name in self.work.keys:
            starts[1:] |= table[name][1:] != table[name][:-1]
        firsts = [table[name][starts] for name in self.work.keys]
        columns = [key_column(f.tolist() if f.dtype == object else f) for f in firsts]
        times = frontiers(self.session, columns, ever=ever)
        return times.take(np.cumsum(starts) - 1)

    def _next_complete(self) -> int | None:
        """The least time at which the watermark alone could complete a row that waits."""
        found = []
        for table in self.unfinished.values():
            lag = table["t"] - self._frontiers(table)
            reachable = (self._frontiers(table, ever=True) >= table["t"]) & (lag > 0)
            found += lag[reachable].tolist()
        return min(self.until + min(found), LAST) if found else None

    # ---- as bytes

    def state(self) -> bytes:
        """Everything the slice knows."""
        tables = {name: _arrow(table) for name, table in self.unfinished.items()}
        if self.waiting is not None:
            tables[WAITING] = self.waiting
        header = {
            "form": form(self.work, self.split),
            "work": work_header(self.work),
            "until": self.until,
            "history": self.history,
        }
        return encoded(Saved(header, tables, self.work.schema, self.session.dump()))


def begun(work: Work, split: Split) -> Slice:
    """A slice that has seen nothing."""
    return Slice(work, split, work.graph.start(work.keys))


def resumed(work: Work, split: Split, state: bytes) -> Slice:
    """The slice of this state; CheckpointError if it is damaged or does not fit."""
    saved = opened(state)
    fits(saved.header["form"], form(work, split))
    session = work.graph.resume(saved.dump)
    waiting = saved.tables.pop(WAITING, None)
    unfinished = {name: _numpy(table) for name, table in saved.tables.items()}
    until, history = saved.header["until"], saved.header.get("history", FIRST)
    return Slice(work, split, session, until, waiting, history=history, unfinished=unfinished)


def described(work: Work, split: Split) -> dict[str, Any]:
    """What a state is of, as JSON has it: the graph, and how its rows come."""
    graph = describe(work.graph.plan())
    about: dict[str, Any] = json.loads(json.dumps({"graph": graph, "form": form(work, split)}))
    return about


def work_header(work: Work) -> dict[str, Any]:
    """What says how a state's rows are read, beside the graph."""
    feeds = [asdict(feed) for feed in work.feeds]
    names = ("time", "stamp", "layout", "port", "unit")
    return {"keys": list(work.keys), "feeds": feeds} | {n: getattr(work, n) for n in names}


def _newest(tables: Mapping[str, Table]) -> int:
    return max((int(t["t"].max()) for t in tables.values() if len(t["t"])), default=FIRST)


def _chosen(tables: Mapping[str, Table], rows: Mapping[str, np.ndarray]) -> dict[str, Table]:
    return {n: {c: a[rows[n]] for c, a in table.items()} for n, table in tables.items()}


def _arrow(table: Table) -> pa.Table:
    columns = {
        name: of_list(array.tolist()) if array.dtype == object else of_numpy(array)
        for name, array in table.items()
    }
    return pa.table(columns)


def _numpy(table: pa.Table) -> Table:
    return {name: _array(table.column(name)) for name in table.column_names}


def _array(column: pa.ChunkedArray) -> np.ndarray:
    if pa.types.is_string(column.type) or column.null_count:
        return np.array([*column.to_pylist(), None], object)[:-1]
    array: np.ndarray = column.to_numpy()
    return array
