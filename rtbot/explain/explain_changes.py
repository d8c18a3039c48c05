"""Tables that change, explained: rows, unique keys, and what each operator remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.graph.row_parameters import NodeTexts
from rtbot.graph.stages import has_own_times
from rtbot.operators.groups import BY_ORDER, QUANTILES
from rtbot.relations.join_views import COUNT, KEYED, MULTISET, ROW, choose_views

if TYPE_CHECKING:
    from rtbot.graph.model import Input, Node
    from rtbot.operator import Type

COUNTED = ("Union", "Intersect", "Except", "Distinct")
"""Operators that count how often each input has a row."""

VIEWS = {
    ROW: "one row of every join key, as ({key}) is unique",
    KEYED: "rows by join key, found by the unique ({key})",
    MULTISET: "rows by join key, each with its count",
    COUNT: "how many rows have every join key",
}
"""What a side of a join remembers, by its view."""

ORDERED = {
    "TopRows": "every row that is there, with its count, in order",
    "OverRows": "every row that is there, with its count, in order",
    "AsOfJoin": "left and right rows that are there, by key, each in order",
    "IntervalJoin": "left and right rows that are there, by key, each in order",
    "LookupJoin": "right rows by key, and left rows with what they were given",
    "Expire": "the rows that have not expired, each copy with its time",
}
"""What operators remember that put rows in an order, of their fields or of time."""

CLOSING = "a transaction comes out when all inputs have passed its time"
EXPIRING = "as its input, but not past what may expire next"


def describe_rows(carried: Type) -> str:
    """Return a type as text: of changes, the fields of the rows and the keys that are unique."""
    if carried.schema is None:
        return str(carried)
    keys = [f"({', '.join(key)})" for key in carried.schema.unique if key]
    keys += ["one row at most"] if () in carried.schema.unique else []
    return f"{carried.schema}" + (f" unique {', '.join(keys)}" if keys else "")


def describe_input_state(item: Input, excess: str) -> str:
    """Return what a source of changes remembers."""
    schema = item.type.schema
    if schema is None:
        return ""
    if schema.unique:
        return "the row of every key"
    if excess == "ignore":
        return "every row that is there, with its count; deletes of others are ignored"
    return "every row that is there, with its count"


def describe_node_state(node: Node) -> str:
    """Return what an operator of changes remembers."""
    name = node.operator.__name__
    if name in COUNTED:
        ports = len(node.inputs)
        counts = "its count" if ports == 1 else f"{ports} counts"
        if name == "Union" and node.values.get("all"):
            return "none"
        return f"every row that is there, with {counts}"
    if name == "GroupBy":
        return _describe_groups(node)
    if name == "JoinRows":
        return _describe_join(node)
    if name in ORDERED:
        return ORDERED[name]
    if name == "Datalog":
        return "every row of its relations, with a rank and a count of derivations; indexes"
    if name == "NotIn":
        return "left rows that are there, by key; how many right rows have each value"
    if name == "ToChanges":
        return "the row of every key" if node.values["mode"] == "latest" else "none"
    return "the one row" if name == "ToSeries" else "none"


def describe_node_progress(node: Node) -> str:
    """Return when an operator of changes releases them."""
    return EXPIRING if has_own_times(node) else CLOSING


def list_parameters(node: Node) -> dict[str, str]:
    """Return the parameters of a node as text, expressions as they were understood."""
    texts = NodeTexts(node)
    declared = node.operator.parameters.items()
    found = {name: one.explain(node.values.get(name), texts) for name, one in declared}
    return {name: text for name, text in found.items() if text}


def _describe_join(node: Node) -> str:
    """Return how the rows of both sides are remembered."""
    schemas = [type_.schema for port, type_ in node.types.items() if port in node.inputs]
    on = node.values["on"] or ()
    sides = [(s, [pair[n] for pair in on]) for n, s in enumerate(schemas) if s is not None]
    conditional = "condition" in node.formulas
    views = choose_views(node.values["how"], conditional=conditional, sides=sides)
    left, right = (VIEWS[view.kind].format(key=", ".join(view.unique)) for view in views)
    return f"left: {left}; right: {right}"


def _describe_groups(node: Node) -> str:
    values = node.values.get("compute") or ()
    functions = {function for _, function, _ in values}
    ordered = any(distinct for *_, distinct in values)
    ordered = ordered or not functions.isdisjoint({"min", "max", *QUANTILES})
    what = "a row of sums and counts" if values else "a count"
    more = ", and its values in order" if ordered else ""
    more += "" if functions.isdisjoint(BY_ORDER) else ", and every row that is there, in order"
    return f"for every group {what}{more}" if node.values["by"] else f"{what}{more}"
