"""From a checked graph to a plan: which functions there are, what each reads and writes, in order.

A *clock* is a set of rows that share key and time: those of an input, of a pairing, or of an operator
that gives its outputs times of their own. All operators of one clock form segments. What leaves a
segment is a *stream*: starts (where each key's run begins), times, columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rtbot import loops, pairs
from rtbot.graph import Checked, Node, Ref
from rtbot.layout import Layout
from rtbot.modules import HEADER, collect, needs
from rtbot.operator import Type
from rtbot.segments import Conditions, Functions, Group, Segment, Variable, step_name, step_of

SEGMENT_LIMIT = 32
"""Operators in one function; longer ones take numba too long."""


@dataclass
class Stream:
    """Rows with columns; `progress` is the index of its frontier and what is added to it."""

    index: int
    types: list[Type]
    progress: tuple[int, int]


@dataclass
class SegmentCall:
    """Runs a segment; `groups` are (stream, has every row, types) and `carried` go on to the next."""

    name: str
    source: int
    columns: list[int]
    carries: bool
    groups: list[tuple[int, bool]]
    carried: list[Type]
    input: str | None = None


@dataclass
class OwnCall:
    """Runs an operator with its own times; `columns` of the source stream go in."""

    name: str
    node: str
    source: int
    columns: list[int]
    target: int
    progress: int
    keeps_frontier: bool


@dataclass
class PairCall:
    """Runs a pairing; ports are (stream, column)."""

    name: str
    key: int
    sources: list[tuple[int, int]]
    ports: list[pairs.Port]
    target: int
    progress: int
    tolerance: int


@dataclass
class Clock:
    """A set of rows; `stream` is where they come from and `columns` which ref is which column."""

    name: str
    stream: Stream
    columns: dict[Ref, int]
    nodes: list[Node] = field(default_factory=list)
    exports: dict[Ref, None] = field(default_factory=dict)
    input: str | None = None
    places: dict[Ref, tuple[int, int]] = field(default_factory=dict)
    counts: dict[Ref, int] = field(default_factory=dict)


@dataclass
class Port:
    """How the account of one port is found: indices into the header, or a pairing's port."""

    source: Ref
    active: int | None = None
    pairing: tuple[int, int] | None = None
    domain: int | None = None
    tied: int | None = None


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
        self.layout = Layout()
        self.streams: list[Stream] = []
        self.progress: list[tuple[str, Any]] = []
        self.clocks: list[Clock] = []
        self.clock_of: dict[Ref, Clock] = {}
        self.calls: list[SegmentCall | OwnCall | PairCall] = []
        self.pairings: list[PairCall] = []
        self.ports: dict[tuple[str, str], Port] = {}
        self.emitted: dict[Ref, tuple[str, int | str]] = {}
        self.losses: dict[tuple[str, str], int] = {}
        self._texts: list[str] = []
        self._functions: Functions = []
        self._pairs: dict[Any, Clock] = {}
        self._starters: dict[int, Any] = {}
        self._names = function_names(checked.nodes.values())
        self._assign_clocks()
        self._write_calls()
        self.layout.finish()
        self.places = {name: self.place(ref) for name, ref in self.outputs.items()}
        self.text = self._text()

    # ---- clocks

    def _assign_clocks(self) -> None:
        for name, declared in self.checked.inputs.items():
            progress = self._progress("input", name)
            self._clock(name, {Ref(name): 0}, [declared.type], (progress, 0)).input = name
        for node in self.checked.nodes.values():
            clock = self._home(node)
            if node.operator.own_time:
                self._own_clock(node, clock)
                continue
            clock.nodes.append(node)
            for port in node.outputs:
                self.clock_of[Ref(node.id, port)] = clock
        for ref in self.outputs.values():
            self.clock_of[ref].exports[ref] = None

    def _progress(self, kind: str, of: Any) -> int:
        self.progress.append((kind, of))
        return len(self.progress) - 1

    def _stream(self, types: list[Type], progress: tuple[int, int]) -> Stream:
        self.streams.append(Stream(len(self.streams), types, progress))
        return self.streams[-1]

    def _clock(
        self, name: str, columns: dict[Ref, int], types: list[Type], progress: tuple[int, int]
    ) -> Clock:
        clock = Clock(name, self._stream(types, progress), columns)
        self.clocks.append(clock)
        self.clock_of.update(dict.fromkeys(columns, clock))
        return clock

    def _home(self, node: Node) -> Clock:
        """The clock in which the node is computed: its inputs' own, or that of a pairing."""
        roles = node.operator.roles(node.values, list(node.inputs))
        clocks = {id(self.clock_of[r]): self.clock_of[r] for r in node.inputs.values()}
        if len(clocks) == 1 and set(roles.values()) == {"must"}:
            return next(iter(clocks.values()))
        wanted = list(dict.fromkeys((node.inputs[p], roles[p]) for p in node.inputs))
        tolerance = node.values.get("tolerance") if "last" in roles.values() else None
        key = (tuple(wanted), tolerance)
        if key not in self._pairs:
            self._pairs[key] = self._pair_clock(node, wanted, tolerance)
        clock = self._pairs[key]
        for port, ref in node.inputs.items():
            number = wanted.index((ref, roles[port]))
            self.ports[node.id, port] = Port(ref, pairing=(self._pairing_of(clock), number))
        return clock

    def _pairing_of(self, clock: Clock) -> int:
        return self.progress[clock.stream.progress[0]][1]  # type: ignore[no-any-return]

    def _pair_clock(
        self, node: Node, wanted: list[tuple[Ref, str]], tolerance: int | None
    ) -> Clock:
        ports = []
        for ref, role in wanted:
            self.clock_of[ref].exports[ref] = None
            ports.append(pairs.Port(str(ref), self.type_of(ref), role))
        number = sum(kind == "pair" for kind, _ in self.progress)
        progress = self._progress("pair", number)
        clock = Clock(f"pair_{number}", self._stream([p.out for p in ports], (progress, 0)), {})
        self.clocks.append(clock)
        # A ref may come in twice with two roles; nodes find their column through `ports`.
        for column, (ref, _) in enumerate(wanted):
            clock.columns.setdefault(ref, column)
        self._starters[id(clock)] = (node, wanted, ports, tolerance, number)
        return clock

    def _own_clock(self, node: Node, source: Clock) -> None:
        for ref in node.inputs.values():
            source.exports[ref] = None
        outputs = {Ref(node.id, port): k for k, port in enumerate(node.outputs)}
        types = [node.types[port] for port in node.outputs]
        index, shift = source.stream.progress
        if node.operator.frontier == "shift":
            progress = (index, shift + int(node.values["shift"]))
        elif node.operator.frontier == "state":
            before = node.operator.reach(node.values)
            progress = (self._progress("own", (index, shift - before)), 0)
        else:
            progress = (index, shift)
        clock = self._clock(node.id, outputs, types, progress)
        self._starters[id(clock)] = (node, source)

    def type_of(self, ref: Ref) -> Type:
        """What the ref carries."""
        if ref.id in self.checked.inputs:
            return self.checked.inputs[ref.id].type
        return self.checked.nodes[ref.id].types[ref.port]

    def place(self, ref: Ref) -> tuple[int, int]:
        """(stream, column) in which the ref is found after a run."""
        clock = self.clock_of[ref]
        if ref in clock.places:
            return clock.places[ref]
        return clock.stream.index, clock.columns[ref]

    # ---- calls

    def _write_calls(self) -> None:
        for clock in self.clocks:
            starter = self._starters.get(id(clock))
            if starter is not None and len(starter) == 2:
                self._write_own(clock, *starter)
            elif starter is not None:
                self._write_pair(clock, *starter)
            if clock.nodes:
                self._write_segments(clock)

    def _segment(self, name: str) -> Segment:
        return Segment(name, self.layout, set(self._names))

    def _write_pair(
        self,
        clock: Clock,
        _node: Node,
        wanted: list[tuple[Ref, str]],
        ports: list[pairs.Port],
        tolerance: int | None,
        number: int,
    ) -> None:
        writer = pairs.Pair(clock.name, ports)
        self._texts.append(writer.text())
        helpers = (pairs.frontier_at, pairs.near, pairs.take_block, pairs.watch)
        self._functions += [(f.__name__, f) for f in helpers]
        sources = [self.place(ref) for ref, _ in wanted]
        call = PairCall(
            clock.name,
            number,
            sources,
            ports,
            clock.stream.index,
            clock.stream.progress[0],
            -1 if tolerance is None else int(tolerance),
        )
        self.calls.append(call)
        self.pairings.append(call)

    def _write_own(self, clock: Clock, node: Node, source: Clock) -> None:
        segment = self._segment(f"own_{len(self.calls)}")
        stream = {self.place(ref)[0] for ref in node.inputs.values()}
        assert len(stream) == 1, "an operator with its own times reads one stream"
        columns = []
        for ref in dict.fromkeys(node.inputs.values()):
            segment.column(ref, self.type_of(ref), f"{ref.id}_{ref.port}")
            columns.append(self.place(ref)[1])
        self._texts.append(loops.own(segment, node))
        self._finish(segment)
        call = OwnCall(
            segment.name,
            node.id,
            stream.pop(),
            columns,
            clock.stream.index,
            clock.stream.progress[0],
            node.operator.frontier == "state",
        )
        self.calls.append(call)
        for port, ref in node.inputs.items():
            self.ports.setdefault((node.id, port), Port(ref))
            self.ports[node.id, port].domain = segment.losses.get((node.id, ""))

    def _finish(self, segment: Segment) -> None:
        self._functions += segment.functions
        self.losses |= segment.losses

    def _write_segments(self, clock: Clock) -> None:
        parts = [
            clock.nodes[i : i + SEGMENT_LIMIT] for i in range(0, len(clock.nodes), SEGMENT_LIMIT)
        ]
        previous: Segment | None = None
        for number, nodes in enumerate(parts):
            later = [n for part in parts[number + 1 :] for n in part]
            previous = self._write_segment(clock, nodes, later, previous)

    def _write_segment(
        self, clock: Clock, nodes: list[Node], later: list[Node], previous: Segment | None
    ) -> Segment:
        segment = self._segment(f"segment_{len(self.calls)}")
        for ref, column in clock.columns.items():
            name = ref.id if ref.port == "o1" else f"{ref.id}_{ref.port}"
            segment.column(ref, clock.stream.types[column], name)
        if previous is not None:
            segment.carry_in(previous, needed([*nodes, *later], previous, clock))
        for node in nodes:
            segment.add(node)
            self._account(node, segment, clock)
        groups = self._groups(clock, nodes, segment)
        produced = segment.carry_out(needed(later, segment, clock))
        extra = [Group(frozenset(), produced)] if produced else []
        self._texts.append(loops.batch(segment, groups + extra))
        targets = []
        for group in groups:
            types = [c.type for c in group.columns]
            stream = self._stream(types, clock.stream.progress)
            targets.append((stream.index, not group.conditions))
            for column, variable in enumerate(group.columns):
                for ref in self._refs(segment, variable, clock, nodes):
                    clock.places[ref] = (stream.index, column)
        call = SegmentCall(
            segment.name,
            clock.stream.index,
            list(clock.columns.values()),
            previous is not None,
            targets,
            [v.type for v in produced],
            clock.input,
        )
        if previous is None and not later:
            self._texts.append(loops.one(segment, groups))
        self.calls.append(call)
        self._finish(segment)
        return segment

    def _refs(
        self, segment: Segment, variable: Variable, clock: Clock, nodes: list[Node]
    ) -> list[Ref]:
        own = {n.id for n in nodes}
        return [
            r for r in clock.exports if r.id in own and segment.variables.get(r) is variable
        ]

    def _groups(self, clock: Clock, nodes: list[Node], segment: Segment) -> list[Group]:
        own = {n.id for n in nodes}
        groups: dict[Conditions, Group] = {}
        for ref in clock.exports:
            if ref.id not in own or ref in clock.columns:
                continue
            variable = segment.variables[ref]
            group = groups.setdefault(variable.conditions, Group(variable.conditions))
            if variable not in group.columns:
                group.columns.append(variable)
        return list(groups.values())

    def _account(self, node: Node, segment: Segment, clock: Clock) -> None:
        active = segment.count(
            segment.together(segment.variables[r].conditions for r in node.inputs.values())
        )
        for port, ref in node.inputs.items():
            account = self.ports.setdefault((node.id, port), Port(ref))
            account.active = active
            account.domain = segment.losses.get((node.id, ""))
            account.tied = segment.losses.get((node.id, port))
            if account.pairing is None:
                clock.counts[ref] = segment.count(segment.variables[ref].conditions)
        for port in node.outputs:
            ref = Ref(node.id, port)
            clock.counts[ref] = segment.count(segment.variables[ref].conditions)

    # ---- text

    def _text(self) -> str:
        constants, functions = collect(self._functions)
        from rtbot import __version__

        head = [HEADER.format(version=__version__, name=self.checked.name), "", "import math", ""]
        return "\n".join([*head, *constants, "", "", "\n\n".join([*functions, *self._texts])])


