"""Expected and emitted rows, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rtbot.graph.check.test_rows import Row, Rows


@dataclass(frozen=True, slots=True)
class Pair:
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
class Comparison:
    """One output, or port, of a test: all its rows in the order of (key, t).

    `silent` says that it was to emit nothing, `waiting` that nothing is expected of it yet, `file`
    is where the expected rows are, if not in the graph's file.
    """

    output: str
    pairs: tuple[Pair, ...]
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


def compared(expected: Rows, emitted: Iterable[Row], tolerance: float) -> tuple[Pair, ...]:
    """Pair rows of equal key and time.

    Values are equal as numbers are: NaN with NaN, 0 with -0; null only with null. They may differ
    by `tolerance`, an absolute one.
    """
    return tuple(_pairs(expected, sorted(emitted, key=place), tolerance))


def place(row: Row) -> tuple[Any, ...]:
    """What orders rows: the key columns, integers before text before null; then the time."""
    *keys, time, _ = row
    return (*map(_rank, keys), time)


def equal(expected: Any, emitted: Any, tolerance: float) -> bool:
    """Whether one value is the other, or near enough."""
    if expected is None or emitted is None:
        return expected is emitted
    if isinstance(expected, bool | str) or isinstance(emitted, bool | str):
        return bool(expected == emitted)
    if expected == emitted or (expected != expected and emitted != emitted):
        return True
    return bool(abs(expected - emitted) <= tolerance)


def _rank(key: Any) -> tuple[int, Any]:
    if key is None:
        return 2, 0
    return (1, key) if isinstance(key, str) else (0, key)


def _pairs(expected: Rows, emitted: list[Row], tolerance: float) -> Iterator[Pair]:
    lines = expected.lines or (0,) * len(expected.rows)
    wanted = sorted(range(len(expected.rows)), key=lambda index: place(expected.rows[index]))
    at = 0
    for index in wanted:
        row = expected.rows[index]
        while at < len(emitted) and place(emitted[at]) < place(row):
            yield Pair(None, emitted[at], equal=False)
            at += 1
        found = emitted[at] if at < len(emitted) and place(emitted[at]) == place(row) else None
        at += found is not None
        same = found is not None and equal(row[-1], found[-1], tolerance)
        yield Pair(row, found, same, index, lines[index])
    for row in emitted[at:]:
        yield Pair(None, row, equal=False)
