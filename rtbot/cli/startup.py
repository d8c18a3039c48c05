"""Preparations before anything else is imported: signals, closed streams, and less to do."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn

STREAMS = (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w"))
"""Streams by their number: nothing can be read from the first, nor written to the second; what is
written to the third is lost."""


def prepare() -> None:
    """Let signals end the process at once and without a traceback, and occupy closed streams.

    Until `begin_collecting` no garbage is looked for, since all that imports make stays; nor does
    numpy's linear algebra, which nothing of ours calls, start threads of its own.
    """
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    for name, flags, mode in STREAMS:
        if getattr(sys, name) is None:  # otherwise the next file would get its number, and its text
            stream = os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8")
            setattr(sys, name, stream)


def begin_collecting() -> None:
    """Look for garbage from now on, but not in what is there, if `prepare` has put it off."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def end(code: int) -> NoReturn:
    """End the process, without taking apart what it is made of: that takes as long as importing it.

    What was registered for the end is done. Where more may have to be, Python ends as it always
    does: other threads, plugins and packages, a debugger or profiler, an output that takes no more.
    """
    import threading

    foreign = {"rtbot.graph.plugins", "rtbot.graph.packages"} & sys.modules.keys()
    others = threading.active_count() > 1 or foreign
    if others or sys.gettrace() or sys.getprofile() or sys.flags.interactive:
        sys.exit(code)
    atexit._run_exitfuncs()  # noqa: SLF001 (there is no other way)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)
    os._exit(code)


def _end(number: int, frame: Any) -> NoReturn:  # noqa: ARG001 (a handler is called so)
    """End now, while modules are imported or when all is done: there is nothing to clean up."""
    with suppress(OSError):
        os.write(2, b"interrupted\n")
    os._exit(128 + number)
