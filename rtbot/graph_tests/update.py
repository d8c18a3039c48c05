"""Filling in and correcting what tests expect, in place: all other text stays as it is."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from rtbot.core.errors import graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.graph.check.test_changes import FieldCells
from rtbot.graph.document import Document, MappingNode, ScalarNode, SequenceNode, parse_yaml
from rtbot.graph.document.parse import BYTES_MAX
from rtbot.graph.document.text import decode_text, normalise_text
from rtbot.graph.model import Input
from rtbot.graph.output_types import find_type
from rtbot.graph_tests.edits import (
    CLOSING,
    WIDTH,
    Edits,
    format_braces,
    format_flow,
    hang_column,
    splice_rows,
)
from rtbot.graph_tests.test_files import encode_row_file, read_column_names, resolve_beside
from rtbot.storage.files import Files
from rtbot.tables.forms import TIME_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rtbot.graph_tests.compare_rows import OutputComparison, RowPair
    from rtbot.graph_tests.outcome import Outcome
    from rtbot.graph_tests.run_tests import Suite

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def update(suite: Suite, outcomes: Iterable[Outcome]) -> list[str]:
    """Make the file of the graph expect what these outcomes of its tests have.

    Returns the paths that were written, none if nothing had to change. Tests that fail by an error
    stay as they are. Raises GraphError if the file cannot be edited, OSError if it cannot be
    written.
    """
    failed = [outcome for outcome in outcomes if outcome.differences]
    document = suite.document
    edits = Edits(document.source)
    tests = document.root.items.get("tests")
    for outcome in failed:
        assert isinstance(tests, SequenceNode)
        node = tests.items[suite.tests.index(outcome.test)]
        assert isinstance(node, MappingNode)
        _Editor(edits, node, outcome).edit()
    written = [path for outcome in failed for path in _write_files(suite, outcome)]
    if edits.changes:
        _write_document(document, edits)
        written.append(document.file)
    return written


def _write_document(document: Document, edits: Edits) -> None:
    path = document.file
    data = Files().read(path, BYTES_MAX + len(BYTE_ORDER_MARK))
    original = decode_text(data, path, BYTES_MAX)
    start = SourceSpan(path, 1, 1)
    if normalise_text(original, path, BYTES_MAX) != document.source:
        raise graph_error("RT150", start, "the file has changed while its tests ran", "try again")
    if len(original.replace("\r\n", "\n")) != len(document.source):
        hint = "write them as themselves"
        raise graph_error(
            "RT150", start, "characters escaped in two halves, as \\ud83d\\ude00", hint
        )
    text = edits.apply(original)
    parse_yaml(text, path)
    mark = BYTE_ORDER_MARK if data.startswith(BYTE_ORDER_MARK) else b""
    Files().write(os.path.realpath(path), mark + text.encode())


class _Editor:
    """Changes of one test."""

    def __init__(self, edits: Edits, node: MappingNode, outcome: Outcome) -> None:
        self.edits = edits
        self.node = node
        self.outcome = outcome
        self.notation = outcome.notation

    def edit(self) -> None:
        before = len(self.edits.changes)
        fresh = []
        for comparison in self.outcome.differences:
            if comparison.output not in self.outcome.test.expect:
                fresh.append(comparison)
            elif not comparison.file:
                self.correct(comparison)
        if fresh:
            self.add(fresh)
        self.refit(before, fresh)

    def rows(self, comparison: OutputComparison) -> list[tuple[str, int]]:
        """Return the rows that came out, each with its place in the list before, or -1.

        A row that is right stays as it is written.
        """
        expect, rows = self.node.items.get("expect"), []
        old = expect.items.get(comparison.output) if isinstance(expect, MappingNode) else None
        written = isinstance(old, SequenceNode) and bool(old.items)
        for pair in comparison.pairs if written else sorted(comparison.pairs, key=_rank_release):
            if pair.emitted is not None and pair.equal and isinstance(old, SequenceNode):
                kept = old.items[pair.index]
                rows.append((self.edits.source[kept.start : kept.end], pair.index))
            elif pair.emitted is not None:
                rows.append((self.notation.row(pair.emitted), pair.index))
        return rows

    def texts(self, comparison: OutputComparison) -> list[str]:
        return [text for text, _ in self.rows(comparison)]

    def correct(self, comparison: OutputComparison) -> None:
        """Change the rows of an output that differ, and no others."""
        expect = self.node.items["expect"]
        assert isinstance(expect, MappingNode)
        node = expect.items[comparison.output]
        if isinstance(node, SequenceNode) and node.items and comparison.emitted:
            text = splice_rows(self.edits, node, self.rows(comparison))
            self.edits.change(node.start, node.end, text)
        else:
            self.edits.value(expect, comparison.output, self.texts(comparison))

    def add(self, fresh: list[OutputComparison]) -> None:
        """Expect rows of outputs of which nothing was expected, or that they emit nothing."""
        expect, node = self.node.items.get("expect"), self.node
        moved = {comparison.output for comparison in fresh if comparison.silent}
        left = [name for name in self.outcome.test.emits_nothing if name not in moved]
        if moved and not left and expect is None:
            self.replace("emits_nothing", fresh)
            return
        if moved:
            self.edits.value(node, "emits_nothing", list(map(self.notation.text, left)))
        if isinstance(expect, MappingNode) and expect.items:
            self.extend(expect, fresh)
        elif expect is None:
            self.insert(fresh)
        else:
            self.replace("expect", fresh)

    def replace(self, name: str, fresh: list[OutputComparison]) -> None:
        """Replace an entry of the test by `expect`."""
        start, _ = self.edits.key(self.node, name)
        text = self.entry(fresh, self.edits.column(start), self.edits.indent(start))
        self.edits.change(start, self.end_of(name), text)

    def extend(self, expect: MappingNode, fresh: list[OutputComparison]) -> None:
        """Add entries to those of `expect`."""
        edits = self.edits
        if expect.flow:
            at = max(item.end for item in expect.items.values())
            edits.change(at, at, self.join_entry(at, expect, partial(self.inside, fresh)))
        else:
            at = edits.line_end(expect.end)
            edits.change(at, at, "".join(self.below(fresh, edits.column(expect.start))))

    def insert(self, fresh: list[OutputComparison]) -> None:
        """Add `expect` after `given`, or at the end of the test."""
        edits, node = self.edits, self.node
        at = self.end_of("given" if "given" in node.items else list(node.items)[-1])
        if node.flow:
            edits.change(at, at, self.join_entry(at, node, partial(self.entry, fresh)))
        else:
            at, column = edits.line_end(at), edits.column(node.start)
            edits.change(at, at, f"\n{' ' * column}{self.entry(fresh, column, column)}")

    def refit(self, before: int, fresh: list[OutputComparison]) -> None:
        """Put the entries of `expect` on lines of their own if one line has become too long."""
        expect, edits = self.node.items.get("expect"), self.edits
        if not isinstance(expect, MappingNode) or not expect.flow or not expect.items:
            return
        start, end = expect.start, expect.end
        mine = [c for c in edits.changes[before:] if start <= c[0] and c[1] <= end]
        grown = sum(len(text) - (stop - begin) for begin, stop, text in mine)
        line = edits.column(start) + end - start + grown + CLOSING
        if not mine or "\n" in edits.source[start:end] or line <= WIDTH:
            return
        edits.changes[before:] = [c for c in edits.changes[before:] if c not in mine]
        wrong = {one.output: one for one in self.outcome.differences if not one.file}
        entries: list[tuple[str, str | list[str]]] = []
        for name, item in expect.items.items():
            begin, stop = edits.key(expect, name)
            old = edits.source[item.start : item.end]
            entries.append(
                (edits.source[begin:stop], self.texts(wrong[name]) if name in wrong else old)
            )
        entries += [(self.notation.text(one.output), self.texts(one)) for one in fresh]
        inside = format_braces(entries, edits.column(start) + 1, edits.indent(start))
        edits.change(start, end, f"{{{inside}}}")

    def join_entry(self, at: int, node: MappingNode, make: Callable[[int, int], str]) -> str:
        """Return an entry, made for a column and an indentation, after the others in braces.

        It is on a line of its own where it is too long, or where the others are.
        """
        edits = self.edits
        column, indent = edits.column(at) + len(", "), edits.indent(at)
        text = make(column, indent)
        keys = [edits.key(node, name)[0] for name in node.items]
        apart = len(keys) > 1 and len({edits.line_end(key) for key in keys}) == len(keys)
        if not apart and "\n" not in text and column + len(text) + CLOSING <= WIDTH:
            return f", {text}"
        margin = hang_column(edits.column(keys[0]) - 1, indent)
        return f",\n{' ' * margin}{make(margin, indent)}"

    def end_of(self, name: str) -> int:
        """Return where an entry of the test ends; a block of text ends before its blank lines."""
        node = self.node.items[name]
        if isinstance(node, ScalarNode) and node.missing:
            _, key_end = self.edits.key(self.node, name)
            colon = self.edits.source.find(":", key_end, node.start)
            return key_end if colon < 0 else colon + 1
        return len(self.edits.source[: node.end].rstrip())

    def entry(self, fresh: list[OutputComparison], column: int, indent: int) -> str:
        """Return `expect` as an entry of the test that begins in a column."""
        key = self.notation.text("expect") + ":"
        if not self.node.flow:
            return key + "".join(self.below(fresh, column + 2))
        return f"{key} {{{self.inside(fresh, column + len(key) + 2, indent)}}}"

    def inside(self, fresh: list[OutputComparison], column: int, indent: int) -> str:
        """Return entries as they are in braces, from a column on."""
        entries = [(self.notation.text(one.output), self.texts(one)) for one in fresh]
        return format_braces(entries, column, indent)

    def below(self, fresh: list[OutputComparison], column: int) -> Iterable[str]:
        """Yield entries of a block, each on a line of its own."""
        for comparison in fresh:
            key = self.notation.text(comparison.output) + ":"
            rows = format_flow(self.texts(comparison), column + len(key) + 1, column)
            yield f"\n{' ' * column}{key} {rows}"


def _write_files(suite: Suite, outcome: Outcome) -> list[str]:
    """Write the files that hold expected rows of a test, where these differ."""
    written = []
    for file in dict.fromkeys(one.file for one in outcome.differences if one.file):
        rows = next(one for one in outcome.test.expect.values() if one.file == file)
        path = resolve_beside(suite.document.file, rows)
        inside = [one for one in outcome.comparisons if one.file == file]
        Files().write(path, _build_file(suite, outcome, inside, path))
        written.append(path)
    return written


def _rank_release(pair: RowPair) -> tuple[int, bool]:
    """Return what puts deletes before the inserts of their transaction; series stay as they are."""
    row = pair.emitted
    if row is None or not isinstance(row[0], FieldCells):
        return 0, False
    return row[1], row[2] > 0


def _build_file(suite: Suite, outcome: Outcome, inside: list[OutputComparison], path: str) -> bytes:
    """Return what a file has to hold for these outputs, under the names that its columns have."""
    from rtbot.io.sinks.writers import TimeFormat

    test = outcome.test
    outputs = {
        one.output: (
            Input(one.output, find_type(test.targets[one.output], suite.checked)),
            one.emitted,
        )
        for one in inside
    }
    there = read_column_names(path)
    time = next((name for name in TIME_NAMES if name in there), "t")
    others = [name for name in there if name not in (time, *test.key, *outputs)]
    if len(others) == len(outputs) == 1 and outputs.keys().isdisjoint(there):
        outputs = {others[0]: outputs[inside[0].output]}
    elif others:
        mark = test.expect[inside[0].output].mark
        hint = "give what is expected a file of its own"
        raise graph_error("RT150", mark, f"{path} has other columns: {', '.join(others)}", hint)
    clock = TimeFormat(suite.checked.io.unit, outcome.notation.style)
    return encode_row_file(outputs, test.key, time, path, clock)
