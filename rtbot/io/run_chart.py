"""The chart of a run, made of the rows that pass, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.runtime.staged_session import StagedSession
from rtbot.tables import TextColumn
from rtbot.tables.wide import sort_outputs
from rtbot.viz.charts.axes import TimeAxis
from rtbot.viz.charts.change_lines import ChangeLines
from rtbot.viz.charts.chart import draw_chart
from rtbot.viz.charts.downsample import Collector

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        self._series: list[str] = []
        self._lines: dict[str, ChangeLines] = {}

    def add(self, result: Result) -> None:
        """Take what a push released."""
        self._series = [name for name in result if name not in result.schemas]
        self._collected.add({name: result[name] for name in self._series})
        for name, schema in result.schemas.items():
            if name not in self._lines:
                self._lines[name] = ChangeLines(name, schema, self._session.key)
            self._lines[name].add(result[name], self._collected)

    def add_inputs(self, columns: Mapping[str, Columns]) -> None:
        """Take what was pushed."""
        kinds = {name: one.type.kind for name, one in self._checked.inputs.items()}
        tables = {
            f"{name} (input)": self._make_table(whole)
            for name, whole in columns.items()
            if kinds[name] in NUMERIC
        }
        self._collected.add(sort_outputs(tables, self._session.key))

    def _make_table(self, whole: Columns) -> dict[str, np.ndarray]:
        table = dict(zip(self._session.key, map(_to_object_array, whole.keys), strict=True))
        valid = {} if whole.valid is None else {"value_valid": whole.valid}
        return table | {"t": whole.time, "value": _to_object_array(whole.value)} | valid

    def svg(self, unit: str | None, style: TimeStyle | None) -> str:
        """Return the chart; times are shown as they were read."""
        series = self._session.series if isinstance(self._session, StagedSession) else self._session
        keys = None if series is None else series.keys
        count = 1 if keys is None else len(keys.list_open_slots())
        names = [*self._series, *(name for one in self._lines.values() for name in one.names)]
        clock = TimeAxis.of(unit, style)
        return draw_chart(self._collected, names, clock, self._checked.name, count)


def _to_object_array(part: np.ndarray | TextColumn | tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return a column as results have it: an array of its type, of objects if text or nullable."""
    if isinstance(part, TextColumn):
        return part.to_objects()
    if isinstance(part, tuple):
        column = part[0].astype(object)
        column[~part[1]] = None
        return column
    return part
