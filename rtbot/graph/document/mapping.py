"""From Python values to nodes: a whole graph as a mapping, or a part of one."""

from __future__ import annotations

import re
from collections import abc
from typing import Any

from rtbot.core.document_nodes import (
    Document,
    DocumentNode,
    MappingNode,
    ScalarNode,
    SequenceNode,
    add_entry,
)
from rtbot.core.errors import Problems, graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.graph.document.parse import DEPTH_MAX, NODES_MAX, SCALAR_MAX

INTEGER_BITS = 1_000
_SURROGATE = re.compile("[\ud800-\udfff]")

Place = abc.Callable[[str], SourceSpan]
"""From the path of a value, such as `tests[0].name`, to its place."""


def from_mapping(source: abc.Mapping[str, Any]) -> Document:
    """Make a document of a mapping; the place of a node is the path that leads to it."""
    document = Document(MappingNode({}, SourceSpan("<mapping>")), "<mapping>")
    root = to_nodes(source, lambda path: SourceSpan(f"<mapping> {path}".strip()), document.problems)
    assert isinstance(root, MappingNode)
    document.root = root
    return document


def to_nodes(value: Any, place: Place, problems: Problems) -> DocumentNode:
    """Make nodes of a str, int, float, bool, None, or of lists and mappings of these.

    A str is a text as one in quotes is: "20" is not an integer where the field does not ask for
    one.
    """
    count = [0]

    def converted(value: Any, path: str, depth: int) -> DocumentNode:
        mark = place(path)
        count[0] += 1
        if depth > DEPTH_MAX or count[0] > NODES_MAX:
            message = f"more than {DEPTH_MAX} levels or {NODES_MAX} values"
            raise graph_error("RT108", mark, message)
        if isinstance(value, abc.Mapping):
            result = MappingNode({}, mark)
            for key, item in value.items():
                inner = f"{path}.{key}".lstrip(".")
                if not isinstance(key, str):
                    hint = "names are texts; of a file, give the path: it is read without surprises"
                    message = f"a key is text, this one is {key!r}"
                    raise graph_error("RT105", place(inner), message, hint)
                name = ScalarNode(unwrap_scalar(key, place(inner)), place(inner))
                add_entry(result, name, converted(item, inner, depth + 1), problems)
            return result
        if isinstance(value, list | tuple):
            items = [converted(v, f"{path}[{k}]", depth + 1) for k, v in enumerate(value)]
            return SequenceNode(items, mark)
        scalar = unwrap_scalar(value, mark)
        return ScalarNode(scalar, mark, quoted=isinstance(scalar, str))

    return converted(value, "", 0)


def unwrap_scalar(value: Any, mark: SourceSpan) -> Any:
    """Return a Python scalar as one of str, bool, int, float, None."""
    if hasattr(value, "dtype") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if value is not None and not isinstance(value, str | bool | int | float):
        hint = "types are texts, such as 'number'" if isinstance(value, type) else ""
        raise graph_error(
            "RT105", mark, f"a {type(value).__name__} is not a value of a graph file", hint
        )
    if isinstance(value, int) and value.bit_length() > INTEGER_BITS:
        raise graph_error("RT134", mark, "an integer far beyond 64 bits")
    if isinstance(value, str) and len(value) > SCALAR_MAX:
        raise graph_error("RT108", mark, f"a text of more than {SCALAR_MAX} characters")
    if isinstance(value, str) and not value.isascii() and _SURROGATE.search(value):
        raise graph_error("RT109", mark, "a text that is not valid Unicode (a lone surrogate)")
    return value
