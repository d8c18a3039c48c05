"""Messages of streams on lines of time, above and below the operator that they go through."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from rtbot.viz import svg_text
from rtbot.viz.svg_text import (
    MONO,
    SANS,
    escape,
    format_coordinate,
    format_element,
    measure_width,
    shorten,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MARGIN, NAME_ROOM, TITLE_SIZE, TEXT_SIZE, SMALL = 18.0, 130.0, 13.0, 12.0, 10.5
PILL, STACK, LANE_GAP, PILL_PADDING = 22.0, 26.0, 14.0, 8.0
BOX, AXIS, LEAD, TAIL = 34.0, 26.0, 18.0, 34.0
GAP, STRETCH, STRETCH_MAX = 16.0, 26.0, 3.0
"""Room between marbles, and for every further time unit between them, up to so many."""

LABEL_ROOM, SETTINGS_ROOM = 170.0, 460.0

_FIXED = f"""
.rtbot-marbles text {{ font-family: {SANS}; font-size: {TEXT_SIZE}px; }}
.rtbot-marbles .title {{ font-size: {TITLE_SIZE}px; font-weight: 600; }}
.rtbot-marbles .code {{ font-family: {MONO}; }}
.rtbot-marbles .small {{ font-size: {SMALL}px; }}
.rtbot-marbles .line {{ fill: none; stroke-width: 1.5px; }}
.rtbot-marbles .later {{ fill: none; stroke-width: 1.2px; stroke-dasharray: 3 3; }}
.rtbot-marbles .removed {{ stroke-dasharray: 4 3; }}
"""


@dataclass(frozen=True)
class Marble:
    """A message or a change at a time; `released` is when it came out, if at another time.

    `removed` is whether a row goes away.
    """

    time: int
    label: str
    removed: bool = False
    released: int | None = None


@dataclass(frozen=True)
class Lane:
    """A stream: its name, its marbles in order, `detail` of its rows; `form` is input or output."""

    name: str
    form: str
    marbles: Sequence[Marble] = ()
    detail: str = ""


@dataclass
class _Layout:
    """Where times are, from left to right, and lanes, from top to bottom."""

    places: Mapping[int, float]
    left: float
    width: float
    tops: list[float] = field(default_factory=list)
    box: float = 0.0
    bottom: float = 0.0


def draw_marbles(title: str, settings: str, lanes: Sequence[Lane]) -> str:
    """Return the lanes of inputs, the operator, and the lanes of outputs as one SVG document.

    `title` is the operator, `settings` its parameters. Distances of times are as they are, but for
    long ones, which are shortened.
    """
    settings = shorten(settings, SETTINGS_ROOM, SMALL, mono=True)
    layout = _lay_out(title, settings, lanes)
    right = layout.left + layout.width
    parts = [
        *(_draw_lane(lane, top, layout) for lane, top in zip(lanes, layout.tops, strict=True)),
        _draw_box(title, settings, layout),
        *_draw_axis(layout),
    ]
    return svg_text.format_document(
        "rtbot-marbles",
        f"{title}: what goes in, and what comes out",
        _FIXED + svg_text.theme_rules(_format_colours, svg_text.BOX_LIGHT, svg_text.BOX_DARK),
        (right + MARGIN, layout.bottom),
        format_element("desc", escape(_describe(lanes), lines=True)),
        *parts,
    )


def _format_colours(colour: Mapping[str, str]) -> list[str]:
    look = ".rtbot-marbles"
    rules = [
        f"{look} .paper {{ fill: {colour['paper']}; }}",
        f"{look} text {{ fill: {colour['ink']}; }}",
        f"{look} .small {{ fill: {colour['quiet']}; }}",
        f"{look} .line {{ stroke: {colour['quiet']}; }}",
        f"{look} .arrow {{ fill: {colour['quiet']}; }}",
        f"{look} .tick {{ stroke: {colour['faint']}; }}",
        f"{look} .later {{ stroke: {colour['output-edge']}; }}",
        f"{look} .removed {{ fill: {colour['paper']}; }}",
    ]
    for form in ("input", "output", "operator"):
        edge = colour[f"{form}-edge"]
        rules.insert(0, f"{look} .{form} {{ fill: {colour[form]}; stroke: {edge}; }}")
    return rules


def _lay_out(title: str, settings: str, lanes: Sequence[Lane]) -> _Layout:
    names = [measure_width(lane.name, TEXT_SIZE, bold=True) for lane in lanes]
    names += [measure_width(lane.detail, SMALL) for lane in lanes]
    left = MARGIN + min(max(names), NAME_ROOM) + 14
    places, end = _place_times(lanes, left + LEAD)
    box = measure_width(title, TITLE_SIZE, bold=True) + 24
    box += measure_width(settings, SMALL, mono=True) + 12 if settings else 0.0
    begin, width = left + LEAD, max(end + TAIL - left, box)
    wider = (width - LEAD - TAIL) / max(end - begin, 1.0)
    layout = _Layout({t: begin + (at - begin) * wider for t, at in places.items()}, left, width)
    top = MARGIN
    for number, lane in enumerate(lanes):
        if lane.form == "output" and (not number or lanes[number - 1].form != "output"):
            layout.box = top
            top += BOX + LANE_GAP
        layout.tops.append(top)
        top += STACK * max(map(len, _stack(lane).values()), default=1) + LANE_GAP
    layout.bottom = top + AXIS
    return layout


def _place_times(lanes: Sequence[Lane], start: float) -> tuple[dict[int, float], float]:
    """Return where every time is: marbles do not overlap, and longer spans are wider."""
    rooms: dict[int, float] = {}
    for marble in (marble for lane in lanes for marble in lane.marbles):
        rooms[marble.time] = max(rooms.get(marble.time, PILL), _measure_pill(marble))
        if marble.released is not None:
            rooms.setdefault(marble.released, PILL)
    times = sorted(rooms)
    if not times:
        return {}, start
    spans = [later - time for time, later in pairwise(times)]
    unit = min(spans, default=1)
    at = start + rooms[times[0]] / 2
    places = {times[0]: at}
    for (time, later), span in zip(pairwise(times), spans, strict=True):
        at += (rooms[time] + rooms[later]) / 2 + GAP
        at += STRETCH * min(span / unit - 1, STRETCH_MAX)
        places[later] = at
    return places, at + rooms[times[-1]] / 2


def _measure_pill(marble: Marble) -> float:
    text = measure_width(shorten(marble.label, LABEL_ROOM, TEXT_SIZE), TEXT_SIZE)
    return max(PILL, text + 2 * PILL_PADDING)


def _stack(lane: Lane) -> dict[int, list[Marble]]:
    """Return the marbles by time, those of one time in order."""
    found: dict[int, list[Marble]] = {}
    for marble in lane.marbles:
        found.setdefault(marble.time, []).append(marble)
    return found


def _draw_lane(lane: Lane, top: float, layout: _Layout) -> str:
    middle, right = top + PILL / 2, layout.left + layout.width
    parts = [
        _draw_text(MARGIN, middle + 4, shorten(lane.name, NAME_ROOM, TEXT_SIZE, bold=True), "title")
    ]
    if lane.detail:
        detail = shorten(lane.detail, NAME_ROOM, SMALL)
        parts.append(_draw_text(MARGIN, middle + 18, detail, "small"))
    tip = f"M{format_coordinate(right)} {format_coordinate(middle)}l-7 -3.5v7z"
    parts += [
        _draw_path("line", (layout.left, middle), (right - 6, middle)),
        format_element("path", class_="arrow", d=tip),
    ]
    for time, marbles in _stack(lane).items():
        at = layout.places[time]
        for number, marble in enumerate(marbles):
            if marble.released is not None:
                start = (layout.places[marble.released], layout.box + BOX)
                parts.append(_draw_path("later", start, (at, top)))
            parts.append(_draw_pill(marble, lane.form, at, top + STACK * number))
    return format_element("g", *parts)


def _draw_pill(marble: Marble, form: str, at: float, top: float) -> str:
    width = _measure_pill(marble)
    label = shorten(marble.label, LABEL_ROOM, TEXT_SIZE)
    pill = format_element(
        "rect",
        class_=f"{form} removed" if marble.removed else form,
        x=at - width / 2,
        y=top,
        width=width,
        height=PILL,
        rx=PILL / 2,
    )
    return pill + _draw_text(at, top + PILL / 2 + 4, label, "label", anchor="middle")


def _draw_box(title: str, settings: str, layout: _Layout) -> str:
    middle = layout.box + BOX / 2
    box = format_element(
        "rect",
        class_="operator",
        x=layout.left,
        y=layout.box,
        width=layout.width,
        height=BOX,
        rx=6.0,
    )
    parts = [box, _draw_text(layout.left + 12, middle + 4.5, title, "title")]
    if settings:
        after = layout.left + 24 + measure_width(title, TITLE_SIZE, bold=True)
        parts.append(_draw_text(after, middle + 4.5, settings, "small code"))
    return format_element("g", *parts)


def _draw_axis(layout: _Layout) -> Iterator[str]:
    """Yield a tick and a text for every time, from left to right."""
    base = layout.bottom - AXIS
    reached = layout.left - GAP
    for time, at in layout.places.items():
        text = str(time)
        half = measure_width(text, SMALL) / 2
        yield _draw_path("tick", (at, base - 2), (at, base + 3))
        if at - half > reached:
            yield _draw_text(at, base + 15, text, "small", anchor="middle")
            reached = at + half + 4
    yield _draw_text(MARGIN, base + 15, "t", "small")


def _draw_path(look: str, start: tuple[float, float], end: tuple[float, float]) -> str:
    first, last = (f"{format_coordinate(x)} {format_coordinate(y)}" for x, y in (start, end))
    return format_element("path", class_=look, d=f"M{first}L{last}")


def _draw_text(x: float, y: float, text: str, look: str, anchor: str | None = None) -> str:
    return format_element("text", escape(text), class_=look, x=x, y=y, text_anchor=anchor)


def _describe(lanes: Sequence[Lane]) -> str:
    """Return what the picture shows, for those who cannot see it."""
    return "\n".join(
        f"{lane.form} {lane.name}: "
        + "; ".join(f"{marble.time}: {marble.label}" for marble in lane.marbles)
        for lane in lanes
    )
