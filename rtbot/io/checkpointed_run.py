"""A graph over files with checkpoints: a run that continues where it was when it was killed.

A checkpoint is written at the end of a block, after everything that it refers to is on disk. So
after any failure there is one whose inputs, state and outputs belong together.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import CheckpointError
from rtbot.core.times import TimeStyle
from rtbot.graph.model import ReadOptions
from rtbot.io import reader as blocks
from rtbot.io.bindings import bind_columns, choose_options
from rtbot.io.blocks import BadRowPolicy
from rtbot.io.file_run import RunWriter, complete_account, probe
from rtbot.io.reader import FileReader, ReadPosition
from rtbot.io.signals import Terminated, catch_signals
from rtbot.io.sinks.resumable import ResumableOutputs
from rtbot.io.sinks.writers import TimeFormat
from rtbot.io.sources.offsets import FileOffset, check_file
from rtbot.storage.checkpoint_store import CheckpointStore
from rtbot.storage.files import Files
from rtbot.storage.run_record import COMPLETE, READING, WRITTEN, RunRecord, check_run, decode_record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rtbot.api import Graph
    from rtbot.cli.progress_bar import ProgressBar
    from rtbot.graph.model import Input
    from rtbot.io.bindings import InputSpec
    from rtbot.io.file_run import Job
    from rtbot.io.signals import StopRequest
    from rtbot.runtime.session import Session
    from rtbot.runtime.staged_session import StagedSession

    Tell = Callable[[str], object]


def run_with_checkpoints(
    graph: Graph, job: Job, tell: Tell, progress: ProgressBar | None = None
) -> dict[str, Any]:
    """Run the graph, or the rest of a run; return the account. `tell` gets notices.

    Raises CheckpointError if what is to be resumed is damaged, or has changed.
    """
    files = Files() if progress is None else progress.files
    assert job.checkpoint is not None, "a run without checkpoints is another one"
    probe(job, files)
    with ExitStack() as stack:
        store = CheckpointStore(files, job.checkpoint)
        stack.callback(store.close)
        store.open()
        blob = store.read() if job.resume else None
        if job.resume and blob is None:
            tell(f"{job.checkpoint}: there is no checkpoint yet, the run begins")
        policy = BadRowPolicy()
        run = CheckpointedRun(graph, job, files, store, policy)
        stack.enter_context(run.outputs)
        if blob is None:
            run.begin(tell)
        else:
            run.resume(blob, tell)
        try:
            run.finish(progress)
        except (KeyboardInterrupt, Terminated):
            tell(f"{run.saved_rows:,} rows are done; --resume goes on behind them")
            raise
        account = run.session.account()
    complete_account(job, files, account, policy, run.reader, tell)
    return account


class CheckpointedRun:
    """A run and what it has on disk. `begin` or `resume` comes first, `finish` last."""

    session: Session | StagedSession

    def __init__(
        self, graph: Graph, job: Job, files: Files, store: CheckpointStore, policy: BadRowPolicy
    ) -> None:
        self._graph, self._job, self._files, self._store = graph, job, files, store
        self._policy = policy
        self._description = describe_job(job, files, graph.checked.inputs)
        self._every = job.every
        self._phase = READING
        self._clock, self._keys = TimeFormat(), list[bool]()
        self._rows = self.saved_rows = 0
        self._positions: list[ReadPosition] = []
        self.reader: FileReader | None = None
        self.outputs = ResumableOutputs(
            files, job.targets, job.request.key, job.memory, job.rejects
        )

    # ---- what comes first

    def begin(self, tell: Tell) -> None:
        """Start, with a checkpoint of which nothing has been read or written."""
        self._positions = self._open_inputs(tell).positions
        self.session = self._graph.start(
            self._job.request.key, tap=self._job.taps, queue_limit=self._job.queue
        )
        self._commit()
        self._open_outputs()

    def resume(self, blob: bytes, tell: Tell) -> None:
        """Continue from a checkpoint."""
        job = self._job
        try:
            record = self._read_part(lambda: decode_record(blob, len(job.targets)))
            saved = record.run | {"inputs": _add_readings(record.run["inputs"])}
            check_run(saved, self._description)
            self._phase, self.saved_rows = record.phase, record.rows
            self._rows = record.rows
            self._policy.counts.update(record.bad)
            self._positions = [_parse_position(text) for text in record.inputs]
            self._clock, self._keys = _parse_time_format(record.times)
            self.outputs.expect(record.outputs)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
            message = f"{job.checkpoint} does not hold what a checkpoint holds"
            raise CheckpointError(message, code="RT311") from error
        self.session = self._read_part(lambda: self._graph.resume(record.session, tap=job.taps))
        if job.queue is not None:
            self.session.queue_limit = job.queue
        self._check_inputs()
        if self._phase == READING:
            self._open_inputs(tell).positions = self._positions
        if self._phase == COMPLETE:
            self.outputs.check()
            return
        self._open_outputs()
        self.outputs.restore(record.waiting)

    def _check_inputs(self) -> None:
        """Check that no file has changed; one that has been read to its end may be gone."""
        for mark in (mark for position in self._positions for mark in position.marks):
            if self._phase == READING or self._files.stamp(mark.path) is not None:
                check_file(self._files, mark)

    def _read_part(self, read: Callable[[], Any]) -> Any:
        """Read a part of the checkpoint; errors name its file."""
        try:
            return read()
        except CheckpointError as error:
            hint = error.hint or "put an undamaged copy there, or start again: leave --resume out"
            message = f"{self._job.checkpoint}: {error.message}"
            raise CheckpointError(message, code=error.code, hint=hint) from None

    def _open_inputs(self, tell: Tell) -> FileReader:
        io = self._graph.checked.io
        readings = bind_columns(self._files, self._graph.checked.inputs, self._job.request)
        reader = self.reader = FileReader(readings, io.unit, self._policy)
        for text in reader.list_notices():
            tell(text)
        self._clock, self._keys = TimeFormat(reader.unit, reader.style), reader.integer_keys
        return reader

    def _open_outputs(self) -> None:
        self.outputs.open(self._clock, self._keys)
        self._policy.rejects = self.outputs.open_rejects()

    # ---- what comes last

    def finish(self, progress: ProgressBar | None) -> None:
        """Read what is left, and write all results."""
        if self.reader is not None:
            with catch_signals() as stop:
                self._pump(self.reader, stop, progress)
            stop.check()
        if self._phase == WRITTEN:
            self.outputs.write_final()
            self._phase = COMPLETE
            self._commit()
        self.outputs.clean()

    def _pump(self, reader: FileReader, stop: StopRequest, progress: ProgressBar | None) -> None:
        before = self._rows

        def end_block(rows: int) -> None:
            self._end_block(before + rows, stop)

        writer = RunWriter(self.session, self.outputs, progress, timings=self._job.timings)
        writer.run(reader, end_block=end_block)
        self._phase = WRITTEN
        self._commit()

    def _end_block(self, rows: int, stop: StopRequest) -> None:
        self._rows = rows
        if stop.error is None and rows - self.saved_rows < self._every:
            return
        self._commit()
        stop.check()

    def _commit(self) -> None:
        """Make the present state the checkpoint."""
        if self._phase != COMPLETE:
            self.outputs.sync()
        record = RunRecord(
            run=self._description,
            phase=self._phase,
            rows=self._rows,
            inputs=[position.save() for position in self._positions],
            outputs=self.outputs.extents,
            bad=self._policy.counts,
            times=_format_time_format(self._clock) | {"keys": self._keys},
            waiting=self.outputs.peek_waiting() if self._phase == READING else [],
            session=self.session.dump(),
        )
        self._store.commit(record.encode())
        self.saved_rows = self._rows


def _format_time_format(clock: TimeFormat) -> dict[str, Any]:
    style = None if clock.style is None else asdict(clock.style)
    return {"unit": clock.unit, "style": style}


def _parse_time_format(text: Mapping[str, Any]) -> tuple[TimeFormat, list[bool]]:
    style = None if text["style"] is None else TimeStyle(**text["style"])
    return TimeFormat(text["unit"], style), [bool(integer) for integer in text["keys"]]


def _parse_position(text: Mapping[str, Any]) -> ReadPosition:
    marks = [
        FileOffset(
            mark["path"],
            mark["kind"],
            tuple(mark["stamp"]),
            tuple(mark["place"]),
            tuple((start, end, digest) for start, end, digest in mark["spans"]),
        )
        for mark in text["marks"]
    ]
    position = ReadPosition(marks, text["rows"], text["last"], text["ended"])
    position.passes.restore(text.get("passes", ()))
    return position


def _describe_reading(own: InputSpec, request: InputSpec) -> dict[str, Any]:
    """Describe how a file is read; its column of times only where it is one of its own."""
    time = {} if own.time == request.time else {"time": ", ".join(own.time)}
    return asdict(own.reading) | time


def _add_readings(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the files of a checkpoint with how they were read, where it does not have that yet."""
    plain = json.loads(json.dumps(asdict(ReadOptions())))
    found = {}
    for name, one in inputs.items():
        reading = one.get("reading", {})
        dialect = plain["csv"] | reading.get("csv", {})
        found[name] = one | {"reading": plain | reading | {"csv": dialect}}
    return found


