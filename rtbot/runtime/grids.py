"""Refusal, before anything runs, of a push that would release too many rows behind a gap in time.

Known ahead are the grid points of an operator that reads an input itself, and only here, between
the checks of a push and its effects. What is behind other operators the `Executor` counts while it
runs, which is too late to refuse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rtbot.core.error_times import describe_span
from rtbot.core.errors import ResourceLimit
from rtbot.runtime import executor
from rtbot.runtime.kernels.rows import FIRST, LAST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.compiler.calls import Grid
    from rtbot.runtime.ingest import SortedPush
    from rtbot.runtime.input_port import InputPort, PreparedRows
    from rtbot.runtime.session import Session

NEVER = (
    "leave the row out, close its key before it or start another session behind it, "
    "or take a larger interval"
)


@dataclass(frozen=True, slots=True)
class _Passage:
    """Per key with rows: the time that a grid passes, from when on, until when; its run."""

    spans: np.ndarray
    before: np.ndarray
    newest: np.ndarray
    runs: np.ndarray


def check_grids(session: Session, push: SortedPush, prepared: Mapping[str, PreparedRows]) -> None:
    """Raise ResourceLimit if these rows would release more than a push may."""
    for name, grid in session.plan.grids.items():
        port = session.input_ports[grid.input]
        if grid.input not in prepared or port.holds:
            continue
        passage = _measure_passage(grid, port, prepared[grid.input], push.slots)
        points = np.minimum(passage.spans // np.uint64(grid.interval), executor.OWN_ROWS_LIMIT + 1)
        if grid.per_row is not None:
            starts = prepared[grid.input].batch.starts
            rows = (starts[1:] - starts[:-1])[passage.runs].astype(np.uint64)
            most = min(grid.per_row, executor.OWN_ROWS_LIMIT + 1)
            points = np.minimum(points, rows * np.uint64(most))
        if len(points) and int(points.sum()) > executor.OWN_ROWS_LIMIT:
            worst = int(points.argmax())
            hint = NEVER if int(points[worst]) > executor.OWN_ROWS_LIMIT else "push smaller tables"
            row, gap = _find_widest_gap(push, grid, passage, worst)
            message = (
                f"{name} would release more than {executor.OWN_ROWS_LIMIT:,} rows in one push, "
                f"most of them up to t={{}}: here is a gap of {describe_span(gap, session.io.unit)}"
            )
            raise ResourceLimit(
                message,
                code="RT305",
                hint=hint,
                times=[int(passage.newest[worst])],
                input=grid.input,
                **push.locate_row(grid.input, row),
            )


def _measure_passage(
    grid: Grid, port: InputPort, prepared: PreparedRows, slots: np.ndarray
) -> _Passage:
    """Return which times a grid passes, of the keys that have rows."""
    starts, time = prepared.batch.starts, prepared.batch.time
    filled = starts[1:] > starts[:-1]
    newest, known = time[starts[1:][filled] - 1], slots[filled]
    begun = (port.last[known] != FIRST) | (port.begun[known] != 0)
    before = np.where(begun, port.last[known], time[starts[:-1][filled]])
    if grid.begin is not None:
        before = np.maximum(before, min(grid.begin, LAST - grid.interval))
    spans = newest.view(np.uint64) - before.view(np.uint64)
    spans = np.where(newest > before, spans, np.uint64(0))
    return _Passage(spans, before, newest, np.flatnonzero(filled))


def _find_widest_gap(
    push: SortedPush, grid: Grid, passage: _Passage, place: int
) -> tuple[int, int]:
    """Return the row of the push, of one key, that is behind the widest gap; and how wide it is."""
    batch, run = push.batches[grid.input], int(passage.runs[place])
    first, stop = int(batch.starts[run]), int(batch.starts[run + 1])
    time = np.maximum(batch.time[first:stop], passage.before[place])
    time = np.maximum.accumulate(np.concatenate([passage.before[place : place + 1], time]))
    gaps = time[1:].view(np.uint64) - time[:-1].view(np.uint64)
    widest = int(gaps.argmax())
    return first + widest, int(gaps[widest])
