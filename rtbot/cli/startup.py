"""Preparations before anything else is imported: signals, and streams that are closed."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn

STREAMS = (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w"))
"""Streams by their number: nothing can be read from the first, nor written to the second; what is
written to the third is lost."""


def prepare() -> None:
    """Let signals end the process at once and without a traceback, and occupy closed streams."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    for name, flags, mode in STREAMS:
        if getattr(sys, name) is None:  # otherwise the next file would get its number, and its text
            stream = os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8")
            setattr(sys, name, stream)


def _end(number: int, frame: Any) -> NoReturn:  # noqa: ARG001 (a handler is called so)
    """End now, while modules are imported or when all is done: there is nothing to clean up."""
    with suppress(OSError):
        os.write(2, b"interrupted\n")
    os._exit(128 + number)
