"""The parts of a chart of a run: panels of lines, strips of states, the axis of time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbot.viz.charts.axes import ValueScale
from rtbot.viz.charts.lines import MIXED, draw_dots, draw_line, find_states
from rtbot.viz.svg_text import (
    escape,
    format_coordinate,
    format_element,
    measure_width,
    shorten,
    shorten_middle,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbot.viz.charts.axes import TimeAxis, TimeScale
    from rtbot.viz.charts.downsample import ChartSeries

SIZE, SMALL = 11.0, 10.5
DATE_ROOM = 42.0
"""What is left free around a date."""

NAME_ROOM = 280.0
"""How wide a name in the legend is at most."""

STRIP, STRIP_GAP, LABEL_ROOM = 16.0, 5.0, 30.0
WITHIN, BESIDE = 25, 10
"""A series is seen on a scale that is so many times its own span, where it is the scale of a series
around it, or one of a series beside it."""

SPARSE = 20
"""A series with so many times fewer messages than another one is drawn as dots."""


@dataclass(frozen=True, slots=True)
class Area:
    """Where a panel is, from top to bottom."""

    top: float
    height: float


@dataclass
class Panel:
    """Names that share a scale of values; `guests` are inputs, drawn behind."""

    names: list[str]
    guests: list[str] = field(default_factory=list)


def group_panels(
    names: Iterable[str], guests: Iterable[str], rows: list[Mapping[str, ChartSeries]], most: int
) -> list[Panel]:
    """Put names into panels so that in every row of the chart each of them can be read.

    At most so many names share a panel. An input that shares a scale with no output is left out.
    """
    panels: list[Panel] = []
    for name in names:
        free = (panel for panel in panels if len(panel.names) < most)
        home = next((panel for panel in free if _can_share(panel.names, name, rows)), None)
        if home is None:
            panels.append(Panel([name]))
        else:
            home.names.append(name)
    for name in guests:
        home = next((p for p in panels if _can_share(p.names, name, rows)), None)
        if home is not None:
            home.guests.append(name)
    return panels


def _can_share(names: list[str], name: str, rows: list[Mapping[str, ChartSeries]]) -> bool:
    """Return whether a series is drawn well on the scale of others, wherever there are both."""
    for row in rows:
        own = find_span([name], row)
        others = find_span(names, row)
        if own is not None and others is not None and not _is_comparable(own, others):
            return False
    return True


def _is_comparable(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Return whether two spans of values overlap and are of similar size, or as far from 0."""
    low, high = min(one[0], other[0]), max(one[1], other[1])
    sizes = [span[1] / 2 - span[0] / 2 for span in (one, other)]
    whole = high / 2 - low / 2
    apart = max(one[0], other[0]) / 2 - min(one[1], other[1]) / 2
    inside = max(sizes) == whole
    least = whole / (WITHIN if inside else BESIDE)
    if apart <= 0 and all(size >= least or size == 0 for size in sizes):
        return True
    ends = sorted(map(abs, (low, high)))
    return low * high > 0 and ends[1] <= 2 * ends[0] and apart <= max(sizes) + whole / 4


def find_span(names: Iterable[str], row: Mapping[str, ChartSeries]) -> tuple[float, float] | None:
    """Return the least and the greatest value of these series; None if they have none."""
    spans = [row[name].span() for name in names if name in row and row[name].list_lines()]
    if not spans:
        return None
    return min(low for low, _ in spans), max(high for _, high in spans)


def find_sparse(names: Iterable[str], rows: list[Mapping[str, ChartSeries]]) -> set[str]:
    """Return names with so few messages beside another of the key that a line would mislead."""
    found = set()
    for row in rows:
        counts = {name: row[name].count for name in names if name in row}
        most = max(counts.values(), default=0)
        found |= {name for name, count in counts.items() if count * SPARSE < most}
    return found