def needed(nodes: list[Node], segment: Segment, clock: Clock) -> list[Ref]:
    """Refs of earlier parts that these nodes read; the columns of the clock are read anew."""
    refs = dict.fromkeys(r for n in nodes for r in n.inputs.values())
    return [r for r in refs if r in segment.variables and r not in clock.columns]


def function_names(nodes: Iterable[Node]) -> set[str]:
    """Names of all functions that the generated module may hold, so that no variable takes one."""
    from rtbot import formulas

    names = {f.__name__ for table in (formulas.CHECKED, formulas.NUMBER, formulas.INTEGER) for f in table.values()}
    names |= {f.__name__ for f in (pairs.frontier_at, pairs.near, pairs.take_block, pairs.watch)}
    todo = []
    for node in nodes:
        if not node.formulas:
            names.add(step_name(node))
            todo.append(step_of(node))
    while todo:
        for name, value in needs(todo.pop()).items():
            if name not in names:
                names.add(name)
                if getattr(value, "is_step", False):
                    todo.append(value)
    return names


def widths(types: Iterable[Type]) -> int:
    """Arrays that hold columns of these types."""
    return sum(2 if t.nullable else 1 for t in types)


def header_of(plan: Plan) -> Mapping[str, int]:
    """Sizes for `explain`: words per key in the row and in each pairing's list."""
    found = {"row": plan.layout.width}
    return found | {c.name: pairs.width(c.ports) for c in plan.pairings}
