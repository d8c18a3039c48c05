"""Wiring: which scalar of the file feeds which port, how many ports there are, what a ref names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, Problem, graph_error
from rtbot.graph.check.context import hint_known_names
from rtbot.graph.document import DocumentNode, MappingNode, ScalarNode, SequenceNode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.operator import In, Operator

PORTS_MAX = 1_000
_ID, _PORT, _ELEMENT = "[A-Za-z][A-Za-z0-9_-]*", "[A-Za-z_][A-Za-z0-9_]*", "0|[1-9][0-9]{0,5}"
REFERENCE = re.compile(rf"({_ID})(?:\.({_PORT}))?(?:\.({_ELEMENT}))?", re.ASCII)
"""A stream: `id`, `id.port`, or an element of a vector, `id.0` or `id.port.0`."""
_TABLE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)
_NUMBERED = re.compile(r"([A-Za-z_]+)([1-9][0-9]{0,3})", re.ASCII)


def is_control(name: str) -> bool:
    """Return whether a declared port is a control port, c1 or c1..cN."""
    return re.fullmatch(r"c[0-9]*", name) is not None


def read_feeds(cls: type[Operator], owner: str, node: MappingNode) -> dict[str, ScalarNode]:
    """Return the reference that feeds each port; raise GraphError if the wiring cannot be read."""
    feeds: dict[str, ScalarNode] = {}
    for key, control in (("in", False), ("control", True)):
        item = node.items.get(key)
        if item is None:
            continue
        group = {n: p for n, p in cls.inputs.items() if is_control(n) is control}
        if not group:
            what = "control" if control else "data"
            raise graph_error(
                "RT122", node.keys[key], f"{cls.__name__} has no {what} port", "remove it"
            )
        for port, scalar in _assign_ports(cls, owner, item, group):
            if port in feeds:
                message = f"the port {owner}.{port} is fed twice"
                hint = "Merge joins two streams by time"
                raise GraphError([Problem("RT124", scalar.mark, message, hint, owner, port)])
            feeds[port] = scalar
    return feeds


def _assign_ports(
    cls: type[Operator], owner: str, node: DocumentNode, group: dict[str, In]
) -> list[tuple[str, ScalarNode]]:
    if isinstance(node, MappingNode):
        named = dict(cls.inputs) if not is_control(next(iter(group))) else group
        pairs = [(_find_port(cls, owner, k, node, named), v) for k, v in node.items.items()]
    else:
        items: list[DocumentNode] = node.items if isinstance(node, SequenceNode) else [node]
        pairs = list(zip(_list_positions(cls, items, group), items, strict=True))
    return [(port, _read_reference(item)) for port, item in pairs]


def _list_positions(
    cls: type[Operator], items: list[DocumentNode], group: dict[str, In]
) -> list[str]:
    """Return port names by position: single ports take one each, a variadic one takes the rest."""
    single = [name for name, port in group.items() if not port.variadic]
    rest = max(len(items) - len(single), 0)
    names: list[str] = []
    for name, port in group.items():
        names += [f"{name}{k + 1}" for k in range(rest)] if port.variadic else [name]
    if len(items) > len(names):
        plural = "s" if len(names) > 1 else ""
        kind = "control" if is_control(names[0]) else "data"
        message = f"{cls.__name__} has {len(names)} {kind} port{plural}, {len(items)} are fed"
        extra = items[len(names)]
        raise graph_error("RT122", extra.mark, message, hint_known_names(names))
    return names[: len(items)]


def _find_port(
    cls: type[Operator], owner: str, key: str, node: MappingNode, group: dict[str, In]
) -> str:
    """Return the port that a key of a wiring names, by name or by its declared name."""
    for name, port in group.items():
        if key and not port.variadic and key in (name, port.alias):
            return name
        numbered = _NUMBERED.fullmatch(key)
        own = port.variadic and numbered and numbered.group(1) in (name, port.alias)
        if own and numbered and int(numbered.group(2)) <= PORTS_MAX:
            return f"{name}{numbered.group(2)}"
    shown = [
        f"{n}1, {n}2, ..." if p.variadic else _join_aliases(n, p.alias) for n, p in group.items()
    ]
    message = f"{owner} ({cls.__name__}) has no input port {key!r}"
    raise graph_error("RT122", node.keys[key], message, hint_known_names(shown))


def _join_aliases(name: str, alias: str) -> str:
    return f"{name} ({alias})" if alias else name


def _read_reference(node: DocumentNode) -> ScalarNode:
    if not isinstance(node, ScalarNode):
        message = f"a reference is `id` or `id.port`, this is {node.form}"
        raise graph_error("RT105", node.mark, message, "write it without brackets")
    if node.missing:
        raise graph_error("RT105", node.mark, "a reference is missing", "write the id of a stream")
    return node


def is_named(cls: type[Operator]) -> bool:
    """Return whether a graph gives the inputs of an operator names of its own."""
    return any(port.named for port in cls.inputs.values())


def read_tables(
    cls: type[Operator], owner: str, node: MappingNode
) -> tuple[dict[str, ScalarNode], dict[str, str]]:
    """Return the references that feed a `named` operator by port, and the ports by name.

    What has no name in the file is called like what feeds it.
    """
    item = node.items.get("in")
    if "control" in node.items:
        message = f"{cls.__name__} has no control port"
        raise graph_error("RT122", node.keys["control"], message, "remove it")
    if item is None:
        return {}, {}
    if isinstance(item, MappingNode):
        marks, given = item.keys, {name: _read_reference(one) for name, one in item.items.items()}
    else:
        items: list[DocumentNode] = item.items if isinstance(item, SequenceNode) else [item]
        marks, given = {}, {}
        for one in map(_read_reference, items):
            name = one.text.partition(".")[0]
            if name in given:
                hint = f"give both a name: {{a: {one.text}, b: {one.text}}}"
                raise graph_error("RT124", one.mark, f"{name} is there twice", hint)
            marks[name], given[name] = one.mark, one
    for name, mark in marks.items():
        if isinstance(item, MappingNode) and not _TABLE.fullmatch(name):
            rule = "a letter, then letters, digits, _ and -, 64 at most"
            message = f"{owner}: {name[:80]!r} is not a name of a table"
            raise graph_error("RT107", mark, message, rule)
    ports = {name: f"i{number}" for number, name in enumerate(given, start=1)}
    return {ports[name]: scalar for name, scalar in given.items()}, ports


def names_outputs(cls: type[Operator]) -> bool:
    """Return whether the text of an operator names its outputs."""
    return any(port.named for port in cls.outputs.values())


def map_output_names(cls: type[Operator], arity: int, values: Mapping[str, Any]) -> dict[str, str]:
    """Return what a reference may name of an operator, by name and by declared name: the port."""
    names: dict[str, str] = {}
    for port, out in cls.outputs_for(values, arity).items():
        if out.named:
            continue
        names[port] = port
        if out.alias and not out.variadic:
            names[out.alias] = port
    return names


def list_output_names(names: Mapping[str, str]) -> list[str]:
    """Return a name of every output, the one that it is declared with if it has one."""
    return list({port: name for name, port in names.items()}.values())
