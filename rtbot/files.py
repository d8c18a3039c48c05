"""The only place that opens, renames and removes files, so that a test can make any of it fail."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rtbot.errors import ResourceLimit

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDARD = "-"
"""Stands for stdin where something is read and for stdout where something is written."""


class Files:
    """File work of one run. A subclass that fails at operation k replaces it in tests."""

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading; `-` is stdin."""
        return sys.stdin.buffer if path == STANDARD else Path(path).open("rb")

    def create(self, path: str) -> BinaryIO:
        """Create or empty a file for writing; `-` is stdout."""
        return sys.stdout.buffer if path == STANDARD else Path(path).open("wb")

    def read(self, path: str, limit: int) -> bytes:
        """Read a whole file, or raise ResourceLimit if it has more bytes than `limit`."""
        with self.open(path) as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise ResourceLimit(f"{path} has more than {limit} bytes")
        return data

    def write(self, path: str, data: bytes) -> None:
        """Write a whole file, which appears only when all of it is on the disk."""
        with self.replacing(path) as file:
            file.write(data)

    @contextmanager
    def replacing(self, path: str) -> Iterator[BinaryIO]:
        """Write to a file beside `path` that takes its place at the end, unless there is an error.

        What is no regular file (a pipe, a terminal, a device) is written to directly.
        """
        if path == STANDARD or (Path(path).exists() and not Path(path).is_file()):
            file = self.create(path)
            try:
                yield file
            finally:
                file.flush()
                if path != STANDARD:
                    file.close()
            return
        part = f"{path}.{os.getpid()}.part"
        try:
            with self.create(part) as file:
                yield file
                self.sync(file)
            self.rename(part, path)
        except BaseException:
            self.remove(part)
            raise
        self.sync_folder(path)

    def sync(self, file: BinaryIO) -> None:
        """Force what was written to a file onto the disk."""
        file.flush()
        os.fsync(file.fileno())

    def sync_folder(self, path: str) -> None:
        """Force onto the disk that the file of this path is in its folder."""
        if os.name == "nt":
            return
        folder = os.open(Path(path).absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def rename(self, source: str, target: str) -> None:
        """Give a file another name, replacing the one that has it."""
        Path(source).replace(target)

    def remove(self, path: str) -> None:
        """Remove a file if it is there."""
        Path(path).unlink(missing_ok=True)

    def make_folder(self, path: str) -> None:
        """Make a folder, and those above it, unless it is there."""
        Path(path).mkdir(parents=True, exist_ok=True)

    def is_folder(self, path: str) -> bool:
        """Whether the path is a folder, or asks to become one by a slash at its end."""
        return path.endswith(("/", os.sep)) or Path(path).is_dir()

    def matching(self, pattern: str) -> list[str]:
        """Return the files that a pattern with `*`, `?` or `[` stands for, in the order of names.

        A path without these stands for itself, as does one that exists.
        """
        if not has_magic(pattern) or Path(pattern).exists():
            return [pattern]
        found = sorted(glob(pattern, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute)
        if not found:
            raise FileNotFoundError(2, "no file matches", pattern)
        return found
