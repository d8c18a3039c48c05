"""The summary of a result in a notebook: a line and a small chart per output, then the first rows.

In a terminal the charts are left out.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rtbot.core.aligned_text import align_cells
from rtbot.core.errors import DataError
from rtbot.core.number_text import format_count
from rtbot.tables.wide import build_wide
from rtbot.viz.charts.axes import TimeAxis, TimeScale, ValueScale, format_brief
from rtbot.viz.charts.downsample import Collector, detect_kind, split_by_key
from rtbot.viz.charts.lines import draw_line, find_states
from rtbot.viz.svg_text import escape, format_element, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rtbot.viz.charts.downsample import ChartSeries

    Table = Mapping[str, np.ndarray]

HEADER = ("output", "rows", "first", "last", "min", "mean", "max")
RIGHT = (False, True, False, False, True, True, True)
KEYS, ROWS, TEXTS = 8, 8, 4
CHART, SMALL = (240.0, 48.0), (112.0, 30.0)
STRIP = 12.0
BLUE, ORANGE = "#3b7dc4", "#d9772b"
"""Visible on white pages and on dark ones: a notebook does not report which it is."""

CELL = "padding: 3px 10px; white-space: nowrap; vertical-align: middle"
LINE = "border-bottom: 1px solid rgba(128, 128, 128, 0.3)"
TABLE = "border-collapse: collapse; margin-top: 6px"
QUIET = "opacity: 0.65; font-size: 85%"


class Summary:
    """The summary of a result; `tables` by output.

    `changes` has how many changes an output has that is a change stream; its table has the number
    of rows over time.
    """

    def __init__(
        self,
        tables: Mapping[str, Table],
        key: Sequence[str],
        unit: str | None,
        changes: Mapping[str, int] | None = None,
    ) -> None:
        self.tables, self.key, self.changes = tables, tuple(key), changes or {}
        times = [table["t"] for table in tables.values() if len(table["t"])]
        self.first = min((int(t.min()) for t in times), default=0)
        self.last = max((int(t.max()) for t in times), default=0)
        self.empty = not times
        self.clock = TimeAxis(unit).fit_times(self.first, self.last)
        self.keys = count_keys(tables, self.key)

    def head(self) -> str:
        """Return one line: how much of what, from when to when."""
        parts = [format_count(len(self.tables), "output")]
        if self.key:
            parts[0] += f" by {', '.join(self.key)} ({format_count(self.keys, 'key')})"
        rows = sum(self.changes.get(n, len(t["t"])) for n, t in self.tables.items())
        parts.append(format_count(rows, "row"))
        if not self.empty:
            parts.append(f"{self.clock.text(self.first)} to {self.clock.text(self.last)}")
        return ", ".join(parts)

    def lines(self) -> list[tuple[str, ...]]:
        """Return the cells of every output, in the order of HEADER."""
        lines = [(name, *self._cells(table)) for name, table in self.tables.items()]
        counts = [self.changes.get(name) for name in self.tables]
        return [
            line if count is None else (line[0], f"{count:,}", *line[2:])
            for line, count in zip(lines, counts, strict=True)
        ]

    def _cells(self, table: Table) -> tuple[str, ...]:
        times, valid = table["t"], table.get("value_valid")
        if not len(times):
            return "0", "", "", "", "", ""
        values = table["value"] if valid is None else table["value"][valid]
        ends = (self.clock.text(int(times.min())), self.clock.text(int(times.max())))
        nulls = len(times) - len(values)
        rows = f"{len(times):,}" + (f" ({nulls:,} null)" if nulls else "")
        return rows, *ends, *_measure_values(values)

    def text(self) -> str:
        """Return the summary for a terminal."""
        lines = self.lines()
        table = align_cells([HEADER, *lines], RIGHT) if lines else []
        return "\n".join([f"<Result: {self.head()}>", *table])

    def html(self) -> str:
        """Return the summary for a notebook."""
        collected = Collector(self.key, KEYS)
        drawn = {n: t for n, t in self.tables.items() if detect_kind(t["value"]) != "text"}
        collected.add(drawn, repeats=True)
        time = (self.first, self.last)
        rows = [_format_row(HEADER, "th", RIGHT, "")]
        for cells in self.lines():
            charts = "".join(_draw_charts(cells[0], self.tables[cells[0]], collected, time))
            more = self.keys - len(collected.series)
            if self.key and more > 0:
                charts += format_element("span", f"and {more:,} more", style=QUIET)
            rows.append(_format_row(cells, "td", RIGHT, charts))
        head = format_element(
            "div", escape(self.head()), style="padding: 4px 10px; font-weight: 600"
        )
        return format_element(
            "div", head, format_element("table", *rows, style=TABLE), self._first_rows()
        )

    def _first_rows(self) -> str:
        """Return the first rows of all outputs beside one another."""
        cut = {n: {c: a[:ROWS] for c, a in table.items()} for n, table in self.tables.items()}
        try:
            table = build_wide(cut, self.key).slice(0, ROWS)
        except DataError:  # two columns of one name: there is no such table
            return ""
        columns = [column.to_pylist() for column in table.columns]
        place = table.column_names.index("t")
        columns[place] = [self.clock.text(time) for time in columns[place]]
        right = [pa.types.is_floating(c.type) or pa.types.is_integer(c.type) for c in table.columns]
        right[place] = self.clock.unit is None
        rows = [_format_row(table.column_names, "th", right)]
        rows += [
            _format_row(map(_format_cell, row), "td", right) for row in zip(*columns, strict=True)
        ]
        return format_element("table", *rows, style=TABLE)


def count_keys(tables: Mapping[str, Table], key: Sequence[str]) -> int:
    """Return how many keys there are in tables that are in the order of (key, t)."""
    return len({one for table in tables.values() for one, _, _ in split_by_key(table, key)})


def _measure_values(values: np.ndarray) -> tuple[str, str, str]:
    """Return least, mean and greatest; of booleans how many are true; nothing of texts."""
    kind = detect_kind(values)
    if kind == "text" or not len(values):
        return "", "", ""
    if kind == "boolean":
        return "", f"{values.mean():.1%} true", ""
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    if not len(known):
        return "nan", "nan", "nan"
    with np.errstate(all="ignore"):
        mean = float(known.mean(dtype=np.float64))
    return format_brief(known.min().item()), format_brief(mean), format_brief(known.max().item())


def _draw_charts(
    name: str, table: Table, collected: Collector, ends: tuple[int, int]
) -> Iterator[str]:
    """Draw the small charts of an output: one, or one for each of the first keys."""
    if detect_kind(table["value"]) == "text":
        pairs = pa.array(table["value"].tolist(), pa.string()).value_counts().to_pylist()
        counts = Counter({pair["values"]: pair["counts"] for pair in pairs})
        shown = [
            f"{shorten('null' if t is None else t, 90, 12)} ({n:,})"
            for t, n in counts.most_common(TEXTS)
        ]
        yield escape(", ".join(shown) + (", …" if len(counts) > TEXTS else ""))
        return
    for key in collected.shown():
        series = collected.series[key].get(name)
        if series is None or not series.list_lines():
            continue
        if not collected.key:
            yield draw_sparkline(series, ends, CHART)
            continue
        told = shorten(", ".join("null" if k is None else str(k) for k in key), SMALL[0], 11)
        label = format_element("div", escape(told), style=QUIET)
        small = draw_sparkline(series, ends, SMALL)
        yield format_element("div", label, small, style="display: inline-block; margin-right: 10px")


def draw_sparkline(series: ChartSeries, ends: tuple[int, int], size: tuple[float, float]) -> str:
    """Return a line of values, or a strip that is full where a boolean is true, as small SVG."""
    wide_, high = size
    time = TimeScale(*ends, 2.0, wide_ - 4)
    if series.kind == "boolean":
        high = STRIP
        bars = [
            format_element("rect", x=begin, y=0, width=max(end - begin, 1.0), height=high)
            for begin, end, state in find_states(series, time, 1)
            if state
        ]
        bed = format_element("rect", width=wide_, height=high, fill="#808080", fill_opacity=0.15)
        parts = [bed, format_element("g", *bars, fill=ORANGE)] if bars else [bed]
    else:
        value = ValueScale.around(*series.span(), 2.0, high - 4)
        path = "".join(draw_line(one.buckets, time, value) for one in series.list_lines())
        look = {"stroke": BLUE, "stroke_width": "1.2", "stroke_linejoin": "round"}
        parts = [format_element("path", d=path, fill="none", stroke_linecap="round", **look)]
    return format_element(
        "svg", *parts, xmlns="http://www.w3.org/2000/svg", width=wide_, height=high, role="img"
    )


def _format_row(cells: Iterable[str], tag: str, right: Sequence[bool], *markup: str) -> str:
    """Format a row of a table, some columns at the right; `markup` is a last cell as it is."""
    style = f"{CELL}; {LINE}; text-align: "
    made = [
        format_element(tag, escape(cell) or " ", style=style + ("right" if at_right else "left"))
        for cell, at_right in zip(cells, right, strict=True)
    ]
    return format_element(
        "tr", *made, *(format_element(tag, c or " ", style=style + "left") for c in markup)
    )


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return format_brief(value) if isinstance(value, int | float) else shorten(str(value), 240, 12)
