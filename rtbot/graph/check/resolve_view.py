"""From a draft of an SQL operator to the nodes of its query."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError
from rtbot.graph.check.resolve_relation import list_mismatches
from rtbot.graph.model import View
from rtbot.graph.query_nodes import list_query_nodes, list_read_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rtbot.core.errors import Problem
    from rtbot.core.source_span import SourceSpan
    from rtbot.graph.check.context import Context
    from rtbot.graph.check.drafts import Draft
    from rtbot.graph.document import ScalarNode
    from rtbot.graph.model import Node, Ref
    from rtbot.operator import Type


def resolve_view(draft: Draft, types: Mapping[Ref, Type], context: Context) -> Sequence[Node]:
    """Return the nodes of a query; raise GraphError with every problem of it.

    A problem is placed in the graph file, or in the query where that is not a part of a file.
    """
    from rtbot.sql import lower_query

    given = {port: types[ref] for port, ref in draft.inputs.items()}
    wrong = list(list_mismatches(draft, given))
    if wrong:
        raise GraphError(wrong)
    scalar: ScalarNode = draft.values["query"]
    schemas = {name: given[port].schema for name, port in draft.names.items()}
    tables = {name: schema for name, schema in schemas.items() if schema is not None}

    def find_parameter(name: str, mark: SourceSpan) -> Any:
        return context.parameter(name, mark).value

    try:
        query = lower_query(scalar.text, tables, choose_places(scalar), find_parameter)
    except GraphError as error:
        raise GraphError([place_line(problem, scalar) for problem in error.problems]) from None
    refs = {name: draft.inputs[port] for name, port in draft.names.items()}
    read = list_read_tables(query)
    for name in draft.names:
        if name not in read:
            mark = draft.marks[draft.names[name]]
            message = f"the query does not read {name}"
            context.problems.add("RT190", mark, message, operator=draft.id)
    view = View(draft.id, scalar.text.strip(), refs, draft.mark, draft.doc)
    nodes = list_query_nodes(query, {n: (refs[n], tables[n]) for n in tables}, view)
    return [replace(node, meta=draft.meta) if node.id == draft.id else node for node in nodes]


def choose_places(scalar: ScalarNode) -> Callable[[int, int], SourceSpan]:
    """Return what gives the place of a part of a query.

    A query that is in no graph file is one argument of a call, or a text with lines of its own.
    """
    if scalar.source:
        return scalar.place
    if scalar.mark.line:
        return lambda _offset, _length: scalar.mark

    def place(offset: int, length: int) -> SourceSpan:
        start = scalar.text.rfind("\n", 0, offset) + 1
        line = scalar.text.count("\n", 0, offset) + 1
        return replace(scalar.mark, line=line, column=offset - start + 1, length=length)

    return place


def place_line(problem: Problem, scalar: ScalarNode) -> Problem:
    """Return a problem with its line of the query, if that is not in a file."""
    inside = problem.mark.file == scalar.mark.file and problem.mark.line
    if scalar.source or scalar.mark.line or not inside:
        return problem
    lines = scalar.text.split("\n")
    return replace(problem, source=lines[min(problem.mark.line, len(lines)) - 1])
