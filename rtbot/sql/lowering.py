"""Lowering: a logical plan becomes nodes of change operators, in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.expression.tree import Expression
from rtbot.operator.schema import Schema
from rtbot.sql.logical import Deduplicate, Filter, Group, Project, Scan, SetOp
from rtbot.sql.naming import make_fresh

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbot.core.source_span import SourceSpan
    from rtbot.sql.logical import LogicalPlan


@dataclass(frozen=True)
class QueryNode:
    """A node of a query: an operator over tables and earlier nodes.

    `inputs` are names of tables or ids of nodes, which no table has. `values` and `formulas` are
    those of the checked node: fields of Select, keys and computations of GroupBy, `all`.
    """

    id: str
    operator: str
    inputs: tuple[str, ...]
    values: Mapping[str, Any]
    formulas: Mapping[str, Expression]
    schema: Schema
    mark: SourceSpan


@dataclass(frozen=True)
class Query:
    """The nodes of a query; `result` is the id of the one whose rows are the view."""

    nodes: tuple[QueryNode, ...]
    result: str
    schema: Schema


@dataclass
class _Lowering:
    taken: list[str]
    nodes: dict[str, QueryNode] = field(default_factory=dict)
    known: dict[int, str] = field(default_factory=dict)

    def lower(self, plan: LogicalPlan) -> str:
        """Return the table or node that has the rows of a plan; equal objects are lowered once."""
        if isinstance(plan, Scan):
            return plan.table
        if id(plan) not in self.known:
            self.known[id(plan)] = self.add_node(plan)
        return self.known[id(plan)]

    def add_node(self, plan: LogicalPlan) -> str:
        if isinstance(plan, Filter):
            formulas = {"condition": plan.condition}
            return self.add(plan, "Where", (plan.child,), {}, formulas)
        if isinstance(plan, Project):
            names = tuple(each.name for each in plan.fields)
            pairs = zip(names, plan.expressions, strict=True)
            formulas = {f"fields.{name}": tree for name, tree in pairs}
            return self.add(plan, "Select", (plan.child,), {"fields": names}, formulas)
        if isinstance(plan, Group):
            compute = tuple((c.name, c.function, c.distinct) for c in plan.computations)
            formulas = {
                f"compute.{c.name}": c.argument for c in plan.computations if c.argument is not None
            }
            values = {"by": plan.keys, "compute": compute}
            return self.add(plan, "GroupBy", (plan.child,), values, formulas)
        if isinstance(plan, Deduplicate):
            return self.add(plan, "Distinct", (plan.child,), {}, {})
        assert isinstance(plan, SetOp)
        return self.add(plan, plan.operator, plan.children, {"all": plan.all}, {})

    def add(
        self,
        plan: LogicalPlan,
        operator: str,
        children: Iterable[LogicalPlan],
        values: Mapping[str, Any],
        formulas: Mapping[str, Expression],
    ) -> str:
        inputs = tuple(map(self.lower, children))
        node_id = make_fresh(operator.lower(), [*self.taken, *self.nodes])
        unique = self.find_unique(plan)
        schema = Schema(plan.fields, unique)
        self.nodes[node_id] = QueryNode(
            node_id, operator, inputs, values, formulas, schema, plan.mark
        )
        return node_id

    def find_unique(self, plan: LogicalPlan) -> tuple[tuple[str, ...], ...]:
        """Return the unique keys of a plan."""
        if isinstance(plan, Scan):
            return plan.schema.unique
        if isinstance(plan, Filter):
            return self.find_unique(plan.child)
        if isinstance(plan, Group):
            return (plan.keys,)
        names = tuple(each.name for each in plan.fields)
        if isinstance(plan, Deduplicate):
            return tuple(dict.fromkeys((*self.find_unique(plan.child), names)))
        if isinstance(plan, Project):
            kept: dict[str, str] = {}
            for name, tree in zip(names, plan.expressions, strict=True):
                if tree.op == "field":
                    kept.setdefault(tree.value, name)
            keys = self.find_unique(plan.child)
            return tuple(tuple(kept[n] for n in key) for key in keys if kept.keys() >= set(key))
        own = () if plan.all else (names,)
        kept_keys = () if plan.operator == "Union" else self.find_unique(plan.children[0])
        return tuple(dict.fromkeys((*kept_keys, *own)))


def lower_plan(plan: LogicalPlan, tables: Iterable[str]) -> Query:
    """Return the nodes of a plan; there is at least one."""
    if isinstance(plan, Scan):
        trees = tuple(Expression("field", f.type, (), f.name) for f in plan.fields)
        plan = Project(plan, plan.fields, trees, plan.mark)
    lowering = _Lowering(list(tables))
    result = lowering.lower(plan)
    return Query(tuple(lowering.nodes.values()), result, lowering.nodes[result].schema)
