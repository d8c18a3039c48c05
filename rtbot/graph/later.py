"""What this version does not do yet with tables that change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.core.errors import graph_error
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
