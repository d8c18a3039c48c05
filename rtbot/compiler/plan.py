"""From a checked graph to a plan: which functions there are, what each reads and writes, in order.

All operators of one timeline (see `rtbot.compiler.timelines`) form segments. What leaves a segment
is a stream for each group of outputs that appear together.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from rtbot.compiler import (
    expression_code,
    loop_code,
    pairing_layout,
    retime_code,
    timer_layout,
    window_code,
)
from rtbot.compiler.calls import Grid, PairCall, PortCounters, RetimeCall, SegmentCall
from rtbot.compiler.jit import HEADER
from rtbot.compiler.layout import StateLayout
from rtbot.compiler.lower import DOMAIN
from rtbot.compiler.own_operators import describe_own_operators
from rtbot.compiler.pairing_code import PairingWriter
from rtbot.compiler.segment import NamedFunctions, Segment
from rtbot.compiler.step_signature import list_functions
from rtbot.compiler.timelines import Pairing, Timeline, Timelines
from rtbot.compiler.variables import OutputGroup
from rtbot.core.vector_names import list_whole_ports, split_element
from rtbot.graph.model import OperatorStub, Ref, collect_outputs, collect_records
from rtbot.operator import Space, TimeSpan
from rtbot.operator.step_source import collect_sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbot.compiler.generated_text import Conditions
    from rtbot.compiler.variables import LoopVariable
    from rtbot.graph.model import CheckedGraph, Node

__all__ = ["PairCall", "Plan", "PortCounters", "RetimeCall", "SegmentCall", "Timeline"]

FUNCTION_NAMES = {
    function.__name__
    for function in (
        *(f for table in expression_code.TABLES for f in table.values()),
        *pairing_layout.STEPS,
        *window_code.STEPS,
        *timer_layout.STEPS,
    )
}
"""Names of functions of our own that a module may hold beside steps: no variable takes one."""

SEGMENT_LIMIT = 32
"""Operators in one function; longer functions take numba too long."""


class Plan:
    """Immutable after construction; see `text` for the module it generates."""

    def __init__(self, checked: CheckedGraph, taps: Iterable[str] = ()) -> None:
        self.checked = checked
        self.outputs = collect_outputs(checked, taps)
        self.records = collect_records(checked, taps)
        self._timelines = Timelines(checked, self.outputs.values())
        self.timelines = self._timelines.all
        self.timeline_of = self._timelines.of
        self.streams = self._timelines.streams
        self.progress = self._timelines.progress
        self.ports = self._timelines.ports
        self.layout = StateLayout()
        self.calls: list[SegmentCall | RetimeCall | PairCall] = []
        self.pairings: list[PairCall] = []
        self.grids: dict[str, Grid] = {}
        self.losses: dict[tuple[str, str], int] = {}
        self.recounted: dict[str, int] = {}
        self.reasons: dict[tuple[str, str], str] = {}
        self._texts: list[str] = []
        self._functions: NamedFunctions = []
        self._sources = collect_sources(
            one for node in checked.nodes.values() for one in list_functions(node)
        )
        self._names = FUNCTION_NAMES | {*self._sources.functions, *self._sources.constants}
        for timeline in self.timelines:
            self._write(timeline)
        self.layout.finish()
        self.text_words = self.layout.words_of(code_kinds(checked.nodes.values()))
        self.places = {name: self._timelines.locate(ref) for name, ref in self.outputs.items()}
        self.text = self._write_module()
        for name, port in self.losses:
            if port and not port.startswith(DOMAIN):
                node = checked.nodes[name]
                lost = node.operator.lost(node.values, list_whole_ports(node.inputs))
                self.reasons[name, port] = lost[split_element(port)[0]][0]

    @property
    def loops(self) -> str:
        """The functions of the module that run the graph, in their order, without its helpers."""
        return "\n\n".join(self._texts)

    def __getstate__(self) -> dict[str, Any]:
        """Return what runs the plan elsewhere: without the classes of its operators.

        The generated text holds their source, so that nothing has to be imported there.
        """
        state = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        nodes = {}
        for name, node in self.checked.nodes.items():
            label = OperatorStub(node.operator.__name__, node.operator.version)
            nodes[name] = replace(node, operator=cast("Any", label), formulas={})
        timelines = {
            id(timeline): replace(timeline, own=None, source=None, nodes=[])
            for timeline in self.timelines
        }
        return state | {
            "defaults": self.defaults,
            "description": self.description,
            "own_operators": self.own_operators,
            "checked": replace(self.checked, nodes=nodes, tests=()),
            "timelines": list(timelines.values()),
            "timeline_of": {
                ref: timelines[id(timeline)] for ref, timeline in self.timeline_of.items()
            },
        }

    @cached_property
    def defaults(self) -> dict[str, dict[str, Any]]:
        """The parameters of every node that may be left out, and what they are then."""
        return {
            name: {n: p.default for n, p in node.operator.parameters.items() if not p.required}
            for name, node in self.checked.nodes.items()
        }

    @cached_property
    def description(self) -> dict[str, Any]:
        """What must be equal for a dump to fit: the graph, its operators and their parameters.

        Parameters that have their default are not in it: a dump still fits the same graph if a
        later version has one more.
        """
        nodes = {}
        for name, node in self.checked.nodes.items():
            nodes[name] = {
                "type": node.operator.__name__,
                "version": node.operator.version,
                "in": {port: str(ref) for port, ref in node.inputs.items()},
                "values": {
                    n: f"{v} of time" if isinstance(v, TimeSpan) else v
                    for n, v in select_chosen(node.values, self.defaults[name]).items()
                },
                "text": node.text,
            }
        return {
            "inputs": {n: str(i.type) for n, i in self.checked.inputs.items()},
            "operators": nodes,
            "outputs": {n: str(r) for n, r in self.outputs.items()},
            "steps": self.user_defined,
        }

    @cached_property
    def own_operators(self) -> dict[str, dict[str, Any]]:
        """The operators that are not rtbot's own, and of which packages they are."""
        return describe_own_operators(self.checked)

    @cached_property
    def counters(self) -> dict[str, int]:
        """The words of the header that count, by their names in dumps."""
        found = dict(self.recounted)
        for (node, port), counted in self.ports.items():
            if counted.active is not None:
                found[f"{node}.{port} in"] = counted.active
        for timeline in self.timelines:
            found |= {f"{ref} passed": index for ref, index in timeline.counts.items()}
        found |= {f"{node} lost {what}": index for (node, what), index in self.losses.items()}
        assert {*found.values()} == {*self.layout.counters}, "a counter without a name"
        return found

    @cached_property
    def pairing_names(self) -> list[str]:
        """What pairings are called in dumps: after the first operator that reads them."""
        found: dict[int, str] = {}
        for (node, _), counted in self.ports.items():
            if counted.pairing is not None:
                found.setdefault(counted.pairing[0], node)
        return [found[call.key] for call in self.pairings]

    @cached_property
    def frontier_names(self) -> list[str]:
        """What frontiers are called in dumps: after an input, a pairing, or an operator."""
        names = []
        owners = {k: t.name for t in self.timelines for k in t.keeps}
        for index, (kind, of) in enumerate(self.progress):
            if kind == "own":
                position = index - min(k for k, owner in owners.items() if owner == owners[index])
                names.append(f"{owners[index]}.{position}")
            else:
                names.append(of if kind == "input" else self.pairing_names[of])
        return names

    @cached_property
    def state_digest(self) -> str:
        """A digest of the places of all state, by which dumps of formats 1 and 2 name it."""
        layout = self.layout
        kinds = [kind for kind, _ in layout.header]
        parts = [kinds, layout.scalars, layout.template_parts, layout.width, layout.length]
        # The repr of a port before it was called PairingPort, which is part of the digest.
        text = "Port(name={0.name!r}, type={1!r}, role={0.role!r})"
        pools = [[text.format(p, t) for p in c.ports for t in p.types] for c in self.pairings]
        return hashlib.sha256(json.dumps([*parts, pools]).encode()).hexdigest()

    def _write(self, timeline: Timeline) -> None:
        if timeline.own is not None:
            assert timeline.source is not None, "an operator reads something"
            self._write_retime(timeline, timeline.own, timeline.source)
        if timeline.pairing is not None:
            self._write_pair(timeline, timeline.pairing)
        if timeline.nodes or timeline.silent:
            self._write_segments(timeline)

    def _begin_segment(self, name: str) -> Segment:
        return Segment(name, self.layout, {*self._names})

    def _finish(self, segment: Segment) -> None:
        self._functions += segment.functions
        self.losses |= segment.losses

    # ---- what makes rows

    def _write_pair(self, timeline: Timeline, pairing: Pairing) -> None:
        function, text = PairingWriter(timeline.name, pairing.ports).write_function()
        self._texts.append(text)
        self._functions += [(f.__name__, f) for f in pairing_layout.STEPS]
        sources = []
        for refs in pairing.wanted:
            places = [self._timelines.locate(ref) for ref in refs]
            stream, _ = places[0]
            assert all(found == stream for found, _ in places), "a message is in one stream"
            sources.append((stream, [column for _, column in places]))
        call = PairCall(
            function=function,
            key=pairing.number,
            sources=sources,
            ports=pairing.ports,
            target=timeline.stream.index,
            progress=timeline.stream.progress[0],
            tolerance=-1 if pairing.tolerance is None else int(pairing.tolerance),
        )
        self.calls.append(call)
        self.pairings.append(call)

    def _write_retime(self, timeline: Timeline, node: Node, source: Timeline) -> None:
        segment = self._begin_segment(f"own_{len(self.calls)}")
        refs = list(dict.fromkeys(node.inputs.values()))
        places = [self._timelines.locate(ref, source) for ref in refs]
        streams = {stream for stream, _ in places}
        assert len(streams) == 1, "what does not come together is paired"
        stream = self.streams[streams.pop()]
        for ref, (_, column) in zip(refs, places, strict=True):
            segment.add_column(ref, stream.types[column], f"{ref.id}_{ref.port}")
        function, text = retime_code.RetimeWriter(segment, node).write_function()
        self._texts.append(text)
        self._finish(segment)
        call = RetimeCall(
            function=function,
            node=node.id,
            source=stream.index,
            columns=[column for _, column in places],
            target=timeline.stream.index,
            progress=timeline.stream.progress[0],
            keeps_frontier=node.operator.frontier == "state",
            settles=timeline.keeps,
            spans=segment.spans,
            closes=node.operator.close is not None,
        )
        self.calls.append(call)
        points = node.operator.grid(node.values)
        if points is not None and refs[0].id in self.checked.inputs:
            self.grids[node.id] = Grid(refs[0].id, *points)
        for port, ref in node.inputs.items():
            self.ports.setdefault((node.id, port), PortCounters(ref))
            self.ports[node.id, port].domain = segment.losses.get((node.id, ""))
            if node.operator.waits:
                self.ports[node.id, port].waits = f"{node.id}.{node.operator.waits}"

    # ---- segments

    def _write_segments(self, timeline: Timeline) -> None:
        previous: Segment | None = None
        parts = cut_nodes(timeline)
        for place, nodes in enumerate(parts, start=1):
            later = list(itertools.chain(*parts[place:]))
            previous = self._write_segment(timeline, (nodes, later), previous)

    def _write_segment(
        self, timeline: Timeline, parts: tuple[list[Node], list[Node]], previous: Segment | None
    ) -> Segment:
        """Write a part of the timeline's nodes, given with those behind it."""
        nodes, later = parts
        segment = self._begin_segment(f"segment_{len(self.calls)}")
        columns = [*timeline.columns.values()]
        for ref, column in timeline.columns.items():
            segment.add_column(ref, timeline.stream.types[column], name_column(ref))
        if previous is not None:
            segment.carry_in(previous, find_carried_refs([*nodes, *later], previous, timeline))
        else:
            columns += self._add_silent_columns(segment, timeline)
        for node in nodes:
            segment.add(node)
            self._record_counters(node, segment, timeline)
        found = timeline.silent.keys() if previous is None else ()
        made = {node.id for node in nodes}.union(ref.id for ref in found)
        left = [ref for ref in timeline.exports if ref.id in made and ref not in timeline.columns]
        groups = group_refs(left, segment)
        carried = segment.carry_out(find_carried_refs(later, segment, timeline))
        extra = [OutputGroup(frozenset(), carried)] if carried else []
        function, text = loop_code.write_batch_loop(segment, groups + extra)
        self._texts.append(text)
        call = SegmentCall(
            function=function,
            source=timeline.stream.index,
            columns=columns,
            carries=previous is not None,
            groups=[self._publish(group, left, segment, timeline) for group in groups],
            carried=[v.type for v in carried],
            input=timeline.input,
            spans=segment.spans,
            keys=segment.keys,
        )
        if previous is None and not later and not segment.keys:
            self._texts.append(loop_code.write_row_function(segment, groups)[1])
        self.calls.append(call)
        self._finish(segment)
        return segment

    def _add_silent_columns(self, segment: Segment, timeline: Timeline) -> list[int]:
        """Read outputs that are not in every row of the stream; return the places of columns."""
        for ref, (column, _) in timeline.silent.items():
            segment.add_silent(ref, timeline.stream.types[column], name_column(ref))
            self._count_passed(ref, segment, timeline)
        return [*itertools.chain(*timeline.silent.values())]

    def _publish(
        self, group: OutputGroup, refs: list[Ref], segment: Segment, timeline: Timeline
    ) -> tuple[int, bool]:
        """Give the group a stream, in which its refs are found: (stream, has every row)."""
        stream = self._timelines.add_stream(
            [c.type for c in group.columns], timeline.stream.progress
        )
        columns = {variable: place for place, variable in enumerate(group.columns)}
        for ref in refs:
            column = columns.get(segment.variables[ref])
            if column is not None:
                timeline.places[ref] = (stream.index, column)
        return stream.index, not group.conditions

    def _record_counters(self, node: Node, segment: Segment, timeline: Timeline) -> None:
        """Record the counters of which the account of the node's ports is made."""
        active = segment.count(
            segment.join_conditions(segment.variables[r].conditions for r in node.reads.values())
        )
        for port, ref in node.inputs.items():
            self.ports.setdefault((node.id, port), PortCounters(ref))
        for port, ref in node.reads.items():
            account = self.ports[node.id, port]
            account.active = active
            everywhere = segment.losses.get((node.id, ""))
            account.domain = segment.losses.get((node.id, DOMAIN + port), everywhere)
            if account.pairing is None:
                self._count_passed(ref, segment, timeline)
        for port in node.outputs:
            self._count_passed(Ref(node.id, port), segment, timeline)

    def _count_passed(self, ref: Ref, segment: Segment, timeline: Timeline) -> None:
        """Count the messages of a ref; a later part of a long loop counts them once more."""
        index = segment.count(segment.variables[ref].conditions)
        if timeline.counts.setdefault(ref, index) != index:
            self.recounted[f"{ref} passed {segment.name}"] = index

    # ---- text

    def _write_module(self) -> str:
        from rtbot import __version__

        found = self._sources
        for name, function in self._functions:
            found.add(name, function)
        self.origins = found.origins
        self.user_defined = found.describe_user_defined()
        head = [HEADER.format(version=__version__, name=self.checked.name), "", "import math", ""]
        functions = "\n\n".join([*found.texts.values(), *self._texts])
        return "\n".join([*head, *found.lines(), "", "", functions])


