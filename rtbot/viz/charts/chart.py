"""The chart of a run as one SVG: outputs over time, a block of panels for every key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.viz import svg_text
from rtbot.viz.charts.axes import TimeScale, ValueScale
from rtbot.viz.charts.panels import (
    SIZE,
    STRIP,
    STRIP_GAP,
    Area,
    draw_axis,
    draw_legend,
    draw_panel,
    draw_strip,
    draw_text,
    find_span,
    find_sparse,
    group_panels,
)
from rtbot.viz.svg_text import SANS, escape, format_element, measure_width, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rtbot.viz.charts.axes import TimeAxis
    from rtbot.viz.charts.downsample import ChartSeries, Collector

WIDTH, MARGIN = 960.0, 24.0
LEFT_MIN, LEFT_MAX = 52.0, 130.0
ALONE, FEW, MANY = 300.0, 190.0, 120.0
GAP, KEY_LINE, AXIS, NOTE_LINE = 14.0, 24.0, 48.0, 33.0
COLOURS = (
    ("#2b6cb8", "#6aa9ee"),
    ("#d2691e", "#f0934f"),
    ("#2a8a57", "#55c288"),
    ("#8a52b8", "#ba8ee2"),
    ("#c23b4e", "#ee7585"),
    ("#14838c", "#45bcc5"),
    ("#8a6d1a", "#cfae4c"),
    ("#5f6b7a", "#a9b5c4"),
    ("#9aa3af", "#77818f"),
)
"""Of outputs, and of texts, on white and on dark pages; the last is that of all other texts."""

_LIGHTS, _DARKS = ({f"s{k}": pair[side] for k, pair in enumerate(COLOURS)} for side in (0, 1))
LIGHT = svg_text.LIGHT | {"bed": "#f1f3f6", "guest": "#98a3b1"} | _LIGHTS
DARK = svg_text.DARK | {"bed": "#1e242e", "guest": "#6b7787"} | _DARKS
CYCLE = len(COLOURS) - 1
SHARE = 5
"""Lines of a panel where there are more outputs than colours."""

_FIXED = f"""
.rtbot-chart text {{ font-family: {SANS}; font-size: 11px; }}
.rtbot-chart .name {{ font-size: 16px; font-weight: 600; }}
.rtbot-chart .key {{ font-size: 12.5px; font-weight: 600; }}
.rtbot-chart .line, .rtbot-chart .dots {{ fill: none; stroke-width: 1.4px;
  stroke-linejoin: round; stroke-linecap: round; }}
