"""Text of the loops over rows: one function per segment, and per operator with times of its own.

A segment is a set of operators whose rows share their times. Its function reads the rows of a stream
run by run (a run is the rows of one key), loads the key's state once, calls the steps in order, and
stores each group of outputs that appear together.
"""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.formulas import Code, Writer
from rtbot.operator import Cells, Ring, Scalar, Scratch, Type

if TYPE_CHECKING:
    from rtbot.graph import Node, Ref
    from rtbot.layout import Layout

ZERO = {"number": "0.0", "integer": "0", "boolean": "False", "text": "0"}
RESERVED = {
    *("F", "I", "H", "W", "run", "runs", "row", "slot", "slots", "starts", "time", "t", "base"),
    *("first", "last", "room", "code", "fine", "math"),
    *("abs", "float", "int", "min", "max", "range", "len", "bool"),
}

Conditions = frozenset[str]
Functions = list[tuple[str, Callable[..., Any]]]


@dataclass(frozen=True)
class Variable:
    """A value in the row loop: the texts of it, its type, and the flags under which it exists."""

    text: str
    valid: str | None
    type: Type
    conditions: Conditions


@dataclass
class Group:
    """Outputs that appear together; `conditions` empty means in every row."""

    conditions: Conditions
    columns: list[Variable] = field(default_factory=list)


def snake(name: str) -> str:
    """MovingAverage to moving_average."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def step_name(node: Node) -> str:
    """The name of the node's step in a generated module."""
    function = step_of(node)
    return snake(node.operator.__name__) if function.__name__ == "step" else function.__name__


def step_of(node: Node) -> Callable[..., Any]:
    """The step of the node for the kinds it carries."""
    return node.operator.step_for(node.values, {p: node.types[p] for p in node.inputs})


def seen_kind(node: Node, port: str) -> str:
    """The kind in which the step or formula sees a port; an integer may be widened to it."""
    declared = node.operator.port(port).kind
    if declared == "N" and not node.formulas and not node.operator.integer_step:
        return "number"
    return declared if declared not in ("T", "N") else node.types[port].kind


