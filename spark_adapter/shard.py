"""A shard, the keys that share one state: bytes and rows in, rows and bytes out, no Spark.

A stream's keys are assigned to shard groups, and those of a group to shards. A shard has one keyed
session for all of its keys. Rows wait in it until the watermark has passed them, then they go
through the session in the order of time; rows of the result wait until every output of their key is
final.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot import CheckpointError, DataError, Result
from rtbot.adapter import (
    FIRST,
    LAST,
    choose_mode,
    find_frontiers,
    find_newest,
    from_list,
    from_numpy,
    is_all_final,
    merge_results,
)
from rtbot.adapter import convert_key as key_column
from spark_adapter.partition import find_messages
from spark_adapter.shard_state import (
    OTHER,
    ShardState,
    check_same,
    decode_state,
    describe_form,
    encode_state,
)

if TYPE_CHECKING:
    from rtbot import Session
    from spark_adapter.partition import JobSpec
    from spark_adapter.shard_state import ShardLayout

SINGLE_KEY = "__one"
"""The key of a stream that has none."""

WAITING = ""
"""The name of the rows that wait, beside those of outputs."""

Table = Mapping[str, np.ndarray]


@dataclass
class Shard:
    """A shard in progress; `to_bytes` makes bytes of it, `resume_shard` makes it of bytes.

    `history` is the newest time of a batch run that the shard began with.
    """

    work: JobSpec
    split: ShardLayout
    session: Session
    until: int = FIRST
    waiting: pa.Table | None = None
    late: int = 0
    history: int = FIRST
    unfinished: dict[str, Table] = field(default_factory=dict)

    def push(self, rows: pa.Table | None, until: int) -> pa.Table:
        """Take rows, if any, accept those with t <= `until`; return what is complete.

        Rows that the history of the shard had are left out and counted in `late`. Others at a time
        that was accepted before are late: by `io.late` an error, or left out and counted. `rows`
        has the columns of the key, the time in io.unit as int64, port and values. After an error
        the shard must not be used any more.
        """
        rows = self._drop_late(rows)
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
        released = self._push_rows(rows.filter(ripe))
        return self._complete([*released, self.session.advance(until)])

    def _drop_late(self, rows: pa.Table | None) -> pa.Table | None:
        self.late = 0
        if rows is None:
            return None
        rows = self._after_history(rows)
        early = pc.greater(rows.column(self.work.time), self.until)
        if pc.all(early).as_py():
            return rows
        late = self.work.split_inputs(rows.filter(pc.invert(early)), keyed=True)
        self.late += sum(len(table["t"]) for table in late.values())
        if late and self.work.graph.checked.io.late == "error":
            raise self._locate_error(self._make_late_error(late), {})
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
                brings &= find_messages(rows.column(feed.column))
            seen = brings & (times <= find_newest(self.session, feed.input, keys))
            self.late += int(seen.sum())
            if feed.port is not None or not feed.sparse:
                keep &= ~seen
                continue
            place, cells = rows.column_names.index(feed.column), rows.column(feed.column)
            left = pc.if_else(pa.array(seen), pa.scalar(None, cells.type), cells)
            rows = rows.set_column(place, feed.column, left)
        return rows.filter(pa.array(keep))

    def _make_late_error(self, late: Mapping[str, Mapping[str, pa.ChunkedArray]]) -> DataError:
        """Return the error for the first of messages that are late."""
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
        """Accept rows at once, of every key in the order of time; return what is complete."""
        self.history = max(self.history, pc.max(rows.column(self.work.time)).as_py())
        released = self._push_rows(rows)
        return self._complete(released) if released else self.work.schema.empty_table()

    def finish(self) -> pa.Table:
        """Accept what waits, and return the rest of the result."""
        released = [] if self.waiting is None else self._push_rows(self.waiting)
        whole = merge_results([*self._list_unfinished(), *released, self.session.finish()])
        self.waiting, self.unfinished = None, {}
        return self.work.shape_result(whole.series, None)

    def find_due_time(self) -> int | None:
        """Return the time that the watermark must reach before anything more can be released."""
        if self.until == FIRST:
            return FIRST + 1
        found = [self._find_next_complete(), self.session.due()]
        if self.waiting is not None:
            found.append(pc.min(self.waiting.column(self.work.time)).as_py())
        return min((time for time in found if time is not None), default=None)

    def _push_rows(self, rows: pa.Table) -> list[Result]:
        if not rows.num_rows:
            return []
        rows = rows.take(pa.array(np.argsort(rows.column(self.work.time), kind="stable")))
        tables = self.work.split_inputs(rows, keyed=True)
        try:
            return [self.session.push(tables)]
        except DataError as error:
            raise self._locate_error(error, tables) from None

    def _locate_error(self, error: DataError, tables: Mapping[str, Any]) -> DataError:
        """Return the error with the value, without what means nothing: a row's number, no key."""
        where: dict[str, Any] = {"row": None, "column": None}
        if self.work.keys == (SINGLE_KEY,):
            where["key"] = None
        if error.row is not None and error.input in tables:
            where["value"] = tables[error.input]["value"][error.row].as_py()
        return error.at(**where)

    # ---- rows of the result that wait for the other outputs

    def _list_unfinished(self) -> list[Result]:
        return [Result(self.unfinished, self.work.keys)] if self.unfinished else []

    def _complete(self, released: list[Result]) -> pa.Table:
        whole = merge_results([*self._list_unfinished(), *released]).series
        self.unfinished = {}
        if not self._is_one_stream() and not is_all_final(self.session, _find_newest(whole)):
            final = self._find_final(whole)
            if not all(rows.all() for rows in final.values()):
                self.unfinished = _select_rows(whole, {name: ~rows for name, rows in final.items()})
                whole = _select_rows(whole, final)
        return self.work.shape_result(whole, None)

    def _is_one_stream(self) -> bool:
        """Return whether all outputs come from one stream, whose rows are complete at once."""
        return len({stream for stream, _ in self.work.graph.plan().places.values()}) == 1

    def _find_final(self, tables: Mapping[str, Table]) -> dict[str, np.ndarray]:
        """Return which rows of every output are at a time that is final for their key."""
        return {name: table["t"] <= self._find_frontiers(table) for name, table in tables.items()}

    def _find_frontiers(self, table: Table, *, ever: bool = False) -> np.ndarray:
        """Return the frontier of the key of every row."""
        if not len(table["t"]):
            return np.zeros(0, np.int64)
        starts = np.zeros(len(table["t"]), np.bool_)
        starts[0] = True
        for name in self.work.keys:
            starts[1:] |= table[name][1:] != table[name][:-1]
        firsts = [table[name][starts] for name in self.work.keys]
        columns = [key_column(f.tolist() if f.dtype == object else f) for f in firsts]
        times = find_frontiers(self.session, columns, ever=ever)
        return times.take(np.cumsum(starts) - 1)

    def _find_next_complete(self) -> int | None:
        """Return the least time at which the watermark alone could complete a row that waits."""
        found = []
        for table in self.unfinished.values():
            lag = table["t"] - self._find_frontiers(table)
            reachable = (self._find_frontiers(table, ever=True) >= table["t"]) & (lag > 0)
            found += lag[reachable].tolist()
        return min(self.until + min(found), LAST) if found else None

    # ---- as bytes

    def to_bytes(self) -> bytes:
        """Return everything the shard knows, as bytes."""
        tables = {name: _to_arrow(table) for name, table in self.unfinished.items()}
        if self.waiting is not None:
            tables[WAITING] = self.waiting
        header = {
            "form": describe_form(self.work, self.split),
            "work": make_work_header(self.work),
            "until": self.until,
            "history": self.history,
        }
        return encode_state(ShardState(header, tables, self.work.schema, self.session.dump()))


