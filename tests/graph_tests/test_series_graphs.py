"""The graphs of series with times of their own, on their real data, against plain Python."""

import csv
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import rtbot

GRAPHS = Path(__file__).parents[2] / "graphs"


def read(name: str) -> list[dict[str, str]]:
    with (GRAPHS / "data" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def mean(values: list[float]) -> float:
    """The exact mean, rounded once."""
    return float(sum(map(Fraction, values)) / len(values))


def rows(table) -> list[tuple]:
    """The rows of an output, without a key."""
    return list(zip(table["t"].tolist(), table["value"].tolist(), strict=True))


def test_the_heart_rate_from_the_peaks_of_a_pulse():
    result = rtbot.load(GRAPHS / "pulse.yaml").run(GRAPHS / "data" / "pulse.csv")
    samples = [float(row["pulse"]) for row in read("pulse.csv")]
    levels = {10 * end - 10: mean(samples[end - 7 : end]) for end in range(7, len(samples) + 1)}
    times = list(levels)
    beats = [
        time
        for place, time in enumerate(times[40:-40], 40)
        if all(levels[time] > levels[t] for t in times[place - 40 : place + 41] if t != time)
    ]
    assert rows(result["beat"]) == [(time, levels[time]) for time in beats]
    distances = [later - earlier for earlier, later in pairwise(beats)]
    rates = [60_000 / mean(distances[end - 5 : end]) for end in range(5, len(distances) + 1)]
    assert rows(result["rate"]) == list(zip(beats[5:], rates, strict=True))
    assert len(beats) == 24
    assert all(50 < rate < 70 for rate in rates)
