"""The result of a comparison, and its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.compare.canonical_outputs import format_row
from rtbot.compare.schedules import Change
from rtbot.core.aligned_text import align_cells
from rtbot.core.number_text import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rtbot.compare.canonical_outputs import OutputDifference
    from rtbot.compare.data import Data
    from rtbot.compare.schedules import Row
    from rtbot.compare.variants import Attempt

ROWS_SHOWN = 12
"""Rows of a difference, and steps, that are shown; the reproducing file has all."""

REFERENCE = "one push"
"""What every variant is compared with."""


@dataclass(frozen=True)
class VariantOutcome:
    """A variant that was run: how often, over how many rows, and whether the outputs were the same.

    It was run until it differed. `note` is which rows, if not all.
    """

    way: str
    runs: int
    rows: int
    same: bool
    seconds: float
    note: str = ""


@dataclass(frozen=True)
class MinimalDifference:
    """A difference, and the smallest data and run that still show one.

    `settled` is whether nothing smaller was left to try.
    """

    way: str
    run: int
    difference: OutputDifference
    data: Data
    attempt: Attempt
    settled: bool = True

    def lines(self) -> Iterator[str]:
        """Yield the lines that a reader needs."""
        rows = self.data.rows
        what = "the smallest input" if self.settled else "the smallest input in the time allowed"
        yield f"DIFFERENT: {self.way}, run {self.run}; {what}: {format_count(len(rows), 'row')}"
        yield from (f"  {line}" for line in format_rows(rows[:ROWS_SHOWN], self.data.key))
        yield from _format_rest(len(rows))
        yield "the way it was run:"
        lines = list(self.attempt.describe_steps(self.data))
        yield from (f"  {line}" for line in lines[:ROWS_SHOWN])
        yield from _format_rest(len(lines))
        yield from self._format_rows()

    def _format_rows(self) -> Iterator[str]:
        found = self.difference
        if found.told:
            yield found.told
            return
        heads = ", ".join(found.columns)
        yield f"output {found.output}, row {found.row + 1} ({heads}):"
        pairs = ((REFERENCE, found.expected, found.found), (self.way, found.found, found.expected))
        cells = [[name, format_row(row, other)] for name, row, other in pairs]
        yield from (f"  {line}" for line in align_cells(cells, [False, False]))


@dataclass(frozen=True)
class ComparisonReport:
    """Whether all ways to run a graph over some data gave the same bits.

    `outputs` has rows and digest of every output, `left_out` what was not compared, and why.
    """

    graph: str
    rows: int
    seed: int
    outcomes: tuple[VariantOutcome, ...]
    outputs: Mapping[str, tuple[int, str]]
    left_out: tuple[str, ...] = ()
    found: MinimalDifference | None = field(default=None, repr=False)

    @property
    def same(self) -> bool:
        """Whether every output was the same, bit for bit, in every way."""
        return all(outcome.same for outcome in self.outcomes)

    def __str__(self) -> str:
        return "\n".join([*self.lines(), self.verdict])

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        runs = sum(outcome.runs for outcome in self.outcomes)
        if self.same:
            return f"the same bits in all {format_count(runs, 'run')}"
        names = ", ".join(outcome.way for outcome in self.outcomes if not outcome.same)
        return f"not the same: {names}"

    def lines(self) -> Iterator[str]:
        """Yield the tables, and the difference if there is one."""
        yield f"{self.graph}: {format_count(self.rows, 'row')}, compared with {REFERENCE}"
        yield ""
        header = ["way", "runs", "rows", "same", "time", ""]
        cells = [header, *map(_format_outcome, self.outcomes)]
        yield from align_cells(cells, [False, True, True, False, True, False])
        yield from (f"not compared: {text}" for text in self.left_out)
        yield ""
        counts = [
            [name, f"{rows:,}", shorten_digest(hexed)]
            for name, (rows, hexed) in self.outputs.items()
        ]
        yield from align_cells([["output", "rows", "digest"], *counts], [False, True, False])
        yield ""
        if self.found is not None:
            yield from self.found.lines()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "graph": self.graph,
            "rows": self.rows,
            "seed": self.seed,
            "same": self.same,
            "ways": [
                {
                    "way": one.way,
                    "runs": one.runs,
                    "rows": one.rows,
                    "same": one.same,
                    "seconds": round(one.seconds, 3),
                    "note": one.note,
                }
                for one in self.outcomes
            ],
            "not_compared": list(self.left_out),
            "outputs": [
                {"output": name, "rows": rows, "digest": hexed}
                for name, (rows, hexed) in self.outputs.items()
            ],
            "difference": None if self.found is None else _difference_to_json(self.found),
        }


def shorten_digest(digest: str) -> str:
    """Return the beginning of a digest, for display."""
    return " ".join(digest[place : place + 4] for place in range(0, 16, 4))


def format_rows(rows: list[Row], key: tuple[str, ...]) -> Iterator[str]:
    """Yield rows of inputs as a table, numbered from 1."""
    cells = [["row", "input", *key, "t", "value"]]
    for number, row in enumerate(rows, 1):
        cells.append([str(number), row.input, *map(_format_cell, (*row.key, row.time, row.value))])
    yield from align_cells(cells, [True, False, *(False for _ in key), True, True])


def _format_cell(value: Any) -> str:
    if isinstance(value, Change):
        return f"{value.weight:+d} ({', '.join(map(_format_cell, value.cells))})"
    return "null" if value is None else repr(value)


def _format_outcome(outcome: VariantOutcome) -> list[str]:
    same = "yes" if outcome.same else "NO"
    time = f"{outcome.seconds:.2f} s"
    return [outcome.way, str(outcome.runs), f"{outcome.rows:,}", same, time, outcome.note]


def _format_rest(count: int) -> Iterator[str]:
    if count > ROWS_SHOWN:
        yield f"  and {count - ROWS_SHOWN:,} more"


def _difference_to_json(found: MinimalDifference) -> dict[str, Any]:
    first = found.difference
    return {
        "way": found.way,
        "run": found.run,
        "output": first.output,
        "row": first.row,
        "expected": None if first.expected is None else list(map(_cell_to_json, first.expected)),
        "found": None if first.found is None else list(map(_cell_to_json, first.found)),
        "told": first.told,
        "smallest": found.settled,
        "input": [
            [row.input, *map(_cell_to_json, (*row.key, row.time, row.value))]
            for row in found.data.rows
        ],
        "steps": list(found.attempt.describe_steps(found.data)),
    }


def _cell_to_json(value: Any) -> Any:
    """Return a value as JSON has it: `nan`, `inf` and `-inf` are text."""
    if isinstance(value, dict):
        return {name: _cell_to_json(cell) for name, cell in value.items()}
    if isinstance(value, Change):
        return [value.weight, list(map(_cell_to_json, value.cells))]
    finite = not isinstance(value, float) or value - value == 0
    return value if finite else repr(value)
