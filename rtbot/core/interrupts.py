"""Ctrl-C that waits for a moment at which everything is in order."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


class HeldInterrupts:
    """Holds SIGINT back until `check` is called."""

    def __init__(self) -> None:
        self._came = False

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold interrupts back inside the block; they come to the main thread alone."""
        self._came = False
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def note(_signal: int, _frame: FrameType | None) -> None:
            self._came = True

        usual = signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)

    def check(self) -> None:
        """Raise KeyboardInterrupt if an interrupt has come."""
        if self._came:
            self._came = False
            raise KeyboardInterrupt
