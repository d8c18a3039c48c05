"""Oracles of operators without memory."""

import math
from fractions import Fraction

from tests.oracles import expressions as ieee
from tests.oracles.registry import (
    ABSENT,
    FAULT,
    attempt,
    filters,
    oracle,
    scalar,
    synchronised,
    synchronised_filters,
)
from tests.oracles.streams import (
    INT64_LEAST,
    INT64_MOST,
    Domain,
    exact_mean,
    exact_sum,
    fits,
    folded,
    greatest,
    least,
)


def checked(number):
    """Integers must fit int64; floats are what they are."""
    return fits(number) if type(number) is int else number


def divided(left, right):
    """Division of the operator: by exactly zero there is no message."""
    if right == 0:
        raise Domain
    return left / right


def trigonometric(function):
    """NaN where the function has no value."""
    return lambda x: function(x) if math.isfinite(x) else math.nan


def distance(left, right):
    """How far apart; exact between integers."""
    if type(left) is type(right) is int:
        return abs(left - right)
    return abs(float(left) - float(right))


def gap(left, right):
    """How far apart; exact between integers, and between one and a float that is whole."""
    if type(left) is float and type(right) is int:
        return gap(right, left)
    if type(left) is int and math.isfinite(right) and right == int(right):
        exact = Fraction(abs(left - int(right)))
        return exact if INT64_LEAST <= right <= INT64_MOST else float(exact)
    return abs(float(left) - float(right))


def near(left, right, tolerance):
    """Equal, or not farther apart than `tolerance`; false if either is NaN."""
    return left == right or (tolerance > 0 and gap(left, right) <= tolerance)


def apart(left, right, tolerance):
    """Neither equal nor near; false if either is NaN."""
    return (left < right or left > right) and not near(left, right, tolerance)


scalar(
    Identity=lambda x: x,
    Add=lambda x, value: checked(x + value),
    Scale=lambda x, value: checked(x * value),
    Power=lambda x, value: ieee.power(x, b=value),
    Sin=trigonometric(math.sin),
    Cos=trigonometric(math.cos),
    Tan=trigonometric(math.tan),
    Exp=ieee.exponential,
    Log=lambda x: ieee.logarithm(math.log, x),
    Log10=lambda x: ieee.logarithm(math.log10, x),
    Abs=lambda x: checked(abs(x)),
    Sign=lambda x: ieee.sign(x) if isinstance(x, float) else (x > 0) - (x < 0),
    Floor=lambda x: ieee.rounding(math.floor, x) if isinstance(x, float) else x,
    Ceil=lambda x: ieee.rounding(math.ceil, x) if isinstance(x, float) else x,
    Round=lambda x: ieee.half_away(x) if isinstance(x, float) else x,
    CompareGT=lambda x, value: x > value,
    CompareLT=lambda x, value: x < value,
    CompareGTE=lambda x, value: x >= value,
    CompareLTE=lambda x, value: x <= value,
    CompareEQ=lambda x, value, tolerance: near(x, value, tolerance=tolerance),
    CompareNEQ=lambda x, value, tolerance: apart(x, value, tolerance=tolerance),
    ConstantNumber=lambda _, value: value,
    ConstantBoolean=lambda _, value: value,
    ConstantNumberToBoolean=lambda _, value: value,
    ConstantBooleanToNumber=lambda _, value: value,
    BooleanToNumber=float,
    LogicalNot=lambda x: not x,
)

filters(
    GreaterThan=lambda x, value: x > value,
    LessThan=lambda x, value: x < value,
    EqualTo=lambda x, value, epsilon: near(x, value, tolerance=epsilon),
    NotEqualTo=lambda x, value, epsilon: apart(x, value, tolerance=epsilon),
)

synchronised(
    Addition=lambda *x: folded(lambda a, b: checked(a + b), x),
    Subtraction=lambda *x: folded(lambda a, b: checked(a - b), x),
    Multiplication=lambda *x: folded(lambda a, b: checked(a * b), x),
    Division=lambda *x: folded(divided, x),
    Linear=lambda *x, coefficients: folded(
        lambda a, b: a + b, [weight * value for weight, value in zip(coefficients, x, strict=True)]
    ),
    LogicalAnd=lambda *x: all(x),
    LogicalOr=lambda *x: any(x),
    LogicalXor=lambda *x: sum(x) % 2 == 1,
    LogicalNand=lambda *x: not all(x),
    LogicalNor=lambda *x: not any(x),
    LogicalXnor=lambda *x: sum(x) % 2 == 0,
    LogicalImplication=lambda *x: folded(lambda a, b: not a or b, (True, *x)),
    CompareSyncGT=lambda a, b: a > b,
    CompareSyncLT=lambda a, b: a < b,
    CompareSyncGTE=lambda a, b: a >= b,
    CompareSyncLTE=lambda a, b: a <= b,
    CompareSyncEQ=lambda a, b, tolerance: near(a, b, tolerance=tolerance),
    CompareSyncNEQ=lambda a, b, tolerance: apart(a, b, tolerance=tolerance),
)

synchronised_filters(
    SyncGreaterThan=lambda a, others: all(a > b for b in others),
    SyncLessThan=lambda a, others: all(a < b for b in others),
    SyncEqual=lambda a, others, epsilon: all(a == b or distance(a, b) < epsilon for b in others),
    SyncNotEqual=lambda a, others, epsilon: all(distance(a, b) >= epsilon for b in others),
)


