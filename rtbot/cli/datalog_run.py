"""A Datalog program of the command line: its facts at the start, commits, checkpoints, progress."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rtbot.cli.messages import echo
from rtbot.core.interrupts import HeldInterrupts
from rtbot.storage.checkpoint_store import CheckpointStore
from rtbot.storage.files import Files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np

    import rtbot

DELAY_SECONDS, STEP_SECONDS = 0.5, 0.2
"""When the progress of a commit is first shown, and how often then."""

WARNINGS_MAX = 10
"""So many warnings of one commit are printed."""


class DatalogRun:
    """A database whose commits are kept in a checkpoint, if there is one.

    Ctrl-C ends a commit between two steps, and everything is as it was before it.
    """

    def __init__(
        self, database: rtbot.Datalog, store: CheckpointStore | None, *, quiet: bool
    ) -> None:
        self.database, self.store, self.quiet = database, store, quiet
        self.shows = sys.stderr.isatty() and not quiet
        self._interrupts = HeldInterrupts()
        self._began = self._next = 0.0
        database.evaluation.on_pause.append(self._pause)

    def commit(self) -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], float]:
        """Commit, and write the checkpoint; return what changed, as codes, and seconds.

        Raises KeyboardInterrupt after Ctrl-C: nothing is committed then.
        """
        self._began = perf_counter()
        self._next = self._began + DELAY_SECONDS
        with self._interrupts.hold():
            try:
                changes = self.database.commit_words()
            finally:
                self._clear()
            if self.store is not None:
                self.store.commit(self.database.dump())
        warnings = [] if self.quiet else self.database.warnings
        for line in warnings[:WARNINGS_MAX]:
            echo(f"warning: {line}", err=True)
        if len(warnings) > WARNINGS_MAX:
            echo(f"warning: and {len(warnings) - WARNINGS_MAX} more such texts", err=True)
        return changes, perf_counter() - self._began

    def _pause(self) -> None:
        self._interrupts.check()
        if self.shows and perf_counter() > self._next:
            self._next = perf_counter() + STEP_SECONDS
            self._show()

    def _show(self) -> None:
        relations = self.database.evaluation.relations.values()
        rows = sum(map(len, relations))
        seconds = perf_counter() - self._began
        _write_error(f"\r\x1b[Kevaluating: {rows:,} rows, {seconds:.0f} s")

    def _clear(self) -> None:
        if self.shows and perf_counter() > self._began + DELAY_SECONDS:
            _write_error("\r\x1b[K")

    def print_answers(self, why: str | None, *, explains: bool) -> None:
        """Print a derivation, or how the program is evaluated."""
        from rtbot.cli.shell_facts import read_fact
        from rtbot.database.explanations import format_explanation

        if why:
            relation, row = read_fact(why, self.database)
            echo(str(self.database.why(relation, row)))
        if explains:
            for line in format_explanation(self.database.explain()):
                echo(line)


def _write_error(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


@contextmanager
def open_database(database: rtbot.Datalog, options: Mapping[str, Any]) -> Iterator[DatalogRun]:
    """Take the facts of the checkpoint or of the files, and commit them as the first epoch."""
    for warning in () if options["quiet"] else database.program.warnings:
        echo(str(warning), err=True)
    path = options["checkpoint"]
    store = CheckpointStore(Files(), path) if path else None
    run = DatalogRun(database, store, quiet=options["quiet"])
    if store is not None:
        store.open()
    try:
        folder = options["facts"]
        blob = store.read() if store is not None else None
        if blob is not None:
            database.restore(blob)
            if not options["quiet"]:
                echo(f"{path}: epoch {database.epoch}", err=True)
        elif folder is None and not (options["interactive"] or path):
            folder = "."
        if folder is not None:
            database.read_facts(folder)
        if blob is None or folder is not None:
            run.commit()
        yield run
    finally:
        if store is not None:
            store.close()
