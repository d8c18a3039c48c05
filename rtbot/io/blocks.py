"""The blocks that every reader of files yields, and the policy for bad cells in them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from rtbot.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rtbot.io.sources.offsets import FileOffset

    Text = Callable[[int], str]
    Convert = Callable[[pa.Array, str, str], tuple[pa.Array, list["CellError"]]]


REJECTS = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int64()),
        ("column", pa.string()),
        ("problem", pa.string()),
        ("row", pa.string()),
    ]
)
"""Bad rows that are kept: where each is, what is wrong with it, and all of it."""


@dataclass(frozen=True, slots=True)
class CellError:
    """A bad cell (or row, if `column` is None): its row in the block, and what is wrong."""

    row: int
    column: str | None
    message: str
    value: str | None = None
    code: str = field(kw_only=True)
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a file, in its order: Arrow arrays by the name of the column.

    `line` gives the number of the row in the file as an editor counts, `text` the row as it is
    there. `faults` are the bad cells; where a cell is bad, the array holds null. `convert`, if the
    format has one of its own, replaces `cells.convert_cells` for columns read as `any`. `mark` is
    where the block begins, if the source was asked for marks.
    """

    file: str
    count: int
    columns: Mapping[str, pa.Array]
    line: Callable[[int], int]
    text: Text
    faults: tuple[CellError, ...] = ()
    convert: Convert | None = None
    mark: FileOffset | None = None

    def slice(self, start: int, stop: int) -> Block:
        """Keep the rows from start to stop."""
        if (start, stop) == (0, self.count):
            return self
        columns = {n: array.slice(start, stop - start) for n, array in self.columns.items()}
        faults = tuple(
            replace(fault, row=fault.row - start)
            for fault in self.faults
            if start <= fault.row < stop
        )
        line, text = (lambda row: self.line(row + start)), (lambda row: self.text(row + start))
        return replace(
            self, count=stop - start, columns=columns, line=line, text=text, faults=faults
        )


def add_start_offset(
    mark: FileOffset | None, file: str, blocks: Iterator[Block]
) -> Iterator[Block]:
    """Yield the blocks of a file; if there are none, one without rows, for its mark."""
    first = next(blocks, None)
    if first is not None:
        yield first
        yield from blocks
    elif mark is not None:
        yield Block(file, 0, {}, int, str, mark=mark)


class Source(Protocol):
    """A file of rows.

    `names` are its columns, none if there are no rows. `typed` is whether cells have types, rather
    than being text; `sparse` whether later rows may have columns that are not in `names`; `live`
    whether rows come as they are sent.
    """

    file: str
    names: list[str]
    typed: bool
    sparse: bool
    live: bool

    def sample(self, column: str) -> pa.Array:
        """Return the column of the first rows, as text if the file has text.

        Of a typed file it may be the first cell, or none at all: only the type matters.
        """

    def read_blocks(
        self, wanted: Mapping[str, str], mark: FileOffset | None = None
    ) -> Iterator[Block]:
        """Read the wanted columns, by name the kind of value, from the mark of a block on.

        That is number, integer, boolean, text, key (integer or text), raw (as it is), epoch (in a
        typed file: integers, or numbers as they are written) or any (to be converted when it is
        known for which input each row is).
        """


@dataclass
class BadRowPolicy:
    """What becomes of bad cells: the first is an error, or all are left out, counted and kept.

    `counts` has their number by file. The kept ones go to `rejects`, as tables of `REJECTS`.
    """

    rejects: Callable[[pa.Table], object] | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def decide(self, block: Block, faults: list[CellError], *, drop: bool) -> set[int]:
        """Return the rows to leave out, or raise DataError for the first in the file."""
        if not faults:
            return set()
        if not drop:
            raise to_data_error(block, min(faults, key=_make_sort_key(block)))
        ordered = sorted(faults, key=_make_sort_key(block))
        first: dict[int, CellError] = {}
        for fault in ordered:
            first.setdefault(fault.row, fault)
        self.counts[block.file] = self.counts.get(block.file, 0) + len(first)
        if self.rejects is not None:
            self.rejects(_make_rejects(block, list(first.values())))
        return set(first)


def _make_rejects(block: Block, faults: list[CellError]) -> pa.Table:
    file = block.file.encode(errors="backslashreplace").decode()  # a name may be any bytes
    rows = [(file, block.line(f.row), f.column, f.message, block.text(f.row)) for f in faults]
    return pa.table(list(map(list, zip(*rows, strict=True))), schema=REJECTS)


def _make_sort_key(block: Block) -> Callable[[CellError], tuple[int, int]]:
    """Return the order of faults: by row, whole rows first, then by the place of the column."""
    places = {None: -1} | {name: place for place, name in enumerate(block.columns)}
    return lambda fault: (fault.row, places.get(fault.column, -1))


def to_data_error(block: Block, fault: CellError) -> DataError:
    """Return the error with file, row and column of a fault."""
    return DataError(
        fault.message,
        code=fault.code,
        hint=fault.hint,
        file=block.file,
        row=block.line(fault.row),
        column=fault.column,
        value=fault.value,
    )


def to_cell_error(error: DataError, row: int, column: str, value: Any) -> CellError:
    """Return an error as the fault of a cell."""
    return CellError(row, column, error.message, value, code=error.code, hint=error.hint)
