"""From a checked graph to a plan: which functions there are, what each reads and writes, in order.

All operators of one clock (see `rtbot.compiler.timelines`) form segments. What leaves a segment is
a stream for each group of outputs that appear together.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from rtbot.compiler import expression_code, loop_code, pairing_layout
from rtbot.compiler.calls import Grid, OwnCall, PairCall, Port, SegmentCall
from rtbot.compiler.jit import HEADER
from rtbot.compiler.layout import Layout
from rtbot.compiler.lower import DOMAIN, add
from rtbot.compiler.pairing_code import PairText
from rtbot.compiler.segment import Functions, Segment
from rtbot.compiler.step_signature import step_name, step_of
from rtbot.compiler.timelines import Clock, Clocks, Pairing
from rtbot.compiler.variables import Group
from rtbot.core.errors import refused
from rtbot.graph.model import Label, Ref
from rtbot.operator.step_source import sources

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.compiler.generated_text import Conditions
    from rtbot.graph.model import Checked, Node

__all__ = ["Clock", "OwnCall", "PairCall", "Plan", "Port", "SegmentCall"]

SEGMENT_LIMIT = 32
"""Operators in one function; longer ones take numba too long."""


class Plan:
    """Immutable after construction; see `text` for the module it generates."""

    def __init__(self, checked: Checked, taps: Iterable[str] = ()) -> None:
        self.checked = checked
        self.outputs: dict[str, Ref] = dict(checked.outputs)
        for name in taps:
            node = checked.nodes[name]
            for port in node.outputs:
                label = name if len(node.outputs) == 1 else f"{name}.{port}"
                self.outputs.setdefault(label, Ref(name, port))
        self._clocks = Clocks(checked, self.outputs.values())
        self.clocks = self._clocks.all
        self.clock_of = self._clocks.of
        self.streams = self._clocks.streams
        self.progress = self._clocks.progress
        self.ports = self._clocks.ports
        self.layout = Layout()
        self.calls: list[SegmentCall | OwnCall | PairCall] = []
        self.pairings: list[PairCall] = []
        self.grids: dict[str, Grid] = {}
        self.losses: dict[tuple[str, str], int] = {}
        self.reasons: dict[tuple[str, str], str] = {}
        self._texts: list[str] = []
        self._functions: Functions = []
        self._names = function_names(checked.nodes.values())
        for clock in self.clocks:
            self._write(clock)
        self.layout.finish()
        self.text_words = self.layout.words_of(code_kinds(checked.nodes.values()))
        self.places = {name: self._clocks.place(ref) for name, ref in self.outputs.items()}
        self.text = self._text()
        for name, port in self.losses:
            if port and not port.startswith(DOMAIN):
                node = checked.nodes[name]
                lost = node.operator.lost(node.values, list(node.inputs))
                self.reasons[name, port] = lost[port][0]

    def __getstate__(self) -> dict[str, Any]:
        """Return what runs the plan elsewhere: without the classes of its operators.

        The generated text holds their source, so that nothing has to be imported there.
        """
        state = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        nodes = {}
        for name, node in self.checked.nodes.items():
            label = Label(node.operator.__name__, node.operator.version)
            nodes[name] = replace(node, operator=cast("Any", label), formulas={})
        clocks = {id(clock): replace(clock, own=None, nodes=[]) for clock in self.clocks}
        return state | {
            "checked": replace(self.checked, nodes=nodes, tests=()),
            "clocks": list(clocks.values()),
            "clock_of": {ref: clocks[id(clock)] for ref, clock in self.clock_of.items()},
        }

    @cached_property
    def state_digest(self) -> str:
        """A digest of how the state is laid out."""
        layout = self.layout
        kinds = [kind for kind, _ in layout.header]
        parts = [kinds, layout.scalars, layout.template_parts, layout.width, layout.length]
        pools = [[str(port) for port in call.ports] for call in self.pairings]
        return hashlib.sha256(json.dumps([*parts, pools]).encode()).hexdigest()

    def _write(self, clock: Clock) -> None:
        if clock.own is not None:
            self._write_own(clock, clock.own)
        if clock.pairing is not None:
            self._write_pair(clock, clock.pairing)
        if clock.nodes:
            self._write_segments(clock)

    def _segment(self, name: str) -> Segment:
        return Segment(name, self.layout, set(self._names))

    def _finish(self, segment: Segment) -> None:
        self._functions += segment.functions
        self.losses |= segment.losses

    # ---- what makes rows

    def _write_pair(self, clock: Clock, pairing: Pairing) -> None:
        self._texts.append(PairText(clock.name, pairing.ports).text())
        self._functions += [(f.__name__, f) for f in pairing_layout.STEPS]
        call = PairCall(
            name=clock.name,
            key=pairing.number,
            sources=[self._clocks.place(ref) for ref, _ in pairing.wanted],
            ports=pairing.ports,
            target=clock.stream.index,
            progress=clock.stream.progress[0],
            tolerance=-1 if pairing.tolerance is None else int(pairing.tolerance),
        )
        self.calls.append(call)
        self.pairings.append(call)

    def _write_own(self, clock: Clock, node: Node) -> None:
        segment = self._segment(f"own_{len(self.calls)}")
        refs = list(dict.fromkeys(node.inputs.values()))
        streams = {self._clocks.place(ref)[0] for ref in refs}
        if len(streams) > 1:
            message = f"{node.id}: an operator with times of its own reads one stream, not several"
            hint = "join its inputs by time first, or wire it to outputs that appear together"
            raise refused("RT117", node.mark, message, hint)
        for ref in refs:
            segment.column(ref, self._clocks.type_of(ref), f"{ref.id}_{ref.port}")
        self._texts.append(loop_code.own(segment, node))
        self._finish(segment)
        call = OwnCall(
            name=segment.name,
            node=node.id,
            source=streams.pop(),
            columns=[self._clocks.place(ref)[1] for ref in refs],
            target=clock.stream.index,
            progress=clock.stream.progress[0],
            keeps_frontier=node.operator.frontier == "state",
            settles=clock.keeps,
        )
        self.calls.append(call)
        points = node.operator.grid(node.values)
        if points is not None and refs[0].id in self.checked.inputs:
            self.grids[node.id] = Grid(refs[0].id, *points)
        for port, ref in node.inputs.items():
            self.ports.setdefault((node.id, port), Port(ref))
            self.ports[node.id, port].domain = segment.losses.get((node.id, ""))

    # ---- segments

    def _write_segments(self, clock: Clock) -> None:
        previous: Segment | None = None
        for first in range(0, len(clock.nodes), SEGMENT_LIMIT):
            previous = self._write_segment(clock, first, previous)

    def _write_segment(self, clock: Clock, first: int, previous: Segment | None) -> Segment:
        """The part of the clock's nodes that begins at `first`; `previous` is the one before."""
        nodes = clock.nodes[first : first + SEGMENT_LIMIT]
        later = clock.nodes[first + SEGMENT_LIMIT :]
        segment = self._segment(f"segment_{len(self.calls)}")
        for ref, column in clock.columns.items():
            name = ref.id if ref.port == "o1" else f"{ref.id}_{ref.port}"
            segment.column(ref, clock.stream.types[column], name)
        if previous is not None:
            segment.carry_in(previous, needed([*nodes, *later], previous, clock))
        for node in nodes:
            add(segment, node)
            self._account(node, segment, clock)
        groups = groups_of(exported(clock, nodes), segment)
        carried = segment.carry_out(needed(later, segment, clock))
        extra = [Group(frozenset(), carried)] if carried else []
        self._texts.append(loop_code.batch(segment, groups + extra))
        call = SegmentCall(
            name=segment.name,
            source=clock.stream.index,
            columns=list(clock.columns.values()),
            carries=previous is not None,
            groups=[self._publish(group, segment, clock, nodes) for group in groups],
            carried=[v.type for v in carried],
            input=clock.input,
        )
        if previous is None and not later:
            self._texts.append(loop_code.one(segment, groups))
        self.calls.append(call)
        self._finish(segment)
        return segment

    def _publish(
        self, group: Group, segment: Segment, clock: Clock, nodes: list[Node]
    ) -> tuple[int, bool]:
        """Give the group a stream, in which its refs are found: (stream, has every row)."""
        stream = self._clocks.stream([c.type for c in group.columns], clock.stream.progress)
        for ref in exported(clock, nodes):
            if segment.variables[ref] in group.columns:
                column = group.columns.index(segment.variables[ref])
                clock.places[ref] = (stream.index, column)
        return stream.index, not group.conditions

    def _account(self, node: Node, segment: Segment, clock: Clock) -> None:
        """Count what the account of the node's ports is made of."""
        active = segment.count(
            segment.together(segment.variables[r].conditions for r in node.inputs.values())
        )
        for port, ref in node.inputs.items():
            account = self.ports.setdefault((node.id, port), Port(ref))
            account.active = active
            everywhere = segment.losses.get((node.id, ""))
            account.domain = segment.losses.get((node.id, DOMAIN + port), everywhere)
            account.tied = segment.losses.get((node.id, port))
            if account.pairing is None:
                clock.counts[ref] = segment.count(segment.variables[ref].conditions)
        for port in node.outputs:
            ref = Ref(node.id, port)
            clock.counts[ref] = segment.count(segment.variables[ref].conditions)

    # ---- text

    def _text(self) -> str:
        from rtbot import __version__

        found = sources(self._functions)
        self.origins = found.origins
        self.foreign = found.foreign()
        head = [HEADER.format(version=__version__, name=self.checked.name), "", "import math", ""]
        functions = "\n\n".join([*found.texts.values(), *self._texts])
        return "\n".join([*head, *found.lines(), "", "", functions])