def draw_panel(
    panel: Panel,
    row: Mapping[str, ChartSeries],
    time: TimeScale,
    area: Area,
    looks: Mapping[str, str],
) -> list[str]:
    """Draw a panel: its grid, then inputs, then outputs."""
    span = find_span([*panel.names, *panel.guests], row)
    parts = [_draw_frame(time, area)]
    if span is None:
        return [*parts, draw_text("quiet", "no values", time.left + 8, area.top + 16)]
    value = ValueScale.around(*span, area.top, area.height)
    for tick, label in value.ticks():
        y = value.one(tick)
        parts += [
            format_element(
                "line", class_="grid", x1=time.left, x2=time.left + time.width, y1=y, y2=y
            ),
            draw_text("quiet", label, time.left - 8, y + 3.8, "end"),
        ]
    for name in [*panel.guests, *panel.names]:
        draw = draw_dots if looks[name].startswith("dots") else draw_line
        for line in row[name].list_lines() if name in row else ():
            path = draw(line.buckets, time, value)
            parts.append(format_element("path", class_=looks[name], d=path))
    return parts


def draw_strip(
    name: str, series: ChartSeries | None, time: TimeScale, top: float, look: str, texts: list[str]
) -> list[str]:
    """Draw states as a strip: where a boolean is true, or which text holds."""
    label = shorten_middle(name, time.left - 16, SMALL)
    parts = [
        format_element("rect", class_="bed", x=time.left, y=top, width=time.width, height=STRIP),
        draw_text("quiet", label, time.left - 8, top + 12, "end"),
    ]
    if series is None:
        return parts
    boolean = series.kind == "boolean"
    for begin, end, state in find_states(series, time, 1 if boolean else MIXED):
        if boolean and state == 0:
            continue
        wide = max(end - begin, 1.2)
        shade = look if boolean else "mixed" if state == MIXED else f"s{state}"
        told = texts[state] if not boolean and 0 <= state < len(texts) else ""
        tip = [format_element("title", escape(told))] if told else []
        size = {"x": begin, "y": top, "width": wide, "height": STRIP}
        parts.append(format_element("rect", *tip, class_=f"state {shade}", **size))
        if told and wide >= LABEL_ROOM:
            shown = shorten(told, wide - 6, SMALL)
            parts.append(draw_text("told", shown, begin + wide / 2, top + 12, "middle"))
    return parts


def draw_axis(clock: TimeAxis, time: TimeScale, areas: Iterable[Area], bottom: float) -> list[str]:
    """Draw the marks of time: lines through all panels, labels below."""
    parts = []
    room = DATE_ROOM + (
        measure_width(f"{time.last:,}", SIZE) if clock.unit is None else 2 * SIZE * 2
    )
    count = max(int(time.width // room), 2)
    for tick, label in clock.ticks(time.first, time.last, count):
        x = time.one(tick)
        parts += [
            format_element(
                "line", class_="grid", x1=x, x2=x, y1=area.top, y2=area.top + area.height
            )
            for area in areas
        ]
        inside = time.left + time.width + 16 - measure_width(label, SIZE) / 2
        parts.append(draw_text("quiet", label, min(x, inside), bottom + 15, "middle"))
    ends = f"{clock.text(time.first)} to {clock.text(time.last)}"
    zone = f" {clock.zone}" if clock.unit and ":" in ends else ""
    parts.append(draw_text("quiet", ends + zone, time.left, bottom + 33))
    return parts


def _draw_frame(time: TimeScale, area: Area) -> str:
    size = {"width": time.width, "height": area.height}
    return format_element("rect", class_="frame", x=time.left, y=area.top, **size)


def draw_text(look: str, shown: str, x: float, y: float, anchor: str | None = None) -> str:
    """Draw a text."""
    return format_element("text", escape(shown), class_=look, x=x, y=y, text_anchor=anchor)


def draw_legend(
    names: Mapping[str, str], left: float, room: float, top: float
) -> tuple[list[str], float]:
    """Draw names with the colours of their lines, in rows; also how high that is."""
    parts: list[str] = []
    x, y = left, top
    for name, look in names.items():
        shown = shorten_middle(name, NAME_ROOM, SIZE)
        wide = 22 + measure_width(shown, SIZE) + 18
        if x + wide > left + room and x > left:
            x, y = left, y + 18
        dot = look.startswith("dots")
        path = f"M{format_coordinate(x + 8 * dot)} {format_coordinate(y - 4)}h{16 * (not dot)}"
        parts += [
            format_element("path", class_=f"{look} swatch", d=path),
            draw_text("ink", shown, x + 22, y),
        ]
        x += wide
    return parts, y - top + 18 if names else 0.0
