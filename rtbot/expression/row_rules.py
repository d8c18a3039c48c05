"""Typing rules of expressions over the fields of a row, for graph files and for SQL.

They are SQL's: null in, null out, but for what says otherwise; `and` and `or` are three-valued. An
integer beside a number is widened. A null without a type has the kind `null` until something beside
it has one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.core.errors import GraphError, graph_error
from rtbot.expression.rules import NUMERIC
from rtbot.expression.rules import widen as widen_value
from rtbot.expression.tree import Expression
from rtbot.operator import Type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbot.core.source_span import SourceSpan

UNTYPED = "null"
"""The kind of a null that nothing has given a type."""

BRANCHES_MAX = 24
"""So deep may parts be nested that are computed only for some rows."""

_WIDENED = ("integer", "number")
EQUALITIES = ("==", "!=")
ORDERINGS = ("<", "<=", ">", ">=")
LAZY = ("and", "or", "case", "coalesce")
SIGNATURES: dict[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(("and", "or"), (("boolean", "boolean"), "boolean")),
    "not": (("boolean",), "boolean"),
    **dict.fromkeys(("/", "power"), (("number", "number"), "number")),
    **dict.fromkeys(("sqrt", "exp", "ln", "log10"), (("number",), "number")),
    "isnan": (("number",), "boolean"),
    **dict.fromkeys(("upper", "lower", "trim", "ltrim", "rtrim"), (("text",), "text")),
    "length": (("text",), "integer"),
    "substring": (("text", "integer", "integer"), "text"),
    "replace": (("text", "text", "text"), "text"),
    **dict.fromkeys(
        ("starts_with", "ends_with", "contains", "like"), (("text", "text"), "boolean")
    ),
}
"""The kinds of the arguments of an operation, and of its result."""

ARITHMETIC = ("+", "-", "*", "%", "//", "neg", "abs", "floor", "ceil", "round", "sign")


def make_call(
    op: str, args: Sequence[Expression], mark: SourceSpan, cast_to: str | None = None
) -> Expression:
    """Return the operation `op` of these arguments, typed; `cast_to` is the kind of a `cast`.

    `concat` is null if a part is. Raises GraphError if the arguments do not fit.
    """
    trees = list(args)
    if op == "cast":
        assert cast_to is not None
        tree = _cast(trees[0], cast_to, mark)
    elif op in SIGNATURES:
        kinds, result = SIGNATURES[op]
        fit = [_give_kind(op, tree, kind, mark) for tree, kind in zip(trees, kinds, strict=False)]
        tree = _build(op, fit, result, mark)
    else:
        tree = _MAKERS[op](op, trees, mark)
    if op == "like" and tree.args[1].op != "constant":
        raise graph_error("RT133", mark, "the pattern of like is a constant text", "write 'a%'")
    if op in LAZY and count_branches(tree) > BRANCHES_MAX:
        message = f"an expression of more than {BRANCHES_MAX} nested conditions"
        raise graph_error("RT135", mark, message, "split it")
    return tree


def count_branches(tree: Expression) -> int:
    """Return how deep parts are nested that are computed only for some rows."""
    first, *others = [count_branches(a) for a in tree.args] or [0]
    lazy = tree.op in LAZY
    return max([first, *(depth + lazy for depth in others)])


def widen(tree: Expression, kind: str) -> Expression:
    """Return the tree as a number if `kind` asks for one and it is an integer."""
    if tree.op == "constant" and tree.value is None and (tree.type.kind, kind) == _WIDENED:
        return replace(tree, type=Type(kind, nullable=True))
    return widen_value(tree, kind)


def settle_null(tree: Expression, kind: str) -> Expression:
    """Return the tree with the kind for a null that has none, and all the nulls that it is of."""
    if tree.type.kind != UNTYPED:
        return tree
    args = tuple(settle_null(argument, kind) for argument in tree.args)
    return replace(tree, type=Type(kind, nullable=True), args=args)


def _build(
    op: str,
    args: Sequence[Expression],
    kind: str,
    mark: SourceSpan,
    nullable: bool | None = None,
) -> Expression:
    if nullable is None:
        nullable = any(a.type.nullable for a in args)
    return Expression(op, Type(kind, nullable), tuple(args), mark=mark)


def _give_kind(op: str, tree: Expression, kind: str, mark: SourceSpan) -> Expression:
    """Return an argument of the kind that is wanted; raise GraphError if it is another."""
    fit = widen(settle_null(tree, kind), kind)
    if fit.type.kind != kind:
        raise _make_mismatch(op, [tree], f"{kind}s", mark)
    return fit


def _unify(op: str, args: Sequence[Expression], mark: SourceSpan) -> list[Expression]:
    """Return the arguments as one kind: all equal, or integers beside numbers."""
    kinds = {a.type.kind for a in args} - {UNTYPED}
    kind = next(iter(kinds), UNTYPED)
    if len(kinds) > 1:
        if not kinds <= set(NUMERIC):
            raise _make_mismatch(op, args, "one type", mark)
        kind = "number"
    return [widen(settle_null(a, kind), kind) for a in args]


def _make_mismatch(
    op: str, args: Sequence[Expression], wanted: str, mark: SourceSpan
) -> GraphError:
    given = " and ".join(dict.fromkeys(str(a.type) for a in args))
    kinds = {a.type.kind for a in args}
    hint = ""
    if op == "+" and kinds == {"text"}:
        hint = "|| joins texts"
    elif wanted == "booleans":
        hint = "compare it, as in x > 0"
    elif wanted == "texts":
        hint = "cast(x as text) makes a text of it"
    elif wanted in ("numbers", "one type") and "boolean" in kinds and "text" not in kinds:
        hint = "cast(x as integer) makes 0 or 1 of a boolean"
    elif "text" in kinds:
        other = next(iter(sorted(kinds - {"text"})), "number")
        hint = f"cast(x as {other}) reads a text"
    verb = "is" if len(args) == 1 else "are"
    shown = {"neg": "-", "case": "case"}.get(op, op)
    return graph_error("RT133", mark, f"`{shown}` takes {wanted}, here {verb} {given}", hint)


def _arithmetic(op: str, args: list[Expression], mark: SourceSpan) -> Expression:
    """Numbers, or integers that stay integers."""
    fit = _unify(op, args, mark) if {a.type.kind for a in args} <= {*NUMERIC, UNTYPED} else args
    fit = [settle_null(a, "integer") for a in fit]
    if any(a.type.kind not in NUMERIC for a in fit):
        raise _make_mismatch(op, args, "numbers", mark)
    if op == "//" and fit[0].type.kind == "number":
        hint = "write floor(a / b), or cast both"
        raise graph_error("RT133", mark, "`//` takes integers, here are numbers", hint)
    return _build(op, fit, fit[0].type.kind, mark)


def _compare(op: str, args: list[Expression], mark: SourceSpan) -> Expression:
    return _build(op, _settle(_unify(op, args, mark)), "boolean", mark)


def _settle(args: Sequence[Expression]) -> list[Expression]:
    """Give nulls that are compared with nulls some kind: the result is the same for all."""
    return [settle_null(a, "integer") for a in args]


def _is_null(op: str, args: list[Expression], mark: SourceSpan) -> Expression:
    return _build(op, _settle(args), "boolean", mark, nullable=False)


def _is_distinct(op: str, args: list[Expression], mark: SourceSpan) -> Expression:
    return _build(op, _settle(_unify(op, args, mark)), "boolean", mark, nullable=False)


def _first_of(op: str, args: list[Expression], mark: SourceSpan) -> Expression:
    """`coalesce`, `least`, `greatest`: null if all are."""
    fit = _unify(op, args, mark)
    return _build(op, fit, fit[0].type.kind, mark, nullable=all(a.type.nullable for a in args))


def _case(op: str, args: list[Expression], mark: SourceSpan) -> Expression:
    """c1, v1, c2, v2, ..., else."""
    conditions = [_give_kind("case when", c, "boolean", mark) for c in args[:-1:2]]
    values = _unify(op, [*args[1::2], args[-1]], mark)
    pairs = [part for pair in zip(conditions, values[:-1], strict=True) for part in pair]
    nullable = any(v.type.nullable for v in values)
    return _build(op, [*pairs, values[-1]], values[-1].type.kind, mark, nullable=nullable)


def _concat(op: str, args: list[Expression], mark: SourceSpan) -> Expression:
    fit = [_give_kind("||" if len(args) > 1 else op, a, "text", mark) for a in args]
    return _build(op, fit, "text", mark)


def _cast(tree: Expression, kind: str, mark: SourceSpan) -> Expression:
    if tree.type.kind in (UNTYPED, kind):
        return replace(settle_null(tree, kind), mark=mark)
    if (tree.type.kind, kind) == ("integer", "number"):
        return replace(widen(tree, kind), mark=mark)
    return _build("cast", [tree], kind, mark)


_MAKERS: dict[str, Callable[[str, list[Expression], SourceSpan], Expression]] = {
    **dict.fromkeys(ARITHMETIC, _arithmetic),
    **dict.fromkeys((*EQUALITIES, *ORDERINGS, "in"), _compare),
    **dict.fromkeys(("coalesce", "least", "greatest"), _first_of),
    "is_null": _is_null,
    "is_distinct": _is_distinct,
    "case": _case,
    "concat": _concat,
}
