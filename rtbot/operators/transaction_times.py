"""What depends on the times of transactions: rows that expire, and rows as they were at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.operator import Choice, Duration, Example, Out
from rtbot.operator.relation import FieldPairs, Relation, Rows
from rtbot.operator.schema import Schema
from rtbot.operators.row_joins import compare_keys, make_pair

if TYPE_CHECKING:
    from collections.abc import Mapping

ORDERS = {"id": "integer", "item": "text"}
PRICES = {"item": "text", "price": "integer"}
"""The fields of the examples."""


class Expire(Relation):
    """Rows for as long as `ttl`: what came at t is deleted at t + ttl.

    Time goes by with the changes of the input: what expires up to the last of them is deleted, each
    row at its own time, and nothing more at the end. A delete before that takes the oldest copy of
    the row; one of a row that has expired does nothing, and is counted. Changes that are netted to
    nothing are none: a put of the row that is there does not renew it.
    """

    search_terms = "ttl, time_to_live, retention, temporal_filter"
    own_times = True
    ttl = Duration(minimum=1, doc="how long a row is there: an integer, or a duration such as 5s")
    i1 = Rows(doc="rows")
    o1 = Out("changes", doc="the rows that have not expired")
    example = Example(
        parameters={"ttl": 10},
        schemas={"i1": {"id": "integer"}},
        inputs={
            "i1": [
                (1, 1, {"id": 7}),
                (5, 1, {"id": 8}),
                (6, -1, {"id": 8}),
                (20, 1, {"id": 9}),
            ]
        },
        outputs={
            "o1": [
                (1, 1, {"id": 7}),
                (5, 1, {"id": 8}),
                (6, -1, {"id": 8}),
                (11, -1, {"id": 7}),
                (20, 1, {"id": 9}),
            ]
        },
    )

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],  # noqa: ARG003
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Any],  # noqa: ARG003
    ) -> Schema:
        """Return the schema of the rows."""
        return schemas["i1"]


class LookupJoin(Relation):
    """Left rows, each with the right rows of equal keys that are there when it comes.

    Right changes of the same transaction come first. Later ones do not change what a left row has
    been given, which is what goes when the left row goes; of several copies the newest goes first.
    A null in `on` matches nothing.
    """

    search_terms = "temporal_join, enrich, enrichment, stream_table_join, dimension"
    on = FieldPairs(doc="fields that are equal: names, or {left: right}")
    how = Choice(
        options=("inner", "left"),
        default="inner",
        doc="left rows without a partner: not at all, or with nulls",
    )
    i1 = Rows(alias="left", doc="left rows")
    i2 = Rows(alias="right", doc="right rows, as a table that is looked up")
    o1 = Out("changes", doc="the fields of the left row, then those of the right one")
    example = Example(
        parameters={"on": ["item"]},
        schemas={"i1": ORDERS, "i2": PRICES},
        inputs={
            "i1": [(1, 1, {"id": 7, "item": "tea"}), (3, -1, {"id": 7, "item": "tea"})],
            "i2": [
                (1, 1, {"item": "tea", "price": 4}),
                (2, -1, {"item": "tea", "price": 4}),
                (2, 1, {"item": "tea", "price": 5}),
            ],
        },
        outputs={
            "o1": [
                (1, 1, {"id": 7, "item": "tea", "item_2": "tea", "price": 4}),
                (3, -1, {"id": 7, "item": "tea", "item_2": "tea", "price": 4}),
            ]
        },
    )

    @classmethod
    def output_schema(
        cls,
        values: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        formulas: Mapping[str, Any],  # noqa: ARG003
    ) -> Schema:
        """Return the fields of a pair.

        Keys of the left rows stay unique if a right one is looked up: a left row that is there is
        there once, with what it was given.
        """
        on = values["on"] or ()
        compare_keys(on, schemas)
        keys = {right for _, right in on}
        has_one = any(set(key) <= keys for key in schemas["i2"].unique)
        pair = make_pair(schemas, values["how"])
        return Schema(pair.fields, schemas["i1"].unique if has_one else ())
