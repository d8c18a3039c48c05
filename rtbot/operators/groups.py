"""Groups of rows, and what is computed of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.operator import Example, Out, Type
from rtbot.operator.relation import Columns, Computations, Relation, Rows
from rtbot.operator.schema import Field, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.expression import Expression


SAMPLES = ("stddev", "variance")
"""Aggregates that are null for one value."""

SPREADS = (*SAMPLES, "stddev_pop", "variance_pop")
QUANTILES = ("median", "quantile")
BY_ORDER = ("first", "last", "string_agg")
"""Aggregates that depend on the order of the rows of a group."""


class GroupBy(Relation):
    """A row for every group of rows with equal values in `by`, with what is computed of them.

    A group is there as long as it has rows. Without `by` there is one row, always.
    """

    search_terms = "aggregate, summarize, reduce, pivot"
    by = Columns(shortest=0, doc="the fields that make a group; none: all rows are one group")
    compute = Computations(
        required=False,
        doc="{name: aggregate}: count(), sum(x), avg, min, max, stddev, quantile, last(x, t)",
    )
    i1 = Rows(doc="rows")
    o1 = Out("changes", doc="a row for every group: the fields of `by`, then what is computed")
    example = Example(
        parameters={"by": ["region"], "compute": {"n": "count()", "total": "sum(amount)"}},
        schemas={"i1": {"region": "text", "amount": "number"}},
        inputs={
            "i1": [
                (1, 1, {"region": "north", "amount": 20}),
                (2, 1, {"region": "north", "amount": 5}),
                (3, -1, {"region": "north", "amount": 20}),
            ]
        },
        outputs={
            "o1": [
                (1, 1, {"region": "north", "n": 1, "total": 20}),
                (2, -1, {"region": "north", "n": 1, "total": 20}),
                (2, 1, {"region": "north", "n": 2, "total": 25}),
                (3, -1, {"region": "north", "n": 2, "total": 25}),
                (3, 1, {"region": "north", "n": 1, "total": 5}),
            ]
        },
    )

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Expression],
    ) -> Schema:
        """Return the fields of `by` and those computed; those of `by` are unique."""
        schema = schemas["i1"]
        fields = [schema.fields[schema.place(name)] for name in values["by"]]
        for name, function, _ in values["compute"]:
            argument = formulas.get(f"compute.{name}")
            type_ = None if argument is None else argument.type
            fields.append(Field(name, find_aggregate_type(function, type_, bool(values["by"]))))
        return Schema(tuple(fields), (tuple(values["by"]),))


def find_aggregate_type(function: str, argument: Type | None, grouped: bool) -> Type:
    """Return what an aggregate gives; a group that has keys has at least one row.

    An aggregate of no value, or of nulls alone, is null, but for count.
    """
    if argument is None or function == "count":
        return Type("integer")
    kind = "number" if function in ("avg", *QUANTILES, *SPREADS) else argument.kind
    return Type(kind, not grouped or argument.nullable or function in SAMPLES)
