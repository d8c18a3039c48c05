"""A checked graph as its file has it: with vectors as single streams, for what shows graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.core.vector_names import list_vectors, list_whole_ports, name_element, split_element
from rtbot.graph.model import Ref
from rtbot.graph.output_types import list_public_names
from rtbot.operator.vectors import join_elements

if TYPE_CHECKING:
    from rtbot.graph.model import CheckedGraph, Node


def join_vectors(checked: CheckedGraph) -> CheckedGraph:
    """Return the graph with one port, and one output, for the elements of a vector.

    Nothing can run it.
    """
    nodes = {name: _join_ports(node) for name, node in checked.nodes.items()}
    outputs = dict(checked.outputs)
    for name, elements in list_vectors(checked.records).items():
        outputs[name] = take_whole(outputs[elements[0]])
    outputs = {name: outputs[name] for name in list_public_names(checked)}
    return replace(checked, nodes=nodes, outputs=outputs)


def _join_ports(node: Node) -> Node:
    inputs: dict[str, Ref] = {}
    for port, ref in node.inputs.items():
        whole, place = split_element(port)
        inputs.setdefault(whole, take_whole(ref) if place else ref)
    return replace(node, inputs=inputs, types=join_elements(node.types))


def take_whole(ref: Ref) -> Ref:
    """Return the vector that a reference is an element of, or the reference."""
    return Ref(ref.id, split_element(ref.port)[0])


def format_ref(checked: CheckedGraph, ref: Ref) -> str:
    """Return the ref as short as a graph file may have it."""
    port, place = split_element(ref.port)
    node = checked.nodes.get(ref.id)
    alone = port == "o1" if node is None else len(list_whole_ports(node.outputs)) == 1
    name = ref.id if alone else f"{ref.id}.{port}"
    return name_element(name, place) if place else name
