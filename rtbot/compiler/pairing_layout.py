"""Pairings: where their words are, and the steps that their functions call.

Rows that wait are in lists of small blocks, all keys and ports of a pairing in one pool, so that a
push costs the same whatever waits. `rtbot.compiler.pairing_code` writes the functions.
"""

# ruff: noqa: PLR1714, SIM109 (numba compiles two comparisons better than a search in a tuple)

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbot.operator import Type, step

if TYPE_CHECKING:
    from collections.abc import Iterable

BLOCK = 8
"""Rows per block of the pool: one cache line of times."""
FIRST, LAST = -(2**63), 2**63 - 1
QUEUE = 5
WAITING = 4
"""Words per key and port: head block, place in it, tail block, rows in it, rows waiting."""
LATEST, CELL = 2, 2
"""Words per key and `last` port: its latest row's presence and time; then of every column its valid
flag and value."""

FREE, FRESH, ENDING = 0, 1, 2
PORT_WORDS = 5
FLOOR, SHIFT, LOST, HELD, WATCHED = 0, 1, 2, 3, 4
"""Words of a pairing's header: free list, first unused block, ending; then these of every port.

LOST counts rows that found no partner; rows of a `last` port need none, so there it counts the
times at which the port had no row.
"""


@dataclass(frozen=True)
class PairingPort:
    """A port of a pairing: the columns that come in together, and its role.

    They are one, or those of a vector or a record.
    """

    name: str
    types: tuple[Type, ...]
    role: str

    @property
    def outs(self) -> list[Type]:
        """The types after pairing."""
        return [type_ if self.role == "must" else type_.or_null() for type_ in self.types]


def locate_word(port: int, word: int) -> int:
    """Return the index of a port's word in the header."""
    return 3 + port * PORT_WORDS + word


def locate_tolerance(ports: int) -> int:
    """Return the index of the tolerance in the header."""
    return 3 + ports * PORT_WORDS


def count_latest_words(port: PairingPort) -> int:
    """Return the words of the latest row of a `last` port; 0 for another one."""
    return LATEST + CELL * len(port.types) if port.role == "last" else 0


def count_key_words(ports: list[PairingPort]) -> int:
    """Return the words per key."""
    return QUEUE * len(ports) + sum(map(count_latest_words, ports))


def list_widths(ports: Iterable[PairingPort]) -> list[int]:
    """Return the numbers of columns that ports have; those of one number share their blocks."""
    return list(dict.fromkeys(len(port.types) for port in ports))


def locate_free(ports: int, store: int) -> int:
    """Return the index of the free list of the blocks of a width; unused ones begin at the next."""
    return locate_tolerance(ports) + 2 * store - 1 if store else FREE


def name_store(name: str, store: int) -> str:
    """Return the name of an array of the blocks of a width."""
    return f"{name}{store}" if store else name


@step
def frontier_at(frontier, pinned, floor, shift, ending):  # noqa: ANN001, ANN201
    """The frontier of a port: nothing at or before it can still come."""
    if ending:
        return LAST
    if pinned == 0 and floor > frontier:
        frontier = floor
    if frontier == LAST or frontier == FIRST:
        return frontier
    if shift > 0 and frontier > LAST - shift:
        return LAST
    if shift < 0 and frontier < FIRST - shift:
        return FIRST
    return frontier + shift


@step
def near(time, other, tolerance):  # noqa: ANN001, ANN201
    """Whether `other` (at or before `time`) is at most `tolerance` older; -1 means any age."""
    return tolerance < 0 or time < FIRST + tolerance or other >= time - tolerance


@step
def take_block(header, free, pool_next):  # noqa: ANN001, ANN201
    """A free block of the pool; the caller has made sure that there is one."""
    block = header[free]
    if block >= 0:
        header[free] = pool_next[block]
    else:
        block = header[free + 1]
        header[free + 1] = block + 1
    return block


@step
def watch(heap_time, heap_slot, watched, header, size, slot, time):  # noqa: ANN001, ANN201
    """Wake the key when its port has passed `time`: a binary heap, lowest time first.

    `watched` has, per key, the time of its valid entry; an entry that differs from it is stale.
    """
    if time >= watched[slot]:
        return
    watched[slot] = time
    place = header[size]
    header[size] = place + 1
    while place > 0 and heap_time[(place - 1) // 2] > time:
        heap_time[place] = heap_time[(place - 1) // 2]
        heap_slot[place] = heap_slot[(place - 1) // 2]
        place = (place - 1) // 2
    heap_time[place] = time
    heap_slot[place] = slot


STEPS = (frontier_at, near, take_block, watch)
"""All that the function of a pairing may call."""
