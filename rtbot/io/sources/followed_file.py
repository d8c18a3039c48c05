"""A file that another process appends to, read as it grows."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from rtbot.core.errors import DataError
from rtbot.io.signals import check_signals
from rtbot.io.sources.byte_streams import LiveStream

if TYPE_CHECKING:
    from typing import BinaryIO

    from rtbot.storage.files import Files

POLL_SECONDS = 0.1
"""How often the file is looked at when all of it has been read."""

PIECE_BYTES = 1 << 16


class FollowedFile(LiveStream):
    """A regular file without an end: behind its last byte, `read` waits for more.

    A signal that was caught ends the wait. Raises DataError if the file was cut, or if another one
    has its name: what was read cannot be told from what is new then.
    """

    def __init__(self, files: Files, path: str, stream: BinaryIO) -> None:
        super().__init__(stream)
        self._files, self._path = files, path
        self._read = 0

    def read(self, size: int) -> bytes:
        """Wait for bytes and return those that are there."""
        while True:
            data = os.read(self._number, size)
            self._read += len(data)
            if data:
                return data
            self._check_place()
            check_signals()
            time.sleep(POLL_SECONDS)

    def is_idle(self) -> bool:
        """Return whether nothing more is there at the moment."""
        return os.fstat(self._number).st_size <= self._read

    def _check_place(self) -> None:
        """Raise DataError unless the name is still that of this file, and no byte is gone."""
        here, there = self._files.stamp(self._stream), self._files.stamp(self._path)
        assert here is not None, "an open file is there"
        problem = ""
        if there is None or there[1:3] != here[1:3]:
            problem = "is gone" if there is None else "is another file now"
        elif here[0] < self._read:
            problem = f"has {here[0]:,} bytes, of which {self._read:,} were read"
        if problem:
            hint = "a file that is followed only grows: run again on the new one"
            raise DataError(f"the file {problem}", code="RT222", hint=hint, file=self._path)


class CompleteLines:
    """The lines of a file that is being appended to, without one that has no end yet."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = _find_last_line_end(stream)
        stream.seek(0)

    def read(self, size: int) -> bytes:
        """Return some bytes, at most `size`; none at the end."""
        data = self._stream.read(min(size, self._left))
        self._left -= len(data)
        return data


def _find_last_line_end(stream: BinaryIO) -> int:
    """Return how many bytes there are up to the last line feed."""
    end = stream.seek(0, os.SEEK_END)
    while end:
        start = max(end - PIECE_BYTES, 0)
        stream.seek(start)
        at = stream.read(end - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0
