"""A graph with change streams as stages: parts of series, and regions of change operators.

A region is a set of change operators that are connected by change streams; it closes transactions.
ToChanges and ToSeries are between a part of series and a region, and an operator whose changes have
times of their own, such as Expire, is between two regions. A stage reads what comes in from outside
and what stages before it release. The level of a stream is how many ToSeries and Expire there are
on the way to it at most: a region and what is behind it have different levels, so that every stage
runs once for a push.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbot.graph.model import CheckedGraph, Input, Io, Node, Ref, list_input_types
from rtbot.operator.relation import Relation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from rtbot.operator import Type

CHANGES = "changes"


@dataclass(frozen=True)
class StageSource:
    """What feeds a stage, by its name there: an input of the graph, or a stream before it.

    `is_input` is whether rows from outside come in here. `bridge` is the ToChanges, ToSeries or
    Expire between the stream `ref` and the stage.
    """

    name: str
    ref: Ref
    type: Type
    is_input: bool = False
    bridge: Node | None = None

    @property
    def reads_series(self) -> bool:
        """Whether it is fed by messages of a series."""
        bridge = self.bridge
        if bridge is None:
            return self.type.kind != CHANGES
        return bridge.types[next(iter(bridge.inputs))].kind != CHANGES


@dataclass(frozen=True)
class SeriesStage:
    """A part of series as a graph of its own; `outputs` are what others read, by name there."""

    name: str
    checked: CheckedGraph
    sources: tuple[StageSource, ...]
    outputs: Mapping[str, Ref]


@dataclass(frozen=True)
class RegionStage:
    """A region: its operators in dependency order, and the streams that others read."""

    name: str
    sources: tuple[StageSource, ...]
    nodes: tuple[Node, ...]
    outputs: Mapping[str, Ref]


Stage = SeriesStage | RegionStage


def has_changes(checked: CheckedGraph) -> bool:
    """Return whether a graph has a change stream."""
    inputs = (one.type for one in checked.inputs.values())
    return any(type_.kind == CHANGES for type_ in (*inputs, *_list_types(checked)))


def _list_types(checked: CheckedGraph) -> Iterable[Type]:
    return (type_ for node in checked.nodes.values() for type_ in node.types.values())


def name_ref(ref: Ref) -> str:
    """Return the name of a stream in a stage that reads it; no id has a dot."""
    return ref.id if ref.port == "o1" else str(ref)


def split_stages(checked: CheckedGraph, outputs: Mapping[str, Ref]) -> tuple[Stage, ...]:
    """Return the stages of a graph in the order in which they run.

    `outputs` are those that are wanted, by name. A graph without change streams is one stage.
    """
    if not has_changes(checked):
        sources = tuple(
            StageSource(n, Ref(n), i.type, is_input=True) for n, i in checked.inputs.items()
        )
        return (SeriesStage("series", checked, sources, outputs),)
    return tuple(_Splitter(checked, outputs).list_stages())


class _Splitter:
    def __init__(self, checked: CheckedGraph, outputs: Mapping[str, Ref]) -> None:
        self.checked = checked
        self.outputs = outputs
        self.types = list_input_types(checked.inputs.values())
        self.input_refs = list(self.types)
        for node in checked.nodes.values():
            self.types |= {Ref(node.id, port): node.types[port] for port in node.outputs}
        self.levels = dict.fromkeys(self.input_refs, 0)
        self.level_of: dict[str, int] = {}
        for node in checked.nodes.values():
            level = max(self.levels[ref] for ref in node.inputs.values()) + self.ends_region(node)
            self.level_of[node.id] = level
            self.levels |= {Ref(node.id, port): level for port in node.outputs}
        self._place_inputs()

    def _place_inputs(self) -> None:
        """Give a change input the least level at which a region reads it."""
        nodes = self.checked.nodes.values()
        for ref in self.input_refs:
            if self.is_change(ref):
                readers = [node for node in nodes if ref in node.inputs.values()]
                found = [self.level_of[node.id] - self.ends_region(node) for node in readers]
                self.levels[ref] = min(found, default=0)

    def is_change(self, ref: Ref) -> bool:
        return self.types[ref].kind == CHANGES

    def reads_changes(self, node: Node) -> bool:
        return any(self.is_change(ref) for ref in node.inputs.values())

    def gives_changes(self, node: Node) -> bool:
        return any(node.types[port].kind == CHANGES for port in node.outputs)

    def ends_region(self, node: Node) -> bool:
        """Return whether it is a ToSeries or an Expire."""
        return self.reads_changes(node) and not self.is_change_operator(node)

    def is_series(self, node: Node) -> bool:
        return not self.reads_changes(node) and not self.gives_changes(node)

    def is_change_operator(self, node: Node) -> bool:
        """Return whether it is an operator of a region."""
        return self.reads_changes(node) and self.gives_changes(node) and not has_own_times(node)

    def find_bridge(self, ref: Ref) -> Node | None:
        """Return the ToChanges, ToSeries or Expire whose output this is."""
        node = self.checked.nodes.get(ref.id)
        if node is None or self.is_series(node) or self.is_change_operator(node):
            return None
        return node

    def make_source(self, ref: Ref, level: int) -> StageSource:
        """Return what feeds a stage that reads a stream of another one, or of outside."""
        bridge = self.find_bridge(ref)
        origin = ref if bridge is None else next(iter(bridge.inputs.values()))
        is_input = ref.id in self.checked.inputs and self.levels[ref] == level
        return StageSource(name_ref(ref), origin, self.types[ref], is_input, bridge)

    def list_wanted(self, here: Collection[Ref], inside: Collection[str]) -> dict[str, Ref]:
        """Return those of the streams here that outputs, or operators not inside, read."""
        read = set(self.outputs.values())
        for node in self.checked.nodes.values():
            if node.id not in inside:
                read |= set(node.inputs.values())
        return {name_ref(ref): ref for ref in here if ref in read}

    def list_stages(self) -> Iterator[Stage]:
        for level in range(max(self.levels.values()) + 1):
            series = self.build_series(level)
            if series is not None:
                yield series
            yield from self.build_regions(level)

    # ---- series

    def build_series(self, level: int) -> SeriesStage | None:
        """Return the part of series of a level, if there is any."""
        nodes = [
            node
            for node in self.checked.nodes.values()
            if self.level_of[node.id] == level and self.is_series(node)
        ]
        ids = {node.id for node in nodes}
        own = [
            ref
            for ref, at in self.levels.items()
            if at == level and not self.is_change(ref) and ref.id not in self.level_of
        ]
        own += [
            ref
            for ref, at in self.levels.items()
            if at == level and not self.is_change(ref) and self.find_bridge(ref) is not None
        ]
        read = dict.fromkeys(ref for node in nodes for ref in node.inputs.values())
        fed = [*own, *(ref for ref in read if ref.id not in ids and ref not in own)]
        if not fed:
            return None
        names = {ref: Ref(name_ref(ref)) for ref in fed if level or ref not in self.input_refs}
        made = [Ref(node.id, port) for node in nodes for port in node.outputs]
        outputs = self.list_wanted([*own, *made], ids)
        part = replace(
            self.checked,
            inputs={names.get(ref, ref).id: self.make_input(ref, level) for ref in fed},
            nodes={node.id: _rename_inputs(node, names) for node in nodes},
            outputs={name: names.get(ref, ref) for name, ref in outputs.items()},
            io=self.checked.io if level == 0 else make_inner_io(self.checked.io),
            tests=(),
            warnings=(),
        )
        sources = tuple(self.make_source(ref, level) for ref in fed)
        return SeriesStage(f"series {level}", part, sources, outputs)

    def make_input(self, ref: Ref, level: int) -> Input:
        """Return the input that a stream is of the stage that reads it."""
        given = self.checked.inputs.get(ref.id)
        if given is not None and level == 0:
            return given
        return Input(name_ref(ref), self.types[ref])

    # ---- regions

    def build_regions(self, level: int) -> Iterator[RegionStage]:
        """Return the regions of a level, in the order in which their streams are in the graph."""
        nodes = [
            node
            for node in self.checked.nodes.values()
            if self.level_of[node.id] == level and self.is_change_operator(node)
        ]
        here = [ref for ref, at in self.levels.items() if at == level and self.is_change(ref)]
        group = {ref: ref for ref in here}

        def find(ref: Ref) -> Ref:
            while group[ref] != ref:
                ref = group[ref]
            return ref

        for node in nodes:
            streams = [Ref(node.id, port) for port in node.outputs]
            streams += [ref for ref in node.inputs.values() if ref in group]
            for ref in streams[1:]:
                first, other = sorted((find(streams[0]), find(ref)), key=here.index)
                group[other] = first
        for root in here:
            if find(root) == root:
                members = [ref for ref in here if find(ref) == root]
                ids = {ref.id for ref in members}
                inside = [node for node in nodes if node.id in ids]
                yield self.build_region(level, members, inside)

    def build_region(
        self, level: int, members: Sequence[Ref], nodes: Sequence[Node]
    ) -> RegionStage:
        ids = {node.id for node in nodes}
        read = dict.fromkeys(ref for node in nodes for ref in node.inputs.values())
        fed = [ref for ref in members if ref.id not in ids]
        fed += [ref for ref in read if ref not in members]
        outputs = self.list_wanted(members, ids)
        sources = tuple(self.make_source(ref, level) for ref in fed)
        return RegionStage(f"region {name_ref(members[0])}", sources, tuple(nodes), outputs)


def has_own_times(node: Node) -> bool:
    """Return whether an operator gives changes at other times than those of its input."""
    return issubclass(node.operator, Relation) and node.operator.own_times


def _rename_inputs(node: Node, names: Mapping[Ref, Ref]) -> Node:
    inputs = {port: names.get(ref, ref) for port, ref in node.inputs.items()}
    return replace(node, inputs=inputs)


def make_inner_io(io: Io) -> Io:
    """Return the `io` of a part of series that is fed by stages: all rows are in order there."""
    return Io(unit=io.unit, key=io.key)
