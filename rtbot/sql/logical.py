"""The logical plan of a query: which rows it gives, in the operations of relational algebra.

Every plan has the fields of its rows. Expressions name the fields of the plan below, which all have
names of their own there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbot.core.source_span import SourceSpan

if TYPE_CHECKING:
    from rtbot.expression.tree import Expression
    from rtbot.operator.schema import Field, Schema


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
    """An aggregate over the rows of a group; without `argument`, over the rows themselves."""

    name: str
    function: str
    distinct: bool
    argument: Expression | None


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


LogicalPlan = Scan | Filter | Project | Group | Deduplicate | SetOp | Join | Exclusion
