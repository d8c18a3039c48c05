"""Wide or long tables written to files, in the format of the suffix or the one asked for."""

from __future__ import annotations

import gzip
import io
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from rtbot import times
from rtbot.arrow import as_numpy
from rtbot.report import aligned

if TYPE_CHECKING:
    from typing import BinaryIO

    from rtbot.times import Style

SPECIAL = r'[",\r\n]|^$'
"""Text that CSV has to quote; empty text is quoted to tell it from null."""


SLICE_ROWS = 65_536


class Writer(Protocol):
    """Takes tables of one schema, whose column `t` is int64, and writes them as they come."""

    def write(self, table: pa.Table) -> None:
        """Write the rows of the table."""

    def close(self) -> None:
        """Write what comes at the end; the file itself stays open."""


@dataclass(frozen=True, slots=True)
class Clock:
    """How times are written: as text in a style, or as integers if `style` is None."""

    unit: str | None = None
    style: Style | None = None

    def told(self, table: pa.Table) -> pa.Table:
        """Return the table with its times as text."""
        if self.style is None:
            return table
        counts = as_numpy(table.column("t"))
        texts = times.render(counts, self.unit or times.DEFAULT_UNIT, self.style)
        return table.set_column(table.column_names.index("t"), "t", texts)

    def stamped(self, table: pa.Table) -> pa.Table:
        """Return the table with its times as Arrow timestamps, UTC if they had an offset."""
        if self.style is None:
            return table
        kind = pa.timestamp(self.unit or times.DEFAULT_UNIT, "UTC" if self.style.offset else None)
        place = table.column_names.index("t")
        return table.set_column(place, "t", table.column("t").cast(kind))


class CsvWriter:
    """CSV with a header line; null is empty, floats read back bit for bit."""

    def __init__(self, stream: BinaryIO, clock: Clock) -> None:
        self._stream, self._clock = stream, clock
        self._began = False

    def write(self, table: pa.Table) -> None:
        """Write rows; the first call, even without rows, writes the header."""
        if not self._began:
            self._began = True
            self._stream.write((",".join(map(_quoted, table.column_names)) + "\n").encode())
        special = any(map(_is_special, table.columns))
        for start in range(0, table.num_rows, SLICE_ROWS):
            self._stream.write(self._text(table.slice(start, SLICE_ROWS), special=special))

    def _text(self, table: pa.Table, *, special: bool) -> bytes | memoryview:
        table = self._clock.told(table)
        if special:
            return _joined(table)
        options = pacsv.WriteOptions(include_header=False, quoting_style="none", batch_size=8192)
        sink = io.BytesIO()
        pacsv.write_csv(table, sink, options)
        return sink.getbuffer()

    def close(self) -> None:
        """Nothing comes at the end of CSV."""


class ColumnWriter:
    """Parquet, or Arrow's IPC file format."""

    def __init__(self, stream: BinaryIO, clock: Clock, form: str) -> None:
        self._stream, self._clock, self._form = stream, clock, form
        self._opened: Any = None

    def write(self, table: pa.Table) -> None:
        """Write rows; the first call decides on the schema."""
        table = self._clock.stamped(table)
        if self._opened is None and self._form == "parquet":
            import pyarrow.parquet as pq

            self._opened = pq.ParquetWriter(self._stream, table.schema)
        elif self._opened is None:
            self._opened = pa.ipc.new_file(self._stream, table.schema)
        if table.num_rows:
            self._opened.write_table(table)

    def close(self) -> None:
        """Write the footer."""
        if self._opened is not None:
            self._opened.close()


class TextWriter:
    """A table for reading: columns are aligned, so nothing is written before the end."""

    def __init__(self, stream: BinaryIO, clock: Clock) -> None:
        self._stream, self._clock = stream, clock
        self._parts: list[pa.Table] = []

    def write(self, table: pa.Table) -> None:
        """Keep the rows for later."""
        self._parts.append(self._clock.told(table))

    def close(self) -> None:
        """Write the whole table."""
        whole = pa.concat_tables(self._parts)
        columns = [pc.fill_null(_text(column), "").to_pylist() for column in whole.columns]
        right = [not pa.types.is_string(column.type) for column in whole.columns]
        lines = aligned([whole.column_names, *zip(*columns, strict=True)], right)
        self._stream.write(("\n".join(lines) + "\n").encode())


class GzipWriter(CsvWriter):
    """CSV packed by gzip, with no time or name in it, so that equal rows are equal bytes."""

    def __init__(self, stream: BinaryIO, clock: Clock) -> None:
        self._packed = gzip.GzipFile("", "wb", 6, stream, mtime=0)
        super().__init__(self._packed, clock)  # type: ignore[arg-type]

    def close(self) -> None:
        """Write the check sum."""
        self._packed.close()


class Behind:
    """Writes in a thread of its own, in order; an error arrives with the next call."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._pool = ThreadPoolExecutor(1)
        self._pending: deque[Future[None]] = deque()

    def write(self, table: pa.Table) -> None:
        """Hand rows over; waits if much has been handed over already."""
        if len(self._pending) > 2:
            self._pending.popleft().result()
        self._pending.append(self._pool.submit(self._writer.write, table))

    def close(self) -> None:
        """Wait for what is being written, and end."""
        while self._pending:
            self._pending.popleft().result()
        self._writer.close()

    def stop(self) -> None:
        """Wait for what is being written, so that the file may be closed whatever happened."""
        self._pool.shutdown()


def open_writer(stream: BinaryIO, path: str, form: str, clock: Clock) -> Writer:
    """Return the writer of a format: csv (packed if the name ends so), table, parquet, arrow."""
    if form == "table":
        return TextWriter(stream, clock)
    if form in ("parquet", "arrow"):
        return ColumnWriter(stream, clock, form)
    return GzipWriter(stream, clock) if path.endswith(".gz") else CsvWriter(stream, clock)


def _text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.cast(column, pa.string())


def _is_special(column: pa.ChunkedArray) -> bool:
    """Whether a column has text to quote; keys repeat, so their distinct values are looked at."""
    if not pa.types.is_string(column.type):
        return False
    return bool(pc.any(pc.match_substring_regex(column.unique(), SPECIAL)).as_py())


def _joined(table: pa.Table) -> bytes:
    """Return rows whose text has to be quoted in places."""
    cells = []
    for column in table.columns:
        text = _text(column).combine_chunks()
        if pa.types.is_string(column.type):
            doubled = pc.replace_substring(text, '"', '""')
            quoted = pc.binary_join_element_wise('"', doubled, '"', "")
            text = pc.if_else(pc.match_substring_regex(text, SPECIAL), quoted, text)
        cells.append(pc.fill_null(text, ""))
    lines = pc.binary_join_element_wise(*cells, ",").to_pylist()
    return ("\n".join(lines) + "\n").encode()


def _quoted(name: str) -> str:
    special = any(character in name for character in '",\r\n') or not name
    return '"' + name.replace('"', '""') + '"' if special else name
