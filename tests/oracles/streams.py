"""The nouns of the oracles: a stream, the pairing of streams, and exact numbers.

The oracles are a second implementation of the engine, written from the definitions: whole lists
in, whole lists out, one row at a time, with nothing carried over, nothing shared and nothing fast.
"""

import functools
import math
from dataclasses import dataclass, field
from fractions import Fraction

ALWAYS = math.inf
"""The frontier of an input that has ended."""
NEVER = -math.inf
"""The frontier of an input that has said nothing."""
INT64_LEAST, INT64_MOST = -(2**63), 2**63 - 1


class Domain(Exception):  # noqa: N818 (it is a result: no message, counted)
    """The value does not exist or does not fit its type."""


@dataclass
class OracleStream:
    """Rows `(time, value)` in order of time, null as None; all that follow are after `frontier`.

    `lost` counts by reason the rows that the edge took out before they became messages.
    """

    rows: list
    kind: str
    nullable: bool = False
    frontier: float = ALWAYS
    lost: dict = field(default_factory=dict)


@dataclass
class PairedRows:
    """Rows `(time, {port: value})` whose time is decided; what is still waiting or was lost.

    `alone` has, by port that is looked up, how many rows found nothing there.
    """

    rows: list
    frontier: float
    unmatched: dict
    held: dict
    alone: dict


def pair(streams, roles, tolerance=None, absent=None):
    """Align streams by time: `must` ports have a row, `may` ports may, `last` ports look back."""
    at = {port: dict(stream.rows) for port, stream in streams.items()}
    unread = {port: len(stream.rows) for port, stream in streams.items() if roles[port] == "unread"}
    if unread:
        read = {port: stream for port, stream in streams.items() if port not in unread}
        paired = pair(read, roles, tolerance, absent)
        paired.unmatched |= dict.fromkeys(unread, 0)
        paired.held |= dict.fromkeys(unread, 0)
        return paired
    must = [port for port in streams if roles[port] == "must"]
    may = [port for port in streams if roles[port] == "may"]
    last = [port for port in streams if roles[port] == "last"]
    if must:
        times = set.intersection(*(set(at[port]) for port in must))
    else:
        times = set().union(*(at[port] for port in may))
    waits_for = [streams[port].frontier for port in may + last]
    decided = sorted(time for time in times if all(time <= limit for limit in waits_for))
    rows = []
    for time in decided:
        values = {port: at[port].get(time, absent) for port in must + may}
        values |= {port: latest(streams[port].rows, time, tolerance, absent) for port in last}
        rows.append((time, values))
    rows = [(time, {port: values[port] for port in streams}) for time, values in rows]
    if len(must) == len(streams) == 1:  # it may have several rows of one time
        rows = [(time, {must[0]: value}) for time, value in streams[must[0]].rows]
    frontier = _frontier(streams, must, decided)
    leftovers = _leftovers(streams, roles, set(decided), times - set(decided))
    alone = {port: sum(values[port] is absent for _, values in rows) for port in last}
    return PairedRows(rows, frontier, *leftovers, alone)


def _frontier(streams, must, decided):
    """Just before the earliest time at which a row may still come out.

    Where ports must have a row it is the earliest time they may still share, else the earliest of
    any port.
    """
    bound = decided[-1] + 1 if decided else NEVER
    while True:
        following = {port: _following(stream, bound) for port, stream in streams.items()}
        if not must:
            return min(following.values()) - 1
        latest_of_all = max(following[port] for port in must)
        if latest_of_all == bound:
            return bound - 1
        bound = latest_of_all


def _following(stream, bound):
    """The earliest time at or after `bound` at which the stream has a row or may still get one."""
    times = [time for time, _ in stream.rows if time >= bound]
    return min([*times[:1], max(bound, stream.frontier + 1)])


def _leftovers(streams, roles, decided, undecided):
    """Rows that found no partner, by port, and rows whose partner may still come, by port."""
    unmatched, held = {}, {}
    for port, stream in streams.items():
        if roles[port] == "last":
            continue
        others = [other.frontier for name, other in streams.items() if name != port]
        alone = [time for time, _ in stream.rows if time not in decided]
        waiting = [t for t in alone if t in undecided or any(t > limit for limit in others)]
        held[port] = len(waiting)
        unmatched[port] = len(alone) - len(waiting)
    return unmatched, held


def latest(rows, time, tolerance=None, absent=None):
    """The last value at or before `time`, if it is not older than `tolerance`; else `absent`."""
    past = [(then, value) for then, value in rows if then <= time]
    if not past:
        return absent
    then, value = past[-1]
    return value if tolerance is None or time - then <= tolerance else absent


def rounded(exact):
    """The float next to an exact number, an infinity beyond the range; zero has no sign."""
    try:
        return exact.numerator / exact.denominator if exact else 0.0
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def special(values):
    """NaN or the infinity that decides the sum of `values`; None if all are finite."""
    if any(math.isnan(value) for value in values):
        return math.nan
    infinities = {value for value in values if math.isinf(value)}
    if len(infinities) == 2:
        return math.nan
    return infinities.pop() if infinities else None


def exact_sum(values):
    """The exact sum, rounded once."""
    if all(type(value) is int for value in values):
        return fits(sum(values))
    decided = special(values)
    return rounded(sum(map(Fraction, values))) if decided is None else decided


def exact_mean(values):
    """The exact mean, rounded once."""
    decided = special(values)
    return rounded(sum(map(Fraction, values)) / len(values)) if decided is None else decided


def fits(integer):
    """The integer, if an int64 can hold it."""
    if not INT64_LEAST <= integer <= INT64_MOST:
        raise Domain
    return integer


def order(number):
    """A sort key of numbers: NaN below all, -0.0 below 0.0."""
    if isinstance(number, float) and math.isnan(number):
        return (0, 0, 0)
    return (1, number, 0 if math.copysign(1, number) < 0 else 1)


def least(values):
    """The least of the values; NaN if there is one; -0.0 is less than 0.0."""
    return min(values, key=order)


def greatest(values):
    """The greatest of the values; NaN if there is one; 0.0 is greater than -0.0."""
    poison = [value for value in values if value != value]
    return poison[0] if poison else max(values, key=order)


def folded(function, values):
    """Left fold."""
    return functools.reduce(function, values)


def bits(value):
    """Text that differs exactly if the value differs in type or in one bit; every NaN is one."""
    if isinstance(value, list):
        return repr([bits(one) for one in value])
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value.hex()
    return repr(value)
