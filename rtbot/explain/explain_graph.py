"""A graph explained: types, warm-up, state and progress of every operator, as data and as text."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rtbot.compiler.plan import Plan
from rtbot.core.number_text import format_plain
from rtbot.explain import state as states
from rtbot.explain.explain_changes import (
    describe_input_state,
    describe_node_progress,
    describe_node_state,
    describe_rows,
    list_parameters,
)
from rtbot.explain.frontier_rules import FrontierRules
from rtbot.explain.phrases import format_hanging, join_words
from rtbot.explain.warm_up import WarmUpTable
from rtbot.graph.model import Ref, list_input_types
from rtbot.graph.whole_vectors import format_ref, join_vectors, take_whole
from rtbot.operator.relation import Relation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rtbot.api import Graph
    from rtbot.graph.model import CheckedGraph, Input, Io, Node

MARGIN = 14
LABEL = 2


def explain(graph: Graph) -> dict[str, Any]:
    """Return everything that is known of a graph before it runs, as data of the types of JSON."""
    checked = join_vectors(graph.checked)
    parts, facts = _explain_series(graph), dict[str, Any]()
    for part in parts:
        facts |= part.operators
    readers = _find_readers(checked)
    return {
        "name": checked.name,
        "description": checked.description,
        "unit": checked.io.unit,
        "key": list(checked.io.key),
        "parameters": {name: format_plain(value) for name, value in checked.params.items()},
        "inputs": {
            name: {
                "type": describe_rows(item.type),
                "state": describe_input_state(item, (item.io or checked.io).excess),
                "doc": item.doc,
                "read_by": _join_readers(
                    readers[take_whole(Ref(name, port))] for port in item.ports
                ),
                "io": _describe_own(item, checked.io),
            }
            for name, item in checked.inputs.items()
        },
        "operators": {
            name: _explain_node(checked, node, readers) | (facts.get(name) or _explain_rows(node))
            for name, node in checked.nodes.items()
        },
        "outputs": {name: format_ref(checked, ref) for name, ref in checked.outputs.items()},
        "state": _sum_state([part.state for part in parts]),
    }


@dataclass(frozen=True)
class SeriesPart:
    """What is known of a part of series: of its operators by name, and of its state."""

    operators: dict[str, Any]
    state: dict[str, Any]


def _explain_series(graph: Graph) -> list[SeriesPart]:
    """Explain the parts of a graph that are series: all of it, if it has no tables."""
    plan: Any = graph.plan()
    plans = getattr(plan, "plans", [plan])
    return [_explain_plan(one) for one in plans if isinstance(one, Plan)]


def _explain_plan(plan: Plan) -> SeriesPart:
    warm_ups, progresses = WarmUpTable(plan.checked), FrontierRules(plan)
    state = states.measure_state(plan)
    operators = {
        name: {
            "warm_up": warm_ups.of[name],
            "state": {
                "bytes": state["operators"][name],
                "text": states.format_state(state, name),
            },
            "progress": progresses.of(node),
        }
        for name, node in plan.checked.nodes.items()
    }
    return SeriesPart(operators, state)


def _explain_rows(node: Node) -> dict[str, Any]:
    """Return what is known of an operator of tables that change."""
    return {
        "warm_up": {"text": ""},
        "state": {"bytes": None, "text": describe_node_state(node)},
        "progress": {"text": describe_node_progress(node)},
    }


def _sum_state(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the state of all parts of series together."""
    if not found:
        kept: dict[str, Any] = {name: [] for name in ("windows", "lists", "pairings", "spaces")}
        return kept | {"padding": 0, "total": 0, "text": "rows of tables, as many as there are"}
    operators = {name: size for one in found for name, size in one["operators"].items()}
    names = [name for name in found[0] if name != "operators"]
    whole = {name: found[0][name] for name in names}
    for other in found[1:]:
        whole = {name: part + other[name] for name, part in whole.items()}
    return whole | {"text": states.format_total(whole | {"operators": operators})}


def _describe_own(item: Input, io: Io) -> dict[str, str]:
    """Return what the `io` of an input has that is not that of the graph, as text."""
    columns = {"columns": format_plain(dict(item.columns))} if item.columns else {}
    if item.io is None:
        return columns
    own, whole = _list_settings(item.io), _list_settings(io)
    return columns | {key: format_plain(one) for key, one in own.items() if one != whole[key]}


def _list_settings(io: Io) -> dict[str, Any]:
    """Return all keys of an `io` by their names in a graph file."""
    found = asdict(io)
    found |= found.pop("reading")
    return found | {f"csv.{key}": value for key, value in found.pop("csv").items()}


