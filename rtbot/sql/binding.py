"""Binding: sqlglot's tree of a query becomes a logical plan whose names and types are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from rtbot.core.errors import suggest_name
from rtbot.core.number_text import format_count
from rtbot.expression.tree import Expression
from rtbot.operator.schema import Field, Schema
from rtbot.sql.bound_query import BoundQuery, settle_columns
from rtbot.sql.logical import Project, Scan
from rtbot.sql.naming import make_unique
from rtbot.sql.refusals import refuse_node, refuse_rest, refuse_table
from rtbot.sql.row_order import CLAUSES, has_limit, sort_bound
from rtbot.sql.scope import VisibleColumn, find_named
from rtbot.sql.select_clause import SelectBinder
from rtbot.sql.set_operations import bind_set_operation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.sql.query_text import QueryText
    from rtbot.sql.scope import Scope
    from rtbot.sql.subqueries import GroupedRows, InnerRows

WITH_MAX = 32


class QueryBinder:
    """Binds a query over tables; `tables` has what WITH names, too.

    What is wrong is noted in the problems of the query; None is returned then. `broken` has the
    names under WITH that are wrong: what reads them is not looked at.
    """

    def __init__(self, query: QueryText, tables: Mapping[str, Schema | BoundQuery]) -> None:
        self.query, self.tables = query, dict(tables)
        self.broken: set[str] = set()

    def bind(self, node: exp.Expr, *, named: bool = True) -> BoundQuery | None:
        """Bind a query; if it is `named`, all its columns need a name."""
        binder = self.bind_with(node)
        if isinstance(node, exp.Subquery):
            refuse_rest(self.query, node, "this", "with_", *CLAUSES)
            return sort_bound(self.query, node, binder.bind(node.this, named=named))
        if isinstance(node, exp.SetOperation):
            refuse_rest(self.query, node, "this", "expression", "distinct", "with_", *CLAUSES)
            if isinstance(node.this, exp.Select) and has_limit(node.this):
                name = type(node).__name__.upper()
                message = f"LIMIT or OFFSET before {name}"
                self.query.report("RT180", node.this, message, "put the SELECT into brackets")
            children = [
                binder.bind(node.this, named=named),
                binder.bind(node.expression, named=False),
            ]
            return sort_bound(self.query, node, bind_set_operation(self.query, node, children))
        if isinstance(node, exp.Select):
            return SelectBinder(binder, node).bind(named=named)
        refuse_node(self.query, node)
        return None

    def bind_with(self, node: exp.Expr) -> QueryBinder:
        """Return the binder of what is below the WITH of a query."""
        with_ = node.args.get("with_")
        if with_ is None:
            return self
        if refuse_rest(self.query, with_, "expressions"):
            self.broken.update(each.alias for each in with_.expressions)
        if len(with_.expressions) > WITH_MAX:
            self.query.report("RT135", with_, f"more than {WITH_MAX} queries under WITH")
            return self
        binder = QueryBinder(self.query, self.tables)
        binder.broken = set(self.broken)
        names: set[str] = set()
        for each in with_.expressions:
            refuse_rest(self.query, each, "this", "alias", "materialized")
            if each.alias in names:
                message, hint = f"{each.alias!r} is there twice", "name one of them otherwise"
                self.query.report("RT183", each.args["alias"], message, hint)
            names.add(each.alias)
            bound = binder.bind(each.this)
            if bound is not None:
                bound = binder._rename(settle_columns(bound), each.args["alias"])
            if bound is None:
                binder.tables.pop(each.alias, None)
                binder.broken.add(each.alias)
            else:
                binder.tables[each.alias] = bound
        return binder

    def _rename(self, bound: BoundQuery, alias: exp.Expr | None) -> BoundQuery | None:
        """Return a query with the names of columns that are behind its alias."""
        if alias is None:
            return bound
        refuse_rest(self.query, alias, "this", "columns")
        names = alias.args.get("columns") or []
        if len(names) > len(bound.columns):
            message = f"{len(names)} names for {format_count(len(bound.columns), 'column')}"
            self.query.report("RT185", names[-1], message, "leave the other names out")
            return None
        if not names:
            return bound
        rest = [column.name for column in bound.columns[len(names) :]]
        visible = [*(name.name for name in names), *rest]
        fields = [column.field for column in bound.columns]
        trees = tuple(Expression("field", field.type, (), field.name) for field in fields)
        renamed = tuple(
            Field(name, field.type)
            for name, field in zip(make_unique(visible), fields, strict=True)
        )
        plan = Project(bound.plan, renamed, trees, self.query.locate(alias))
        columns = tuple(map(VisibleColumn, visible, renamed))
        return BoundQuery(plan, columns, bound.nodes)

    def open_subquery(
        self, node: exp.Expr, outer: Scope, *, columns: bool = False, scalar: bool = False
    ) -> BoundQuery | InnerRows | GroupedRows | None:
        """Bind a subquery of an expression, which may compare with columns of the outer query."""
        binder = self
        while isinstance(node, exp.Subquery):
            refuse_rest(self.query, node, "this", "with_")
            binder = binder.bind_with(node)
            node = node.this
        if isinstance(node, exp.Select):
            binder = binder.bind_with(node)
            return SelectBinder(binder, node, outer).open(columns=columns, scalar=scalar)
        bound = binder.bind(node, named=False)
        return None if bound is None else settle_columns(bound)

    def bind_source(self, node: exp.Expr) -> tuple[BoundQuery, str] | None:
        """Bind what FROM reads; return it and its name."""
        alias = node.args.get("alias")
        if alias is not None and not isinstance(alias.this, exp.Identifier | None):
            refuse_node(self.query, alias.this)
            return None
        if isinstance(node, exp.Table):
            refuse_rest(self.query, node, "this", "alias")
            name, bound = node.name, self._find_table(node)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            refuse_rest(self.query, node, "this", "alias")
            inner = self.bind_source(node.this)
            bound, name = (None, "") if inner is None else inner
        elif isinstance(node, exp.Subquery):
            refuse_rest(self.query, node, "this", "alias", "with_")
            name, bound = "", self.bind_with(node).bind(node.this)
        else:
            refuse_node(self.query, node)
            return None
        bound = None if bound is None else self._rename(settle_columns(bound), alias)
        if bound is None:
            return None
        return bound, alias.name if alias is not None and alias.this is not None else name

    def _find_table(self, node: exp.Table) -> BoundQuery | None:
        if not isinstance(node.this, exp.Identifier):
            refuse_table(self.query, node.this)
            return None
        found = find_named(node.name, self.tables, str)
        if len(found) > 1:
            message = f"{node.name!r} is {' or '.join(found)}"
            self.query.report("RT183", node.this, message, "write one of them as it is")
            return None
        if not found:
            if not find_named(node.name, self.broken, str):
                hint = suggest_name(node.name, self.tables)
                if node.name in self.query.names_under_with:
                    hint = "a query under WITH reads those that are before it"
                hint = hint or "there are " + ", ".join(self.tables)
                message = f"there is no table {node.name!r}"
                self.query.report("RT182", node.this, message, hint)
            return None
        table = self.tables[found[0]]
        if isinstance(table, BoundQuery):
            return table
        columns = tuple(VisibleColumn(field.name, field) for field in table)
        plan = Scan(found[0], table, self.query.locate(node))
        return BoundQuery(plan, columns, (node.this,) * len(columns))