def select_chosen(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are not what they are by default."""
    return {n: v for n, v in values.items() if n not in defaults or v != defaults[n]}


def code_kinds(nodes: Iterable[Node]) -> set[str]:
    """Return the kinds of state that may hold the code of a text.

    A step that takes text, and not just anything, sees an integer and may keep it as one.
    """
    takes_text = any(p.kind == "text" for node in nodes for p in node.operator.inputs.values())
    return {"text", "integer"} if takes_text else {"text"}


def cut_nodes(timeline: Timeline) -> list[list[Node]]:
    """Cut the nodes of a timeline into parts, each of which is one loop.

    What is a key inside a key has to be known before the loop in which it is one. The first loop
    finds out where silent outputs of the operator that makes the rows have messages.
    """
    made = {ref.id for ref in timeline.silent}
    parts: list[list[Node]] = [[]] if made else []
    for node in timeline.nodes:
        spaces = [s for s in node.operator.state.values() if isinstance(s, Space)]
        keys = {node.inputs[port].id for space in spaces for port in space.ports}
        if not parts or len(parts[-1]) == SEGMENT_LIMIT or keys & made:
            parts.append([])
            made = set()
        parts[-1].append(node)
        made.add(node.id)
    return parts


def find_carried_refs(nodes: list[Node], segment: Segment, timeline: Timeline) -> list[Ref]:
    """Return refs of earlier parts that these nodes read; the timeline's columns are read again."""
    refs = dict.fromkeys(r for n in nodes for r in n.reads.values())
    return [r for r in refs if r in segment.variables and r not in timeline.columns]


def name_column(ref: Ref) -> str:
    """Return the name of a column of a stream in generated text, unless it is taken."""
    return ref.id if ref.port == "o1" else f"{ref.id}_{ref.port}"


def group_refs(refs: list[Ref], segment: Segment) -> list[OutputGroup]:
    """Group the refs' variables: together where their conditions are the same."""
    groups: dict[Conditions, dict[LoopVariable, None]] = {}
    for ref in refs:
        variable = segment.variables[ref]
        groups.setdefault(variable.conditions, {})[variable] = None
    return [OutputGroup(conditions, [*columns]) for conditions, columns in groups.items()]
