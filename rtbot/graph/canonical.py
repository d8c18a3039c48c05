"""A graph as the text of a graph file in its canonical form.

Top-level keys are in a fixed order, an operator begins with its type and its wiring, all else is in
the order of the file; parameters stay `$name`, and values given for them have become their
defaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.source_span import SourceSpan
from rtbot.graph.check import KEYS
from rtbot.graph.document import Document, DocumentNode, MappingNode, ScalarNode, SequenceNode
from rtbot.graph.document.writer import write_yaml

if TYPE_CHECKING:
    from collections import abc

    from rtbot.graph.model import CheckedGraph

_OPENED = {"params": 1, "inputs": 1, "operators": 1, "tests": 2}
"""Sections whose entries are one below the other, and how deep."""

_NOWHERE = SourceSpan()


def format_canonical(
    document: Document, checked: CheckedGraph, params: abc.Mapping[str, Any]
) -> str:
    """Return the text of a graph that was loaded from a document with these parameters."""
    sections = dict(document.root.items)
    sections["version"] = ScalarNode(1, _NOWHERE)
    if checked.name != "graph":
        sections.setdefault("name", ScalarNode(checked.name, _NOWHERE, quoted=True))
    if isinstance(sections.get("params"), MappingNode):
        values = {
            name: _restore_duration(given, checked.params[name]) for name, given in params.items()
        }
        sections["params"] = _set_defaults(sections["params"], values)
    if isinstance(sections.get("operators"), MappingNode):
        sections["operators"] = _change_entries(sections["operators"], _order_operator)
    kept = {key: sections[key] for key in KEYS if not _is_empty(sections.get(key))}
    return write_yaml(MappingNode(kept, _NOWHERE), _OPENED)


def _is_empty(node: DocumentNode | None) -> bool:
    return node is None or (node.missing if isinstance(node, ScalarNode) else not node.items)


def _change_entries(
    node: DocumentNode, change: abc.Callable[[str, DocumentNode], DocumentNode]
) -> MappingNode:
    assert isinstance(node, MappingNode)
    return MappingNode({key: change(key, item) for key, item in node.items.items()}, node.mark)


def _order_operator(_name: str, node: DocumentNode) -> DocumentNode:
    """Make an operator begin with its type and wiring, and end with its description."""
    if not isinstance(node, MappingNode):
        return node
    first, last = ("type", "in", "control"), ("doc", "meta")
    middle = [key for key in node.items if key not in first + last]
    order = [key for key in (*first, *middle, *last) if key in node.items]
    return MappingNode({key: node.items[key] for key in order}, node.mark)


def _restore_duration(given: Any, value: Any) -> DocumentNode:
    """Return what was given for a parameter: as it was written, if it was a duration."""
    if isinstance(value, tuple):
        return SequenceNode([_restore_duration(None, item) for item in value], _NOWHERE)
    if isinstance(value, str):
        return ScalarNode(
            value.replace("$", "$$", 1) if value[:1] == "$" else value, _NOWHERE, True
        )
    as_written = isinstance(given, str) and isinstance(value, int) and not isinstance(value, bool)
    return ScalarNode(given if as_written else value, _NOWHERE)


def _set_defaults(node: DocumentNode, values: abc.Mapping[str, DocumentNode]) -> MappingNode:
    """Return the `params` section with these defaults."""

    def valued(name: str, declared: DocumentNode) -> DocumentNode:
        if name not in values:
            return declared
        if not isinstance(declared, MappingNode):
            return values[name]
        keys = declared.items if "default" in declared.items else _after_type(declared)
        items = {k: values[name] if k == "default" else declared.items[k] for k in keys}
        return MappingNode(items, declared.mark)

    return _change_entries(node, valued)


def _after_type(declared: MappingNode) -> list[str]:
    keys = list(declared.items)
    place = keys.index("type") + 1
    return [*keys[:place], "default", *keys[place:]]
