"""A graph over files with checkpoints: a run that goes on where it was when it was killed.

A checkpoint is written at the end of a block, after everything that it knows of is on the disk. So
whatever happens, there is one whose inputs, state and outputs belong together.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import CheckpointError
from rtbot.core.times import Style
from rtbot.io import reader as blocks
from rtbot.io.bindings import wire
from rtbot.io.blocks import Judge
from rtbot.io.reader import Intake, Position
from rtbot.io.run import probe, pump, report
from rtbot.io.signals import Terminated, stopping
from rtbot.io.sinks.resumable import Lasting
from rtbot.io.sinks.writers import Clock
from rtbot.io.sources.offsets import Mark, check
from rtbot.storage.checkpoint_store import Store
from rtbot.storage.files import Files
from rtbot.storage.run_record import COMPLETE, READING, WRITTEN, Record, check_run, record_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rtbot.api import Graph
    from rtbot.cli.progress_bar import Progress
    from rtbot.io.run import Job
    from rtbot.io.signals import Stop
    from rtbot.runtime.session import Session

    Tell = Callable[[str], object]


def execute(graph: Graph, job: Job, tell: Tell, progress: Progress | None = None) -> dict[str, Any]:
    """Run the graph, or the rest of a run; returns the account. `tell` gets notices.

    Raises CheckpointError if what is to be resumed is damaged, or not what it was.
    """
    files = Files() if progress is None else progress.files
    assert job.checkpoint is not None, "a run without checkpoints is another one"
    probe(job, files)
    with ExitStack() as stack:
        store = Store(files, job.checkpoint)
        stack.callback(store.close)
        store.open()
        blob = store.read() if job.resume else None
        if job.resume and blob is None:
            tell(f"{job.checkpoint}: there is no checkpoint yet, the run begins")
        judge = Judge(graph.checked.io.bad == "drop")
        run = Run(graph, job, files, store, judge)
        stack.enter_context(run.outlet)
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
    report(job, files, account, judge, run.intake, tell)
    return account


class Run:
    """A run and what it has on the disk. `begin` or `resume` comes first, `finish` last."""

    session: Session

    def __init__(self, graph: Graph, job: Job, files: Files, store: Store, judge: Judge) -> None:
        self._graph, self._job, self._files, self._store = graph, job, files, store
        self._judge = judge
        self._description = described(job, files)
        self._every = job.every
        self._phase = READING
        self._clock, self._keys = Clock(), list[bool]()
        self._rows = self.saved_rows = 0
        self._positions: list[Position] = []
        self.intake: Intake | None = None
        self.outlet = Lasting(files, job.targets, job.request.key, job.memory, job.rejects)

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
        """Go on with what a checkpoint says."""
        job = self._job
        try:
            record = self._told(lambda: record_of(blob, len(job.targets)))
            check_run(record, self._description)
            self._phase, self.saved_rows = record.phase, record.rows
            self._rows = record.rows
            self._judge.counts.update(record.bad)
            self._positions = [_position(told) for told in record.inputs]
            self._clock, self._keys = _clock(record.times)
            self.outlet.expect(record.outputs)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
            message = f"{job.checkpoint} does not hold what a checkpoint holds"
            raise CheckpointError(message, code="RT311") from error
        self.session = self._told(lambda: self._graph.resume(record.session, tap=job.taps))
        if job.queue is not None:
            self.session.queue_limit = job.queue
        self._check_inputs()
        if self._phase == READING:
            self._open_inputs(tell).positions = self._positions
        if self._phase == COMPLETE:
            self.outlet.check()
            return
        self._open_outputs()
        self.outlet.restore(record.waiting)

    def _check_inputs(self) -> None:
        """Files may not have changed; one that has been read to its end may be gone."""
        for mark in (mark for position in self._positions for mark in position.marks):
            if self._phase == READING or self._files.stamp(mark.path) is not None:
                check(self._files, mark)

    def _told(self, read: Callable[[], Any]) -> Any:
        """Read a part of the checkpoint; errors name its file."""
        try:
            return read()
        except CheckpointError as error:
            hint = error.hint or "put an undamaged copy there, or begin anew: leave --resume out"
            message = f"{self._job.checkpoint}: {error.message}"
            raise CheckpointError(message, code=error.code, hint=hint) from None

    def _open_inputs(self, tell: Tell) -> Intake:
        io = self._graph.checked.io
        readings = wire(self._files, self._graph.checked.inputs, self._job.request)
        intake = self.intake = Intake(readings, io.unit, self._judge)
        for file in intake.naive():
            tell(f"{file}: times without an offset are taken as UTC")
        self._clock, self._keys = Clock(intake.unit, intake.style), intake.integer_keys
        return intake

    def _open_outputs(self) -> None:
        self.outlet.open(self._clock, self._keys)
        self._judge.rejects = self.outlet.open_rejects()

    # ---- what comes last

    def finish(self, progress: Progress | None) -> None:
        """Read what is left, and write all results."""
        if self.intake is not None:
            with stopping() as stop:
                self._pump(self.intake, stop, progress)
            stop.check()
        if self._phase == WRITTEN:
            self.outlet.make()
            self._phase = COMPLETE
            self._commit()
        self.outlet.clean()

    def _pump(self, intake: Intake, stop: Stop, progress: Progress | None) -> None:
        before = self._rows

        def end_block(rows: int) -> None:
            self._end_block(before + rows, stop)

        pump(self.session, intake, self.outlet, progress, end_block=end_block)
        self._phase = WRITTEN
        self._commit()

    def _end_block(self, rows: int, stop: Stop) -> None:
        self._rows = rows
        if stop.error is None and rows - self.saved_rows < self._every:
            return
        self._commit()
        stop.check()

    def _commit(self) -> None:
        """Make what is now the checkpoint."""
        if self._phase != COMPLETE:
            self.outlet.sync()
        record = Record(
            run=self._description,
            phase=self._phase,
            rows=self._rows,
            inputs=[asdict(position) for position in self._positions],
            outputs=self.outlet.extents,
            bad=self._judge.counts,
            times=asdict(self._clock) | {"keys": self._keys},
            waiting=self.outlet.waiting() if self._phase == READING else [],
            session=self.session.dump(),
        )
        self._store.commit(record.encode())
        self.saved_rows = self._rows


def _clock(told: Mapping[str, Any]) -> tuple[Clock, list[bool]]:
    style = None if told["style"] is None else Style(**told["style"])
    return Clock(told["unit"], style), [bool(integer) for integer in told["keys"]]


def _position(told: Mapping[str, Any]) -> Position:
    marks = [
        Mark(
            mark["path"],
            mark["kind"],
            tuple(mark["stamp"]),
            tuple(mark["place"]),
            tuple((start, end, digest) for start, end, digest in mark["spans"]),
        )
        for mark in told["marks"]
    ]
    return Position(marks, told["rows"], told["last"], told["ended"])


def described(job: Job, files: Files) -> dict[str, Any]:
    """Return what must be equal for a run to be the same, beside its graph."""
    request = job.request
    reading: dict[str, dict[str, Any]] = {
        name: {"file": path, "column": column} for name, (path, column) in request.inputs.items()
    }
    if request.file is not None:
        reading["FILE"] = {"file": request.file, "column": None}
    for one in reading.values():
        one["files"] = dict.fromkeys(files.matching(one["file"]), "read")
    written = {
        target.path: {
            "format": target.form, "layout": target.layout, "outputs": ", ".join(target.outputs)
        }
        for target in job.targets
    }  # fmt: skip
    found = {
        "inputs": reading,
        "input format": request.form,
        "time": request.time,
        "key": ", ".join(request.key),
        "outputs": written,
        "rejects": None if job.rejects is None else job.rejects.path,
        "taps": ", ".join(job.taps),
        "block": blocks.BLOCK_ROWS,
    }
    return dict(json.loads(json.dumps(found)))
