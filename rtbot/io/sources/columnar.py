"""Parquet and Arrow files as blocks: their columns have types already."""

from __future__ import annotations

import json
from bisect import bisect_right
from itertools import accumulate, islice
from typing import TYPE_CHECKING

import pyarrow as pa

from rtbot.core.duplicate_names import repeated
from rtbot.core.errors import DataError
from rtbot.io.blocks import Block, add_start_offset
from rtbot.io.sources.cells import drop_tokens
from rtbot.io.sources.struct_fields import find_type, list_paths, take_field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import BinaryIO

    from rtbot.io.sources.offsets import FileOffset, OffsetTracker

    Place = tuple[int, ...]

ROWS = 65_536
BUFFER_BYTES = 1 << 20
START = (0, 0)
DAMAGE = (pa.ArrowException, OSError, UnicodeDecodeError)
"""What pyarrow raises for damaged files; the last for names that are not UTF-8."""


class ColumnarSource:
    """A Parquet or Arrow (IPC file or stream) file, opened; rows are numbered from 1.

    The stream is seekable. A block begins at the number of a batch, and at a row. Texts that are
    among `null` are null. The fields of a struct are columns: `quote.bid`, as in JSON.
    """

    typed, sparse, live = True, False, False

    def __init__(
        self,
        stream: BinaryIO,
        file: str,
        form: str,
        tracker: OffsetTracker | None = None,
        null: tuple[str, ...] = (),
    ) -> None:
        self.file = file
        self._null = null
        self._read: Callable[[list[str], Place], Iterator[tuple[Place, pa.RecordBatch]]]
        self._mark = None if tracker is None else tracker.hash_pages(stream)
        try:
            if form == "parquet":
                self._open_parquet(stream)
            else:
                self._open_arrow(stream)
            paths = list(list_paths(self.schema))
        except DAMAGE as error:
            raise self._make_damage_error(f"not a whole {form} file", error) from None
        self.names: list[str] = list(map(".".join, paths))
        self._paths = dict(zip(self.names, paths, strict=True))
        twice = repeated(self.names)
        if twice is not None:
            raise DataError(f"two columns are named {twice!r}", code="RT215", file=file)

    def sample(self, column: str) -> pa.Array:
        """Return an empty array of the column's type, which is all that is needed."""
        return pa.nulls(0, find_type(self.schema, self._paths[column]))

    def read_blocks(
        self, wanted: Mapping[str, str], mark: FileOffset | None = None
    ) -> Iterator[Block]:
        """Read the wanted columns with the types that they have in the file."""
        found = self._read_blocks(wanted, mark)
        begun = None if self._mark is None else self._mark(START)
        yield from add_start_offset(begun, self.file, found)

    def _read_blocks(self, wanted: Mapping[str, str], mark: FileOffset | None) -> Iterator[Block]:
        start = START if mark is None else mark.place
        at = start[1]
        try:
            for place, batch in self._read(list(wanted), start):
                batch.validate(full=True)
                columns = {
                    name: drop_tokens(take_field(batch, self._paths[name]), self._null)
                    for name in wanted
                }
                at = place[1]
                yield Block(
                    self.file,
                    batch.num_rows,
                    columns,
                    _number_rows(at),
                    _make_row_formatter(columns),
                    mark=None if self._mark is None else self._mark(place),
                )
                at += batch.num_rows
        except DAMAGE as error:
            raise self._make_damage_error(f"damaged after {at} good rows", error) from None

    def _make_damage_error(self, what: str, error: Exception) -> Exception:
        """Return pyarrow's error as an error of the data, unless the system raised it."""
        if getattr(error, "errno", None):
            return error
        reason = str(error).strip().split("\n", maxsplit=1)[0]
        return DataError(f"{what}: {reason}", code="RT208", file=self.file)

    def _open_parquet(self, stream: BinaryIO) -> None:
        import pyarrow.parquet as pq

        # Otherwise Arrow keeps all that it has read, or reads whole columns of a row group.
        opened = pq.ParquetFile(
            pa.PythonFile(stream, "r"), pre_buffer=False, buffer_size=BUFFER_BYTES
        )
        self.schema: pa.Schema = opened.schema_arrow
        groups = range(opened.metadata.num_row_groups)
        firsts = [0, *accumulate(opened.metadata.row_group(group).num_rows for group in groups)]

        def read(columns: list[str], start: Place) -> Iterator[tuple[Place, pa.RecordBatch]]:
            """Read from the row group that holds the row."""
            row = start[1]
            group = max(bisect_right(firsts, row, hi=len(groups)) - 1, 0)
            at = firsts[group]
            for batch in opened.iter_batches(ROWS, list(groups[group:]), columns=columns):
                skipped = min(max(row - at, 0), batch.num_rows)
                if skipped < batch.num_rows:
                    yield (0, at + skipped), batch.slice(skipped)
                at += batch.num_rows

        self._read = read

    def _open_arrow(self, stream: BinaryIO) -> None:
        source = pa.PythonFile(stream, "r")
        magic = stream.read(6)
        stream.seek(0)
        reader = pa.ipc.open_file(source) if magic == b"ARROW1" else pa.ipc.open_stream(source)
        self.schema = reader.schema

        def read(columns: list[str], start: Place) -> Iterator[tuple[Place, pa.RecordBatch]]:
            """Read from the batch of this number; in a stream, those before are read too."""
            number, row = start
            batches: Iterator[pa.RecordBatch]
            if hasattr(reader, "num_record_batches"):
                batches = map(reader.get_batch, range(number, reader.num_record_batches))
            else:
                batches = islice(reader, number, None)
            tops = list(dict.fromkeys(self._paths[name][0] for name in columns))
            for batch in batches:
                yield (number, row), batch.select(tops)
                number, row = number + 1, row + batch.num_rows

        self._read = read


def _number_rows(start: int) -> Callable[[int], int]:
    return lambda row: start + row + 1


def _make_row_formatter(columns: Mapping[str, pa.Array]) -> Callable[[int], str]:
    """Return what shows a row: the cells that were read, as JSON."""

    def text(row: int) -> str:
        cells = {name: column[row].as_py() for name, column in columns.items()}
        return json.dumps(cells, default=str, ensure_ascii=False)

    return text
