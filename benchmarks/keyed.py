"""Bollinger bands (50, 2 deviations) with many interleaved keys, in random order.

Inside the clock: one `push` of rows whose keys are random, into a session where every key's
windows are full: keys found, rows sorted by key and time, checks, kernel, complete result arrays
with the keys. Before the clock: 51 rows of every key, input arrays, compilation. polars:
`group_by` the key of the same rows as one table, without state, so its first 49 rows of a key are
empty. M rows per second.
"""

from typing import Any

import numpy as np
import polars as pl

from benchmarks.measure import Contestant, Report
from benchmarks.setups import SEED, WIDTH, WINDOW, bollinger, walk

FILL = WINDOW + 1
ROWS_FILLING = 2_000_000


class Keyed:
    """A session with full windows for many keys, and tables with random ones."""

    def __init__(self, names: np.ndarray, values: np.ndarray) -> None:
        self.names, self.values = names, values
        self.generator = np.random.default_rng(SEED)
        self.session = bollinger().start(key="k", compiled="now")
        self.time = 0
        self.fill()

    def fill(self) -> None:
        """Push FILL rows of every key."""
        left, most = FILL, max(1, ROWS_FILLING // len(self.names))
        while left:
            laps = min(left, most)
            rows = laps * len(self.names)
            keys = np.tile(self.names, laps)
            times = np.repeat(np.arange(self.time, self.time + laps), len(self.names))
            self.session.push(
                {"price": {"k": keys, "t": times, "value": np.resize(self.values, rows)}}
            )
            left, self.time = left - laps, self.time + laps

    def prepare(self) -> tuple[Any]:
        """Return the next table."""
        rows = len(self.values)
        keys = self.names[self.generator.integers(0, len(self.names), rows)]
        times = np.arange(self.time, self.time + rows)
        self.time += rows
        return ({"price": {"k": keys, "t": times, "value": self.values}},)


def by_polars(names: np.ndarray, values: np.ndarray) -> Contestant:
    """Return polars as a contestant."""
    keys = names[np.random.default_rng(SEED).integers(0, len(names), len(values))]
    frame = pl.DataFrame({"k": keys, "t": np.arange(len(values)), "price": values})
    mean, deviation = pl.col("price").rolling_mean(WINDOW), pl.col("price").rolling_std(WINDOW)
    middle, spread = pl.col("middle"), pl.col("spread")
    once = {"middle": mean, "spread": WIDTH * deviation}
    bands = {"upper": middle + spread, "middle": middle, "lower": middle - spread}

    def run() -> pl.DataFrame:
        grouped = frame.group_by("k", maintain_order=True).agg("t", **once)
        return grouped.explode("t", "middle", "spread").select("k", "t", **bands)

    return Contestant("polars", run, remark="group_by, no state")


def main() -> None:
    """Measure and print."""
    report = Report(__doc__)
    values = walk(report.rows)
    for count, kind, target in (
        (1_000, "integer", 9),
        (1_000, "text", 0),
        (100_000, "integer", 3),
        (1_000_000, "integer", 2.5),
    ):
        names = np.arange(count)
        if kind == "text":
            names = np.array([f"key {number}" for number in names], dtype=object)
        ours = Keyed(names, values)
        contestants = [Contestant("rtbot", ours.session.push, ours.prepare)]
        if count == 1_000:
            contestants.append(by_polars(names, values))
        report.compare(f"{count:,} {kind} keys", contestants, target)
        del ours, contestants
    report.finish()


if __name__ == "__main__":
    main()
