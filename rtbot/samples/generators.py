"""The series of which samples are made; each is endless, and made in blocks of `STEPS` steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rtbot.samples.rng import Rng

STEPS = 4096
"""Steps in a block."""

Blocks = Iterator[tuple[np.ndarray, ...]]


@dataclass(frozen=True, kw_only=True)
class SampleSeries:
    """A kind of sample data: value columns, each an integer of units of 10 ** -decimals.

    Times step by `period` of `unit`: seconds that begin in 2024, or milliseconds from 0 on. Unless
    `keys` is 0, a column `key` distinguishes that many series. `make` yields the blocks of one
    series, `starter` is a graph to try.
    """

    text: str
    starter: str
    key: str
    columns: tuple[str, ...]
    decimals: int
    period: int
    make: Callable[[Rng], Blocks]
    keys: int = 0
    unit: str = "s"


def generate_prices(rng: Rng) -> Blocks:
    """Generate a random walk in cents that turns round where it comes too low."""
    lowest, level = 500, 4500 + int(rng.draw_integers(20000, 1)[0])
    step = level // 400
    while True:
        walk = level + np.cumsum(rng.draw_normal(step, STEPS))
        level = int(walk[-1])
        yield (lowest + abs(walk),)


def generate_sensors(rng: Rng) -> Blocks:
    """Generate two temperatures over a day; the second drifts away until it is recalibrated."""
    first = 0
    day = 144
    while True:
        steps = np.arange(first, first + STEPS, dtype=np.int64)
        course = 4600 + 3 * compute_hump(steps % day, day // 2, day // 2, 100)
        drift = steps % 1500 // 2
        outlet = course - 150 + drift + rng.draw_normal(15, STEPS)
        yield course + rng.draw_normal(15, STEPS), outlet
        first += STEPS


def generate_ecg(rng: Rng) -> Blocks:
    """Generate an ECG of 62 to 83 beats a minute, in thousandths of a millivolt, with noise."""
    at = np.arange(150, dtype=np.int64)
    waves = ((30, 14, 120), (55, 3, -110), (60, 4, 1100), (66, 4, -240), (110, 24, 280))
    beat = np.sum(
        [compute_hump(at, middle, width, height) for middle, width, height in waves], axis=0
    )
    left = np.zeros(0, np.int64)
    while True:
        parts = [left]
        while sum(map(len, parts)) < STEPS:
            pause = 30 + int(rng.draw_integers(60, 1)[0])
            parts += [beat, np.zeros(pause, np.int64)]
        clean = np.concatenate(parts)
        left = clean[STEPS:]
        yield (clean[:STEPS] + rng.draw_normal(12, STEPS),)


def generate_counter(rng: Rng) -> Blocks:
    """Generate requests served since the start of a program that is restarted now and then."""
    total = 0
    while True:
        sums = total + np.cumsum(2 + rng.draw_integers(60, STEPS))
        begins = np.where(rng.draw_flags(0.004, STEPS), sums, 0)
        counts = sums - np.maximum.accumulate(begins)
        total = int(counts[-1])
        yield (counts,)


def compute_hump(at: np.ndarray, middle: int, width: int, height: int) -> np.ndarray:
    """Compute a parabola over `width` to both sides of its middle, 0 elsewhere; int64."""
    inside: np.ndarray = np.maximum(width * width - (at - middle) ** 2, 0)
    return inside * height // (width * width)


SERIES = {
    "prices": SampleSeries(
        text="prices of shares, one a minute",
        starter="bollinger",
        key="symbol",
        keys=3,
        columns=("price",),
        decimals=2,
        period=60,
        make=generate_prices,
    ),
    "sensors": SampleSeries(
        text="two thermometers that drift apart, read every ten minutes",
        starter="sensors",
        key="site",
        columns=("inlet", "outlet"),
        decimals=2,
        period=600,
        make=generate_sensors,
    ),
    "ecg": SampleSeries(
        text="a heart's beat, 250 readings a second",
        starter="heartbeat",
        key="patient",
        columns=("ecg",),
        decimals=3,
        period=4,
        unit="ms",
        make=generate_ecg,
    ),
    "counter": SampleSeries(
        text="a counter of requests that restarts now and then",
        starter="counter",
        key="host",
        keys=2,
        columns=("requests",),
        decimals=0,
        period=15,
        make=generate_counter,
    ),
}
