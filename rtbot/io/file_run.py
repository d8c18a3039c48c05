"""A graph over files, from the first block read to the last row written."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import DataError
from rtbot.io import pushes
from rtbot.io.bindings import InputSpec, bind_columns
from rtbot.io.blocks import REJECTS, BadRowPolicy
from rtbot.io.reader import FileReader
from rtbot.io.signals import ERRORS, catch_signals
from rtbot.io.sinks.outputs import MEMORY, OutputFiles
from rtbot.io.sinks.target_writer import open_target_writer
from rtbot.io.sinks.writers import TimeFormat
from rtbot.io.timings import READING, WRITING, Timings, time_session
from rtbot.storage.files import STANDARD, Files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from rtbot.api import Graph
    from rtbot.cli.progress_bar import ProgressBar
    from rtbot.io.input_batch import InputBatch
    from rtbot.io.run_chart import Plotter
    from rtbot.io.sinks.outputs import Target
    from rtbot.runtime.result import Result
    from rtbot.runtime.session import Session
    from rtbot.runtime.staged_session import StagedSession


CHECKPOINT_ROWS = 1_000_000
"""Rows of input between two checkpoints by default."""

LINES = ("csv", "jsonl")
"""Formats of files in which only the rows count, and not when they were written."""

PIECE_ROWS = 4096
"""Rows of a block that are interpreted, and written, at a time."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to read and where to write; `request.key` are the key columns of the run.

    `taps` are operators whose outputs are results too. `memory` is how many bytes rows that wait to
    be written may take, `queue` how many rows may wait at one port. `rejects` is where bad rows are
    kept, `account` a file for the account, `plot` one for a chart. `checkpoint` is the file that a
    run can be resumed from, written every `every` rows. `timings` takes where the time goes.
    """

    request: InputSpec
    targets: tuple[Target, ...]
    rejects: Target | None = None
    account: str | None = None
    taps: tuple[str, ...] = ()
    memory: int = MEMORY
    queue: int | None = None
    plot: str | None = None
    checkpoint: str | None = None
    every: int = CHECKPOINT_ROWS
    resume: bool = False
    timings: Timings | None = None


def run_files(
    graph: Graph,
    job: Job,
    tell: Callable[[str], object],
    progress: ProgressBar | None = None,
) -> dict[str, Any]:
    """Run the graph; return the account. `tell` gets notices.

    Raises DataError with the place in the file. Files other than stdout appear at the end, which a
    signal is if files are followed.
    """
    files = Files() if progress is None else progress.files
    io = graph.checked.io
    with ExitStack() as stack:
        stop = stack.enter_context(catch_signals(at_once=not job.request.follow))
        probe(job, files)
        policy = BadRowPolicy(_open_rejects(stack, files, job.rejects))
        reader = FileReader(bind_columns(files, graph.checked.inputs, job.request), io.unit, policy)
        for text in reader.list_notices():
            tell(text)
        session = graph.start(job.request.key, tap=job.taps, queue_limit=job.queue)
        outputs = stack.enter_context(OutputFiles(files, job.targets, session.key, job.memory))
        outputs.open(TimeFormat(reader.unit, reader.style), reader.integer_keys)
        plotter = _make_plotter(graph, session) if job.plot else None
        stop.check()
        writer = RunWriter(session, outputs, progress, plotter, job.timings)
        cutter = make_cutter(session, job.targets)
        try:
            writer.run(reader, end_block=lambda _rows: stop.check(), cut=cutter)
        except tuple(ERRORS.values()):
            if not job.request.follow:
                raise
            writer.end_early()
            stop.settle()
        stop.check()
        account = session.account()
    if plotter and job.plot:
        files.write(job.plot, plotter.svg(reader.unit, reader.style).encode())
    complete_account(job, files, account, policy, reader, tell)
    return account


def probe(job: Job, files: Files) -> None:
    """Raise OSError before the run if what is written at its end cannot be."""
    for path in (job.account, job.plot):
        if path is not None:
            files.probe(path)


def complete_account(
    job: Job,
    files: Files,
    account: dict[str, Any],
    policy: BadRowPolicy,
    reader: FileReader | None,
    tell: Callable[[str], object],
) -> None:
    """Complete the account, and write it if that is requested."""
    if reader is not None:
        for text in _find_unfed_inputs(reader, account):
            tell(text)
    if policy.counts:
        account["bad"] = dict(policy.counts)
    if job.account:
        files.write(job.account, (json.dumps(account, indent=2) + "\n").encode())


def _open_rejects(
    stack: ExitStack, files: Files, target: Target | None
) -> Callable[[pa.Table], object] | None:
    """Open the file that keeps bad rows; without any it has a header alone."""
    if target is None:
        return None
    writer = open_target_writer(
        stack.enter_context(files.open_replacement(target.path)), target, TimeFormat()
    )
    stack.callback(writer.stop)
    writer.write(REJECTS.empty_table())

    def close(kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            writer.close()

    stack.push(close)
    return writer.write


def _make_plotter(graph: Graph, session: Session | StagedSession) -> Plotter:
    from rtbot.io.run_chart import Plotter

    return Plotter(graph.checked, session)


@dataclass
class RunWriter:
    """Pushes blocks to a session, and writes what each releases."""

    session: Session | StagedSession
    outputs: OutputFiles
    progress: ProgressBar | None = None
    plotter: Plotter | None = None
    timings: Timings | None = None

    def run(
        self,
        reader: FileReader,
        *,
        end_block: Callable[[int], object] | None = None,
        cut: Callable[[InputBatch], Iterator[InputBatch]] | None = None,
    ) -> None:
        """Push every block and write what it releases; an input whose file has ended is advanced.

        `end_block` is called after every block, with the number of rows read so far. `cut` makes
        smaller blocks of one.
        """

        def end() -> None:
            self._end_block(reader.rows)
            if end_block is not None:
                end_block(reader.rows)

        self._switch(READING)
        try:
            pushes.pump(time_session(self.session, self.timings), reader, self._take, end, cut)
            with pushes.locate_transactions(reader):
                result = self.session.finish()
        except DataError as error:
            if error.output is not None:  # what was released before a bad transaction
                self._take(error.output, None)
                self.outputs.end_block(None)
            raise
        self._take(result, None)
        if self.outputs.has_snapshots:
            from rtbot.runtime.staged_session import StagedSession

            assert isinstance(self.session, StagedSession), "a snapshot is of a table that changes"
            self._take(self.session.release_over_nothing(), None)
        self._switch(WRITING)
        self.outputs.finish(None if self.progress is None else self.progress.wrote)

    def end_early(self) -> None:
        """Write what is final; what waits for more rows is left out."""
        self._switch(WRITING)
        self.outputs.discard_waiting()
        self.outputs.finish()

    def _take(self, result: Result, batch: InputBatch | None) -> None:
        self._switch(WRITING)
        self.outputs.add(result.series)
        if self.plotter is not None:
            self.plotter.add(result)
            if batch is not None:
                self.plotter.add_inputs(batch.series)
        self._switch(READING)

    def _end_block(self, rows: int) -> None:
        self._switch(WRITING)
        self.outputs.end_block(None if self.session.key else self.session.frontier())
        if self.progress is not None:
            self.progress.read(rows)
        self._switch(READING)

    def _switch(self, activity: str) -> None:
        if self.timings is not None:
            self.timings.switch(activity)


def make_cutter(
    session: Session | StagedSession, targets: Sequence[Target]
) -> Callable[[InputBatch], Iterator[InputBatch]] | None:
    """Return what cuts a block as long as code is interpreted, so that stdout has its rows soon.

    A block stays whole where its cuts would be seen: with keys, whose rows are sorted by block;
    where rows may wait for others, which are counted between pushes; in files of blocks; where
    there are tables that change.
    """
    from rtbot.runtime.session import Session

    if not isinstance(session, Session):
        return None
    lines = all(target.form in LINES for target in targets)
    seen = any(target.path == STANDARD for target in targets)
    if not (lines and seen and session.code.tiers) or session.key or session.runner.pools:
        return None

    def cut(batch: InputBatch) -> Iterator[InputBatch]:
        start, count = 0, batch.block.count
        session.prepare(count)
        while session.code.interpreted and count - start > PIECE_ROWS:
            yield batch.slice(start, start + PIECE_ROWS)
            start += PIECE_ROWS
        yield batch if start == 0 else batch.slice(start, count)

    return cut


def _find_unfed_inputs(reader: FileReader, account: Mapping[str, Any]) -> Iterator[str]:
    """Report inputs that a sparse file could have fed and never did: a name may be wrong."""
    for converter in reader.converters:
        source = converter.reading.source
        for binding in converter.reading.feeds:
            name = binding.input.name
            if not source.names or converter.reading.series or account["inputs"][name]["in"]:
                continue
            absent = (column for column in binding.kinds if column not in source.names)
            yield from (f"{source.file}: no row has {one!r}, which feeds {name}" for one in absent)
