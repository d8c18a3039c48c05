"""Signals that end a run: at once, or at the end of a block.

An exception that a handler raises can be lost: while a module is imported from C, as pyarrow does
with pandas, whoever called it may drop any error. So a signal is remembered, and asked for again.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from rtbot.cli.exits import Interrupted, Terminated

if TYPE_CHECKING:
    from collections.abc import Iterator

ERRORS: dict[int, type[BaseException]] = {
    signal.SIGINT: Interrupted,
    signal.SIGTERM: Terminated,
}


class Stop:
    """Whether a signal has asked the run to end; a second one, or `at_once` any, ends it there."""

    def __init__(self, *, at_once: bool) -> None:
        self._at_once = at_once
        self.error: type[BaseException] | None = None

    def ask(self, number: int, frame: Any) -> None:  # noqa: ARG002 (a handler is called so)
        """Remember the signal."""
        first, self.error = self.error is None, ERRORS[number]
        if self._at_once or not first:
            raise self.error

    def check(self) -> None:
        """End the run if a signal has asked for it."""
        if self.error is not None:
            raise self.error


@contextmanager
def stopping(*, at_once: bool = False) -> Iterator[Stop]:
    """Let SIGINT and SIGTERM ask, for a while."""
    stop, before = Stop(at_once=at_once), {}
    with suppress(ValueError):  # a thread that is not the main one receives no signals
        for number in ERRORS:
            before[number] = signal.signal(number, stop.ask)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
