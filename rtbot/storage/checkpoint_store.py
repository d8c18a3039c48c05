"""A checkpoint on disk: one file, one process that writes it, and never half of it.

A new checkpoint is written beside the old one, synced to disk, and then renamed over it, so that
there is a whole one at every moment. The process that writes holds a lock of the kernel, which ends
with the process; and it writes only over the checkpoint that it knows, so that a process which lost
its lock (because the file was removed) cannot undo the work of its successor.
"""

from __future__ import annotations

import os
import platform
from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING

from rtbot.core.errors import CheckpointError
from rtbot.storage.container import DIGEST, START, is_plausible
from rtbot.storage.files import name_path_in_errors
from rtbot.storage.safe_paths import part_of, place_of

if TYPE_CHECKING:
    from typing import BinaryIO

    from rtbot.storage.files import Files

HOLDER_BYTES = 1 << 10
PRIVATE = 0o600
"""Permissions of a checkpoint, which decides what compiled code does, and of its lock."""


class CheckpointStore:
    """The checkpoint file of a run: `open` comes first, `close` last."""

    def __init__(self, files: Files, path: str) -> None:
        self.path = path
        self._files = files
        with name_path_in_errors(path):
            self._place = place_of(path)
        self._lock: BinaryIO | None = None
        self._known: bytes | None = None

    def open(self) -> None:
        """Take the lock, or raise CheckpointError if another process has it."""
        while self._lock is None:
            self._lock = self._acquire_lock()
        self._files.remove_parts(self._place)
        self._known = self._read_digest()

    def read(self) -> bytes | None:
        """Return the checkpoint, None if there is none yet; only a part of what cannot be one."""
        stamp = self._files.stamp(self._place)
        if stamp is None:
            return None
        with name_path_in_errors(self.path), self._files.open(self._place) as file:
            if self._files.is_foreign(file, self._place):
                message = f"{self.path} is another user's, in a folder that all can write to"
                hint = "keep checkpoints where only you can write, as you would a program"
                raise CheckpointError(message, code="RT320", hint=hint)
            start = file.read(START)
            whole = is_plausible(start, stamp[0])
            return start + file.read() if whole else start + file.read(DIGEST)

    def commit(self, blob: bytes) -> None:
        """Make this the checkpoint, so that it survives any crash.

        Raises CheckpointError if the file is not the one that this process knows.
        """
        part = part_of(self._place)
        with name_path_in_errors(self.path):
            try:
                with self._files.create(part, PRIVATE) as file:
                    file.write(blob)
                    self._files.sync(file)
                self._check_ownership()
                self._files.rename(part, self._place)
            except BaseException:
                with suppress(OSError):
                    self._files.remove(part)
                raise
            self._files.sync_folder(self._place)
        self._known = blob[-DIGEST:]

    def close(self) -> None:
        """Release the lock."""
        if self._lock is None:
            return
        if self._holds_lock(self._lock):
            with suppress(OSError):
                self._files.remove(self._name)
        self._lock.close()
        self._lock = None

    @property
    def _name(self) -> str:
        return self._place + ".lock"

    def _acquire_lock(self) -> BinaryIO | None:
        """Lock the file; None if it was removed meanwhile, by the holder of the lock before."""
        with name_path_in_errors(self._name), ExitStack() as stack:
            file = stack.enter_context(closing(self._files.update(self._name, PRIVATE)))
            if not self._files.lock(file):
                raise self._make_lock_error(file.read(HOLDER_BYTES).decode(errors="replace"))
            if not self._holds_lock(file):
                return None
            self._files.truncate(file, 0)
            file.write(f"process {os.getpid()} on {platform.node()}".encode())
            file.flush()
            stack.pop_all()
            return file

    def _holds_lock(self, lock: BinaryIO) -> bool:
        """Return whether the locked file is still the one that others would lock."""
        there, own = self._files.stamp(self._name), self._files.stamp(lock)
        return there is not None and own is not None and there[1:3] == own[1:3]

    def _check_ownership(self) -> None:
        assert self._lock is not None, "a checkpoint is written under its lock"
        if not self._holds_lock(self._lock) or self._read_digest() != self._known:
            message = "another process has taken this run over: this one must not go on"
            raise CheckpointError(message, code="RT316", hint=f"the checkpoint is {self.path}")

    def _read_digest(self) -> bytes | None:
        """Return the digest at the end of the file that is there."""
        stamp = self._files.stamp(self._place)
        if stamp is None:
            return None
        with self._files.open(self._place) as file:
            file.seek(max(stamp[0] - DIGEST, 0))
            return file.read(DIGEST)

    def _make_lock_error(self, holder: str) -> CheckpointError:
        by = holder or "another process"
        message = f"{self.path} is used by {by}"
        hint = "wait for that run to end, or give this one another --checkpoint"
        return CheckpointError(message, code="RT316", hint=hint)
