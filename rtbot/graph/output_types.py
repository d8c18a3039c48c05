"""What the outputs of a graph carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.graph.model import Ref

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.graph.model import CheckedGraph
    from rtbot.operator import Type


def list_output_types(checked: CheckedGraph, taps: Iterable[str] = ()) -> dict[str, Type]:
    """Return the types of the outputs of a graph, then those of the operators that are tapped."""
    refs = dict(checked.outputs)
    for name in taps:
        ports = checked.nodes[name].outputs
        for port in ports:
            refs.setdefault(name if len(ports) == 1 else f"{name}.{port}", Ref(name, port))
    return {name: find_type(ref, checked) for name, ref in refs.items()}


def find_type(ref: Ref, checked: CheckedGraph) -> Type:
    """Return the type of an output port, or of an input."""
    if ref.id in checked.inputs:
        return checked.inputs[ref.id].ports[ref.port]
    return checked.nodes[ref.id].types[ref.port]
