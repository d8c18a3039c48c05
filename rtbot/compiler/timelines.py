"""Timelines: which rows there are, and which refs are found in them.

A *timeline* is a set of rows that share key and time: those of an input, of a pairing, or of an
operator that gives its outputs times of their own. Rows are in *streams*: starts (where each key's
run begins), times, columns.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.compiler import pairing_layout
from rtbot.compiler.calls import PortCounters
from rtbot.core.vector_names import split_element
from rtbot.graph.model import Ref, list_input_types, list_node_types
from rtbot.operator import Type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.graph.model import CheckedGraph, Node


@dataclass
class RowStream:
    """Rows with columns; `progress` is the index of its frontier and what is added to it.

    `origin` is the same before the sum of shifts was made to fit int64.
    """

    index: int
    types: list[Type]
    progress: tuple[int, int]
    origin: tuple[int, int]


@dataclass
class Pairing:
    """What a pairing reads: the refs of every port, and the ports."""

    number: int
    wanted: list[list[Ref]]
    ports: list[pairing_layout.PairingPort]
    tolerance: int | None


@dataclass
class Timeline:
    """A set of rows; `stream` is where they come from and `columns` which ref is which column.

    They come from an `input`, from a `pairing`, or from an operator with its `own` times, which
    reads the timeline `source` and updates the frontiers `keeps`. Of its `silent` outputs there is
    a column of values and one of flags, which say in which rows there is a message.
    """

    name: str
    stream: RowStream
    columns: dict[Ref, int]
    input: str | None = None
    pairing: Pairing | None = None
    own: Node | None = None
    source: Timeline | None = None
    keeps: list[int] = field(default_factory=list)
    silent: dict[Ref, tuple[int, int]] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    exports: dict[Ref, None] = field(default_factory=dict)
    places: dict[Ref, tuple[int, int]] = field(default_factory=dict)
    counts: dict[Ref, int] = field(default_factory=dict)


class Timelines:
    """The timelines of a checked graph in dependency order, and everything derived from them."""

    def __init__(self, checked: CheckedGraph, outputs: Iterable[Ref]) -> None:
        self.checked = checked
        self.streams: list[RowStream] = []
        self.progress: list[tuple[str, Any]] = []
        self.all: list[Timeline] = []
        self.of: dict[Ref, Timeline] = {}
        self.ports: dict[tuple[str, str], PortCounters] = {}
        self.types = list_input_types(checked.inputs.values())
        self.types |= list_node_types(checked.nodes.values())
        self._pairs: dict[Any, Timeline] = {}
        for name, declared in checked.inputs.items():
            types = declared.ports
            stream = self.add_stream([*types.values()], (self._add_frontier("input", name), 0))
            columns = {Ref(name, port): place for place, port in enumerate(types)}
            self._add(Timeline(name, stream, columns, input=name))
        for node in checked.nodes.values():
            self._assign(node)
        for ref in outputs:
            self.of[ref].exports[ref] = None

    def locate(self, ref: Ref, timeline: Timeline | None = None) -> tuple[int, int]:
        """Return (stream, column) in which the ref is found after a run.

        That is where it is made, or the timeline of a pairing that reads it.
        """
        timeline = timeline or self.of[ref]
        if ref in timeline.places:
            return timeline.places[ref]
        return timeline.stream.index, timeline.columns[ref]

    def add_stream(self, types: list[Type], progress: tuple[int, int]) -> RowStream:
        """Return a new stream."""
        stream = RowStream(len(self.streams), types, self._fitting(progress), progress)
        self.streams.append(stream)
        return self.streams[-1]

    def _add_frontier(self, kind: str, of: Any) -> int:
        self.progress.append((kind, of))
        return len(self.progress) - 1

    def _fitting(self, progress: tuple[int, int]) -> tuple[int, int]:
        """Return the same progress with a shift that fits int64, behind one that takes the rest.

        A frontier that overflows int64 on the way stays at that end of the range, so both parts
        have the same sign, and a sum beyond twice int64 moves every frontier there as well.
        """
        index, shift = progress
        most = min(max(shift, -pairing_layout.LAST), pairing_layout.LAST)
        if most == shift:
            return progress
        rest = min(max(shift - most, -pairing_layout.LAST), pairing_layout.LAST)
        return self._add_frontier("own", (index, most)), rest

    def _add(self, timeline: Timeline) -> None:
        self.all.append(timeline)
        self.of.update(dict.fromkeys((*timeline.columns, *timeline.silent), timeline))

    def _assign(self, node: Node) -> None:
        timeline = self._find_timeline(node)
        if node.operator.sets_time:
            self._add(self._make_retimed_timeline(node, timeline))
            return
        timeline.nodes.append(node)
        for port in node.outputs:
            self.of[Ref(node.id, port)] = timeline

    def _find_timeline(self, node: Node) -> Timeline:
        """Return the timeline on which the node is computed: that of its inputs or of a pairing."""
        reads, roles = node.reads, node.roles
        used = {roles[port] for port in reads}
        timelines = {id(self.of[r]): self.of[r] for r in reads.values()}
        if len(timelines) == 1 and used == {"must"}:
            timeline = next(iter(timelines.values()))
            if not node.operator.sets_time or _come_together(node, timeline):
                return timeline
        wanted = list(dict.fromkeys((ref, roles[p]) for p, ref in reads.items()))
        tolerance = node.values.get("tolerance") if "last" in used else None
        key = (tuple(wanted), tolerance)
        if key not in self._pairs:
            self._pairs[key] = self._make_pair_timeline(wanted, tolerance)
            self.all.append(self._pairs[key])
        timeline = self._pairs[key]
        assert timeline.pairing is not None, "made as the clock of a pairing"
        gives_null = any(node.types[port].nullable for port in node.outputs)
        ports = enumerate(zip(timeline.pairing.wanted, timeline.pairing.ports, strict=True))
        numbers = {(ref, port.role): number for number, (refs, port) in ports for ref in refs}
        for port, ref in reads.items():
            pairing = (timeline.pairing.number, numbers[ref, roles[port]])
            answers = gives_null and roles[port] == "last"
            self.ports[node.id, port] = PortCounters(ref, pairing=pairing, answers=answers)
        return timeline

    def _make_pair_timeline(self, wanted: list[tuple[Ref, str]], tolerance: int | None) -> Timeline:
        for ref, _ in wanted:
            self.of[ref].exports[ref] = None
        messages: dict[tuple[Ref, str], list[Ref]] = {}
        for ref, role in wanted:
            messages.setdefault((self._find_message(ref), role), []).append(ref)
        ports = [
            pairing_layout.PairingPort(
                str(refs[0] if len(refs) == 1 else message),
                tuple(self.types[ref] for ref in refs),
                role,
            )
            for (message, role), refs in messages.items()
        ]
        number = sum(kind == "pair" for kind, _ in self.progress)
        types = [type_ for port in ports for type_ in port.outs]
        stream = self.add_stream(types, (self._add_frontier("pair", number), 0))
        columns: dict[Ref, int] = {}
        # A ref may be read twice with two roles: nodes read the column of the first.
        for column, ref in enumerate(itertools.chain(*messages.values())):
            columns.setdefault(ref, column)
        pairing = Pairing(number, [*messages.values()], ports, tolerance)
        return Timeline(f"pair_{number}", stream, columns, pairing=pairing)

    def _find_message(self, ref: Ref) -> Ref:
        """Return the vector, or the record, that the ref is a part of; else the ref itself.

        All of its parts come together, in the same rows of one stream.
        """
        if ref.id in self.checked.inputs:
            return Ref(ref.id)
        return Ref(ref.id, split_element(ref.port)[0])

    def _make_retimed_timeline(self, node: Node, source: Timeline) -> Timeline:
        for ref in node.inputs.values():
            source.exports[ref] = None
        outputs = {Ref(node.id, port): k for k, port in enumerate(node.outputs)}
        types = [node.types[port] for port in node.outputs]
        declared = node.declared_outputs
        flagged = [ref for ref in outputs if declared[split_element(ref.port)[0]].silent]
        silent = {ref: (outputs.pop(ref), len(types) + k) for k, ref in enumerate(flagged)}
        types += [Type("boolean")] * len(silent)
        index, shift = source.stream.origin
        before = len(self.progress)
        if node.operator.frontier == "shift":
            shift += int(node.values["shift"])
        elif node.operator.frontier == "state":
            behind = self._fitting((index, shift - node.operator.reach(node.values)))
            index, shift = self._add_frontier("own", behind), 0
        stream = self.add_stream(types, (index, shift))
        keeps = list(range(before, len(self.progress)))
        return Timeline(
            node.id, stream, outputs, own=node, source=source, keeps=keeps, silent=silent
        )


def _come_together(node: Node, timeline: Timeline) -> bool:
    """Return whether the refs that the node reads are certainly found in one stream."""
    refs = {*node.inputs.values()}
    return len(refs) == 1 or refs <= timeline.columns.keys()
