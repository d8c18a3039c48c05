"""Oracles of operators that wait for a time: what is certain at a frontier, from all rows."""

import itertools

from tests.oracles.registry import FAULT, attempt, oracle
from tests.oracles.streams import fits


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
