"""A graph as boxes with ports and wires between them: the content of a picture, without places."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rtbot.core.times import INT64_MIN
from rtbot.core.vector_names import RECORD
from rtbot.graph.row_parameters import list_fields
from rtbot.graph.whole_vectors import format_ref, join_vectors, take_whole
from rtbot.operator import Parameter, Type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rtbot.core.source_span import SourceSpan
    from rtbot.graph.model import CheckedGraph, Node, Ref, View

PARAMETERS_SHOWN, QUERY_WIDTH = 5, 36
NUMBER = Type("number")


@dataclass(frozen=True, slots=True)
class BoxPort:
    """A port as it is shown: `label` may differ from its name; `looked_up` is may or last."""

    name: str
    label: str
    type: str
    looked_up: bool = False

    @property
    def kind(self) -> str:
        """The kind of the type, without the mark of null and the size of a vector."""
        return self.type.rstrip("?").partition("[")[0]


@dataclass(frozen=True, slots=True)
class Box:
    """An input, operator or output (`form`); `code` is whether `subtitle` is an expression."""

    form: str
    title: str
    subtitle: str = ""
    code: bool = False
    details: tuple[str, ...] = ()
    ins: tuple[BoxPort, ...] = ()
    outs: tuple[BoxPort, ...] = ()
    tip: str = ""

    @property
    def is_terminal(self) -> bool:
        """Whether it is one stream: an input or output of the graph that is no record."""
        return self.form != "operator" and not self.subtitle


@dataclass(frozen=True, slots=True)
class Wire:
    """From port `outs[start_port]` of box `start` to port `ins[end_port]` of box `end`."""

    start: int
    start_port: int
    end: int
    end_port: int
    looked_up: bool = False


@dataclass
class Diagram:
    """A graph as boxes and wires: inputs, then operators as they depend, then outputs."""

    name: str
    description: str = ""
    boxes: list[Box] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)


def build_diagram(checked: CheckedGraph) -> Diagram:
    """Make the boxes and wires of a checked graph."""
    checked = join_vectors(checked)
    made = Diagram(checked.name, checked.description)
    places: dict[str, int] = {}
    types: dict[str, dict[str, Type]] = {
        name: {"o1": one.type, **one.ports} for name, one in checked.inputs.items()
    }
    types |= {name: dict(node.types) for name, node in checked.nodes.items()}
    for name, one in checked.inputs.items():
        places[name] = len(made.boxes)
        kind = RECORD if one.type.kind == RECORD else ""
        ports = one.ports if kind else {"o1": one.type}
        outs = tuple(
            BoxPort(port, port if kind else "", _name_type(type_)) for port, type_ in ports.items()
        )
        head = "\n".join([f"input {name}", *_list_rows(one.type)])
        made.boxes.append(Box("input", name, kind, outs=outs, tip=_format_tip(head, one)))
    for name, node in checked.nodes.items():
        if node.view is not None and name != node.view.id:
            continue
        places[name] = len(made.boxes)
        if node.view is not None:
            made.boxes.append(_build_query_box(node.view, node, types))
            made.wires += _connect_box(made, places, node.view.tables.values())
            continue
        made.boxes.append(_build_box(node, checked))
        made.wires += _connect_box(made, places, node.inputs.values())
    for name, ref in checked.outputs.items():
        carried = types[ref.id].get(ref.port) or NUMBER
        port = BoxPort("", "", _name_type(carried))
        tip = "\n".join([f"output {name}", str(ref), *_list_rows(carried)])
        made.boxes.append(Box("output", name, ins=(port,), tip=tip))
        made.wires += _connect_box(made, places, [ref])
    return made


def _name_type(carried: Type) -> str:
    """Return what a wire carries in a word or two; rows have too many fields to be named."""
    return str(carried) if carried.schema is None else carried.kind


def _list_rows(carried: Type) -> list[str]:
    return [] if carried.schema is None else [str(carried.schema)]


def _connect_box(made: Diagram, places: dict[str, int], refs: Iterable[Ref]) -> Iterable[Wire]:
    """Return the wires into the last box."""
    box = made.boxes[-1]
    for place, (ref, port) in enumerate(zip(refs, box.ins, strict=True)):
        start = places[ref.id]
        names = [out.name for out in made.boxes[start].outs]
        port_name = take_whole(ref).port
        yield Wire(start, names.index(port_name), len(made.boxes) - 1, place, port.looked_up)


def _build_box(node: Node, checked: CheckedGraph) -> Box:
    cls, ports = node.operator, list(node.inputs)
    roles = node.roles
    ins = tuple(
        BoxPort(
            port,
            _choose_label(node, port, checked),
            _name_type(node.types[port]),
            roles[port] != "must",
        )
        for port in ports
    )
    chosen = node.declared_outputs
    outs = tuple(
        BoxPort(port, _find_alias(chosen, port), _name_type(node.types[port]))
        for port in node.outputs
    )
    shown = [
        line for name in _list_given(node) for line in _list_lines(node, name, checked.io.unit)
    ]
    more = len(shown) - PARAMETERS_SHOWN
    if more > 1:
        shown[PARAMETERS_SHOWN:] = [f"and {more} more"]
    subtitle = node.text or cls.__name__
    tip = _format_tip(f"{node.id}: {subtitle}", node, cls.__doc__ if not node.text else "")
    return Box(
        "operator", node.id, subtitle, bool(node.text), tuple(shown), ins=ins, outs=outs, tip=tip
    )


def _build_query_box(view: View, last: Node, types: Mapping[str, Mapping[str, Type]]) -> Box:
    """Return the one box of a query, whose ports are its tables."""
    ins = tuple(
        BoxPort(name, name, _name_type(types[ref.id][ref.port]))
        for name, ref in view.tables.items()
    )
    outs = tuple(
        BoxPort(port, "" if port == "o1" else port, _name_type(last.types[port]))
        for port in last.outputs
    )
    written = [" ".join(line.split()) for line in view.query.splitlines()]
    lines = [part for line in written for part in textwrap.wrap(line, QUERY_WIDTH)]
    if len(lines) > PARAMETERS_SHOWN:
        lines[PARAMETERS_SHOWN - 1 :] = ["..."]
    tip = _format_tip(f"{view.id}: {view.language}", view)
    name = view.language
    return Box("operator", view.id, name, details=tuple(lines), ins=ins, outs=outs, tip=tip)


def _list_given(node: Node) -> list[str]:
    """Return the parameters that have a value; the least integer means that there is none."""
    declared = node.operator.parameters
    values = {name: value for name, value in node.values.items() if value not in (None, INT64_MIN)}
    return [
        n for n, value in values.items() if n not in declared or not declared[n].is_absent(value)
    ]


def _choose_label(node: Node, port: str, checked: CheckedGraph) -> str:
    """Return a port's label: in an expression what feeds it, else its alias or its name."""
    if not node.text:
        declared = node.operator.port(port)
        return declared.alias if declared.alias and not declared.variadic else port
    return format_ref(checked, node.inputs[port])


