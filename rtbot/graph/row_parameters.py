"""The expressions that a checked node holds as text, for pictures and explanations alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.expression import Expression, format_expression
from rtbot.operator import Type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.graph.model import Node


class NodeTexts:
    """The formulas of a node by name; see `RowTexts` of the kinds of parameters."""

    def __init__(self, node: Node) -> None:
        self.formulas = node.formulas

    def write(self, name: str) -> str:
        """Return a formula, "" if there is none; one that is descending begins with a minus."""
        tree = self.formulas.get(name)
        if tree is None:
            return ""
        descending = tree.op == "descending"
        return "-" * descending + format_expression(tree.args[0] if descending else tree)

    def write_constant(self, value: float | str) -> str:
        """Return a boolean, an integer, a number or a text as an expression has it."""
        kind = {bool: "boolean", int: "integer", float: "number", str: "text"}[type(value)]
        return format_expression(Expression("constant", Type(kind), (), value))


def list_fields(node: Node, name: str) -> Iterator[tuple[str, str]] | None:
    """Return the fields that a parameter defines, with their expressions; None if it has none."""
    declared = node.operator.parameters.get(name)
    return None if declared is None else declared.list_fields(node.values[name], NodeTexts(node))
