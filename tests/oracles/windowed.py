"""Oracles of operators with memory: each answer is computed from the whole history."""

import itertools
import math
import statistics
from fractions import Fraction

from tests.oracles.registry import attempt, oracle
from tests.oracles.streams import (
    INT64_LEAST,
    INT64_MOST,
    exact_mean,
    exact_sum,
    fits,
)


def windows(rows, window, partial):
    """`(time, values)` of the last `window` rows at each row, from the first full one on."""
    for number, (time, _) in enumerate(rows, 1):
        if partial or number >= window:
            yield time, [value for _, value in rows[max(0, number - window) : number]]


def deviation(values):
    """`math.sqrt(statistics.variance(values))`, 0 for one value, NaN with NaN or an infinity."""
    if not all(map(math.isfinite, values)):
        return math.nan
    if len(values) == 1:
        return 0.0
    try:
        return math.sqrt(statistics.variance(values))
    except OverflowError:
        scaled = [Fraction(value) / 2**600 for value in values]
        return math.sqrt(statistics.variance(scaled)) * 2.0**600


@oracle("MovingSum")
def moving_sum(rows, window, partial):
    for time, values in windows(rows, window, partial):
        yield time, attempt(exact_sum, values)


@oracle("MovingAverage")
def moving_average(rows, window, partial):
    for time, values in windows(rows, window, partial):
        yield time, exact_mean(values)


@oracle("StandardDeviation")
def standard_deviation(rows, window, partial):
    for time, values in windows(rows, window, partial):
        yield time, deviation(values)


@oracle("WindowMinMax")
def window_min_max(rows, window, mode, partial):
    for time, values in windows(rows, window, partial):
        if any(value != value for value in values):  # noqa: PLR0124 (only NaN differs from itself)
            yield time, math.nan
        else:
            yield time, min(values) if mode == "min" else max(values)  # the first of equal ones


@oracle("CumulativeSum")
def cumulative_sum(rows):
    for time, values in windows(rows, len(rows), partial=True):
        yield time, attempt(exact_sum, values)


@oracle("MinTracker")
def min_tracker(rows):
    for time, values in windows(rows, len(rows), partial=True):
        yield time, min((v for v in values if v == v), default=math.inf)  # noqa: PLR0124 (no NaN)


@oracle("MaxTracker")
def max_tracker(rows):
    for time, values in windows(rows, len(rows), partial=True):
        yield time, max((v for v in values if v == v), default=-math.inf)  # noqa: PLR0124 (no NaN)


@oracle("Count")
def count(rows):
    for number, (time, _) in enumerate(rows, 1):
        yield time, number


@oracle("Difference")
def difference(rows):
    for (_, before), (time, value) in itertools.pairwise(rows):
        change = value - before
        yield time, attempt(fits, change) if type(change) is int else change


@oracle("Lag")
def lag(rows, n):
    for (time, _), (_, value) in zip(rows[n:], rows, strict=False):
        yield time, value


@oracle("EMA")
def exponential_average(rows, window, seed, partial):
    alpha = 2 / (window + 1)
    seen, average = [], math.nan
    for time, value in rows:
        if math.isnan(value):
            if partial or len(seen) >= window:
                yield time, value
            continue
        seen.append(value)
        average = value if len(seen) == 1 else average + alpha * (value - average)
        if seed == "mean" and len(seen) <= window:
            average = exact_mean(seen)
        if partial or len(seen) >= window:
            yield time, average


def peak_frontier(rows, frontier, window):
    """Half a window before the end the next centre may still turn out to be a peak."""
    waiting = max(len(rows) - window // 2, window // 2)
    return min(frontier, rows[waiting][0] - 1) if waiting < len(rows) else frontier


@oracle("PeakDetector", frontier=peak_frontier)
def peak_detector(rows, window):
    half = window // 2
    for centre in range(half, len(rows) - half):
        time, value = rows[centre]
        around = rows[centre - half : centre] + rows[centre + 1 : centre + half + 1]
        if all(value > other for _, other in around):
            yield time, value


def grid(first, interval, t0, snap_first):
    """Times of the grid for a stream whose first row is at `first`: the first one, then all."""
    if t0 in (None, INT64_LEAST):  # the declared default
        start = first + interval
    elif first < t0 and not snap_first:
        start = t0
    else:
        start = t0 + (first - t0) // interval * interval
        if not snap_first:
            start += interval
    return start


def resampler_frontier(rows, frontier, interval, t0, snap_first):
    """The next grid point behind the last row waits for a row at or behind it."""
    if not rows:
        return frontier - interval if snap_first else frontier
    start = grid(rows[0][0], interval, t0, snap_first)
    last = rows[-1][0]
    passed = max(0, (last - start) // interval + 1)
    return min(frontier, start + passed * interval - 1)


@oracle("ResamplerConstant", frontier=resampler_frontier)
def resampler_constant(rows, interval, t0, snap_first):
    if not rows:
        return
    point = grid(rows[0][0], interval, t0, snap_first)
    if point < INT64_LEAST:
        point += interval
    while point <= min(rows[-1][0], INT64_MOST):
        held = [value for time, value in rows if time <= point]
        yield point, held[-1] if held else rows[0][1]
        point += interval
