"""Views: tables that are queries over others, or follow from others by rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.operator import Example, Integer, Out
from rtbot.operator.relation import ProgramFile, Relation, Rows, RulesText, SqlText

if TYPE_CHECKING:
    from collections.abc import Mapping


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


class Datalog(Relation):
    """The relations that follow from its inputs by rules, kept up to date with every transaction.

    Rules may be recursive, and have negation and aggregates. A row of an input is a fact while it
    is there at least once. Relations with `.output` are the outputs, or all that have rules if none
    has; `.decl` is not needed.
    """

    search_terms = "rules, recursion, transitive_closure, souffle, reachability"
    rules = RulesText(required=False, doc="a program: `path(x, y) :- edge(x, y).`")
    program = ProgramFile(required=False, doc="a file with the program, in place of `rules`")
    max_facts = Integer(default=100_000_000, minimum=1, doc="rows that all rules may derive")
    max_iterations = Integer(default=1_000_000, minimum=1, doc="rounds of a recursion")
    i = Rows(
        variadic=True,
        named=True,
        shortest=1,
        doc="relations: {name in the rules: id}, or ids, which are the names then",
    )
    o1 = Out("changes", named=True, doc="one port for every relation, with its name")
    example = Example(
        parameters={
            "rules": "path(a, b) :- x(a, b). path(a, c) :- path(a, b), x(b, c).",
        },
        schemas={"i1": {"a": "integer", "b": "integer"}},
        inputs={"i1": [(1, 1, {"a": 1, "b": 2}), (2, 1, {"a": 2, "b": 3})]},
        outputs={
            "path": [
                (1, 1, {"a": 1, "b": 2}),
                (2, 1, {"a": 1, "b": 3}),
                (2, 1, {"a": 2, "b": 3}),
            ]
        },
    )

    @classmethod
    def check(cls, values: Mapping[str, Any], arity: int) -> list[str]:  # noqa: ARG003
        """Return what is wrong if there is not one program."""
        given = [name for name in ("rules", "program") if values.get(name) is not None]
        if len(given) == 1:
            return []
        return ["a Datalog operator needs `rules` or `program`, and not both"]