.rtbot-chart .dots {{ stroke-width: 5px; }}
.rtbot-chart .line.swatch {{ stroke-width: 3px; }}
.rtbot-chart .guest {{ stroke-width: 1px; }}
.rtbot-chart .frame {{ fill: none; }}
.rtbot-chart .told {{ font-size: 10.5px; }}
.rtbot-chart .state {{ fill-opacity: 0.75; }}
"""


def _format_rules(colour: Mapping[str, str]) -> Iterator[str]:
    c = ".rtbot-chart"
    yield f"{c} .paper {{ fill: {colour['paper']}; }}"
    yield f"{c} .name, {c} .key, {c} .ink {{ fill: {colour['ink']}; }}"
    yield f"{c} .quiet {{ fill: {colour['quiet']}; }}"
    yield f"{c} .told {{ fill: {colour['paper']}; }}"
    yield f"{c} .grid, {c} .frame {{ stroke: {colour['faint']}; }}"
    yield f"{c} .bed {{ fill: {colour['bed']}; }}"
    yield f"{c} .mixed {{ fill: {colour['guest']}; }}"
    yield f"{c} .line.guest {{ stroke: {colour['guest']}; }}"
    for place in range(len(COLOURS)):
        shade = colour[f"s{place}"]
        yield f"{c} .s{place} {{ stroke: {shade}; }}"
        yield f"{c} .state.s{place} {{ fill: {shade}; stroke: none; }}"


class Chart:
    """A chart of what was collected of these outputs; other names are inputs, if they fit in."""

    def __init__(self, collected: Collector, outputs: Sequence[str], clock: TimeAxis) -> None:
        self.collected = collected
        self.keys = collected.shown()
        self.rows: list[Mapping[str, ChartSeries]] = [collected.series[key] for key in self.keys]
        present = {name: s.kind for row in self.rows for name, s in row.items()}
        self.lines = [name for name in outputs if present.get(name, "number") == "number"]
        self.strips = [name for name in outputs if name not in self.lines]
        guests = [n for n, kind in present.items() if kind == "number" and n not in outputs]
        self.crowded = len(self.lines) > CYCLE
        self.panels = group_panels(self.lines, guests, self.rows, SHARE if self.crowded else CYCLE)
        self.looks = self._assign_looks(outputs)
        self.height = ALONE if len(self.panels) == 1 else FEW
        if len(self.rows) > 1 or len(self.panels) > CYCLE:
            self.height = MANY
        self.time = self._time_scale()
        self.clock = clock.fit_times(self.time.first, self.time.last)
        self.areas: list[Area] = []

    def _assign_looks(self, outputs: Sequence[str]) -> dict[str, str]:
        """Return the classes of everything that is shown.

        Colours are different in the whole chart, or, where there are too few, in every panel.
        """
        few = find_sparse(self.lines, self.rows)
        places = {name: place for place, name in enumerate(outputs)}
        if self.crowded:
            places |= {name: k for panel in self.panels for k, name in enumerate(panel.names)}
        looks = {}
        for name, place in places.items():
            form = "dots " if name in few else "line " if name in self.lines else ""
            looks[name] = f"{form}s{place % CYCLE}"
        return looks | {n: "line guest" for panel in self.panels for n in panel.guests}

    def _time_scale(self) -> TimeScale:
        """Return the scale from the first message to the last, beside the widest value label."""
        lines = [line for row in self.rows for s in row.values() for line in s.list_lines()]
        buckets = [line.buckets for line in lines]
        first = min((int(b.first_time[0]) for b in buckets), default=0)
        last = max((int(b.last_time[-1]) for b in buckets), default=0)
        labels = list(self.strips)
        for row in self.rows:
            for panel in self.panels:
                span = find_span([*panel.names, *panel.guests], row) or (0.0, 1.0)
                labels += [label for _, label in ValueScale.around(*span, 0.0, self.height).ticks()]
        widest = max((measure_width(label, SIZE) for label in labels), default=0.0)
        left = MARGIN + min(max(widest + 10, LEFT_MIN), LEFT_MAX)
        return TimeScale(first, last, left, WIDTH - MARGIN - left)

    def svg(self, title: str, keys: int) -> str:
        """Return the picture; `keys` is how many there are, shown or not."""
        shared = {} if self.crowded else self.looks
        named = {name: look for name, look in shared.items() if name not in self.strips}
        head, high = draw_legend(named, MARGIN, WIDTH - 2 * MARGIN, MARGIN + 38)
        at = MARGIN + 32 + high
        blocks: list[str] = []
        for key, row in zip(self.keys, self.rows, strict=True):
            if self.collected.key:
                blocks.append(self._draw_key(key, at))
                at += KEY_LINE
            made, at = self._draw_block(row, at)
            blocks += made
        bottom = at - GAP
        more = keys - len(self.keys)
        note = f"and {more:,} more {'keys' if more > 1 else 'key'}" if more > 0 else ""
        shown = shorten(title, WIDTH - 2 * MARGIN, 16, bold=True)
        parts = [
            format_element("text", escape(shown), class_="name", x=MARGIN, y=MARGIN + 14),
            *head,
            *draw_axis(self.clock, self.time, self.areas, bottom),
            *blocks,
            draw_text("quiet", note, WIDTH - MARGIN, bottom + NOTE_LINE, "end"),
        ]
        style = _FIXED + svg_text.theme_rules(_format_rules, LIGHT, DARK)
        return svg_text.format_document("rtbot-chart", title, style, (WIDTH, bottom + AXIS), *parts)

    def _draw_key(self, key: tuple[Any, ...], at: float) -> str:
        cells = ["null" if part is None else str(part) for part in key]
        told = ", ".join(map(" ".join, zip(self.collected.key, cells, strict=True)))
        told = shorten(told, WIDTH - MARGIN - self.time.left, 12.5, bold=True)
        return draw_text("key", told, self.time.left, at + 12)

    def _draw_block(self, row: Mapping[str, ChartSeries], at: float) -> tuple[list[str], float]:
        """Draw the panels and strips of one key, from `at` down; return also where the next is."""
        parts: list[str] = []
        for panel in self.panels:
            if self.crowded:
                named = {name: self.looks[name] for name in [*panel.names, *panel.guests]}
                legend, high = draw_legend(named, self.time.left, self.time.width, at + 8)
                parts += legend
                at += high
            area = Area(at, self.height)
            self.areas.append(area)
            parts += draw_panel(panel, row, self.time, area, self.looks)
            at += area.height + GAP
        for name in self.strips:
            texts = list(self.collected.texts.get(name, ()))
            later = row[name].later if name in row else []
            for turn, series in enumerate([row.get(name), *later], 1):
                label = name if turn == 1 else f"{name} {turn}"
                parts += draw_strip(label, series, self.time, at, self.looks[name], texts)
                at += STRIP + STRIP_GAP
        return parts, at + (GAP - STRIP_GAP if self.strips else 0)


def draw_chart(
    collected: Collector, outputs: Sequence[str], clock: TimeAxis, title: str, keys: int = 1
) -> str:
    """Return the chart of what was collected: these outputs, with inputs where they fit in."""
    return Chart(collected, outputs, clock).svg(title, keys)