class Segment:
    """Writes one loop. Nodes are added in dependency order, then `text` is asked for."""

    def __init__(self, name: str, layout: Layout, taken: set[str]) -> None:
        self.name = name
        self.layout = layout
        self.taken = taken
        self.variables: dict[Ref, Variable] = {}
        self.columns: list[tuple[str, str | None]] = []
        self.implied: dict[str, Conditions] = {}
        self.functions: Functions = []
        self.head: list[str] = []
        self.load: list[str] = []
        self.body: list[str] = []
        self.store: list[str] = []
        self.tail: list[str] = []
        self.rings: dict[tuple[str, str, int, Conditions], dict[str, str]] = {}
        self.losses: dict[tuple[str, str], int] = {}
        self.rows: int | None = None
        self._outputs: dict[str, tuple[str, str | None]] = {}
        self._active: Conditions = frozenset()
        self.counted: dict[Conditions, int] = {}
        self.loaded: dict[int, str] = {}

    # ---- names, conditions and the header

    def unique(self, name: str) -> str:
        """A name for generated text that nothing else has."""
        name = re.sub(r"\W", "_", name)
        if keyword.iskeyword(name) or name in RESERVED or not name:
            name += "_"
        candidate, number = name, 2
        while candidate in self.taken:
            candidate, number = f"{name}_{number}", number + 1
        self.taken.add(candidate)
        return candidate

    def together(self, many: Iterable[Conditions]) -> Conditions:
        """The conjunction, without flags that others imply."""
        flags = frozenset().union(*many)
        implied = frozenset().union(*(self.implied.get(f, frozenset()) for f in flags))
        return flags - implied

    def count(self, conditions: Conditions) -> int:
        """Index of the header word that counts the rows in which the conditions hold."""
        if conditions not in self.counted:
            index = self.counted[conditions] = self.layout.counter()
            if not conditions:
                self.rows = index
            else:
                name = self.counter(index)
                self.body += [f"if {test(conditions)}:", f"    {name} += 1"]
        return self.counted[conditions]

    def counter(self, index: int) -> str:
        """A local that is added to the header word at the end."""
        name = self.unique(f"count_{index}")
        self.head.append(f"{name} = 0")
        self.tail.append(f"I[{index}] += {name}")
        return name

    def local(self, kind: str, index: int, name: str) -> str:
        """A local that holds a header word."""
        if index not in self.loaded:
            self.loaded[index] = self.unique(name)
            self.head.append(f"{self.loaded[index]} = {word(kind, str(index))}")
        return self.loaded[index]

    # ---- what comes in

    def column(self, ref: Ref, kind: Type, name: str) -> None:
        """A column of the stream that the loop reads."""
        text = self.unique(name)
        valid = self.unique(f"{name}_valid") if kind.nullable else None
        self.columns.append((text, valid))
        self.variables[ref] = Variable(text, valid, kind, frozenset())

    def carry_out(self, refs: list[Ref]) -> list[Variable]:
        """Columns handed row by row to the next part of a long segment: values, then flags."""
        flags: dict[str, None] = {}
        columns = []
        for ref in refs:
            known = self.variables[ref]
            flags.update(dict.fromkeys(sorted(known.conditions)))
            columns.append(guarded(known))
        return columns + [Variable(f, None, Type("boolean"), frozenset()) for f in flags]

    def carry_in(self, previous: Segment, refs: list[Ref]) -> None:
        """The other end of `carry_out`."""
        flags: dict[str, str] = {}
        for ref in refs:
            self.column(ref, previous.variables[ref].type, f"{ref.id}_{ref.port}")
        for ref in refs:
            for flag in sorted(previous.variables[ref].conditions):
                if flag not in flags:
                    flags[flag] = self.unique(flag)
                    self.columns.append((flags[flag], None))
        for ref in refs:
            known = self.variables[ref]
            conditions = frozenset(flags[f] for f in previous.variables[ref].conditions)
            self.variables[ref] = Variable(known.text, known.valid, known.type, conditions)
        for old, new in flags.items():
            implied = previous.implied.get(old, frozenset())
            self.implied[new] = frozenset(flags[f] for f in implied if f in flags)

    # ---- nodes

    def add(self, node: Node) -> None:
        """Compute a node whose inputs are all variables of this loop."""
        sources = {port: self.variables[ref] for port, ref in node.inputs.items()}
        active = self._active = self.together(v.conditions for v in sources.values())
        self.count(active)
        lines, flags = (self._formula if node.formulas else self._step)(node, sources)
        outputs = active
        if flags is not None:
            self.body.append(f"{flags} = False")
            self.implied[flags] = active | frozenset().union(
                *(self.implied.get(f, frozenset()) for f in active)
            )
            outputs = frozenset({flags})
        self.body += indent(lines, active)
        from rtbot.graph import Ref as Reference

        for port, texts in self._outputs.items():
            ref = Reference(node.id, port)
            self.variables[ref] = Variable(*texts, node.types[port], outputs)

    def _name(self, node: Node, port: str) -> str:
        return node.id if len(node.outputs) == 1 else f"{node.id}_{port}"

    def _argument(self, node: Node, port: str, source: Variable) -> str:
        if source.type.kind == "integer" and seen_kind(node, port) == "number":
            return f"float({source.text})"
        return source.text

    def _parameter(self, node: Node, name: str) -> tuple[str, str]:
        """(kind, local) of a parameter, an element of a list parameter or a `$p`."""
        kind, value = parameter_value(node, name)
        index = self.layout.put("number" if kind == "number" else "integer", value)
        local = self.local("number" if kind == "number" else "integer", index, f"{node.id}_{name}")
        return kind, f"({local} != 0)" if kind == "boolean" else local

    def _formula(self, node: Node, sources: dict[str, Variable]) -> tuple[list[str], str | None]:
        names: dict[str, Code] = {}
        for port, source in sources.items():
            names[port] = Code(self._argument(node, port, source), source.valid)
        for name in used_values(node):
            names[name] = Code(self._parameter(node, name)[1])
        writer = Writer(names, self.unique(f"{node.id}_part"))
        keep = node.formulas.get("keep")
        fault = node.formulas.get("fault")
        kept = [c for c in (writer.write(keep),) if c] if keep is not None else []
        faulty = [writer.write(fault)] if fault is not None else []
        codes = {p: writer.write(node.formulas[p]) for p in node.outputs}
        self._outputs = {}
        passing = " and ".join(f"({t})" for c in kept for t in (c.valid, c.value) if t)
        lines = writer.lines
        for port, code in codes.items():
            name = self.unique(self._name(node, port))
            valid = None
            lines.append(f"{name} = {code.value}")
            if node.types[port].nullable:
                valid = self.unique(f"{name}_valid")
                lines.append(f"{valid} = {code.valid or 'True'}")
            self._outputs[port] = (name, valid)
        self.functions += [(n, f) for n, f in writer.functions.items()]
        fine = [f"({c.fine}{_or_null(c)})" for c in codes.values() if c.fine is not None]
        fine += [f"not {_true(c)}" for c in faulty]
        fine += [f"({c.fine})" for c in kept if c.fine is not None]
        lines += self._losses(node, writer)
        return lines, self._emission(node, lines, passing, " and ".join(fine))

    def _losses(self, node: Node, writer: Writer) -> list[str]:
        lines: list[str] = []
        for name, tree in node.formulas.items():
            if not name.startswith("lost "):
                continue
            before = len(writer.lines)
            code = writer.write(tree)
            assert len(writer.lines) == before, "a loss condition has no checked arithmetic"
            index = self.layout.counter()
            self.losses[node.id, name[5:]] = index
            lines += [f"if {_true(code)}:", f"    {self.counter(index)} += 1"]
        return lines

    def _emission(
        self, node: Node, lines: list[str], passing: str, fine: str
    ) -> str | None:
        if not passing and not fine:
            return None
        flag = self.unique(f"{node.id}_on")
        if fine:
            index = self.layout.counter()
            self.losses[node.id, ""] = index
            wanted = f"{passing} and " if passing else ""
            lines += [f"if {wanted}not ({fine}):", f"    {self.counter(index)} += 1"]
        lines.append(f"{flag} = {' and '.join(t for t in (passing, fine) if t)}")
        return flag

    def _step(self, node: Node, sources: dict[str, Variable]) -> tuple[list[str], str | None]:
        operator = node.operator
        lines: list[str] = []
        call, targets = self.call(node, sources, lines)
        outputs: list[str] = []
        self._outputs = {}
        for port in node.outputs:
            name = self.unique(self._name(node, port))
            valid = self.unique(f"{name}_valid") if node.types[port].nullable else None
            outputs += [name, valid] if valid else [name]
            self._outputs[port] = (name, valid)
        if not (operator.silent or operator.faults):
            lines.append(f"{', '.join(outputs + targets)} = {call}")
            return lines, None
        flag = self.unique(f"{node.id}_on")
        lines.append(f"{', '.join(['code', *outputs, *targets])} = {call}")
        lines.append(f"{flag} = code == 1")
        if operator.faults:
            index = self.layout.counter()
            self.losses[node.id, ""] = index
            lines += ["if code == 2:", f"    {self.counter(index)} += 1"]
        return lines, flag

    def call(
        self, node: Node, sources: dict[str, Variable], lines: list[str]
    ) -> tuple[str, list[str]]:
        """Text of a call of the node's step and the names of the state it gives back."""
        function = step_of(node)
        name = step_name(node)
        self.functions.append((name, function))
        known: dict[str, str] = {"time": "t"}
        for port, source in sources.items():
            known[port] = self._argument(node, port, source)
            known[f"{port}_valid"] = source.valid or "True"
        for name_, declared in node.operator.inputs.items():
            if declared.variadic:
                ports = [p for p in sources if node.operator.port(p) is declared]
                known[name_] = f"({', '.join(known[p] for p in ports)},)"
                known[f"{name_}_valid"] = f"({', '.join(known[f'{p}_valid'] for p in ports)},)"
        targets = []
        wanted = list(inspect.signature(function).parameters)
        for state_name, item in node.operator.state.items():
            if isinstance(item, Scalar):
                known[state_name] = self._scalar(node, item)
                targets.append(known[state_name])
            elif isinstance(item, Ring) and any(w.startswith(state_name) for w in wanted):
                known |= self._ring(node, item, sources[item.port], lines)
            elif isinstance(item, Cells):
                known |= self._cells(node, item)
            elif isinstance(item, Scratch):
                place = self.layout.scratch(item.size)
                known |= {state_name: "I", f"{state_name}_first": str(place)}
        for argument in wanted:
            if argument not in known:
                known[argument] = self._parameter(node, argument)[1]
        return f"{name}({', '.join(known[a] for a in wanted)})", targets

    def _scalar(self, node: Node, item: Scalar) -> str:
        kind = item.kind if item.kind not in ("T", "N") else generic_kind(node)
        text = self.unique(f"{node.id}_{item.name}")
        offset = self.layout.scalar(kind, item.start)
        place = f"base + {offset}"
        self.load.append(f"{text} = {word(kind, place)}")
        self.store.append(assign(kind, place, text))
        return text

    def _cells(self, node: Node, item: Cells) -> dict[str, str]:
        kind = item.kind if item.kind not in ("T", "N") else generic_kind(node)
        place = self.layout.array(kind, item.places(node.values), item.start)
        offset = self.local("integer", place, f"{node.id}_{item.name}_offset")
        return {item.name: "F" if kind == "number" else "I", f"{item.name}_first": f"base + {offset}"}

    def _ring(
        self, node: Node, item: Ring, source: Variable, lines: list[str]
    ) -> dict[str, str]:
        size = int(node.values[item.size]) + item.extra
        entering = "t" if item.of == "time" else self._argument(node, item.port, source)
        kind = "integer" if item.of == "time" else seen_kind(node, item.port)
        key = (entering, kind, size, self._active)
        if key not in self.rings:
            self.rings[key] = self._new_ring(f"{entering}_{size}", kind, size, entering)
            lines += self.rings[key].pop("update").split("\n")
        ring = self.rings[key]
        names = {f"{item.name}_{part}": text for part, text in ring.items() if part != "array"}
        return names | {item.name: ring["array"]}

    def _new_ring(self, name: str, kind: str, size: int, entering: str) -> dict[str, str]:
        prefix = self.unique("window_" + re.sub(r"\W+", "_", name.replace("float(", "")))
        index = self.layout.put("integer", size)
        limit = self.local("integer", index, f"{prefix}_size")
        offset = self.local("integer", self.layout.array(kind, size), f"{prefix}_offset")
        array = "F" if kind == "number" else "I"
        for part in ("place", "count"):
            place = f"base + {self.layout.scalar('integer', 0)}"
            self.load.append(f"{prefix}_{part} = {word('integer', place)}")
            self.store.append(assign("integer", place, f"{prefix}_{part}"))
        at = f"base + {offset} + {prefix}_position"
        update = [
            f"{prefix}_position = {prefix}_place",
            f"{prefix}_evicts = {prefix}_count == {limit}",
            f"{prefix}_leaving = {word(kind, at)}",
            f"if not {prefix}_evicts:",
            f"    {prefix}_count += 1",
            assign(kind, at, entering),
            f"{prefix}_place += 1",
            f"if {prefix}_place == {limit}:",
            f"    {prefix}_place = 0",
        ]
        parts = {p: f"{prefix}_{p}" for p in ("position", "evicts", "leaving", "count")}
        return parts | {
            "array": array,
            "first": f"base + {offset}",
            "entering": entering,
            "update": "\n".join(update),
        }


