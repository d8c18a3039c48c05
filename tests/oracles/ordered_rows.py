"""Nodes of queries that put rows in an order, by the oracles of their operators."""

from rtbot.operators.ordered import find_frame
from tests.oracles.ordered import make_sort_key
from tests.oracles.row_expressions import evaluate as compute
from tests.oracles.windows import compute_windows


def over_rows(node, bags, fields):
    """The bag of an OverRows, whose arguments are fields."""
    values, (names,) = node.values, fields
    items = []
    for name, function, offset, default in values["compute"]:
        tree = node.formulas.get(f"compute.{name}")
        items.append((function, tree and names.index(tree.value), offset, default))
    order = [(names.index(name), down) for name, down in values["order"]]
    by = [names.index(name) for name in values["by"]]
    return compute_windows(bags[0], by, order, find_frame(values), items)


def aggregate_ordered(function, node, name, rows):
    """The value of an aggregate by an order of the rows, which are {field: value}."""
    place, keys = 2 if function == "string_agg" else 1, []
    while f"compute[{place}].{name}" in node.formulas:
        keys.append(node.formulas[f"compute[{place}].{name}"])
        place += 1
    order = [(n, tree.op == "descending") for n, tree in enumerate(keys)]
    trees = [tree.args[0] if tree.op == "descending" else tree for tree in keys]

    def key(row):
        return make_sort_key((*(compute(tree, row) for tree in trees), *row.values()), order)

    tree = node.formulas[f"compute.{name}"]
    values = [compute(tree, row) for row in sorted(rows, key=key)]
    if function == "string_agg":
        known = [value for value in values if value is not None]
        return node.formulas[f"compute[1].{name}"].value.join(known) if known else None
    return values[0 if function == "first" else -1] if values else None
