"""Functions of SQL that become several operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from rtbot.expression.row_rules import make_call, settle_null
from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.sql.refusals import refuse_rest
from rtbot.sql.time_windows import bind_bucket

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbot.sql.scalars import ScalarBinder

DIGITS_MAX = 15
INTEGERS_END = 2.0**63
WHOLE = 2.0**52
"""From here on all float64 are whole numbers."""


def bind_round(binder: ScalarBinder, node: exp.Expr) -> Expression | None:
    """Bind `round(x)` and `round(x, digits)`, halves away from zero."""
    refuse_rest(binder.query, node, "this", "decimals")
    value = binder.bind(node.this)
    digits = node.args.get("decimals")
    if digits is None or value is None:
        return None if value is None else binder.apply("round", node, [value])
    count = binder.bind(digits)
    if count is None:
        return None
    places = count.value if count.op == "constant" and isinstance(count.value, int) else None
    if places is None or not -DIGITS_MAX <= places <= DIGITS_MAX:
        hint = f"the second argument of round is an integer from -{DIGITS_MAX} to {DIGITS_MAX}"
        binder.query.report("RT133", digits, "round needs a number of digits", hint)
        return None
    value = settle_null(value, "integer")
    if value.type.kind == "integer":
        return value if places >= 0 else _round_integer(binder, node, value, 10**-places)
    factor = _number(node, binder, 10.0 ** abs(places))
    first, last = ("*", "/") if places >= 0 else ("/", "*")
    scaled = binder.apply(first, node, [value, factor])
    whole = scaled and binder.apply("round", node, [scaled])
    rounded = whole and binder.apply(last, node, [whole, factor])
    size = binder.apply("abs", node, [value])
    limit = _number(node, binder, WHOLE if places >= 0 else INTEGERS_END)
    small = size and binder.apply("<", node, [size, limit])
    return rounded and small and binder.apply("case", node, [small, rounded, value])


def _round_integer(
    binder: ScalarBinder, node: exp.Expr, value: Expression, unit: int
) -> Expression | None:
    """Return an integer rounded to a multiple of `unit`."""
    half, whole = (_integer(node, binder, n) for n in (unit // 2, unit))
    zero = _integer(node, binder, 0)
    negative = binder.apply("<", node, [value, zero])
    minus = binder.apply("neg", node, [half])
    shift = negative and minus and binder.apply("case", node, [negative, minus, half])
    moved = shift and binder.apply("+", node, [value, shift])
    count = moved and binder.apply("//", node, [moved, whole])
    return count and binder.apply("*", node, [count, whole])


def bind_ilike(binder: ScalarBinder, node: exp.Expr) -> Expression | None:
    """Bind ILIKE: LIKE of both sides in small letters."""
    refuse_rest(binder.query, node, "this", "expression", "negate")
    value, pattern = binder.bind(node.this), binder.bind(node.expression)
    if value is None or pattern is None:
        return None
    if pattern.op == "constant" and isinstance(pattern.value, str):
        pattern = Expression("constant", pattern.type, (), pattern.value.lower(), pattern.mark)
    lower = binder.apply("lower", node, [value])
    tree = lower and binder.apply("like", node, [lower, pattern])
    return binder.negate(tree) if node.args.get("negate") else tree


def bind_try_cast(binder: ScalarBinder, node: exp.Expr) -> Expression | None:
    """Bind TRY_CAST, which is null where a cast has no value."""
    kind = binder.find_kind(node, "safe")
    value = binder.bind(node.this)
    if kind is None or value is None:
        return None
    source = value.type.kind
    if source == "text" and kind != "text":
        tree = binder.apply("cast", node, [value], kind)
        return tree and Expression("try_cast", Type(kind, nullable=True), tree.args, mark=tree.mark)
    tree = binder.apply("cast", node, [value], kind)
    if (source, kind) != ("number", "integer") or tree is None:
        return tree
    low = binder.apply(">=", node, [value, _number(node, binder, -INTEGERS_END)])
    high = binder.apply("<", node, [value, _number(node, binder, INTEGERS_END)])
    fits = low and high and binder.apply("and", node, [low, high])
    nothing = Expression("constant", Type("integer", nullable=True), (), None, tree.mark)
    return fits and binder.apply("case", node, [fits, tree, nothing])


def bind_end(binder: ScalarBinder, node: exp.Expr) -> Expression | None:
    """Bind `left(x, n)` and `right(x, n)` of a constant number of characters."""
    refuse_rest(binder.query, node, "this", "expression")
    value, count = binder.bind(node.this), binder.bind(node.expression)
    if value is None or count is None:
        return None
    number = count.value if count.op == "constant" else None
    if not isinstance(number, int) or number < 0:
        name = type(node).__name__.lower()
        hint = "substring(x, first, length) takes any numbers"
        message = f"{name} takes a constant number of characters"
        binder.query.report("RT133", node.expression, message, hint)
        return None
    if isinstance(node, exp.Left):
        parts = [value, _integer(node, binder, 1), _integer(node, binder, number)]
        return binder.apply("substring", node, parts)
    if number == 0:
        parts = [value, _integer(node, binder, 1), _integer(node, binder, 0)]
        return binder.apply("substring", node, parts)
    return binder.apply("substring", node, [value, _integer(node, binder, -number)])


def join_texts(
    binder: ScalarBinder, node: exp.Expr, parts: Sequence[Expression]
) -> Expression | None:
    """Return the parts of `||` or concat as one text; what is no text is written as one."""
    mark = binder.query.locate(node)
    texts = [
        part if part.type.kind in ("text", "null") else make_call("cast", [part], mark, "text")
        for part in parts
    ]
    return binder.apply("concat", node, texts)


def bind_logarithm(binder: ScalarBinder, node: exp.Expr) -> Expression | None:
    """Bind `log(x)` and `log(10, x)`."""
    refuse_rest(binder.query, node, "this", "expression")
    if node.expression is None:
        return binder.apply("log10", node, [node.this])
    if isinstance(node.this, exp.Literal) and node.this.this == "10":
        return binder.apply("log10", node, [node.expression])
    hint = "write ln(x) / ln(base)"
    binder.query.report("RT181", node, "a logarithm of another base is not supported", hint)
    return None


def bind_concat(binder: ScalarBinder, node: exp.Expr) -> Expression | None:
    """Bind concat, which leaves nulls out, other than `||`."""
    refuse_rest(binder.query, node, "expressions", "safe", "coalesce")
    mark = binder.query.locate(node)
    empty = Expression("constant", Type("text"), (), "", mark)
    parts = []
    for tree in [binder.bind(part) for part in node.expressions]:
        part = tree
        if tree is not None and tree.type.nullable:
            text = tree if tree.type.kind == "text" else make_call("cast", [tree], mark, "text")
            part = binder.apply("coalesce", node, [text, empty])
        if part is None:
            return None
        parts.append(part)
    return join_texts(binder, node, parts)


def _integer(node: exp.Expr, binder: ScalarBinder, value: int) -> Expression:
    return Expression("constant", Type("integer"), (), value, binder.query.locate(node))


def _number(node: exp.Expr, binder: ScalarBinder, value: float) -> Expression:
    return Expression("constant", Type("number"), (), value, binder.query.locate(node))


COMPOSED: dict[type[exp.Expr], Callable[[ScalarBinder, Any], Expression | None]] = {
    exp.Round: bind_round,
    exp.ILike: bind_ilike,
    exp.TryCast: bind_try_cast,
    exp.Left: bind_end,
    exp.Right: bind_end,
    exp.Log: bind_logarithm,
    exp.Concat: bind_concat,
    exp.DateBin: bind_bucket,
}
