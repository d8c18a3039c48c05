"""What is final: frontiers of streams per key, global frontiers of all keys, and their timers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.compiler.calls import RetimeCall
from rtbot.core.arrays import distinct, grow_array
from rtbot.runtime.kernels.rows import FIRST, LAST
from rtbot.runtime.reorder import ReorderBuffer
from rtbot.runtime.state_owner import restore_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

    from rtbot.compiler.calls import PairCall
    from rtbot.compiler.plan import Plan
    from rtbot.runtime.input_port import InputPort
    from rtbot.runtime.pairing_pool import PairingPool
    from rtbot.runtime.state_owner import Saved
    from rtbot.runtime.timers import Timers
    from rtbot.runtime.waiting_rows import Wakes

    Of = Callable[[Iterable[int]], int]


class FrontierTracker:
    """The progresses of a plan, by index: those of inputs are in their ports, the others here.

    `known` are the frontiers that operators keep themselves; LAST where they follow their source.
    """

    def __init__(
        self,
        plan: Plan,
        kernels: ModuleType,
        ports: Mapping[str, InputPort],
        pools: Sequence[PairingPool],
        timers: Mapping[str, Timers],
    ) -> None:
        self.plan = plan
        self.kernels = kernels
        self.input_ports = ports
        self.wakes: list[tuple[Wakes, tuple[int, int]]] = [
            (wakes, plan.streams[source].progress)
            for pool in pools
            for wakes, (source, _) in zip(pool.wakes, pool.call.sources, strict=True)
        ]
        self.wakes += [
            (timers[call.node], plan.streams[call.source].progress)
            for call in plan.calls
            if isinstance(call, RetimeCall) and call.closes
        ]
        self.frontiers: dict[int, np.ndarray] = {}
        self.held_back: dict[int, np.ndarray] = {}
        self.known: dict[int, np.ndarray] = {}
        for index, (kind, _) in enumerate(plan.progress):
            if kind != "input":
                self.frontiers[index] = np.full(1, FIRST)
                self.held_back[index] = np.zeros(1, np.uint8)
            if kind == "own":
                self.known[index] = np.full(1, LAST)

    def grow(self, capacity: int) -> None:
        """Make room for more keys."""
        for table, fill in ((self.frontiers, FIRST), (self.held_back, 0), (self.known, LAST)):
            for index, array in table.items():
                table[index] = grow_array(array, capacity, fill)

    def clear(self, slot: int) -> None:
        """Make the slot as new."""
        for index, array in self.frontiers.items():
            array[slot] = FIRST
            self.held_back[index][slot] = 0
        for array in self.known.values():
            array[slot] = LAST

    def list_text_codes(self, slots: np.ndarray | slice) -> Iterator[np.ndarray]:  # noqa: ARG002
        """Yield nothing: frontiers are times."""
        return iter(())

    def save(self, slots: np.ndarray) -> Saved:
        """Return the frontiers of these slots, by their names in the plan."""
        arrays = {name: array[slots] for name, array in self._list_arrays()}
        return {}, arrays

    def restore(self, values: Mapping[str, object], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what was saved."""
        del values
        for name, array in self._list_arrays():
            restore_rows(name, array, arrays[name])

    def _list_arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        names = self.plan.frontier_names
        tables = {"frontier": self.frontiers, "held_back": self.held_back, "known": self.known}
        for title, table in tables.items():
            for index, array in table.items():
                yield f"{names[index]}/{title}", array

    def lookup(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the frontier per key, and whether it holds whatever the global frontier is."""
        kind, of = self.plan.progress[index]
        if kind == "input":
            port = self.input_ports[of]
            return port.frontier, port.held_back
        return self.frontiers[index], self.held_back[index]

    def settle(self, index: int, slots: np.ndarray, floors: list[int]) -> None:
        """Update the frontiers of an operator that keeps its own, after it has run."""
        function, arguments = self.bind_settle(index, slots, floors)
        function(*arguments)

    def bind_settle(
        self, index: int, slots: np.ndarray, floors: list[int]
    ) -> tuple[Callable[..., None], tuple[Any, ...]]:
        """Return the function that does it, and its arguments."""
        source, shift = self.plan.progress[index][1]
        frontier, pinned = self.lookup(source)
        own = self.known[index], self.frontiers[index], self.held_back[index]
        arguments = (slots, len(slots), own[0], frontier, pinned, floors[source], shift, *own[1:])
        return self.kernels.settle, arguments

    def list_global_frontiers(self, any_of: Of = min) -> list[int]:
        """Return the global frontier of every progress: what holds for keys that wait for nothing.

        With `max` the latest that it can be for any key: behind a pairing that waits for every
        input, a key needs the global frontiers only of those inputs of which it has no late enough
        message.
        """
        floors: list[int] = []
        for kind, of in self.plan.progress:
            if kind == "input":
                floors.append(self.input_ports[of].floor)
            elif kind == "own":
                floors.append(shift_time(floors[of[0]], of[1]))
            else:
                floors.append(self._find_pair_frontier(self.plan.pairings[of], floors, any_of))
        return floors

    def _find_pair_frontier(self, call: PairCall, floors: list[int], any_of: Of) -> int:
        values = {}
        for k, (stream, _) in enumerate(call.sources):
            index, shift = self.plan.streams[stream].progress
            values[k] = shift_time(floors[index], shift)
        must = [values[k] for k, p in enumerate(call.ports) if p.role == "must"]
        return max(must) if must else any_of(values.values())

    def fire_timers(self) -> np.ndarray:
        """Return keys whose waiting rows, or what is due, the global frontiers may release or drop.

        Behind pairings behind pairings some still wait, and register again when they have run.
        """
        floors = self.list_global_frontiers(max)
        found = [
            wakes.fire(shift_time(floors[index], shift)) for wakes, (index, shift) in self.wakes
        ]
        return distinct(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def find_due_time(self) -> int | None:
        """Return the least time to which all inputs must advance before anything is released.

        None if nothing waits. All inputs must have been advanced to the same time before.
        """
        floors = self.list_global_frontiers()
        floor = min(port.floor for port in self.input_ports.values())
        found = [
            int(port.pool["time"][port.roots[port.roots >= 0]].min())
            for port in self.input_ports.values()
            if isinstance(port, ReorderBuffer) and port.counts["held"]
        ]
        for wakes, (index, shift) in self.wakes:
            wake = wakes.find_next()
            if wake is not None:
                lag = wake - shift_time(floors[index], shift)
                found.append(min(floor + max(lag, 1), LAST))
        return min(found, default=None)


def shift_time(time: int, shift: int) -> int:
    """Shift a time; the ends of the range stay where they are and bound the rest."""
    if time in (FIRST, LAST):
        return time
    return min(max(time + shift, FIRST), LAST)


def shift_times(times: np.ndarray, shift: int) -> np.ndarray:
    """Return what `shift_time` returns, of every time."""
    bound = LAST - shift if shift >= 0 else FIRST - shift
    beyond = times > bound if shift >= 0 else times < bound
    moved = np.where(beyond, LAST if shift >= 0 else FIRST, times + shift)
    return np.where((times == FIRST) | (times == LAST), times, moved)
