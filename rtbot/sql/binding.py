"""Binding: sqlglot's tree of a query becomes a logical plan whose names and types are known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from rtbot.core.errors import suggest_name
from rtbot.expression.row_rules import UNTYPED, settle_null
from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from rtbot.sql.aggregates import AggregateCalls
from rtbot.sql.grouping import Grouping
from rtbot.sql.logical import Deduplicate, Filter, LogicalPlan, Project, Scan
from rtbot.sql.naming import make_unique, name_column
from rtbot.sql.refusals import refuse_node, refuse_rest
from rtbot.sql.scalars import ScalarBinder
from rtbot.sql.scope import Scope, VisibleColumn, find_named
from rtbot.sql.set_operations import bind_set_operation, fit_plan
from rtbot.sql.sql_functions import AGGREGATES
from rtbot.sql.stars import SelectItem, list_star

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.sql.query_text import QueryText

WITH_MAX = 32


@dataclass(frozen=True)
class BoundQuery:
    """The plan of a query, its columns as they are named, and the nodes that they are made of."""

    plan: LogicalPlan
    columns: tuple[VisibleColumn, ...]
    nodes: tuple[exp.Expr, ...]


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
        binder = self._bind_with(node)
        if isinstance(node, exp.Subquery):
            refuse_rest(self.query, node, "this", "with_")
            return binder.bind(node.this, named=named)
        if isinstance(node, exp.SetOperation):
            refuse_rest(self.query, node, "this", "expression", "distinct", "with_")
            children = [
                binder.bind(node.this, named=named),
                binder.bind(node.expression, named=False),
            ]
            return bind_set_operation(self.query, node, children)
        if isinstance(node, exp.Select):
            return SelectBinder(binder, node).bind(named=named)
        refuse_node(self.query, node)
        return None

    def _bind_with(self, node: exp.Expr) -> QueryBinder:
        """Return the binder of what is below WITH."""
        with_ = node.args.get("with_")
        if with_ is None:
            return self
        refuse_rest(self.query, with_, "expressions")
        if len(with_.expressions) > WITH_MAX:
            self.query.report("RT135", with_, f"more than {WITH_MAX} queries under WITH")
            return self
        binder = QueryBinder(self.query, self.tables)
        binder.broken = set(self.broken)
        names: set[str] = set()
        for each in with_.expressions:
            refuse_rest(self.query, each, "this", "alias", "materialized")
            if each.alias in names:
                self.query.report("RT183", each.args["alias"], f"{each.alias!r} is there twice")
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
            message = f"{len(names)} names for {len(bound.columns)} columns"
            self.query.report("RT185", names[-1], message)
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
            name, bound = "", self._bind_with(node).bind(node.this)
        else:
            refuse_node(self.query, node)
            return None
        bound = None if bound is None else self._rename(settle_columns(bound), alias)
        if bound is None:
            return None
        return bound, alias.name if alias is not None and alias.this is not None else name

    def _find_table(self, node: exp.Table) -> BoundQuery | None:
        if not isinstance(node.this, exp.Identifier):
            refuse_node(self.query, node.this)
            return None
        found = find_named(node.name, self.tables, str)
        if len(found) > 1:
            message = f"{node.name!r} is {' or '.join(found)}"
            self.query.report("RT183", node.this, message, "write one of them as it is")
            return None
        if not found:
            if not find_named(node.name, self.broken, str):
                hint = suggest_name(node.name, self.tables)
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


class SelectBinder:
    """Binds one SELECT."""

    def __init__(self, binder: QueryBinder, node: exp.Select) -> None:
        self.binder, self.query, self.node = binder, binder.query, node

    def bind(self, *, named: bool) -> BoundQuery | None:
        """Bind the clauses in the order in which they take effect."""
        node, query = self.node, self.query
        clauses = ("expressions", "from_", "where", "group", "having", "distinct", "with_")
        refuse_rest(query, node, *clauses)
        if node.args.get("joins") or node.args.get("laterals"):
            return None  # what names the other tables is not looked at
        distinct = node.args.get("distinct")
        if distinct is not None:
            refuse_rest(query, distinct)
        source = self._bind_from()
        if source is None:
            return None
        bound, table = source
        columns = [replace(column, table=table) for column in bound.columns]
        items = self._list_items(Scope(columns, (table,)), named=named)
        aliases = {
            item.node.alias: item.value
            for item in reversed(items)
            if isinstance(item.node, exp.Alias) and isinstance(item.value, exp.Expr)
        }
        scope = Scope(columns, (table,), aliases)
        plan = self._bind_where(bound.plan, scope)
        grouped = self._bind_groups(plan, scope, items)
        if grouped is None:
            return None
        plan, trees = grouped
        return self._make_result(plan, trees, items)

    def _bind_from(self) -> tuple[BoundQuery, str] | None:
        from_ = self.node.args.get("from_")
        if from_ is None:
            hint = "write SELECT ... FROM table"
            self.query.report("RT180", self.node, "a query reads a table", hint, "SELECT")
            return None
        refuse_rest(self.query, from_, "this")
        return self.binder.bind_source(from_.this)

    def _list_items(self, scope: Scope, *, named: bool) -> list[SelectItem]:
        """Return the columns of the SELECT, with those that stars mean."""
        items = []
        for node in self.node.expressions:
            star = node.this if isinstance(node, exp.Column) else node
            if isinstance(star, exp.Star):
                items += list_star(self.query, scope, node)
                continue
            if isinstance(node, exp.Alias):
                refuse_rest(self.query, node, "this", "alias")
            find = partial(self._find_name, scope)
            name = name_column(self.query, node, len(items) + 1, find, named=named)
            value = node.this if isinstance(node, exp.Alias) else node
            items.append(SelectItem(name, node, value))
        if not self.node.expressions:
            self.query.report("RT180", self.node, "SELECT without columns", "", "SELECT")
        return items

    def _find_name(self, scope: Scope, node: exp.Column) -> str:
        """Return the name of a column as its table has it."""
        found = find_named(node.name, scope.columns, lambda column: column.name)
        return found[0].name if found else node.name

    def _bind_where(self, plan: LogicalPlan, scope: Scope) -> LogicalPlan:
        where = self.node.args.get("where")
        if where is None:
            return plan
        refuse_rest(self.query, where, "this")
        condition = ScalarBinder(self.query, scope, "WHERE").bind_condition(where.this)
        if condition is None:
            return plan
        return Filter(plan, condition, self.query.locate(where))

    def _bind_groups(
        self, plan: LogicalPlan, scope: Scope, items: Sequence[SelectItem]
    ) -> tuple[LogicalPlan, list[Expression]] | None:
        """Return the plan with its groups, and the expressions of the columns over it."""
        query = self.query
        keys = self._bind_keys(scope, items)
        calls = AggregateCalls(query, grouped=bool(keys))
        having = self.node.args.get("having")
        binder = ScalarBinder(query, scope, "SELECT", calls)
        values = [
            i.value if isinstance(i.value, Expression) else binder.bind(i.value) for i in items
        ]
        condition = None
        if having is not None:
            refuse_rest(query, having, "this")
            condition = ScalarBinder(query, scope, "HAVING", calls).bind_condition(having.this)
        trees = [tree for tree in values if tree is not None]
        if keys is None or len(trees) < len(items) or (having is not None and condition is None):
            return None
        if self.node.args.get("group") is None and having is None and not calls.calls:
            return plan, trees
        names = [(item.name, tree) for item, tree in zip(items, trees, strict=True)]
        grouping = Grouping(query, plan, keys, calls, names)
        plan = grouping.make_plan(query.locate(self.node.args.get("group") or self.node, "SELECT"))
        if condition is not None:
            condition = grouping.rewrite(condition)
            if condition is not None:
                plan = Filter(plan, condition, condition.mark)
        rewritten = [grouping.rewrite(tree) for tree in trees]
        results = [tree for tree in rewritten if tree is not None]
        complete = len(results) == len(trees) and (having is None or condition is not None)
        return (plan, results) if complete else None

    def _bind_keys(self, scope: Scope, items: Sequence[SelectItem]) -> list[Expression] | None:
        group = self.node.args.get("group")
        if group is None:
            return []
        refuse_rest(self.query, group, "expressions", "all")
        nodes = list(group.expressions)
        if group.args.get("all"):
            nodes = [item.value for item in items if not has_aggregate(item.value)]
        binder = ScalarBinder(self.query, scope, "GROUP BY")
        keys = [self._bind_key(binder, node, items) for node in nodes]
        return None if None in keys else [key for key in keys if key is not None]

    def _bind_key(
        self, binder: ScalarBinder, node: exp.Expr | Expression, items: Sequence[SelectItem]
    ) -> Expression | None:
        """Bind a key: a place in the SELECT, a column, an alias or an expression."""
        if isinstance(node, Expression):
            return node
        place = read_place(node)
        if place is not None and not 1 <= place <= len(items):
            message = f"GROUP BY {place}: the query has {len(items)} columns"
            self.query.report("RT184", node, message, "write the column itself")
            return None
        value = node if place is None else items[place - 1].value
        tree = value if isinstance(value, Expression) else binder.bind(value)
        return None if tree is None else settle_null(tree, "integer")

    def _make_result(
        self, plan: LogicalPlan, trees: Sequence[Expression], items: Sequence[SelectItem]
    ) -> BoundQuery | None:
        """Return the query with its columns, DISTINCT last."""
        if self.node.args.get("distinct") is not None:
            trees = [settle_null(tree, "integer") for tree in trees]
        names = make_unique(item.name for item in items)
        fields = tuple(Field(name, tree.type) for name, tree in zip(names, trees, strict=True))
        same = [tree.value if tree.op == "field" else "" for tree in trees] == names
        if not same or [field.name for field in plan.fields] != names:
            plan = Project(plan, fields, tuple(trees), self.query.locate(self.node, "SELECT"))
        if self.node.args.get("distinct") is not None:
            mark = self.query.locate(self.node.args["distinct"], "DISTINCT")
            plan = Deduplicate(plan, mark)
        columns = tuple(
            VisibleColumn(item.name, field) for item, field in zip(items, fields, strict=True)
        )
        return BoundQuery(plan, columns, tuple(item.node for item in items))


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


def read_place(node: exp.Expr) -> int | None:
    """Return the place that a key of GROUP BY is, an integer, or None."""
    inner = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(inner, exp.Literal) or inner.args.get("is_string"):
        return None
    if not inner.this.isdigit() or len(inner.this) > 9:
        return None
    return -int(inner.this) if isinstance(node, exp.Neg) else int(inner.this)


def has_aggregate(value: exp.Expr | Expression) -> bool:
    """Return whether an aggregate is in a column of a SELECT."""
    return not isinstance(value, Expression) and any(
        type(node) in AGGREGATES for node in value.walk()
    )
