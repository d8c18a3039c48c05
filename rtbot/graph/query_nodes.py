"""The nodes of a query as nodes of a checked graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.graph.model import Node, Ref
from rtbot.operator import REGISTRY, Type
from rtbot.operator.relation import CHANGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rtbot.graph.model import View
    from rtbot.operator.schema import Schema
    from rtbot.sql import Query


def list_query_nodes(
    query: Query,
    tables: Mapping[str, tuple[Ref, Schema]],
    view: View | None = None,
) -> Iterator[Node]:
    """Yield the nodes of a query in the order in which they run, those of a view with its names.

    `tables` has what feeds every table, and its schema.
    """
    known = dict(tables)
    for one in query.nodes:
        name = one.id
        if view is not None:
            name = view.id if one.id == query.result else f"{view.id}::{one.id}"
        operator = REGISTRY[one.operator]
        defaults = {key: declared.default for key, declared in operator.parameters.items()}
        feeds = {f"i{number}": known[each] for number, each in enumerate(one.inputs, start=1)}
        types = {port: Type(CHANGES, schema=schema) for port, (_, schema) in feeds.items()}
        yield Node(
            id=name,
            operator=operator,
            values=defaults | dict(one.values),
            inputs={port: ref for port, (ref, _) in feeds.items()},
            types=types | {"o1": Type(CHANGES, schema=one.schema)},
            formulas=one.formulas,
            mark=one.mark,
            doc=view.doc if view is not None and name == view.id else "",
            view=view,
        )
        known[one.id] = Ref(name), one.schema


def list_read_tables(query: Query) -> set[str]:
    """Return the names of the tables that a query reads."""
    ids = {node.id for node in query.nodes}
    return {name for node in query.nodes for name in node.inputs} - ids
