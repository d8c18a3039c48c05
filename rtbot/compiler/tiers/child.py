"""The process that compiles beside this one. It may end later than this one does."""

from __future__ import annotations

import atexit
import json
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rtbot.compiler.tiers import compile_ahead

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.compiler.tiers.compile_ahead import Wanted

LOW_PRIORITY = 10
"""How nice a process is that compiles for later runs."""


class Ended(NamedTuple):
    """How a process ended: its exit code (None if that is not known) and seconds of its CPU."""

    code: int | None
    seconds: float


class CompilerProcess:
    """A process that compiles functions of modules and keeps them on disk."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._parent = os.getpid()
        atexit.register(self._leave)

    def poll(self) -> Ended | None:
        """Return how the process ended, or None if it is running."""
        try:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        except ChildProcessError:  # a fork of the process that started it, or SIGCHLD is ignored
            atexit.unregister(self._leave)
            return Ended(None, 0.0)
        if not pid:
            return None
        atexit.unregister(self._leave)
        return Ended(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime)

    def _leave(self) -> None:
        """Let the process end by itself, for later runs, behind all that is more urgent."""
        if os.getpid() == self._parent:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self.pid, LOW_PRIORITY)


def can_start() -> bool:
    """Return whether this process was started by a Python that can be started again."""
    name = Path(sys.executable or "").name
    return os.name == "posix" and name.startswith(("python", "pypy")) and not _is_frozen()


def start(jobs: Iterable[tuple[str, Wanted]]) -> CompilerProcess | None:
    """Start a process for modules, by their texts; None where that is not possible.

    It is of a session of its own, so that neither an interrupt from the terminal nor the end of
    this process stops it.
    """
    described = [
        (text, {name: sorted(types) for name, types in wanted.items()}) for text, wanted in jobs
    ]
    try:
        with tempfile.TemporaryFile() as given:
            given.write(json.dumps(described).encode())
            given.seek(0)
            return CompilerProcess(_spawn(given.fileno()))
    except (OSError, NotImplementedError):
        return None


def _spawn(stdin: int) -> int:
    command = [sys.executable, "-P", "-m", compile_ahead.__name__]
    nowhere = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
    return os.posix_spawn(
        sys.executable,
        command,
        {**os.environ, "PYTHONPATH": os.pathsep.join(_list_paths())},
        file_actions=[(os.POSIX_SPAWN_DUP2, stdin, 0), nowhere, (os.POSIX_SPAWN_DUP2, 1, 2)],
        setsid=True,
    )


def _list_paths() -> list[str]:
    """Return where the process looks for packages first: here, if this one is not installed."""
    import sysconfig

    root = str(Path(compile_ahead.__file__).parents[3])
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    given = os.environ.get("PYTHONPATH")
    return ([] if root in installed else [root]) + ([given] if given else [])


def _is_frozen() -> bool:
    return bool(getattr(sys, "frozen", False))