def describe_job(job: Job, files: Files, inputs: Mapping[str, Input]) -> dict[str, Any]:
    """Return what must be equal for a run to be the same, beside its graph."""
    request = job.request
    reading: dict[str, dict[str, Any]] = {
        name: {"file": path, "column": column} for name, (path, column) in request.inputs.items()
    }
    if request.file is not None:
        reading["FILE"] = {"file": request.file, "column": None}
    left = [one for name, one in inputs.items() if name not in request.inputs]
    for name, one in reading.items():
        fed = [inputs[name]] if name in request.inputs else left
        one["reading"] = _describe_reading(choose_options(fed, request, one["file"]), request)
        one["files"] = dict.fromkeys(files.list_matching(one["file"]), "read")
    written = {
        target.path: {
            "format": target.form, "layout": target.layout, "outputs": ", ".join(target.outputs)
        }
        for target in job.targets
    }  # fmt: skip
    found = {
        "inputs": reading,
        "input format": request.form,
        "time": ", ".join(request.time) or None,
        "key": ", ".join(request.key),
        "outputs": written,
        "rejects": None if job.rejects is None else job.rejects.path,
        "taps": ", ".join(job.taps),
        "block": blocks.BLOCK_ROWS,
    }
    return dict(json.loads(json.dumps(found)))
