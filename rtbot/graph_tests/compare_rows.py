"""Expected and emitted rows, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbot.graph.check.test_changes import FieldCells

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rtbot.graph.check.test_rows import GraphTestRows, Row


@dataclass(frozen=True, slots=True)
class RowPair:
    """The expected and the emitted row at one key and time; None where there is none.

    `index` is the place of the expected row as written, `line` its line (0 if not known).
    """

    expected: Row | None
    emitted: Row | None
    equal: bool
    index: int = -1
    line: int = 0

    @property
    def row(self) -> Row:
        """The row that is there, for its key and time."""
        row = self.emitted if self.expected is None else self.expected
        assert row is not None
        return row

    @property
    def status(self) -> str:
        """One of "", "differs", "missing" and "unexpected"."""
        if self.equal:
            return ""
        if self.expected is None:
            return "unexpected"
        return "missing" if self.emitted is None else "differs"


@dataclass(frozen=True, slots=True)
class OutputComparison:
    """One output, or port, of a test: all its rows in the order of (key, t).

    `silent` is whether it was to emit nothing, `waiting` whether nothing is expected of it yet,
    `file` where the expected rows are, if not in the graph's file.
    """

    output: str
    pairs: tuple[RowPair, ...]
    silent: bool = False
    waiting: bool = False
    file: str = ""

    @property
    def equal(self) -> bool:
        """Whether all is as expected."""
        return not self.waiting and all(pair.equal for pair in self.pairs)

    @property
    def emitted(self) -> list[Row]:
        """The rows that were emitted."""
        return [pair.emitted for pair in self.pairs if pair.emitted is not None]


def compare_rows(
    expected: GraphTestRows, emitted: Iterable[Row], tolerance: float
) -> tuple[RowPair, ...]:
    """Pair rows of equal key and time, changes of equal time and row; these differ by weight.

    Values are equal as numbers are: NaN with NaN, 0 with -0; null only with null. They may differ
    by `tolerance`, an absolute one.
    """
    return tuple(_pair_rows(expected, sorted(emitted, key=rank_row), tolerance))


def rank_row(row: Row) -> tuple[Any, ...]:
    """Return what orders rows: the key columns, integers before text before null; then the time.

    Changes are in the order of their times, then of their fields, NaN after all numbers.
    """
    *keys, time, _ = row
    if keys and isinstance(keys[0], FieldCells):
        return (time, *(_rank_key(cell) for _, cell in keys[0]))
    return (*map(_rank_key, keys), time)


def is_close(expected: Any, emitted: Any, tolerance: float) -> bool:
    """Return whether one value is the other, or near enough."""
    if expected is None or emitted is None:
        return expected is emitted
    if isinstance(expected, list):
        pairs = zip(expected, emitted, strict=True)
        return all(is_close(one, other, tolerance) for one, other in pairs)
    if isinstance(expected, bool | str) or isinstance(emitted, bool | str):
        return bool(expected == emitted)
    if expected == emitted or (expected != expected and emitted != emitted):
        return True
    return bool(abs(expected - emitted) <= tolerance)


def _rank_key(key: Any) -> tuple[int, Any]:
    if key is None:
        return 3, 0
    if key != key:
        return 2, 0
    return (1, key) if isinstance(key, str) else (0, key)


def _pair_rows(expected: GraphTestRows, emitted: list[Row], tolerance: float) -> Iterator[RowPair]:
    lines = expected.lines or (0,) * len(expected.rows)
    wanted = sorted(range(len(expected.rows)), key=lambda index: rank_row(expected.rows[index]))
    at = 0
    for index in wanted:
        row = expected.rows[index]
        while at < len(emitted) and rank_row(emitted[at]) < rank_row(row):
            yield RowPair(None, emitted[at], equal=False)
            at += 1
        found = (
            emitted[at] if at < len(emitted) and rank_row(emitted[at]) == rank_row(row) else None
        )
        at += found is not None
        allowed = 0.0 if isinstance(row[0], FieldCells) else tolerance
        same = found is not None and is_close(row[-1], found[-1], allowed)
        yield RowPair(row, found, same, index, lines[index])
    for row in emitted[at:]:
        yield RowPair(None, row, equal=False)
