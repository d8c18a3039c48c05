"""What the outputs of a graph carry."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.core.vector_names import VECTOR, map_elements, name_element
from rtbot.graph.model import Ref, collect_outputs
from rtbot.operator.vectors import join_elements, list_elements

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbot.graph.model import CheckedGraph
    from rtbot.operator import Type


def add_outputs(checked: CheckedGraph, refs: Mapping[str, Ref]) -> CheckedGraph:
    """Return the graph with more outputs, a vector as those of its elements."""
    outputs, records = dict(checked.outputs), dict(checked.records)
    for name, ref in refs.items():
        type_ = find_type(ref, checked)
        if type_.kind != VECTOR:
            outputs[name] = ref
            continue
        records[name] = tuple(field.name for field in type_.fields)
        for place, port in enumerate(list_elements(ref.port, type_)):
            outputs[name_element(name, place)] = Ref(ref.id, port)
    return replace(checked, outputs=outputs, records=records)


def list_public_names(checked: CheckedGraph) -> list[str]:
    """Return the names of the outputs, a vector once."""
    wholes = map_elements(checked.records)
    return list(dict.fromkeys(wholes.get(name, name) for name in checked.outputs))


def list_output_types(checked: CheckedGraph, taps: Iterable[str] = ()) -> dict[str, Type]:
    """Return the types of the outputs of a graph, then those of the operators that are tapped."""
    refs = collect_outputs(checked, taps)
    return {name: find_type(ref, checked) for name, ref in refs.items()}


def find_type(ref: Ref, checked: CheckedGraph) -> Type:
    """Return the type of an output port, of an element of a vector, or of an input."""
    types = (
        checked.inputs[ref.id].ports if ref.id in checked.inputs else checked.nodes[ref.id].types
    )
    return types[ref.port] if ref.port in types else join_elements(types)[ref.port]
