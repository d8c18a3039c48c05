"""A file that only grows, for which a checkpoint records how far it is certain."""

from __future__ import annotations

import hashlib
import sys
from typing import TYPE_CHECKING

from rtbot.core.errors import CheckpointError
from rtbot.storage.files import name_path_in_errors
from rtbot.storage.safe_paths import place_of

if TYPE_CHECKING:
    from typing import Any

    from rtbot.storage.files import Files

CHUNK_BYTES = 1 << 20
EMPTY_EXTENT: tuple[int, str] = (0, hashlib.sha256().hexdigest())
"""The length and digest of an empty file."""


class GrowingFile:
    """A file that is written from `length` on, where its bytes before that have this digest.

    Raises CheckpointError if they have another, or if another process writes the file. What is
    behind them is cut off. Without `follow` a link is an error, and not followed.
    """

    def __init__(
        self,
        files: Files,
        path: str,
        length: int = 0,
        digest: str = EMPTY_EXTENT[1],
        *,
        follow: bool = True,
    ) -> None:
        self.path, self.length = path, length
        self._files = files
        self._hash = hashlib.sha256()
        with name_path_in_errors(path):
            self._is_new = files.stamp(path) is None
            if self._is_new and length:
                raise _make_changed_error(
                    f"{path} is gone, and had {length:,} bytes at the checkpoint"
                )
            self._place = place_of(path) if follow else path
            self._file: Any = files.update(self._place)
            try:
                self._prepare(digest)
            except BaseException:
                self._file.close()
                raise

    def _prepare(self, digest: str) -> None:
        if not self._files.lock(self._file):
            message = f"{self.path} is written by another process"
            raise CheckpointError(message, code="RT316", hint="wait for that run to end")
        check_prefix(self._file, self.path, self.length, digest, self._hash)
        self._files.truncate(self._file, self.length)

    def write(self, data: Any) -> int:
        """Append bytes."""
        data = memoryview(data).cast("B")
        self._hash.update(data)
        self._file.write(data)
        self.length += len(data)
        return len(data)

    def sync(self) -> tuple[int, str]:
        """Sync all of it to disk; return its length and digest."""
        with name_path_in_errors(self.path):
            self._files.sync(self._file)
            if self._is_new:
                self._files.sync_folder(self._place)
                self._is_new = False
        return self.length, self._hash.hexdigest()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def measure_extent(files: Files, path: str) -> tuple[int, str]:
    """Return the length and the digest of a file."""
    found = hashlib.sha256()
    with name_path_in_errors(path), files.open(path) as file:
        length = update_hash(found, file, sys.maxsize)
    return length, found.hexdigest()


def update_hash(found: Any, stream: Any, most: int) -> int:
    """Update a hash with the bytes of a stream, at most so many; return how many there were."""
    left = most
    while left and (piece := stream.read(min(left, CHUNK_BYTES))):
        found.update(piece)
        left -= len(piece)
    return most - left


def check_extent(files: Files, path: str, extent: tuple[int, str]) -> None:
    """Raise CheckpointError unless a file has this length and digest."""
    if files.stamp(path) is None:
        raise _make_changed_error(f"{path} is gone, which the run had made")
    if measure_extent(files, path) != extent:
        raise _make_changed_error(f"{path} is not what the run had made")


def check_prefix(file: Any, path: str, length: int, digest: str, found: Any) -> None:
    """Raise CheckpointError unless a file begins with so many bytes of this digest.

    `found` is a hash that is updated with them.
    """
    there = update_hash(found, file, length)
    if there < length:
        has = f"{there:,} bytes" if there else "nothing in it"
        message = f"{path} has {has}, and had {length:,} bytes at the checkpoint"
    elif found.hexdigest() != digest:
        message = f"{path} does not begin any more with what was written before the checkpoint"
    else:
        return
    raise _make_changed_error(message)


def _make_changed_error(message: str) -> CheckpointError:
    hint = "put the file back as it was, or start again: leave --resume out"
    return CheckpointError(message, code="RT315", hint=hint)
