"""The typed tree of an expression, and the operator that carries a user's expression in a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rtbot.core.source_span import SourceSpan
from rtbot.operator import In, Operator, Out, Type


@dataclass(frozen=True, slots=True)
class Expression:
    """A typed tree.

    `op` is `constant` (`value` int, float or bool), `port` (`value` its name), `value` (`value`
    the name of a parameter), `widen` (integer to number), a sign such as `+` or `<=`, `neg`, `not`,
    `and`, `or`, `if`, or the name of a function. Operands of one operation have one kind.
    """

    op: str
    type: Type
    args: tuple[Expression, ...] = ()
    value: Any = None
    mark: SourceSpan = SourceSpan()


class Formula(Operator, abstract=True):
    """An expression of a graph file: one message whenever all its inputs have one."""

    mixed = True
    i = In("T", nullable=True, variadic=True, shortest=1, doc="a stream of the expression")
    o1 = Out("T", doc="the value of the expression")


MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
"""Comparisons, and what they are with their sides exchanged."""

POWERS = {
    "or": 1,
    "and": 3,
    "not": 5,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), 7),
    **dict.fromkeys(("+", "-"), 9),
    **dict.fromkeys(("*", "/", "%"), 11),
    "neg": 13,
    "**": 16,
}
ATOM = 20


def format_expression(tree: Expression) -> str:
    """Return the tree as text, with no more parentheses than needed; `widen` leaves no trace."""
    return _format_tree(tree)[0]


def _format_tree(tree: Expression) -> tuple[str, int]:
    """Return the text of a tree, and the precedence of its outermost operation."""
    if tree.op == "constant":
        text = str(tree.value).lower() if isinstance(tree.value, bool) else repr(tree.value)
        return text, POWERS["neg"] if text.startswith("-") else ATOM
    if tree.op in ("port", "value", "field"):
        return ("$" if tree.op == "value" else "") + tree.value, ATOM
    args = [_format_tree(argument) for argument in tree.args]
    if tree.op == "widen":
        return args[0]
    if tree.op in ("cast", "try_cast"):
        return f"{tree.op}({args[0][0]} as {tree.type.kind})", ATOM
    power = POWERS.get(tree.op)
    if power is None:
        return f"{tree.op}({', '.join(text for text, _ in args)})", ATOM
    if len(args) == 1:
        return ("-" if tree.op == "neg" else "not ") + _parenthesise(args[0], power), power
    right = POWERS["neg"] if tree.op == "**" else power + 1
    left = power + 1 if power in (POWERS["<"], POWERS["**"]) else power
    return f"{_parenthesise(args[0], left)} {tree.op} {_parenthesise(args[1], right)}", power


def _parenthesise(part: tuple[str, int], power: int) -> str:
    text, own = part
    return text if own >= power else f"({text})"
