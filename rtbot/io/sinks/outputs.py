"""Results of a run, sorted and sent to files.

Unkeyed series go out by t: a row when every output is past it. Keyed ones go to files by (key, t)
at the end, or block by block in the order of release. What waits for its turn is spilled to disk
when it takes more than its share of the memory. Changes go out as they are released.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from rtbot.io.sinks.change_output import ChangeOutputFile
from rtbot.io.sinks.output_file import OutputFile, Target
from rtbot.io.sinks.snapshot_file import SnapshotFile
from rtbot.io.sinks.target_writer import open_target_writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import BinaryIO

    from rtbot.io.sinks.output_buffer import Table
    from rtbot.io.sinks.writers import BackgroundWriter, TimeFormat
    from rtbot.storage.files import Files

__all__ = ["MEMORY", "OutputFiles", "Target"]

MEMORY = 256 << 20
"""Bytes that rows may take while they wait, by default."""


class OutputFiles:
    """The files of a run. They appear when it ends well; after an error, only what streams appears.

    `key` names the key columns; `memory` is what rows may take that wait for their turn.
    """

    def __init__(
        self, files: Files, targets: Sequence[Target], key: Sequence[str], memory: int = MEMORY
    ) -> None:
        self._files, self._targets, self._key = files, targets, key
        self._memory = memory // max(len(targets), 1)
        self._stack = ExitStack()
        self._output_files: list[OutputFile | ChangeOutputFile | SnapshotFile] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> bool | None:
        return self._stack.__exit__(*error)  # type: ignore[arg-type]

    def open(self, clock: TimeFormat, integer_keys: Sequence[bool] = ()) -> None:
        """Open the files, when it is known how times are written and which keys are integers."""
        kinds = [pa.int64() if integer else pa.string() for integer in integer_keys]
        key = dict(zip(self._key, kinds, strict=True))
        for target in self._targets:
            writer = self._open_writer(target, clock)
            route = self._make_route(target, key, writer)
            self._stack.callback(route.close)
            self._output_files.append(route)

    def _make_route(
        self, target: Target, key: Mapping[str, pa.DataType], writer: BackgroundWriter
    ) -> OutputFile | ChangeOutputFile | SnapshotFile:
        if target.schema is None:
            return OutputFile(target, key, writer, self._make_scratch_opener(target), self._memory)
        if target.snapshot:
            return SnapshotFile(target.outputs[0], target.schema, target.path, writer)
        return ChangeOutputFile(target.outputs[0], target.schema, target.path, writer)

    def _open_writer(self, target: Target, clock: TimeFormat) -> BackgroundWriter:
        """Open a file that appears at the end."""
        stream = self._stack.enter_context(self._files.open_replacement(target.path))
        return open_target_writer(stream, target, clock)

    def _make_scratch_opener(self, target: Target) -> Callable[[], BinaryIO]:
        """Return what opens files for rows that wait on disk."""
        return partial(self._files.scratch, target.path)

    @property
    def has_snapshots(self) -> bool:
        """Whether files show the rows that are present at the end."""
        return any(target.snapshot for target in self._targets)

    def add(self, result: Mapping[str, Table]) -> None:
        """Take what a push released."""
        for route in self._output_files:
            route.add(result)

    def end_block(self, frontier: int | None) -> None:
        """Write what is ready: keyed, all of the block; unkeyed, what is not after the frontier."""
        for route in self._output_files:
            route.end_block(frontier)

    def discard_waiting(self) -> None:
        """Leave out the rows whose turn has not come when a run is ended."""
        for route in self._output_files:
            route.discard_waiting()

    def finish(self, note: Callable[[int], object] | None = None) -> None:
        """Write all that is left; `note` is called with the number of rows from disk."""
        for route in self._output_files:
            route.finish(note)
