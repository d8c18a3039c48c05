"""A graph file as a tree of nodes that know their places; no value has a type yet.

The text is read from the events of a YAML parser, never through its constructors: a scalar stays
the text of the file until the field that holds it converts it. So `no`, `010`, `1e3` and dates are
no surprise, and a hostile file can make nothing but nodes, within stated limits.
"""

from __future__ import annotations

import os
from collections import abc
from pathlib import Path
from typing import Any

from rtbot.core.document_nodes import Document, DocumentNode, MappingNode, ScalarNode, SequenceNode
from rtbot.graph.document.mapping import from_mapping
from rtbot.graph.document.parse import BYTES_MAX, parse_yaml
from rtbot.graph.document.text import decode_text

__all__ = [
    "Document",
    "DocumentNode",
    "MappingNode",
    "ScalarNode",
    "SequenceNode",
    "from_mapping",
    "load_document",
    "parse_yaml",
]


def load_document(source: str | os.PathLike[str] | abc.Mapping[str, Any]) -> Document:
    """Read a graph: a path, the text of one (it holds a newline or begins with `{`), or a mapping.

    Raises GraphError if it cannot be read as a tree of nodes, OSError if the file cannot be read.
    """
    if isinstance(source, abc.Mapping):
        return from_mapping(source)
    if isinstance(source, str) and ("\n" in source or source.startswith("{")):
        return parse_yaml(source)
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"a graph is a path, a text or a mapping, not {type(source).__name__}")
    try:
        with Path(source).open("rb") as stream:
            data = stream.read(BYTES_MAX + 4)
    except FileNotFoundError as error:
        if ": " in os.fspath(source):
            error.strerror = "No such file (a text of a graph has several lines, or begins with {)"
        raise
    file = os.fspath(source)
    return parse_yaml(decode_text(data, file, BYTES_MAX), file)
