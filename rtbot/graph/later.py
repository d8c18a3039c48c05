"""What this version does not do yet with tables that change, with records and with vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.core.errors import graph_error
from rtbot.core.vector_names import RECORD, VECTOR, are_elements
from rtbot.graph.stages import has_changes

if TYPE_CHECKING:
    from rtbot.graph.model import CheckedGraph


def refuse_changes(checked: CheckedGraph, where: str) -> None:
    """Raise GraphError for a graph with tables that change; `where` does not have them yet."""
    if not has_changes(checked):
        return
    carriers = [item for item in checked.inputs.values() if item.type.schema is not None]
    marks = [item.mark for item in carriers] or [n.mark for n in checked.nodes.values()]
    message = f"{where} has no tables that change yet: they come with a later version"
    raise graph_error("RT141", marks[0], message, "`rtbot run` and sessions in Python have them")


def refuse_records(checked: CheckedGraph, where: str) -> None:
    """Raise GraphError for a graph whose messages have several values, if `where` has none yet."""
    hint = "give the graph an input, or an output, for every field"
    for one in checked.inputs.values():
        if one.type.fields:
            message = f"{where} has no {one.type.kind}s yet, as the input {one.name} is"
            raise graph_error("RT141", one.mark, message, hint)
    for name, fields in checked.records.items():
        kind = VECTOR if are_elements(fields) else RECORD
        mark = next(iter(checked.inputs.values())).mark
        raise graph_error("RT141", mark, f"{where} has no {kind}s yet, as {name} is", hint)