def start_shard(work: JobSpec, split: ShardLayout) -> Shard:
    """Return a shard without any rows yet."""
    return Shard(work, split, work.graph.start(work.keys, compiled=choose_mode(default="now")))


def resume_shard(work: JobSpec, split: ShardLayout, state: bytes) -> Shard:
    """Return the shard of this state; raise CheckpointError if it is damaged or does not fit."""
    saved = decode_state(state)
    check_same(saved.header["form"], describe_form(work, split))
    session = work.graph.resume(saved.dump, compiled=choose_mode(default="now"))
    waiting = saved.tables.pop(WAITING, None)
    unfinished = {name: _to_numpy(table) for name, table in saved.tables.items()}
    until, history = saved.header["until"], saved.header.get("history", FIRST)
    return Shard(work, split, session, until, waiting, history=history, unfinished=unfinished)


def describe_state(work: JobSpec, split: ShardLayout) -> dict[str, Any]:
    """Return what a state is of, as JSON has it: the graph, and how its rows come."""
    graph = work.graph.plan().description
    about: dict[str, Any] = json.loads(
        json.dumps({"graph": graph, "form": describe_form(work, split)})
    )
    return about


def make_work_header(work: JobSpec) -> dict[str, Any]:
    """Return what describes how a state's rows are read, beside the graph."""
    feeds = [asdict(feed) for feed in work.feeds]
    names = ("time", "stamp", "layout", "port", "unit")
    return {"keys": list(work.keys), "feeds": feeds} | {n: getattr(work, n) for n in names}


def _find_newest(tables: Mapping[str, Table]) -> int:
    return max((int(t["t"].max()) for t in tables.values() if len(t["t"])), default=FIRST)


def _select_rows(tables: Mapping[str, Table], rows: Mapping[str, np.ndarray]) -> dict[str, Table]:
    return {n: {c: a[rows[n]] for c, a in table.items()} for n, table in tables.items()}


def _to_arrow(table: Table) -> pa.Table:
    columns = {
        name: from_list(array.tolist()) if array.dtype == object else from_numpy(array)
        for name, array in table.items()
    }
    return pa.table(columns)


def _to_numpy(table: pa.Table) -> Table:
    return {name: _to_array(table.column(name)) for name in table.column_names}


def _to_array(column: pa.ChunkedArray) -> np.ndarray:
    if pa.types.is_string(column.type) or column.null_count:
        return np.array([*column.to_pylist(), None], object)[:-1]
    array: np.ndarray = column.to_numpy()
    return array
