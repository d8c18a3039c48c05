"""Declaring operators of change streams: the second base, its ports and kinds of parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbot.operator.declarations import In
from rtbot.operator.operator import Operator
from rtbot.operator.parameter_kinds.row_expressions import (
    Computations,
    RowExpression,
    RowFields,
    WindowComputations,
    name_argument,
)
from rtbot.operator.parameter_kinds.row_fields import Columns, FieldName, FieldPairs, Order
from rtbot.operator.parameter_kinds.times import Distance
from rtbot.operator.parameter_kinds.whole_texts import Frame, ProgramFile, RulesText, SqlText

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.operator.schema import Schema

__all__ = [
    "CHANGES",
    "Columns",
    "Computations",
    "Distance",
    "FieldName",
    "FieldPairs",
    "Frame",
    "Order",
    "ProgramFile",
    "Relation",
    "RowExpression",
    "RowFields",
    "Rows",
    "RulesText",
    "SqlText",
    "WindowComputations",
    "name_argument",
]

CHANGES = "changes"
"""The kind of a port that carries changes of rows."""


@dataclass
class Rows(In):
    """An input port for a change stream."""

    kind: str = CHANGES


class Relation(Operator, abstract=True):
    """Base of the operators that read or give change streams.

    `output_schema` is what the rows of `o1` have, the unique keys that can be derived included.
    """

    mixed = True
    own_times = False
    """Whether it gives changes at other times than those of its input."""

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
