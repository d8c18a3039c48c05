"""The content of a box, measured: lines of text, ports, and the room that they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbot.viz.drawing.layers import BoxShape
from rtbot.viz.svg_text import measure_width, shorten, wrap_text

if TYPE_CHECKING:
    from rtbot.viz.drawing.boxes import Box, BoxPort

TITLE_SIZE, TEXT_SIZE, PORT_SIZE = 13.0, 11.5, 10.5
TITLE_LINE, TEXT_LINE, PORT_LINE = 18.0, 15.0, 16.0
PADDING, LABEL_GAP, PORT_GAP = 12.0, 22.0, 5.0
TEXT_ROOM, PORT_ROOM = 230.0, 110.0
CODE_LINES = 3
TERMINAL_BREADTH = 30.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in a box: its style and where its baseline is below the top."""

    text: str
    style: str
    baseline: float


@dataclass(frozen=True, slots=True)
class Face:
    """The look of a box: lines, where its ports begin below the top, its size."""

    lines: tuple[Line, ...]
    head: float
    width: float
    height: float


def measure_face(box: Box, *, across: bool) -> Face:
    """Measure a box; `across` is whether ports are above and below, and not at the sides."""
    if box.is_terminal:
        return _measure_terminal(box)
    lines, top = [], PADDING - 2
    for text, style, step in _list_texts(box):
        lines.append(Line(text, style, top + step * 0.75))
        top += step
    room = max(_measure_line(line) for line in lines)
    if across:
        rows = [_measure_row(ports) for ports in (box.ins, box.outs)]
        lines = [Line(line.text, line.style, line.baseline + PORT_LINE) for line in lines]
        return Face(tuple(lines), 0.0, max(room, *rows) + 2 * PADDING, top + 8 + 2 * PORT_LINE)
    pairs = max(len(box.ins), len(box.outs))
    sides = sum(max(map(measure_port, ports), default=0.0) for ports in (box.ins, box.outs))
    head = top + 7
    height = head + pairs * PORT_LINE + 7
    return Face(tuple(lines), head, max(room, sides + LABEL_GAP) + 2 * PADDING, height)


def _measure_terminal(box: Box) -> Face:
    """Measure an input or output of the graph: its name and type on one line."""
    title = shorten(box.title, TEXT_ROOM, TITLE_SIZE, bold=True)
    type_ = (box.ins or box.outs)[0].type
    room = measure_width(title, TITLE_SIZE, bold=True) + 8 + measure_width(type_, PORT_SIZE)
    return Face((Line(title, "title", 19.5),), 0.0, room + 2.6 * PADDING, TERMINAL_BREADTH)


def _list_texts(box: Box) -> list[tuple[str, str, float]]:
    title = shorten(box.title, TEXT_ROOM, TITLE_SIZE, bold=True)
    found = [(title, "title", TITLE_LINE)]
    if box.code:
        parts = wrap_text(box.subtitle, TEXT_ROOM, TEXT_SIZE, CODE_LINES, mono=True)
        found += [(part, "code", TEXT_LINE) for part in parts]
    else:
        found.append((shorten(box.subtitle, TEXT_ROOM, TEXT_SIZE), "kind", TEXT_LINE))
    details = [shorten(text, TEXT_ROOM, TEXT_SIZE) for text in box.details]
    return found + [(text, "detail", TEXT_LINE) for text in details]


def _measure_line(line: Line) -> float:
    if line.style == "title":
        return measure_width(line.text, TITLE_SIZE, bold=True)
    return measure_width(line.text, TEXT_SIZE, mono=line.style == "code")


def shorten_label(port: BoxPort) -> str:
    """Shorten the label of a port to the room it gets."""
    return shorten(port.label, PORT_ROOM, PORT_SIZE)


def measure_port(port: BoxPort) -> float:
    """Return how wide the label and the type of a port are."""
    return (
        measure_width(shorten_label(port), PORT_SIZE)
        + PORT_GAP
        + measure_width(port.type, PORT_SIZE)
    )


def _measure_row(ports: tuple[BoxPort, ...]) -> float:
    return sum(map(measure_port, ports)) + LABEL_GAP * max(len(ports) - 1, 0)


def measure_shape(box: Box, made: Face, *, across: bool) -> BoxShape:
    """Return the size of a box as the layout takes it, with the places of its ports."""
    if not across:
        ins, outs = (_place_down(box, ports, made) for ports in (box.ins, box.outs))
        return BoxShape(made.height, made.width, ins, outs)
    ins, outs = (_place_along(ports, made) for ports in (box.ins, box.outs))
    return BoxShape(made.width, made.height, ins, outs)


def _place_down(box: Box, ports: tuple[BoxPort, ...], made: Face) -> tuple[float, ...]:
    if box.is_terminal:
        return (made.height / 2,)[: len(ports)]
    return tuple(made.head + (place + 0.5) * PORT_LINE for place in range(len(ports)))


def _place_along(ports: tuple[BoxPort, ...], made: Face) -> tuple[float, ...]:
    """Return the middle of every port's label, all of them centred."""
    at, found = (made.width - _measure_row(ports)) / 2, []
    for port in ports:
        found.append(at + measure_port(port) / 2)
        at += measure_port(port) + LABEL_GAP
    return tuple(found)
