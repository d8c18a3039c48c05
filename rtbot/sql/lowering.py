"""Lowering: a logical plan becomes nodes of change operators, in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.expression.tree import Expression
from rtbot.operators.groups import GroupBy
from rtbot.operators.ordered import OverRows, TopRows
from rtbot.operators.ordered_joins import AsOfJoin
from rtbot.operators.row_joins import JoinRows, NotIn
from rtbot.operators.rows import Select, Where
from rtbot.operators.sets import Distinct, Except, Intersect, Union
from rtbot.sql.logical import (
    AsOf,
    Deduplicate,
    Exclusion,
    Filter,
    Group,
    Join,
    Over,
    Project,
    Scan,
    SetOp,
    Top,
)
from rtbot.sql.naming import make_fresh

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbot.core.source_span import SourceSpan
    from rtbot.operator.relation import Relation
    from rtbot.operator.schema import Schema
    from rtbot.sql.logical import LogicalPlan

RELATIONS: dict[str, type[Relation]] = {
    cls.__name__: cls
    for cls in (Where, Select, GroupBy, Distinct, Union, Intersect, Except, JoinRows, NotIn,
                TopRows, OverRows, AsOfJoin)
}  # fmt: skip


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
    tables: Mapping[str, Schema]
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
            return self.add_group(plan)
        if isinstance(plan, Deduplicate):
            return self.add(plan, "Distinct", (plan.child,), {}, {})
        if isinstance(plan, Join):
            given = {"on": plan.on, "how": plan.how, "null_safe": plan.null_safe}
            formulas = {} if plan.condition is None else {"condition": plan.condition}
            return self.add(plan, "JoinRows", (plan.left, plan.right), given, formulas)
        if isinstance(plan, Exclusion):
            values = {"on": (plan.on,), "by": plan.by}
            return self.add(plan, "NotIn", (plan.left, plan.right), values, {})
        if isinstance(plan, AsOf):
            return self.add_nearest(plan)
        if isinstance(plan, Top):
            return self.add_top(plan)
        if isinstance(plan, Over):
            return self.add_windows(plan)
        assert isinstance(plan, SetOp)
        return self.add(plan, plan.operator, plan.children, {"all": plan.all}, {})

    def add_group(self, plan: Group) -> str:
        formulas: dict[str, Expression] = {}
        for one in plan.computations:
            given = () if one.argument is None else (one.argument, *one.more)
            names = ["compute", *(f"compute[{place}]" for place in range(1, len(given)))]
            formulas |= {f"{n}.{one.name}": tree for n, tree in zip(names, given, strict=False)}
        compute = tuple((c.name, c.function, c.distinct) for c in plan.computations)
        return self.add(
            plan, "GroupBy", (plan.child,), {"by": plan.keys, "compute": compute}, formulas
        )

    def add_top(self, plan: Top) -> str:
        values = {"by": plan.by, "order": plan.order, "k": plan.count, "offset": plan.offset,
                  "ties": plan.ties, "number": plan.number}  # fmt: skip
        return self.add(plan, "TopRows", (plan.child,), values, {})

    def add_windows(self, plan: Over) -> str:
        compute = tuple((c.name, c.function, c.offset, c.default) for c in plan.computations)
        formulas = {
            f"compute.{c.name}": c.argument for c in plan.computations if c.argument is not None
        }
        values = {"by": plan.by, "order": plan.order, "frame": plan.frame, "compute": compute}
        return self.add(plan, "OverRows", (plan.child,), values, formulas)

    def add_nearest(self, plan: AsOf) -> str:
        values = {"on": plan.on, "match": (plan.match,), "direction": plan.direction,
                  "strict": plan.strict, "how": plan.how, "tolerance": None}  # fmt: skip
        return self.add(plan, "AsOfJoin", (plan.left, plan.right), values, {})

    def add(
        self,
        plan: LogicalPlan,
        operator: str,
        children: Iterable[LogicalPlan],
        values: Mapping[str, Any],
        formulas: Mapping[str, Expression],
    ) -> str:
        inputs = tuple(map(self.lower, children))
        node_id = make_fresh(operator.lower(), [*self.tables, *self.nodes])
        schemas = {f"i{n}": self.find_schema(each) for n, each in enumerate(inputs, 1)}
        schema = RELATIONS[operator].output_schema(values, schemas, formulas)
        assert schema.fields == plan.fields, f"{schema} of {operator}, the plan has {plan.fields}"
        self.nodes[node_id] = QueryNode(
            node_id, operator, inputs, values, formulas, schema, plan.mark
        )
        return node_id

    def find_schema(self, name: str) -> Schema:
        return self.nodes[name].schema if name in self.nodes else self.tables[name]


def lower_plan(plan: LogicalPlan, tables: Mapping[str, Schema]) -> Query:
    """Return the nodes of a plan; there is at least one."""
    if isinstance(plan, Scan):
        trees = tuple(Expression("field", f.type, (), f.name) for f in plan.fields)
        plan = Project(plan, plan.fields, trees, plan.mark)
    lowering = _Lowering(tables)
    result = lowering.lower(plan)
    return Query(tuple(lowering.nodes.values()), result, lowering.nodes[result].schema)
