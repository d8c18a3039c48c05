"""The graphs of series with times of their own, on their real data, against plain Python."""

import csv
import math
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
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


def seconds(text: str) -> int:
    """Seconds since 1970 of a date or a time; UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def test_bars_of_the_weeks_of_every_symbol():
    result = rtbot.load(GRAPHS / "weeks.yaml").run({"price": GRAPHS / "data" / "prices.csv"})
    weeks: dict[tuple[str, int], list[float]] = {}
    for row in read("prices.csv"):
        day = date.fromisoformat(row["date"])
        monday = str(day + timedelta(days=7 - day.weekday()))
        weeks.setdefault((row["symbol"], seconds(monday)), []).append(float(row["price"]))
    bars = result["bar"]
    columns = [bars[name].tolist() for name in ("symbol", "t", "open", "high", "low", "close")]
    assert list(zip(*columns, strict=True)) == [
        (*week, prices[0], max(prices), min(prices), prices[-1])
        for week, prices in sorted(weeks.items())
    ]
    assert result["days"]["value"].tolist() == [len(weeks[week]) for week in sorted(weeks)]
    assert len(weeks) > 700


def test_visits_from_the_requests_of_a_log():
    result = rtbot.load(GRAPHS / "visits.yaml").run({"bytes": GRAPHS / "data" / "visits.csv"})
    sent: dict[int, Counter[int]] = {}
    for row in read("visits.csv"):
        time = seconds(row["time"].removesuffix("Z"))
        sent.setdefault(int(row["visitor"]), Counter())[time] += int(row["bytes"])
    visits = []
    for visitor, by_time in sorted(sent.items()):
        visit: list[int] = []
        for time in sorted(by_time):
            if visit and time - visit[-1] >= 120:
                visits.append((visitor, visit))
                visit = []
            visit.append(time)
        visits.append((visitor, visit))
    found = result["visit"]
    columns = [found[name].tolist() for name in ("visitor", "t", "bytes", "busiest")]
    assert list(zip(*columns, strict=True)) == [
        (
            visitor,
            times[-1] + 120,
            sum(sent[visitor][t] for t in times),
            max(sent[visitor][t] for t in times),
        )
        for visitor, times in visits
    ]
    assert len(sent) < len(visits)
    large = result["large"]["value"].tolist()
    assert large == [size for size in found["bytes"].tolist() if size > 100_000]
    assert large


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
