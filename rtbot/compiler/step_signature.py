"""A node as its step sees it: the function, its name, kinds of ports, words of parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rtbot.operator import ListParameter
from rtbot.operator.step_source import SEPARATOR, is_user_defined

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.compiler.variables import LoopVariable
    from rtbot.graph.model import Node


def to_snake_case(name: str) -> str:
    """Convert MovingAverage to moving_average."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def name_step(node: Node) -> str:
    """Return the name of the node's step in a generated module."""
    return name_function(node, find_step(node))


def name_function(node: Node, function: Callable[..., Any], suffix: str = "") -> str:
    """Return the name of a step; one that is named as a member of its class is after the class."""
    if is_user_defined(function):
        return f"{node.operator.__name__}{SEPARATOR}{function.__name__}"
    if function.__name__ not in ("step", "close", "leave"):
        return function.__name__
    return to_snake_case(node.operator.__name__) + suffix


def list_steps(node: Node) -> dict[str, Callable[..., Any]]:
    """Return the functions of a node by their names in a generated module: its step, its `close`.

    A node of formulas has none.
    """
    if node.formulas:
        return {}
    found = {name_step(node): find_step(node)}
    close = node.operator.close
    if close is not None:
        found[name_function(node, close, "_close")] = close
    return found


def list_functions(node: Node) -> list[tuple[str, Callable[..., Any]]]:
    """Return all functions that a node may call, with their names: steps, and its `leave`."""
    leave = None if node.formulas else find_leave(node)
    found = [*list_steps(node).items()]
    return found if leave is None else [*found, (name_function(node, leave, "_leave"), leave)]


def find_leave(node: Node) -> Callable[..., Any] | None:
    """Return what takes a value out of a window of time of the node, or None."""
    return node.operator.leave_for({p: node.types[p] for p in node.inputs})


def find_step(node: Node) -> Callable[..., Any]:
    """Return the step of the node for the kinds it carries."""
    return node.operator.step_for(node.values, {p: node.types[p] for p in node.inputs})


def find_port_kind(node: Node, port: str) -> str:
    """Return the kind in which the step or formula sees a port; an integer may be widened to it."""
    declared = node.operator.port(port).kind
    if declared == "N" and not node.formulas and not node.operator.integer_step:
        return "number"
    return declared if declared not in ("T", "N") else node.types[port].kind


def find_state_kind(node: Node, kind: str) -> str:
    """Return the kind of an item of state; "T" and "N" are what the node's generic port carries."""
    if kind not in ("T", "N"):
        return kind
    return next(
        find_port_kind(node, p) for p in node.inputs if node.operator.port(p).kind in ("T", "N")
    )


def format_argument(node: Node, port: str, source: LoopVariable) -> str:
    """Return the text of a port's value in the kind in which the step or formula sees it."""
    if source.type.kind == "integer" and find_port_kind(node, port) == "number":
        return f"float({source.text})"
    return source.text


def encode_parameter(node: Node, name: str) -> tuple[str, float | int]:
    """Return (kind, word) of a parameter as a step sees it, or of `$p` in an expression."""
    for declared in node.operator.parameters.values():
        if name in declared.list_arguments() or declared.is_element(name):
            return declared.encode(name, node.values[declared.name])
    value = node.values[name]
    kind = "boolean" if isinstance(value, bool) else "number" if isinstance(value, float) else ""
    return kind or "integer", value if kind == "number" else int(value)


def encode_list(node: Node, name: str) -> tuple[tuple[float, ...], int]:
    """Return (words, count) of a list parameter as a step sees it; pairs are flat."""
    declared, value = node.operator.parameters[name], node.values[name] or ()
    assert isinstance(declared, ListParameter), name
    return declared.flatten(value), len(value)


def list_used_parameters(node: Node) -> list[str]:
    """Return the names of the parameters that the node's formulas read, in order."""
    names: dict[str, None] = {}
    trees = list(node.formulas.values())
    while trees:
        tree = trees.pop()
        if tree.op == "value":
            names[tree.value] = None
        trees += tree.args
    return sorted(names)
