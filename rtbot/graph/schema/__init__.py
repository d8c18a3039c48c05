"""The JSON Schema of graph files, from which editors complete, explain and check while typing.

Everything in it comes from the declarations of operators and from the checker's own tables. It is a
part of the checker, never more: what loads is valid (except a bare id such as `true`, which YAML
does not read as text), and what only the whole graph shows, such as types of ports, only the
checker finds.
"""

from __future__ import annotations

import json
from typing import Any

import rtbot.operators  # noqa: F401 (registers the operators)
from rtbot import __version__
from rtbot.graph.schema.definitions import Definitions
from rtbot.graph.schema.operators_schema import build_operators
from rtbot.graph.schema.sections import build_sections
from rtbot.graph.schema.tests_schema import build_tests

__all__ = ["build_schema", "format_schema"]


def build_schema() -> dict[str, Any]:
    """Return the schema, draft 7, of graph files that use the operators registered by now."""
    definitions = Definitions()
    properties = build_sections(definitions)
    properties["operators"] = build_operators(definitions)
    properties["tests"] = build_tests(definitions)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "urn:rtbot:graph-file",
        "title": "rtbot graph file",
        "version": __version__,
        "type": "object",
        "properties": properties,
        "required": ["inputs", "outputs"],
        "additionalProperties": False,
        "definitions": definitions.schemas,
    }


def format_schema() -> str:
    """Return the schema as the text of a file, the same for the same operators."""
    return json.dumps(build_schema(), indent=1, ensure_ascii=False) + "\n"
