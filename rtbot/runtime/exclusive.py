"""One call at a time: a session that several threads use runs their calls one after the other.

The attribute `busy` of the object is whether a call is running. It is exchanged, not locked: a lock
would cost a sixth of a `push_one`. CPython switches threads, and raises what a signal asks for, at
calls and at backward jumps; `busy, self.busy = self.busy, True` has neither, nor is there one from
it to the `try` behind it.
"""

from __future__ import annotations

import time
import traceback
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from rtbot.core.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Callable


class Exclusive(Protocol):
    """An object that does one thing at a time."""

    busy: bool


P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=Exclusive)

SHORTEST, LONGEST = 2e-5, 2e-3
"""Seconds between two checks of a session that is busy."""

_codes: set[Any] = set()
"""The code of the functions that take a session exclusively."""


def exclusive(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Make a method of a session wait until no other call of it is running."""

    @wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        busy, self.busy = self.busy, True
        if busy:
            wait(self)
        try:
            return method(self, *args, **kwargs)
        finally:
            self.busy = False

    _codes.add(call.__code__)  # type: ignore[attr-defined]
    return call


def by_itself(method: Callable[P, R]) -> Callable[P, R]:
    """Mark a method that contains the lines of `exclusive`: one call less."""
    _codes.add(method.__code__)
    return method


def wait(session: Exclusive) -> None:
    """Return with the session taken; raise StateError if this thread has it already."""
    if _inside(session):
        message = "the session is in the middle of another call of this thread"
        hint = "let that return first; nothing was done"
        raise StateError(message, code="RT308", hint=hint)
    pause = SHORTEST
    busy = True
    while busy:
        time.sleep(pause)
        pause = min(2 * pause, LONGEST)
        busy, session.busy = session.busy, True


def _inside(session: Exclusive) -> bool:
    """Return whether a call further up in this thread has the session."""
    frames = [frame for frame, _ in traceback.walk_stack(None) if frame.f_code in _codes]
    return sum(frame.f_locals["self"] is session for frame in frames) > 1
