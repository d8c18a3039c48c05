"""Joins of change streams by how near two fields are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.operator import Boolean, Choice, Example, Out
from rtbot.operator.relation import Distance, FieldPairs, Relation, Rows
from rtbot.operator.schema import Schema
from rtbot.operators.row_joins import compare_keys, find_unique, make_pair

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.expression import Expression

TRADES = {"sym": "text", "t": "integer"}
QUOTES = {"sym": "text", "t": "integer", "bid": "integer"}
"""The fields of the examples."""


class AsOfJoin(Relation):
    """Left rows, each with the right row of equal keys that is the last at or before it.

    It is the one with the greatest `match` field not above the left row's; of several, the last
    one in the order of all fields. `forward` takes the first at or after it. A right row that comes
    late changes the left rows that it is nearer to. A null in `on` or `match` matches nothing.
    """

    search_terms = "point_in_time, latest_before, nearest"
    on = FieldPairs(required=False, doc="fields that are equal: names, or {left: right}")
    match = FieldPairs(most=1, doc="the field that orders, such as a time: [name] or {left: right}")
    direction = Choice(
        options=("backward", "forward"),
        default="backward",
        doc="the last right row at or before, or the first at or after",
    )
    strict = Boolean(required=False, default=False, doc="before or after, not at the same")
    how = Choice(
        options=("inner", "left"),
        default="inner",
        doc="left rows without a partner: not at all, or with nulls",
    )
    tolerance = Distance(required=False, minimum=0, doc="how far apart the two may be at most")
    i1 = Rows(alias="left", doc="left rows")
    i2 = Rows(alias="right", doc="right rows")
    o1 = Out("changes", doc="the fields of the left row, then those of the right one")
    example = Example(
        parameters={"on": ["sym"], "match": ["t"]},
        schemas={"i1": TRADES, "i2": QUOTES},
        inputs={
            "i1": [(1, 1, {"sym": "A", "t": 10})],
            "i2": [
                (1, 1, {"sym": "A", "t": 4, "bid": 7}),
                (2, 1, {"sym": "A", "t": 9, "bid": 8}),
            ],
        },
        outputs={
            "o1": [
                (1, 1, {"sym": "A", "t": 10, "sym_2": "A", "t_2": 4, "bid": 7}),
                (2, -1, {"sym": "A", "t": 10, "sym_2": "A", "t_2": 4, "bid": 7}),
                (2, 1, {"sym": "A", "t": 10, "sym_2": "A", "t_2": 9, "bid": 8}),
            ]
        },
    )

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Expression],  # noqa: ARG003
    ) -> Schema:
        """Return the fields of a pair; a left row has one at most, so its keys stay unique."""
        check_match(values, schemas, (values["tolerance"],))
        pair = make_pair(schemas, values["how"])
        return Schema(pair.fields, schemas["i1"].unique)


class IntervalJoin(Relation):
    """Pairs with equal keys whose `match` fields are within an interval of each other.

    The right field is between the left one + `lower` and the left one + `upper`, both included. A
    null in `on` or `match` matches nothing.
    """

    search_terms = "range_join, within, between"
    on = FieldPairs(required=False, doc="fields that are equal: names, or {left: right}")
    match = FieldPairs(most=1, doc="the field that orders, such as a time: [name] or {left: right}")
    lower = Distance(doc="the least distance from the left to the right field, such as -5")
    upper = Distance(doc="the greatest distance from the left to the right field, such as 0")
    how = Choice(
        options=("inner", "left"),
        default="inner",
        doc="left rows without a partner: not at all, or with nulls",
    )
    i1 = Rows(alias="left", doc="left rows")
    i2 = Rows(alias="right", doc="right rows")
    o1 = Out("changes", doc="the fields of the left row, then those of the right one")
    example = Example(
        parameters={"on": ["sym"], "match": ["t"], "lower": -5, "upper": 0},
        schemas={"i1": TRADES, "i2": QUOTES},
        inputs={
            "i1": [(1, 1, {"sym": "A", "t": 10})],
            "i2": [
                (1, 1, {"sym": "A", "t": 4, "bid": 7}),
                (2, 1, {"sym": "A", "t": 9, "bid": 8}),
            ],
        },
        outputs={"o1": [(2, 1, {"sym": "A", "t": 10, "sym_2": "A", "t_2": 9, "bid": 8})]},
    )

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:  # noqa: ARG003
        """Return what is wrong with the parameters together."""
        if values["lower"] is None or values["upper"] is None:
            return []
        if values["lower"] > values["upper"]:
            return [f"lower, {values['lower']}, is above upper, {values['upper']}"]
        return []

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Expression],  # noqa: ARG003
    ) -> Schema:
        """Return the fields of a pair, with the unique keys of a join on equal keys."""
        check_match(values, schemas, (values["lower"], values["upper"]))
        pair = make_pair(schemas, values["how"])
        return Schema(pair.fields, find_unique(values["how"], values["on"] or (), schemas))


def check_match(
    values: Mapping[str, Any], schemas: Mapping[str, Schema], distances: tuple[Any, ...]
) -> None:
    """Raise GraphError unless the matched fields are integers or numbers, as the distances are."""
    compare_keys((*(values["on"] or ()), *values["match"]), schemas)
    ((one, _),) = values["match"]
    kind = schemas["i1"].fields[schemas["i1"].place(one)].type.kind
    if kind not in ("integer", "number"):
        message = f"{one} is {kind}: `match` takes an integer or a number, such as a time"
        raise graph_error("RT125", SourceSpan(), message, "select an integer or a number of it")
    if kind == "integer" and any(isinstance(one, float) for one in distances):
        message = f"{one} is an integer, so the distance is one as well"
        raise graph_error("RT116", SourceSpan(), message, "write it without a fraction")
