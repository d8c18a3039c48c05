"""The text of the loop of an operator that gives its messages times of their own.

It reads rows, and writes as many as the operator likes, until `room` is used up. An operator with a
`close` is called at the time that its state `due` says, too: before a row at that time or later,
and behind the rows of a key as soon as the frontier of its source has reached that time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.compiler.calls import Signature
from rtbot.compiler.generated_text import format_function, indent_lines
from rtbot.compiler.loop_code import SETUP, flatten_names, name_parameters
from rtbot.compiler.step_calls import StepCall
from rtbot.compiler.timer_layout import ENDING, FLOOR, SHIFT, SIZE, STEPS, TIMER_ARRAYS
from rtbot.compiler.variables import LoopVariable, canonicalise_value
from rtbot.core.vector_names import split_element
from rtbot.operator import NEVER

if TYPE_CHECKING:
    from rtbot.compiler.segment import Segment
    from rtbot.graph.model import Node


class RetimeWriter:
    """Writes the loop of one node, whose inputs are columns of the segment."""

    def __init__(self, segment: Segment, node: Node) -> None:
        self.segment = segment
        self.node = node
        self.call = StepCall(
            segment, node, {port: segment.variables[ref] for port, ref in node.inputs.items()}
        )
        segment.functions += self.call.functions
        if self.call.due:
            segment.functions += [(function.__name__, function) for function in STEPS]
        self.results: list[str] = []
        self.checks = self.call.check_kind("own_time", "integer", "time")
        self.outputs = self._name_outputs()
        self.lost = segment.count_loss(node, "")

    def write_function(self) -> tuple[Signature, str]:
        """Write the function.

        It returns the run and the row to go on with, and how many rows it wrote; it is called again
        with these until it has seen all runs. `progress` receives, per key, the time up to which
        nothing more can come, where the operator keeps that itself. The run is -1 if `close` left a
        `due` that is not later: behind it are that and the time of `close`.
        """
        lines = [
            *[*SETUP, *self.segment.head, "m = 0", "row = from_row", "run = from_run"],
            "full = False",
            "while run < runs and not full:",
            "    last = starts[run + 1]",
            *indent_lines(self._write_run(), 1),
            "    if not full:",
            *indent_lines(self._write_timer(), 2),
            "        run += 1",
            "        out_starts[run] = out_base + m",
            *self.segment.tail,
            "return run, row, m",
        ]
        function = self._make_signature()
        return function, format_function(function, lines)

    def _make_signature(self) -> Signature:
        columns = flatten_names(self.segment.columns)
        reads = ["starts", "time", *name_parameters(columns)]
        writes = ["out_starts", "out_time", *name_parameters(self.outputs)]
        parameters = ["runs", "slots", *reads, *self.segment.arrays]
        parameters += ["progress", "from_run", "from_row", "room", "out_base", *writes]
        parameters += TIMER_ARRAYS if self.call.due else ()
        return Signature(self.segment.name, parameters, reads, writes)

    def _name_outputs(self) -> dict[str, str]:
        """Return names for the node's outputs, and the text of each as it is stored.

        Beside them `results` are the locals that take what a step returns for them. The flags of
        silent ones are behind all.
        """
        node, make_name, keeps = self.node, self.segment.make_name, bool(self.call.kept)
        declared = node.declared_outputs
        chosen = declared if node.operator.returns else {}
        returned = {name: make_name(f"{node.id}_{name}") for name in node.operator.returns}
        self.results += returned.values()
        outputs, flags = {}, []
        for port in node.outputs:
            type_ = node.types[port]
            name = make_name(f"{node.id}_{port}")
            valid = make_name(f"{name}_valid") if type_.nullable else None
            value = returned[chosen[port].source] if chosen else name
            outputs[name] = canonicalise_value(LoopVariable(value, valid, type_, frozenset()))
            if valid:
                outputs[valid] = valid
            if not chosen:
                self.results += [name, valid] if valid else [name]
                self.checks += [] if keeps else self.call.check_kind(name, type_.kind, port)
            if declared[split_element(port)[0]].silent:
                flags.append(make_name(f"{name}_on"))
                self.results.append(flags[-1])
        return outputs | {flag: flag for flag in flags}

    def _write_run(self) -> list[str]:
        """Write what is done for a key: its rows, then what is due behind them."""
        call = self.call
        lines = [
            *[*self.segment.locate_key("slots[run]"), *call.load],
            "while row < last:",
            *indent_lines(self._write_row(), 1),
        ]
        if call.due:
            frontier = "frontier_at(frontier[slots[run]], pinned[slots[run]], "
            frontier += f"timers[{FLOOR}], timers[{SHIFT}], timers[{ENDING}] != 0)"
            lines += ["if not full:", f"    until = {frontier}"]
            lines += indent_lines([*self._write_close("until"), f"full = {self._is_due()}"], 1)
        kept = [text for name, text in call.scalars.items() if name == "frontier"]
        lines += [*call.store, *(f"progress[slots[run]] = {frontier}" for frontier in kept)]
        return lines if call.due else ["if row < last:", *indent_lines(lines, 1)]

    def _write_timer(self) -> list[str]:
        """Wake the key when the frontier reaches the time for which it still waits."""
        if not self.call.due:
            return []
        heap = "timer_time, timer_slot, watched, timers"
        wake = f"watch({heap}, {SIZE}, slots[run], {self.call.due})"
        return [f"if {self.call.due} != {NEVER}:", f"    {wake}"]

    def _is_due(self, until: str = "until") -> str:
        return f"is_due({self.call.due}, {until})"

    def _write_close(self, until: str) -> list[str]:
        """Write the call of `close`, as long as something is due and there is room.

        One that leaves a `due` that is not later would be called for ever: that ends the function.
        """
        due = self.call.due
        before = self.segment.make_name("before")
        return [
            f"while {self._is_due(until)} and m < room:",
            f"    {before} = {due}",
            *indent_lines(self._write_emission(self.call.closing), 1),
            f"    if not moves_on({due}, {before}):",
            f"        return -1, {due}, {before}",
        ]

    def _write_row(self) -> list[str]:
        """Write one row: the step again and again while it has more to emit and there is room.

        Where there is no room the row is started again later, so it is taken out of the rings.
        """
        columns = flatten_names(self.segment.columns)
        lines = ["if m == room:", "    full = True", "    break", "t = time[row]"]
        if self.call.due:
            lines += [*self._write_close("t"), f"if {self._is_due('t')}:"]
            lines += ["    full = True", "    break"]
        lines += [*(f"{column} = {column}_column[row]" for column in columns), *self.call.lines]
        if self.node.operator.gathers:
            return [*lines, *self._write_gathering(), "row += 1"]
        return [
            *[*lines, "code = 3", "while code == 3 and m < room:"],
            *indent_lines(self._write_emission(self.call.text), 1),
            "if code == 3:",
            *indent_lines(self.call.undo, 1),
            "    full = True",
            "    break",
            "row += 1",
        ]

    def _write_gathering(self) -> list[str]:
        """Write the call of a step that emits nothing."""
        results = ", ".join(["code", *self.call.targets])
        call = [f"{results} = {self.call.text}", *self.call.after]
        return [*call, "if code == 2:", f"    {self.lost} += 1"]

    def _write_emission(self, text: str) -> list[str]:
        """Write a call, and what it emits or loses."""
        call = self.call
        given = call.results or self.results
        results = ", ".join(["code", "own_time", *given, *call.targets])
        keep = [f"{name}_column[m] = {stored}" for name, stored in self.outputs.items()]
        if call.kept:
            pairs = zip(self.outputs, call.kept, strict=True)
            keep = [*(f"{name} = {place}" for name, place in pairs), *keep]
        return [
            f"{results} = {text}",
            *self.checks,
            *call.keep,
            *self.call.after,
            "if code == 1 or code == 3:",
            *indent_lines(["out_time[m] = own_time", *keep, "m += 1"], 1),
            "elif code == 2:",
            f"    {self.lost} += 1",
        ]
