"""Rows in an order, slowly: bags are Counters of tuples, a node says what it wants of them."""

from collections import Counter
from functools import total_ordering

from tests.oracles.row_expressions import NoValueError, rank

LEAST, MOST = -(2**63), 2**63 - 1


@total_ordering
class Descending:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return other.value < self.value

    def __eq__(self, other):
        return self.value == other.value

    __hash__ = None


def make_sort_key(row, order=()):
    """What rows are sorted by: places of an order with whether they descend, then all fields."""
    keys = []
    for place, down in [*order, *((place, False) for place in range(len(row)))]:
        value = row[place]
        if value is None:
            keys.append((1, 0))
        else:
            keys.append((0, Descending(rank(value)) if down else rank(value)))
    return keys


def divide(rows, places):
    """The rows of every partition; NaN is one value there."""
    parts = {}
    for row in rows:
        key = tuple("NaN" if row[p] != row[p] else (type(row[p]), row[p]) for p in places)
        parts.setdefault(key, []).append(row)
    return parts.values()


def check_total(bag):
    """No operator over positions takes more copies than an integer counts."""
    if sum(bag.values()) > MOST:
        raise NoValueError("weight")


def top_rows(node, bags, fields):
    """The bag of a TopRows."""
    (bag,), (names,) = bags, fields
    check_total(bag)
    values = node.values
    order = [(names.index(name), down) for name, down in values["order"]]
    first, last = values["offset"], values["offset"] + values["k"]
    found = Counter()
    for rows in divide(bag, [names.index(name) for name in values["by"]]):
        rows.sort(key=lambda row: make_sort_key(row, order))
        place, peers, before = 0, None, 0
        for row in rows:
            key = make_sort_key(row, order)[: len(order)]
            if peers is None or key != peers:
                peers, before = key, place
            end = place + bag[row]
            if values["ties"]:
                if before < last:
                    number = () if values["number"] is None else (before + 1,)
                    found[row + number] += bag[row]
            elif values["number"] is None:
                found[row] += max(0, min(end, last) - max(place, first))
            else:
                for at in range(max(place, first), min(end, last)):
                    found[(*row, at + 1)] += 1
            place = end
    return +found


def as_of_join(node, bags, fields):
    """The bag of an AsOfJoin."""
    values, ((x, y),) = node.values, match_places(node, fields)
    backward, strict = values["direction"] == "backward", values["strict"]
    found = Counter()
    for left, right in list_candidates(node, bags, fields):
        near = [
            row for row in right if is_near(left[x], row[y], backward, strict, values["tolerance"])
        ]
        if near:
            choose = max if backward else min
            chosen = choose(near, key=lambda row: make_sort_key(row, [(y, False)]))
            found[left + chosen] += bags[0][left]
        elif values["how"] == "left":
            found[left + (None,) * len(fields[1])] += bags[0][left]
    return found


def interval_join(node, bags, fields):
    """The bag of an IntervalJoin."""
    values, ((x, y),) = node.values, match_places(node, fields)
    found = Counter()
    for left, right in list_candidates(node, bags, fields):
        near = []
        if right:
            low, high = shift(left[x], values["lower"]), shift(left[x], values["upper"])
            near = [row for row in right if rank(low) <= rank(row[y]) <= rank(high)]
        for row in near:
            if bags[0][left] * bags[1][row] > MOST:
                raise NoValueError("weight")
            found[left + row] += bags[0][left] * bags[1][row]
        if not near and values["how"] == "left":
            found[left + (None,) * len(fields[1])] += bags[0][left]
    return found


def match_places(node, fields):
    ((one, other),) = node.values["match"]
    return ((fields[0].index(one), fields[1].index(other)),)


def list_candidates(node, bags, fields):
    """Every left row with the right rows whose keys are equal; nulls are in no pair."""
    for bag in bags:
        check_total(bag)
    ((x, y),) = match_places(node, fields)
    on = [(fields[0].index(a), fields[1].index(b)) for a, b in node.values["on"] or ()]
    for left in bags[0]:
        null = left[x] is None or any(left[a] is None for a, _ in on)
        yield (
            left,
            [
                row
                for row in bags[1]
                if not null
                and row[y] is not None
                and all(row[b] is not None and rank(left[a]) == rank(row[b]) for a, b in on)
            ],
        )


def is_near(one, other, backward, strict, tolerance):
    low, high = (other, one) if backward else (one, other)
    if not (rank(low) < rank(high) if strict else rank(low) <= rank(high)):
        return False
    if tolerance is None:
        return True
    if backward:
        return rank(shift(one, -tolerance)) <= rank(other)
    return rank(other) <= rank(shift(one, tolerance))


def shift(value, distance):
    """A value so much farther, at the edges of int64 if it is an integer."""
    return value + distance if isinstance(value, float) else max(LEAST, min(MOST, value + distance))


ORDERED_NODES = {"TopRows": top_rows, "AsOfJoin": as_of_join, "IntervalJoin": interval_join}
