"""Data through sessions, step by step, and what comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.compare.canonical_outputs import Outputs, is_ordered, sort_by_key
from rtbot.compare.schedules import Change
from rtbot.core.modes import NEVER, NOW, choose_mode
from rtbot.core.vector_names import list_vectors
from rtbot.graph.output_types import list_output_types
from rtbot.tables import Columns
from rtbot.tables.change_rows import name_time, name_weight
from rtbot.tables.vector_results import split_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rtbot.api import Graph
    from rtbot.compare.data import Data
    from rtbot.compare.schedules import Row, Step
    from rtbot.operator import Type
    from rtbot.runtime.result import Result
    from rtbot.runtime.session import Session
    from rtbot.runtime.staged_session import StagedSession

    Form = Callable[[Columns, str, tuple[str, ...]], Any]
    """Makes a table of another kind of columns, given `io.unit` and the key columns."""

    Table = Mapping[str, np.ndarray]

ENDLESS = 1 << 62
"""A queue limit that no data reaches: an order that starves an input is not an error here."""

DTYPES = {"number": np.float64, "integer": np.int64, "boolean": np.bool_, "text": object}


class DisorderError(Exception):
    """What was released at once is not in order."""


class ReleasedRows:
    """What a session releases, from batches and from single messages, in its order."""

    def __init__(self, graph: Graph, session: Session | StagedSession) -> None:
        self.key = session.key
        self._types = list_output_types(graph.checked)
        self._vectors = list_vectors(graph.checked.records)
        kinds = self._types.items()
        self.schemas = {name: kind.schema for name, kind in kinds if kind.schema is not None}
        self._parts: dict[str, list[Table]] = {name: [] for name in self._types}
        self._single: dict[str, list[Any]] = {name: [] for name in self._types}

    def add(self, result: Result) -> None:
        """Take what a push released."""
        self._flush_single()
        for name, table in result.series.items():
            schema = self.schemas.get(name)
            time = table["t" if schema is None else name_time(schema.names)]
            in_order = (
                is_ordered(table, self.key) if schema is None else (time[1:] >= time[:-1]).all()
            )
            if not in_order:
                raise DisorderError(_describe_disorder(name, table, self.key))
            if len(time):
                self._parts[name].append(table)

    def add_rows(self, released: Mapping[str, Any]) -> None:
        """Take what `push_one` released."""
        for name, rows in split_rows(released, self._vectors).items():
            self._single[name] += rows

    def _flush_single(self) -> None:
        for name, rows in self._single.items():
            if rows:
                self._parts[name].append(self._make_table(name, rows))
                self._single[name] = []

    def _make_table(self, name: str, rows: Sequence[Any]) -> Table:
        schema = self.schemas.get(name)
        if schema is not None:
            times, weights, fields = zip(*rows, strict=True)
            found = {name_time(schema.names): np.array(times, np.int64)}
            found[name_weight(schema.names)] = np.array(weights, np.int64)
            for field in schema:
                found |= _make_column(field.name, [row[field.name] for row in fields], field.type)
            return found
        *keys, times, values = zip(*rows, strict=True)
        table: dict[str, np.ndarray] = {}
        columns = list(zip(*keys[0], strict=True)) if len(self.key) > 1 else keys
        for column, cells in zip(self.key, columns, strict=True):
            integers = all(isinstance(cell, int) for cell in cells)
            table[column] = np.array(cells, np.int64 if integers else object)
        table["t"] = np.array(times, np.int64)
        return table | _make_column("value", values, self._types[name])

    def outputs(self, last: Result, account: Mapping[str, Any] | None) -> Outputs:
        """Return all outputs, `last` being what the end of the session released."""
        self.add(last)
        tables = {}
        for name, parts in self._parts.items():
            given = parts or [last.series[name]]
            whole = {column: np.concatenate([p[column] for p in given]) for column in given[0]}
            tables[name] = whole if name in self.schemas else sort_by_key(whole, self.key)
        return Outputs(tables, self.key, account, schemas=self.schemas)


def _describe_disorder(name: str, table: Table, key: Sequence[str]) -> str:
    """Describe the first row of a result that comes before an older one of its key."""
    latest: dict[tuple[Any, ...], int] = {}
    times = table["t"].tolist() if "t" in table else []
    for time, *site in zip(times, *(table[column].tolist() for column in key), strict=True):
        before = latest.setdefault(tuple(site), time)
        if time < before:
            late = f"{name} has a message at t={time} after one at t={before}"
            return f"{late}: the times that a step returns have to ascend"
        latest[tuple(site)] = time
    return f"a result of {name} is not in the order of key and time"


def _make_column(name: str, values: Sequence[Any], kind: Type) -> dict[str, np.ndarray]:
    """Return a column of Python values, and which of them are not null if that may be."""
    known = [cell is not None for cell in values]
    filler = None if kind.kind == "text" else 0
    filled = [filler if value is None else value for value in values]
    column: np.ndarray = np.array(filled, DTYPES[kind.kind])
    return {name: column} | ({f"{name}_valid": np.array(known)} if kind.nullable else {})


def compiles() -> bool:
    """Return whether code is compiled where a variant leaves it open, before it runs."""
    return choose_mode(default=NOW) != NEVER


class StepRunner:
    """A session to which data is pushed by steps."""

    def __init__(
        self, graph: Graph, data: Data, compiled: bool | None = None, form: Form | None = None
    ) -> None:
        self.graph, self.data, self.form = graph, data, form
        self.compiled = compiles() if compiled is None else compiled
        self.session = graph.start(data.key, queue_limit=ENDLESS, compiled=self.compiled)
        self.released = ReleasedRows(graph, self.session)

    def run(self, steps: Sequence[Step]) -> Outputs:
        """Run the steps, then finish; raise whatever the session does."""
        for kind, *args in steps:
            getattr(self, f"_{kind}")(*args)
        last = self.session.finish()
        return self.released.outputs(last, self.session.account())

    def _push(self, numbers: Sequence[int]) -> None:
        tables: Mapping[str, Any] = self.data.tables(numbers)
        if self.form is not None:
            unit, key = self.session.io.unit or "", self.data.key
            form = self.form
            tables = {
                name: form(table, unit, key) if isinstance(table, Columns) else table
                for name, table in tables.items()
            }
        self.released.add(self.session.push(tables))

    def _one(self, number: int) -> None:
        row = self.data.rows[number]
        self.released.add_rows(self._push_one(row))

    def _push_one(self, row: Row) -> Mapping[str, Any]:
        session: Any = self.session
        more: dict[str, Any] = {"key": unwrap_key(row.key)} if row.key else {}
        value = row.value
        if isinstance(value, Change):
            names = session.specs[row.input].schema.names
            more, value = {"weight": value.weight}, dict(zip(names, value.cells, strict=True))
        found: Mapping[str, Any] = session.push_one(row.input, row.time, value, **more)
        return found

    def _advance(self, time: int, name: str | None) -> None:
        self.released.add(self.session.advance(time, name))

    def _close(self, key: tuple[Any, ...]) -> None:
        self.released.add(self.session.close_key(unwrap_key(key)))

    def _dump(self) -> None:
        self.session = self.graph.resume(self.session.dump(), compiled=self.compiled)


def unwrap_key(key: tuple[Any, ...]) -> Any:
    """Return a key as sessions take it: of one column without a tuple."""
    return key[0] if len(key) == 1 else key


def run_steps(
    graph: Graph,
    data: Data,
    steps: Sequence[Step],
    compiled: bool | None = None,
    form: Form | None = None,
) -> Outputs:
    """Run the steps; an error becomes the fault of the outputs."""
    try:
        return StepRunner(graph, data, compiled, form).run(steps)
    except Exception as error:  # noqa: BLE001 (another way of running raised nothing)
        return Outputs(fault=f"{type(error).__name__}: {error}")


def run_keys_alone(graph: Graph, data: Data) -> Outputs:
    """Run every key in a session of its own, without key columns, and add the key to its rows."""
    parts: dict[str, list[Table]] = {}
    for key, numbers in data.keys.items():
        alone = run_steps(graph, data.select(numbers).drop_key(), [("push", range(len(numbers)))])
        if alone.fault:
            return alone
        for name, table in alone.tables.items():
            heads = {
                column: _repeat_cell(cell, len(table["t"]))
                for column, cell in zip(data.key, key, strict=True)
            }
            parts.setdefault(name, []).append({**heads, **table})
    tables = {
        name: {column: np.concatenate([part[column] for part in given]) for column in given[0]}
        for name, given in parts.items()
    }
    return Outputs({name: sort_by_key(table, data.key) for name, table in tables.items()}, data.key)


def _repeat_cell(cell: Any, count: int) -> np.ndarray:
    return np.full(count, cell, np.int64 if isinstance(cell, int) else object)
