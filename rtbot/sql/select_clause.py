"""Binding of one SELECT: its clauses in the order in which they take effect."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from sqlglot import exp

from rtbot.expression.row_rules import settle_null
from rtbot.expression.tree import Expression
from rtbot.sql.aggregates import AggregateCalls
from rtbot.sql.bound_query import BoundQuery, settle_columns
from rtbot.sql.conditions import Conditions
from rtbot.sql.from_clause import FromBinder
from rtbot.sql.grouping import UNGROUPED, Grouping
from rtbot.sql.joins import (
    join_conjuncts,
    list_conjuncts,
    list_names,
    may_fault,
    push_equality,
)
from rtbot.sql.logical import Filter, LogicalPlan, Top
from rtbot.sql.naming import make_key
from rtbot.sql.ordered_aggregates import ORDERED
from rtbot.sql.refusals import refuse_rest
from rtbot.sql.row_order import cut_rows, has_limit, narrow_plan, read_limit, read_place
from rtbot.sql.scalars import Collectors, ScalarBinder
from rtbot.sql.scope import Scope, find_named
from rtbot.sql.select_names import name_column
from rtbot.sql.select_result import Computed, SelectResult
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
from rtbot.sql.time_windows import HopWindows
from rtbot.sql.window_calls import WindowCalls
from rtbot.sql.window_plan import add_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbot.sql.binding import QueryBinder
    from rtbot.sql.from_clause import Source
    from rtbot.sql.joins import KeyPair
    from rtbot.sql.row_order import SortKey


class Prepared(NamedTuple):
    """A SELECT whose FROM and WHERE are bound: the plan, what it shows, and the columns."""

    plan: LogicalPlan
    scope: Scope
    items: Sequence[SelectItem]


class BoundClauses(NamedTuple):
    """The clauses behind WHERE: what they collect, and their expressions.

    `parts` are the expressions of HAVING, the columns, ORDER BY, DISTINCT ON, QUALIFY and those in
    window functions; `names` the columns with their names.
    """

    hops: HopWindows
    keys: Sequence[Expression]
    calls: AggregateCalls
    conditions: Conditions
    windows: WindowCalls
    sorting: Sequence[SortKey]
    names: Sequence[tuple[str, Expression]]
    parts: Sequence[Sequence[Expression]]


class SelectBinder:
    """Binds one SELECT; `outer` are the columns of the query that it is a subquery of.

    `correlations` are the conditions of WHERE that compare with columns of the outer query. If a
    join or its WHERE is wrong it is `broken`: the rest is bound for what else is wrong.
    """

    def __init__(self, binder: QueryBinder, node: exp.Select, outer: Scope | None = None) -> None:
        self.binder, self.query, self.node = binder, binder.query, node
        self.outer = outer
        self.result = SelectResult(binder.query, node)
        self.correlations: list[KeyPair] = []
        self.broken = False

    def bind(self, *, named: bool) -> BoundQuery | None:
        """Bind the clauses in the order in which they take effect."""
        prepared = self.prepare(named=named)
        return None if prepared is None else self.finish(prepared)

    def prepare(self, *, named: bool) -> Prepared | None:
        """Bind FROM and WHERE, and list the columns."""
        node, query = self.node, self.query
        clauses = ("expressions", "from_", "joins", "where", "group", "having", "distinct", "with_",
                   "qualify", "windows", "limit", "offset")  # fmt: skip
        sorted_ = has_limit(node) or self.result.first_of is not None
        refuse_rest(query, node, *clauses, *(("order",) if sorted_ else ()))
        distinct = node.args.get("distinct")
        if distinct is not None:
            refuse_rest(query, distinct, "on")
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
        """Bind the groups, the windows and the columns, and cut off the rows."""
        limit = read_limit(self.query, self.node)
        computed = self._bind_groups(prepared)
        if computed is None or (limit is None and has_limit(self.node)):
            return None
        return self.result.make(computed, prepared.items, limit)

    def open(self, *, columns: bool, scalar: bool) -> BoundQuery | InnerRows | GroupedRows | None:
        """Bind a subquery of an expression, whose `columns` are compared, or that is one value."""
        prepared = self.prepare(named=False)
        if prepared is None:
            return None
        if self.broken or not self.correlations:
            bound = self.finish(prepared)
            return None if bound is None or self.broken else settle_columns(bound)
        plan, scope, items = prepared
        computed = [
            item for item in items if has_aggregate(item.value) and not has_window(item.value)
        ]
        if self._refuse_order(computed):
            return None
        if self.node.args.get("group") is not None:
            return self._open_group_rows(prepared, columns=columns, scalar=scalar)
        if self.node.args.get("having") is not None:
            hint = "add GROUP BY, or compare a value: (SELECT count(*) FROM ...) > 1"
            message = "HAVING without GROUP BY in a subquery that reads the outer query"
            self.query.report("RT181", self.node.args["having"], message, hint, "HAVING")
            return None
        if computed and (scalar or columns):
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
        cut = self._cut_by_keys(plan, binder, items, known)
        single = cut is not plan and isinstance(cut, Top) and cut.count == 1
        if cut is None:
            return None
        rows = narrow_rows(cut, known if columns or scalar else [], self.correlations)
        return replace(rows, single=single)

    def _refuse_order(self, computed: Sequence[SelectItem]) -> bool:
        """Report what a subquery that reads the outer query cannot have; return whether any is."""
        clauses = {"qualify": "QUALIFY", "windows": "WINDOW"}
        if computed or self.node.args.get("group") is not None:
            clauses |= {"limit": "LIMIT", "offset": "OFFSET"}
        found = [key for key in clauses if self.node.args.get(key)]
        distinct = self.node.args.get("distinct") is not None
        if distinct and (self.result.first_of is not None or has_limit(self.node)):
            name = "DISTINCT ON" if self.result.first_of is not None else "DISTINCT with LIMIT"
            found, clauses = [*found, "distinct"], clauses | {"distinct": name}
        for key in found:
            hint = "compute it in a query under WITH, and join that"
            message = f"{clauses[key]} in a subquery that reads the outer query is not supported"
            value = self.node.args[key]
            at = value[0] if isinstance(value, list) else value
            self.query.report("RT181", at, message, hint, clauses[key].split()[0])
        return bool(found)

    def _cut_by_keys(
        self,
        plan: LogicalPlan,
        binder: ScalarBinder,
        items: Sequence[SelectItem],
        values: Sequence[Expression],
    ) -> LogicalPlan | None:
        """Return the rows that LIMIT leaves for every key that the outer query compares."""
        if not has_limit(self.node):
            return plan
        limit = read_limit(self.query, self.node)
        keys = self.result.bind_sorting(binder, items, values)
        if limit is None or keys is None or not self._check_inside([key.tree for key in keys]):
            return None
        by = [pair.right for pair in self.correlations]
        plan, names = narrow_plan(plan, [*by, *(key.tree for key in keys)], values, "key")
        order = zip(names[len(by) :], (key.descending for key in keys), strict=True)
        return cut_rows(plan, list(dict.fromkeys(names[: len(by)])), list(order), limit)

    def _open_group_rows(
        self, prepared: Prepared, *, columns: bool, scalar: bool
    ) -> InnerRows | None:
        """Return the groups for every key that the outer query compares."""
        if scalar:
            message = "this subquery may have several rows"
            self.query.report("RT181", self.node, message, ROWS_NEEDED)
            return None
        computed = self._bind_groups(prepared, [pair.right for pair in self.correlations])
        if computed is None:
            return None
        found = zip(self.correlations, computed.others, strict=True)
        pairs = [replace(pair, right=tree) for pair, tree in found]
        known = [settle_null(tree, "integer") for tree in computed.columns]
        return narrow_rows(computed.plan, known if columns else [], pairs)

    def _open_groups(self, prepared: Prepared) -> GroupedRows | None:
        """Return the value of one aggregate for every key that the outer query compares."""
        plan, scope, items = prepared
        if len(items) != 1:
            message = f"a value is one column, the subquery has {len(items)}"
            self.query.report("RT185", self.node, message, "select one")
            return None
        calls = AggregateCalls(self.query, grouped=False)
        binder = ScalarBinder(self.query, scope, "SELECT", Collectors(calls))
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
        binder = ScalarBinder(self.query, scope, "WHERE", Collectors(None, subqueries))
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
        self, prepared: Prepared, others: Sequence[Expression] = ()
    ) -> Computed | None:
        """Return the plan with its groups and windows, and what is computed over it.

        The groups are divided by `others`, too.
        """
        bound = self._bind_clauses(prepared)
        if bound is None:
            return None
        every = [tree for part in bound.parts for tree in part]
        plan = bound.hops.place()
        rewrite: Callable[[Expression], Expression | None] = _keep_tree
        node, calls = self.node, bound.calls
        if node.args.get("group") is not None or node.args.get("having") or calls.calls:
            check = Grouping(self.query, plan, bound.keys, calls, bound.names)
            if None in [check.rewrite(tree) for tree in every]:
                return None
            keys = [*bound.keys, *others]
            grouping = Grouping(self.query, plan, keys, calls, bound.names) if others else check
            mark = self.query.locate(node.args.get("group") or node, "SELECT")
            plan, rewrite = grouping.make_plan(mark), grouping.rewrite
        rewritten = [rewrite(tree) for tree in [*every, *others]]
        known = [tree for tree in rewritten if tree is not None]
        if len(known) < len(rewritten):
            return None
        count = len(bound.parts[0])
        mark = known[0].mark if count else self.query.locate(node, "SELECT")
        finish = bound.conditions.finish
        finished = finish(plan, known[:count], known[count:], rewrite, mark)
        return None if finished is None else self._add_windows(*finished, bound)

    def _bind_clauses(self, prepared: Prepared) -> BoundClauses | None:
        """Bind the clauses behind WHERE; None if one is wrong, which is noted."""
        query, (plan, scope, items) = self.query, prepared
        hops = HopWindows(query, plan)
        windows = WindowCalls(query, self.node.args.get("windows") or ())
        keys = self._bind_keys(scope, items, hops)
        calls = AggregateCalls(query, grouped=bool(keys))
        subqueries = Subqueries(self.binder, scope)
        collect = Collectors(calls, subqueries, windows, hops)
        binder = ScalarBinder(query, scope, "SELECT", collect)
        values = [self._bind_item(binder, item) for item in items]
        binder = binder.go_into("ORDER BY", collect)
        sorting = self.result.bind_sorting(binder, items, values)
        first_of = self.result.bind_first_of(binder, items, values)
        binder = binder.go_into("QUALIFY", collect._replace(subqueries=None))
        qualify = self._bind_qualify(binder, windows)
        collect = collect._replace(windows=None)
        windows.check_named(binder.go_into("a window function", collect))
        conditions = self._bind_having(subqueries, binder.go_into("HAVING", collect))
        trees = [tree for tree in values if tree is not None]
        if keys is None or len(trees) < len(items) or conditions is None:
            return None
        if sorting is None or first_of is None or qualify is None:
            return None
        parts = [conditions.trees, trees, [key.tree for key in sorting], first_of, qualify]
        parts.append([tree for call in windows.calls for tree in call.trees])
        if not self._check_inside([*chain(*parts), *keys, *calls.list_arguments()]):
            return None
        names = [(item.name, tree) for item, tree in zip(items, trees, strict=True)]
        return BoundClauses(hops, keys, calls, conditions, windows, sorting, names, parts)

    def _bind_having(self, subqueries: Subqueries, binder: ScalarBinder) -> Conditions | None:
        having = self.node.args.get("having")
        if having is None:
            return Conditions(subqueries, binder)
        refuse_rest(self.query, having, "this")
        return Conditions(subqueries, binder).bind(having.this)

    def _add_windows(
        self,
        plan: LogicalPlan,
        trees: Sequence[Expression],
        bound: BoundClauses,
    ) -> Computed:
        """Return the plan with its window functions, of which QUALIFY leaves some rows."""
        rest = iter(trees)
        parts = [list(islice(rest, len(part))) for part in bound.parts[1:]]
        inner = iter(parts.pop())
        calls = [call.replace_trees(inner) for call in bound.windows.calls]
        every = [*(tree for part in parts for tree in part), *rest]
        plan, every = add_windows(plan, calls, every, bound.names)
        rest = iter(every)
        columns, sorted_, first_of, qualify = (list(islice(rest, len(part))) for part in parts)
        condition = join_conjuncts([one for tree in qualify for one in list_conjuncts(tree)])
        if condition is not None:
            plan = Filter(plan, condition, condition.mark)
        keys = [key._replace(tree=tree) for key, tree in zip(bound.sorting, sorted_, strict=True)]
        return Computed(plan, columns, keys, first_of, list(rest))

    def _bind_qualify(self, binder: ScalarBinder, windows: WindowCalls) -> list[Expression] | None:
        """Return the condition of QUALIFY, if there is one; None if it is wrong."""
        node = self.node.args.get("qualify")
        if node is None:
            return []
        refuse_rest(self.query, node, "this")
        tree = binder.bind_condition(node.this)
        if tree is not None and not windows.calls:
            hint = "write WHERE, or HAVING for groups"
            self.query.report("RT184", node, "QUALIFY without a window function", hint, "QUALIFY")
            return None
        return None if tree is None else [tree]

    def _bind_keys(
        self, scope: Scope, items: Sequence[SelectItem], hops: HopWindows
    ) -> list[Expression] | None:
        group = self.node.args.get("group")
        if group is None:
            return []
        refuse_rest(self.query, group, "expressions", "all")
        nodes = list(group.expressions)
        if not nodes and not group.args.get("all"):
            self.query.report("RT180", group, "GROUP BY without columns", "", "GROUP")
            return None
        if group.args.get("all"):
            nodes = [
                item.value
                for item in items
                if not has_aggregate(item.value) and not has_window(item.value)
            ]
        binder = ScalarBinder(self.query, scope, "GROUP BY", Collectors(hops=hops))
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


def _keep_tree(tree: Expression) -> Expression:
    return tree


def has_aggregate(value: exp.Expr | Expression) -> bool:
    """Return whether an aggregate is in a column of a SELECT."""
    kinds = (*AGGREGATES, *ORDERED)
    return not isinstance(value, Expression) and any(type(node) in kinds for node in value.walk())


def has_window(value: exp.Expr | Expression) -> bool:
    """Return whether a window function is in a column of a SELECT."""
    return not isinstance(value, Expression) and value.find(exp.Window) is not None
