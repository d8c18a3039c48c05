"""Refusal, before anything runs, of a push that would release too many rows behind a gap in time.

Known ahead are the grid points of an operator that reads an input itself, and only here, between
the checks of a push and its effects. What is behind other operators the `Executor` counts while it
runs, which is too late to refuse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.errors import ResourceLimit
from rtbot.runtime import executor
from rtbot.runtime.kernels.rows import FIRST, LAST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.compiler.calls import Grid
    from rtbot.compiler.plan import Plan
    from rtbot.runtime.input_port import InputPort, PreparedRows
    from rtbot.runtime.keys import KeyTable

NEVER = (
    "leave the row out, close its key before it or start another session behind it, "
    "or take a larger interval"
)


def check_grids(
    plan: Plan, ports: Mapping[str, InputPort], keys: KeyTable | None, slots: np.ndarray,
    prepared: Mapping[str, PreparedRows],
) -> None:  # fmt: skip
    """Raise ResourceLimit if these rows would release more than a push may."""
    for name, grid in plan.grids.items():
        input_ = grid.input
        if input_ not in prepared or ports[input_].holds:
            continue
        spans, newest, known = _spans(grid, ports[input_], prepared[input_], slots)
        points = np.minimum(spans // np.uint64(grid.interval), executor.OWN_ROWS_LIMIT + 1)
        if not len(points) or int(points.sum()) <= executor.OWN_ROWS_LIMIT:
            continue
        worst = int(points.argmax())
        one = int(points[worst]) > executor.OWN_ROWS_LIMIT
        of = "" if keys is None else f" of the key {keys.decode_key(int(known[worst]))!r}"
        message = (
            f"{name} would release more than {executor.OWN_ROWS_LIMIT:,} rows in one push, most of "
            f"them up to t={newest[worst]}{of}, {spans[worst]} behind what came before"
        )
        hint = NEVER if one else "push smaller tables"
        raise ResourceLimit(message, code="RT305", hint=hint)


def _spans(
    grid: Grid, port: InputPort, prepared: PreparedRows, slots: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, per key with rows, the time that a grid passes; the newest time; the slot."""
    starts, time = prepared.batch.starts, prepared.batch.time
    filled = starts[1:] > starts[:-1]
    newest, known = time[starts[1:][filled] - 1], slots[filled]
    begun = (port.last[known] != FIRST) | (port.begun[known] != 0)
    before = np.where(begun, port.last[known], time[starts[:-1][filled]])
    if grid.begin is not None:
        before = np.maximum(before, min(grid.begin, LAST - grid.interval))
    spans = newest.view(np.uint64) - before.view(np.uint64)
    return np.where(newest > before, spans, np.uint64(0)), newest, known
