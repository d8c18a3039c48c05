"""Medians and quantiles of long windows, of messages and of time, beside a list in order."""

import bisect
import itertools
import math
import random

import numpy as np
import pytest

import rtbot
from tests.oracles.windowed import quantile_in_order

NAN, INF = math.nan, math.inf
SHARE = 0.9


def make_graph(kind, window):
    common = {"in": "x", "window": window, "partial": True}
    return rtbot.load(
        {
            "io": {"unit": "ns"},
            "inputs": {"x": kind},
            "operators": {
                "half": {"type": "RollingMedian"} | common,
                "most": {"type": "RollingQuantile", "q": SHARE} | common,
            },
            "outputs": ["half", "most"],
        }
    )


def slide_lists(rows, window):
    """Yield both quantiles of every row, from a list that is in order."""
    ordered, missing, first = [], 0, 0
    for place, (time, value) in enumerate(rows):
        while place - first >= window if isinstance(window, int) else is_left(rows[first], time):
            left = rows[first][1]
            if left != left:
                missing -= 1
            else:
                del ordered[bisect.bisect_left(ordered, left)]
            first += 1
        if value != value:
            missing += 1
        else:
            bisect.insort(ordered, value + 0)
        yield [NAN if missing else quantile_in_order(ordered, share) for share in (0.5, SHARE)]


def is_left(row, time):
    return row[0] <= time - 10_000


SERIES = {
    "random": lambda rng, _: rng.gauss(0, 1),
    "few": lambda rng, _: rng.choice([0.0, -0.0, 1.0, -1.0]),
    "ascending": lambda _, place: float(place),
    "descending": lambda _, place: float(-place),
    "runs": lambda rng, place: float(place // 3_000 % 3 + (rng.random() < 0.01)),
    "spikes": lambda rng, _: rng.choice([1e16, -1e16, 0.1, 3.0, 5e-324, 1.7e308]),
    "special": lambda rng, place: rng.choice([INF, -INF] if place % 4_000 else [NAN]),
    "integers": lambda rng, _: rng.choice([-(2**63), -1, 0, 2**53, 2**53 + 1, 2**63 - 1]),
}


def draw_times(rng, count):
    """Return times of bursts, each longer than a window, and of sparse messages between them."""
    steps = [
        1 if place // 12_000 % 2 == 0 else rng.choice([1, 400, 9_999]) for place in range(count)
    ]
    return list(itertools.accumulate(steps))


def run(graph, rows, *, compiled, cuts):
    session, found = graph.start(compiled=compiled), []
    for one, other in itertools.pairwise([0, *cuts, len(rows)]):
        times, values = zip(*rows[one:other], strict=True)
        dtype = np.int64 if isinstance(values[0], int) else np.float64
        tables = session.push({"x": {"t": list(times), "value": np.array(values, dtype)}})
        found += zip(*(tables[name]["value"].tolist() for name in ("half", "most")), strict=True)
        session = graph.resume(session.dump(), compiled=compiled)
    return found


@pytest.mark.parametrize("compiled", [False, "now"])
@pytest.mark.parametrize("window", [10_000, "10us"])
@pytest.mark.parametrize("series", SERIES)
def test_long_windows_are_those_of_a_list_in_order(series, window, compiled):
    rng, count = random.Random(f"{series} {window}"), 26_000
    times = draw_times(rng, count)
    rows = [(time, SERIES[series](rng, place)) for place, time in enumerate(times)]
    graph = make_graph("integer" if series == "integers" else "number", window)
    found = run(graph, rows, compiled=compiled, cuts=[1, 9_000, 13_000, 13_001])
    expected = [*slide_lists(rows, window)]
    assert np.array_equal(found, expected, equal_nan=True)
    assert not np.signbit(np.array(found)[np.array(found) == 0]).any()


@pytest.mark.parametrize("window", [4, 40, "10us"])
@pytest.mark.parametrize("often", [0.01, 0.2, 0.9])
def test_nan_inside_gives_nan_and_leaves_without_a_trace(window, often):
    rng = random.Random(f"{often} {window}")
    times = itertools.accumulate(rng.choice([10, 2_500, 9_999]) for _ in range(2_000))
    rows = [(time, rng.gauss(0, 1)) for time in times]
    rows = [(t, NAN if t % 2_000_000 < 1_000_000 and rng.random() < often else v) for t, v in rows]
    found = run(make_graph("number", window), rows, compiled=False, cuts=[7, 1_000])
    assert np.array_equal(found, [*slide_lists(rows, window)], equal_nan=True)
    assert 0 < np.isnan(found).all(axis=1).sum() < len(rows)


def test_a_window_of_time_keeps_what_it_holds_and_no_more():
    graph = make_graph("number", "10us")
    session, sizes = graph.start(compiled=False), []
    for burst in range(6):
        times = 30_000 * burst + np.arange(8_000)
        session.push({"x": {"t": times, "value": -times.astype(float)}})
        sizes.append(len(session.dump()))
        session.push({"x": {"t": [times[-1] + 10_000], "value": [1.0]}})
        sizes.append(len(session.dump()))
    assert max(sizes[2:]) <= sizes[0] + 64
    assert max(sizes[1::2]) < sizes[0] / 50


@pytest.mark.parametrize("window", [5, "5ns"])
@pytest.mark.parametrize("share", [0, 0.001, 0.34, 0.999, 1])
def test_a_share_of_any_size_is_between_the_least_and_the_greatest(share, window):
    rows = [(time, float(time * 7 % 11)) for time in range(60)]
    operator = {"type": "RollingQuantile", "in": "x", "window": window, "q": share, "partial": True}
    graph = {"io": {"unit": "ns"}, "inputs": {"x": "number"}, "operators": {"y": operator}}
    times, values = zip(*rows, strict=True)
    table = rtbot.load(graph | {"outputs": ["y"]}).run({"x": {"t": times, "value": values}})["y"]
    windows = [sorted(values[max(0, end - 5) : end]) for end in range(1, 61)]
    assert table["value"].tolist() == [quantile_in_order(one, share) for one in windows]
