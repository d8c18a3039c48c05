"""A query that is bound: what every part of the binder hands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbot.expression.row_rules import UNTYPED
from rtbot.operator import Type
from rtbot.operator.schema import Field
from rtbot.sql.scope import VisibleColumn
from rtbot.sql.set_operations import fit_plan

if TYPE_CHECKING:
    from sqlglot import exp

    from rtbot.sql.logical import LogicalPlan


@dataclass(frozen=True)
class BoundQuery:
    """The plan of a query, its columns as they are named, and the nodes that they are made of."""

    plan: LogicalPlan
    columns: tuple[VisibleColumn, ...]
    nodes: tuple[exp.Expr, ...]


def settle_columns(bound: BoundQuery) -> BoundQuery:
    """Return a query whose columns of nulls, which have no type, are integers."""
    if all(column.field.type.kind != UNTYPED for column in bound.columns):
        return bound
    kinds = [column.field.type.kind for column in bound.columns]
    wanted = [
        Field(field.name, Type("integer" if kind == UNTYPED else kind, field.type.nullable))
        for field, kind in zip(bound.plan.fields, kinds, strict=True)
    ]
    columns = tuple(
        VisibleColumn(column.name, field)
        for column, field in zip(bound.columns, wanted, strict=True)
    )
    return BoundQuery(fit_plan(bound.plan, wanted), columns, bound.nodes)
