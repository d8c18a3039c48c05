"""The part of a group loop that finds groups: keys, their table, and what is read in advance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.relations.group_counters import (
    AHEAD,
    BLOCKS,
    COUNT,
    FULL_GROUPS,
    GROUPS,
    MASK,
    MOST_AHEAD,
    ROW,
    ROWS_OUT,
    TRANSACTION,
)
from rtbot.relations.group_layout import TREES, USED

if TYPE_CHECKING:
    from rtbot.relations.group_layout import GroupLayout

FETCHED = "words, records, table, nodes, table_mask, scratch"
"""What the function that reads in advance works on."""


def indent_lines(lines: list[str], depth: int = 1) -> list[str]:
    """Return lines of text further to the right."""
    return ["    " * depth + line for line in lines]


class KeyWriter:
    """Writes what a loop does with the keys of one operator."""

    def __init__(self, name: str, layout: GroupLayout) -> None:
        self.name, self.layout = name, layout
        self.fields = len(layout.source.fields)
        self.keys = len(layout.by)
        self.results = len(layout.target.fields)
        self.has_masks = layout.target.nullable
        self.masks: dict[int, int] = {}
        """Bits of the keys in the mask words of the row that is emitted."""
        for key, place in enumerate(layout.by):
            if layout.is_nullable(place):
                word = self.results + key // 63
                self.masks[word] = self.masks.get(word, 0) | 1 << key % 63

    def name_words(self) -> list[str]:
        """Return the names of the words of a key: values, then masks."""
        return [f"key{k}" for k in range(self.keys)] + [f"mask{word}" for word in self.masks]

    def load_keys(self) -> list[str]:
        """Return lines that read the words of the key of a row."""
        lines = [f"key{k} = words[base + {place}]" for k, place in enumerate(self.layout.by)]
        lines += [f"mask{word} = 0" for word in self.masks]
        for key, place in enumerate(self.layout.by):
            if self.layout.is_nullable(place):
                bit = f"words[base + {self.fields + place // 63}] >> {place % 63} & 1"
                lines.append(f"mask{self.results + key // 63} |= ({bit}) << {key % 63}")
        return lines

    def load_known(self, at: str) -> list[str]:
        """Return lines that read the words of the key of a record."""
        row = self.layout.row
        lines = [f"key{k} = records[{at} + {row + k}]" for k in range(self.keys)]
        return lines + [
            f"mask{word} = records[{at} + {row + word}] & {bits}"
            for word, bits in self.masks.items()
        ]

    def write_hash(self) -> str:
        """Write the hash of a key."""
        names = self.name_words()
        lines = [f"def {self.name}_hash({', '.join(names)}):"]
        lines.append(f"    value = spread_bits({names[0]})")
        lines += [f"    value = spread_bits(value ^ {other})" for other in names[1:]]
        return "\n".join([*lines, "    return value", ""])

    def call_hash(self) -> str:
        """Return the call of the hash."""
        return f"{self.name}_hash({', '.join(self.name_words())})"

    def compare_keys(self) -> str:
        """Return the condition that the record `slot` has this key."""
        row = self.layout.row
        at = f"records[slot * {self.layout.width} + "
        parts = [f"{at}{row + k}] == key{k}" for k in range(self.keys)]
        parts += [f"{at}{row + word}] & {bits} == mask{word}" for word, bits in self.masks.items()]
        return " and ".join(f"({part})" for part in parts)

    def search_table(self) -> list[str]:
        """Return lines that find the group of a key; `slot` is 0 where there is none."""
        return [
            f"place = {self.call_hash()} & table_mask",
            "slot = table[place]",
            f"while slot > 0 and not ({self.compare_keys()}):",
            "    place = (place + 1) & table_mask",
            "    slot = table[place]",
        ]

    def find_group(self) -> list[str]:
        """Return lines that find the group of a row, or make it."""
        if not self.keys:
            return ["slot = 1"]
        layout = self.layout
        return [
            *self.call_fetch(),
            *self.load_keys(),
            *self.search_table(),
            "if slot == 0:",
            f"    if counters[{GROUPS + 2}] < 1:",
            *indent_lines(self.leave(FULL_GROUPS), 2),
            f"    slot = take_entry({GROUPS}, counters, records, {layout.width})",
            "    table[place] = slot",
            f"    at = slot * {layout.width}",
            "    records[at] = 0",
            f"    records[at + 1] = {USED}",
            *(f"    records[at + {layout.row + k}] = key{k}" for k in range(self.keys)),
            *(f"    records[at + {layout.row + word}] = mask{word}" for word in self.masks),
        ]

    def write_fill(self) -> str:
        """Write the function that puts all groups into an empty table."""
        width = self.layout.width
        lines = [
            f"def {self.name}_fill(records, table, counters):",
            f"    table_mask = counters[{MASK}]",
            f"    for slot in range(1, counters[{GROUPS + 1}] + 1):",
            f"        if records[slot * {width} + 1] & {USED} != 0:",
            *indent_lines(self.load_known(f"slot * {width}"), 3),
            f"            place = {self.call_hash()} & table_mask",
            "            while table[place] > 0:",
            "                place = (place + 1) & table_mask",
            "            table[place] = slot",
            "",
        ]
        return "\n".join(lines)

    def forget_group(self) -> list[str]:
        """Return lines that take the group `slot` out, and move later ones of the table up."""
        width = self.layout.width
        blocks = [
            f"free_block(at + {word}, {BLOCKS}, records, counters, blocks, {self.layout.block})"
            for word in self.layout.list_blocks()
        ]
        return [
            *self.load_known("at"),
            f"place = {self.call_hash()} & table_mask",
            "while table[place] != slot:",
            "    place = (place + 1) & table_mask",
            "table[place] = 0",
            *blocks,
            f"free_entry(slot, {GROUPS}, counters, records, {width})",
            "place = (place + 1) & table_mask",
            "while table[place] > 0:",
            "    slot = table[place]",
            "    table[place] = 0",
            *indent_lines(self.load_known(f"slot * {width}")),
            f"    hole = {self.call_hash()} & table_mask",
            "    while table[hole] > 0:",
            "        hole = (hole + 1) & table_mask",
            "    table[hole] = slot",
            "    place = (place + 1) & table_mask",
        ]

    def find_tree(self) -> tuple[int, str] | None:
        """Return a tree to look into in advance: its word in a record, and text of a value."""
        layout = self.layout
        for key, at in layout.places.items():
            if key.name in TREES and layout.kind(key.place) != "text" and layout.by:
                word = f"words[base + {key.place}]"
                return at, f"order_bits({word})" if layout.kind(key.place) == "number" else word
        return None

    def write_fetch(self, tree: int, value: str) -> str:
        """Write the function that reads what rows will find in a tree: many at one time."""
        layout = self.layout
        lines = [
            f"def {self.name}_fetch(first, last, {FETCHED}):",
            "    for row in range(first, last):",
            f"        base = row * {layout.source.width}",
            *indent_lines(self.load_keys(), 2),
            *indent_lines(self.search_table(), 2),
            f"        scratch[row - first] = records[slot * {layout.width} + {tree}]",
            f"        scratch[{MOST_AHEAD} + row - first] = {value}",
            f"    fetch_paths(last - first, {MOST_AHEAD}, nodes, scratch)",
            "",
        ]
        return "\n".join(lines)

    def call_fetch(self) -> list[str]:
        """Return lines that read in advance what the next rows will find."""
        if self.find_tree() is None:
            return []
        last = "min(row + ahead, starts[last])"
        return [
            f"ahead = counters[{AHEAD}]",
            "if ahead > 0 and row & (ahead - 1) == 0:",
            f"    {self.name}_fetch(row, {last}, {FETCHED})",
        ]

    def leave(self, code: int) -> list[str]:
        """Return lines that keep where the loop is, and return."""
        return [
            f"counters[{TRANSACTION}] = transaction",
            f"counters[{ROW}] = row",
            f"counters[{COUNT}] = count",
            f"counters[{ROWS_OUT}] = emitted",
            f"return {code}",
        ]
