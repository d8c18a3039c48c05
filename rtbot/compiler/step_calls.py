"""Text that calls the steps of a node: arguments by name, and the state they read and return."""

from __future__ import annotations

import inspect
import itertools
import re
from typing import TYPE_CHECKING

from rtbot.compiler.calls import SpaceLayout
from rtbot.compiler.generated_text import Conditions, format_load, format_store
from rtbot.compiler.step_signature import (
    find_port_kind,
    find_state_kind,
    format_argument,
    list_steps,
)
from rtbot.operator import Cells, Numbers, Points, Ring, Scalar, Scratch, Space

if TYPE_CHECKING:
    from rtbot.compiler.layout import StateAllocation
    from rtbot.compiler.segment import Segment
    from rtbot.compiler.variables import LoopVariable
    from rtbot.graph.model import Node


class StepCall:
    """The call of a node's step in a segment.

    `text` is the call, `lines` are before it, `targets` take the state that it returns. `undo`
    takes the row out of the rings again, so that `lines` may put it in a second time. `load` and
    `store` are around the rows of a key; `functions` are what is called, with their names. `active`
    are the flags under which the call is made. `due` is the local of that state, and `closing` the
    call at that time, of a node that has a `close`.
    """

    closing = due = ""

    def __init__(
        self,
        segment: Segment,
        node: Node,
        sources: dict[str, LoopVariable],
        active: Conditions = frozenset(),
    ) -> None:
        self.segment = segment
        self.node = node
        self.sources = sources
        self.active = active
        self.lines: list[str] = []
        self.targets: list[str] = []
        self.undo: list[str] = []
        self.load: list[str] = []
        self.store: list[str] = []
        self.share = segment.layout.allocate(node.id)
        steps = list_steps(node)
        self.functions = [*steps.items()]
        arguments = [[*inspect.signature(function).parameters] for function in steps.values()]
        wanted = [*dict.fromkeys(itertools.chain(*arguments))]
        known = {"time": "t"} | self._bind_ports()
        known |= self._bind_state(wanted)
        for item in node.operator.parameters.values():
            if isinstance(item, Numbers | Points) and item.name in wanted:
                known |= segment.add_list(node, item.name)
        for parameter in wanted:
            if parameter not in known:
                known[parameter] = segment.add_parameter(node, parameter)
        texts = []
        for name, given in zip(steps, arguments, strict=True):
            texts.append(f"{name}({', '.join(known[one] for one in given)})")
            known["time"] = known.get("due", "t")
        self.text = texts[0]
        if node.operator.close is not None:
            self.due, self.closing = known["due"], texts[1]

    def _bind_ports(self) -> dict[str, str]:
        known = {}
        for port, source in self.sources.items():
            known[port] = format_argument(self.node, port, source)
            known[f"{port}_valid"] = source.valid or "True"
        for name, declared in self.node.operator.inputs.items():
            if declared.variadic:
                ports = [p for p in self.sources if self.node.operator.port(p) is declared]
                known[name] = f"({', '.join(known[p] for p in ports)},)"
                known[f"{name}_valid"] = f"({', '.join(known[f'{p}_valid'] for p in ports)},)"
        return known

    def _bind_state(self, wanted: list[str]) -> dict[str, str]:
        known = {}
        for name, item in self.node.operator.state.items():
            if isinstance(item, Scalar):
                known[name] = self._bind_scalar(item)
                self.targets.append(known[name])
            elif isinstance(item, Ring) and any(w.startswith(name) for w in wanted):
                known |= self._bind_ring(item)
            elif isinstance(item, Cells):
                known |= self._bind_cells(item)
            elif isinstance(item, Space):
                known |= self._bind_space(item)
            elif isinstance(item, Scratch):
                place = self.segment.layout.allocate_scratch(item.size)
                known |= {name: "I", f"{name}_first": str(place)}
        return known

    def _bind_scalar(self, item: Scalar) -> str:
        kind = find_state_kind(self.node, item.kind)
        text = self.segment.make_name(f"{self.node.id}_{item.name}")
        name = f"{self.node.id}.{item.name}"
        place = f"base + {self.segment.layout.add_scalar(self.share, name, kind, item.start)}"
        self.load.append(f"{text} = {format_load(kind, place)}")
        self.store.append(format_store(kind, place, text))
        return text

    def _bind_cells(self, item: Cells) -> dict[str, str]:
        kind = find_state_kind(self.node, item.kind)
        size = item.places(self.node.values)
        name = f"{self.node.id}.{item.name}"
        place = self.segment.layout.add_array(self.share, name, (kind, size), item.start)
        offset = self.segment.add_local("integer", place, f"{self.node.id}_{item.name}_offset")
        array = "F" if kind == "number" else "I"
        return {item.name: array, f"{item.name}_first": f"base + {offset}"}

    def _bind_space(self, item: Space) -> dict[str, str]:
        fields = [
            (name, find_state_kind(self.node, field.kind), field.start)
            for name, field in item.fields.items()
        ]
        kind = find_port_kind(self.node, item.ports[0])
        layout = SpaceLayout(f"{self.node.id}.{item.name}", kind, fields)
        index = self.segment.layout.add_space(layout)
        known = {f"{item.name}_{name}": f"space{index}_{name}" for name in item.fields}
        self.segment.arrays += known.values()
        places = self.segment.add_keys(self.node, index, item.ports)
        return known | {f"{item.name}_{port}": text for port, text in places.items()}

    def _bind_ring(self, item: Ring) -> dict[str, str]:
        size = int(self.node.values[item.size]) + item.extra
        if item.of == "time":
            entering, kind = "t", "integer"
        else:
            entering = format_argument(self.node, item.port, self.sources[item.port])
            kind = find_port_kind(self.node, item.port)
        key = (entering, kind, size, self.active)
        if key not in self.segment.rings:
            window = (str(self.node.inputs[item.port]), item.of, size)
            share = self.segment.layout.allocate(self.node.id, window)
            ring = self._add_ring(share, f"{self.node.id}.{item.name}", kind, entering)
            self.segment.rings[key] = share, ring
        share, ring = self.segment.rings[key]
        share.users += [] if self.node.id in share.users else [self.node.id]
        names = {f"{item.name}_{part}": text for part, text in ring.items() if part != "array"}
        return names | {item.name: ring["array"]}

    def _add_ring(
        self, share: StateAllocation, state: str, kind: str, entering: str
    ) -> dict[str, str]:
        """Add a ring whose words are named `state` in dumps."""
        segment, layout = self.segment, self.segment.layout
        assert share.window is not None, "the share of a ring"
        size = share.window[2]
        name = re.sub(r"\W+", "_", f"{entering}_{size}".replace("float(", ""))
        prefix = segment.make_name(f"window_{name}")
        limit = segment.add_local("integer", layout.put("integer", size), f"{prefix}_size")
        offset = segment.add_local(
            "integer", layout.add_array(share, state, (kind, size)), f"{prefix}_offset"
        )
        for part in ("place", "count"):
            place = f"base + {layout.add_scalar(share, f'{state}.{part}', 'integer', 0)}"
            self.load.append(f"{prefix}_{part} = {format_load('integer', place)}")
            self.store.append(format_store("integer", place, f"{prefix}_{part}"))
        at = f"base + {offset} + {prefix}_position"
        self.lines += [
            f"{prefix}_position = {prefix}_place",
            f"{prefix}_evicts = {prefix}_count == {limit}",
            f"{prefix}_leaving = {format_load(kind, at)}",
            f"if not {prefix}_evicts:",
            f"    {prefix}_count += 1",
            format_store(kind, at, entering),
            f"{prefix}_place += 1",
            f"if {prefix}_place == {limit}:",
            f"    {prefix}_place = 0",
        ]
        self.undo += [
            f"{prefix}_place = {prefix}_position",
            format_store(kind, at, f"{prefix}_leaving"),
            f"if not {prefix}_evicts:",
            f"    {prefix}_count -= 1",
        ]
        parts = {p: f"{prefix}_{p}" for p in ("position", "evicts", "leaving", "count")}
        array = "F" if kind == "number" else "I"
        return parts | {"array": array, "first": f"base + {offset}", "entering": entering}
