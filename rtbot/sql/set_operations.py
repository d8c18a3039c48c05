"""UNION, INTERSECT and EXCEPT: columns that go together by their place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.expression.row_rules import UNTYPED, settle_null
from rtbot.expression.rules import widen
from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.operator.schema import Field
from rtbot.sql.logical import Project, SetOp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import exp

    from rtbot.sql.bound_query import BoundQuery
    from rtbot.sql.logical import LogicalPlan
    from rtbot.sql.query_text import QueryText

NUMERIC = {"integer", "number"}


def bind_set_operation(
    query: QueryText, node: exp.Expr, children: Sequence[BoundQuery | None]
) -> BoundQuery | None:
    """Return the set operation over two bound queries, with the names of the first."""
    left, right = children
    if left is None or right is None:
        return None
    operator = type(node).__name__
    if len(left.columns) != len(right.columns):
        message = f"{operator.upper()} of {len(left.columns)} and of {len(right.columns)} columns"
        query.report("RT185", node.expression, message, "both sides have the same columns")
        return None
    fields = [_unify(query, operator, (left, right), place) for place in range(len(left.columns))]
    known = tuple(field for field in fields if field is not None)
    if len(known) < len(fields):
        return None
    every = not node.args.get("distinct")
    parts = tuple(fit_plan(side.plan, known) for side in (left, right))
    first = parts[0]
    if isinstance(first, SetOp) and operator != "Except":
        same = first.operator == operator and first.all == every and first.fields == known
        parts = (*first.children, parts[1]) if same else parts
    plan = SetOp(operator, every, parts, known, query.locate(node.expression))
    columns = tuple(
        replace(column, field=field) for column, field in zip(left.columns, known, strict=True)
    )
    return replace(left, plan=plan, columns=columns)


def _unify(
    query: QueryText, operator: str, sides: tuple[BoundQuery, BoundQuery], place: int
) -> Field | None:
    """Return the field of a place; report one whose sides do not go together."""
    one, other = (side.columns[place].field.type for side in sides)
    kinds = {one.kind, other.kind}
    kinds -= {UNTYPED}
    if len(kinds) > 1 and not kinds <= NUMERIC:
        message = f"{operator.upper()} of {one.kind} and {other.kind} in column {place + 1}"
        query.report("RT185", sides[1].nodes[place], message, "cast one of them")
        return None
    kind = "number" if len(kinds) > 1 else next(iter(kinds), "integer")
    name = sides[0].plan.fields[place].name
    return Field(name, Type(kind, one.nullable or other.nullable))


def fit_plan(plan: LogicalPlan, wanted: Sequence[Field]) -> LogicalPlan:
    """Return a plan with the names and kinds that are wanted."""
    pairs = list(zip(plan.fields, wanted, strict=True))
    if all(has.name == want.name and has.type.kind == want.type.kind for has, want in pairs):
        return plan
    child = plan.child if isinstance(plan, Project) else plan
    trees = (
        plan.expressions
        if isinstance(plan, Project)
        else [Expression("field", has.type, (), has.name) for has, _ in pairs]
    )
    fitted = [
        (want.name, widen(settle_null(tree, want.type.kind), want.type.kind))
        for tree, want in zip(trees, wanted, strict=True)
    ]
    fields = tuple(Field(name, tree.type) for name, tree in fitted)
    return Project(child, fields, tuple(tree for _, tree in fitted), plan.mark)
