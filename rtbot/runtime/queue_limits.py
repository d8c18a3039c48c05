"""How many rows may wait where streams meet, and which push is refused when there are too many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.compiler import pairing_layout
from rtbot.core.errors import QueueFull

if TYPE_CHECKING:
    from rtbot.runtime.pairing_pool import PairingPool
    from rtbot.runtime.session import Session

TOLERATED = 2
"""A push that also brings rows for which the waiting ones may wait is refused at so many times the
limit: with other keys or other times, they may release none of them."""


def check_queues(session: Session, coming: set[str]) -> None:
    """Refuse rows for an input that is ahead of another where the queue behind it is full."""
    for number, pool in enumerate(session.runner.pools):
        call = pool.call
        for k in range(len(call.ports)):
            held = pool.read_word(k, pairing_layout.HELD)
            if held < session.queue_limit:
                continue
            ahead = _find_inputs(session, call.sources[k][0])
            others = [j for j in range(len(call.ports)) if j != k]
            silent = [j for j in others if not pool.read_word(j, pairing_layout.HELD)] or others
            stalled = {n for j in silent for n in _find_inputs(session, call.sources[j][0])} - ahead
            helps = coming & stalled and held < TOLERATED * session.queue_limit
            if coming & ahead and stalled and not helps:
                ports = session.plan.ports.items()
                operator, port = next(p for p, e in ports if e.pairing == (number, k))
                raise QueueFull(
                    operator, port, held, min(stalled), _find_fullest_key(session, pool, k)
                )


def _find_inputs(session: Session, stream: int) -> set[str]:
    """Return the inputs that a stream comes from."""
    plan = session.plan
    kind, of = plan.progress[plan.streams[stream].progress[0]]
    while kind == "own":
        kind, of = plan.progress[of[0]]
    if kind == "input":
        return {of}
    return set().union(*(_find_inputs(session, s) for s, _ in plan.pairings[of].sources))


def _find_fullest_key(session: Session, pool: PairingPool, port: int) -> Any:
    """Return the key with the most rows that wait at the port; None in an unkeyed session."""
    if session.keys is None:
        return None
    words = pool.queue.view(np.int64).reshape(-1, pool.width)
    waiting = words[: session.keys.count, pairing_layout.QUEUE * port + pairing_layout.WAITING]
    return session.keys.decode_key(int(np.argmax(waiting)))
