"""Joins of bags, pair by pair: rows are identities of `tests.relations_oracle`, bags Counters."""

import math
from collections import Counter

from tests.oracles.row_expressions import NoValueError, evaluate

NULL = ("NoneType", None)
MOST = 2**63 - 1


def value_of(cell):
    """The value of a cell of an identity."""
    return math.nan if cell == "NaN" else cell[1]


def equal(one, other, safe):
    return one == other and (safe or one != NULL)


def join_bags(node, bags, schemas):
    """The bag of a JoinRows node; NoValueError if a pair has no value, or a weight is too much."""
    how, condition = node.values["how"], node.formulas.get("condition")
    pair = node.operator.expression_schema(dict(zip(("i1", "i2"), schemas, strict=True)))
    on = [
        (schemas[0].place(a), schemas[1].place(b), a in (node.values["null_safe"] or ()))
        for a, b in node.values["on"] or ()
    ]

    def matches(left, right):
        if not all(equal(left[a], right[b], safe) for a, b, safe in on):
            return False
        row = dict(zip(pair.names, map(value_of, left + right), strict=True))
        return condition is None or evaluate(condition, row) is True

    pairs = [(a, b) for a in bags[0] for b in bags[1] if matches(a, b)]
    if how in ("semi", "anti"):
        return choose(bags, pairs, how, on, counted=condition is None)
    return pair_up(bags, pairs, how, schemas)


def pair_up(bags, pairs, how, schemas):
    lefts, rights = {a for a, _ in pairs}, {b for _, b in pairs}
    found = Counter()
    for a, b in pairs:
        if bags[0][a] * bags[1][b] > MOST:
            raise NoValueError("weight")
        found[a + b] += bags[0][a] * bags[1][b]
    if how in ("left", "full"):
        for a in bags[0]:
            if a not in lefts:
                found[a + (NULL,) * len(schemas[1])] += bags[0][a]
    if how in ("right", "full"):
        for b in bags[1]:
            if b not in rights:
                found[(NULL,) * len(schemas[0]) + b] += bags[1][b]
    return found


def choose(bags, pairs, how, on, *, counted):
    """Left rows with a partner, or without one."""
    if counted:
        check_counts(bags[1], [(b, safe) for _, b, safe in on])
    lefts = {a for a, _ in pairs}
    return Counter({a: n for a, n in bags[0].items() if (a in lefts) == (how == "semi")})


def check_counts(bag, key):
    """Of rows that are only counted, there are as many as can be counted."""
    counts = Counter()
    for row, weight in bag.items():
        if all(safe or row[place] != NULL for place, safe in key):
            counts[tuple(row[place] for place, _ in key)] += weight
    if any(n > MOST for n in counts.values()):
        raise NoValueError("weight")


def not_in(node, bags, schemas):
    """The bag of a NotIn node, by SQL's rule for `x NOT IN (SELECT y FROM right WHERE ...)`."""
    ((one, other),) = node.values["on"]
    x, y = schemas[0].place(one), schemas[1].place(other)
    by = [(schemas[0].place(a), schemas[1].place(b)) for a, b in node.values["by"] or ()]
    check_counts(bags[1], [(b, False) for _, b in by] + [(y, False)])
    if schemas[0].fields[x].type.nullable:
        check_counts(bags[1], [(b, False) for _, b in by])
    if schemas[1].fields[y].type.nullable:
        nulls = Counter({row: n for row, n in bags[1].items() if row[y] == NULL})
        check_counts(nulls, [(b, False) for _, b in by])
    found = Counter()
    for row, weight in bags[0].items():
        values = [r[y] for r in bags[1] if all(equal(row[a], r[b], False) for a, b in by)]
        unknown = row[x] == NULL or NULL in values
        if not values or (not unknown and row[x] not in values):
            found[row] = weight
    return found
