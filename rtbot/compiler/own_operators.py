"""What a dump notes of operators that are not rtbot's own: whose they are, and what they compute.

What decides is what they compute: their steps, which are in the description of the graph, and their
formulas. The version of a package is for the message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.expression.tree import format_expression
from rtbot.graph.check.declaration import is_builtin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.graph.model import CheckedGraph

    Noted = Mapping[str, Mapping[str, Any]]


def describe_own_operators(checked: CheckedGraph) -> dict[str, dict[str, Any]]:
    """Return the package of each operator with its version, "" for none, and its formulas."""
    nodes = {n: node for n, node in checked.nodes.items() if not is_builtin(node.operator)}
    if not nodes:
        return {}
    from rtbot.graph.packages import name_package

    return {
        name: {
            "package": name_package(node.operator),
            "formulas": {port: format_expression(tree) for port, tree in node.formulas.items()},
        }
        for name, node in nodes.items()
    }


def list_other_packages(noted: Noted, now: Noted) -> dict[str, tuple[str, str]]:
    """Return the packages that nodes were of and are of, where these differ."""
    both = {name: (noted[name]["package"], now[name]["package"]) for name in noted if name in now}
    return {name: pair for name, pair in both.items() if all(pair) and pair[0] != pair[1]}


def describe_formula_changes(noted: Noted, now: Noted) -> list[str]:
    """Return, in words, which formulas are others than those that a dump notes."""
    return [
        f"operators.{name}: {port} was {text} and is {now[name]['formulas'].get(port, 'gone')}"
        for name, own in noted.items()
        if name in now
        for port, text in own["formulas"].items()
        if text != now[name]["formulas"].get(port)
    ]
