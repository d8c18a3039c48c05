"""A laid-out graph as SVG: self-contained, for white and dark pages, readable without a mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.viz import svg_text
from rtbot.viz.drawing.faces import PADDING, PORT_GAP, PORT_SIZE, TITLE_SIZE, shorten_label
from rtbot.viz.svg_text import (
    MONO,
    SANS,
    escape,
    format_coordinate,
    format_element,
    shorten,
    wrap_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.viz.drawing.boxes import Box, BoxPort, Diagram
    from rtbot.viz.drawing.placement import DiagramLayout, Net, Point, Spot, WireSegment

MARGIN, NAME_LINE, DESCRIPTION_LINE, DESCRIPTION_LINES = 24.0, 22.0, 17.0, 3
WIDTH_MIN = 360.0
ARROW, ARROW_HALF, DOT = 7.0, 3.6, 3.2

LIGHT = svg_text.BOX_LIGHT | {
    "number": "#5f7389",
    "integer": "#14838c",
    "boolean": "#b96a0c",
    "text": "#8a52b8",
    "changes": "#b0406a",
    "vector": "#4f7a28",
}
DARK = svg_text.BOX_DARK | {
    "number": "#8fa3ba",
    "integer": "#3fb6bf",
    "boolean": "#e0973f",
    "text": "#b98be0",
    "changes": "#e0809f",
    "vector": "#98bf68",
}
KINDS = ("number", "integer", "boolean", "text", "changes", "vector")

_FIXED = f"""
.rtbot-graph text {{ font-family: {SANS}; }}
.rtbot-graph .name {{ font-size: 16px; font-weight: 600; }}
.rtbot-graph .description {{ font-size: 12.5px; }}
.rtbot-graph .title {{ font-size: {TITLE_SIZE}px; font-weight: 600; }}
.rtbot-graph .kind, .rtbot-graph .detail {{ font-size: 11.5px; }}
.rtbot-graph .code {{ font-size: 11.5px; font-family: {MONO}; }}
.rtbot-graph .port {{ font-size: {PORT_SIZE}px; }}
.rtbot-graph .type {{ font-size: {PORT_SIZE}px; font-weight: 400; }}
.rtbot-graph .wire {{ fill: none; stroke-width: 1.5px; stroke-linecap: round; }}
.rtbot-graph .looked-up {{ stroke-dasharray: 5 4; }}
.rtbot-graph .net:hover .wire {{ stroke-width: 3px; }}
.rtbot-graph .rule {{ stroke-width: 1px; }}
"""


def render_svg(diagram: Diagram, layout: DiagramLayout) -> str:
    """Return the picture as one SVG document."""
    room = max(layout.width, WIDTH_MIN)
    about = wrap_text(diagram.description, room, 12.5, DESCRIPTION_LINES)
    head = MARGIN + NAME_LINE + DESCRIPTION_LINE * len(about) + 6
    inset = MARGIN + (room - layout.width) / 2
    down = layout.down
    nets = [_draw_net(diagram, net, lines, down=down) for net, lines in layout.nets.items()]
    boxes = [_draw_box(b, s, down=down) for b, s in zip(diagram.boxes, layout.spots, strict=True)]
    return svg_text.format_document(
        "rtbot-graph",
        f"Graph {diagram.name}",
        _FIXED + svg_text.theme_rules(_format_colours, LIGHT, DARK),
        (room + 2 * MARGIN, head + layout.height + MARGIN),
        format_element("desc", escape(_describe_diagram(diagram))),
        *_draw_heading(shorten(diagram.name, room, 16, bold=True), about),
        format_element(
            "g",
            *nets,
            *boxes,
            transform=f"translate({format_coordinate(inset)} {format_coordinate(head)})",
        ),
    )


def _format_colours(colour: Mapping[str, str]) -> list[str]:
    strong = ".name, .rtbot-graph .title, .rtbot-graph .code, .rtbot-graph .label"
    rules = [
        f".paper {{ fill: {colour['paper']}; }}",
        f"text {{ fill: {colour['quiet']}; }}",
        f"{strong} {{ fill: {colour['ink']}; }}",
        f".rule {{ stroke: {colour['faint']}; }}",
    ]
    for form in ("input", "operator", "output"):
        edge = colour[f"{form}-edge"]
        rules.append(f".{form} {{ fill: {colour[form]}; stroke: {edge}; }}")
    for kind in KINDS:
        rules.append(f".wire.{kind} {{ stroke: {colour[kind]}; }}")
        rules.append(f".end.{kind} {{ fill: {colour[kind]}; }}")
    return [f".rtbot-graph {rule}" for rule in rules]


def _describe_diagram(diagram: Diagram) -> str:
    """Describe the graph in words, for those who do not see it."""
    parts = []
    for form in ("input", "operator", "output"):
        names = [box.title for box in diagram.boxes if box.form == form]
        parts.append(f"{form}s: {', '.join(names)}" if names else f"no {form}s")
    return f"{diagram.description} ({'; '.join(parts)})".strip()


def _draw_heading(name: str, about: list[str]) -> list[str]:
    lines = [("name", name), *(("description", line) for line in about)]
    return [
        _draw_text(class_, line, MARGIN, MARGIN + 14 + place * DESCRIPTION_LINE)
        for place, (class_, line) in enumerate(lines)
    ]


def _draw_text(class_: str, text: str, x: float, y: float, anchor: str | None = None) -> str:
    return format_element("text", escape(text), class_=class_, x=x, y=y, text_anchor=anchor)


def _draw_net(diagram: Diagram, net: Net, stretches: list[WireSegment], *, down: bool) -> str:
    """Draw all wires from one port: a curve per gap, and an arrow at every port they feed."""
    box, port, looked_up = net
    kind = diagram.boxes[box].outs[port].kind
    path = "".join(_draw_curve(stretch, down=down) for stretch in stretches)
    arrows = "".join(_draw_arrow(s.end, down=down) for s in stretches if s.feeds)
    dashed = " looked-up" if looked_up else ""
    return format_element(
        "g",
        format_element("title", escape(_describe_net(diagram, net, stretches))),
        format_element("path", class_=f"wire {kind}{dashed}", d=path),
        format_element("path", class_=f"end {kind}", d=arrows),
        class_="net",
    )


def _describe_net(diagram: Diagram, net: Net, stretches: list[WireSegment]) -> str:
    """Return where a net comes from, what it carries and what it feeds."""
    box, port, looked_up = net
    start, out = diagram.boxes[box], diagram.boxes[box].outs[port]
    ends = []
    for stretch in stretches:
        if stretch.feeds is not None:
            end, place = diagram.boxes[stretch.feeds[0]], stretch.feeds[1]
            ends.append(f"{end.title}.{end.ins[place].name}".rstrip("."))
    how = " (may be absent)" if looked_up else ""
    return f"{start.title}.{out.name}: {out.type} → {', '.join(ends)}{how}"


def _draw_curve(stretch: WireSegment, *, down: bool) -> str:
    """Draw from a port or a bend to the next: straight along its layer, then a curve."""
    (x, y), end = stretch.leave, stretch.end
    short = ARROW - 1 if stretch.feeds else 0.0
    if down:
        tip = (end[0], end[1] - short)
        middle = (y + end[1]) / 2
        bent = ((x, middle), (end[0], middle), tip)
    else:
        tip = (end[0] - short, end[1])
        middle = (x + end[0]) / 2
        bent = ((middle, y), (middle, end[1]), tip)
    start = f"M{_format_point(stretch.begin)}" + (
        "" if stretch.begin == stretch.leave else f"L{_format_point((x, y))}"
    )
    straight = x == end[0] if down else y == end[1]
    return start + (
        f"L{_format_point(tip)}" if straight else f"C{' '.join(map(_format_point, bent))}"
    )


def _draw_arrow(end: Point, *, down: bool) -> str:
    x, y = end
    if down:
        corners = ((x, y), (x - ARROW_HALF, y - ARROW), (x + ARROW_HALF, y - ARROW))
    else:
        corners = ((x, y), (x - ARROW, y - ARROW_HALF), (x - ARROW, y + ARROW_HALF))
    return f"M{'L'.join(map(_format_point, corners))}Z"


def _format_point(point: Point) -> str:
    return f"{format_coordinate(point[0])} {format_coordinate(point[1])}"


def _draw_box(box: Box, spot: Spot, *, down: bool) -> str:
    radius = spot.height / 2 if box.is_terminal else 7.0
    parts = [
        format_element("title", escape(box.tip, lines=True)),
        format_element(
            "rect",
            class_=box.form,
            x=spot.x,
            y=spot.y,
            width=spot.width,
            height=spot.height,
            rx=radius,
        ),
    ]
    if box.is_terminal:
        parts += _draw_terminal(box, spot)
    else:
        parts += [
            _draw_text(line.style, line.text, spot.x + PADDING, spot.y + line.baseline)
            for line in spot.face.lines
        ]
        parts += _draw_labels_across(box, spot) if down else _draw_labels_beside(box, spot)
    dots = zip(box.outs, spot.outs, strict=True)
    parts += [
        format_element("circle", class_=f"end {port.kind}", cx=x, cy=y, r=DOT)
        for port, (x, y) in dots
    ]
    return format_element("g", *parts)


def _draw_terminal(box: Box, spot: Spot) -> list[str]:
    """Name and type of an input or output, in its middle."""
    (line,) = spot.face.lines
    port = (box.ins or box.outs)[0]
    type_ = format_element("tspan", escape(port.type), class_=f"type end {port.kind}", dx="8")
    return [
        format_element(
            "text",
            escape(line.text),
            type_,
            class_="title",
            x=spot.x + spot.width / 2,
            y=spot.y + line.baseline,
            text_anchor="middle",
        )
    ]


def _draw_labels_beside(box: Box, spot: Spot) -> list[str]:
    rule = spot.y + spot.face.head - 3
    parts = [
        format_element(
            "line", class_="rule", x1=spot.x + 1, x2=spot.x + spot.width - 1, y1=rule, y2=rule
        )
    ]
    for port, (x, y) in zip(box.ins, spot.ins, strict=True):
        parts.append(_draw_port(port, x + PADDING, y + 3.6, "start"))
    for port, (x, y) in zip(box.outs, spot.outs, strict=True):
        parts.append(_draw_port(port, x - PADDING, y + 3.6, "end"))
    return parts


def _draw_labels_across(box: Box, spot: Spot) -> list[str]:
    parts = []
    for port, (x, y) in zip(box.ins, spot.ins, strict=True):
        parts.append(_draw_port(port, x, y + 14, "middle"))
    for port, (x, y) in zip(box.outs, spot.outs, strict=True):
        parts.append(_draw_port(port, x, y - 7, "middle"))
    return parts


def _draw_port(port: BoxPort, x: float, y: float, anchor: str) -> str:
    """Draw the label and the type of a port."""
    label = format_element("tspan", escape(shorten_label(port)), class_="label")
    type_ = format_element(
        "tspan", escape(port.type), class_=f"end {port.kind}", dx=format_coordinate(PORT_GAP)
    )
    return format_element("text", label, type_, class_="port", x=x, y=y, text_anchor=anchor)
