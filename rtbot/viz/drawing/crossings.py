"""The order within the layers, so that few wires cross.

Sweeps over the layers put every place where its neighbours are on average; between them neighbours
in a layer change places as long as that saves crossings (Gansner et al., "A technique for drawing
directed graphs", 1993). Ports count: two wires into one box cross if they arrive at its ports the
wrong way round.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtbot.viz.drawing.layers import LayeredGraph, Link

SWEEPS, PATIENCE, EXCHANGES = 32, 8, 8


class Ordering:
    """The order of a layered graph on its way to a better one."""

    def __init__(self, made: LayeredGraph) -> None:
        self.made = made
        self.before, self.after = made.neighbours()
        self.position = [0] * len(made.shapes)
        for layer in range(len(made.layers)):
            self._number(layer)

    def _number(self, layer: int) -> None:
        for position, place in enumerate(self.made.layers[layer]):
            self.position[place] = position

    def start(self, link: Link) -> float:
        """Return where a link starts within its layer, in places and parts of them."""
        shape = self.made.shapes[link.start]
        return self.position[link.start] + shape.outs[link.start_port] / shape.breadth

    def end(self, link: Link) -> float:
        """Return where a link ends within its layer."""
        shape = self.made.shapes[link.end]
        return self.position[link.end] + shape.ins[link.end_port] / shape.breadth

    def crossings(self) -> int:
        """Count the pairs of links that cross."""
        total = 0
        for layer in self.made.layers:
            links = [link for place in layer for link in self.after[place]]
            seen: list[float] = []
            for _, end in sorted((self.start(link), self.end(link)) for link in links):
                total += len(seen) - bisect_right(seen, end)
                insort(seen, end)
        return total

    def sweep(self, *, forward: bool, turned: bool) -> None:
        """Order every layer by where the neighbours in the layer before (or after) are.

        `turned` exchanges places that could be in either order.
        """
        count = len(self.made.layers)
        for layer in range(1, count) if forward else range(count - 2, -1, -1):
            order = self.made.layers[layer]
            wanted = {place: self._find_barycenter(place, forward=forward) for place in order}
            if turned:
                order.reverse()
            order.sort(key=wanted.__getitem__)
            self._number(layer)

    def _find_barycenter(self, place: int, *, forward: bool) -> float:
        if forward:
            ends = [self.start(link) for link in self.before[place]]
        else:
            ends = [self.end(link) for link in self.after[place]]
        return sum(ends) / len(ends) if ends else self.position[place] + 0.5

    def exchange(self) -> None:
        """Let neighbours in a layer change places while that saves crossings."""
        for _ in range(EXCHANGES):
            before = [list(layer) for layer in self.made.layers]
            for layer in range(len(self.made.layers)):
                self._exchange(layer)
            if self.made.layers == before:
                return

    def _exchange(self, layer: int) -> None:
        order = self.made.layers[layer]
        sides = {
            place: (
                sorted(self.start(link) for link in self.before[place]),
                sorted(self.end(link) for link in self.after[place]),
            )
            for place in order
        }
        for k in range(len(order) - 1):
            upper, lower = sides[order[k]], sides[order[k + 1]]
            now = sum(_count_inversions(a, b) for a, b in zip(upper, lower, strict=True))
            then = sum(_count_inversions(b, a) for a, b in zip(upper, lower, strict=True))
            if then < now:
                order[k], order[k + 1] = order[k + 1], order[k]
        self._number(layer)


def reduce_crossings(made: LayeredGraph) -> int:
    """Order the layers in place; return how many links cross."""
    ordering = Ordering(made)
    ordering.exchange()
    best, kept = ordering.crossings(), [list(layer) for layer in made.layers]
    stale = 0
    for sweep in range(SWEEPS):
        if not best or stale == PATIENCE:
            break
        ordering.sweep(forward=sweep % 2 == 0, turned=stale % 4 >= 2)
        ordering.exchange()
        found = ordering.crossings()
        stale = 0 if found < best else stale + 1
        if found < best:
            best, kept = found, [list(layer) for layer in made.layers]
    made.layers = kept
    return best


def _count_inversions(upper: list[float], lower: list[float]) -> int:
    """Count pairs that cross if the first place is above the second; both lists are sorted."""
    below, total = 0, 0
    for end in upper:
        while below < len(lower) and lower[below] < end:
            below += 1
        total += below
    return total
