"""Views: tables that are queries over others."""

from __future__ import annotations

from rtbot.operator import Example, Out
from rtbot.operator.relation import Relation, Rows, SqlText


class SQL(Relation):
    """The rows of an SQL query over its inputs, kept up to date with every transaction.

    It becomes operators such as Where, Select and GroupBy, which `rtbot explain` shows.
    """

    search_terms = "view, materialized_view, sql_query"
    query = SqlText(doc="SELECT ... FROM a table of `in`; $p is a parameter of the graph")
    i = Rows(
        variadic=True,
        named=True,
        shortest=1,
        doc="tables: {name in the query: id}, or ids, which are the names then",
    )
    o1 = Out("changes", doc="the rows of the result")
    example = Example(
        parameters={"query": "SELECT region, sum(amount) AS total FROM x GROUP BY region"},
        schemas={"i1": {"region": "text", "amount": "integer"}},
        inputs={
            "i1": [
                (1, 1, {"region": "north", "amount": 20}),
                (2, 1, {"region": "north", "amount": 5}),
            ]
        },
        outputs={
            "o1": [
                (1, 1, {"region": "north", "total": 20}),
                (2, -1, {"region": "north", "total": 20}),
                (2, 1, {"region": "north", "total": 25}),
            ]
        },
    )
