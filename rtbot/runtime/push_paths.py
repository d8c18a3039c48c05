"""The choice of a path of one message for every input: the fastest that serves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.compiler.calls import RetimeCall
from rtbot.runtime.buffered_path import BufferedPath
from rtbot.runtime.direct_path import DirectPath
from rtbot.runtime.push_one import General
from rtbot.runtime.retimed_path import RetimedPath
from rtbot.runtime.waiting_path import WaitingPath, list_direct_calls, must_wait

if TYPE_CHECKING:
    from rtbot.runtime.push_one import PushPath
    from rtbot.runtime.session import Session


def choose_paths(session: Session) -> dict[str, PushPath]:
    """Choose the fastest path of every input that has a faster one than `push`."""
    plan, ports = session.plan, session.input_ports
    found: dict[str, PushPath] = {}
    if not any(port.holds for port in ports.values()):
        sets_time = any(isinstance(call, RetimeCall) for call in plan.calls)
        kind = RetimedPath if sets_time else BufferedPath
        found |= {name: kind(session, name) for name in ports}
    for call in list_direct_calls(session):
        assert call.input is not None
        if must_wait(session, call):
            other = found.get(call.input) or General(session, call.input)
            found[call.input] = WaitingPath(session, call, other)
        else:
            found[call.input] = DirectPath(session, call)
    return found
