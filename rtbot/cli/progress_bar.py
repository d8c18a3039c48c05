"""How far a run is, shown on a terminal while it lasts."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from rtbot.storage.files import Files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import BinaryIO, TextIO

DELAY_SECONDS = 0.5
"""A shorter run shows nothing, and does not import what draws."""


class TrackedFiles(Files):
    """Files whose reading can be followed."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = list(patterns)
        self._opened: list[tuple[BinaryIO, int]] = []

    def open(self, path: str) -> BinaryIO:
        """Open a file and remember it."""
        stream = super().open(path)
        with suppress(OSError, ValueError):  # stdin may not be a file of the system
            self._opened.append((stream, self.size(path) or 0))
        return stream

    def total(self) -> int | None:
        """Return the bytes of all files to read; None if one is a pipe or not to be found."""
        paths = [path for pattern in self._patterns for path in self.list_matching(pattern)]
        sizes = [self.size(path) for path in paths]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def done(self) -> int:
        """Return the bytes read so far."""
        return sum(_find_position(stream, size) for stream, size in self._opened)


def _find_position(stream: BinaryIO, size: int) -> int:
    """Return how far a file was read, without touching its reader in another thread."""
    with suppress(OSError, ValueError):
        return os.lseek(stream.fileno(), 0, os.SEEK_CUR)
    return size


class ProgressBar:
    """A line at the end of a terminal: part of the files read, rows, rows per second, time left.

    `clock` returns seconds, from any moment on.
    """

    def __init__(
        self, files: TrackedFiles, stream: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.files, self._stream, self._clock = files, stream, clock
        self._start = clock()
        self._written = 0
        self._shown: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown.stop()

    def read(self, rows: int) -> None:
        """Show how many rows have been read."""
        if self._is_due():
            rate = rows / max(self._clock() - self._start, 1e-9)
            text = f"{rows:,} rows  {_format_rate(rate)}"
            self._shown.update(self._task, completed=self.files.done(), text=text)

    def wrote(self, rows: int) -> None:
        """Count rows that have been sorted."""
        self._written += rows
        if self._is_due():
            self._shown.update(self._task, text=f"{self._written:,} rows put in order")

    def _is_due(self) -> bool:
        if self._shown is None and self._clock() - self._start >= DELAY_SECONDS:
            self._show()
        return self._shown is not None

    def _show(self) -> None:
        from rich import progress
        from rich.console import Console

        total = self.files.total()
        text = progress.TextColumn("{task.fields[text]}")
        if total is None:
            columns = [progress.SpinnerColumn(), text, progress.TimeElapsedColumn()]
        else:
            bar = [progress.BarColumn(), progress.TaskProgressColumn()]
            columns = [*bar, text, progress.TimeRemainingColumn()]
        console = Console(file=self._stream)
        self._shown = progress.Progress(*columns, console=console, transient=True)
        self._task = self._shown.add_task("", total=total, text="")
        self._shown.start()


def _format_rate(rows: float) -> str:
    return f"{rows / 1e6:.1f} M rows/s" if rows >= 1e6 else f"{rows / 1e3:.0f} k rows/s"
