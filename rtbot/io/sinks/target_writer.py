"""The writer of a target, with what its format needs around it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from rtbot.core.vector_names import find_vectors
from rtbot.io.sinks.writers import BackgroundWriter, open_writer
from rtbot.storage.files import STANDARD
from rtbot.tables.change_rows import name_time

if TYPE_CHECKING:
    from typing import BinaryIO

    from rtbot.io.sinks.output_file import Target
    from rtbot.io.sinks.writers import TableWriter, TimeFormat

REBATCH_ROWS = 131_072
"""Rows of a batch of an Arrow file, whatever the blocks of the run."""


def open_target_writer(stream: BinaryIO, target: Target, clock: TimeFormat) -> BackgroundWriter:
    """Return what writes the tables of a target, in a thread of its own."""
    own = choose_time_format(target, clock)
    writer = open_writer(stream, target.path, target.form, own, list_sparse_columns(target))
    if target.form == "arrow":
        writer = RebatchingWriter(writer)
    return BackgroundWriter(FlushingWriter(writer, stream) if target.path == STANDARD else writer)


def choose_time_format(target: Target, clock: TimeFormat) -> TimeFormat:
    """Return how the times of a target are written, and in which column they are."""
    if target.schema is None:
        return clock
    if target.snapshot:
        return replace(clock, column="", style=None)
    return replace(clock, column=name_time(target.schema.names))


def list_sparse_columns(target: Target) -> tuple[str, ...]:
    """Return the columns whose nulls are left out in JSONL."""
    if target.layout != "wide" or target.schema is not None:
        return ()
    return (*target.outputs, *find_vectors(target.outputs))


class FlushingWriter:
    """Writer that flushes rows as soon as they are written: a reader may wait for them."""

    def __init__(self, writer: TableWriter, stream: BinaryIO) -> None:
        self._writer, self._stream = writer, stream
        self.close = writer.close

    def write(self, table: pa.Table) -> None:
        """Write rows and flush."""
        self._writer.write(table)
        self._stream.flush()


class RebatchingWriter:
    """Writer of parts of a fixed number of rows, so that bytes depend on the rows alone."""

    def __init__(self, writer: TableWriter) -> None:
        self._writer = writer
        self._parts: list[pa.Table] = []
        self._rows = 0

    def write(self, table: pa.Table) -> None:
        """Keep rows until a part is full."""
        self._parts.append(table)
        self._rows += table.num_rows
        if self._rows >= REBATCH_ROWS:
            whole = pa.concat_tables(self._parts).combine_chunks()
            end = self._rows - self._rows % REBATCH_ROWS
            for start in range(0, end, REBATCH_ROWS):
                self._writer.write(whole.slice(start, REBATCH_ROWS))
            self._parts, self._rows = [whole.slice(end)], self._rows - end

    def close(self) -> None:
        """Write the last part, which has the schema if it is the first."""
        self._writer.write(pa.concat_tables(self._parts).combine_chunks())
        self._writer.close()
