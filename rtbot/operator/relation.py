"""Declaring operators of change streams: the second base, its ports and kinds of parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rtbot.operator.declarations import In, Parameter
from rtbot.operator.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.operator.schema import Schema

CHANGES = "changes"
"""The kind of a port that carries changes of rows."""


@dataclass
class Rows(In):
    """An input port for a change stream."""

    kind: str = CHANGES


@dataclass(kw_only=True)
class Columns(Parameter):
    """Names of fields of the input, a tuple of text; there may be none if `shortest` is 0."""

    type_name: ClassVar[str] = "fields"

    shortest: int = 1


@dataclass(kw_only=True)
class FieldPairs(Parameter):
    """Fields of the two inputs that are compared: names that both have, or {left: right}.

    A node has a tuple of (left, right). There may be `most` pairs.
    """

    type_name: ClassVar[str] = "fields of both"

    most: int = 60


@dataclass(kw_only=True)
class FieldName(Parameter):
    """The name of one field, a text; of a field that the input has not, if it is `new`."""

    type_name: ClassVar[str] = "field"

    new: bool = False


@dataclass(kw_only=True)
class Order(Parameter):
    """Fields by which rows are sorted: `name` ascending, `-name` descending; nulls come last.

    A node has ((name, whether descending), ...). Rows equal in these come in the order of their
    fields, one after another, ascending. There may be none if `shortest` is 0.
    """

    type_name: ClassVar[str] = "sort order"

    shortest: int = 1


@dataclass(kw_only=True)
class Frame(Parameter):
    """The rows that a window function looks at: `range`, `rows`, `all`, or as SQL says it.

    A node has (mode, start, end): "range" or "rows", and how many rows from the current one, None
    for no bound. "range" has no bound or ends with the current row's last peer: (None, 0).
    """

    type_name: ClassVar[str] = "frame"


@dataclass(kw_only=True)
class Distance(Parameter):
    """How far apart two values are, an integer, a number, or a duration such as -5s.

    A node has an int, or a float where it was written so. `minimum` is inclusive.
    """

    type_name: ClassVar[str] = "distance"

    minimum: int | None = None


@dataclass(kw_only=True)
class RowExpression(Parameter):
    """An expression over the fields of a row; a node has its text as value, its tree as formula.

    `kind` is what it has to be, "" for any kind.
    """

    type_name: ClassVar[str] = "expression"

    kind: str = ""


@dataclass(kw_only=True)
class RowFields(Parameter):
    """{name: expression}; a node has the names as value, the trees as formulas `PARAMETER.NAME`."""

    type_name: ClassVar[str] = "expressions by name"


@dataclass(kw_only=True)
class Computations(Parameter):
    """{name: aggregate}, such as `sum(amount)`.

    A node has ((name, function, distinct), ...) as value, the arguments' trees as formulas (see
    `name_argument`); there is none for `count()`.
    """

    type_name: ClassVar[str] = "aggregates by name"


def name_argument(parameter: str, name: str, place: int = 0) -> str:
    """Return the name of a formula: `PARAMETER.NAME` is the first argument of an aggregate.

    Those behind it are `PARAMETER[1].NAME` and so on.
    """
    return f"{parameter}[{place}].{name}" if place else f"{parameter}.{name}"


@dataclass(kw_only=True)
class WindowComputations(Parameter):
    """{name: window function}, such as `rank()` or `lag(x, 1, 0)`.

    A node has ((name, function, offset, default), ...) as value, the arguments' trees as formulas
    `PARAMETER.NAME`; there is none for number, rank, dense_rank and `count()`. The offset is how
    many rows before or after, 0 but for lag and lead; the default is an int, float, bool, str or
    None, of the argument's kind.
    """

    type_name: ClassVar[str] = "window functions by name"


@dataclass(kw_only=True)
class SqlText(Parameter):
    """An SQL query over the inputs; `$p` in it is a parameter of the graph.

    No node has it: the nodes of the query take the place of the operator.
    """

    type_name: ClassVar[str] = "SQL query"


@dataclass(kw_only=True)
class RulesText(Parameter):
    """A Datalog program over the inputs, a text."""

    type_name: ClassVar[str] = "Datalog rules"


@dataclass(kw_only=True)
class ProgramFile(Parameter):
    """The path of a Datalog program, beside the graph file or below it."""

    type_name: ClassVar[str] = "file"


class Relation(Operator, abstract=True):
    """Base of the operators that read or give change streams.

    `output_schema` is what the rows of `o1` have, the unique keys that can be derived included.
    """

    mixed = True

    @classmethod
    def expression_schema(cls, schemas: Mapping[str, Schema]) -> Schema:
        """Return the fields that expressions name: those of the first input."""
        return next(iter(schemas.values()))

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Any],
    ) -> Schema:
        """Return the schema of `o1`; raise GraphError where the inputs do not fit.

        `schemas` has that of every input port; of a series, its key columns and one field.
        """
        raise NotImplementedError
