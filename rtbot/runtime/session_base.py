"""What sessions of all graphs have in common: when they take calls, and when they may be saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from rtbot.core.errors import StateError

if TYPE_CHECKING:
    from typing import Self

BROKEN = "resume from an earlier dump, or start again"


class SessionBase:
    """A session is open until it is finished, closed by the end of its `with` block, or broken."""

    finished = broken = closed = False

    @property
    def condition(self) -> str:
        """One of broken, finished, closed and open."""
        states = {"broken": self.broken, "finished": self.finished, "closed": self.closed}
        return next((name for name, is_so in states.items() if is_so), "open")

    def __enter__(self) -> Self:
        self.check_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True

    def __reduce__(self) -> NoReturn:
        hint = "take the bytes of session.dump(), and graph.resume(bytes) continues from them"
        raise TypeError(f"a session cannot be pickled or copied: {hint}")

    def check_open(self) -> None:
        """Raise StateError unless the session takes input."""
        if self.broken:
            raise StateError("a call was broken off in its middle", code="RT302", hint=BROKEN)
        if self.finished:
            raise StateError("the session is finished: it takes no more input", code="RT301")
        if self.closed:
            message = "the session is closed, as its `with` block has ended: it takes no more input"
            hint = "call finish() in the block; dump() still works, and resume() continues"
            raise StateError(message, code="RT301", hint=hint)

    def check_whole(self) -> None:
        """Raise StateError unless the session may be saved."""
        if self.broken:
            message = "a call was broken off in its middle: there is nothing whole to save"
            raise StateError(message, code="RT302", hint=BROKEN)
