"""Outputs that survive a crash: a checkpoint has how far each is written.

Lines of CSV and JSON go straight into their file, which is truncated to the length in the
checkpoint. Other formats cannot be cut anywhere: their rows go into a file beside (`OUT.rows`), of
which the output is made at once at the end. So the bytes are those of a run without a crash.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from rtbot.core.errors import ResourceLimit
from rtbot.io.blocks import REJECTS
from rtbot.io.sinks.jsonl_writer import JsonlWriter
from rtbot.io.sinks.outputs import OutputFiles
from rtbot.io.sinks.target_writer import (
    choose_time_format,
    list_sparse_columns,
    open_target_writer,
)
from rtbot.io.sinks.writers import BackgroundWriter, CsvWriter, TimeFormat
from rtbot.io.sources.offsets import PACKED_SUFFIX
from rtbot.storage.files import name_path_in_errors
from rtbot.storage.growing_file import EMPTY_EXTENT, GrowingFile, check_extent, measure_extent
from rtbot.storage.safe_paths import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import BinaryIO

    from rtbot.io.sinks.output_buffer import Table
    from rtbot.io.sinks.outputs import Target
    from rtbot.io.sinks.writers import TableWriter
    from rtbot.storage.files import Files

    Extent = tuple[int, str]
    """Bytes of a file and their SHA-256."""

BATCH_ROWS = 65_536


class ArrowStreamWriter:
    """Rows as a stream of Arrow messages, which can be cut behind each of them."""

    def __init__(self, stream: GrowingFile) -> None:
        self._stream = stream

    def write(self, table: pa.Table) -> None:
        """Write rows; the first call decides on the schema."""
        if not self._stream.length:
            self._stream.write(table.schema.serialize())
        for batch in table.combine_chunks().to_batches(max_chunksize=BATCH_ROWS):
            self._stream.write(batch.serialize())

    def close(self) -> None:
        """Do nothing: there is nothing at the end."""


class ResumableFile:
    """A target that is written as far as a checkpoint has it, and what continues it from there."""

    def __init__(self, files: Files, target: Target, clock: TimeFormat, known: Extent) -> None:
        self.target, self._files = target, files
        self._clock = choose_time_format(target, clock)
        self._rows = find_rows_path(target)
        is_given = self._rows is None
        self.file = GrowingFile(files, self._rows or target.path, *known, follow=is_given)
        self.writer = BackgroundWriter(self._make_writer())

    def _make_writer(self) -> TableWriter:
        stream: Any = self.file
        if self._rows is not None:
            return ArrowStreamWriter(self.file)
        if self.target.form == "csv":
            return CsvWriter(stream, self._clock, began=self.file.length > 0)
        return JsonlWriter(stream, self._clock, list_sparse_columns(self.target))

    def sync(self) -> Extent:
        """Sync what has been written to disk."""
        with name_path_in_errors(self.target.path):
            self.writer.drain()
        return self.file.sync()

    def close(self) -> None:
        """Close what is open."""
        self.writer.stop()
        self.file.close()

    def write_final(self) -> Extent:
        """Make the output of its rows, unless it is there already; return its extent."""
        if self._rows is None:
            return self.sync()
        path = self.target.path
        beside = f"{place_of(path)}.rows"
        self._files.remove_parts(beside)
        with (
            self._files.open_replacement(path, beside) as stream,
            self._files.open(self._rows) as rows,
        ):
            writer = open_target_writer(stream, self.target, self._clock)
            try:
                for batch in pa.ipc.open_stream(rows):
                    writer.write(pa.Table.from_batches([batch]))
                writer.close()
            finally:
                writer.stop()
        return measure_extent(self._files, path)


def find_rows_path(target: Target) -> str | None:
    """Return the file that keeps the rows of a target until the end; None if they go to its own."""
    is_text = target.form in ("csv", "jsonl") and not target.path.lower().endswith(PACKED_SUFFIX)
    return None if is_text else f"{target.path}.rows"


class ResumableOutputs(OutputFiles):
    """The files of a run that can be resumed; `rejects` is the target of bad rows."""

    def __init__(
        self,
        files: Files,
        targets: Sequence[Target],
        key: Sequence[str],
        memory: int,
        rejects: Target | None = None,
    ) -> None:
        super().__init__(files, targets, key, memory)
        self._rejects = rejects
        self._all = [*targets, *([] if rejects is None else [rejects])]
        self._known: list[Extent] = [EMPTY_EXTENT] * len(self._all)
        self._resumable_files: list[ResumableFile] = []

    @property
    def extents(self) -> list[Extent]:
        """How far every file was written when they were synced last, or as they are to be found."""
        return self._known

    def expect(self, extents: Sequence[Extent]) -> None:
        """Set how far the files are written; `open` raises CheckpointError if they are not."""
        self._known = [(int(length), str(digest)) for length, digest in extents]
        if len(self._known) != len(self._all):
            raise ValueError("another number of files")

    def open_rejects(self) -> Callable[[pa.Table], object] | None:
        """Open the file of bad rows, the last of all, and return what writes them."""
        if self._rejects is None:
            return None
        writer = self._open_writer(self._rejects, TimeFormat())
        if not self._known[-1][0]:
            writer.write(REJECTS.empty_table())
        return writer.write

    def sync(self) -> None:
        """Sync all that has been written to disk; nothing is before `open`."""
        if self._resumable_files:
            self._known = [sink.sync() for sink in self._resumable_files]

    def peek_waiting(self) -> list[Mapping[str, Table]]:
        """Return the rows that wait for their turn, of every target."""
        return [route.peek_waiting() for route in self._output_files]

    def restore(self, waiting: Sequence[Mapping[str, Table]]) -> None:
        """Restore rows that waited for their turn."""
        for route, tables in zip(self._output_files, waiting, strict=True):
            if tables:
                route.add(tables)

    def write_final(self) -> None:
        """Make the outputs that are made at the end."""
        self._known = [sink.write_final() for sink in self._resumable_files]

    def check(self) -> None:
        """Raise CheckpointError unless all files are as they are to be found."""
        for target, extent in zip(self._all, self._known, strict=True):
            check_extent(self._files, target.path, extent)

    def clean(self) -> None:
        """Remove what was needed to make them."""
        for target in self._all:
            rows = find_rows_path(target)
            if rows is not None:
                self._files.remove(rows)

    def _open_writer(self, target: Target, clock: TimeFormat) -> BackgroundWriter:
        sink = ResumableFile(self._files, target, clock, self._known[len(self._resumable_files)])
        self._stack.callback(sink.close)
        self._resumable_files.append(sink)
        return sink.writer

    def _make_scratch_opener(self, target: Target) -> Callable[[], BinaryIO]:
        return partial(_refuse_spill, target)


def _refuse_spill(target: Target) -> NoReturn:
    outputs = ", ".join(target.outputs)
    message = f"rows for {target.path} wait until {outputs} are certain, and take too much memory"
    hint = "raise --memory, or give the outputs files of their own"
    raise ResourceLimit(message, code="RT307", hint=hint)
