"""From boxes and wires to places in a picture."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbot.viz.drawing.coordinates import assign_coordinates
from rtbot.viz.drawing.crossings import reduce_crossings
from rtbot.viz.drawing.faces import Face, measure_face, measure_shape
from rtbot.viz.drawing.layers import build_layers

if TYPE_CHECKING:
    from rtbot.viz.drawing.boxes import Diagram
    from rtbot.viz.drawing.layers import LayeredGraph, Link

    Point = tuple[float, float]
    Net = tuple[int, int, bool]

GAP, GAP_MAX, STEEPNESS = 52.0, 150.0, 0.22


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a box is, and where on its edge its ports are."""

    face: Face
    x: float
    y: float
    width: float
    height: float
    ins: tuple[Point, ...]
    outs: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class WireSegment:
    """A part of a wire: straight from `begin` to `leave`, then a curve to `end`.

    `leave` and `end` are at the two sides of the gap between two layers, where there is no box.
    `feeds` is the box and its port where the wire ends, None if it goes on.
    """

    begin: Point
    leave: Point
    end: Point
    feeds: tuple[int, int] | None


@dataclass(frozen=True)
class DiagramLayout:
    """Places of all boxes and wires; a net is a box, its port, and whether it is looked up."""

    spots: list[Spot]
    nets: dict[Net, list[WireSegment]]
    width: float
    height: float
    crossings: int
    down: bool


def lay_out(diagram: Diagram, direction: str = "right") -> DiagramLayout:
    """Lay out a diagram; `direction` is that of the flow: right or down."""
    across = direction == "down"
    faces = [measure_face(box, across=across) for box in diagram.boxes]
    shapes = [measure_shape(b, f, across=across) for b, f in zip(diagram.boxes, faces, strict=True)]
    made = build_layers(diagram.boxes, diagram.wires, shapes)
    crossings = reduce_crossings(made)
    depths = [max(made.shapes[place].depth for place in layer) for layer in made.layers]
    if not across:
        for box in range(made.boxes):
            made.shapes[box] = replace(made.shapes[box], depth=depths[made.ranks[box]])
    starts = assign_coordinates(made)
    tops = _place_layers(made, starts, depths)
    spots = [_place_box(made, box, starts, tops, faces[box]) for box in range(made.boxes)]
    breadth = max((s + h.breadth for s, h in zip(starts, made.shapes, strict=True)), default=0.0)
    depth = tops[-1] + depths[-1] if tops else 0.0
    nets = _route_nets(made, starts, tops, depths)
    if across:
        spots, nets = list(map(_transpose_spot, spots)), _transpose_nets(nets)
        breadth, depth = depth, breadth
    return DiagramLayout(spots, nets, depth, breadth, crossings, across)


def _place_layers(made: LayeredGraph, starts: list[float], depths: list[float]) -> list[float]:
    """Return where every layer begins along the flow: the steeper the wires, the wider the gap."""
    steepest = [0.0] * len(made.layers)
    for link in made.links:
        out, into = _place_ends(made, starts, link)
        rank = made.ranks[link.start]
        steepest[rank] = max(steepest[rank], abs(into - out))
    tops, at = [], 0.0
    for depth, rise in zip(depths, steepest, strict=True):
        tops.append(at)
        at += depth + min(GAP + STEEPNESS * max(rise - GAP, 0.0), GAP_MAX)
    return tops


def _place_ends(made: LayeredGraph, starts: list[float], link: Link) -> Point:
    """Return where a link begins and ends across the flow."""
    out = starts[link.start] + made.shapes[link.start].outs[link.start_port]
    return out, starts[link.end] + made.shapes[link.end].ins[link.end_port]


def _place_box(
    made: LayeredGraph, box: int, starts: list[float], tops: list[float], face: Face
) -> Spot:
    shape = made.shapes[box]
    x, y = tops[made.ranks[box]], starts[box]
    return Spot(
        face,
        x,
        y,
        shape.depth,
        shape.breadth,
        tuple((x, y + at) for at in shape.ins),
        tuple((x + shape.depth, y + at) for at in shape.outs),
    )


def _route_nets(
    made: LayeredGraph, starts: list[float], tops: list[float], depths: list[float]
) -> dict[Net, list[WireSegment]]:
    nets: dict[Net, list[WireSegment]] = defaultdict(list)
    for link in made.links:
        rank = made.ranks[link.start]
        out, into = _place_ends(made, starts, link)
        begin = tops[rank] + made.shapes[link.start].depth
        stretch = WireSegment(
            (begin, out),
            (tops[rank] + depths[rank], out),
            (tops[rank + 1], into),
            None if made.is_bend(link.end) else (link.end, link.end_port),
        )
        nets[link.net].append(stretch)
    return dict(nets)


def _transpose_spot(spot: Spot) -> Spot:
    """Return the same spot with the flow down."""
    ins, outs = (tuple((y, x) for x, y in ports) for ports in (spot.ins, spot.outs))
    return Spot(spot.face, spot.y, spot.x, spot.height, spot.width, ins, outs)


def _transpose_nets(nets: dict[Net, list[WireSegment]]) -> dict[Net, list[WireSegment]]:
    return {
        net: [WireSegment(s.begin[::-1], s.leave[::-1], s.end[::-1], s.feeds) for s in stretches]
        for net, stretches in nets.items()
    }
