"""A checked graph as its file has it: with vectors as single streams, for what shows graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.core.vector_names import (
    are_elements,
    list_whole_ports,
    name_element,
    split_element,
)
from rtbot.graph.model import Ref
from rtbot.operator.vectors import join_elements

if TYPE_CHECKING:
    from rtbot.graph.model import CheckedGraph, Node


def join_vectors(checked: CheckedGraph) -> CheckedGraph:
    """Return the graph with one port, and one output, for the elements of a vector.

    Nothing can run it.
    """
    nodes = {name: _join_ports(node) for name, node in checked.nodes.items()}
    outputs = dict(checked.outputs)
    for name, fields in checked.records.items():
        if are_elements(fields):
            refs = [outputs.pop(name_element(name, field)) for field in fields]
            outputs[name] = take_whole(refs[0])
    order = {split_output(name, checked): None for name in checked.outputs}
    return replace(checked, nodes=nodes, outputs={name: outputs[name] for name in order})


def split_output(name: str, checked: CheckedGraph) -> str:
    """Return the name of the output that a series belongs to."""
    whole = name.rpartition(".")[0]
    return whole if are_elements(checked.records.get(whole, ())) else name


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
