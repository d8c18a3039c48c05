"""The example of an operator's declaration as a graph file, with its rows as a test in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.number_text import format_plain
from rtbot.core.vector_names import VECTOR
from rtbot.explain.explain_graph import explain
from rtbot.operator.relation import CHANGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.operator import Operator

ID = "result"


class ExampleGraph:
    """A graph of one operator."""

    def __init__(self, operator: type[Operator]) -> None:
        assert operator.example is not None, f"{operator.__name__} has no example"
        self.operator = operator
        self.example = operator.example
        self.inputs = dict(zip(self.example.inputs, _names(self.example.inputs), strict=True))
        several = len(self.example.outputs) > 1
        given = dict(self.example.parameters)
        for name, parameter in operator.parameters.items():
            if name in given:
                given[name] = parameter.normalise(given[name])
        named = operator.outputs_for(given, 1) if operator.returns else {}
        aliases = {port: named[port].alias if named else port for port in self.example.outputs}
        self.outputs = {p: f"{ID}.{name}" if several else ID for p, name in aliases.items()}

    def text(self) -> str:
        """Return the file."""
        rows = self.example.inputs
        lines = ["inputs:"]
        lines += [f"  {name}: {self._kind(port)}" for port, name in self.inputs.items()]
        lines += ["operators:", f"  {ID}:", f"    type: {self.operator.__name__}"]
        for key, control in (("in", False), ("control", True)):
            wired = [name for port, name in self.inputs.items() if (port[0] == "c") is control]
            if wired:
                lines.append(f"    {key}: {wired[0] if len(wired) == 1 else format_plain(wired)}")
        lines += [
            f"    {name}: {format_plain(value)}" for name, value in self.example.parameters.items()
        ]
        lines.append(f"outputs: {format_plain(list(self.outputs.values()))}")
        lines += ["tests:", "  - name: example", "    given:"]
        lines += [f"      {name}: {_rows(rows[port])}" for port, name in self.inputs.items()]
        lines.append("    expect:")
        lines += [
            f"      {ref}: {_rows(self.example.outputs[port])}"
            for port, ref in self.outputs.items()
        ]
        return "\n".join(lines) + "\n"

    def describe(self) -> dict[str, Any]:
        """Return the file, its rows, and what the file's graph needs of warm-up and state."""
        import rtbot

        text = self.text()
        found = explain(rtbot.load(text))["operators"][ID]
        return {
            "warm_up": found["warm_up"]["text"],
            "state": found["state"]["text"],
            "progress": found["progress"]["text"],
            "example": {"graph": text, "rows": self.table()},
        }

    def table(self) -> list[list[str]]:
        """Return the rows, one line per time, under a header; empty where there is no message.

        With changes there is one line for each of them, and for each message.
        """
        outs = {port.kind for port in self.operator.outputs.values()}
        if self.example.schemas or CHANGES in outs:
            return self._list_changes()
        columns = {name: _number(self.example.inputs[p]) for p, name in self.inputs.items()}
        columns |= {ref: _number(self.example.outputs[p]) for p, ref in self.outputs.items()}
        places = sorted({place for cells in columns.values() for place in cells})
        body = [
            [str(at[0]), *(format_plain(c[at]) if at in c else "" for c in columns.values())]
            for at in places
        ]
        return [["t", *columns], *body]

    def _list_changes(self) -> list[list[str]]:
        """Return the rows of all inputs, then those of the outputs."""
        streams = [(name, self.example.inputs[port]) for port, name in self.inputs.items()]
        streams += [(ref, self.example.outputs[port]) for port, ref in self.outputs.items()]
        lines = []
        for name, rows in streams:
            for time, *weight, row in rows:
                lines.append([name, str(time), *map(str, weight or [""]), format_plain(row)])
        return [["", "t", "weight", "row or value"], *lines]

    def _kind(self, port: str) -> str:
        """Return the type of an input; any type is a number, or what the values are."""
        kind = self.operator.port(port).kind
        if kind == CHANGES:
            return f"{{changes: {format_plain(self.example.schemas[port])}}}"
        rows = self.example.inputs[port]
        values = [value for _, value in rows if value is not None]
        if kind in ("T", "N"):
            truths = values and all(isinstance(v, bool) for v in values)
            kind = "boolean" if truths else "number"
        if kind == VECTOR:
            kind = f"{VECTOR}[{len(values[0])}]"
        return kind + "?" * (len(values) < len(rows))


def _names(ports: Mapping[str, Any]) -> list[str]:
    """Return names for the inputs: x, or a, b, ...; q for a control port."""
    data = [port for port in ports if port[0] != "c"]
    letters = iter("abcdefghijklmnop" if len(data) > 1 else "x")
    asks = iter(["q"] if len(ports) - len(data) == 1 else [f"q{k}" for k in range(1, 27)])
    return [next(letters if port in data else asks) for port in ports]


def _number(rows: Sequence[tuple[Any, ...]]) -> dict[tuple[int, int], Any]:
    """Return the values by time and number among those of this time."""
    found: dict[tuple[int, int], Any] = {}
    for time, value in rows:
        found[time, sum(known == time for known, _ in found)] = value
    return found


def _rows(rows: Sequence[tuple[Any, ...]]) -> str:
    return format_plain([list(row) for row in rows])
