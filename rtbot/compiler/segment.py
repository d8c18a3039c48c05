"""The loop over rows under construction: its names, its columns, its counters.

A segment is a set of operators whose rows share their times. Its function reads the rows of a
stream run by run (a run is the rows of one key), loads the key's state once, calls the steps in
order, and stores each group of outputs that appear together. `rtbot.compiler.lower` lowers each
node to a fragment, `Segment.add` assembles them, and `rtbot.compiler.loop_code` makes a function.
"""

from __future__ import annotations

import itertools
import keyword
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbot.compiler.calls import KeyColumn
from rtbot.compiler.generated_text import Conditions, format_load, guard_lines
from rtbot.compiler.lower import lower_node
from rtbot.compiler.step_signature import encode_list, encode_parameter
from rtbot.compiler.variables import LoopVariable, guard_variable
from rtbot.graph.model import Ref
from rtbot.operator import Type

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rtbot.compiler.layout import StateAllocation, StateLayout
    from rtbot.compiler.window_code import WindowText
    from rtbot.graph.model import Node

RESERVED = {
    *("F", "I", "H", "W", "run", "runs", "row", "slot", "slots", "starts", "time", "t", "base"),
    *("first", "last", "room", "code", "fine", "math", "m", "full", "progress", "own_time"),
    *("from_run", "from_row", "out_base", "out_starts", "out_time", "until"),
    *("timers", "timer_time", "timer_slot", "watched", "frontier", "pinned"),
    *("spans", "spans_F", "spans_I", "spans_base"),
    *("abs", "float", "int", "min", "max", "range", "len", "bool"),
}
OWN_NAME = re.compile(
    r"(m|on_|starts_|time_)[0-9]+|o[0-9]+_[0-9]+(_valid)?|space[0-9]+_.*|.*_column"
)
"""Names of `rtbot.compiler.loop_code` that have a number or the name of a variable in them."""

NamedFunctions = list[tuple[str, Callable[..., Any]]]


