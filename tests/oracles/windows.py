"""Window functions over a bag of rows, copy by copy: a row is a tuple, a bag a Counter."""

import functools
import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

from tests.oracles.row_expressions import INT64, NAN, NoValueError, rank


def compute_windows(bag, by, order, frame, items):
    """Return the bag of rows with the results behind them.

    `by` and `order` have places, `items` (function, place, offset, default), the frame is (mode,
    start, end) as a node has it.
    """
    parts = defaultdict(list)
    for row, count in bag.items():
        parts[tuple(row[place] for place in by)] += [row] * count
    result = Counter()
    for rows in parts.values():
        whole = [*order, *((place, False) for place in range(len(rows[0])))]
        rows.sort(key=functools.cmp_to_key(lambda a, b, keys=whole: compare(a, b, keys)))
        for at, row in enumerate(rows):
            result[(*row, *(compute_item(rows, at, order, frame, item) for item in items))] += 1
    return result


def compare(one, other, keys):
    for place, down in keys:
        left, right = one[place], other[place]
        if (left is None) != (right is None):
            return 1 if left is None else -1
        if left is not None and rank(left) != rank(right):
            return -1 if (rank(left) < rank(right)) != down else 1
    return 0


def compute_item(rows, at, order, frame, item):
    function, place, offset, default = item
    before = [compare(row, rows[at], order) < 0 for row in rows]
    if function == "number":
        return at + 1
    if function == "rank":
        return sum(before) + 1
    if function == "dense_rank":
        smaller = [row for row, less in zip(rows, before, strict=True) if less]
        return (
            1
            + sum(compare(*pair, order) != 0 for pair in itertools.pairwise(smaller))
            + bool(smaller)
        )
    if function in ("lag", "lead"):
        found = at - offset if function == "lag" else at + offset
        return rows[found][place] if 0 <= found < len(rows) else default
    mode, start, end = frame
    first = 0 if start is None else max(at + start, 0)
    last = len(rows) - 1 if end is None else at + end
    if mode == "range" and end == 0:
        last = max(n for n, row in enumerate(rows) if compare(row, rows[at], order) == 0)
    found = rows[first : max(last, -1) + 1]
    return aggregate([True if place is None else row[place] for row in found], function)


def aggregate(found, function):
    if function in ("first", "last"):
        return found[0 if function == "first" else -1] if found else None
    values = [value for value in found if value is not None]
    if function == "count":
        return len(values)
    if not values:
        return None
    if function in ("min", "max"):
        return (min if function == "min" else max)(values, key=rank)
    if all(isinstance(value, int) for value in values):
        if function == "sum" and sum(values) not in INT64:
            raise NoValueError("sum")
        return sum(values) if function == "sum" else to_float(Fraction(sum(values), len(values)))
    special = [value for value in values if not math.isfinite(value)]
    if special:
        return clean(sum(special))
    total = sum(map(Fraction, values))
    return to_float(total if function == "sum" else total / len(values))


def to_float(fraction):
    try:
        return fraction.numerator / fraction.denominator + 0.0
    except OverflowError:
        return math.inf if fraction > 0 else -math.inf


def clean(value):
    return NAN if value != value else value