def code_kinds(nodes: Iterable[Node]) -> set[str]:
    """Kinds of state that may hold the code of a text.

    A step that takes text, and not just anything, sees an integer and may keep it as one.
    """
    takes_text = any(p.kind == "text" for node in nodes for p in node.operator.inputs.values())
    return {"text", "integer"} if takes_text else {"text"}


def needed(nodes: list[Node], segment: Segment, clock: Clock) -> list[Ref]:
    """Refs of earlier parts that these nodes read; the columns of the clock are read anew."""
    refs = dict.fromkeys(r for n in nodes for r in n.inputs.values())
    return [r for r in refs if r in segment.variables and r not in clock.columns]


def exported(clock: Clock, nodes: list[Node]) -> list[Ref]:
    """Refs of these nodes that somebody reads outside of the clock."""
    own = {node.id for node in nodes}
    return [ref for ref in clock.exports if ref.id in own and ref not in clock.columns]


def groups_of(refs: list[Ref], segment: Segment) -> list[Group]:
    """The refs' variables, together where their conditions are the same."""
    groups: dict[Conditions, Group] = {}
    for ref in refs:
        variable = segment.variables[ref]
        group = groups.setdefault(variable.conditions, Group(variable.conditions))
        if variable not in group.columns:
            group.columns.append(variable)
    return list(groups.values())


def function_names(nodes: Iterable[Node]) -> set[str]:
    """Names of all functions that the generated module may hold, so that no variable takes one."""
    tables = (
        expression_code.CHECKED,
        expression_code.NUMBER,
        expression_code.INTEGER,
        expression_code.APART,
        expression_code.MIXED,
    )
    names = {function.__name__ for table in tables for function in table.values()}
    names |= {function.__name__ for function in pairing_layout.STEPS}
    found = sources((step_name(node), step_of(node)) for node in nodes if not node.formulas)
    names |= set(found.functions) | set(found.constants)
    return names
