"""Wide or long tables written to files, in the format of the suffix or the requested one."""

from __future__ import annotations

import gzip
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from rtbot.core import times
from rtbot.core.arrow import to_numpy
from rtbot.io.sinks.csv_writer import CsvEncoder, quote_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import BinaryIO

    from rtbot.core.times import TimeStyle

GROUP_ROWS = 1 << 18
"""Rows of a Parquet row group: tables are gathered until there are as many."""


class TableWriter(Protocol):
    """Takes tables of one schema, whose column of times is int64, and writes them as they come."""

    def write(self, table: pa.Table) -> None:
        """Write the rows of the table."""

    def close(self) -> None:
        """Write what comes at the end; the file itself stays open."""


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """How times are written: as text in a style, or as integers if `style` is None.

    `column` is the name of their column, "" if there is none.
    """

    unit: str | None = None
    style: TimeStyle | None = None
    column: str = "t"

    def format_table(self, table: pa.Table) -> pa.Table:
        """Return the table with its times as text."""
        if self.style is None:
            return table
        counts = to_numpy(table.column(self.column))
        texts = times.format_times(counts, self.unit or times.DEFAULT_UNIT, self.style)
        return table.set_column(table.column_names.index(self.column), self.column, texts)

    @property
    def is_numeric(self) -> bool:
        """Whether times are written as numbers."""
        return self.style is None or bool(self.style.epoch)

    def simplify(self, batch: pa.RecordBatch) -> TimeFormat | None:
        """Return a format with one offset, or of integers, that writes the same; None if none does.

        With a zone that is one for batches all of whose times have the same offset.
        """
        style, unit = self.style, self.unit or times.DEFAULT_UNIT
        if style is None or not (style.zone or style.epoch):
            return self
        if style.epoch:
            return TimeFormat(unit, None, self.column) if style.epoch == unit else None
        parts = list(times.split_by_offset(to_numpy(batch.column(self.column)), unit, style))
        is_one = len(parts) == 1 and style.parts
        return TimeFormat(unit, parts[0][0], self.column) if is_one else None

    def to_timestamps(self, table: pa.Table) -> pa.Table:
        """Return the table with its times as Arrow timestamps; naive ones have no time zone."""
        if self.style is None:
            return table
        zone = None if self.style.is_naive else self.style.zone or "UTC"
        kind = pa.timestamp(self.unit or times.DEFAULT_UNIT, zone)
        place = table.column_names.index(self.column)
        return table.set_column(place, self.column, table.column(place).cast(kind))


class CsvWriter:
    """CSV with a header line, unless it `began`; null is empty, floats read back bit for bit."""

    def __init__(self, stream: BinaryIO, clock: TimeFormat, *, began: bool = False) -> None:
        self._stream = stream
        self._lines = CsvEncoder(clock)
        self._began = began

    def write(self, table: pa.Table) -> None:
        """Write rows; the first call, even without rows, writes the header."""
        if not self._began:
            self._began = True
            self._stream.write((",".join(map(quote_cell, table.column_names)) + "\n").encode())
        for text in self._lines.encode(table):
            self._stream.write(text)

    def close(self) -> None:
        """Do nothing: there is nothing at the end of CSV."""


class ArrowWriter:
    """Arrow's IPC file format."""

    def __init__(self, stream: BinaryIO, clock: TimeFormat) -> None:
        self._stream, self._clock = stream, clock
        self._opened: Any = None

    def write(self, table: pa.Table) -> None:
        """Write rows; the first call decides on the schema."""
        table = self._clock.to_timestamps(table)
        self._opened = self._opened or pa.ipc.new_file(self._stream, table.schema)
        self._opened.write_table(table)

    def close(self) -> None:
        """Write the footer."""
        if self._opened is not None:
            self._opened.close()