def _find_readers(checked: CheckedGraph) -> dict[Ref, list[str]]:
    """Return who reads every ref: operators, and outputs of the graph."""
    refs = map(take_whole, list_input_types(checked.inputs.values()))
    readers: dict[Ref, list[str]] = {ref: [] for ref in refs}
    for node in checked.nodes.values():
        readers |= {Ref(node.id, port): [] for port in node.outputs}
    for node in checked.nodes.values():
        for ref in dict.fromkeys(map(take_whole, node.inputs.values())):
            readers[ref].append(node.id)
    for name, ref in checked.outputs.items():
        readers[take_whole(ref)].append(f"output {name}")
    return readers


def _join_readers(found: Iterable[list[str]]) -> list[str]:
    """Return who reads any field of an input, each once."""
    return list(dict.fromkeys(name for names in found for name in names))


def _explain_node(
    checked: CheckedGraph, node: Node, readers: dict[Ref, list[str]]
) -> dict[str, Any]:
    return {
        "type": None if node.text else node.operator.__name__,
        "expression": node.text or None,
        "query": None if node.view is None else node.view.query,
        "view": None if node.view is None else node.view.id,
        "doc": node.doc,
        "parameters": _format_parameters(checked, node),
        "inputs": {
            port: {"type": describe_rows(node.types[port]), "from": format_ref(checked, ref)}
            for port, ref in node.inputs.items()
        },
        "outputs": {
            port: {"type": describe_rows(node.types[port]), "read_by": readers[Ref(node.id, port)]}
            for port in node.outputs
        },
    }


def _format_parameters(checked: CheckedGraph, node: Node) -> dict[str, str]:
    if issubclass(node.operator, Relation):
        return list_parameters(node)
    return {
        name: declared.format(node.values[name], checked.io.unit)
        for name, declared in node.operator.parameters.items()
        if node.values.get(name) != declared.default
    }


def format_graph(
    found: dict[str, Any], width: int, bold: Callable[[str], str] = str
) -> Iterator[str]:
    """Yield the lines of an explanation, at most `width` long; `bold` highlights ids."""
    yield bold(found["name"])
    yield from _format_facts(_list_head(found), width)
    for name, item in found["inputs"].items():
        yield ""
        yield bold(name)
        readers = join_words(item["read_by"]) if item["read_by"] else "nothing"
        text = f"input: {item['type']} to {readers}"
        own = ", ".join(f"{key} {value}" for key, value in item["io"].items())
        facts = [("", item["doc"]), ("gives", text), ("state", item["state"]), ("own io", own)]
        yield from _format_facts(facts, width)
    queries: set[str] = set()
    for name, item in found["operators"].items():
        yield ""
        if item["view"] is not None and item["view"] not in queries:
            queries.add(item["view"])
            what = "these rules" if item["type"] == "Datalog" else "the operators of this query"
            yield bold(f"{item['view']}: {what}")
            yield from _wrap_query(item["query"], width)
            yield ""
        yield bold(name)
        yield from _format_facts(_list_rows(item), width)
    yield ""
    outputs = [name if name == of else f"{name} ({of})" for name, of in found["outputs"].items()]
    yield from format_hanging("outputs", join_words(outputs), width, MARGIN)
    yield from format_hanging("state", found["state"]["text"], width, MARGIN)


def _wrap_query(query: str, width: int) -> Iterator[str]:
    """Yield the lines of a query; what is beyond the width goes on in the next line."""
    for line in query.splitlines():
        text = line.lstrip()
        margin = " " * (2 + LABEL + len(line) - len(text))
        more = f"{margin}  "
        yield from textwrap.wrap(text, width, initial_indent=margin, subsequent_indent=more)


def _format_facts(rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    for label, text in rows:
        if text:
            yield from format_hanging(" " * LABEL + label, text, width, MARGIN)


def _list_head(found: dict[str, Any]) -> list[tuple[str, str]]:
    given = ", ".join(f"{name} = {value}" for name, value in found["parameters"].items())
    return [
        ("", found["description"]),
        ("parameters", given),
        ("key", ", ".join(found["key"])),
    ]


def _list_rows(item: dict[str, Any]) -> list[tuple[str, str]]:
    values = ", ".join(f"{name} {value}" for name, value in item["parameters"].items())
    kind = item["expression"] or ", ".join(part for part in (item["type"], values) if part)
    reads = [f"{port}: {of['type']} from {of['from']}" for port, of in item["inputs"].items()]
    gives = [_format_feed(port, of) for port, of in item["outputs"].items()]
    return [
        ("is", kind),
        ("", item["doc"]),
        ("reads", "; ".join(reads)),
        ("gives", "; ".join(gives)),
        ("warm-up", item["warm_up"]["text"]),
        ("state", item["state"]["text"]),
        ("progress", item["progress"]["text"]),
    ]


def _format_feed(port: str, of: dict[str, Any]) -> str:
    readers = join_words(of["read_by"]) if of["read_by"] else "nothing"
    return f"{port}: {of['type']} to {readers}"
