"""A change output as the rows that are present at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from rtbot.storage.files import name_path_in_errors
from rtbot.tables.change_rows import name_weight
from rtbot.tables.change_table import build_change_table, empty_changes, repeat_rows, sum_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rtbot.io.sinks.output_buffer import Table
    from rtbot.io.sinks.writers import BackgroundWriter
    from rtbot.operator.schema import Schema

GATHERED_ROWS = 1 << 18
"""Changes are summed up when there are as many, and as many as rows that are present."""


class SnapshotFile:
    """The file of the rows of a change output, which it keeps in memory until the end."""

    def __init__(self, output: str, schema: Schema, path: str, writer: BackgroundWriter) -> None:
        self._output, self._schema, self._path, self._writer = output, schema, path, writer
        self._weight = name_weight(schema.names)
        empty = empty_changes(schema, [self._weight])
        self._present = empty.select([*schema.names, self._weight])
        self._gathered: list[pa.Table] = []
        self._rows = 0

    def add(self, result: Mapping[str, Table]) -> None:
        """Take what a push released."""
        table = build_change_table(result[self._output], self._schema)
        self._gathered.append(table.select([*self._schema.names, self._weight]))
        self._rows += table.num_rows
        if self._rows > max(GATHERED_ROWS, self._present.num_rows):
            self._sum_up()

    def end_block(self, frontier: int | None) -> None:
        """Do nothing: all is written at the end."""

    def discard_waiting(self) -> None:
        """Do nothing: no row waits for its turn."""

    def peek_waiting(self) -> Mapping[str, Table]:
        """Return nothing: a run with checkpoints has no snapshot."""
        return {}

    def finish(self, _note: Callable[[int], object] | None = None) -> None:
        """Write the rows, in the order of their fields; there is at least a header."""
        self._sum_up()
        with name_path_in_errors(self._path):
            self._writer.write(repeat_rows(self._present))
            self._writer.close()

    def close(self) -> None:
        """Close what is open; the file of the target is closed by whoever opened it."""
        self._writer.stop()

    def _sum_up(self) -> None:
        whole = pa.concat_tables([self._present, *self._gathered])
        self._present = sum_changes(whole, self._schema)
        self._gathered, self._rows = [], 0
