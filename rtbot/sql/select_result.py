"""What a SELECT gives in the end: DISTINCT, DISTINCT ON, ORDER BY with LIMIT, and the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlglot import exp

from rtbot.expression.row_rules import settle_null
from rtbot.operator.schema import Field
from rtbot.sql.bound_query import BoundQuery
from rtbot.sql.logical import Deduplicate, Project
from rtbot.sql.naming import make_key, make_unique
from rtbot.sql.refusals import refuse_rest
from rtbot.sql.row_order import (
    RowLimit,
    SortKey,
    cut_rows,
    drop_hidden,
    find_place,
    has_limit,
    is_all,
    list_sort_nodes,
    make_sort_key,
    name_trees,
    split_nulls,
)
from rtbot.sql.scope import VisibleColumn, find_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.expression.tree import Expression
    from rtbot.sql.logical import LogicalPlan
    from rtbot.sql.query_text import QueryText
    from rtbot.sql.scalars import ScalarBinder
    from rtbot.sql.stars import SelectItem


class Computed(NamedTuple):
    """What is computed of the rows of a SELECT: its columns, and what else is, over one plan."""

    plan: LogicalPlan
    columns: Sequence[Expression]
    sorting: Sequence[SortKey]
    first_of: Sequence[Expression]
    others: Sequence[Expression]


class SelectResult:
    """The columns and the order of one SELECT; `first_of` is what DISTINCT ON has in brackets."""

    def __init__(self, query: QueryText, node: exp.Expr) -> None:
        self.query, self.node = query, node
        distinct = node.args.get("distinct")
        self.first_of: exp.Expr | None = None if distinct is None else distinct.args.get("on")

    def bind_sorting(
        self,
        binder: ScalarBinder,
        items: Sequence[SelectItem],
        values: Sequence[Expression | None],
    ) -> list[SortKey] | None:
        """Return the keys of ORDER BY with nulls last; None if one is wrong, which is noted."""
        if not has_limit(self.node) and self.first_of is None:
            return []
        found, complete = [], True
        for node in list_sort_nodes(self.query, self.node.args.get("order")):
            trees = self._find_values(binder, node.this, items, values)
            found += [make_sort_key(node, tree) for tree in trees if tree is not None]
            complete &= None not in trees
        return split_nulls(found) if complete else None

    def _find_values(
        self,
        binder: ScalarBinder,
        node: exp.Expr,
        items: Sequence[SelectItem],
        values: Sequence[Expression | None],
    ) -> list[Expression | None]:
        """Return what ORDER BY means: columns of the SELECT by place, name or ALL, or a value."""
        if is_all(node):
            return list(values)
        place = find_place(self.query, node, len(items))
        if place is not None:
            return [values[place] if place >= 0 else None]
        if isinstance(node, exp.Column) and node.args.get("table") is None:
            pairs = zip(items, values, strict=True)
            named = find_named(node.name, pairs, lambda pair: pair[0].name)
            keys = {None if tree is None else make_key(tree) for _, tree in named}
            if len(keys) > 1:
                message = f"there are {len(named)} columns {node.name!r}"
                self.query.report("RT183", node, message, "sort by the number of the column")
                return [None]
            if named:
                refuse_rest(self.query, node, "this")
                return [named[0][1]]
        return [binder.bind(node)]

    def bind_first_of(
        self,
        binder: ScalarBinder,
        items: Sequence[SelectItem],
        values: Sequence[Expression | None],
    ) -> list[Expression] | None:
        """Return what DISTINCT ON divides the rows by; None if it is wrong, which is noted."""
        on = self.first_of
        if on is None:
            return []
        nodes = on.expressions if isinstance(on, exp.Tuple) else [on]
        trees = [tree for node in nodes for tree in self._find_values(binder, node, items, values)]
        if self.node.args.get("order") is None:
            hint = "write which row it is: ORDER BY ..."
            self.query.report("RT181", on, "DISTINCT ON without ORDER BY", hint, "ON")
            return None
        return (
            None if None in trees else [settle_null(t, "integer") for t in trees if t is not None]
        )

    def make(
        self, computed: Computed, items: Sequence[SelectItem], limit: RowLimit | None
    ) -> BoundQuery | None:
        """Return the query with its columns: DISTINCT, then the first rows."""
        query, plan, trees = self.query, computed.plan, list(computed.columns)
        distinct = self.node.args.get("distinct")
        if distinct is not None or limit is not None:
            trees = [settle_null(tree, "integer") for tree in trees]
        names = make_unique(item.name for item in items)
        fields = tuple(Field(name, tree.type) for name, tree in zip(names, trees, strict=True))
        hidden, own = name_trees(
            [*(key.tree for key in computed.sorting), *computed.first_of],
            list(zip(trees, names, strict=True)),
            names,
            "order",
        )
        same = [tree.value if tree.op == "field" else "" for tree in trees] == names
        if hidden or not same or [field.name for field in plan.fields] != names:
            made = (*fields, *(field for field, _ in hidden))
            every = (*trees, *(tree for _, tree in hidden))
            plan = Project(plan, made, every, query.locate(self.node, "SELECT"))
        order = list(zip(own, (key.descending for key in computed.sorting), strict=False))
        if self.first_of is not None:
            mark = query.locate(distinct or self.node, "DISTINCT")
            by = list(dict.fromkeys(own[len(order) :]))
            inner = [pair for pair in order if pair[0] not in by]
            plan = cut_rows(plan, by, inner, RowLimit(1, 0, ties=False, mark=mark))
        elif distinct is not None:
            if hidden:
                hint = "after DISTINCT there are the columns of the SELECT alone: add it there"
                message = "ORDER BY of what is not selected"
                query.problems.add("RT184", hidden[0][1].mark, message, hint)
                return None
            plan = Deduplicate(plan, query.locate(distinct, "DISTINCT"))
        if limit is not None:
            plan = cut_rows(plan, (), order, limit)
        plan = drop_hidden(plan, fields)
        columns = tuple(
            VisibleColumn(item.name, field) for item, field in zip(items, fields, strict=True)
        )
        return BoundQuery(plan, columns, tuple(item.node for item in items))
