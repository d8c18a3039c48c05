"""The plan of a graph with change streams: a plan for every stage, as plain data."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from rtbot.compiler.plan import Plan
from rtbot.graph.model import (
    CheckedGraph,
    Node,
    OperatorStub,
    Ref,
    collect_outputs,
    collect_records,
    list_input_types,
)
from rtbot.graph.stages import RegionStage, SeriesStage, split_stages
from rtbot.relations.region_writer import write_region

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbot.expression import Expression
    from rtbot.graph.stages import Stage, StageSource
    from rtbot.operator import Type
    from rtbot.relations.region_plan import RegionPlan


class StagedPlan:
    """Immutable after construction; `stages` and `plans` are in the order in which they run.

    `outputs` are those of the graph and those of the operators in `taps`, by name.
    """

    def __init__(self, checked: CheckedGraph, taps: Iterable[str] = ()) -> None:
        self.checked = checked
        self.outputs = collect_outputs(checked, taps)
        self.records = collect_records(checked, taps)
        self.types = _list_types(checked)
        self.description = self._describe()
        self.stages: tuple[Stage, ...] = split_stages(checked, self.outputs)
        self.plans: list[Plan | RegionPlan] = [
            Plan(stage.checked)
            if isinstance(stage, SeriesStage)
            else write_region(stage, checked, checked.io.key)
            for stage in self.stages
        ]

    @property
    def origins(self) -> dict[str, Any]:
        """The places of steps of a user's own."""
        found: dict[str, Any] = {}
        for plan in self.plans:
            found |= plan.origins if isinstance(plan, Plan) else {}
        return found

    @property
    def text(self) -> str:
        """The generated modules, one after the other."""
        return "\n\n\n".join(plan.text for plan in self.plans)

    @property
    def loops(self) -> str:
        """The functions that run the graph; those of series without their helpers."""
        parts = [plan.loops if isinstance(plan, Plan) else plan.text for plan in self.plans]
        return "\n\n".join(parts)

    @cached_property
    def change_outputs(self) -> dict[str, Any]:
        """The schemas of the outputs that are change streams."""
        return {
            name: self.types[ref].schema
            for name, ref in self.outputs.items()
            if self.types[ref].schema is not None
        }

    def _describe(self) -> dict[str, Any]:
        """Return what must be equal for a dump to fit: inputs, operators and outputs."""
        checked = self.checked
        io = checked.io
        return {
            "inputs": {
                name: {
                    "type": str(one.type),
                    "fields": None if one.type.schema is None else str(one.type.schema),
                    "unique": [] if one.type.schema is None else one.type.schema.unique,
                    "excess": (one.io or io).excess,
                    "conflicts": (one.io or io).conflicts,
                }
                for name, one in checked.inputs.items()
            },
            "operators": {name: _describe_node(node) for name, node in checked.nodes.items()},
            "outputs": {name: str(ref) for name, ref in self.outputs.items()},
        }

    def __getstate__(self) -> dict[str, Any]:
        """Return what runs the plan elsewhere: without the classes of its operators."""
        nodes = {name: _strip(node) for name, node in self.checked.nodes.items()}
        state = {n: v for n, v in vars(self).items() if n != "change_outputs"}
        return state | {
            "checked": replace(self.checked, nodes=nodes, tests=()),
            "stages": tuple(map(_strip_stage, self.stages)),
        }


def _list_types(checked: CheckedGraph) -> dict[Ref, Type]:
    types = list_input_types(checked.inputs.values())
    for node in checked.nodes.values():
        types |= {Ref(node.id, port): node.types[port] for port in node.outputs}
    return types


def _describe_node(node: Node) -> dict[str, Any]:
    return {
        "type": node.operator.__name__,
        "version": node.operator.version,
        "in": {port: str(ref) for port, ref in node.inputs.items()},
        "values": dict(node.values),
        "formulas": {name: _describe_tree(tree) for name, tree in node.formulas.items()},
        "text": node.text,
    }


def _describe_tree(tree: Expression) -> list[Any]:
    return [tree.op, tree.value, str(tree.type), *map(_describe_tree, tree.args)]


def _strip(node: Node) -> Node:
    label = OperatorStub(node.operator.__name__, node.operator.version)
    return replace(node, operator=cast("Any", label), formulas={})


def _strip_source(source: StageSource) -> StageSource:
    return source if source.bridge is None else replace(source, bridge=_strip(source.bridge))


def _strip_stage(stage: Stage) -> Stage:
    sources = tuple(map(_strip_source, stage.sources))
    if isinstance(stage, RegionStage):
        return replace(stage, sources=sources, nodes=())
    nodes: Mapping[str, Node] = {n: _strip(node) for n, node in stage.checked.nodes.items()}
    return replace(stage, sources=sources, checked=replace(stage.checked, nodes=nodes, tests=()))