def guarded(variable: Variable) -> Variable:
    """The variable where it exists, and a harmless value elsewhere."""
    if not variable.conditions:
        return variable
    condition = test(variable.conditions)
    text = f"({variable.text} if {condition} else {ZERO[variable.type.kind]})"
    valid = f"({variable.valid} if {condition} else False)" if variable.valid else None
    return Variable(text, valid, variable.type, frozenset())


def generic_kind(node: Node) -> str:
    """The kind that "T" or "N" stands for at this node."""
    return next(
        seen_kind(node, p) for p in node.inputs if node.operator.port(p).kind in ("T", "N")
    )


def parameter_value(node: Node, name: str) -> tuple[str, float | int]:
    """(kind, word) of a parameter as a step sees it."""
    from rtbot.operator import Boolean, Choice, Number, Numbers

    declared = node.operator.parameters.get(name)
    if declared is None and name not in node.values:
        stem, _, position = name.rpartition("_")
        assert isinstance(node.operator.parameters.get(stem), Numbers), name
        return "number", float(node.values[stem][int(position) - 1])
    value = node.values[name]
    if isinstance(declared, Choice):
        return "integer", declared.options.index(value)
    if isinstance(declared, Number):
        return "number", float(value) if value is not None else float("nan")
    if isinstance(declared, Boolean) or isinstance(value, bool):
        return "boolean", int(value)
    if isinstance(value, float):
        return "number", value
    return "integer", -1 if value is None else int(value)


