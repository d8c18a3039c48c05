"""Text that reads, takes and keeps the rows of one port of a pairing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.compiler.generated_text import indent_lines
from rtbot.compiler.pairing_layout import BLOCK, FREE, QUEUE

if TYPE_CHECKING:
    from rtbot.compiler.pairing_layout import PairingPort


class RowQueueCode:
    """The rows of a port at one key: those that wait in blocks of the pool, then the batch's own.

    In the text `hasK` is whether there is one, and `tK` is the time of the first; `leftK` wait, the
    first of them at place `atK` of `blockK`; those of the batch are `rK` to `eK`.
    """

    def __init__(self, number: int, port: PairingPort) -> None:
        self.number = number
        self.port = port

    def load(self) -> list[str]:
        """Write the start of a key."""
        k, place = self.number, QUEUE * self.number
        bounds = f"frontier{k}[slot], pinned{k}[slot], floor{k}, shift{k}, ending"
        return [
            f"f{k} = frontier_at({bounds})",
            f"r{k} = starts{k}[run]",
            f"e{k} = starts{k}[run + 1]",
            f"left{k} = Q[q + {place + 4}]",
            f"held{k} -= left{k}",
            f"block{k} = Q[q + {place}]",
            f"at{k} = Q[q + {place + 1}]",
            *self.front(),
        ]

    def front(self) -> list[str]:
        """Write the search for the first row."""
        k = self.number
        return [
            f"has{k} = True",
            f"t{k} = 0",
            f"if left{k} > 0:",
            f"    t{k} = pool_time[block{k} * {BLOCK} + at{k}]",
            f"elif r{k} < e{k}:",
            f"    t{k} = time{k}[r{k}]",
            "else:",
            f"    has{k} = False",
        ]

    def pop(self) -> list[str]:
        """Write the removal of the first row; an empty block goes back to the pool."""
        k = self.number
        return [
            f"if left{k} > 0:",
            f"    left{k} -= 1",
            f"    at{k} += 1",
            f"    if left{k} == 0 or at{k} == {BLOCK}:",
            f"        following = pool_next[block{k}]",
            f"        pool_next[block{k}] = header[{FREE}]",
            f"        header[{FREE}] = block{k}",
            f"        block{k} = following",
            f"        at{k} = 0",
            "else:",
            f"    r{k} += 1",
            *self.front(),
        ]

    def value(self, target: str, valid: str | None) -> list[str]:
        """Write a copy of the first row's value, and of its valid flag if that has a place."""
        k, nullable = self.number, self.port.type.nullable
        place = f"block{k} * {BLOCK} + at{k}"
        pooled = {
            "number": f"pool_F[{place}]",
            "boolean": f"pool_I[{place}] != 0",
        }.get(self.port.type.kind, f"pool_I[{place}]")
        old = [f"{target} = {pooled}"]
        new = [f"{target} = column{k}[r{k}]"]
        if valid is not None:
            old.append(f"{valid} = {f'pool_valid[{place}]' if nullable else 'True'}")
            new.append(f"{valid} = {f'valid{k}[r{k}]' if nullable else 'True'}")
        return [f"if left{k} > 0:", *indent_lines(old, 1), "else:", *indent_lines(new, 1)]

    def keep(self) -> list[str]:
        """Write the end of a key: what is left of the batch goes into blocks."""
        k, place = self.number, f"q + {QUEUE * self.number}"
        return [
            f"if left{k} == 0:",
            f"    block{k} = -1",
            f"if r{k} < e{k}:",
            f"    tail = Q[{place} + 2] if left{k} > 0 else -1",
            f"    used = Q[{place} + 3] if left{k} > 0 else {BLOCK}",
            f"    while r{k} < e{k}:",
            *indent_lines(self._keep_one(), 2),
            f"    Q[{place} + 2] = tail",
            f"    Q[{place} + 3] = used",
            f"Q[{place}] = block{k}",
            f"Q[{place} + 1] = at{k}",
            f"Q[{place} + 4] = left{k}",
            f"held{k} += left{k}",
        ]

    def _keep_one(self) -> list[str]:
        k = self.number
        value = {
            "number": f"pool_F[to] = column{k}[r{k}]",
            "boolean": f"pool_I[to] = 1 if column{k}[r{k}] else 0",
        }.get(self.port.type.kind, f"pool_I[to] = column{k}[r{k}]")
        return [
            f"if used == {BLOCK}:",
            "    fresh = take_block(header, pool_next)",
            "    if tail < 0:",
            f"        block{k} = fresh",
            f"        at{k} = 0",
            "    else:",
            "        pool_next[tail] = fresh",
            "    tail = fresh",
            "    used = 0",
            f"to = tail * {BLOCK} + used",
            f"pool_time[to] = time{k}[r{k}]",
            value,
            *([f"pool_valid[to] = valid{k}[r{k}]"] if self.port.type.nullable else []),
            "used += 1",
            f"left{k} += 1",
            f"r{k} += 1",
        ]


class LatestRowCode:
    """The latest row of a `last` port at one key; `offset` is its place in the key's words."""

    def __init__(self, number: int, port: PairingPort, offset: int) -> None:
        self.number = number
        self.place = f"q + {offset}"
        self.kind = port.type.kind
        self.value = f"{'QF' if self.kind == 'number' else 'Q'}[{self.place} + 3]"

    def load(self) -> list[str]:
        """Write the start of a key."""
        k, place = self.number, self.place
        return [
            f"known{k} = Q[{place}] != 0",
            f"known_time{k} = Q[{place} + 1]",
            f"known_valid{k} = Q[{place} + 2] != 0",
            f"known_value{k} = {self.value}{' != 0' if self.kind == 'boolean' else ''}",
        ]

    def keep(self) -> list[str]:
        """Write the end of a key."""
        k, place = self.number, self.place
        return [
            f"Q[{place}] = 1 if known{k} else 0",
            f"Q[{place} + 1] = known_time{k}",
            f"Q[{place} + 2] = 1 if known_valid{k} else 0",
            f"{self.value} = known_value{k}{' * 1' if self.kind == 'boolean' else ''}",
        ]
