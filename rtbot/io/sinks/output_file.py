"""From the results of a run to one file: rows wait, are sorted, and are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from rtbot.core.vector_names import find_vectors
from rtbot.io.sinks.output_buffer import OutputBuffer
from rtbot.io.sinks.sort import RUNS_MAX, ExternalSorter
from rtbot.storage.files import name_path_in_errors
from rtbot.tables.vector_results import join_columns
from rtbot.tables.wide import PRESENT, build_long, build_wide

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import BinaryIO

    from rtbot.io.sinks.output_buffer import Table
    from rtbot.io.sinks.writers import BackgroundWriter
    from rtbot.operator.schema import Schema

SORTED_PARTS = 4
"""Rows that are sorted are in memory about so many times."""

BLOCK_BYTES_MIN = 1 << 16
"""Smaller blocks of runs cost more time than they save memory."""

LIST_FORMS = ("jsonl", "parquet", "arrow")
"""Formats in which a vector is one column of lists; in others each element has its own."""

OUTPUT = "output"
"""The column of the long form that names the output of a row."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file (`-` is stdout), its format, and the outputs that go there, wide or long.

    `stream`: keyed rows go out block by block, and not at the end. `schema` is that of the rows of
    a change output, which has a file of its own; of a `snapshot` only the rows that are present at
    the end are written.
    """

    path: str
    form: str
    outputs: tuple[str, ...]
    layout: str = "wide"
    stream: bool = False
    schema: Schema | None = None
    snapshot: bool = False


class OutputFile:
    """The rows of a target that wait for their turn, and what writes them.

    `memory` is what they may take; beyond it they are spilled to disk, where `scratch` opens files,
    and are sorted at the end. `key` has the types of the key columns.
    """

    def __init__(
        self,
        target: Target,
        key: Mapping[str, pa.DataType],
        writer: BackgroundWriter,
        scratch: Callable[[], BinaryIO],
        memory: int,
    ) -> None:
        self._target, self._key, self._writer = target, key, writer
        self._waiting = OutputBuffer(target.outputs)
        self._share = memory // SORTED_PARTS
        self._long = target.layout == "long"
        self._unites = not self._long and len(target.outputs) > 1
        order = [*key, "t", *([OUTPUT] if self._long else [])]
        block_bytes = max(self._share // (2 * RUNS_MAX), BLOCK_BYTES_MIN)
        self._sorter = ExternalSorter(scratch, order, block_bytes, unite=self._unites)
        self._frontier: int | None = None
        self._began = False

    def add(self, result: Mapping[str, Table]) -> None:
        """Take what a push released."""
        self._waiting.add(result)
        if self._key and not self._target.stream:
            self._spill_if_full()

    def end_block(self, frontier: int | None) -> None:
        """Write what is ready: keyed, all of the block; unkeyed, what is not after the frontier."""
        if self._key:
            if self._target.stream:
                self._write(self._build_table(self._waiting.take_all()))
            return
        if frontier is not None and frontier != self._frontier and not self._sorter:
            self._frontier = frontier
            self._write(self._build_table(self._waiting.take_until(frontier)))
        self._spill_if_full()

    def peek_waiting(self) -> Mapping[str, Table]:
        """Return the rows that wait for their turn in memory, if there are any."""
        return self._waiting.peek_rows()

    def finish(self, note: Callable[[int], object] | None = None) -> None:
        """Write all that is left; there is at least a header.

        `note` is called with the number of rows that come from disk.
        """
        if self._sorter:
            self._spill()
            for part in self._sorter.read_sorted():
                self._write(
                    _decode_output_names(part, self._target.outputs) if self._long else _bare(part)
                )
                if note is not None:
                    note(part.num_rows)
        else:
            self._write(self._build_table(self._waiting.take_all()))
        with name_path_in_errors(self._target.path):
            self._writer.close()

    def discard_waiting(self) -> None:
        """Leave out the rows whose turn has not come: an output may still add to them."""
        if not self._key and not self._sorter:
            self._waiting.take_all()

    def close(self) -> None:
        """Close what is open; the file of the target is closed by whoever opened it."""
        self._writer.stop()
        self._sorter.close()

    def _spill_if_full(self) -> None:
        if self._waiting.bytes > self._share:
            self._spill()

    def _spill(self) -> None:
        table = self._build_table(self._waiting.take_all(), marked=self._unites)
        with name_path_in_errors(self._target.path):
            self._sorter.add(
                _encode_output_names(table, self._target.outputs) if self._long else table
            )

    def _build_table(self, tables: Mapping[str, Table], *, marked: bool = False) -> pa.Table:
        """Concatenate tables; a key column that is null throughout still has its type."""
        key = tuple(self._key)
        table = build_long(tables, key) if self._long else build_wide(tables, key, marked=marked)
        for name, kind in self._key.items():
            if table.schema.field(name).type != kind:
                place = table.column_names.index(name)
                table = table.set_column(place, name, table.column(name).cast(kind))
        return table

    def _write(self, table: pa.Table) -> None:
        """Write rows, if there are any; the first call writes the header in any case."""
        if table.num_rows or not self._began:
            if self._target.form in LIST_FORMS:
                table = join_columns(table, find_vectors(self._target.outputs))
            with name_path_in_errors(self._target.path):
                self._writer.write(table)
            self._began = True


def _encode_output_names(table: pa.Table, outputs: Sequence[str]) -> pa.Table:
    """Return a long table whose outputs are numbers, which sort as they are declared."""
    place = table.column_names.index(OUTPUT)
    codes = pc.index_in(table.column(place), pa.array(outputs, pa.string()))
    return table.set_column(place, OUTPUT, codes)


def _decode_output_names(table: pa.Table, outputs: Sequence[str]) -> pa.Table:
    """Return the long table of `_encode_output_names` with the names of its outputs."""
    place = table.column_names.index(OUTPUT)
    names = pa.array(outputs, pa.string()).take(table.column(place).combine_chunks())
    return table.set_column(place, OUTPUT, names)


def _bare(table: pa.Table) -> pa.Table:
    """Return a wide table without the columns that mark where an output has messages."""
    return table.select([name for name in table.column_names if not name.startswith(PRESENT)])
