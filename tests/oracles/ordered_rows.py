"""Operators that put rows in an order, over bags of rows: every row is looked at."""

from collections import Counter, defaultdict

from rtbot.operators.ordered import find_frame
from tests.oracles.row_expressions import evaluate as compute
from tests.oracles.row_expressions import rank


class Descending:
    """A value that is compared the other way round."""

    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return other.value < self.value

    def __eq__(self, other):
        return other.value == self.value

    __hash__ = None


def sort_value(value, descending=False):
    """What a value is sorted by: nulls last in both directions."""
    if value is None:
        return (1,)
    return (0, Descending(rank(value)) if descending else rank(value))


def split_rows(bag, fields, by, order):
    """The rows of every partition in the total order, as (sort key, row), copies one by one."""
    partitions = defaultdict(list)
    places = [(fields.index(name), descending) for name, descending in order]
    for row, count in bag.items():
        part = tuple(sort_value(row[fields.index(name)]) for name in by)
        key = tuple(sort_value(row[place], descending) for place, descending in places)
        partitions[part] += [(key, tuple(map(sort_value, row)), row)] * count
    for rows in partitions.values():
        rows.sort(key=lambda each: each[:2])
    return [[(key, row) for key, _, row in rows] for rows in partitions.values()]


def find_ranks(rows):
    """The rank of every row: how many are before its first peer, and one."""
    ranks = []
    for place, (key, _) in enumerate(rows):
        same = place and rows[place - 1][0] == key
        ranks.append(ranks[-1] if same else place + 1)
    return ranks


def over_rows(node, bags, fields, aggregate):
    """Window functions over every row's partition; `aggregate` computes those of a frame."""
    values = node.values
    result = Counter()
    mode, start, end = find_frame(values)
    for rows in split_rows(bags[0], fields[0], values["by"] or (), values["order"] or ()):
        ranks = find_ranks(rows)
        last = [max(i for i, r in enumerate(ranks) if r == rank_) for rank_ in ranks]
        columns = []
        for name, function, offset, default in values["compute"]:
            tree = node.formulas.get(f"compute.{name}")
            scopes = [dict(zip(fields[0], row, strict=True)) for _, row in rows]
            given = [None if tree is None else compute(tree, scope) for scope in scopes]
            found = []
            for place in range(len(rows)):
                first = 0 if start is None else place + start
                until = len(rows) - 1 if end is None else place + end
                until = last[place] if mode == "range" and end == 0 else until
                inside = given[max(first, 0) : max(until + 1, 0)]
                if function in ("sum", "avg", "min", "max", "count"):
                    known = [value for value in inside if value is not None]
                    found.append(len(inside) if tree is None else aggregate(function, known))
                else:
                    found.append(find_value(function, place, given, inside, ranks, offset, default))
            columns.append(found)
        for place, (_, row) in enumerate(rows):
            result[(*row, *(column[place] for column in columns))] += 1
    return result


def find_value(function, place, given, inside, ranks, offset, default):
    if function == "number":
        return place + 1
    if function == "rank":
        return ranks[place]
    if function == "dense_rank":
        return len(set(ranks[: place + 1]))
    if function in ("lag", "lead"):
        other = place + (-offset if function == "lag" else offset)
        return given[other] if 0 <= other < len(given) else default
    return inside[0 if function == "first" else -1] if inside else None


def aggregate_ordered(function, node, name, rows):
    """The value of an aggregate by an order of the rows, which are {field: value}."""

    def key(row):
        keys = []
        place = 2 if function == "string_agg" else 1
        while f"compute[{place}].{name}" in node.formulas:
            tree = node.formulas[f"compute[{place}].{name}"]
            down = tree.op == "descending"
            keys.append(sort_value(compute(tree.args[0] if down else tree, row), down))
            place += 1
        return tuple(keys), tuple(map(sort_value, row.values()))

    tree = node.formulas[f"compute.{name}"]
    values = [compute(tree, row) for row in sorted(rows, key=key)]
    if function == "string_agg":
        known = [value for value in values if value is not None]
        return node.formulas[f"compute[1].{name}"].value.join(known) if known else None
    return values[0 if function == "first" else -1] if values else None
