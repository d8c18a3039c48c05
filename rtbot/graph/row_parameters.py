"""Parameters of change operators as text: the expressions that a checked node holds."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from rtbot.expression import format_expression
from rtbot.operator.relation import Computations, RowFields, name_argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.graph.model import Node


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
    return None


def _list_computations(node: Node, name: str) -> Iterator[tuple[str, str]]:
    for field, function, distinct in node.values[name]:
        places = itertools.takewhile(node.formulas.__contains__, _list_arguments(name, field))
        arguments = ", ".join(format_tree(node, place) for place in places)
        yield field, f"{function}({'distinct ' if distinct else ''}{arguments})"


def _list_arguments(name: str, field: str) -> Iterator[str]:
    return (name_argument(name, field, place) for place in itertools.count())
