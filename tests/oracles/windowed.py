"""Oracles of operators with memory: each answer is computed from the whole history."""

import itertools
import math
import statistics
from fractions import Fraction

from rtbot.operator import TimeSpan
from tests.oracles.registry import FAULT, attempt, oracle
from tests.oracles.streams import (
    ALWAYS,
    INT64_LEAST,
    INT64_MOST,
    exact_mean,
    exact_sum,
    fits,
    rounded,
)


def windows(rows, window, partial):
    """`(time, values)` of the last `window` rows at each row, from the first full one on.

    Of a time span it has the rows of (time - span, time], and is full once that much time passed.
    """
    if isinstance(window, TimeSpan):
        for number, (time, _) in enumerate(rows, 1):
            if partial or time - rows[0][0] >= window:
                yield time, [value for at, value in rows[:number] if time - window < at]
        return
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
    def score(row):
        singles = [value if isinstance(value, list) else [value] for value in row]
        return [one for values in singles for one in values][score_index]

    for number, (time, _) in enumerate(rows, 1):
        newest_first = [tuple(values.values()) for _, values in reversed(rows[:number])]
        numbers = [row for row in newest_first if score(row) == score(row)]
        rest = [row for row in newest_first if score(row) != score(row)]
        sign = -1 if descending else 1
        ranked = sorted(numbers, key=lambda row: sign * score(row)) + rest
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


@oracle("ZScore")
def z_score(rows, window, partial):
    for time, values in windows(rows, window, partial):
        spread = deviation(values)
        above = float(values[-1]) - exact_mean(values)
        if spread == 0:
            yield time, math.nan if above == 0 else math.copysign(math.inf, above)
        else:
            yield time, above / spread


def quantile(values, share):
    """The quantile of values in any order; NaN if one is."""
    if any(math.isnan(value) for value in values):
        return math.nan
    return quantile_in_order(sorted(value + 0 for value in values), share)


def quantile_in_order(ordered, share):
    """The value at (n - 1) * share of the order, by distance between two that differ.

    The share is as it is written, if that has nine decimals at most.
    """
    written = Fraction(repr(share))
    exact = (len(ordered) - 1) * (written if (written * 10**9).denominator == 1 else share)
    place = math.floor(exact)
    low, high = ordered[place], ordered[min(place + 1, len(ordered) - 1)]
    part = exact - place
    return float(low) if part == 0 else on_line(low, high, part, 1.0) + 0.0


def on_line(left, right, part, whole):
    """left + (right - left) * part / whole: the exact value rounded once."""
    if left == right:
        return left
    if not (math.isfinite(left) and math.isfinite(right)):
        return faded(left, right, part / whole)
    left, right = Fraction(left), Fraction(right)
    return float(left + (right - left) * Fraction(part) / Fraction(whole))


@oracle("RollingQuantile")
def rolling_quantile(rows, window, q, partial):
    for time, values in windows(rows, window, partial):
        yield time, quantile(values, q)


@oracle("RollingMedian")
def rolling_median(rows, window, partial):
    for time, values in windows(rows, window, partial):
        yield time, quantile(values, 0.5)


@oracle("MovingCount")
def moving_count(rows, window, partial):
    for time, values in windows(rows, window, partial):
        yield time, len(values)


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


def difference_frontier(rows, frontier, use_oldest_time):
    """The change since the newest row, at its time, waits for the next one."""
    return frontier if use_oldest_time or not rows else min(frontier, rows[-1][0] - 1)


@oracle("Difference", frontier=difference_frontier)
def difference(rows, use_oldest_time):
    for (then, before), (time, value) in itertools.pairwise(rows):
        change = value - before
        found = attempt(fits, change) if type(change) is int else change
        yield time if use_oldest_time else then, found


@oracle("Rate")
def rate(rows, per, counter):
    for (then, before), (time, value) in itertools.pairwise(rows):
        change = value if counter and value < before else value - before
        change = float(change) * float(per)
        yield time, change / float(time - then) if time > then else change * math.inf


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
def exponential_average(rows, window, half_life, seed, partial):
    if half_life is None:
        yield from average_by_messages(rows, window, seed, partial)
    else:
        yield from average_by_time(rows, half_life)


def average_by_time(rows, half_life):
    average, before = None, None
    for time, value in rows:
        if not math.isnan(value):
            if average is None:
                average = value
            else:
                age = float(time - before) / float(half_life)
                average = faded(average, value, 1 - math.pow(2, -age))
            before = time
        yield time, math.nan if math.isnan(value) else average


