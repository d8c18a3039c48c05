"""Signals that end a run: at once, or at the end of a block.

An exception that a handler raises can be lost: while a module is imported from C, as pyarrow does
with pandas, the caller may drop any error. So a signal is remembered, and checked for again.
"""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Interrupted(KeyboardInterrupt):
    """SIGINT arrived; a class of its own, since Python (3.11) remembers KeyboardInterrupt itself.

    Where that has passed through generated code, as `dataclass` makes it, the process ends by the
    signal and not with its exit code, even if the error was caught.
    """


class Terminated(BaseException):
    """SIGTERM arrived."""


ERRORS: dict[int, type[BaseException]] = {
    signal.SIGINT: Interrupted,
    signal.SIGTERM: Terminated,
}


class StopRequest:
    """Whether a signal has asked the run to end; a second one, or `at_once` any, ends it there."""

    def __init__(self, *, at_once: bool) -> None:
        self._at_once = at_once
        self.error: type[BaseException] | None = None

    # A handler is called with a frame.
    def handle_signal(self, number: int, frame: Any) -> None:  # noqa: ARG002
        """Remember the signal."""
        first, self.error = self.error is None, ERRORS[number]
        if self._at_once or not first:
            raise self.error

    def check(self) -> None:
        """End the run if a signal has asked for it."""
        if self.error is not None:
            raise self.error

    def settle(self) -> None:
        """Take the request for done: the run ended as it asked for."""
        self.error = None

    def cause(self, error: BaseException) -> BaseException:
        """Return the signal, if one has come, instead of the error that it became."""
        if self.error is None or isinstance(error, self.error):
            return error
        return self.error()

    def hide(self, hook: Callable[[Any], object], unraisable: Any) -> None:
        """Let Python report an error that it drops; a signal is checked for again."""
        if self.error is None or not isinstance(unraisable.exc_value, self.error):
            hook(unraisable)


_current: list[StopRequest] = []


def check_signals() -> None:
    """End a wait if a signal has asked for it."""
    if _current:
        _current[-1].check()


@contextmanager
def catch_signals(*, at_once: bool = False) -> Iterator[StopRequest]:
    """Let SIGINT and SIGTERM request a stop inside the block; earlier requests remain."""
    stop, before, hook = StopRequest(at_once=at_once), {}, sys.unraisablehook
    stop.error = _current[-1].error if _current else None
    _current.append(stop)
    sys.unraisablehook = partial(stop.hide, hook)
    with suppress(ValueError):  # a thread that is not the main one receives no signals
        for number in ERRORS:
            before[number] = signal.signal(number, stop.handle_signal)
    try:
        yield stop
    finally:
        _current.remove(stop)
        if _current:
            _current[-1].error = stop.error
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)
