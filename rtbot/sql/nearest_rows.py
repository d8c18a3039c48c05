"""ASOF JOIN: left rows with the one right row that is nearest by an inequality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.core.errors import graph_error
from rtbot.expression.row_rules import make_call
from rtbot.expression.tree import MIRRORED
from rtbot.operator.schema import Schema
from rtbot.operators.ordered_joins import AsOfJoin
from rtbot.sql.joins import (
    KeyPair,
    add_fields,
    list_conjuncts,
    list_names,
    name_pair,
    rename_fields,
    split_condition,
)
from rtbot.sql.logical import AsOf

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from rtbot.core.source_span import SourceSpan
    from rtbot.expression.tree import Expression
    from rtbot.sql.logical import LogicalPlan

FORM = "write ON l.key = r.key AND l.t >= r.t: equalities, and one of >= > <= <"


def split_nearest(
    tree: Expression, left: LogicalPlan, right: LogicalPlan
) -> tuple[list[KeyPair], KeyPair, str]:
    """Return the keys, the two sides and the sign of the inequality that a condition has.

    Raises GraphError for a condition of any other form.
    """
    pairs, rest = split_condition(tree, left, right)
    found = [] if rest is None else list_conjuncts(rest)
    names = name_pair(left, right)
    lefts = set(names[: len(left.fields)])
    own = (field.name for field in right.fields)
    rights = dict(zip(names[len(left.fields) :], own, strict=True))
    signs: list[tuple[KeyPair, str]] = []
    for one in found:
        pair = _read_inequality(one, lefts, rights)
        if pair is None:
            _refuse(one.mark, "ASOF JOIN takes equalities of both sides and one inequality")
        signs.append(pair)
    if len(signs) != 1:
        message = f"ASOF JOIN {'of several inequalities' if signs else 'without an inequality'}"
        _refuse(signs[1][0].left.mark if signs else tree.mark, message)
    if any(pair.null_safe for pair in pairs):
        _refuse(tree.mark, "IS NOT DISTINCT FROM in ASOF JOIN is not supported")
    return pairs, *signs[0]


def _refuse(mark: SourceSpan, message: str) -> NoReturn:
    raise graph_error("RT181", mark, message, FORM)


def _read_inequality(
    tree: Expression, lefts: set[str], rights: dict[str, str]
) -> tuple[KeyPair, str] | None:
    """Return the left and the right side of an inequality, and its sign."""
    if MIRRORED.get(tree.op, tree.op) == tree.op:
        return None
    first, second = tree.args
    for sign, one, other in ((tree.op, first, second), (MIRRORED[tree.op], second, first)):
        names, others = set(list_names(one)), set(list_names(other))
        if names and others and names <= lefts and others <= rights.keys():
            return KeyPair(one, rename_fields(other, rights)), sign
    return None


def make_nearest(
    sides: tuple[LogicalPlan, LogicalPlan],
    how: str,
    pairs: Sequence[KeyPair],
    match: KeyPair,
    sign: str,
    mark: SourceSpan,
) -> AsOf:
    """Return the join of two plans on the right row that is nearest by a sign.

    Raises GraphError where the two sides do not compare, or are no numbers.
    """
    left, right = sides
    every = [*pairs, match]
    fitted = [make_call("==", [pair.left, pair.right], mark).args for pair in every]
    kind = fitted[-1][0].type.kind
    if kind not in ("integer", "number"):
        message = f"ASOF JOIN compares numbers, such as times, here is {kind}"
        raise graph_error("RT133", match.left.mark, message, "cast both sides to BIGINT")
    taken = [*name_pair(left, right), *(field.name for field in right.fields)]
    left, ones = add_fields(left, [one for one, _ in fitted], taken)
    right, others = add_fields(right, [other for _, other in fitted], taken)
    *on, between = zip(ones, others, strict=True)
    direction = "backward" if sign in (">", ">=") else "forward"
    strict = sign in ("<", ">")
    values = {"on": tuple(on), "match": (between,), "how": how, "tolerance": None}
    schemas = {"i1": Schema(left.fields), "i2": Schema(right.fields)}
    fields = AsOfJoin.output_schema(values, schemas, {}).fields
    return AsOf(left, right, how, tuple(on), between, direction, strict, fields, mark)
