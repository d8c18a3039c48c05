"""The graphs of series with times of their own, on their real data, against plain Python."""

import csv
import math
from collections.abc import Iterable
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


def add_in_order(terms: Iterable[float]) -> float:
    """The sum in float64, one term after the other (what `sum` does since Python 3.12 differs)."""
    total = 0.0
    for term in terms:
        total += term
    return total


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


def test_how_strong_an_earthquake_is():
    graph = rtbot.load(GRAPHS / "shaking.yaml")
    result = graph.run(GRAPHS / "data" / "shaking.csv")
    half = [0.0013, 0.0047, 0.0117, 0.0238, 0.0407, 0.0612, 0.0824, 0.1011, 0.1139]
    taps = [*half, 0.1184, *reversed(half)]
    samples = [float(row["acceleration"]) for row in read("shaking.csv")]
    smooth = [
        add_in_order(tap * samples[end - 1 - back] for back, tap in enumerate(taps))
        for end in range(19, len(samples) + 1)
    ]
    assert result["smooth"]["value"].tolist() == smooth
    power = [value * value for value in smooth]
    ends = range(200, len(power) + 1)
    strength = [math.sqrt(mean(power[end - 200 : end])) for end in ends]
    assert result["strength"]["value"].tolist() == strength
    assert result["alert"]["value"].tolist() == [value > 5 for value in strength]
    assert 8 < max(strength) < 15
