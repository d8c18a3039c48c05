"""How many rows of its example's graph an operator takes in a second."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rtbot.api import Graph
    from rtbot.operator import Type

BATCH_ROWS = 8192
BATCHES = 8
"""Batches that are made beforehand; their times move on, their values come again."""


def measure_throughput(graph: Graph, seconds: float = 0.3) -> float:
    """Return rows of all inputs per second, pushed in batches of 8,192, for so many seconds."""
    rng = np.random.default_rng(7)
    session = graph.start(compiled="now")
    kinds = {name: declared.type for name, declared in graph.checked.inputs.items()}
    batches = [
        {name: _draw_values(rng, type_) for name, type_ in kinds.items()} for _ in range(BATCHES)
    ]
    done, spent, place = 0, 0.0, 0
    while spent < seconds:
        times = np.arange(place * BATCH_ROWS, (place + 1) * BATCH_ROWS)
        tables = {n: {"t": times, "value": v} for n, v in batches[place % BATCHES].items()}
        begun = time.perf_counter()
        session.push(tables)
        if place:  # the first batch may wait for what is loaded
            spent += time.perf_counter() - begun
            done += BATCH_ROWS * len(tables)
        place += 1
    return done / spent


def _draw_values(rng: np.random.Generator, type_: Type) -> Any:
    """Return a batch of values of an input."""
    match type_.kind:
        case "number":
            return rng.normal(100.0, 10.0, BATCH_ROWS).round(2)
        case "vector":
            return rng.normal(100.0, 10.0, (BATCH_ROWS, type_.size)).round(2)
        case "integer":
            return rng.integers(-1000, 1000, BATCH_ROWS)
        case "boolean":
            return rng.random(BATCH_ROWS) < 0.5
    return rng.choice(np.array(["a", "b", "c"], object), BATCH_ROWS)
