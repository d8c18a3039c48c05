"""The outcome of a test, and its text."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.core.aligned_text import align_cells
from rtbot.graph.check.test_changes import FieldCells
from rtbot.graph_tests.notation import Notation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.graph.check.tests_section import GraphTest
    from rtbot.graph_tests.compare_rows import OutputComparison, RowPair

ROWS_SHOWN = 7
"""Rows of one output that a failed test shows."""

CELL_SHOWN = 40


@dataclass(frozen=True)
class Outcome:
    """A test that was run: its comparisons by output, or what went wrong instead."""

    test: GraphTest
    file: str
    comparisons: tuple[OutputComparison, ...] = ()
    fault: str = ""
    notation: Notation = field(default=Notation(), repr=False)

    @property
    def passed(self) -> bool:
        """Whether all is as expected."""
        return not self.fault and all(comparison.equal for comparison in self.comparisons)

    @property
    def differences(self) -> list[OutputComparison]:
        """The outputs that are not as expected."""
        return [comparison for comparison in self.comparisons if not comparison.equal]

    @property
    def name(self) -> str:
        """The name of the test, in one line."""
        return " ".join(self.test.name.split())

    @property
    def place(self) -> str:
        """Where the test is, as file:line."""
        return f"{self.file}:{self.test.mark.line}" if self.test.mark.line else self.file

    @property
    def hint(self) -> str:
        """The command that accepts what was emitted, or "" where there is none."""
        if not self.differences or self.file.startswith("<"):
            return ""
        return f"rtbot test --update {shlex.quote(self.file)} -k {shlex.quote(self.name)}"

    def __str__(self) -> str:
        if self.passed:
            return f"{self.place}: {self.name}: passed"
        return "\n".join([f"{self.place}: {self.name}: failed", *self.lines()])

    def lines(self) -> Iterator[str]:
        """Yield the lines that a reader needs of a failure: at most ten for an output."""
        if self.test.doc:
            yield " ".join(self.test.doc.split())
        yield from self.fault.splitlines()
        for comparison in self.differences:
            yield f"{comparison.output}: {_summarise(comparison)}"
            yield from self._table(comparison)

    def _table(self, comparison: OutputComparison) -> Iterator[str]:
        shown, left = _choose_pairs(comparison.pairs)
        if not shown:
            return
        both = not (comparison.silent or comparison.waiting)
        is_change = isinstance(shown[0].row[0], FieldCells)
        heads = ["row"] if is_change else self.test.key
        header = ["line", *heads, "t", "expected", "emitted", ""]
        rows = [header, *(self._cells(pair) for pair in shown)]
        keep = [both or title not in ("line", "expected", "") for title in header]
        keep[0] = keep[0] and any(pair.line for pair in shown)
        cells = [[c for c, kept in zip(row, keep, strict=True) if kept] for row in rows]
        right = [title != "" for title in cells[0]]
        yield from (f"  {line}" for line in align_cells(cells, right))
        if left:
            yield f"  and {left} more"

    def _cells(self, pair: RowPair) -> list[str]:
        *keys, time, _ = pair.row
        values = ["" if row is None else row[-1] for row in (pair.expected, pair.emitted)]
        rows = (pair.expected, pair.emitted)
        text = ["" if row is None else self._format_cell(row[-1]) for row in rows]
        if text[0] == text[1] and pair.status == "differs":
            text = [repr(value) for value in values]
        line = str(pair.line or "")
        return [line, *map(self._format_cell, keys), self.notation.time(time), *text, pair.status]

    def _format_cell(self, value: Any) -> str:
        is_change = isinstance(value, FieldCells)
        text = self.notation.fields(value) if is_change else self.notation.cell(value)
        return text if len(text) <= CELL_SHOWN or is_change else text[: CELL_SHOWN - 3] + "..."


def _summarise(comparison: OutputComparison) -> str:
    counts = Counter(pair.status or "right" for pair in comparison.pairs)
    came = _count_rows(sum(pair.emitted is not None for pair in comparison.pairs))
    if comparison.waiting:
        return f"nothing is expected yet, {came} came"
    if comparison.silent:
        return f"is to emit nothing, {came} came"
    order = ("differs", "missing", "unexpected", "right")
    text = [f"{counts[status]} {status}" for status in order if counts[status]]
    return "rows: " + ", ".join(text).replace("differs", "different")


def _count_rows(count: int) -> str:
    return f"{count} row{'s' * (count != 1)}"


def _choose_pairs(pairs: tuple[RowPair, ...]) -> tuple[list[RowPair], int]:
    """Return the first rows that differ, each with its neighbours; and how many more differ."""
    wrong = [place for place, pair in enumerate(pairs) if not pair.equal]
    near = sorted({at for place in wrong for at in (place - 1, place, place + 1)})
    shown = [place for place in near if 0 <= place < len(pairs)][:ROWS_SHOWN]
    return [pairs[place] for place in shown], len(set(wrong) - set(shown))
