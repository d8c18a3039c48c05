"""The conditions of WHERE and HAVING: what is computed of a row, and what a subquery says of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from rtbot.expression.tree import Expression
from rtbot.sql.joins import join_conjuncts, list_conjuncts
from rtbot.sql.logical import Filter
from rtbot.sql.subqueries import fill_subqueries, has_operation, read_subquery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.core.source_span import SourceSpan
    from rtbot.sql.logical import LogicalPlan
    from rtbot.sql.scalars import ScalarBinder
    from rtbot.sql.subqueries import Rewrite, Subqueries, SubqueryTest


class Conditions:
    """Conditions that are joined by AND."""

    def __init__(self, subqueries: Subqueries, binder: ScalarBinder) -> None:
        self.subqueries, self.binder = subqueries, binder
        self.trees: list[Expression] = []
        self.tests: list[SubqueryTest] = []

    def bind(self, node: exp.Expr) -> Conditions | None:
        """Bind all of them; return None if one is wrong, which is noted."""
        complete = True
        for one in list_conditions(node):
            if is_test(one):
                test = self.binder.note(partial(self.subqueries.bind_test, one, self.binder))
                if isinstance(test, Expression):
                    self.trees.append(test)
                elif test is not None:
                    self.tests.append(test)
                complete &= test is not None
            else:
                tree = self.binder.bind_condition(one)
                self.trees += [] if tree is None else list_conjuncts(tree)
                complete &= tree is not None
        return self if complete else None

    def apply(
        self, plan: LogicalPlan, trees: Sequence[Expression], rewrite: Rewrite, mark: SourceSpan
    ) -> LogicalPlan | None:
        """Return the rows of a plan for which all hold; `trees` are over it."""
        found = self.finish(plan, trees, (), rewrite, mark)
        return None if found is None else found[0]

    def finish(
        self,
        plan: LogicalPlan,
        trees: Sequence[Expression],
        results: Sequence[Expression],
        rewrite: Rewrite,
        mark: SourceSpan,
    ) -> tuple[LogicalPlan, list[Expression]] | None:
        """Return the rows for which all hold, and expressions with the values of subqueries."""
        plain = [tree for tree in trees if not has_operation(tree, "subquery")]
        late = [tree for tree in trees if has_operation(tree, "subquery")]
        condition = join_conjuncts(plain)
        if condition is not None:
            plan = Filter(plan, condition, mark)
        for test in self.tests:
            kept = test.apply(plan, rewrite)
            if kept is None:
                return None
            plan = kept
        attached = self.subqueries.attach(plan, rewrite)
        if attached is None:
            return None
        plan, values = attached
        condition = join_conjuncts([fill_subqueries(tree, values) for tree in late])
        if condition is not None:
            plan = Filter(plan, condition, mark)
        return plan, [fill_subqueries(tree, values) for tree in results]


def list_conditions(node: exp.Expr) -> list[exp.Expr]:
    """Return the conditions that are joined by AND, from left to right."""
    found, todo = [], [node]
    while todo:
        one = todo.pop()
        inner = one
        while isinstance(inner, exp.Paren):
            inner = inner.this
        if isinstance(inner, exp.And):
            todo += [inner.expression, inner.this]
        else:
            found.append(one)
    return found


def is_test(node: exp.Expr) -> bool:
    """Return whether a condition is a subquery, or its opposite."""
    while isinstance(node, exp.Paren | exp.Not):
        node = node.this
    return read_subquery(node) is not None