def average_by_messages(rows, window, seed, partial):
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
    if isinstance(window, TimeSpan):
        waiting = [
            time - 1
            for time, value in rows
            if is_peak_in_span(rows, window, time, value) and 2 * (frontier - time) < window
        ]
        return min([frontier, *waiting])
    waiting = max(len(rows) - window // 2, window // 2)
    return min(frontier, rows[waiting][0] - 1) if waiting < len(rows) else frontier


def is_peak_in_span(rows, window, time, value):
    """Whether a value is greater than all that are less than half the span before or behind it."""
    around = [other for at, other in rows if at != time and 2 * abs(at - time) < window]
    full = 2 * (time - rows[0][0]) >= window and time + (window + 1) // 2 <= INT64_MOST
    return full and value == value and all(value > other for other in around)


@oracle("PeakDetector", frontier=peak_frontier)
def peak_detector(rows, window, frontier):
    if isinstance(window, TimeSpan):
        for time, value in rows:
            if is_peak_in_span(rows, window, time, value) and 2 * (frontier - time) >= window:
                yield time, value
        return
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


def resampler_frontier(rows, frontier, interval, t0, snap_first, **_):
    """The next grid point behind the last row waits for a row at or behind it."""
    if not rows:
        return frontier - interval if snap_first else frontier
    start = grid(rows[0][0], interval, t0, snap_first)
    last = rows[-1][0]
    passed = max(0, (last - start) // interval + 1)
    return min(frontier, start + passed * interval - 1)


@oracle("ResamplerConstant", frontier=resampler_frontier)
def resampler_constant(rows, interval, t0, snap_first, max_gap):
    if not rows:
        return
    point = grid(rows[0][0], interval, t0, snap_first)
    if point < INT64_LEAST:
        point += interval
    while point <= min(rows[-1][0], INT64_MOST):
        held = [row for row in rows if row[0] <= point]
        time, value = held[-1] if held else rows[0]
        if max_gap is None or point - time <= max_gap:
            yield point, value
        point += interval


def curve_start(first, interval, t0):
    """The first grid point of a curve that begins at `first`."""
    return first if t0 in (None, INT64_LEAST) else max(t0, first + (t0 - first) % interval)


def curve_points(rows, interval, t0):
    """The grid points from the first row to the last."""
    point = curve_start(rows[0][0], interval, t0) if rows else math.inf
    while rows and point <= min(rows[-1][0], INT64_MOST):
        yield point
        point += interval


def curve_frontier(rows, frontier, interval, t0):
    """The next grid point behind the last row waits for a row at or behind it."""
    if not rows:
        return frontier
    passed = len(list(curve_points(rows, interval, t0)))
    return min(frontier, curve_start(rows[0][0], interval, t0) + passed * interval - 1)


def between(rows, interval, t0, weigh):
    """The values of a curve: `weigh` makes them of those at the ends of a piece, and of where."""
    for point in curve_points(rows, interval, t0):
        place = max(number for number, (time, _) in enumerate(rows) if time <= point)
        time, value = rows[place]
        if point > time:
            after, following = rows[place + 1]
            value = weigh(value, following, float(point - time), float(after - time))
        yield point, value


@oracle("ResamplerLinear", frontier=curve_frontier)
def resampler_linear(rows, interval, t0):
    return between(rows, interval, t0, on_line)


@oracle("ResamplerCosine", frontier=curve_frontier)
def resampler_cosine(rows, interval, t0):
    return between(rows, interval, t0, on_half_wave)


def on_half_wave(left, right, part, whole):
    return faded(left, right, (1 - math.sin(math.pi * (0.5 - part / whole))) / 2)


def hermite_rows(rows):
    """The rows between which the curve is known: of four or more, all but both ends."""
    return rows[1:-1] if len(rows) > 3 else []


def hermite_frontier(rows, frontier, interval, t0, **_):
    """The next grid point behind what is known of the curve waits for another row."""
    if len(rows) < 2:
        return frontier
    passed = len(list(curve_points(hermite_rows(rows), interval, t0)))
    return min(frontier, curve_start(rows[1][0], interval, t0) + passed * interval - 1)


@oracle("ResamplerHermite", frontier=hermite_frontier)
def resampler_hermite(rows, interval, t0, compat):
    for point in curve_points(hermite_rows(rows), interval, t0):
        place = max(number for number, (time, _) in enumerate(rows) if time <= point)
        (t0_, x0), (t1, x1) = rows[place - 1 : place + 1]
        if point == t1:
            yield point, x1
            continue
        (t2, x2), (t3, x3) = rows[place + 1 : place + 3]
        if compat == "rtbot":
            rises = (x2 - x0) * 0.5, (x3 - x1) * 0.5
        else:
            span = float(t2 - t1)
            rises = (x2 - x0) / float(t2 - t0_) * span, (x3 - x1) / float(t3 - t1) * span
        yield point, cubic(float(point - t1) / float(t2 - t1), x1, x2, *rises)


def cubic(share, left, right, left_rise, right_rise):
    """The cubic with these values and slopes at 0 and 1."""
    rest = 1 - share
    total = left * ((1 + 2 * share) * rest * rest)
    total += right * ((1 + 2 * rest) * share * share)
    total += left_rise * (share * rest * rest)
    return total - right_rise * (rest * share * share)


@oracle("RelativeStrengthIndex")
def relative_strength_index(rows, n):
    for number, (time, value) in enumerate(rows, 1):
        prices = [price for _, price in rows[:number] if math.isfinite(price)]
        if number > n:
            yield time, strength(prices, n) if math.isfinite(value) else math.nan


def strength(prices, n):
    """The index of the last price, from all of them."""
    changes = [later - earlier for earlier, later in itertools.pairwise(prices)]
    if len(changes) < n:
        return math.nan
    averages = []
    for sign in (1, -1):
        sizes = [max(sign * change, 0.0) for change in changes]
        average = plain_sum(sizes[:n]) / n
        for size in sizes[n:]:
            average = (average * (n - 1) + size) / n
        averages.append(average)
    gain, loss = averages
    return 100.0 if loss == 0 else 100 - 100 / (1 + gain / loss)


def plain_sum(values):
    """The sum in order, each step rounded; `sum` compensates."""
    total = 0.0
    for value in values:
        total += value
    return total


@oracle("Hysteresis")
def hysteresis(rows, low, high, start):
    for number, (time, _) in enumerate(rows, 1):
        crossed = [value > high for _, value in rows[:number] if value > high or value < low]
        yield time, crossed[-1] if crossed else start


@oracle("Dedup")
def dedup(rows, within):
    passed = []
    for time, value in rows:
        same = passed and (
            passed[-1][1] == value or (value != value and passed[-1][1] != passed[-1][1])
        )
        if not same or (within is not None and time - passed[-1][0] >= within):
            passed.append((time, value))
    yield from passed


def fill_frontier(rows, frontier, how, **_):
    """Nulls behind the last value wait for the next one."""
    known = [number for number, (_, given) in enumerate(rows) if given is not None]
    waiting = rows[known[-1] + 1 :] if known else []
    return min(frontier, waiting[0][0] - 1) if how == "linear" and waiting else frontier


@oracle("Fill", frontier=fill_frontier)
def fill(rows, how, value, frontier):
    for number, (time, given) in enumerate(rows):
        before = [row for row in rows[:number] if row[1] is not None]
        behind = [row for row in rows[number:] if row[1] is not None]
        if given is not None:
            yield time, given
        elif how == "value":
            yield time, value
        elif not before:
            yield time, FAULT
        elif how == "previous":
            yield time, before[-1][1]
        elif behind:
            (then, left), (later, right) = before[-1], behind[0]
            yield time, on_line(float(left), float(right), float(time - then), float(later - then))
        elif frontier == ALWAYS:
            yield time, FAULT


def weigh(weights, values):
    """The sum of values, each times its weight, in this order."""
    total = 0.0
    for weight, value in zip(weights, values, strict=True):
        total += weight * value
    return total


@oracle("FiniteImpulseResponse")
def finite_impulse_response(rows, coefficients):
    for time, values in windows(rows, len(coefficients), partial=False):
        yield time, weigh(coefficients, values[::-1])


@oracle("InfiniteImpulseResponse")
def infinite_impulse_response(rows, b, a):
    results = [0.0] * len(a)
    for time, values in windows(rows, len(b), partial=False):
        results.append(weigh(b, values[::-1]) - weigh(a, results[: -len(a) - 1 : -1]))
        yield time, results[-1]
