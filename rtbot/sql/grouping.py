"""Groups of a query: its keys and aggregates as fields, and what is computed from them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.operator.schema import Field
from rtbot.sql.aggregates import AggregateCall
from rtbot.sql.joins import list_names
from rtbot.sql.logical import Computation, Deduplicate, Group, Project
from rtbot.sql.naming import make_fresh, make_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.core.source_span import SourceSpan
    from rtbot.sql.aggregates import AggregateCalls
    from rtbot.sql.logical import LogicalPlan
    from rtbot.sql.query_text import QueryText

UNGROUPED = "put it into GROUP BY, or into an aggregate such as min(...)"


class Grouping:
    """The groups over a plan.

    `keys` are the expressions of GROUP BY; `named` are the columns of the query as (name,
    expression): keys and results have the names that they have in the end where that is possible.
    """

    def __init__(
        self,
        query: QueryText,
        child: LogicalPlan,
        keys: Sequence[Expression],
        calls: AggregateCalls,
        named: Sequence[tuple[str, Expression]],
    ) -> None:
        self.query, self.child, self.calls = query, child, calls.calls
        self.wanted: dict[Any, str] = {}
        for name, tree in named:
            self.wanted.setdefault(make_key(tree), name)
        self.below = {f.name: Expression("field", f.type, (), f.name) for f in child.fields}
        self.keys: dict[Any, Field] = {}
        for tree in keys:
            if make_key(tree) not in self.keys:
                self.keys[make_key(tree)] = self._add_below(tree, "key")
        self.arguments = [
            tuple(self._lower_argument(tree, place) for place, tree in enumerate(given))
            for given in (call.arguments for call in self.calls)
        ]
        self.results = self._name_results()

    def _lower_argument(self, tree: Expression, place: int) -> Expression:
        """Return an argument over the fields below; a constant is one if it is the second."""
        if tree.op == "constant" and place == 1:
            return tree
        if tree.op == "descending":
            return replace(tree, args=(self._lower_argument(tree.args[0], 0),))
        field = self._add_below(tree, "value")
        return Expression("field", field.type, (), field.name)

    def _add_below(self, tree: Expression, kind: str) -> Field:
        """Return the field below the groups that has the values of an expression."""
        if tree.op == "field":
            return Field(tree.value, tree.type)
        wanted = self.wanted.get(make_key(tree), f"{kind}_1") if kind == "key" else f"{kind}_1"
        name = make_fresh(wanted, self.below)
        self.below[name] = tree
        return Field(name, tree.type)

    def _name_results(self) -> list[Field]:
        taken = [key.name for key in self.keys.values()]
        fields = []
        for place, call in enumerate(self.calls):
            wanted = self.wanted.get(("aggregate", call.type, repr(place), ()), "result_1")
            name = make_fresh(wanted, taken)
            taken.append(name)
            fields.append(Field(name, call.type))
        return fields

    def make_plan(self, mark: SourceSpan) -> LogicalPlan:
        """Return the plan of the groups."""
        used = dict.fromkeys(field.name for field in self.keys.values())
        trees = [tree for given in self.arguments for tree in given]
        used |= dict.fromkeys(name for tree in trees for name in list_names(tree))
        names = [field.name for field in self.child.fields]
        child = self.child
        if not set(used) <= set(names):
            below = tuple(self.below[name] for name in used)
            fields = tuple(Field(n, t.type) for n, t in zip(used, below, strict=True))
            child = Project(child, fields, below, mark)
        keys = tuple(field.name for field in self.keys.values())
        if keys and not self.calls:
            return self._make_distinct(child, keys, mark)
        calls, results, given = self.calls, self.results, self.arguments
        if not calls:
            calls = [AggregateCall("count", False, None, Type("integer"))]
            results, given = [Field("rows", Type("integer"))], [()]
        computations = tuple(
            Computation(result.name, call.function, call.distinct, (*all_, None)[0], all_[1:])
            for call, result, all_ in zip(calls, results, given, strict=True)
        )
        return Group(child, (*self.keys.values(), *results), keys, computations, mark)

    def _make_distinct(
        self, child: LogicalPlan, keys: tuple[str, ...], mark: SourceSpan
    ) -> LogicalPlan:
        """Return the keys alone, each once."""
        if tuple(field.name for field in child.fields) != keys:
            fields = tuple(self.keys.values())
            trees = tuple(Expression("field", f.type, (), f.name) for f in fields)
            if isinstance(child, Project) and child is not self.child:
                trees = tuple(self.below[field.name] for field in fields)
                child = self.child
            child = Project(child, fields, trees, mark)
        return Deduplicate(child, mark)

    def rewrite(self, tree: Expression) -> Expression | None:
        """Return an expression of the query over the fields of the groups.

        A column that is neither a key nor in an aggregate is noted as a problem.
        """
        key = self.keys.get(make_key(tree))
        if key is not None:
            return Expression("field", key.type, (), key.name, tree.mark)
        if tree.op == "aggregate":
            result = self.results[tree.value]
            return Expression("field", result.type, (), result.name, tree.mark)
        if tree.op == "field":
            message = f"the column {tree.value!r} is neither grouped nor in an aggregate"
            self.query.problems.add("RT184", tree.mark, message, UNGROUPED)
            return None
        args = [self.rewrite(argument) for argument in tree.args]
        if None in args:
            return None
        return replace(tree, args=tuple(arg for arg in args if arg is not None))
