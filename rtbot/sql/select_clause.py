"""Binding of one SELECT: its clauses in the order in which they take effect."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from sqlglot import exp

from rtbot.expression.row_rules import settle_null
from rtbot.expression.tree import Expression
from rtbot.operator.schema import Field
from rtbot.sql.aggregates import AggregateCalls, make_key
from rtbot.sql.bound_query import BoundQuery, settle_columns
from rtbot.sql.conditions import Conditions
from rtbot.sql.from_clause import FromBinder
from rtbot.sql.grouping import UNGROUPED, Grouping
from rtbot.sql.joins import list_names, may_fault, push_equality
from rtbot.sql.logical import Deduplicate, LogicalPlan, Project
from rtbot.sql.naming import make_unique, name_column
from rtbot.sql.refusals import refuse_rest
from rtbot.sql.scalars import ScalarBinder
from rtbot.sql.scope import Scope, VisibleColumn, find_named
from rtbot.sql.sql_functions import AGGREGATES
from rtbot.sql.stars import SelectItem, list_star
from rtbot.sql.subqueries import (
    ROWS_NEEDED,
    GroupedRows,
    InnerRows,
    Subqueries,
    has_operation,
    narrow_rows,
    report_outer,
    split_correlation,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbot.sql.binding import QueryBinder
    from rtbot.sql.from_clause import Source
    from rtbot.sql.joins import KeyPair


class Prepared(NamedTuple):
    """A SELECT whose FROM and WHERE are bound: the plan, what it shows, and the columns."""

    plan: LogicalPlan
    scope: Scope
    items: Sequence[SelectItem]


class SelectBinder:
    """Binds one SELECT; `outer` are the columns of the query that it is a subquery of.

    `correlations` are the conditions of WHERE that compare with columns of the outer query. If a
    join or its WHERE is wrong it is `broken`: the rest is bound for what else is wrong.
    """

    def __init__(self, binder: QueryBinder, node: exp.Select, outer: Scope | None = None) -> None:
        self.binder, self.query, self.node = binder, binder.query, node
        self.outer = outer
        self.correlations: list[KeyPair] = []
        self.broken = False

    def bind(self, *, named: bool) -> BoundQuery | None:
        """Bind the clauses in the order in which they take effect."""
        prepared = self.prepare(named=named)
        return None if prepared is None else self.finish(prepared)

    def prepare(self, *, named: bool) -> Prepared | None:
        """Bind FROM and WHERE, and list the columns."""
        node, query = self.node, self.query
        clauses = ("expressions", "from_", "joins", "where", "group", "having", "distinct", "with_")
        refuse_rest(query, node, *clauses)
        distinct = node.args.get("distinct")
        if distinct is not None:
            refuse_rest(query, distinct)
        source = self._bind_from()
        if source is None:
            return None
        shown = Scope(source.columns, source.tables)
        items = self._list_items(shown, named=named)
        aliases = {
            item.node.alias: item.value
            for item in reversed(items)
            if isinstance(item.node, exp.Alias) and isinstance(item.value, exp.Expr)
        }
        scope = Scope(source.columns, source.tables, aliases, self.outer)
        plan = self._bind_where(source.plan, scope)
        self.broken |= plan is None
        assert not self.broken or self.query.is_refused(), "what is broken is noted"
        return Prepared(plan or source.plan, scope, items)

    def finish(self, prepared: Prepared) -> BoundQuery | None:
        """Bind the groups and the columns."""
        grouped = self._bind_groups(*prepared)
        if grouped is None:
            return None
        plan, trees = grouped
        return self._make_result(plan, trees, prepared.items)

    def open(self, *, columns: bool, scalar: bool) -> BoundQuery | InnerRows | GroupedRows | None:
        """Bind a subquery of an expression, whose `columns` are compared, or that is one value."""
        prepared = self.prepare(named=False)
        if prepared is None:
            return None
        if self.broken or not self.correlations:
            bound = self.finish(prepared)
            return None if bound is None or self.broken else settle_columns(bound)
        plan, scope, items = prepared
        computed = [item for item in items if has_aggregate(item.value)]
        if self.node.args.get("group") is not None:
            return self._open_group_rows(prepared, columns=columns, scalar=scalar)
        if self.node.args.get("having") is not None:
            hint = "add GROUP BY, or compare a value: (SELECT count(*) FROM ...) > 1"
            message = "HAVING without GROUP BY in a subquery that reads the outer query"
            self.query.report("RT181", self.node.args["having"], message, hint, "HAVING")
            return None
        if scalar or (computed and columns):
            return self._open_groups(prepared)
        if computed:
            hint = "leave the condition out, or select rows: EXISTS (SELECT 1 FROM ...)"
            message = "this EXISTS is always true: an aggregate without GROUP BY has one row"
            self.query.report("RT184", computed[0].node, message, hint)
            return None
        binder = ScalarBinder(self.query, scope, "a subquery that reads the outer query")
        trees = [self._bind_item(binder, item) for item in items]
        known = [settle_null(tree, "integer") for tree in trees if tree is not None]
        if len(known) < len(trees) or not self._check_inside(known):
            return None
        return narrow_rows(plan, known if columns else [], self.correlations)

    def _open_group_rows(
        self, prepared: Prepared, *, columns: bool, scalar: bool
    ) -> InnerRows | None:
        """Return the groups for every key that the outer query compares."""
        if scalar:
            message = "this subquery may have several rows"
            self.query.report("RT181", self.node, message, ROWS_NEEDED)
            return None
        grouped = self._bind_groups(*prepared, [pair.right for pair in self.correlations])
        if grouped is None:
            return None
        plan, trees = grouped
        count = len(prepared.items)
        found = zip(self.correlations, trees[count:], strict=True)
        pairs = [replace(pair, right=tree) for pair, tree in found]
        known = [settle_null(tree, "integer") for tree in trees[:count]]
        return narrow_rows(plan, known if columns else [], pairs)

    def _open_groups(self, prepared: Prepared) -> GroupedRows | None:
        """Return the value of one aggregate for every key that the outer query compares."""
        plan, scope, items = prepared
        if len(items) != 1:
            message = f"a value is one column, the subquery has {len(items)}"
            self.query.report("RT185", self.node, message, "select one")
            return None
        calls = AggregateCalls(self.query, grouped=False)
        binder = ScalarBinder(self.query, scope, "SELECT", calls)
        tree = self._bind_item(binder, items[0])
        if tree is None or not self._check_inside([tree, *calls.list_arguments()]):
            return None
        if not calls.calls:
            message = "this subquery may have several rows"
            self.query.report("RT181", self.node, message, ROWS_NEEDED)
            return None
        calls.settle_groups()
        keys = [pair.right for pair in self.correlations]
        grouping = Grouping(self.query, plan, keys, calls, ())
        mark = self.query.locate(self.node, "SELECT")
        for name in set(list_names(tree)):
            message = f"the column {name!r} is neither grouped nor in an aggregate"
            self.query.problems.add("RT184", tree.mark, message, UNGROUPED)
            return None
        fields = [grouping.keys[make_key(key)] for key in keys]
        pairs = tuple(
            replace(pair, right=Expression("field", field.type, (), field.name, pair.right.mark))
            for pair, field in zip(self.correlations, fields, strict=True)
        )
        results = tuple(field.name for field in grouping.results)
        counts = frozenset(n for n, call in enumerate(calls.calls) if call.function == "count")
        return GroupedRows(grouping.make_plan(mark), pairs, tree, results, counts)

    def _bind_item(self, binder: ScalarBinder, item: SelectItem) -> Expression | None:
        return item.value if isinstance(item.value, Expression) else binder.bind(item.value)

    def _check_inside(self, trees: Sequence[Expression]) -> bool:
        """Note expressions that use columns of the outer query; return whether none does."""
        wrong = [tree for tree in trees if has_operation(tree, "outer")]
        for tree in wrong:
            report_outer(self.query, tree)
        return not wrong

    def _bind_from(self) -> Source | None:
        from_ = self.node.args.get("from_")
        if from_ is None:
            hint = "write SELECT ... FROM table"
            self.query.report("RT180", self.node, "a query reads a table", hint, "SELECT")
            return None
        refuse_rest(self.query, from_, "this")
        binder = FromBinder(self.binder, self.outer)
        source = binder.bind(from_.this, self.node.args.get("joins") or ())
        self.broken = binder.broken
        return source

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

    def _bind_where(self, plan: LogicalPlan, scope: Scope) -> LogicalPlan | None:
        where = self.node.args.get("where")
        if where is None:
            return plan
        refuse_rest(self.query, where, "this")
        subqueries = Subqueries(self.binder, scope)
        binder = ScalarBinder(self.query, scope, "WHERE", None, subqueries)
        conditions = Conditions(subqueries, binder).bind(where.this)
        if conditions is None:
            return None
        rest, complete = [], True
        for place, tree in enumerate(conditions.trees):
            if has_operation(tree, "outer"):
                pair = split_correlation(self.query, tree)
                self.correlations += [] if pair is None else [pair]
                complete &= pair is not None
                continue
            stays = has_operation(tree, "subquery") or (place > 0 and may_fault(tree))
            pushed = None if stays else push_equality(plan, tree)
            plan = pushed or plan
            if pushed is None:
                rest.append(tree)
        if not complete:
            return None
        return conditions.apply(plan, rest, _keep_tree, self.query.locate(where))

    def _bind_groups(
        self,
        plan: LogicalPlan,
        scope: Scope,
        items: Sequence[SelectItem],
        others: Sequence[Expression] = (),
    ) -> tuple[LogicalPlan, list[Expression]] | None:
        """Return the plan with its groups, and the expressions of the columns over it.

        The groups are divided by `others`, too, which come behind the columns.
        """
        query = self.query
        keys = self._bind_keys(scope, items)
        calls = AggregateCalls(query, grouped=bool(keys))
        having = self.node.args.get("having")
        subqueries = Subqueries(self.binder, scope)
        binder = ScalarBinder(query, scope, "SELECT", calls, subqueries)
        values = [self._bind_item(binder, item) for item in items]
        conditions: Conditions | None = Conditions(subqueries, binder)
        if having is not None:
            refuse_rest(query, having, "this")
            binder = ScalarBinder(query, scope, "HAVING", calls, subqueries)
            conditions = Conditions(subqueries, binder).bind(having.this)
        trees = [tree for tree in values if tree is not None]
        if keys is None or len(trees) < len(items) or conditions is None:
            return None
        if not self._check_inside([*trees, *keys, *conditions.trees, *calls.list_arguments()]):
            return None
        rewrite: Callable[[Expression], Expression | None] = _keep_tree
        if self.node.args.get("group") is not None or having is not None or calls.calls:
            names = [(item.name, tree) for item, tree in zip(items, trees, strict=True)]
            check = Grouping(query, plan, keys, calls, names)
            if None in [check.rewrite(tree) for tree in [*conditions.trees, *trees]]:
                return None
            grouping = Grouping(query, plan, [*keys, *others], calls, names) if others else check
            mark = query.locate(self.node.args.get("group") or self.node, "SELECT")
            plan, rewrite = grouping.make_plan(mark), grouping.rewrite
        rewritten = [rewrite(tree) for tree in [*conditions.trees, *trees, *others]]
        known = [tree for tree in rewritten if tree is not None]
        if len(known) < len(rewritten):
            return None
        count = len(conditions.trees)
        mark = known[0].mark if count else query.locate(self.node, "SELECT")
        return conditions.finish(plan, known[:count], known[count:], rewrite, mark)

    def _bind_keys(self, scope: Scope, items: Sequence[SelectItem]) -> list[Expression] | None:
        group = self.node.args.get("group")
        if group is None:
            return []
        refuse_rest(self.query, group, "expressions", "all")
        nodes = list(group.expressions)
        if not nodes and not group.args.get("all"):
            self.query.report("RT180", group, "GROUP BY without columns", "", "GROUP")
            return None
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


def _keep_tree(tree: Expression) -> Expression:
    return tree


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
