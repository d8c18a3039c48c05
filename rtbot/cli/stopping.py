"""Signals that end a run at the end of a block, and not anywhere."""

from __future__ import annotations

import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from rtbot.cli.exits import Terminated

if TYPE_CHECKING:
    from collections.abc import Iterator

ERRORS: dict[int, type[BaseException]] = {
    signal.SIGINT: KeyboardInterrupt,
    signal.SIGTERM: Terminated,
}


class Stop:
    """Whether a signal has asked the run to end; a second one ends it at once."""

    def __init__(self) -> None:
        self.error: type[BaseException] | None = None

    def ask(self, number: int, frame: Any) -> None:  # noqa: ARG002 (a handler is called so)
        """Remember the first signal."""
        if self.error is not None:
            raise ERRORS[number]
        self.error = ERRORS[number]


@contextmanager
def stopping() -> Iterator[Stop]:
    """Let SIGINT and SIGTERM only ask, for a while."""
    stop, before = Stop(), {}
    with suppress(ValueError):  # a thread that is not the main one receives no signals
        for number in ERRORS:
            before[number] = signal.signal(number, stop.ask)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
