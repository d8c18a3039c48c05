"""From a Python mapping to nodes whose places name the keys that lead to them."""

from __future__ import annotations

from collections import abc
from typing import Any

from rtbot.document.nodes import Document, Mapping, Node, Scalar, Sequence, put
from rtbot.document.reader import DEPTH_MAX, NODES_MAX, SCALAR_MAX
from rtbot.errors import refused
from rtbot.graph import Mark

INTEGER_BITS = 1_000


def from_mapping(source: abc.Mapping[str, Any]) -> Document:
    """Make a document of a mapping of str, int, float, bool, None, lists and mappings."""
    document = Document(Mapping({}, Mark("<mapping>")), "<mapping>")
    count = [0]

    def converted(value: Any, path: str, depth: int) -> Node:
        mark = Mark(f"<mapping> {path}".strip())
        count[0] += 1
        if depth > DEPTH_MAX or count[0] > NODES_MAX:
            message = f"more than {DEPTH_MAX} levels or {NODES_MAX} values"
            raise refused("RT108", mark, message)
        if isinstance(value, abc.Mapping):
            result = Mapping({}, mark)
            for key, item in value.items():
                inner = f"{path}.{key}".lstrip(".")
                key_mark = Mark(f"<mapping> {inner}")
                if not isinstance(key, str):
                    raise refused("RT105", key_mark, f"a key is text, this one is {key!r}")
                put(
                    result,
                    Scalar(key, key_mark),
                    converted(item, inner, depth + 1),
                    document.problems,
                )
            return result
        if isinstance(value, list | tuple):
            items = [converted(v, f"{path}[{k}]", depth + 1) for k, v in enumerate(value)]
            return Sequence(items, mark)
        return Scalar(plain_scalar(value, mark), mark)

    root = converted(source, "", 0)
    assert isinstance(root, Mapping)
    document.root = root
    return document


def plain_scalar(value: Any, mark: Mark) -> Any:
    """Return a Python scalar as one of str, bool, int, float, None."""
    if hasattr(value, "dtype") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if value is not None and not isinstance(value, str | bool | int | float):
        raise refused("RT105", mark, f"a {type(value).__name__} is no value of a graph file")
    if isinstance(value, int) and value.bit_length() > INTEGER_BITS:
        raise refused("RT134", mark, "an integer far beyond 64 bits")
    if isinstance(value, str) and len(value) > SCALAR_MAX:
        raise refused("RT108", mark, f"a text of more than {SCALAR_MAX} characters")
    return value
