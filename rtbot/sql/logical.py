"""The logical plan of a query: which rows it gives, in the operations of relational algebra.

Every plan has the fields of its rows. Expressions name the fields of the plan below, which all have
names of their own there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.core.source_span import SourceSpan
from rtbot.operator import Type
from rtbot.operator.schema import Field

if TYPE_CHECKING:
    from rtbot.expression.tree import Expression
    from rtbot.operator.schema import Schema


@dataclass(frozen=True, eq=False)
class Scan:
    """The rows of a table."""

    table: str
    schema: Schema
    mark: SourceSpan = SourceSpan()

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the table."""
        return self.schema.fields


@dataclass(frozen=True, eq=False)
class Filter:
    """The rows for which a condition is true."""

    child: LogicalPlan
    condition: Expression
    mark: SourceSpan

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the child."""
        return self.child.fields


@dataclass(frozen=True, eq=False)
class Project:
    """A row of expressions for every row; `expressions` has one for each field."""

    child: LogicalPlan
    fields: tuple[Field, ...]
    expressions: tuple[Expression, ...]
    mark: SourceSpan


@dataclass(frozen=True)
class Computation:
    """An aggregate over the rows of a group; without `argument`, over the rows themselves.

    `more` are further arguments, constants or fields; one by which rows are sorted in descending
    order is in the operation `descending`.
    """

    name: str
    function: str
    distinct: bool
    argument: Expression | None
    more: tuple[Expression, ...] = ()


@dataclass(frozen=True, eq=False)
class Group:
    """A row for every group: its keys, fields of the child, and what is computed over its rows."""

    child: LogicalPlan
    fields: tuple[Field, ...]
    keys: tuple[str, ...]
    computations: tuple[Computation, ...]
    mark: SourceSpan


@dataclass(frozen=True, eq=False)
class Deduplicate:
    """Every row once."""

    child: LogicalPlan
    mark: SourceSpan

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the child."""
        return self.child.fields


@dataclass(frozen=True, eq=False)
class SetOp:
    """Union, Intersect or Except of plans whose fields have the same names and kinds."""

    operator: str
    all: bool
    children: tuple[LogicalPlan, ...]
    fields: tuple[Field, ...]
    mark: SourceSpan = field(default=SourceSpan())


@dataclass(frozen=True, eq=False)
class Join:
    """Pairs of rows, as JoinRows has them: `on` pairs of fields, `condition` over a pair."""

    left: LogicalPlan
    right: LogicalPlan
    how: str
    on: tuple[tuple[str, str], ...]
    null_safe: tuple[str, ...]
    condition: Expression | None
    fields: tuple[Field, ...]
    mark: SourceSpan


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Left rows whose field is in no right row, by the rule of NOT IN; `by` are equal as well."""

    left: LogicalPlan
    right: LogicalPlan
    on: tuple[str, str]
    by: tuple[tuple[str, str], ...]
    mark: SourceSpan

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the left rows."""
        return self.left.fields


@dataclass(frozen=True, eq=False)
class AsOf:
    """Left rows with the nearest right row by the fields `match`, as AsOfJoin has them."""

    left: LogicalPlan
    right: LogicalPlan
    how: str
    on: tuple[tuple[str, str], ...]
    match: tuple[str, str]
    direction: str
    strict: bool
    fields: tuple[Field, ...]
    mark: SourceSpan


@dataclass(frozen=True, eq=False)
class Top:
    """The first `count` rows behind `offset` in an order, of all or of those with equal `by`.

    `order` are fields and whether they are descending. `ties`: rows that are equal to the last one
    as well. `number` is one more field: the position, with `ties` the rank.
    """

    child: LogicalPlan
    by: tuple[str, ...]
    order: tuple[tuple[str, bool], ...]
    count: int
    mark: SourceSpan
    offset: int = 0
    ties: bool = False
    number: str | None = None

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the child, and the number."""
        number = () if self.number is None else (Field(self.number, Type("integer")),)
        return (*self.child.fields, *number)


@dataclass(frozen=True)
class WindowComputation:
    """A window function as OverRows has it: its argument is a field."""

    name: str
    function: str
    offset: int
    default: Any
    argument: Expression | None


@dataclass(frozen=True, eq=False)
class Over:
    """Every row with what window functions compute of the rows of its partition."""

    child: LogicalPlan
    by: tuple[str, ...]
    order: tuple[tuple[str, bool], ...]
    frame: tuple[str, int | None, int | None] | None
    computations: tuple[WindowComputation, ...]
    fields: tuple[Field, ...]
    mark: SourceSpan


LogicalPlan = (
    Scan | Filter | Project | Group | Deduplicate | SetOp | Join | Exclusion | AsOf | Top | Over
)


def is_single_row(plan: LogicalPlan) -> bool:
    """Return whether a plan has one row at most, whatever it reads."""
    while isinstance(plan, Project | Filter):
        plan = plan.child
    if isinstance(plan, Top):
        return plan.count == 1 and not plan.by and not plan.ties
    return isinstance(plan, Group) and not plan.keys


def has_filter(plan: LogicalPlan) -> bool:
    """Return whether a row of groups may be left out."""
    while isinstance(plan, Project):
        plan = plan.child
    return isinstance(plan, Filter | Top)
