"""Places across the flow: wires straight where they can be, boxes where their neighbours are.

After Brandes and Köpf, "Fast and simple horizontal coordinate assignment" (2001), with ports:
places are joined to blocks so that ports, not centres, are aligned. Four layouts (from both ends of
the layers and of every layer) are made; each place gets the mean of the two middle ones.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rtbot.viz.drawing.layers import LayeredGraph, Link

BOX_GAP, BEND_GAP = 22.0, 11.0


def assign_coordinates(made: LayeredGraph) -> list[float]:
    """Return for every place where it begins across the flow, from 0 on."""
    if not made.layers:
        return []
    crossing = set(_find_conflicts(made))
    layouts = [
        _Alignment(made, crossing, forward=forward, upward=upward).layout()
        for forward in (True, False)
        for upward in (True, False)
    ]
    return _balance(made, layouts)


def _balance(made: LayeredGraph, layouts: list[list[float]]) -> list[float]:
    """Bring the layouts together at the ends of the narrowest; take the mean of the middle two."""
    breadths = [shape.breadth for shape in made.shapes]
    spans = [(min(layout), max(map(sum, zip(layout, breadths, strict=True)))) for layout in layouts]
    first, last = min(spans, key=lambda span: span[1] - span[0])
    moved = []
    for place, (layout, (low, high)) in enumerate(zip(layouts, spans, strict=True)):
        shift = first - low if place % 2 == 0 else last - high
        moved.append([at + shift for at in layout])
    middle = [sum(sorted(ats)[1:3]) / 2 for ats in zip(*moved, strict=True)]
    start = min(middle)
    return [at - start for at in middle]


def _find_conflicts(made: LayeredGraph) -> Iterator[Link]:
    """Find links that cross a link between two bends: of the two, the long wire stays straight."""
    position = {place: k for layer in made.layers for k, place in enumerate(layer)}
    _, after = made.neighbours()
    for layer in made.layers:
        links = [link for place in layer for link in after[place]]
        inner = [link for link in links if made.is_bend(link.start) and made.is_bend(link.end)]
        ends = sorted((position[link.start], position[link.end]) for link in inner)
        for link in links:
            if made.is_bend(link.start) and made.is_bend(link.end):
                continue
            start, end = position[link.start], position[link.end]
            if any((s < start and e > end) or (s > start and e < end) for s, e in ends):
                yield link


class _Alignment:
    """One of the four layouts: `forward` aligns with the layer before, `upward` packs to 0."""

    def __init__(
        self, made: LayeredGraph, crossing: set[Link], *, forward: bool, upward: bool
    ) -> None:
        self.made, self.crossing = made, crossing
        self.forward, self.upward = forward, upward
        self.layers = [layer if upward else layer[::-1] for layer in made.layers]
        self.position = {p: k for layer in self.layers for k, p in enumerate(layer)}
        self.root = list(range(len(made.shapes)))
        self.inner = [0.0] * len(made.shapes)

    def layout(self) -> list[float]:
        """Return where every place begins; only differences matter."""
        self._align()
        starts = self._compact()
        found = [starts[root] + at for root, at in zip(self.root, self.inner, strict=True)]
        if self.upward:
            return found
        return [-at - shape.breadth for at, shape in zip(found, self.made.shapes, strict=True)]

    def _offset(self, link: Link, *, end: bool) -> float:
        """Return where a port is from the side of its place that is packed first."""
        shape = self.made.shapes[link.end if end else link.start]
        at = shape.ins[link.end_port] if end else shape.outs[link.start_port]
        return at if self.upward else shape.breadth - at

    def _align(self) -> None:
        """Join every place with a middle one of its neighbours, if no other join is crossed."""
        before, after = self.made.neighbours()
        links = before if self.forward else after
        joined: set[int] = set()
        for layer in self.layers if self.forward else reversed(self.layers):
            reached = -1
            for place in layer:
                free = (
                    link
                    for link in self._middle(links[place])
                    if link not in self.crossing
                    and self._other(link) not in joined
                    and self.position[self._other(link)] > reached
                )
                if (link := next(free, None)) is not None:
                    joined.add(self._other(link))
                    reached = self.position[self._other(link)]
                    self._join(place, link)

    def _join(self, place: int, link: Link) -> None:
        """Align a place with the other end of one of its links."""
        other = self._other(link)
        shift = self._offset(link, end=not self.forward) - self._offset(link, end=self.forward)
        self.root[place] = self.root[other]
        self.inner[place] = self.inner[other] + shift

    def _other(self, link: Link) -> int:
        return link.start if self.forward else link.end

    def _middle(self, links: list[Link]) -> Iterable[Link]:
        """Return the one or two links in the middle, by where they come from."""

        def key(link: Link) -> tuple[int, float]:
            return self.position[self._other(link)], self._offset(link, end=not self.forward)

        ordered = sorted(links, key=key)
        return ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]

    def _compact(self) -> dict[int, float]:
        """Put the blocks as near to 0 as their neighbours let them, then towards what follows."""
        gaps = self._gaps()
        order = _sort_blocks(gaps, dict.fromkeys(self.root))
        above: dict[int, list[tuple[int, float]]] = {block: [] for block in order}
        for upper, lowers in gaps.items():
            for lower, gap in lowers.items():
                above[lower].append((upper, gap))
        starts: dict[int, float] = {}
        for block in order:
            starts[block] = max((starts[u] + gap for u, gap in above[block]), default=0.0)
        for block in reversed(order):
            room = [starts[lower] - gap for lower, gap in gaps.get(block, {}).items()]
            starts[block] = max(starts[block], min(room, default=starts[block]))
        return starts

    def _gaps(self) -> dict[int, dict[int, float]]:
        """Return the least distance from a block to each that is directly behind it in a layer."""
        gaps: dict[int, dict[int, float]] = {}
        for layer in self.layers:
            for upper, lower in pairwise(layer):
                both = self.made.is_bend(upper) or self.made.is_bend(lower)
                gap = BEND_GAP if both else BOX_GAP
                gap += self.inner[upper] + self.made.shapes[upper].breadth - self.inner[lower]
                lowers = gaps.setdefault(self.root[upper], {})
                lowers[self.root[lower]] = max(lowers.get(self.root[lower], gap), gap)
        return gaps


def _sort_blocks(gaps: dict[int, dict[int, float]], blocks: Iterable[int]) -> list[int]:
    """Sort the blocks so that each comes after those before it."""
    waits = dict.fromkeys(blocks, 0)
    for lowers in gaps.values():
        for lower in lowers:
            waits[lower] += 1
    ready = [block for block, count in waits.items() if not count]
    for block in ready:
        for lower in gaps.get(block, {}):
            waits[lower] -= 1
            if not waits[lower]:
                ready.append(lower)
    assert len(ready) == len(waits), "blocks are in a cycle"
    return ready
