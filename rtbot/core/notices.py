"""Notices on stderr, and how to suppress them."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_silenced: list[str] = []
"""Which notices are suppressed, or have been printed."""

_warned: set[str] = set()


@contextlib.contextmanager
def suppress_notices() -> Iterator[None]:
    """Suppress notices inside the block."""
    _silenced.append("hushed")
    try:
        yield
    finally:
        _silenced.remove("hushed")


def printable(text: str) -> str:
    """Return a text without what controls a terminal or changes the order of its letters.

    Names of files and columns, cells and operators' texts are the users', or of whoever sent them.
    """
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" or c.isprintable() else repr(c)[1:-1] for c in text)


def warn_once(text: str) -> None:
    """Print a notice to the user; the same text only once in a process."""
    if "hushed" not in _silenced and text not in _warned:
        _warned.add(text)
        print(printable(text), file=sys.stderr, flush=True)  # noqa: T201 (to the user)


def announce_compilation(*, beside: bool = False) -> None:
    """Print that something is being compiled, here or beside this process; once in a process."""
    if not _silenced:
        _silenced.append("told")
        where = " beside this run" if beside else ""
        notice = f"rtbot: compiling{where} (once; the result is kept) ..."
        print(notice, file=sys.stderr, flush=True)  # noqa: T201 (to the user who waits)
