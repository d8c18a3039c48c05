"""A change output as a file: its changes in the order in which they are released."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.storage.files import name_path_in_errors
from rtbot.tables.change_rows import name_time, name_weight
from rtbot.tables.change_table import build_change_table, empty_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa

    from rtbot.io.sinks.output_buffer import Table
    from rtbot.io.sinks.writers import BackgroundWriter
    from rtbot.operator.schema import Schema


class ChangeOutputFile:
    """The file of one change output: nothing waits, as rows are released in their final order."""

    def __init__(self, output: str, schema: Schema, path: str, writer: BackgroundWriter) -> None:
        self._output, self._schema, self._path, self._writer = output, schema, path, writer
        self._began = False

    def add(self, result: Mapping[str, Table]) -> None:
        """Write what a push released."""
        self._write(build_change_table(result[self._output], self._schema))

    def end_block(self, frontier: int | None) -> None:
        """Do nothing: all is written already."""

    def discard_waiting(self) -> None:
        """Do nothing: no row waits for its turn."""

    def peek_waiting(self) -> Mapping[str, Table]:
        """Return nothing: no row waits."""
        return {}

    def finish(self, _note: Callable[[int], object] | None = None) -> None:
        """Write the end; there is at least a header."""
        if not self._began:
            names = self._schema.names
            heads = [name_time(names), name_weight(names)]
            self._write(empty_changes(self._schema, heads))
        with name_path_in_errors(self._path):
            self._writer.close()

    def close(self) -> None:
        """Close what is open; the file of the target is closed by whoever opened it."""
        self._writer.stop()

    def _write(self, table: pa.Table) -> None:
        if table.num_rows or not self._began:
            with name_path_in_errors(self._path):
                self._writer.write(table)
            self._began = True
