"""Text that calls the steps of a node: arguments by name, and the state they read and return."""

from __future__ import annotations

import inspect
import itertools
from typing import TYPE_CHECKING

from rtbot.compiler.calls import SpaceLayout
from rtbot.compiler.generated_text import (
    Conditions,
    format_constant,
    format_kind_check,
    format_list_check,
    format_load,
    format_store,
    indent_lines,
)
from rtbot.compiler.step_signature import (
    find_leave,
    find_port_kind,
    find_state_kind,
    find_step,
    format_argument,
    list_steps,
    name_function,
)
from rtbot.compiler.window_code import (
    POOL,
    SPAN_PARTS,
    WindowText,
    write_ring,
    write_span,
    write_time_window,
)
from rtbot.numeric.ieee import is_older
from rtbot.operator import (
    NEVER,
    Cells,
    Kept,
    ListParameter,
    Ring,
    Scalar,
    Scratch,
    Space,
    Span,
    TimeSpan,
    WindowLength,
)
from rtbot.operator.step_source import is_user_defined

if TYPE_CHECKING:
    from rtbot.compiler.segment import Segment
    from rtbot.compiler.variables import LoopVariable
    from rtbot.graph.model import Node


class StepCall:
    """The call of a node's step in a segment.

    `text` is the call, `lines` are before it and `after` behind it, `targets` take the state that
    it returns, `scalars` those of them that are scalars, by name. `undo` takes the row out of the
    windows again, so that `lines` may put it in a second time. `load` and `store` are around the
    rows of a key; `functions` are what is called, with their names. `active` are the flags under
    which the call is made. `checks` are of the lists that a user's step returns. `due` is the
    local of that state, and `closing` the call at that time, of a node that has a `close`. Of one
    that keeps rows, `results` are what the step returns in the place of outputs, `keep` the lines
    that keep a row, `kept` the texts of a kept row's ports.
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
        self.after: list[str] = []
        self.windows: dict[str, WindowText] = {}
        self.scalars: dict[str, str] = {}
        self.checks: list[str] = []
        self.targets: list[str] = []
        self.undo: list[str] = []
        self.load: list[str] = []
        self.store: list[str] = []
        self.results: list[str] = []
        self.keep: list[str] = []
        self.kept: list[str] = []
        self.share = segment.layout.allocate(node.id)
        steps = list_steps(node)
        self.functions = [*steps.items()]
        arguments = [[*inspect.signature(function).parameters] for function in steps.values()]
        wanted = [*dict.fromkeys(itertools.chain(*arguments))]
        known = {"time": "t"} | self._bind_ports()
        known |= self._bind_state(wanted)
        for item in node.operator.parameters.values():
            if isinstance(item, ListParameter) and item.name in wanted:
                known |= segment.add_list(node, item.name)
        for length in self._list_lengths(wanted):
            segment.add_parameter(node, length)
        for parameter in wanted:
            if parameter not in known:
                known[parameter] = segment.add_parameter(node, parameter)
        self.lines += self._write_leaving(known, wanted)
        self._write_calls(dict(zip(steps, arguments, strict=True)), known)

    def _write_calls(self, steps: dict[str, list[str]], known: dict[str, str]) -> None:
        """Write the call of the step, and of `close`, with what is checked behind both."""
        texts = []
        for name, given in steps.items():
            texts.append(f"{name}({', '.join(known[one] for one in given)})")
            known["time"] = known.get("due", "t")
        self.text = texts[0]
        self.after = [*self._check_scalars(), *self.checks, *self.after]
        if self.node.operator.close is not None:
            self.due, self.closing = known["due"], texts[1]

    def check_kind(self, name: str, kind: str, declared: str) -> list[str]:
        """Write the check of a local that a user's step has returned; rtbot's own need none."""
        own = is_user_defined(find_step(self.node))
        return format_kind_check(name, kind, declared) if own else []

    def _check_scalars(self) -> list[str]:
        """Write the checks of the scalars that a user's step, or its `leave`, has returned."""
        state = self.node.operator.state.values()
        scalars = [item for item in state if isinstance(item, Scalar)]
        kinds = [find_state_kind(self.node, item.kind) for item in scalars]
        checks = map(self.check_kind, self.scalars.values(), kinds, self.scalars)
        return [*itertools.chain(*checks)]

    def _list_lengths(self, wanted: list[str]) -> list[str]:
        """Return the lengths of windows that the step does not take.

        Dumps of formats 1 and 2 only fit where they have a word all the same.
        """
        rings = (s for s in self.node.operator.state.values() if isinstance(s, Ring))
        parameters = self.node.operator.parameters
        lengths = {r.size for r in rings if isinstance(parameters[r.size], WindowLength)}
        return sorted(lengths.difference(wanted))

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
                known[name] = self.scalars[name] = self._bind_scalar(item)
                self.targets.append(known[name])
            elif isinstance(item, Ring) and any(w.startswith(name) for w in wanted):
                known |= self._bind_ring(item)
            elif isinstance(item, Cells):
                known |= self._bind_cells(item)
            elif isinstance(item, Kept):
                known |= self._bind_kept(item)
            elif isinstance(item, Span) and f"{name}_count" in wanted:
                known |= self._bind_span(item)
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

    def _bind_kept(self, item: Kept) -> dict[str, str]:
        """Reserve a place of each of the ports for every kept row; `kept` writes and reads them."""
        ports = [p for p in self.sources if self.node.operator.port(p).name == item.port]
        put, get = (self.segment.make_name(f"{self.node.id}_{part}") for part in ("put", "get"))
        self.results = [put, get]
        arrays, starts = [], []
        for port in ports:
            kind, source = self.node.types[port].kind, self.sources[port].text
            size = int(self.node.values[item.size])
            name = f"{self.node.id}.{item.name}.{port}"
            place = self.segment.layout.add_array(self.share, name, (kind, size))
            offset = self.segment.add_local("integer", place, f"{self.node.id}_{port}_offset")
            arrays.append("F" if kind == "number" else "I")
            starts.append(f"base + {offset}")
            self.keep.append(format_store(kind, f"{starts[-1]} + {put}", source))
            self.kept.append(format_load(kind, f"{starts[-1]} + {get}"))
        chosen = int(self.node.values[item.by])
        self.keep = [f"if {put} >= 0:", *indent_lines(self.keep, 1)]
        given = arrays[chosen], starts[chosen], self.sources[ports[chosen]].text
        return dict(zip(item.arguments(), given, strict=True))

    def _bind_space(self, item: Space) -> dict[str, str]:
        fields = [
            (name, find_state_kind(self.node, field.kind), field.start)
            for name, field in item.fields.items()
        ]
        kind = find_port_kind(self.node, item.ports[0])
        ttl = self.node.values[item.ttl] if item.ttl else None
        if ttl is not None:
            fields.append((Space.RENEWED, "integer", NEVER))
        layout = SpaceLayout(f"{self.node.id}.{item.name}", kind, fields, ttl)
        index = self.segment.layout.add_space(layout)
        arrays = {name: f"space{index}_{name}" for name, *_ in fields}
        self.segment.arrays += arrays.values()
        places = self.segment.add_keys(self.node, index, item.ports)
        if ttl is not None:
            self._write_expiry(item, arrays, places)
        known = {f"{item.name}_{name}": arrays[name] for name in item.fields}
        return known | {f"{item.name}_{port}": text for port, text in places.items()}

    def _write_expiry(self, item: Space, arrays: dict[str, str], places: dict[str, str]) -> None:
        """Write lines that make places as new which were not renewed for long, and renew one."""
        ttl = self.segment.add_parameter(self.node, item.ttl)
        renewed = arrays[Space.RENEWED]
        self.functions.append((is_older.__name__, is_older))
        for place in places.values():
            starts = [
                f"{arrays[name]}[{place}] = {format_constant(field.start)}"
                for name, field in item.fields.items()
            ]
            condition = f"{place} >= 0 and is_older({renewed}[{place}], t, {ttl})"
            self.lines += [f"if {condition}:", *indent_lines(starts, 1)]
        ports = item.renewed_by or item.ports[:1]
        given = [self.sources[port].valid for port in ports]
        condition = " and ".join(valid for valid in given if valid)
        renewing = [f"{renewed}[{places[item.ports[0]]}] = t"]
        self.lines += [f"if {condition}:", *indent_lines(renewing, 1)] if condition else renewing

    def _bind_ring(self, item: Ring) -> dict[str, str]:
        size, span = self.node.values[item.size], None
        if isinstance(size, TimeSpan):
            span = size
        else:
            size = int(size) + item.extra
        if item.of == "time":
            entering, kind = "t", "integer"
        else:
            entering = format_argument(self.node, item.port, self.sources[item.port])
            kind = find_port_kind(self.node, item.port)
        key = (entering, kind, size, span is not None, self.active)
        if key not in self.segment.rings:
            ref = str(self.node.inputs[item.port])
            share = self.segment.layout.allocate(self.node.id, (ref, item.of, size))
            write = write_ring if span is None else write_time_window
            window = write(self.segment, share, f"{self.node.id}.{item.name}", kind, entering)
            self.segment.rings[key] = share, window
            self.load += window.load
            self.store += window.store
            self.lines += window.lines
            self.undo += window.undo
        share, window = self.segment.rings[key]
        share.users += [] if self.node.id in share.users else [self.node.id]
        if window.left:
            self.windows[item.name] = window
        parts = {f"{item.name}_{part}": text for part, text in window.names.items()}
        return parts | {item.name: window.names["array"]}

    def _bind_span(self, item: Span) -> dict[str, str]:
        kinds = {part: find_state_kind(self.node, kind) for part, kind in item.fields.items()}
        prefix = self.segment.make_name(f"{self.node.id}_{item.name}", SPAN_PARTS)
        index = self.segment.layout.add_span(self.share, f"{self.node.id}.{item.name}", kinds)
        load, store = write_span(self.segment, index, prefix)
        self.load += load
        self.store += store
        self.targets += [f"{prefix}_dropped", f"{prefix}_count"]
        self.after.append(f"{prefix}_first += {prefix}_dropped")
        if is_user_defined(find_step(self.node)):
            self.load.append(f"{prefix}_before = {prefix}_count")
            for part in ("dropped", "count"):
                self.checks += self.check_kind(f"{prefix}_{part}", "integer", f"{item.name}_{part}")
            self.checks += format_list_check(prefix, item.name)
        known = {f"{item.name}_count": f"{prefix}_count"}
        for place, (part, kind) in enumerate(kinds.items()):
            known[f"{item.name}_{part}"] = POOL[kind != "number"]
            behind = f" + {place} * {prefix}_capacity" if place else ""
            known[f"{item.name}_{part}_first"] = f"{prefix}_first{behind}"
        return known

    def _write_leaving(self, known: dict[str, str], wanted: list[str]) -> list[str]:
        """Write lines that call `leave` for what leaves windows of time, but for the first."""
        leaving = {f"{name}_leaving": w for name, w in self.windows.items()}
        leaving = {name: w for name, w in leaving.items() if name in wanted}
        leave = find_leave(self.node)
        if not leaving or leave is None:
            return []
        self.functions.append((name_function(self.node, leave, "_leave"), leave))
        place = self.segment.make_name(f"{self.node.id}_leaver")
        given = {name: w.leaver.format(place=place) for name, w in leaving.items()}
        arguments = []
        for name in inspect.signature(leave).parameters:
            text = given.get(name) or known.get(name)
            arguments.append(text or self.segment.add_parameter(self.node, name))
        call = f"{self.functions[-1][0]}({', '.join(arguments)})"
        left = next(iter(leaving.values())).left
        return [
            f"for {place} in range(1, {left}):",
            f"    {', '.join(self.scalars.values())} = {call}",
            *indent_lines(self._check_scalars(), 1),
        ]
