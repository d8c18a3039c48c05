"""The writer of a target, with what its format needs around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from rtbot.files import STANDARD
from rtbot.formats.opening import PACKABLE, PACKED
from rtbot.formats.streams import Packer
from rtbot.formats.writing import Behind, open_writer

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from rtbot.formats.routes import Target
    from rtbot.formats.writing import Clock, Writer

SLAB_ROWS = 131_072
"""Rows of a batch of an Arrow file, whatever the blocks of the run."""


def writer_of(stream: BinaryIO, target: Target, clock: Clock) -> Behind:
    """Return what writes the tables of a target, in a thread of its own.

    Rows for stdout are sent on as soon as they are written: somebody may wait at the other end.
    """
    if target.form in PACKABLE and target.path.lower().endswith(PACKED):
        packer = Packer(stream)
        return Behind(Followed(_text_writer(packer, target, clock), at_end=packer.close))
    if target.form in PACKABLE:
        writer = _text_writer(stream, target, clock)
        flush = stream.flush if target.path == STANDARD else None
        return Behind(Followed(writer, after_write=flush))
    writer = open_writer(stream, target.path, target.form, clock)
    return Behind(Slabs(writer) if target.form == "arrow" else writer)


def _text_writer(stream: BinaryIO | Packer, target: Target, clock: Clock) -> Writer:
    if target.form == "jsonl":
        from rtbot.formats.objects import LineWriter

        return LineWriter(stream, clock, target.outputs if target.layout == "wide" else ())
    return open_writer(stream, "", target.form, clock)


class Followed:
    """A writer after which something else is to be done."""

    def __init__(
        self,
        writer: Writer,
        after_write: Callable[[], None] | None = None,
        at_end: Callable[[], None] | None = None,
    ) -> None:
        self._writer, self._after_write, self._at_end = writer, after_write, at_end

    def write(self, table: pa.Table) -> None:
        """Write rows."""
        self._writer.write(table)
        if self._after_write is not None:
            self._after_write()

    def close(self) -> None:
        """Write what comes at the end."""
        self._writer.close()
        if self._at_end is not None:
            self._at_end()


class Slabs:
    """Hands a writer parts of a fixed number of rows, so that bytes depend on the rows alone."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._parts: list[pa.Table] = []
        self._rows = 0

    def write(self, table: pa.Table) -> None:
        """Keep rows until a part is full."""
        self._parts.append(table)
        self._rows += table.num_rows
        if self._rows >= SLAB_ROWS:
            whole = pa.concat_tables(self._parts).combine_chunks()
            end = self._rows - self._rows % SLAB_ROWS
            for start in range(0, end, SLAB_ROWS):
                self._writer.write(whole.slice(start, SLAB_ROWS))
            self._parts, self._rows = [whole.slice(end)], self._rows - end

    def close(self) -> None:
        """Write the last part, which brings the schema if it is the first."""
        self._writer.write(pa.concat_tables(self._parts).combine_chunks())
        self._writer.close()
