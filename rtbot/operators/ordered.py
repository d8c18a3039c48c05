"""Operators of change streams that put rows in an order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.operator import Boolean, Example, Integer, Out, Type
from rtbot.operator.relation import (
    Columns,
    FieldName,
    Frame,
    Order,
    Relation,
    Rows,
    WindowComputations,
)
from rtbot.operator.schema import Field, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.expression import Expression

SALES = {"region": "text", "total": "integer"}
"""The fields of the examples."""

MOST_ROWS = 10**15


class TopRows(Relation):
    """The first `k` rows in an order, of all rows or of those with equal values in `by`.

    Rows that are equal in `order` follow each other by their fields, one after another, so that
    the order is always the same. Nulls come last, equal rows count each.
    """

    search_terms = "limit, top_n, head, nlargest, nsmallest, order_by"
    by = Columns(
        required=False, shortest=0, doc="k rows of every group with equal values in these fields"
    )
    order = Order(shortest=0, doc="fields to sort by: name, or -name for descending")
    k = Integer(minimum=1, maximum=MOST_ROWS, doc="how many rows come out at most")
    offset = Integer(
        required=False, default=0, minimum=0, maximum=MOST_ROWS, doc="so many rows are left out"
    )
    ties = Boolean(
        required=False, default=False, doc="also the rows that are equal in `order` to the last one"
    )
    number = FieldName(
        required=False, new=True, doc="a new last field: the position; with `ties` the rank"
    )
    i1 = Rows(doc="rows")
    o1 = Out("changes", doc="the first rows")
    example = Example(
        parameters={"order": ["-total"], "k": 1},
        schemas={"i1": SALES},
        inputs={
            "i1": [
                (1, 1, {"region": "north", "total": 5}),
                (2, 1, {"region": "south", "total": 8}),
                (3, -1, {"region": "south", "total": 8}),
            ]
        },
        outputs={
            "o1": [
                (1, 1, {"region": "north", "total": 5}),
                (2, -1, {"region": "north", "total": 5}),
                (2, 1, {"region": "south", "total": 8}),
                (3, -1, {"region": "south", "total": 8}),
                (3, 1, {"region": "north", "total": 5}),
            ]
        },
    )

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:  # noqa: ARG003
        """Return what is wrong with the parameters together."""
        if values["ties"] and values["offset"]:
            return ["`ties` takes no offset: the ranks of equal rows are one"]
        return []

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Expression],  # noqa: ARG003
    ) -> Schema:
        """Return the fields of the input, and the number.

        Keys of the input stay unique; `by` is if there is one row of each, and together with
        positions.
        """
        schema, by, number = schemas["i1"], values["by"], values["number"]
        fields, unique = schema.fields, schema.unique
        if number is not None:
            refuse_taken(number, schema)
            fields = (*fields, Field(number, Type("integer")))
        if not values["ties"]:
            if values["k"] == 1:
                unique = _add_key(unique, by)
            elif number is not None:
                unique = _add_key(unique, (*by, number))
        return Schema(fields, unique)


class OverRows(Relation):
    """Every row with what window functions compute of the rows around it.

    `by` divides the rows into partitions, each is sorted by `order`, rows equal in it by all their
    fields. number, rank, dense_rank, lag and lead go by this order; sum, count, avg, min, max,
    first and last see the rows of the frame: without `order` the partition, else all up to those
    that are equal to the row in `order`.
    """

    search_terms = "window_function, partition_by, dense_rank"
    by = Columns(
        required=False, shortest=0, doc="a partition are the rows with equal values in these fields"
    )
    order = Order(
        required=False, shortest=0, doc="fields to sort by: name, or -name for descending"
    )
    frame = Frame(
        required=False, doc="rows that sums see: range, rows, all, or rows between 2 preceding and"
        " current row"
    )  # fmt: skip
    compute = WindowComputations(
        doc="{name: function}: number(), rank(), dense_rank(), lag(x, 1, 0), sum(x), ..."
    )
    i1 = Rows(doc="rows")
    o1 = Out("changes", doc="all rows, each with what is computed of it")
    example = Example(
        parameters={"order": ["-total"], "compute": {"place": "number()", "sum": "sum(total)"}},
        schemas={"i1": SALES},
        inputs={
            "i1": [
                (1, 1, {"region": "north", "total": 5}),
                (2, 1, {"region": "south", "total": 8}),
            ]
        },
        outputs={
            "o1": [
                (1, 1, {"region": "north", "total": 5, "place": 1, "sum": 5}),
                (2, -1, {"region": "north", "total": 5, "place": 1, "sum": 5}),
                (2, 1, {"region": "north", "total": 5, "place": 2, "sum": 13}),
                (2, 1, {"region": "south", "total": 8, "place": 1, "sum": 8}),
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
        """Return the fields of the input, then those computed.

        Keys of the input stay unique, and positions are within a partition.
        """
        schema = schemas["i1"]
        fields, unique = [*schema.fields], schema.unique
        _, start, end = find_frame(values)
        whole = (start is None or start <= 0) and (end is None or end >= 0)
        for name, function, _, default in values["compute"]:
            refuse_taken(name, schema)
            argument = formulas.get(f"compute.{name}")
            fields.append(Field(name, find_window_type(function, argument, default, whole)))
            if function == "number":
                unique = _add_key(unique, (*values["by"], name))
        return Schema(tuple(fields), unique)


def find_frame(values: Mapping[str, Any]) -> tuple[str, int | None, int | None]:
    """Return the frame of an OverRows: as given, or by whether there is an order."""
    if values["frame"] is not None:
        mode, start, end = values["frame"]
        return mode, start, end
    return ("range", None, 0) if values["order"] else ("rows", None, None)


def find_window_type(function: str, argument: Expression | None, default: Any, whole: bool) -> Type:
    """Return what a window function gives; `whole` frames have the row itself."""
    if argument is None or function == "count":
        return Type("integer")
    kind = "number" if function == "avg" else argument.type.kind
    if function in ("lag", "lead"):
        return Type(kind, argument.type.nullable or default is None)
    return Type(kind, argument.type.nullable or not whole)


def refuse_taken(name: str, schema: Schema) -> None:
    """Raise GraphError if the rows have a field of this name."""
    if name in schema.names:
        message = f"the rows have a field {name!r} already"
        raise graph_error("RT106", SourceSpan(), message, "choose another name")


def _add_key(
    unique: tuple[tuple[str, ...], ...], key: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys((*unique, key)))
