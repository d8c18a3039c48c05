"""Rows that wait for their partners: the arrays of one pairing, for all keys and ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot import pairs
from rtbot.arrays import grown
from rtbot.kernels import FIRST, LAST

if TYPE_CHECKING:
    from rtbot.calls import PairCall


class Pool:
    """What waits in one pairing: lists of all keys and ports, and who is to be woken when."""

    def __init__(self, call: PairCall, capacity: int) -> None:
        self.call = call
        ports = len(call.ports)
        self.width = pairs.width(call.ports)
        self.header = np.zeros(pairs.tolerance_place(ports) + 1, np.int64)
        self.header[pairs.FREE] = -1
        self.header[pairs.tolerance_place(ports)] = call.tolerance
        for k in range(ports):
            self.header[pairs.header_place(k, pairs.FLOOR)] = FIRST
        self.queue = np.zeros(capacity * self.width)
        self.time = np.zeros(0, np.int64)
        self.value = np.zeros(0)
        self.valid = np.zeros(0, bool)
        self.next = np.zeros(0, np.int64)
        self.heaps = [(np.zeros(0, np.int64), np.zeros(0, np.int64)) for _ in call.ports]
        self.watched = [np.full(capacity, LAST) for _ in call.ports]
        self.moved = 0

    def grow(self, capacity: int) -> None:
        """Room for more keys."""
        self.queue = grown(self.queue, capacity * self.width, 0)
        self.watched = [grown(w, capacity, LAST) for w in self.watched]

    def reserve(self, rows: int, runs: int) -> None:
        """Room for `rows` more rows of `runs` keys, and for waking these keys."""
        ports = len(self.call.ports)
        blocks = int(self.header[pairs.FRESH]) + rows // pairs.BLOCK + min(rows, runs * ports) + 1
        if blocks > len(self.next):
            self.moved += 1
            blocks = max(blocks, 2 * len(self.next))
            self.next = grown(self.next, blocks, -1)
            rows = blocks * pairs.BLOCK
            self.time = grown(self.time, rows, 0)
            self.value = grown(self.value, rows, 0)
            self.valid = grown(self.valid, rows, 0)
        for k, (times, slots) in enumerate(self.heaps):
            size = int(self.header[pairs.header_place(k, pairs.WATCHED)]) + runs
            if size > len(times):
                self.moved += 1
                self.heaps[k] = grown(times, 2 * size, 0), grown(slots, 2 * size, 0)

    def most(self, *rows: int) -> int:
        """The most rows that can come out: what waits and what comes, of the ports that decide."""
        ports = self.call.ports
        coming = rows if len(rows) == len(ports) else rows * len(ports)
        waiting = [n + self.word(k, pairs.HELD) for k, n in enumerate(coming)]
        must = [n for n, p in zip(waiting, ports, strict=True) if p.role == "must"]
        return min(must) if must else sum(waiting)

    def word(self, port: int, word: int) -> int:
        """A word of a port's header."""
        return int(self.header[pairs.header_place(port, word)])

    def clear(self, slot: int) -> None:
        """Make the slot as new; nothing waits any more."""
        self.queue[slot * self.width : (slot + 1) * self.width] = 0
        for watched in self.watched:
            watched[slot] = LAST
