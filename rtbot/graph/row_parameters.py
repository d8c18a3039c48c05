"""Parameters of change operators as text: the expressions that a checked node holds."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from rtbot.expression import Expression, format_expression
from rtbot.operator import Type
from rtbot.operator.relation import (
    Computations,
    Frame,
    Order,
    RowFields,
    WindowComputations,
    name_argument,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.graph.model import Node
    from rtbot.operator import Parameter


def format_tree(node: Node, name: str) -> str:
    """Return an expression of a node as text, "" if it has none."""
    tree = node.formulas.get(name)
    return "" if tree is None else format_expression(tree)


def list_fields(node: Node, name: str) -> Iterator[tuple[str, str]] | None:
    """Return the fields that a parameter defines, with their expressions; None if it has none."""
    declared = node.operator.parameters.get(name)
    if isinstance(declared, RowFields):
        return ((field, format_tree(node, f"{name}.{field}")) for field in node.values[name])
    if isinstance(declared, Computations):
        return _list_computations(node, name)
    if isinstance(declared, WindowComputations):
        return _list_windows(node, name)
    return None


def format_order(keys: Sequence[tuple[str, bool]]) -> str:
    """Return a sort order as a graph file has it."""
    return f"[{', '.join('-' * descending + name for name, descending in keys)}]"


def format_frame(frame: tuple[str, int | None, int | None]) -> str:
    """Return the frame of window functions as a graph file has it."""
    mode, start, end = frame
    if (start, end) == (None, 0):
        return mode
    if (start, end) == (None, None):
        return "all"
    bounds = _format_bound(start, "preceding"), _format_bound(end, "following")
    return f"rows between {bounds[0]} and {bounds[1]}"


def _format_bound(offset: int | None, side: str) -> str:
    if offset is None:
        return f"unbounded {side}"
    if offset == 0:
        return "current row"
    return f"{abs(offset)} {'preceding' if offset < 0 else 'following'}"


def format_special(declared: Parameter | None, value: Any) -> str | None:
    """Return a sort order or a frame as a graph file has it, None if it is neither."""
    if isinstance(declared, Order):
        return format_order(value)
    if isinstance(declared, Frame) and value is not None:
        return format_frame(value)
    return None


def _list_windows(node: Node, name: str) -> Iterator[tuple[str, str]]:
    for field, function, offset, default in node.values[name]:
        parts = [format_tree(node, f"{name}.{field}")]
        if function in ("lag", "lead") and (offset != 1 or default is not None):
            parts.append(str(offset))
        if default is not None:
            parts.append(format_expression(make_constant(default)))
        yield field, f"{function}({', '.join(filter(None, parts))})"


def make_constant(value: float | str) -> Expression:
    """Return the tree of a boolean, an integer, a number or a text."""
    kind = {bool: "boolean", int: "integer", float: "number", str: "text"}[type(value)]
    return Expression("constant", Type(kind), (), value)


def _list_computations(node: Node, name: str) -> Iterator[tuple[str, str]]:
    for field, function, distinct in node.values[name]:
        places = itertools.takewhile(node.formulas.__contains__, _list_arguments(name, field))
        arguments = ", ".join(_format_argument(node, place) for place in places)
        yield field, f"{function}({'distinct ' if distinct else ''}{arguments})"


def _format_argument(node: Node, place: str) -> str:
    tree = node.formulas[place]
    if tree.op == "descending":
        return f"-{format_expression(tree.args[0])}"
    return format_expression(tree)


def _list_arguments(name: str, field: str) -> Iterator[str]:
    return (name_argument(name, field, place) for place in itertools.count())