def used_values(node: Node) -> list[str]:
    """Names of the parameters that the node's formulas read, in order."""
    names: dict[str, None] = {}
    trees = list(node.formulas.values())
    while trees:
        tree = trees.pop()
        if tree.op == "value":
            names[tree.value] = None
        trees += tree.args
    return sorted(names)


def word(kind: str, place: str) -> str:
    """Text that reads a word of the state."""
    if kind == "number":
        return f"F[{place}]"
    return f"(I[{place}] != 0)" if kind == "boolean" else f"I[{place}]"


def assign(kind: str, place: str, text: str) -> str:
    """Text that writes a word of the state; booleans are stored as 0 and 1."""
    if kind == "number":
        return f"F[{place}] = {text}"
    return f"I[{place}] = 1 if {text} else 0" if kind == "boolean" else f"I[{place}] = {text}"


def test(conditions: Conditions) -> str:
    """Text of a conjunction."""
    return " and ".join(sorted(conditions)) or "True"


def indent(lines: list[str], conditions: Conditions) -> list[str]:
    """The lines, under an `if` where there are conditions."""
    if not conditions:
        return lines
    return [f"if {test(conditions)}:", *(f"    {line}" for line in lines)]


def _true(code: Code) -> str:
    return f"(({code.valid}) and {code.value})" if code.valid else f"({code.value})"


def _or_null(code: Code) -> str:
    return f" or not ({code.valid})" if code.valid else ""
