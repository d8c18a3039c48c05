"""From files or tables to data: a session takes them as in any run, and records them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rtbot.compare.canonical_outputs import Outputs
from rtbot.compare.data import PushCollector
from rtbot.compare.run_variants import VariantComparison
from rtbot.compare.sessions import ENDLESS, ReleasedRows, compiles
from rtbot.core.errors import RtbotError
from rtbot.io.bindings import InputSpec, make_input_spec
from rtbot.io.pushes import push_all, push_inputs
from rtbot.tables import order_by_time, split_by_input, to_columns
from rtbot.tables.change_rows import ChangeSpec, order_changes, to_change_rows
from rtbot.tables.column_names import ColumnNames

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbot.api import Graph
    from rtbot.compare.report import ComparisonReport
    from rtbot.compare.run_variants import Tell
    from rtbot.compare.variants import ComparisonOptions
    from rtbot.tables import Columns
    from rtbot.tables.change_rows import ChangeRows
    from rtbot.tables.time_column import TimeColumn


class RecordingReader:
    """A session that records what it is given.

    Raises what is wrong with the data; what is wrong with the session is the fault of its outputs.
    """

    def __init__(
        self, graph: Graph, key: Sequence[str] | str | None, columns: ColumnNames | None = None
    ) -> None:
        given = columns or ColumnNames()
        self.session = graph.start(
            key,
            time=given.time,
            inputs=given.inputs,
            queue_limit=ENDLESS,
            compiled=compiles(),
        )
        self.released = ReleasedRows(graph, self.session)
        self.gathering = PushCollector(graph.checked.inputs, self.session.key)
        self._fault = ""

    def push(self, data: Any, *, sort: bool = False) -> None:
        """Push {input: table}, or one table of all inputs."""
        specs: Any = self.session.specs
        given = split_by_input(data, specs)
        known = {n: _read_table(t, specs[n], sort) for n, t in given.items() if n in specs}
        if len(known) < len(given):
            self.session.push(given)  # which refuses it
        tables = self.gathering.add(known)
        self._attempt(lambda: self.released.add(self.session.push(tables)))

    def advance(self, time: int, name: str | None = None) -> None:
        """Declare that nothing more will come for an input up to a time."""
        self._attempt(lambda: self.released.add(self.session.advance(time, name)))

    def note_times(self, column: TimeColumn | None) -> None:
        """Ignore what the times are: outputs are compared, not frames."""

    def finish(self) -> Outputs:
        """Finish the session; return all that it released."""
        found: list[Outputs] = []
        account = self.session.account
        finish = self.session.finish
        self._attempt(lambda: found.append(self.released.outputs(finish(), account())))
        return found[0] if found else Outputs(fault=self._fault)

    def _attempt(self, act: Callable[[], object]) -> None:
        if self._fault:
            return
        try:
            act()
        except RtbotError:
            raise
        except Exception as error:  # noqa: BLE001 (it is compared, and made small)
            self._fault = f"{type(error).__name__}: {error}"


def _read_table(table: Any, spec: Any, sort: bool) -> Columns | ChangeRows:
    if isinstance(spec, ChangeSpec):
        rows = to_change_rows(table, spec)
        return order_changes(rows) if sort else rows
    columns = to_columns(table, spec)
    return order_by_time(columns) if sort else columns


def compare(
    graph: Graph,
    data: Any,
    key: Sequence[str] | str | None,
    options: ComparisonOptions,
    tell: Tell | None = None,
    columns: ColumnNames | None = None,
) -> ComparisonReport:
    """Compare over data as `Graph.run` takes it, or over the files of an `InputSpec`.

    `columns` are those that the user names; an `InputSpec` has its own. Raises DataError if the
    data is wrong, with its place. `tell` is called with the progress.
    """
    begun = time.perf_counter()
    reader = RecordingReader(graph, key, columns)
    inputs, session = graph.checked.inputs, reader.session
    if isinstance(data, InputSpec):
        push_inputs(reader, data, inputs, session.io)
    else:
        request = make_input_spec(session.io, session.key, session.columns)
        push_all(reader, data, inputs, request, session.io)
    read = reader.finish()
    seconds = time.perf_counter() - begun
    return VariantComparison(graph, reader.gathering.data(), options, tell).run(read, seconds)
