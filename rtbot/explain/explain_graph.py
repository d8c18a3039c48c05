"""A graph explained: types, warm-up, state and progress of every operator, as data and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.explain import state as states
from rtbot.explain.frontier_rules import Progresses
from rtbot.explain.phrases import hung, listed, named, span, told
from rtbot.explain.warm_up import WarmUps
from rtbot.graph.model import Ref
from rtbot.operator import Duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rtbot.api import Graph
    from rtbot.graph.model import Checked, Node
    from rtbot.operator import Parameter

MARGIN = 14
LABEL = 2


def explain(graph: Graph) -> dict[str, Any]:
    """Return everything that is known of a graph before it runs; made of what JSON has."""
    checked, plan = graph.checked, graph.plan()
    warm_ups, progresses = WarmUps(checked), Progresses(plan)
    found = states.state(plan)
    readers = _readers(checked)
    return {
        "name": checked.name,
        "description": checked.description,
        "unit": checked.io.unit,
        "key": list(checked.io.key),
        "parameters": {name: told(value) for name, value in checked.params.items()},
        "inputs": {
            name: {"type": str(item.type), "doc": item.doc, "read_by": readers[Ref(name)]}
            for name, item in checked.inputs.items()
        },
        "operators": {
            name: _operator(checked, node, readers)
            | {
                "warm_up": warm_ups.of[name],
                "state": {
                    "bytes": found["operators"][name],
                    "text": states.of_operator(found, name),
                },
                "progress": progresses.of(node),
            }
            for name, node in checked.nodes.items()
        },
        "outputs": {name: named(checked, ref) for name, ref in checked.outputs.items()},
        "state": {name: part for name, part in found.items() if name != "operators"}
        | {"text": states.total_text(found)},
    }


def _readers(checked: Checked) -> dict[Ref, list[str]]:
    """Who reads every ref: operators, and outputs of the graph."""
    readers: dict[Ref, list[str]] = {Ref(name): [] for name in checked.inputs}
    for node in checked.nodes.values():
        readers |= {Ref(node.id, port): [] for port in node.outputs}
    for node in checked.nodes.values():
        for ref in dict.fromkeys(node.inputs.values()):
            readers[ref].append(node.id)
    for name, ref in checked.outputs.items():
        readers[ref].append(f"output {name}")
    return readers


def _operator(checked: Checked, node: Node, readers: dict[Ref, list[str]]) -> dict[str, Any]:
    return {
        "type": None if node.text else node.operator.__name__,
        "expression": node.text or None,
        "doc": node.doc,
        "parameters": {
            name: _value(declared, node.values[name], checked.io.unit)
            for name, declared in node.operator.parameters.items()
            if node.values.get(name) != declared.default
        },
        "inputs": {
            port: {"type": str(node.types[port]), "from": named(checked, ref)}
            for port, ref in node.inputs.items()
        },
        "outputs": {
            port: {"type": str(node.types[port]), "read_by": readers[Ref(node.id, port)]}
            for port in node.outputs
        },
    }


def _value(declared: Parameter, value: Any, unit: str | None) -> str:
    return span(value, unit) if isinstance(declared, Duration) else told(value)


def graph_lines(
    found: dict[str, Any], width: int, bold: Callable[[str], str] = str
) -> Iterator[str]:
    """Yield the lines of an explanation, at most `width` long; `bold` makes ids stand out."""
    yield bold(found["name"])
    yield from _facts(_head(found), width)
    for name, item in found["inputs"].items():
        yield ""
        yield bold(name)
        readers = listed(item["read_by"]) if item["read_by"] else "nothing"
        text = f"input: {item['type']} to {readers}"
        yield from _facts([("", item["doc"]), ("gives", text)], width)
    for name, item in found["operators"].items():
        yield ""
        yield bold(name)
        yield from _facts(_rows(item), width)
    yield ""
    outputs = [name if name == of else f"{name} ({of})" for name, of in found["outputs"].items()]
    yield from hung("outputs", listed(outputs), width, MARGIN)
    yield from hung("state", found["state"]["text"], width, MARGIN)


def _facts(rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    for label, text in rows:
        if text:
            yield from hung(" " * LABEL + label, text, width, MARGIN)


def _head(found: dict[str, Any]) -> list[tuple[str, str]]:
    given = ", ".join(f"{name} = {value}" for name, value in found["parameters"].items())
    return [
        ("", found["description"]),
        ("parameters", given),
        ("key", ", ".join(found["key"])),
    ]


def _rows(item: dict[str, Any]) -> list[tuple[str, str]]:
    values = ", ".join(f"{name} {value}" for name, value in item["parameters"].items())
    kind = item["expression"] or ", ".join(part for part in (item["type"], values) if part)
    reads = [f"{port}: {of['type']} from {of['from']}" for port, of in item["inputs"].items()]
    gives = [_given(port, of) for port, of in item["outputs"].items()]
    return [
        ("is", kind),
        ("", item["doc"]),
        ("reads", "; ".join(reads)),
        ("gives", "; ".join(gives)),
        ("warm-up", item["warm_up"]["text"]),
        ("state", item["state"]["text"]),
        ("progress", item["progress"]["text"]),
    ]


def _given(port: str, of: dict[str, Any]) -> str:
    readers = listed(of["read_by"]) if of["read_by"] else "nothing"
    return f"{port}: {of['type']} to {readers}"
