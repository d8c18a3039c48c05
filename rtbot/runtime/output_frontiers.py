"""Up to which time the outputs of a session are final."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.runtime.frontier import shift_times
from rtbot.runtime.kernels.rows import FIRST, LAST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.runtime.session import Session


def find_frontier(session: Session) -> int | None:
    """Return the time of an unkeyed session; None before any message."""
    if session.keys is not None or session.finished:
        return LAST if session.finished else None
    floors = session.runner.progress.list_global_frontiers()
    least = int(_find_earliest(session, np.zeros(1, np.int64), floors)[0])
    return None if least == FIRST else least


def find_output_frontiers(session: Session) -> dict[str, int]:
    """Return up to which time every output is final for all keys, also for those yet to come."""
    outputs = session.plan.places
    if session.finished:
        return dict.fromkeys(outputs, LAST)
    slots = np.zeros(1, np.int64) if session.keys is None else session.keys.list_open_slots()
    floors = session.runner.progress.list_global_frontiers()
    found = {}
    for name, (stream, _) in outputs.items():
        index, shift = session.plan.streams[stream].progress
        least = int(_find_earliest_of(session, stream, slots, floors).min(initial=LAST))
        if session.keys is not None:
            least = min(least, int(shift_times(np.array([floors[index]]), shift)[0]))
        found[name] = least
    return found


def find_frontiers(session: Session, columns: Sequence[Any], *, ever: bool = False) -> np.ndarray:
    """Return the times of these keys in a keyed session; the greatest for a key it does not hold.

    `ever`: those that would hold if all inputs were advanced to the end; rows beyond wait for rows.
    """
    floors = session.runner.progress.list_global_frontiers()
    floors = [LAST] * len(floors) if ever else floors
    slots = _slots(session, columns)
    held = slots >= 0
    return np.where(held, _find_earliest(session, np.where(held, slots, 0), floors), LAST)


def find_newest(session: Session, name: str, columns: Sequence[Any]) -> np.ndarray:
    """Return the newest times of an input for these keys in a keyed session; FIRST of none."""
    slots = _slots(session, columns)
    return np.where(slots >= 0, session.input_ports[name].last[np.maximum(slots, 0)], FIRST)


def _slots(session: Session, columns: Sequence[Any]) -> np.ndarray:
    """Find the slots of these keys; -1 of one that the session does not hold."""
    assert session.keys is not None, "an unkeyed session has one frontier"
    before = session.keys.mark()
    try:
        slots, _ = session.keys.find(session.keys.encode(columns))
    finally:
        session.keys.roll_back(before)
    return slots


def is_all_final(session: Session, until: int) -> bool:
    """Return whether every output of every key of a keyed session is final up to this time."""
    assert session.keys is not None, "an unkeyed session has one frontier"
    floors = session.runner.progress.list_global_frontiers()
    least = _find_earliest(session, session.keys.list_open_slots(), floors)
    return bool((least >= until).all())


def _find_earliest(session: Session, slots: np.ndarray, floors: Sequence[int]) -> np.ndarray:
    """Return the earliest frontier over all outputs, of every slot."""
    least = np.full(len(slots), LAST)
    for stream, _ in session.plan.places.values():
        least = np.minimum(least, _find_earliest_of(session, stream, slots, floors))
    return least


def _find_earliest_of(
    session: Session, stream: int, slots: np.ndarray, floors: Sequence[int]
) -> np.ndarray:
    """Return the frontier of a stream, of every slot."""
    index, shift = session.plan.streams[stream].progress
    known, pinned = (array[slots] for array in session.runner.progress.lookup(index))
    return shift_times(np.where(pinned, known, np.maximum(known, floors[index])), shift)
