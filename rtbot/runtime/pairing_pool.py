"""Rows that wait for their partners: the arrays of one pairing, for all keys and ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.compiler import pairing_layout
from rtbot.core.arrays import grow_array
from rtbot.runtime.kernels.rows import FIRST
from rtbot.runtime.state_owner import check_places, check_words, restore_rows
from rtbot.runtime.waiting_rows import SharedWakes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType
    from typing import Any

    from rtbot.compiler.calls import PairCall
    from rtbot.runtime.state_owner import Saved

BLOCK = pairing_layout.BLOCK
FIELDS = ("time", "value", "valid")
"""Arrays of rows that wait, a block of them after the other."""

SPARE, FEW = 4, 1024
"""An empty pool is made smaller if it has more than so many times the room that is needed, or that
so few blocks have."""


class RowBlocks:
    """Blocks of rows that wait at the ports of one number of columns, `width`.

    `free` is the place in the header of the pairing of the free list, and of what was never used.
    A block has `BLOCK` times, then as many values of the first column, of the next, and so on.
    """

    def __init__(self, width: int, header: np.ndarray, free: int) -> None:
        self.width, self.header, self.free = width, header, free
        header[free] = -1
        self.time = np.zeros(0, np.int64)
        self.value = np.zeros(0)
        self.valid = np.zeros(0, bool)
        self.next = np.zeros(0, np.int64)

    def reserve(self, wanted: int, *, empty: bool) -> bool:
        """Make room for so many more blocks, `empty` if nothing waits; return whether it moved."""
        if empty:
            self.header[self.free], self.header[self.free + 1] = -1, 0
        blocks = int(self.header[self.free + 1]) + wanted
        if blocks > len(self.next):
            self._hold(max(blocks, 2 * len(self.next)))
        elif blocks == wanted and len(self.next) > SPARE * max(wanted, FEW):
            self._hold(wanted)
        else:
            return False
        return True

    def _hold(self, blocks: int) -> None:
        self.next = grow_array(self.next, blocks, -1)
        rows = blocks * BLOCK
        self.time = grow_array(self.time, rows, 0)
        self.value = grow_array(self.value, rows * self.width, 0)
        self.valid = grow_array(self.valid, rows * self.width, 0)

    def name_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by the names that the function of the pairing has for them."""
        return {
            "pool_time": self.time,
            "pool_F": self.value,
            "pool_I": self.value.view(np.int64),
            "pool_valid": self.valid,
            "pool_next": self.next,
        }

    def take_rows(self, field: str, places: np.ndarray) -> np.ndarray:
        """Return a field of the rows at these places, block by block; 0 where a place is -1."""
        array: np.ndarray = getattr(self, field)
        width = 1 if field == "time" else self.width
        found = np.zeros((len(places) // BLOCK, width, BLOCK), array.dtype)
        rows = np.flatnonzero(places >= 0)
        before = places[rows]
        blocks = array.reshape(-1, width, BLOCK)
        found[rows // BLOCK, :, rows % BLOCK] = blocks[before // BLOCK, :, before % BLOCK]
        return found.ravel()

    def restore(self, arrays: Mapping[str, np.ndarray]) -> int:
        """Restore fields that were saved, and return how many blocks there are."""
        blocks = check_words("next", arrays["next"], self.next.dtype)
        for field in FIELDS:
            rows = blocks * BLOCK * (1 if field == "time" else self.width)
            if check_words(field, arrays[field], getattr(self, field).dtype) != rows:
                raise ValueError(f"{field}: {len(arrays[field])} values in {blocks} blocks")
            setattr(self, field, arrays[field])
        self.next = arrays["next"]
        self.header[self.free], self.header[self.free + 1] = -1, blocks
        check_places(self.next, blocks)
        return blocks


class PairingPool:
    """The rows that wait in one pairing: lists of all keys and ports, and timers of keys."""

    def __init__(self, call: PairCall, kernels: ModuleType, capacity: int) -> None:
        self.call = call
        self.kernels = kernels
        ports = len(call.ports)
        self.width = pairing_layout.count_key_words(call.ports)
        widths = pairing_layout.list_widths(call.ports)
        words = pairing_layout.locate_free(ports, len(widths))
        self.header = np.zeros(max(words, pairing_layout.locate_tolerance(ports) + 1), np.int64)
        self.blocks = [
            RowBlocks(width, self.header, pairing_layout.locate_free(ports, store))
            for store, width in enumerate(widths)
        ]
        self.stores = [widths.index(len(port.types)) for port in call.ports]
        self.header[pairing_layout.locate_tolerance(ports)] = call.tolerance
        for k in range(ports):
            self.write_word(k, pairing_layout.FLOOR, FIRST)
        self.queue = np.zeros(capacity * self.width)
        places = [pairing_layout.locate_word(k, pairing_layout.WATCHED) for k in range(ports)]
        self.wakes = [SharedWakes(kernels, capacity, self.header, place) for place in places]
        self.held = [pairing_layout.locate_word(k, pairing_layout.HELD) for k in range(ports)]
        self.moved = 0

    def grow(self, capacity: int) -> None:
        """Make room for so many keys; those beyond are as new."""
        for wakes in self.wakes:
            wakes.grow(capacity)
        self.queue = grow_array(self.queue, capacity * self.width, 0)

    def reserve(self, rows: int, runs: int) -> None:
        """Make room for `rows` more rows of `runs` keys, and for timers of these keys."""
        ports = len(self.call.ports)
        words = self.header.tolist()
        empty = not any(words[place] for place in self.held)
        wanted = rows // BLOCK + min(rows, runs * ports) + 1
        for blocks in self.blocks:
            self.moved += blocks.reserve(wanted, empty=empty)
        for wakes in self.wakes:
            wakes.reserve(runs)

    def count_rows_max(self, *rows: int) -> int:
        """Return the most rows that can come out: those waiting and coming at deciding ports."""
        ports = self.call.ports
        coming = rows if len(rows) == len(ports) else rows * len(ports)
        waiting = [n + self.read_word(k, pairing_layout.HELD) for k, n in enumerate(coming)]
        must = [n for n, p in zip(waiting, ports, strict=True) if p.role == "must"]
        return min(must) if must else sum(waiting)

    def list_text_codes(self, slots: np.ndarray | slice) -> Iterator[np.ndarray]:
        """Return the codes of texts that wait, or are the latest of their port for these slots."""
        queue = self.queue.view(np.int64).copy()
        latest = pairing_layout.QUEUE * len(self.call.ports)
        for k, port in enumerate(self.call.ports):
            texts = [place for place, type_ in enumerate(port.types) if type_.kind == "text"]
            if texts:
                places, store = self._pack(queue, k, 0)[0], self.blocks[self.stores[k]]
                values = store.take_rows("value", places).view(np.int64)
                waiting = values.reshape(-1, store.width, BLOCK)[:, texts].swapaxes(1, 2)
                yield waiting.reshape(-1, len(texts))[places >= 0].ravel()
            for place in texts if port.role == "last" else ():
                cell = latest + pairing_layout.LATEST + pairing_layout.CELL * place
                yield queue[cell + 1 :: self.width][slots]
            latest += pairing_layout.count_latest_words(port)

    def _pack(self, queue: np.ndarray, port: int, fresh: int) -> tuple[np.ndarray, np.ndarray]:
        """Renumber the blocks of a port in words of keys, from `fresh` on.

        Returns, for every place in them, where its row is now, or -1, and the block after each.
        """
        runs = len(queue) // self.width
        left = queue[pairing_layout.QUEUE * port + pairing_layout.WAITING :: self.width]
        blocks = int((-(-left // BLOCK)).sum())
        places, following = np.full(blocks * BLOCK, -1), np.full(blocks, -1)
        first = pairing_layout.QUEUE * port
        chain = self.blocks[self.stores[port]].next
        self.kernels.pack(queue, runs, self.width, first, chain, fresh, places, following)
        return places, following

    def read_word(self, port: int, word: int) -> int:
        """Return a word of a port's header."""
        return int(self.header[pairing_layout.locate_word(port, word)])

    def write_word(self, port: int, word: int, value: int) -> None:
        """Set a word of a port's header."""
        self.header[pairing_layout.locate_word(port, word)] = value

    def clear(self, slot: int) -> None:
        """Make the slot as new; nothing waits any more."""
        self.queue[slot * self.width : (slot + 1) * self.width] = 0
        for wakes in self.wakes:
            wakes.clear(slot)

    def name_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by the names that the function of the pairing has for them."""
        found = {
            "Q": self.queue.view(np.int64),
            "QF": self.queue,
            "header": self.header,
        }
        for store, blocks in enumerate(self.blocks):
            arrays = blocks.name_arrays().items()
            found |= {pairing_layout.name_store(name, store): array for name, array in arrays}
        for k, wakes in enumerate(self.wakes):
            found[f"heap_time{k}"], found[f"heap_slot{k}"] = wakes.time, wakes.slot
            found[f"watch{k}"] = wakes.watched
        return found

    # ---- saving

    def save(self, slots: np.ndarray) -> Saved:
        """Return what was lost by port, the words of keys, and rows that wait, without gaps."""
        queue = self.queue.reshape(-1, self.width)[slots].ravel()
        ports = range(len(self.call.ports))
        arrays = {"queue": queue}
        for store, blocks in enumerate(self.blocks):
            parts, fresh = [], 0
            for port in ports:
                if self.stores[port] == store:
                    parts.append(self._pack(queue.view(np.int64), port, fresh))
                    fresh += len(parts[-1][1])
            places = np.concatenate([places for places, _ in parts])
            found = {"next": np.concatenate([following for _, following in parts])}
            found |= {field: blocks.take_rows(field, places) for field in FIELDS}
            named = found.items()
            arrays |= {pairing_layout.name_store(name, store): array for name, array in named}
        arrays |= {f"watched.{k}": wakes.watched[slots] for k, wakes in enumerate(self.wakes)}
        return {"lost": [self.read_word(port, pairing_layout.LOST) for port in ports]}, arrays

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what was saved; what follows from it is computed again."""
        restore_rows("queue", self.queue, arrays["queue"], self.width)
        counts = []
        for store, blocks in enumerate(self.blocks):
            names = ("next", *FIELDS)
            counts.append(
                blocks.restore({n: arrays[pairing_layout.name_store(n, store)] for n in names})
            )
        heads = self.queue.view(np.int64).reshape(-1, self.width)
        for port, lost in zip(range(len(self.call.ports)), values["lost"], strict=True):
            first = pairing_layout.QUEUE * port
            check_places(heads[:, first], counts[self.stores[port]])
            restore_rows("watched", self.wakes[port].watched, arrays[f"watched.{port}"])
            self.wakes[port].rebuild()
            self.write_word(port, pairing_layout.LOST, lost)
            waiting = int(heads[:, first + pairing_layout.WAITING].sum())
            self.write_word(port, pairing_layout.HELD, waiting)
