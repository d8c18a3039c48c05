"""Oracles of operators that wait for a time: what is certain at a frontier, from all rows."""

import itertools
import math
from fractions import Fraction

from tests.oracles.registry import FAULT, attempt, oracle
from tests.oracles.streams import INT64_MOST, exact_mean, exact_sum, fits, rounded


def split(rows, gap):
    """The rows in bursts: a distance of at least `gap` to the row before begins a new one."""
    bursts = []
    for row in rows:
        if not bursts or row[0] - bursts[-1][-1][0] >= gap:
            bursts.append([])
        bursts[-1].append(row)
    return bursts


@oracle("Debounce")
def debounce(rows, quiet, frontier):
    for burst in split(rows, quiet):
        for time, value in burst:
            if attempt(fits, time + quiet) is FAULT:
                yield time, FAULT
            elif time == burst[-1][0] and time + quiet <= frontier:
                yield time + quiet, value


@oracle("GapDetector")
def gap_detector(rows, gap):
    for (before, _), (time, _) in itertools.pairwise(rows):
        if time - before >= gap:
            yield time, attempt(fits, time - before)


def total(values):
    """The exact sum as a number; that of integers, too."""
    whole = all(type(value) is int for value in values)
    return rounded(Fraction(sum(values))) if whole else exact_sum(values)


def extreme(best):
    """`min` or `max`: the first of equal values, NaN if there is one."""
    return lambda values: math.nan if any(v != v for v in values) else best(values)


def first(values):
    return values[0]


def last(values):
    return values[-1]


FOUND = {
    "count": [len],
    "sum": [total],
    "mean": [exact_mean],
    "first": [first],
    "last": [last],
    "min": [extreme(min)],
    "max": [extreme(max)],
    "ohlc": [first, extreme(max), extreme(min), last],
}


def summary(rows, how):
    """What the words of `how` say of the rows of a window, in a tuple."""
    values = [value for _, value in rows]
    return tuple(function(values) for word in how for function in FOUND[word])


@oracle("TumblingAggregate")
def tumbling(rows, window, offset, how, frontier):
    return hopping(rows, window, window, offset, how, frontier)


@oracle("HoppingAggregate")
def hopping(rows, window, hop, offset, how, frontier):
    """Every window that has a row, by its end; one whose first window ends too late is a fault."""
    ends = {}
    for time, value in rows:
        start = (time - offset - window) // hop * hop + hop + offset
        own = [begin + window for begin in range(start, time + 1, hop)]
        if own and own[0] > INT64_MOST:
            yield time, FAULT
        for end in own:
            if end <= min(INT64_MOST, frontier):
                ends.setdefault(end, []).append((time, value))
    for end in sorted(ends):
        yield end, summary(ends[end], how)


@oracle("SessionAggregate")
def session(rows, gap, how, frontier):
    for burst in split(rows, gap):
        end = burst[-1][0] + gap
        for time, _ in burst:
            if time + gap > INT64_MOST:
                yield time, FAULT
        if end <= min(INT64_MOST, frontier):
            yield end, summary(burst, how)
