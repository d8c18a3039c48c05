"""What a checkpoint of a run holds, as bytes and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot import __version__
from rtbot.core.errors import CheckpointError
from rtbot.storage.container import decode_blob, encode_blob
from rtbot.storage.differences import describe_differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Table = Mapping[str, np.ndarray]

READING, WRITTEN, COMPLETE = "reading", "written", "complete"
"""Rows are being read; all results are in files that grow; all outputs are made."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run at the end of a block.

    `run` describes what was requested, `inputs` how far each file has been read, `outputs` how far
    each is written. `waiting` are the results that are not written yet, for every file of output,
    and `session` is a dump.
    """

    run: Mapping[str, Any]
    phase: str
    rows: int
    inputs: Sequence[Mapping[str, Any]]
    outputs: Sequence[tuple[int, str]]
    bad: Mapping[str, int]
    times: Mapping[str, Any]
    waiting: Sequence[Mapping[str, Table]]
    session: bytes

    def encode(self) -> bytes:
        """Return it as a checkpoint."""
        arrays = {"session": np.frombuffer(self.session, np.uint8)}
        texts: dict[str, list[str | None]] = {}
        for name, array in _name_columns(self.waiting):
            if array.dtype == object:
                texts[name] = array.tolist()
            else:
                arrays[name] = array
        fields = {name: getattr(self, name) for name in FIELDS}
        return encode_blob({"checkpoint": __version__, "texts": texts, **fields}, arrays)


FIELDS = ("run", "phase", "rows", "inputs", "outputs", "bad", "times")


def _name_columns(waiting: Sequence[Mapping[str, Table]]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the columns that wait, with names that include their output."""
    for target, tables in enumerate(waiting):
        for output, table in tables.items():
            for column, array in table.items():
                yield f"{target}/{column}/{output}", array


def decode_record(blob: bytes, targets: int) -> RunRecord:
    """Read a checkpoint of a run with so many files of output.

    Raises CheckpointError if it is damaged, or not of a run.
    """
    header, arrays = decode_blob(blob)
    if "checkpoint" not in header:
        hint = "Graph.resume takes a dump of a session"
        raise CheckpointError("this is not a checkpoint of a run", code="RT311", hint=hint)
    session = arrays.pop("session").tobytes()
    found: dict[str, Any] = arrays | {n: np.array(t, object) for n, t in header["texts"].items()}
    waiting: list[dict[str, dict[str, np.ndarray]]] = [{} for _ in range(targets)]
    for name, array in found.items():
        target, column, output = name.split("/", 2)
        waiting[int(target)].setdefault(output, {})[column] = array
    fields = {name: header[name] for name in FIELDS}
    return RunRecord(**fields, waiting=waiting, session=session)


def check_run(saved: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    """Raise CheckpointError unless a checkpoint is of the run that is requested now."""
    difference = describe_differences(saved, run)
    if difference:
        hint = "give the options of that run, or start again: leave --resume out"
        message = f"the checkpoint is of another run: {difference}"
        raise CheckpointError(message, code="RT313", hint=hint)
