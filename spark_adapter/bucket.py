"""Keys that share one state: bytes and rows in, rows and bytes out, no Spark.

A stream's keys are dealt to buckets, and those of a bucket to slices. A slice has one keyed session
for all of its keys. Rows wait in it until the watermark has passed them, then they go through the
session in the order of time; rows of the result wait until every output of their key is final.
"""

from __future__ import annotations

import struct
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rtbot import checkpoint
from rtbot.arrow import of_list, of_numpy
from rtbot.errors import CheckpointError, DataError
from rtbot.frontiers import all_final, frontiers
from rtbot.kernels import FIRST, LAST
from rtbot.result import Result, joined
from rtbot.tables.convert import key as key_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot import Session
    from spark_adapter.rows import Work

VERSION = 1
LENGTH = struct.Struct("<Q")
"""The length of a slice's own part, before the dump of its session."""

Table = dict[str, np.ndarray]


@dataclass(frozen=True)
class Split:
    """How keys are dealt: to `buckets`, each of so many `slices`. Fixed while a state lives."""

    buckets: int
    slices: int = 1


@dataclass
class Slice:
    """The keys of a slice in progress; `state` makes bytes of it, `resumed` it of bytes."""

    work: Work
    split: Split
    session: Session
    until: int = FIRST
    waiting: pa.Table | None = None
    late: int = 0
    unfinished: dict[str, Table] = field(default_factory=dict)

    def push(self, rows: pa.Table | None, until: int) -> pa.Table:
        """Take rows, if any, let in those with t <= `until`; returns what is complete.

        Rows at a time that was let in before are late: they are left out, and counted in `late`.
        `rows` has the columns of the key, the time in io.unit as int64, port and values.
        """
        self.late = 0
        if rows is not None:
            count = rows.num_rows
            rows = rows.filter(pc.greater(rows.column(self.work.time), self.until))
            self.late = count - rows.num_rows
        self.until = until = max(until, self.until)
        tables = [table for table in (self.waiting, rows) if table is not None]
        if not tables:
            return self._complete([self.session.advance(until)])
        rows = pa.concat_tables(tables)
        ripe = pc.less_equal(rows.column(self.work.time), until)
        rest = rows.filter(pc.invert(ripe))
        self.waiting = rest.combine_chunks() if rest.num_rows else None
        released = self._let_in(rows.filter(ripe))
        return self._complete([*released, self.session.advance(until)])

    def take(self, rows: pa.Table) -> pa.Table:
        """Let in rows at once, of every key in the order of time; returns what is complete."""
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
        found = [self._next_complete(), self.session.runner.progress.due()]
        if self.waiting is not None:
            found.append(pc.min(self.waiting.column(self.work.time)).as_py())
        return min((time for time in found if time is not None), default=None)

    def _let_in(self, rows: pa.Table) -> list[Result]:
        if not rows.num_rows:
            return []
        rows = rows.take(pa.array(np.argsort(rows.column(self.work.time), kind="stable")))
        try:
            return [self.session.push(self.work.tables(rows, keyed=True))]
        except DataError as error:
            raise error.at(row=None) from None

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
        return len({stream for stream, _ in self.session.plan.places.values()}) == 1

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
        return times[np.cumsum(starts) - 1]

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
            tables[""] = self.waiting
        arrays = {name: np.frombuffer(_ipc(table), np.uint8) for name, table in tables.items()}
        schema = np.frombuffer(self.work.schema.serialize(), np.uint8)
        header = {
            "slice": VERSION,
            "form": form(self.work, self.split),
            "work": work_header(self.work),
            "until": self.until,
        }
        own = checkpoint.encode(header, {"/schema": schema, **arrays})
        return LENGTH.pack(len(own)) + own + self.session.dump()


def begun(work: Work, split: Split) -> Slice:
    """A slice that has seen nothing."""
    return Slice(work, split, work.graph.start(work.keys))


def resumed(work: Work, split: Split, state: bytes) -> Slice:
    """The slice of this state; CheckpointError if it is damaged or does not fit."""
    header, arrays, dump = opened(state)
    difference = checkpoint.differ(header["form"], form(work, split))
    if difference:
        raise CheckpointError(f"the state is of another form: {difference}", code="RT313")
    tables = {name: _of_ipc(array) for name, array in arrays.items() if name != "/schema"}
    waiting = tables.pop("", None)
    session = work.graph.resume(dump)
    unfinished = {name: _numpy(table) for name, table in tables.items()}
    return Slice(work, split, session, header["until"], waiting, unfinished=unfinished)


def opened(state: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray], bytes]:
    """The header and arrays of a slice, and the dump of its session, which is not read yet."""
    end = LENGTH.size
    if len(state) >= end:
        end += LENGTH.unpack(state[:end])[0]
    header, arrays = checkpoint.decode(state[LENGTH.size : end])
    version = header.get("slice")
    if version != VERSION:
        message = f"the state has format {version}; this version reads {VERSION}"
        raise CheckpointError(message, code="RT312")
    return header, arrays, state[end:]


def form(work: Work, split: Split) -> dict[str, Any]:
    """What must be equal for a state to fit, beside the graph itself."""
    io = asdict(work.graph.checked.io)
    kinds = {field.name: str(field.type) for field in work.schema}
    return {
        "key": {name: kinds.get(name, "") for name in work.keys},
        "time": kinds[work.stamp],
        "inputs": "a relation for each" if work.port else "columns of one relation",
        **{name: io[name] for name in ("unit", "late", "duplicates", "lateness")},
        **asdict(split),
    }


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


def _ipc(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _of_ipc(array: np.ndarray) -> pa.Table:
    return pa.ipc.open_stream(pa.py_buffer(array)).read_all()
