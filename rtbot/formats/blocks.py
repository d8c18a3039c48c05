"""What every reader of files yields, and what happens to the bad cells in it."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from rtbot.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import BinaryIO

    import pyarrow as pa

    Text = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Fault:
    """A bad cell (or row, if `column` is None): its row in the block, and what is wrong."""

    row: int
    column: str | None
    message: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a file, in its order: Arrow arrays by the name of the column.

    `line` gives the number of the row in the file as an editor counts, `text` the row as it stands
    there. `faults` are the bad cells; where a cell is bad, the array holds null.
    """

    file: str
    count: int
    columns: Mapping[str, pa.Array]
    line: Callable[[int], int]
    text: Text
    faults: tuple[Fault, ...] = ()


class Source(Protocol):
    """A file of rows."""

    file: str
    names: list[str]

    def sample(self, column: str) -> pa.Array:
        """Return the column of the first rows, as text if the file has text."""

    def blocks(self, wanted: Mapping[str, str]) -> Iterator[Block]:
        """Read the wanted columns, each as number, integer, boolean, text or raw (as it is)."""


@dataclass
class Judge:
    """Decides on bad cells: the first is an error, or all are left out, counted and kept.

    `counts` has their number by file. The kept ones go to `rejects` as CSV: file, line, column,
    problem and the row.
    """

    drop: bool = False
    rejects: BinaryIO | None = None
    counts: dict[str, int] = field(default_factory=dict)
    _began: bool = field(default=False, repr=False)

    def judge(self, block: Block, faults: list[Fault]) -> set[int]:
        """Return the rows to leave out, or raise DataError for the first in the file."""
        if not faults:
            return set()
        if not self.drop:
            raise error_at(block, min(faults, key=_place(block)))
        ordered = sorted(faults, key=_place(block), reverse=True)
        first = {fault.row: fault for fault in ordered}
        self.counts[block.file] = self.counts.get(block.file, 0) + len(first)
        if self.rejects is not None:
            self._keep(block, [first[row] for row in sorted(first)])
        return set(first)

    def _keep(self, block: Block, faults: list[Fault]) -> None:
        assert self.rejects is not None
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        if not self._began:
            writer.writerow(["file", "line", "column", "problem", "row"])
            self._began = True
        for fault in faults:
            where = [block.file, block.line(fault.row), fault.column or ""]
            writer.writerow([*where, fault.message, block.text(fault.row)])
        self.rejects.write(buffer.getvalue().encode())


def _place(block: Block) -> Callable[[Fault], tuple[int, int]]:
    """Return the order of faults: by row, whole rows first, then by the place of the column."""
    places = {None: -1} | {name: place for place, name in enumerate(block.columns)}
    return lambda fault: (fault.row, places.get(fault.column, -1))


def error_at(block: Block, fault: Fault, **where: Any) -> DataError:
    """Return the error that tells file, row and column of a fault."""
    places = {"file": block.file, "row": block.line(fault.row), "column": fault.column}
    return DataError(fault.message, **(places | {"value": fault.value} | where))
