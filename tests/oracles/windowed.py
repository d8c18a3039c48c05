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
    rounded,
)


def windows(rows, window, partial):
    """`(time, values)` of the last `window` rows at each row, from the first full one on."""
    for number, (time, _) in enumerate(rows, 1):
        if partial or number >= window:
            yield time, [value for _, value in rows[max(0, number - window) : number]]


def deviation(values):
    """`math.sqrt(statistics.variance(values))`, 0 for one value, NaN with NaN or an infinity.

    A variance beyond the floats has a root within them: the exact root, rounded once.
    """
    if not all(map(math.isfinite, values)):
        return math.nan
    if len(values) == 1:
        return 0.0
    try:
        return math.sqrt(statistics.variance(values))
    except OverflowError:
        return _root_of_huge([Fraction(value) for value in values])


def _root_of_huge(values):
    """`statistics.stdev` of a part of the values, scaled back; it rounds the exact root once."""
    try:
        return statistics.stdev([value / 2**4 for value in values]) * 2.0**4
    except OverflowError:
        return math.inf


@oracle("MovingSum")
def moving_sum(rows, window, partial):
    for time, values in windows(rows, window, partial):
        whole = all(type(value) is int for value in values)
        yield time, rounded(Fraction(sum(values))) if whole else attempt(exact_sum, values)


@oracle("TopK", ports=True)
def top_k(rows, k, score_index, descending):
    for number, (time, _) in enumerate(rows, 1):
        newest_first = [tuple(values.values()) for _, values in reversed(rows[:number])]
        numbers = [row for row in newest_first if row[score_index] == row[score_index]]
        rest = [row for row in newest_first if row[score_index] != row[score_index]]
        sign = -1 if descending else 1
        ranked = sorted(numbers, key=lambda row: sign * row[score_index]) + rest
        for row in ranked[:k]:
            yield time, row


@oracle("MovingKeyCount")
def moving_key_count(rows, window):
    for time, values in windows(rows, window, partial=True):
        yield time, sum(value == values[-1] for value in values)


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
        if any(value != value for value in values):
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
        yield time, min((v for v in values if v == v), default=math.inf)


@oracle("MaxTracker")
def max_tracker(rows):
    for time, values in windows(rows, len(rows), partial=True):
        yield time, max((v for v in values if v == v), default=-math.inf)


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


def faded(average, value, weight):
    """The average moved towards the value; apart where the difference is no finite float."""
    if weight == 1:
        return value
    if math.isfinite(value - average):
        return average + weight * (value - average)
    return weight * value + (1 - weight) * average


@oracle("EMA")
def exponential_average(rows, window, seed, partial):
    seen, average = [], math.nan
    for number, (time, value) in enumerate(rows, 1):
        if not math.isnan(value):
            seen.append(value)
            average = value if len(seen) == 1 else faded(average, value, 2 / (window + 1))
            if seed == "mean" and len(seen) <= window:
                average = exact_mean(seen)
        if partial or number >= window:
            yield time, math.nan if math.isnan(value) else average


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