def _find_alias(outputs: Any, port: str) -> str:
    declared = outputs.get(port)
    return declared.alias if declared and declared.alias and not declared.variadic else port


def _list_lines(node: Node, name: str, unit: str | None) -> list[str]:
    """Return a parameter as lines: one, or one for every field that it computes."""
    fields = list_fields(node, name)
    if fields is None:
        return [f"{name} = {_format_parameter(node, name, unit)}"]
    pairs = list(fields)
    kept = [field for field, text in pairs if field == text]
    lines = [f"{field}: {text}" for field, text in pairs if field != text]
    return [", ".join(kept), *lines] if kept else lines


def _format_parameter(node: Node, name: str, unit: str | None) -> str:
    declared = node.operator.parameters.get(name) or Parameter(name=name)
    return declared.format(node.values[name], unit)


def _format_tip(head: str, item: Any, doc: str | None = "") -> str:
    """Return what is shown when the pointer rests on a box: its name, its meaning, its place."""
    meaning = item.doc or (doc or "").strip().partition("\n")[0]
    return "\n".join(filter(None, (head, meaning, *_format_place(item.mark))))


def _format_place(mark: SourceSpan) -> Iterable[str]:
    return [f"{PurePath(mark.file).name}, line {mark.line}"] if mark.line else []
