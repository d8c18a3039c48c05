"""What stands in a box, measured: lines of text, ports, and the room that they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbot.viz.drawing.layers import Shape
from rtbot.viz.svg_text import shortened, width, wrapped

if TYPE_CHECKING:
    from rtbot.viz.drawing.boxes import Box, Port

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


def face(box: Box, *, across: bool) -> Face:
    """Measure a box; `across` says that ports are above and below, and not at the sides."""
    if box.form != "operator":
        return _terminal(box)
    lines, top = [], PADDING - 2
    for text, style, step in _texts(box):
        lines.append(Line(text, style, top + step * 0.75))
        top += step
    room = max(_text_width(line) for line in lines)
    if across:
        rows = [_row_width(ports) for ports in (box.ins, box.outs)]
        lines = [Line(line.text, line.style, line.baseline + PORT_LINE) for line in lines]
        return Face(tuple(lines), 0.0, max(room, *rows) + 2 * PADDING, top + 8 + 2 * PORT_LINE)
    pairs = max(len(box.ins), len(box.outs))
    sides = sum(max(map(port_width, ports), default=0.0) for ports in (box.ins, box.outs))
    head = top + 7
    height = head + pairs * PORT_LINE + 7
    return Face(tuple(lines), head, max(room, sides + LABEL_GAP) + 2 * PADDING, height)


def _terminal(box: Box) -> Face:
    """An input or output of the graph: its name and type on one line."""
    title = shortened(box.title, TEXT_ROOM, TITLE_SIZE, bold=True)
    type_ = (box.ins or box.outs)[0].type
    room = width(title, TITLE_SIZE, bold=True) + 8 + width(type_, PORT_SIZE)
    return Face((Line(title, "title", 19.5),), 0.0, room + 2.6 * PADDING, TERMINAL_BREADTH)


def _texts(box: Box) -> list[tuple[str, str, float]]:
    title = shortened(box.title, TEXT_ROOM, TITLE_SIZE, bold=True)
    found = [(title, "title", TITLE_LINE)]
    if box.code:
        parts = wrapped(box.subtitle, TEXT_ROOM, TEXT_SIZE, CODE_LINES, mono=True)
        found += [(part, "code", TEXT_LINE) for part in parts]
    else:
        found.append((shortened(box.subtitle, TEXT_ROOM, TEXT_SIZE), "kind", TEXT_LINE))
    details = [shortened(text, TEXT_ROOM, TEXT_SIZE) for text in box.details]
    return found + [(text, "detail", TEXT_LINE) for text in details]


def _text_width(line: Line) -> float:
    if line.style == "title":
        return width(line.text, TITLE_SIZE, bold=True)
    return width(line.text, TEXT_SIZE, mono=line.style == "code")


def port_label(port: Port) -> str:
    """The label of a port, cut to the room it gets."""
    return shortened(port.label, PORT_ROOM, PORT_SIZE)


def port_width(port: Port) -> float:
    """How wide the label and the type of a port are."""
    return width(port_label(port), PORT_SIZE) + PORT_GAP + width(port.type, PORT_SIZE)


def _row_width(ports: tuple[Port, ...]) -> float:
    return sum(map(port_width, ports)) + LABEL_GAP * max(len(ports) - 1, 0)


def shape(box: Box, made: Face, *, across: bool) -> Shape:
    """The size of a box as the layout takes it, with the places of its ports."""
    if not across:
        ins, outs = (_down(box, ports, made) for ports in (box.ins, box.outs))
        return Shape(made.height, made.width, ins, outs)
    ins, outs = (_along(ports, made) for ports in (box.ins, box.outs))
    return Shape(made.width, made.height, ins, outs)


def _down(box: Box, ports: tuple[Port, ...], made: Face) -> tuple[float, ...]:
    if box.form != "operator":
        return (made.height / 2,)[: len(ports)]
    return tuple(made.head + (place + 0.5) * PORT_LINE for place in range(len(ports)))


def _along(ports: tuple[Port, ...], made: Face) -> tuple[float, ...]:
    """The middle of every port's label, all of them centred."""
    at, found = (made.width - _row_width(ports)) / 2, []
    for port in ports:
        found.append(at + port_width(port) / 2)
        at += port_width(port) + LABEL_GAP
    return tuple(found)
