"""Boxes in layers: a rank for every box, and a bend wherever a wire passes through a layer.

The layout is the layered one of Sugiyama, Tagawa and Toda (1981), in steps: ranks here, the order
within a layer in `crossings`, places in `coordinates`. It has one direction only: ranks grow along
the flow, and a box has its breadth, and its ports, across it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.viz.drawing.boxes import Box, Wire

BEND_BREADTH = 4.0
SMALL = 30
"""Boxes of a graph that is small."""


@dataclass(frozen=True, slots=True)
class BoxShape:
    """The size of a box across and along the flow, and where its ports are across it."""

    breadth: float
    depth: float
    ins: tuple[float, ...] = ()
    outs: tuple[float, ...] = ()


BEND = BoxShape(BEND_BREADTH, 0.0, (BEND_BREADTH / 2,), (BEND_BREADTH / 2,))


@dataclass(frozen=True, slots=True)
class Link:
    """A part of a wire, from a place to one of the next layer; `net` is which wires share it."""

    start: int
    start_port: int
    end: int
    end_port: int
    net: tuple[int, int, bool]


@dataclass
class LayeredGraph:
    """Places (the boxes, then the bends), links between neighbouring layers, layers in order."""

    shapes: list[BoxShape]
    ranks: list[int]
    boxes: int
    links: list[Link] = field(default_factory=list)
    layers: list[list[int]] = field(default_factory=list)

    def is_bend(self, place: int) -> bool:
        """Return whether the place is a bend of a wire and no box."""
        return place >= self.boxes

    def neighbours(self) -> tuple[list[list[Link]], list[list[Link]]]:
        """Return the links into and out of every place."""
        before: list[list[Link]] = [[] for _ in self.shapes]
        after: list[list[Link]] = [[] for _ in self.shapes]
        for link in self.links:
            after[link.start].append(link)
            before[link.end].append(link)
        return before, after


def build_layers(
    boxes: Sequence[Box], wires: Sequence[Wire], shapes: Sequence[BoxShape]
) -> LayeredGraph:
    """Rank the boxes and lay the wires through the layers between.

    Wires from one port that look alike share their bends: one line branches where it has to.
    """
    made = LayeredGraph(list(shapes), rank_boxes(boxes, wires), len(boxes))
    made.layers = [[] for _ in range(max(made.ranks, default=-1) + 1)]
    bends: dict[tuple[tuple[int, int, bool], int], int] = {}
    for wire in wires:
        net = wire.start, wire.start_port, wire.looked_up
        start, port = wire.start, wire.start_port
        for rank in range(made.ranks[wire.start] + 1, made.ranks[wire.end]):
            if (net, rank) not in bends:
                bends[net, rank] = len(made.shapes)
                made.links.append(Link(start, port, len(made.shapes), 0, net))
                made.shapes.append(BEND)
                made.ranks.append(rank)
            start, port = bends[net, rank], 0
        made.links.append(Link(start, port, wire.end, wire.end_port, net))
    for place in _search_places(made):
        made.layers[made.ranks[place]].append(place)
    return made


def rank_boxes(boxes: Sequence[Box], wires: Sequence[Wire]) -> list[int]:
    """Give every box its layer: inputs first, the others after what feeds them.

    In a small graph the outputs are in the last layer; in a large one that would be lines across
    all of it. An operator that feeds more boxes than feed it is as late as it can be, so that wires
    are short.
    """
    ranks = [0] * len(boxes)
    before, after = defaultdict(set), defaultdict(set)
    for wire in wires:
        before[wire.end].add(wire.start)
        after[wire.start].add(wire.end)
    for box in range(len(boxes)):
        ranks[box] = max((ranks[start] + 1 for start in before[box]), default=0)
    last = max(ranks, default=0)
    for box in reversed(range(len(boxes))):
        if boxes[box].form == "output" and len(boxes) <= SMALL:
            ranks[box] = last
        elif boxes[box].form == "operator" and len(after[box]) > len(before[box]):
            ranks[box] = min(ranks[end] for end in after[box]) - 1
    return ranks


def _search_places(made: LayeredGraph) -> list[int]:
    """Order all places by a search from the first on: what is connected stays together."""
    _, after = made.neighbours()
    seen: dict[int, None] = {}
    for root in range(made.boxes):
        waiting = [root]
        while waiting:
            place = waiting.pop()
            if place not in seen:
                seen[place] = None
                waiting += [link.end for link in reversed(after[place])]
    return list(seen)
