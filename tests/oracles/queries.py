"""Nodes of queries over bags of rows, one after another: a row is a tuple, a bag a Counter."""

import math
import statistics
from collections import Counter, defaultdict
from fractions import Fraction

from rtbot.operators.row_joins import name_right_fields
from tests.oracles.ordered import ORDERED_NODES
from tests.oracles.ordered_rows import aggregate_ordered, over_rows
from tests.oracles.row_expressions import INT64, NAN, NoValueError, rank
from tests.oracles.row_expressions import evaluate as compute


def evaluate(query, tables, names):
    """Return the bag of a query; `tables` are bags, `names` the names of their fields."""
    bags, fields = dict(tables), dict(names)
    for node in query.nodes:
        rows = [bags[each] for each in node.inputs]
        bags[node.id] = +NODES[node.operator](node, rows, [fields[each] for each in node.inputs])
        fields[node.id] = [field.name for field in node.schema]
    return bags[query.result]


def clean(value):
    """Return a value with one zero and one NaN, which is equal to itself."""
    if isinstance(value, float):
        return NAN if value != value else value + 0.0
    return value


def is_equal(one, other):
    """Whether two values are equal; NaN is equal to itself."""
    return one == other or (one != one and other != other)


def _where(node, bags, fields):
    tree = node.formulas["condition"]
    return Counter(
        {r: n for r, n in bags[0].items() if compute(tree, dict(zip(fields[0], r, strict=True)))}
    )


def _select(node, bags, fields):
    result = Counter()
    trees = [node.formulas[f"fields.{name}"] for name in node.values["fields"]]
    for row, count in bags[0].items():
        scope = dict(zip(fields[0], row, strict=True))
        result[tuple(clean(compute(tree, scope)) for tree in trees)] += count
    return result


def _group_by(node, bags, fields):
    groups = defaultdict(list)
    if not node.values["by"]:
        groups[()] = []
    for row, count in bags[0].items():
        scope = dict(zip(fields[0], row, strict=True))
        groups[tuple(scope[name] for name in node.values["by"])] += [scope] * count
    result = Counter()
    for key, rows in groups.items():
        found = []
        for name, function, distinct in node.values["compute"]:
            tree = node.formulas.get(f"compute.{name}")
            if tree is None:
                found.append(len(rows))
                continue
            if function in ("first", "last", "string_agg"):
                found.append(aggregate_ordered(function, node, name, rows))
                continue
            values = [v for v in (compute(tree, row) for row in rows) if v is not None]
            values = list(dict.fromkeys(map(clean, values))) if distinct else values
            share = node.formulas.get(f"compute[1].{name}")
            found.append(clean(aggregate(function, values, 0.5 if share is None else share.value)))
        result[(*key, *found)] += 1
    return result


def aggregate(function, values, share=0.5):
    if function == "count":
        return len(values)
    if not values:
        return None
    if function in ("min", "max"):
        return (min if function == "min" else max)(values, key=rank)
    if function in ("median", "quantile"):
        return find_quantile(values, share)
    if function in ("bool_and", "bool_or"):
        return (all if function == "bool_and" else any)(values)
    if function == "sum" and isinstance(values[0], int):
        total = sum(values)
        if total not in INT64:
            raise NoValueError("sum")
        return total
    if function in ("sum", "avg"):
        total = add_all(values)
        return total if function == "sum" else total / len(values)
    return find_spread(function, values)


def find_spread(function, values):
    sample = function in ("stddev", "variance")
    if len(values) <= sample:
        return None
    if not all(map(math.isfinite, values)):
        return NAN
    exact = list(map(Fraction, values))
    spread = as_float((statistics.variance if sample else statistics.pvariance)(exact))
    return math.sqrt(spread) if function.startswith("stddev") else spread


def find_quantile(values, share):
    order = sorted(values, key=rank)
    place = (len(order) - 1) * share
    part = place - math.floor(place)
    low, high = order[math.floor(place)], order[math.ceil(place)]
    return float(low) if is_equal(low, high) else low * (1.0 - part) + high * part


def as_float(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def add_all(values):
    if all(map(math.isfinite, values)):
        return as_float(sum(map(Fraction, values)))
    return sum(v for v in values if not math.isfinite(v))


def _distinct(node, bags, fields):  # noqa: ARG001
    return Counter(dict.fromkeys(bags[0], 1))


def _union(node, bags, fields):  # noqa: ARG001
    total = sum(bags, Counter())
    return total if node.values["all"] else Counter(dict.fromkeys(total, 1))


def _intersect(node, bags, fields):  # noqa: ARG001
    least = bags[0]
    for bag in bags[1:]:
        least = least & bag  # not in place: the first is an input
    return least if node.values["all"] else Counter(dict.fromkeys(least, 1))


def _except(node, bags, fields):  # noqa: ARG001
    first, second = bags
    if node.values["all"]:
        return first - second
    return Counter({row: 1 for row in first if row not in second})


def _join_rows(node, bags, fields):
    """Every left row with every right row; what has no partner by the kind of the join."""
    how, on = node.values["how"], node.values["on"]
    names = [*fields[0], *name_right_fields(*fields)]
    condition = node.formulas.get("condition")
    keys = [
        (fields[0].index(one), fields[1].index(other), one in node.values["null_safe"])
        for one, other in on
    ]

    def match(left, right):
        for one, other, safe in keys:
            if left[one] is None or right[other] is None:
                if not safe or left[one] is not right[other]:
                    return False
            elif not is_equal(left[one], right[other]):
                return False
        scope = dict(zip(names, (*left, *right), strict=True))
        return condition is None or compute(condition, scope) is True

    pairs = {(one, other) for one in bags[0] for other in bags[1] if match(one, other)}
    matched = [{pair[side] for pair in pairs} for side in range(2)]
    if how in ("semi", "anti"):
        kept = matched[0] if how == "semi" else bags[0].keys() - matched[0]
        return Counter({row: bags[0][row] for row in kept})
    result = Counter()
    for one, other in pairs:
        result[one + other] += bags[0][one] * bags[1][other]
    for side, kinds in enumerate((("left", "full"), ("right", "full"))):
        nulls = (None,) * len(fields[1 - side])
        for row in bags[side].keys() - matched[side] if how in kinds else ():
            result[row + nulls if side == 0 else nulls + row] += bags[side][row]
    return result


def _not_in(node, bags, fields):
    ((one, other),), by = node.values["on"], node.values["by"] or ()
    one, other = fields[0].index(one), fields[1].index(other)
    by = [(fields[0].index(a), fields[1].index(b)) for a, b in by]
    result = Counter()
    for row, count in bags[0].items():
        values = [
            right[other]
            for right in bags[1]
            if all(row[a] is not None and is_equal(row[a], right[b]) for a, b in by)
        ]
        unknown = values and (row[one] is None or None in values)
        if not unknown and not any(is_equal(row[one], value) for value in values):
            result[row] = count
    return result


NODES = {
    "Where": _where,
    "Select": _select,
    "GroupBy": _group_by,
    "Distinct": _distinct,
    "Union": _union,
    "Intersect": _intersect,
    "Except": _except,
    "JoinRows": _join_rows,
    "NotIn": _not_in,
    **ORDERED_NODES,
    "OverRows": over_rows,
}