class ParquetWriter:
    """Parquet in row groups of equal size.

    Only text gets a dictionary: numbers hardly repeat, and finding that out takes longer than all
    the rest. Times are written as differences, since they rise.
    """

    def __init__(self, stream: BinaryIO, clock: TimeFormat) -> None:
        self._stream, self._clock = stream, clock
        self._opened: Any = None
        self._gathered: list[pa.Table] = []
        self._rows = 0

    def write(self, table: pa.Table) -> None:
        """Take rows, and write them when they fill a row group; the first decide on the schema."""
        table = self._clock.to_timestamps(table)
        self._opened = self._opened or self._create_file(table.schema)
        self._gathered.append(table)
        self._rows += table.num_rows
        if self._rows >= GROUP_ROWS:
            self._write_groups(self._rows // GROUP_ROWS * GROUP_ROWS)

    def close(self) -> None:
        """Write the last rows and the footer."""
        if self._opened is not None:
            self._write_groups(self._rows)
            self._opened.close()

    def _create_file(self, schema: pa.Schema) -> Any:
        import pyarrow.parquet as pq

        texts = [field.name for field in schema if pa.types.is_string(field.type)]
        encodings = {self._clock.column: "DELTA_BINARY_PACKED"} if self._clock.column else None

        class Writer(pq.ParquetWriter):  # type: ignore[misc]
            def __del__(self) -> None:
                """Leave an abandoned file alone: it is closed, and a footer has no place."""

        return Writer(self._stream, schema, use_dictionary=texts, column_encoding=encodings)

    def _write_groups(self, rows: int) -> None:
        whole = pa.concat_tables(self._gathered)
        if rows:
            self._opened.write_table(whole.slice(0, rows).combine_chunks(), GROUP_ROWS)
        self._gathered, self._rows = [whole.slice(rows)], self._rows - rows


class GzipWriter:
    """Lines compressed by gzip, with no time or name in it, so that equal rows are equal bytes."""

    def __init__(self, stream: BinaryIO, open_lines: Callable[[Any], TableWriter]) -> None:
        self._packed = gzip.GzipFile("", "wb", 6, stream, mtime=0)
        self._writer = open_lines(self._packed)
        self.write = self._writer.write

    def close(self) -> None:
        """Write the checksum."""
        self._writer.close()
        self._packed.close()


class BackgroundWriter:
    """Writes in a thread of its own, in order; an error arrives with the next call."""

    def __init__(self, writer: TableWriter) -> None:
        self._writer = writer
        self._pool = ThreadPoolExecutor(1)
        self._pending: deque[Future[None]] = deque()

    def write(self, table: pa.Table) -> None:
        """Hand over rows; wait if much has been handed over already."""
        if len(self._pending) > 2:
            self._pending.popleft().result()
        self._pending.append(self._pool.submit(self._writer.write, table))

    def drain(self) -> None:
        """Wait until everything is written."""
        while self._pending:
            self._pending.popleft().result()

    def close(self) -> None:
        """Wait for what is being written, and end."""
        self.drain()
        self._writer.close()

    def stop(self) -> None:
        """Wait for what is being written, so that the file may be closed whatever happened."""
        self._pool.shutdown()


def open_writer(
    stream: BinaryIO, path: str, form: str, clock: TimeFormat, sparse: Collection[str] = ()
) -> TableWriter:
    """Return the writer of a format: csv, jsonl (packed if named so), parquet, arrow, table.

    `sparse` are the columns whose nulls are left out in JSONL.
    """
    if form == "table":
        from rtbot.io.text_table import TextTable

        return TextTable(stream, clock)
    if form == "parquet":
        return ParquetWriter(stream, clock)
    if form == "arrow":
        return ArrowWriter(stream, clock)

    def open_lines(stream: BinaryIO) -> TableWriter:
        if form == "csv":
            return CsvWriter(stream, clock)
        from rtbot.io.sinks.jsonl_writer import JsonlWriter

        return JsonlWriter(stream, clock, sparse)

    return GzipWriter(stream, open_lines) if path.lower().endswith(".gz") else open_lines(stream)
