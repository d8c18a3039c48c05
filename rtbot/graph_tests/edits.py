"""Changes of a text at the places of its nodes; what is not changed stays as it is."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING

from rtbot.graph.document import ScalarNode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.graph.document import MappingNode
    from rtbot.graph.document import SequenceNode as ListNode

WIDTH = 100
HANG_MAX = 40
"""A list that begins further to the right continues near the margin, else below its beginning."""

CLOSING = 3
"""Columns kept free at the end of a list for brackets that may follow."""


class Edits:
    """Changes of a text, as (start, end, new text); they do not overlap."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.changes: list[tuple[int, int, str]] = []

    def change(self, start: int, end: int, text: str) -> None:
        """Replace a part of the text, or insert between two characters."""
        if self.source[start:end] != text:
            self.changes.append((start, end, text))

    def apply(self, original: str) -> str:
        """Return the original with the changes; it may end lines by CR LF where `source` has LF."""
        breaks = [found.start() - k for k, found in enumerate(re.finditer("\r\n", original))]
        line_end = "\r\n" if breaks else "\n"
        parts, at = [], 0
        for start, end, text in sorted(self.changes, key=lambda change: change[:2]):
            begin = start + bisect_left(breaks, start)
            parts += [original[at:begin], text.replace("\n", line_end)]
            at = end + bisect_left(breaks, end)
        return "".join(parts) + original[at:]

    def column(self, at: int) -> int:
        """Return the column of a place, from 0."""
        return at - self.source.rfind("\n", 0, at) - 1

    def indent(self, at: int) -> int:
        """Return how far the line of a place is indented."""
        start = at - self.column(at)
        return len(self.source[start:]) - len(self.source[start:].lstrip(" "))

    def line_end(self, at: int) -> int:
        """Return where the line of a place ends."""
        found = self.source.find("\n", at)
        return len(self.source) if found < 0 else found

    def key(self, mapping: MappingNode, name: str) -> tuple[int, int]:
        """Return where a key is."""
        mark = mapping.keys[name]
        lines = self.source.split("\n", mark.line - 1)
        start = len(self.source) - len(lines[-1]) + mark.column - 1
        return start, start + mark.length

    def value(self, mapping: MappingNode, name: str, make: Sequence[str]) -> None:
        """Put a flow list instead of a value, or where it is missing."""
        node = mapping.items[name]
        _, key_end = self.key(mapping, name)
        colon = self.source.find(":", key_end, node.start)
        at = key_end if colon < 0 else colon + 1
        before = ": " if colon < 0 else " "
        text = format_flow(make, self.column(at) + len(before), self.indent(at))
        if isinstance(node, ScalarNode) and node.missing:
            self.change(at, at, before + text)
        elif "\n" in self.source[at : node.start]:
            self.change(at, at, before + text)
            self.change(self.line_end(at), node.end, "")
        else:
            self.change(
                node.start, node.end, format_flow(make, self.column(node.start), self.indent(at))
            )


def format_flow(items: Sequence[str], column: int, indent: int) -> str:
    """Return a list in brackets that begins in a column, on as many lines as it needs."""
    text = f"[{', '.join(items)}]"
    if column + len(text) + CLOSING <= WIDTH or not items:
        return text
    hang = hang_column(column, indent)
    lines = ["["]
    start = column
    for item in items:
        line = lines[-1] + (" " if lines[-1] != "[" and lines[-1] else "") + item + ","
        if lines[-1] and start + len(line) + CLOSING > WIDTH:
            lines.append(item + ",")
            start = hang
        else:
            lines[-1] = line
    return ("\n" + " " * hang).join(lines)[:-1] + "]"


def format_braces(
    entries: Sequence[tuple[str, str | Sequence[str]]], column: int, indent: int
) -> str:
    """Return entries as they are in braces, from a column on; each on its own line if need be.

    A value is a list of items, or the text of one that stays as it is.
    """

    def told(value: str | Sequence[str], column: int) -> str:
        return value if isinstance(value, str) else format_flow(value, column, indent)

    line = ", ".join(f"{key}: {told(value, 0)}" for key, value in entries)
    if column + len(line) + CLOSING <= WIDTH and "\n" not in line:
        return line
    margin = hang_column(column - 1, indent)
    lines = [f"{key}: {told(value, margin + len(key) + 2)}" for key, value in entries]
    first = f"\n{' ' * margin}" if margin != column else ""
    return first + f",\n{' ' * margin}".join(lines)


def hang_column(column: int, indent: int) -> int:
    """Return the column in which a list in brackets goes on that begins in a column."""
    return column + 1 if column <= HANG_MAX else indent + 4


def splice_rows(edits: Edits, node: ListNode, rows: Sequence[tuple[str, int]]) -> str:
    """Return the text of a list with these rows, (text, its index in the list before or -1).

    A row of the list keeps the comment behind it and the lines of comments before it.
    """
    source, comma = edits.source, "," if node.flow else ""
    head = source[node.start : node.items[0].start]
    leads, comments = [head], []
    for left, right in pairwise(node.items):
        comment, lead = _split_gap(source[left.end : right.start])
        comments.append(comment)
        leads.append(lead)
    comment, tail = _split_gap(source[node.items[-1].end : node.end])
    comments.append(comment)
    usual = "\n" + " " * edits.column(node.start) + "- "
    if node.flow:
        usual = next((lead for lead in leads[1:] if "\n" in lead and "#" not in lead), " ")
    text = ""
    for number, (row, index) in enumerate(rows):
        lead = leads[index] if index > 0 else usual
        if number == 0:
            lead = ("[" + lead if node.flow else lead.lstrip()) if "#" in lead else head
        text = _append_comment(text, lead, edits.column(node.start)) + row
        text += comma if number < len(rows) - 1 else ""
        text += comments[index] if index >= 0 else ""
    text = _append_comment(text, tail, edits.column(node.start))
    column = edits.column(node.start)
    too_wide = any(len(line) > WIDTH for line in (" " * column + text).split("\n"))
    if node.flow and too_wide and "#" not in "".join([*leads, *comments]):
        return format_flow([row for row, _ in rows], column, edits.indent(node.start))
    return text


def _append_comment(text: str, following: str, column: int) -> str:
    """Return a text with what follows it, on a new line if a comment is before it."""
    hidden = "#" in text.rpartition("\n")[2] and not following.startswith("\n") and following
    return f"{text}\n{' ' * (column + 1)}{following.lstrip()}" if hidden else text + following


def _split_gap(gap: str) -> tuple[str, str]:
    """Separate what is between rows: the comment behind the first, and what leads to the next."""
    found = re.match(r"(?:\s*,)?([ ]*#[^\n]*)?", gap)
    assert found is not None
    return found[1] or "", gap[found.end() :]
