"""The path of one message while the function of the direct path is still to be compiled.

A session that was pushed tables has compiled the functions for these, and not the twins for one row
of `DirectPath`. Twins that are on the disk are loaded. Else messages go by another path, with what
is compiled already: the first ones by that alone, further ones while a thread compiles. Where they
come so fast that the thread and its caller only hinder each other, the caller waits for it.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from rtbot.compiler import jit
from rtbot.compiler.calls import SegmentCall
from rtbot.runtime.direct_path import DirectPath, find_function
from rtbot.runtime.push_one import PushPath

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Thread

    from rtbot.runtime.session import Session

SAMPLES = {"number": 0.0, "integer": 0, "boolean": False}


FEW = 64
"""Messages for which nothing is compiled."""

MANY, SECONDS = 1024, 0.5
"""Messages that come fast if they come within so many seconds."""


class WaitingPath(PushPath):
    """`push_one` by another path until a thread has compiled what `DirectPath` calls."""

    def __init__(self, session: Session, call: SegmentCall, other: PushPath) -> None:
        assert call.input is not None
        super().__init__(session, call.input)
        self.call, self.other = call, other
        self.count = 0
        self.since = 0.0
        self.work: Thread | None = None

    def push(self, time: int, value: Any, key: Any) -> dict[str, Any]:
        """Push one message, as `Session.push_one`."""
        self.count += 1
        if self.count <= FEW:
            return self.other.push(time, value, key)
        session = self.session
        if self.work is None:
            function = find_function(session, self.call)
            self.work = jit.compile_aside(function, _make_sample(session, self.call))
            self.since = perf_counter()
        elif (self.count - FEW) % MANY == 0:
            now = perf_counter()
            if now - self.since < SECONDS:
                self.work.join()
            self.since = now
        if self.work.is_alive():
            return self.other.push(time, value, key)
        path = session.push_paths[self.name] = DirectPath(session, self.call)
        return path.push(time, value, key)


def must_wait(session: Session, call: SegmentCall) -> bool:
    """Return whether the direct path would compile where the other paths do not."""
    if jit.is_ready(find_function(session, call)):
        return False
    return all(jit.has_code(getattr(session.module, c.function.name)) for c in session.plan.calls)


def load_kept(session: Session) -> None:
    """Load what is on the disk for the direct paths, so that no message waits for that."""
    for call in list_direct_calls(session):
        function = find_function(session, call)
        if not jit.has_code(function) and jit.is_kept(function):
            jit.compile_for(function, _make_sample(session, call))


def list_direct_calls(session: Session) -> Iterator[SegmentCall]:
    """Yield the calls behind inputs that a direct path serves."""
    plan, ports = session.plan, session.input_ports
    for call in plan.calls:
        if isinstance(call, SegmentCall) and DirectPath.can_serve(plan, call, ports):
            yield call


def _make_sample(session: Session, call: SegmentCall) -> tuple[Any, ...]:
    """Return arguments of the types that a message gives the function."""
    assert call.input is not None
    runner = session.runner
    values = [SAMPLES[type_.kind] for type_ in session.plan.streams[call.source].types]
    return 0, 0, *values, *runner.list_state_arrays(call)
