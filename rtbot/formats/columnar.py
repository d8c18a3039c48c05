"""Parquet and Arrow files as blocks: their columns have types already."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa

from rtbot.errors import DataError
from rtbot.formats.blocks import Block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import BinaryIO

ROWS = 65_536
BUFFER_BYTES = 1 << 20


class ColumnFile:
    """A Parquet or Arrow (IPC file or stream) file, opened; rows are numbered from 1.

    One can go back in the stream.
    """

    typed, sparse, live = True, False, False

    def __init__(self, stream: BinaryIO, file: str, form: str) -> None:
        self.file = file
        self._read: Callable[[list[str]], Iterator[pa.RecordBatch]]
        try:
            if form == "parquet":
                self._open_parquet(stream)
            else:
                self._open_arrow(stream)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(f"not a whole {form} file", error) from None
        twice = [name for name in self.names if self.names.count(name) > 1]
        if twice:
            raise DataError(f"two columns are named {twice[0]!r}", code="RT215", file=file)

    def sample(self, column: str) -> pa.Array:
        """Return an empty array of the column's type, which is all there is to know."""
        return pa.nulls(0, self.schema.field(column).type)

    def blocks(self, wanted: Mapping[str, str]) -> Iterator[Block]:
        """Read the wanted columns with the types that they have in the file."""
        at = 0
        try:
            for batch in self._read(list(wanted)):
                batch.validate(full=True)
                columns = {name: batch.column(name) for name in wanted}
                yield Block(self.file, batch.num_rows, columns, _numbered(at), _told(columns))
                at += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(f"damaged after {at} good rows", error) from None

    def _damaged(self, what: str, error: Exception) -> Exception:
        """Return what pyarrow met as an error of the data, unless the system told it."""
        if getattr(error, "errno", None):
            return error
        reason = str(error).strip().split("\n", maxsplit=1)[0]
        return DataError(f"{what}: {reason}", code="RT208", file=self.file)

    def _open_parquet(self, stream: BinaryIO) -> None:
        import pyarrow.parquet as pq

        # Else Arrow keeps all that it has read, or reads whole columns of a row group.
        opened = pq.ParquetFile(
            pa.PythonFile(stream, "r"), pre_buffer=False, buffer_size=BUFFER_BYTES
        )
        self.schema: pa.Schema = opened.schema_arrow
        self.names: list[str] = self.schema.names
        self._read = lambda columns: opened.iter_batches(ROWS, columns=columns)

    def _open_arrow(self, stream: BinaryIO) -> None:
        source = pa.PythonFile(stream, "r")
        magic = stream.read(6)
        stream.seek(0)
        reader = pa.ipc.open_file(source) if magic == b"ARROW1" else pa.ipc.open_stream(source)
        self.schema = reader.schema
        self.names = self.schema.names
        many = hasattr(reader, "num_record_batches")
        batches = map(reader.get_batch, range(reader.num_record_batches)) if many else reader
        self._read = lambda columns: (batch.select(columns) for batch in batches)


def _numbered(start: int) -> Callable[[int], int]:
    return lambda row: start + row + 1


def _told(columns: Mapping[str, pa.Array]) -> Callable[[int], str]:
    """Return what shows a row: the cells that were read, as JSON."""

    def text(row: int) -> str:
        cells = {name: column[row].as_py() for name, column in columns.items()}
        return json.dumps(cells, default=str, ensure_ascii=False)

    return text