@oracle("LessThanOrEqualToReplace")
def less_than_or_equal_to_replace(rows, value, replace_by):
    for time, x in rows:
        if math.isfinite(x):
            yield time, replace_by if x <= value else float(x)


def slope(points, place):
    """The exact slope of the line through the neighbours of a point, or an end and its one."""
    (x0, y0), (x1, y1) = points[max(place - 1, 0)], points[min(place + 1, len(points) - 1)]
    return (y1 - y0) / (x1 - x0)


def curve(points, interpolation, x):
    """The value at x of the curve through the points, rounded as the definition is written."""
    points = sorted(points, key=lambda point: point[0])
    on = [y for place, y in points if place == x]
    if on or math.isnan(x):
        return on[-1] if on else math.nan
    last = len(points) - 2
    piece = max([k for k, (place, _) in enumerate(points[: last + 1]) if place <= x], default=0)
    (x0, y0), (x1, y1) = points[piece : piece + 2]
    share = (x - x0) / (x1 - x0)
    if interpolation == "linear" or not x0 < x < x1:
        return y0 if y0 == y1 else y0 + share * (y1 - y0)
    rises = [(x1 - x0) * slope(points, k) for k in (piece, piece + 1)]
    rest = 1 - share
    terms = [
        y0 * ((1 + 2 * share) * rest * rest),
        y1 * ((1 + 2 * rest) * share * share),
        rises[0] * (share * rest * rest),
        -rises[1] * (rest * share * share),
    ]
    return folded(lambda a, b: a + b, terms)


@oracle("Function")
def function(rows, points, interpolation):
    for time, x in rows:
        yield time, curve(points, interpolation, float(x))


@oracle("TimestampExtract")
def timestamp_extract(rows):
    for time, _ in rows:
        yield time, time


@oracle("TimeShift", frontier=lambda _, frontier, shift: frontier + shift)
def time_shift(rows, shift):
    for time, value in rows:
        later = attempt(fits, time + shift)
        yield (time, FAULT) if later is FAULT else (later, value)


def join_roles(ports, how, **_):
    """Which port must have a row, by kind of join."""
    first, last = ports[0], ports[-1]
    other = {"inner": "must", "left": "may", "right": "may", "outer": "may", "asof": "last"}[how]
    must = {"left": first, "asof": first, "right": last}.get(how)
    return {port: "must" if port == must else other for port in ports}


@oracle("Join", roles=join_roles, ports=True)
def join(rows, **_):
    for time, values in rows:
        yield time, tuple(None if value is ABSENT else value for value in values.values())


@oracle("Demultiplexer", ports=True)
def demultiplexer(rows):
    for time, values in rows:
        datum, *controls = values.values()
        yield time, tuple(datum if control else ABSENT for control in controls)


def multiplexer_roles(ports, **_):
    """A control port must have a row, a data port may."""
    return {port: "must" if port[0] == "c" else "may" for port in ports}


@oracle("Multiplexer", roles=multiplexer_roles, ports=True)
def multiplexer(rows):
    for time, values in rows:
        chosen = [port for port, value in values.items() if port[0] == "c" and value]
        if len(chosen) == 1 and values[f"i{chosen[0][1:]}"] is not ABSENT:
            yield time, values[f"i{chosen[0][1:]}"]


@oracle(
    "KeyedVariable",
    roles=lambda ports, **_: {p: "unread" if p == "c2" else "may" for p in ports},
    ports=True,
)
def keyed_variable(rows, mode, default_value, ttl):
    for number, (time, values) in enumerate(rows):
        if values["c1"] is ABSENT:
            continue
        found = None
        for since, known in rows[: number + 1]:
            if ABSENT not in (known["i1"], known["i2"]) and same_key(known["i1"], values["c1"]):
                is_there = known["i2"] == known["i2"] and (ttl is None or time < since + ttl)
                found = known["i2"] if is_there else None
        if mode == "exists":
            yield time, found is not None
        else:
            yield time, default_value if found is None else found


def same_key(left, right):
    """Equal as keys: NaN is equal to NaN."""
    return left == right or (left != left and right != right)


def merge_losers(values, ties):
    """The ports whose message gives way to another of the same time."""
    present = [port for port, value in values.items() if value is not ABSENT]
    return {"first": present[1:], "last": present[:-1]}.get(ties, [])


@oracle(
    "Merge",
    roles=lambda ports, **_: dict.fromkeys(ports, "may"),
    ports=True,
    tied=merge_losers,
)
def merge(rows, ties):
    choose = {
        "first": lambda values: values[0],
        "last": lambda values: values[-1],
        "min": least,
        "max": greatest,
        "sum": exact_sum,
        "mean": exact_mean,
    }[ties]
    for time, values in rows:
        present = [value for value in values.values() if value is not ABSENT]
        chosen = present[0] if len(present) == 1 else attempt(choose, present)
        yield time, float(chosen) if ties == "mean" else chosen


@oracle("Variable", roles=lambda *_, **__: {"i1": "last", "c1": "must"}, ports=True)
def variable(rows, default_value):
    for time, values in rows:
        yield time, default_value if values["i1"] is ABSENT else values["i1"]
