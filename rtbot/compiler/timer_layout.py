"""Timers: where their words are, and what the loop of an operator with a `close` may call.

They are apart as the runtime reads them too, and no code is written here.
"""

from __future__ import annotations

from rtbot.compiler.pairing_layout import frontier_at, watch
from rtbot.operator import NEVER, step

SIZE, FLOOR, SHIFT, ENDING = 0, 1, 2, 3
"""Words of the header of timers: keys in their heap; what the frontier of a key is made of."""

TIMER_ARRAYS = ("timers", "timer_time", "timer_slot", "watched", "frontier", "pinned")
"""Parameters of an operator with a `close`, beside the others."""


@step
def is_due(due, until):  # noqa: ANN001, ANN201
    """Whether the frontier `until` has reached the time for which an operator waits."""
    return due != NEVER and due <= until


@step
def moves_on(due, before):  # noqa: ANN001, ANN201
    """Whether the `due` that a `close` at the time `before` returned is not for that time again."""
    return due > before or due == NEVER


STEPS = (is_due, moves_on, frontier_at, watch)
"""What the loop of an operator with a `close` may call."""
