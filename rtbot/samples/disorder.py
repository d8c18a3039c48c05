"""Sample data as requested: so many rows and keys, some of them late, missing or double."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rtbot.samples.generators import STEPS, SampleSeries
from rtbot.samples.rng import Rng

if TYPE_CHECKING:
    from collections.abc import Iterator

START = 1704067200
"""2024-01-01T00:00:00Z, in seconds."""

BLOCK_ROWS = 1 << 16
"""About how many rows a block has at most."""

LATE_STEPS = 5
"""How many steps a late row is late at most."""


@dataclass(frozen=True)
class SampleOptions:
    """The options of a sample; `late`, `gaps` and `duplicates` are shares of the rows."""

    rows: int = 1000
    seed: int = 1
    keys: int = 0
    late: float = 0.0
    gaps: float = 0.0
    duplicates: float = 0.0


@dataclass(frozen=True)
class SampleBlock:
    """Rows of a sample: times in its unit, numbers of keys, integers of its columns, and flags.

    `present` is, for every cell, whether it has a value.
    """

    time: np.ndarray
    key: np.ndarray
    values: tuple[np.ndarray, ...]
    present: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return len(self.time)

    def take(self, chosen: np.ndarray | slice) -> SampleBlock:
        """Return the chosen rows, in that order."""
        values = tuple(column[chosen] for column in self.values)
        present = tuple(flags[chosen] for flags in self.present)
        return SampleBlock(self.time[chosen], self.key[chosen], values, present)


def generate_blocks(series: SampleSeries, options: SampleOptions) -> Iterator[SampleBlock]:
    """Yield exactly as many rows as are requested, a few thousand at a time."""
    rng = Rng(options.seed, 0)
    left = options.rows
    for block in _generate_clean(series, options):
        kept = _disorder(block, options, rng)
        yield kept.take(slice(left))
        left -= len(kept)
        if left <= 0:
            return


def _generate_clean(series: SampleSeries, options: SampleOptions) -> Iterator[SampleBlock]:
    """Generate all steps of all keys: those of one time are together."""
    keys = max(options.keys, 1)
    sources = [series.make(Rng(options.seed, number + 1)) for number in range(keys)]
    first = START if series.unit == "s" else 0
    while True:
        time = first + np.arange(STEPS, dtype=np.int64) * series.period
        first += STEPS * series.period
        made = list(zip(*(next(source) for source in sources), strict=True))
        size = max(BLOCK_ROWS // keys, 1)
        for part in (slice(k, k + size) for k in range(0, STEPS, size)):
            yield _interleave(time[part], [[one[part] for one in column] for column in made])


def _interleave(time: np.ndarray, columns: list[list[np.ndarray]]) -> SampleBlock:
    """Return rows of all keys; `columns` holds an array per key for every column."""
    keys = len(columns[0])
    values = tuple(np.stack(column, axis=1).ravel() for column in columns)
    present = tuple(np.ones(len(time) * keys, bool) for _ in columns)
    return SampleBlock(np.repeat(time, keys), np.tile(np.arange(keys), len(time)), values, present)


def _disorder(block: SampleBlock, options: SampleOptions, rng: Rng) -> SampleBlock:
    """Remove cells, duplicate rows and move rows behind later ones; a row keeps its time."""
    present = tuple(flags & ~rng.draw_flags(options.gaps, len(flags)) for flags in block.present)
    block = SampleBlock(block.time, block.key, block.values, present)
    block = block.take(np.any(present, axis=0))
    double = rng.draw_flags(options.duplicates, len(block))
    block = block.take(np.repeat(np.arange(len(block)), 1 + double))
    late = rng.draw_flags(options.late, len(block))
    # A row that is moved by n steps is before that of n steps later: it is n - 1 steps late.
    steps = (2 + rng.draw_integers(LATE_STEPS, len(block))) * max(options.keys, 1)
    return block.take(np.argsort(np.arange(len(block)) + late * steps, kind="stable"))
