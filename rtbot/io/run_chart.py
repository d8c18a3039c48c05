"""The chart of a run, made of the rows that pass, in bounded memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.graph.model import Ref, list_input_types
from rtbot.relations.change_feed import FIRST
from rtbot.runtime.staged_session import StagedSession
from rtbot.tables import TextColumn
from rtbot.tables.record_column import RecordColumn
from rtbot.tables.wide import sort_outputs
from rtbot.viz.charts.axes import TimeAxis
from rtbot.viz.charts.change_lines import ChangeLines
from rtbot.viz.charts.chart import draw_chart
from rtbot.viz.charts.downsample import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np

    from rtbot.core.times import TimeStyle
    from rtbot.graph.model import CheckedGraph
    from rtbot.runtime.result import Result
    from rtbot.runtime.session import Session
    from rtbot.tables import Columns

NUMERIC = ("number", "integer")


class Plotter:
    """Collects outputs, and the numbers that come in, which are drawn behind them."""

    def __init__(self, checked: CheckedGraph, session: Session | StagedSession) -> None:
        self._checked, self._session = checked, session
        self._collected = Collector(session.key)
        kinds = list_input_types(checked.inputs.values())
        shown = set(checked.outputs.values())
        self._behind = {ref for ref, one in kinds.items() if one.kind in NUMERIC} - shown
        self._series: list[str] = []
        self._lines: dict[str, ChangeLines] = {}

    def add(self, result: Result) -> None:
        """Take what a push released."""
        self._series = [name for name in result.series if name not in result.schemas]
        self._collected.add({name: result.series[name] for name in self._series}, repeats=True)
        for name, schema in result.schemas.items():
            if name not in self._lines:
                self._lines[name] = ChangeLines(name, schema, self._session.key)
            self._lines[name].add(result[name], self._collected)

    def add_inputs(self, columns: Mapping[str, Columns]) -> None:
        """Take what was pushed, other than inputs that are outputs as they are."""
        parts = [part for item in columns.items() for part in _list_series(*item)]
        tables = {
            f"{ref.id if ref.port == 'o1' else ref} (input)": self._make_table(whole)
            for ref, whole in parts
            if ref in self._behind
        }
        self._collected.add(sort_outputs(tables, self._session.key))

    def _make_table(self, whole: Columns) -> dict[str, np.ndarray]:
        table = dict(zip(self._session.key, map(_to_object_array, whole.keys), strict=True))
        valid = {} if whole.valid is None else {"value_valid": whole.valid}
        assert not isinstance(whole.value, RecordColumn), "a record is split before"
        return table | {"t": whole.time, "value": _to_object_array(whole.value)} | valid

    def svg(self, unit: str | None, style: TimeStyle | None) -> str:
        """Return the chart; times are shown as they were read."""
        series = self._session.series if isinstance(self._session, StagedSession) else self._session
        ends = [time for time in [self._collected.find_end()] if time is not None]
        if isinstance(self._session, StagedSession):
            ends += [feed.newest for feed in self._session.feeds.values()]
        for line in self._lines.values():
            line.extend(max(ends, default=FIRST), self._collected)
        keys = None if series is None else series.keys
        count = 1 if keys is None else len(keys.list_open_slots())
        names = [*self._series, *(name for one in self._lines.values() for name in one.names)]
        clock = TimeAxis.of(unit, style)
        return draw_chart(self._collected, names, clock, self._checked.name, count)


def _list_series(name: str, whole: Columns) -> Iterator[tuple[Ref, Columns]]:
    """Yield what was pushed to an input, each field of a record by itself."""
    record = whole.value
    if not isinstance(record, RecordColumn):
        yield Ref(name), whole
        return
    for field, value, valid in zip(record.names, record.values, record.valid, strict=True):
        yield Ref(name, field), replace(whole, value=value, valid=valid)


def _to_object_array(part: np.ndarray | TextColumn | tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return a column as results have it: an array of its type, of objects if text or nullable."""
    if isinstance(part, TextColumn):
        return part.to_objects()
    if isinstance(part, tuple):
        column = part[0].astype(object)
        column[~part[1]] = None
        return column
    return part
