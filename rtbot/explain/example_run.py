"""The example of an operator run message by message, and drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.number_text import format_plain
from rtbot.explain.examples import ExampleGraph
from rtbot.tables.change_values import list_changes
from rtbot.tables.record_column import list_cells
from rtbot.viz.marbles import Lane, Marble, draw_marbles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.operator import Operator
    from rtbot.operator.schema import Schema

MINUS = "\N{MINUS SIGN}"
DIGITS = 4
"""Digits of numbers in pictures; tables have all."""


def draw_example(operator: type[Operator]) -> str:
    """Return the run of an operator's example as an SVG document: streams on lines of time.

    Where a message comes out later than a row of its own time has arrived, a line goes from there
    to the message.
    """
    example = ExampleGraph(operator)
    settings = ", ".join(
        f"{name}: {format_plain(value)}" for name, value in example.example.parameters.items()
    )
    return draw_marbles(operator.__name__, settings, run_example(example))


def run_example(example: ExampleGraph) -> list[Lane]:
    """Push the rows of an example one by one; return what went in, and what came out when."""
    run = _ExampleRun(example)
    run.push_rows()
    return run.list_lanes()


class _ExampleRun:
    """A session of the example's graph, and the marbles of every stream."""

    def __init__(self, example: ExampleGraph) -> None:
        import rtbot
        from rtbot.graph.output_types import list_output_types, list_public_names

        self.example = example
        graph = rtbot.load(example.text())
        self.session: Any = graph.start(compiled=False)
        types = list_output_types(graph.checked)
        self.schemas: dict[str, Schema | None] = {
            name: types[name].schema if name in types else None
            for name in list_public_names(graph.checked)
        }
        self.shown = dict(zip(self.schemas, example.outputs.values(), strict=True))
        self.marbles: dict[str, list[Marble]] = {
            name: [] for name in (*example.inputs.values(), *self.schemas)
        }

    def push_rows(self) -> None:
        """Push the rows of all inputs in order of time, then finish."""
        rows = [
            (row[0], name, row)
            for port, name in self.example.inputs.items()
            for row in self.example.example.inputs[port]
        ]
        for time, name, row in sorted(rows, key=lambda item: item[0]):
            weight = row[1] if len(row) > 2 else None
            more = {} if weight is None else {"weight": weight}
            self.marbles[name].append(Marble(time, _format_label(row[-1], weight), weight == -1))
            for output, found in self.session.push_one(name, time, row[-1], **more).items():
                for released in found:
                    self._add(output, released, time)
        newest = max((time for time, *_ in rows), default=0)
        for output, table in self.session.finish().items():
            for released in _list_rows(table, self.schemas[output]):
                self._add(output, released, newest)

    def _add(self, output: str, row: Sequence[Any], now: int) -> None:
        """Note a row that was released when a row of time `now` arrived."""
        time, weight = row[0], row[1] if self.schemas[output] is not None else None
        removed = weight is not None and weight < 0
        later = now if weight is None and now != time else None
        self.marbles[output].append(Marble(time, _format_label(row[-1], weight), removed, later))

    def list_lanes(self) -> list[Lane]:
        """Return the inputs, then the outputs."""
        fields = self.example.example.schemas
        lanes = [
            Lane(name, "input", self.marbles[name], ", ".join(fields.get(port, ())))
            for port, name in self.example.inputs.items()
        ]
        for name, schema in self.schemas.items():
            detail = ", ".join(schema.names if schema else ())
            lanes.append(Lane(self.shown[name], "output", self.marbles[name], detail))
        return lanes


def _format_label(value: Any, weight: int | None) -> str:
    """Return a value, or the sign of a change and the fields of its row."""
    if weight is None:
        return _format_value(value)
    sign = {1: "+", -1: MINUS}.get(weight, f"{weight:+d}".replace("-", MINUS))
    return " ".join([sign, *map(_format_value, value.values())])


def _format_value(value: Any) -> str:
    if isinstance(value, float) and value == value and abs(value) < 1e15:
        value = round(value, DIGITS)
    return format_plain(value)


def _list_rows(table: Mapping[str, Any], schema: Schema | None) -> Sequence[Sequence[Any]]:
    """Return the rows of a table of results, in the form of `push_one`."""
    if schema is not None:
        return list_changes(table, schema)
    cells = list_cells(table["value"], table.get("value_valid"))
    return list(zip(table["t"].tolist(), cells, strict=True))
