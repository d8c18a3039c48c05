"""Streams of bytes, whatever is in them: live ones, and those that are not seekable."""

from __future__ import annotations

import os
import select
import shutil
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from rtbot.io.signals import check_signals
from rtbot.storage.files import name_path_in_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

    from rtbot.io.sources.csv_chunks import Chunk
    from rtbot.storage.files import Files

IDLE_SECONDS = 0.05
"""How long a live stream has to be silent until what has come is processed."""

WAIT_SECONDS = 0.2
"""How long a signal may have to wait for a live stream that is silent."""

AHEAD = 2
"""Items that are processed in another thread while one is used."""


class LiveStream:
    """A pipe or a terminal: a part of what will come can be read before the rest is there."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._number = stream.fileno()

    def read(self, size: int) -> bytes:
        """Wait for bytes and return those that are there; none at the end.

        A signal that was caught ends the wait.
        """
        while not select.select([self._number], [], [], WAIT_SECONDS)[0]:
            check_signals()
        return os.read(self._number, size)

    def is_idle(self) -> bool:
        """Return whether nothing more comes at the moment."""
        return not select.select([self._number], [], [], IDLE_SECONDS)[0]


def open_live(stream: BinaryIO) -> BinaryIO | LiveStream:
    """Return a stream that is not a file as one whose parts can be read at once."""
    try:
        is_file = S_ISREG(os.fstat(stream.fileno()).st_mode)
    except OSError:  # bytes that are not a file of the system
        return stream
    return stream if is_file or os.name == "nt" else LiveStream(stream)


def make_seekable(files: Files, stream: BinaryIO, path: str) -> BinaryIO:
    """Return the stream if it is seekable, else a copy without a name on disk."""
    if stream.seekable():
        return stream
    copy = files.scratch(path)
    with name_path_in_errors(path):
        shutil.copyfileobj(stream, copy)
        copy.seek(0)
    return copy


def name_file_in_errors(chunks: Iterable[Chunk], file: str) -> Iterator[Chunk]:
    """Pass chunks on; a read error names the file."""
    with name_path_in_errors(file):
        yield from chunks


def map_in_background(
    work: Callable[[Any], Any], items: Iterable[Any], ahead: int
) -> Iterator[Any]:
    """Yield what `work` makes of the items, some of them ahead of time in another thread."""
    with ThreadPoolExecutor(1) as pool:
        pending: deque[Any] = deque()
        for item in items:
            pending.append(pool.submit(work, item))
            if len(pending) > ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
