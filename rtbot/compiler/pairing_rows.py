"""Text that reads, takes and keeps the rows of one port of a pairing."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from rtbot.compiler.generated_text import indent_lines
from rtbot.compiler.pairing_layout import (
    BLOCK,
    CELL,
    LATEST,
    QUEUE,
    list_widths,
    locate_free,
    name_store,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.compiler.pairing_layout import PairingPort


class RowQueueCode:
    """The rows of a port at one key: those that wait in blocks of the pool, then the batch's own.

    In the text `hasK` is whether there is one, and `tK` is the time of the first; `leftK` wait, the
    first of them at place `atK` of `blockK`; those of the batch are `rK` to `eK`.
    """

    def __init__(self, number: int, ports: Sequence[PairingPort]) -> None:
        self.number, self.port = number, ports[number]
        self.columns = number_columns(ports)[number]
        self.width = len(self.columns)
        store = list_widths(ports).index(self.width)
        self.free = locate_free(len(ports), store)
        names = ("pool_time", "pool_F", "pool_I", "pool_valid", "pool_next")
        self.time, self.floats, self.words, self.valid, self.next = (
            name_store(name, store) for name in names
        )

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
            f"    t{k} = {self.time}[block{k} * {BLOCK} + at{k}]",
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
            f"        following = {self.next}[block{k}]",
            f"        {self.next}[block{k}] = header[{self.free}]",
            f"        header[{self.free}] = block{k}",
            f"        block{k} = following",
            f"        at{k} = 0",
            "else:",
            f"    r{k} += 1",
            *self.front(),
        ]

    def values(self, target: str, valid: str) -> list[str]:
        """Write a copy of the first row's values, and of their valid flags if these have places.

        In the targets `#` is the number of the column.
        """
        k = self.number
        old: list[str] = []
        new: list[str] = []
        for c, type_, out in zip(self.columns, self.port.types, self.port.outs, strict=True):
            place = self._place(c, f"block{k}", f"at{k}")
            pooled = {
                "number": f"{self.floats}[{place}]",
                "boolean": f"{self.words}[{place}] != 0",
            }.get(type_.kind, f"{self.words}[{place}]")
            old.append(f"{target} = {pooled}".replace("#", str(c)))
            new.append(f"{target} = column{c}[r{k}]".replace("#", str(c)))
            if out.nullable:
                flags = (f"{self.valid}[{place}]", f"valid{c}[r{k}]")
                kept, given = flags if type_.nullable else ("True", "True")
                old.append(f"{valid} = {kept}".replace("#", str(c)))
                new.append(f"{valid} = {given}".replace("#", str(c)))
        return [f"if left{k} > 0:", *indent_lines(old, 1), "else:", *indent_lines(new, 1)]

    def _place(self, column: int, block: str, at: str) -> str:
        """Return where a value is: in a block are those of its first column, then of the next."""
        line = f"({block} * {self.width} + {column - self.columns[0]})"
        return f"{block if self.width == 1 else line} * {BLOCK} + {at}"

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
        values: list[str] = []
        for c, type_ in zip(self.columns, self.port.types, strict=True):
            to = "to" if self.width == 1 else self._place(c, "tail", "used")
            value = f"column{c}[r{k}]"
            values.append(
                {
                    "number": f"{self.floats}[{to}] = {value}",
                    "boolean": f"{self.words}[{to}] = 1 if {value} else 0",
                }.get(type_.kind, f"{self.words}[{to}] = {value}")
            )
            values += [f"{self.valid}[{to}] = valid{c}[r{k}]"] if type_.nullable else []
        return [
            f"if used == {BLOCK}:",
            f"    fresh = take_block(header, {self.free}, {self.next})",
            "    if tail < 0:",
            f"        block{k} = fresh",
            f"        at{k} = 0",
            "    else:",
            f"        {self.next}[tail] = fresh",
            "    tail = fresh",
            "    used = 0",
            f"to = tail * {BLOCK} + used",
            f"{self.time}[to] = time{k}[r{k}]",
            *values,
            "used += 1",
            f"left{k} += 1",
            f"r{k} += 1",
        ]


class LatestRowCode:
    """The latest row of a `last` port at one key; `offset` is its place in the key's words."""

    def __init__(self, number: int, ports: Sequence[PairingPort], offset: int) -> None:
        self.number = number
        self.place = f"q + {offset}"
        self.cells = []
        for place, c in enumerate(number_columns(ports)[number]):
            kind, cell = ports[number].types[place].kind, offset + LATEST + CELL * place
            words = "QF" if kind == "number" else "Q"
            self.cells.append((c, kind, f"Q[q + {cell}]", f"{words}[q + {cell} + 1]"))

    def load(self) -> list[str]:
        """Write the start of a key."""
        k, place = self.number, self.place
        lines = [f"known{k} = Q[{place}] != 0", f"known_time{k} = Q[{place} + 1]"]
        for c, kind, flag, value in self.cells:
            lines.append(f"known_valid{c} = {flag} != 0")
            lines.append(f"known_value{c} = {value}{' != 0' if kind == 'boolean' else ''}")
        return lines

    def keep(self) -> list[str]:
        """Write the end of a key."""
        k, place = self.number, self.place
        lines = [f"Q[{place}] = 1 if known{k} else 0", f"Q[{place} + 1] = known_time{k}"]
        for c, kind, flag, value in self.cells:
            lines.append(f"{flag} = 1 if known_valid{c} else 0")
            lines.append(f"{value} = known_value{c}{' * 1' if kind == 'boolean' else ''}")
        return lines


def number_columns(ports: Sequence[PairingPort]) -> list[range]:
    """Return the numbers of the columns of every port, counted over all ports."""
    ends = [0, *accumulate(len(port.types) for port in ports)]
    return [range(start, end) for start, end in pairwise(ends)]
