"""The only place that opens, renames and removes files, so that a test can make any of it fail."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from errno import EEXIST, EISDIR, ELOOP, ENOSYS
from glob import escape, glob, has_magic
from pathlib import Path
from stat import S_ISCHR, S_ISREG
from typing import TYPE_CHECKING, BinaryIO

from rtbot.core.errors import ResourceLimit
from rtbot.storage.safe_paths import (
    PART,
    beginning_of,
    check_own,
    is_foreign,
    keep_mode,
    part_of,
    place_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDARD = "-"
"""Means stdin where something is read and stdout where something is written."""


ASIDE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Follow no link, and do not wait for the reader of a pipe."""


@contextmanager
def name_path_in_errors(path: str) -> Iterator[None]:
    """Let errors of the system name the path that the user gave, and not that of a part or none."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and not isinstance(error, BrokenPipeError):
            error.filename = "stdout" if path == STANDARD else path
        raise


class Files:
    """File work of one run. A subclass that fails at operation k replaces it in tests."""

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading; `-` is stdin."""
        return sys.stdin.buffer if path == STANDARD else Path(path).open("rb")

    def create(self, path: str, mode: int = 0o666) -> BinaryIO:
        """Create a file for writing that is not there yet, not even as a link."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | ASIDE
        return os.fdopen(os.open(path, flags, mode), "wb")

    def direct(self, path: str) -> BinaryIO:
        """Open a pipe, a terminal or a device for writing; `-` is stdout."""
        if path == STANDARD:
            return sys.stdout.buffer
        number = os.open(path, os.O_WRONLY)
        if S_ISREG(os.fstat(number).st_mode):
            os.close(number)
            raise OSError(EEXIST, "another file has taken this place", path)
        return os.fdopen(number, "wb")

    def update(self, path: str, mode: int = 0o666) -> BinaryIO:
        """Open a file for reading and writing as it is; make it if it is not there.

        Raises OSError for a link, and for what somebody else can have put there to be overwritten.
        """
        try:
            number = os.open(path, os.O_RDWR | os.O_CREAT | ASIDE, mode)
        except OSError as error:
            if error.errno != ELOOP:
                raise
            raise OSError(ELOOP, "a link is in this place; remove it", path) from None
        try:
            check_own(number, path)
        except OSError:
            os.close(number)
            raise
        return os.fdopen(number, "r+b")

    def truncate(self, file: BinaryIO, length: int) -> None:
        """Truncate a file that is open for writing, and go on behind that."""
        file.truncate(length)
        file.seek(length)

    def lock(self, file: BinaryIO) -> bool:
        """Lock an open file for this process, until it is closed or the process ends.

        Returns False if another has it. Raises OSError where the system has no such locks.
        """
        try:
            import fcntl
        except ImportError:
            raise OSError(ENOSYS, "this system has no locks on files") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def stamp(self, file: BinaryIO | str) -> tuple[int, ...] | None:
        """Return bytes, device, number and times of change of a file, open or not; None if gone.

        A file whose stamp is what it was has not been written to: the first time may have been set
        back, but the system sets the second whenever anything is changed, that time too.
        """
        try:
            found = Path(file).stat() if isinstance(file, str) else os.fstat(file.fileno())
        except FileNotFoundError:
            return None
        times = found.st_mtime_ns, found.st_ctime_ns
        return found.st_size, found.st_dev, found.st_ino, *times

    def read(self, path: str, limit: int) -> bytes:
        """Read a whole file, or raise ResourceLimit if it has more bytes than `limit`."""
        with self.open(path) as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise ResourceLimit(f"{path} has more than {limit} bytes", code="RT306")
        return data

    def write(self, path: str, data: bytes) -> None:
        """Write a whole file, which appears only when all of it is on disk."""
        with self.open_replacement(path) as file:
            file.write(data)

    def place(self, path: str, data: bytes) -> None:
        """Write a whole file, and make its folder unless it is there."""
        self.make_folder(str(Path(path).absolute().parent))
        self.write(path, data)

    @contextmanager
    def open_replacement(self, path: str, beside: str | None = None) -> Iterator[BinaryIO]:
        """Write to a file beside `path` that takes its place at the end, unless there is an error.

        Its name begins as `path`, or as `beside`. It keeps the permissions of what it replaces. A
        link stays a link: its target is replaced. What is no regular file (a pipe, a terminal, a
        device) is written to directly.
        """
        if not self.is_regular(path):
            file = self.direct(path)
            try:
                yield file
            finally:
                self._end(file, path)
            return
        with name_path_in_errors(path):
            place = place_of(path)
        part = part_of(beside or place)
        try:
            with name_path_in_errors(path):
                file = self.create(part)
                keep_mode(file, place)
            with self._close_quietly(file):
                yield file
                self._sync(file, path)
            with name_path_in_errors(path):
                self.rename(part, place)
        except BaseException:
            with suppress(OSError):  # the first error is the one that is reported
                self.remove(part)
            raise
        self.sync_folder(place)

    def is_foreign(self, file: BinaryIO, path: str) -> bool:
        """Return whether another user has put an open file into a folder writable by everybody."""
        return is_foreign(os.fstat(file.fileno()), path)

    def probe(self, path: str) -> None:
        """Raise the OSError now that `open_replacement` would raise later."""
        if path != STANDARD and Path(path).is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR), path)
        if self.is_regular(path):
            with name_path_in_errors(path):
                part = part_of(place_of(path))
                self.create(part).close()
                self.remove(part)

    def remove_parts(self, place: str) -> None:
        """Remove what killed processes had started to write beside their files."""
        begin = beginning_of(place)
        for part in glob(f"{escape(begin)}.*.part"):  # noqa: PTH207 (Path.glob takes no absolute)
            if PART.fullmatch(part, len(begin)):
                self.remove(part)

    def _end(self, file: BinaryIO, path: str) -> None:
        with name_path_in_errors(path):
            file.flush()
            if path != STANDARD:
                file.close()

    def _sync(self, file: BinaryIO, path: str) -> None:
        with name_path_in_errors(path):
            self.sync(file)

    @contextmanager
    def _close_quietly(self, file: BinaryIO) -> Iterator[None]:
        """Close a file; after an error, a failure to write the rest is not an error of its own."""
        try:
            yield
        except BaseException:
            with suppress(OSError):
                file.close()
            raise
        file.close()

    def scratch(self, path: str) -> BinaryIO:
        """Open a file without a name on the disk of `path`, or of the system for what is no file.

        The system frees it when it is closed or when the process ends, in any way.
        """
        from tempfile import TemporaryFile

        folder = Path(place_of(path)).parent if self.is_regular(path) else None
        with name_path_in_errors(path):
            return TemporaryFile(dir=folder)

    def is_regular(self, path: str) -> bool:
        """Return whether the path is that of a file on a disk, or of none yet; `-` is not."""
        return path != STANDARD and (not Path(path).exists() or Path(path).is_file())

    def size(self, path: str) -> int | None:
        """Return the bytes of a regular file; None of anything else."""
        found = os.fstat(sys.stdin.fileno()) if path == STANDARD else Path(path).stat()
        return found.st_size if S_ISREG(found.st_mode) else None

    def pipe(self, path: str) -> tuple[int, int] | None:
        """Return what is equal for two paths of one pipe, socket or terminal; None for other files.

        What is read from those is gone for the next reader.
        """
        try:
            found = os.fstat(sys.stdin.fileno()) if path == STANDARD else Path(path).stat()
        except (OSError, ValueError):  # not there, or stdin is not a file of the system
            return None
        is_null = S_ISCHR(found.st_mode) and found.st_rdev == Path(os.devnull).stat().st_rdev
        return None if S_ISREG(found.st_mode) or is_null else (found.st_dev, found.st_ino)

    def sync(self, file: BinaryIO) -> None:
        """Sync what was written to a file to disk."""
        file.flush()
        os.fsync(file.fileno())

    def sync_folder(self, path: str) -> None:
        """Sync to disk that the file of this path is in its folder."""
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
        if not Path(path).is_dir():
            self.make_folder(str(Path(path).absolute().parent))
            Path(path).mkdir(exist_ok=True)
            self.sync_folder(path)

    def is_folder(self, path: str) -> bool:
        """Return whether the path is a folder, or asks to become one by a slash at its end."""
        return path.endswith(("/", os.sep)) or Path(path).is_dir()

    def list_matching(self, pattern: str) -> list[str]:
        """Return the files that a pattern with `*`, `?` or `[` matches, in the order of names.

        A path without these is taken as it is, as is one that exists.
        """
        if not has_magic(pattern) or Path(pattern).exists():
            return [pattern]
        found = sorted(glob(pattern, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute)
        if not found:
            raise FileNotFoundError(2, "no file matches", pattern)
        return found