class Segment:
    """One loop, written as nodes are added in dependency order.

    `head` and `tail` are around the loop over runs, `load` and `store` around that over the rows of
    a run, whose text is `body`. `arrays` are the arrays of state that the function takes, `carried`
    the places of what it gets from the part before, by name.
    """

    def __init__(self, name: str, layout: StateLayout, taken: set[str]) -> None:
        self.name = name
        self.layout = layout
        self.taken = taken
        self.variables: dict[Ref, LoopVariable] = {}
        self.columns: list[tuple[str, str | None]] = []
        self.implied: dict[str, Conditions] = {}
        self.functions: NamedFunctions = []
        self.head: list[str] = []
        self.load: list[str] = []
        self.body: list[str] = []
        self.store: list[str] = []
        self.tail: list[str] = []
        self.rings: dict[Any, tuple[StateAllocation, WindowText]] = {}
        self.arrays = ["F", "I"]
        self.spans: list[int] = []
        self.keys: list[KeyColumn] = []
        self.carried: dict[str, int] = {}
        self.losses: dict[tuple[str, str], int] = {}
        self.rows: int | None = None
        self.counted: dict[Conditions, int] = {}
        self.loaded: dict[int, str] = {}

    def add(self, node: Node) -> None:
        """Compute a node whose inputs are all variables of this loop."""
        sources = {port: self.variables[ref] for port, ref in node.reads.items()}
        active = self.join_conditions(v.conditions for v in sources.values())
        self.count(active)
        fragment = lower_node(self, node, sources, active)
        for name in dict.fromkeys(fragment.flags.values()):
            self.body.append(f"{name} = False")
            self.implied[name] = active | self.find_implied(active)
        self.load += fragment.load
        self.body += guard_lines(active, fragment.body)
        self.store += fragment.store
        self.functions += fragment.functions
        for port, (value, valid) in fragment.outputs.items():
            flag = fragment.flags.get(port)
            emitting = active if flag is None else frozenset({flag})
            variable = LoopVariable(value, valid, node.types[port], emitting)
            self.variables[Ref(node.id, port)] = variable

    # ---- names, conditions and the header

    def make_name(self, name: str, parts: Iterable[str] = ()) -> str:
        """Return a name for generated text that nothing else has, nor any of `NAME_PART`."""
        name = re.sub(r"\W", "_", name)
        if keyword.iskeyword(name) or name in RESERVED or OWN_NAME.fullmatch(name) or not name:
            name += "_"
        for number in itertools.count(1):
            candidate = name if number == 1 else f"{name}_{number}"
            wanted = {candidate, *(f"{candidate}_{part}" for part in parts)}
            if not wanted & self.taken:
                break
        self.taken |= wanted
        return candidate

    def join_conditions(self, many: Iterable[Conditions]) -> Conditions:
        """Return the conjunction, without flags that others imply."""
        flags = frozenset().union(*many)
        return flags - self.find_implied(flags)

    def find_implied(self, flags: Conditions) -> Conditions:
        """Return the flags that hold wherever one of these does."""
        return frozenset().union(*(self.implied.get(f, frozenset()) for f in flags))

    def count(self, conditions: Conditions) -> int:
        """Return the index of the header word that counts the rows in which the conditions hold."""
        if conditions not in self.counted:
            index = self.counted[conditions] = self.layout.add_counter()
            if not conditions:
                self.rows = index
            else:
                self.body += guard_lines(conditions, [f"{self.add_counter(index)} += 1"])
        return self.counted[conditions]

    def add_counter(self, index: int) -> str:
        """Add a local that is added to the header word at the end."""
        name = self.make_name(f"count_{index}")
        self.head.append(f"{name} = 0")
        self.tail.append(f"I[{index}] += {name}")
        return name

    def count_loss(self, node: Node, what: str) -> str:
        """Return a local that counts messages lost at port `what` of the node ("": to `domain`)."""
        index = self.layout.add_counter()
        self.losses[node.id, what] = index
        return self.add_counter(index)

    def add_local(self, kind: str, index: int, name: str) -> str:
        """Return a local that holds a header word."""
        if index not in self.loaded:
            self.loaded[index] = self.make_name(name)
            self.head.append(f"{self.loaded[index]} = {format_load(kind, str(index))}")
        return self.loaded[index]

    def add_parameter(self, node: Node, name: str) -> str:
        """Return the text of a parameter, of an element of a list parameter, or of a `$p`."""
        kind, value = encode_parameter(node, name)
        stored = "number" if kind == "number" else "integer"
        local = self.add_local(stored, self.layout.put(stored, value), f"{node.id}_{name}")
        return f"({local} != 0)" if kind == "boolean" else local

    def locate_key(self, slot: str) -> list[str]:
        """Return lines that find the state of a key."""
        lines = [f"base = H + {slot} * W"]
        if self.spans:
            width = self.add_local("integer", self.layout.spans_width, "spans_width")
            lines.append(f"spans_base = {slot} * {width}")
        return lines

    def add_list(self, node: Node, name: str) -> dict[str, str]:
        """Return the texts of a list parameter by the names under which a step takes it."""
        words, count = encode_list(node, name)
        first = self.add_local("integer", self.layout.put_list(words), f"{node.id}_{name}_first")
        size = self.add_local(
            "integer", self.layout.put("integer", count), f"{node.id}_{name}_count"
        )
        return {name: "F", f"{name}_first": first, f"{name}_count": size}

    # ---- what comes in and what goes on

    def add_column(self, ref: Ref, kind: Type, name: str) -> None:
        """Return a column of the stream that the loop reads."""
        text = self.make_name(name)
        valid = self.make_name(f"{name}_valid") if kind.nullable else None
        self.columns.append((text, valid))
        self.variables[ref] = LoopVariable(text, valid, kind, frozenset())

    def add_silent(self, ref: Ref, kind: Type, name: str) -> None:
        """Return a column of the stream that has a message where the column behind it is true."""
        self.add_column(ref, kind, name)
        flag = self.make_name(f"{name}_on")
        self.columns.append((flag, None))
        self.variables[ref] = replace(self.variables[ref], conditions=frozenset({flag}))

    def add_keys(self, node: Node, space: int, ports: Sequence[str]) -> dict[str, str]:
        """Return columns of the places that a space has for the values of these ports."""
        found = {}
        for port in ports:
            source = self.variables[node.inputs[port]]
            name = self.make_name(f"{node.id}_{port}_place")
            carried = source.text in self.carried
            names = [*self.carried] if carried else [text for text, _ in self.columns]
            column = names.index(source.text)
            flags = [self.carried[flag] for flag in sorted(source.conditions)]
            self.keys.append(KeyColumn(space, column, carried, flags, create=port == ports[0]))
            self.columns.append((name, None))
            found[port] = name
        return found

    def carry_out(self, refs: list[Ref]) -> list[LoopVariable]:
        """Pass columns row by row to the next part of a long segment: values, then flags."""
        flags: dict[str, None] = {}
        columns = []
        for ref in refs:
            known = self.variables[ref]
            flags.update(dict.fromkeys(sorted(known.conditions)))
            columns.append(guard_variable(known))
        return columns + [LoopVariable(f, None, Type("boolean"), frozenset()) for f in flags]

    def carry_in(self, previous: Segment, refs: list[Ref]) -> None:
        """Receive what `carry_out` of the part before passes on."""
        flags: dict[str, str] = {}
        for ref in refs:
            self.add_column(ref, previous.variables[ref].type, f"{ref.id}_{ref.port}")
        for ref in refs:
            for flag in sorted(previous.variables[ref].conditions):
                if flag not in flags:
                    flags[flag] = self.make_name(flag)
                    self.columns.append((flags[flag], None))
        for ref in refs:
            known = self.variables[ref]
            conditions = frozenset(flags[f] for f in previous.variables[ref].conditions)
            self.variables[ref] = LoopVariable(known.text, known.valid, known.type, conditions)
        named = [self.variables[ref].text for ref in refs] + list(flags.values())
        self.carried = {name: place for place, name in enumerate(named)}
        for old, new in flags.items():
            implied = previous.implied.get(old, frozenset())
            self.implied[new] = frozenset(flags[f] for f in implied if f in flags)
