"""The one entry: the text of a query and the schemas of its tables become nodes of a graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.core.errors import GraphError
from rtbot.core.source_span import SourceSpan
from rtbot.sql.lowering import Query, QueryNode, lower_plan
from rtbot.sql.reading import read_query
from rtbot.sql.top_rows import use_top_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.core.errors import Problem
    from rtbot.operator.schema import Schema
    from rtbot.sql.query_text import FindParameter, Place

__all__ = ["Query", "QueryNode", "lower_query"]

QUERY_FILE = "<query>"
SIGNS = {"==": "=", "!=": "<>", "in": "IN", "like": "LIKE", "case": "CASE"}
TYPES = {"integer": "BIGINT", "number": "DOUBLE", "text": "VARCHAR", "boolean": "BOOLEAN"}
"""How SQL writes operations and types."""


def lower_query(
    text: str,
    tables: Mapping[str, Schema],
    place: Place | None = None,
    find_parameter: FindParameter | None = None,
) -> Query:
    """Return the nodes of a query over tables, of which it uses some.

    `place(offset, length)` is the place of a part of the text in its file; without it, problems
    have the line and column in the query, and that line. `find_parameter(name, place)` is the value
    of `$name`; without it, a query has none. Raises GraphError with every problem.
    """
    try:
        return _lower(text, tables, place or _Places(text), find_parameter)
    except GraphError as error:
        if place is not None:
            raise
        lines = text.split("\n")
        raise GraphError(
            [replace(p, source=lines[max(p.mark.line, 1) - 1]) for p in error.problems]
        ) from None


def _lower(
    text: str, tables: Mapping[str, Schema], place: Place, find_parameter: FindParameter | None
) -> Query:
    query, tree = read_query(text, place)
    query.find_parameter = find_parameter
    from rtbot.sql.binding import QueryBinder  # only with sqlglot
    from rtbot.sql.bound_query import settle_columns

    bound = QueryBinder(query, tables).bind(tree)
    problems = query.problems.list_problems("error")
    if problems or bound is None:
        assert query.is_refused(), "a query that is refused without a problem"
        raise GraphError([_name_signs(problem) for problem in problems])
    return lower_plan(use_top_rows(settle_columns(bound).plan), tables)


def _name_signs(problem: Problem) -> Problem:
    """Return a problem with the signs and the types of SQL."""
    message, hint = problem.message, problem.hint
    for sign, own in SIGNS.items():
        message = message.replace(f"`{sign}`", f"`{own}`")
    for kind, own in TYPES.items():
        hint = hint.replace(f"(x as {kind})", f"(x AS {own})")
    return replace(problem, message=message, hint=hint)


class _Places:
    """Lines and columns of a text that is in no file."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, offset: int, length: int) -> SourceSpan:
        line_start = self.text.rfind("\n", 0, offset) + 1
        line = self.text.count("\n", 0, offset) + 1
        return SourceSpan(QUERY_FILE, line, offset - line_start + 1, length)
