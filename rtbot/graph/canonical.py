"""A graph as the text of a graph file in its canonical form.

Top-level keys stand in the order of the contract, an operator begins with its type and its wiring,
all else stands in the order of the file; parameters stay `$name`, and what was given for them has
become their default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.source_span import Mark
from rtbot.graph.check import KEYS
from rtbot.graph.document import Document, Mapping, Node, Scalar, Sequence
from rtbot.graph.document.writer import write

if TYPE_CHECKING:
    from collections import abc

    from rtbot.graph.model import Checked

_OPENED = {"params": 1, "inputs": 1, "operators": 1, "tests": 2}
"""Sections whose entries stand one below the other, and how deep."""

_NOWHERE = Mark()


def canonical_text(document: Document, checked: Checked, params: abc.Mapping[str, Any]) -> str:
    """Return the text of a graph that was loaded from a document with these parameters."""
    sections = dict(document.root.items)
    sections["version"] = Scalar(1, _NOWHERE)
    if checked.name != "graph":
        sections.setdefault("name", Scalar(checked.name, _NOWHERE, quoted=True))
    if isinstance(sections.get("params"), Mapping):
        values = {name: _given(given, checked.params[name]) for name, given in params.items()}
        sections["params"] = _with_values(sections["params"], values)
    if isinstance(sections.get("operators"), Mapping):
        sections["operators"] = _changed(sections["operators"], _begun)
    kept = {key: sections[key] for key in KEYS if not _is_empty(sections.get(key))}
    return write(Mapping(kept, _NOWHERE), _OPENED)


def _is_empty(node: Node | None) -> bool:
    return node is None or (node.missing if isinstance(node, Scalar) else not node.items)


def _changed(node: Node, change: abc.Callable[[str, Node], Node]) -> Mapping:
    assert isinstance(node, Mapping)
    return Mapping({key: change(key, item) for key, item in node.items.items()}, node.mark)


def _begun(_name: str, node: Node) -> Node:
    """Let an operator begin with its type and wiring, and end with what is said about it."""
    if not isinstance(node, Mapping):
        return node
    first, last = ("type", "in", "control"), ("doc", "meta")
    middle = [key for key in node.items if key not in first + last]
    order = [key for key in (*first, *middle, *last) if key in node.items]
    return Mapping({key: node.items[key] for key in order}, node.mark)


def _given(given: Any, value: Any) -> Node:
    """Return what was given for a parameter: as it was written, if it was a duration."""
    if isinstance(value, tuple):
        return Sequence([Scalar(item, _NOWHERE) for item in value], _NOWHERE)
    if isinstance(value, str):
        return Scalar(value.replace("$", "$$", 1) if value[:1] == "$" else value, _NOWHERE, True)
    as_written = isinstance(given, str) and isinstance(value, int) and not isinstance(value, bool)
    return Scalar(given if as_written else value, _NOWHERE)


def _with_values(node: Node, values: abc.Mapping[str, Node]) -> Mapping:
    """Return the `params` section with these defaults."""

    def valued(name: str, declared: Node) -> Node:
        if name not in values:
            return declared
        if not isinstance(declared, Mapping):
            return values[name]
        keys = declared.items if "default" in declared.items else _after_type(declared)
        items = {k: values[name] if k == "default" else declared.items[k] for k in keys}
        return Mapping(items, declared.mark)

    return _changed(node, valued)


def _after_type(declared: Mapping) -> list[str]:
    keys = list(declared.items)
    place = keys.index("type") + 1
    return [*keys[:place], "default", *keys[place:]]
