"""What is final: frontiers of streams per key, floors of all keys, and whom a floor wakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.compiler import pairing_layout
from rtbot.core.arrays import distinct, grown
from rtbot.runtime.kernels.rows import FIRST, LAST
from rtbot.runtime.reorder import HeldFeed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import ModuleType

    from rtbot.compiler.calls import PairCall
    from rtbot.compiler.plan import Plan
    from rtbot.runtime.input_port import Feed
    from rtbot.runtime.pairing_pool import Pool

    Of = Callable[[Iterable[int]], int]


class Progress:
    """The progresses of a plan, by index: those of inputs lie in their feeds, the others here.

    `known` are the frontiers that operators keep themselves; LAST where they follow their source.
    """

    def __init__(
        self, plan: Plan, kernels: ModuleType, feeds: Mapping[str, Feed], pools: Sequence[Pool]
    ) -> None:
        self.plan = plan
        self.kernels = kernels
        self.feeds = feeds
        self.pools = pools
        self.frontiers: dict[int, np.ndarray] = {}
        self.pins: dict[int, np.ndarray] = {}
        self.known: dict[int, np.ndarray] = {}
        for index, (kind, _) in enumerate(plan.progress):
            if kind != "input":
                self.frontiers[index] = np.full(1, FIRST)
                self.pins[index] = np.zeros(1, np.uint8)
            if kind == "own":
                self.known[index] = np.full(1, LAST)

    def grow(self, capacity: int) -> None:
        """Room for more keys."""
        for table, fill in ((self.frontiers, FIRST), (self.pins, 0), (self.known, LAST)):
            for index, array in table.items():
                table[index] = grown(array, capacity, fill)

    def clear(self, slot: int) -> None:
        """Make the slot as new."""
        for index, array in self.frontiers.items():
            array[slot] = FIRST
            self.pins[index][slot] = 0
        for array in self.known.values():
            array[slot] = LAST

    def at(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Frontier per key, and whether it holds whatever the floor is."""
        kind, of = self.plan.progress[index]
        if kind == "input":
            feed = self.feeds[of]
            return feed.frontier, feed.pinned
        return self.frontiers[index], self.pins[index]

    def settle(self, index: int, slots: np.ndarray, floors: list[int]) -> None:
        """Bring the frontiers of an operator that keeps its own up to date, after it has run."""
        source, shift = self.plan.progress[index][1]
        frontier, pinned = self.at(source)
        self.kernels.settle(
            slots, len(slots), self.known[index], frontier, pinned, floors[source], shift,
            self.frontiers[index], self.pins[index],
        )  # fmt: skip

    def floors(self, any_of: Of = min) -> list[int]:
        """The floor of every progress: what holds for keys that wait for nothing.

        With `max` the latest that it can be for any key: behind a pairing that waits for every
        input, a key needs the floors of those inputs only that it has no late enough message of.
        """
        floors: list[int] = []
        for kind, of in self.plan.progress:
            if kind == "input":
                floors.append(self.feeds[of].floor)
            elif kind == "own":
                floors.append(shifted(floors[of[0]], of[1]))
            else:
                floors.append(self._pair_floor(self.plan.pairings[of], floors, any_of))
        return floors

    def _pair_floor(self, call: PairCall, floors: list[int], any_of: Of) -> int:
        values = {}
        for k, (stream, _) in enumerate(call.sources):
            index, shift = self.plan.streams[stream].progress
            values[k] = shifted(floors[index], shift)
        must = [values[k] for k, p in enumerate(call.ports) if p.role == "must"]
        return max(must) if must else any_of(values.values())

    def woken(self) -> np.ndarray:
        """Keys whose waiting rows the present floors may let go or drop.

        Behind pairings behind pairings some still wait, and register again when they have run.
        """
        floors = self.floors(max)
        found: list[np.ndarray] = []
        for pool in self.pools:
            for k, (stream, _) in enumerate(pool.call.sources):
                index, shift = self.plan.streams[stream].progress
                until = shifted(floors[index], shift)
                place = pairing_layout.header_place(k, pairing_layout.WATCHED)
                times, slots = pool.heaps[k]
                size = int(pool.header[place])
                out = np.empty(size, np.int64)
                size, taken = self.kernels.wake(times, slots, pool.watched[k], size, until, out)
                pool.header[place] = size
                found.append(out[:taken])
        return distinct(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def due(self) -> int | None:
        """The least time to which all inputs must advance before that lets go a row that waits.

        None if no row waits. All inputs must have been advanced to the same time before.
        """
        floors = self.floors()
        floor = min(feed.floor for feed in self.feeds.values())
        found = [
            int(feed.pool["time"][feed.roots[feed.roots >= 0]].min())
            for feed in self.feeds.values()
            if isinstance(feed, HeldFeed) and feed.counts["held"]
        ]
        for pool in self.pools:
            for k, (stream, _) in enumerate(pool.call.sources):
                index, shift = self.plan.streams[stream].progress
                wake = pool.next_wake(k, self.kernels)
                if wake is not None:
                    lag = wake - shifted(floors[index], shift)
                    found.append(min(floor + max(lag, 1), LAST))
        return min(found, default=None)


def shifted(time: int, shift: int) -> int:
    """A time moved; the ends of the range stay where they are and bound the rest."""
    if time in (FIRST, LAST):
        return time
    return min(max(time + shift, FIRST), LAST)


def all_shifted(times: np.ndarray, shift: int) -> np.ndarray:
    """Return what `shifted` returns, of every time."""
    bound = LAST - shift if shift >= 0 else FIRST - shift
    beyond = times > bound if shift >= 0 else times < bound
    moved = np.where(beyond, LAST if shift >= 0 else FIRST, times + shift)
    return np.where((times == FIRST) | (times == LAST), times, moved)
