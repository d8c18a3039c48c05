"""The schema of the section `operators`: for every type its parameters, its wiring, its text."""

from __future__ import annotations

import inspect
from itertools import combinations
from typing import TYPE_CHECKING, Any

from rtbot.graph.check.drafts import PORT_COUNTS
from rtbot.graph.schema.value_schemas import (
    DOC,
    HIDDEN,
    ID_PATTERN,
    META,
    annotated,
    excluding,
    names,
    plain,
    text,
    value,
    whole,
)
from rtbot.graph.schema.wiring_schema import groups, least_ports, rules, told, wiring
from rtbot.operator import REGISTRY, Integer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.graph.schema.definitions import Definitions, Schema
    from rtbot.operator import Operator, Parameter


def operators(definitions: Definitions) -> Schema:
    """Return the schema of the section."""
    return {
        "description": "what is computed: expressions and operators, by id",
        "type": ["object", "null"],
        "propertyNames": names(ID_PATTERN, "an operator"),
        "additionalProperties": definitions.refer("operator", _operator(definitions)),
    }


def _operator(definitions: Definitions) -> Schema:
    """A mapping is told apart by its `type`: one condition per operator, never alternatives."""
    known = sorted(dict.fromkeys(REGISTRY.values()), key=lambda cls: cls.__name__)
    texts = {name: _first_line(REGISTRY[name]) for name in sorted(REGISTRY)}
    named = {
        "enum": list(texts),
        "enumDescriptions": list(texts.values()),
        "markdownEnumDescriptions": list(texts.values()),
        "errorMessage": "no operator has this name; `rtbot ops` lists them",
    }
    return {
        "type": ["string", "object"],
        "minLength": 1,
        "properties": {"type": named},
        "if": {"type": "object", "required": ["type"]},
        "then": {"allOf": [_conditional(cls, definitions) for cls in known]},
        "else": {
            **text("an expression, or a mapping with a `type`"),
            "required": ["type"],
            "defaultSnippets": [_snippet(cls) for cls in known],
        },
    }


def _conditional(cls: type[Operator], definitions: Definitions) -> Schema:
    name = {"type": "string", "pattern": whole(cls.__name__, *cls.aliases)}
    declared = definitions.refer(cls.__name__, _declared(cls, definitions))
    return {"if": {"properties": {"type": name}}, "then": declared}


def _declared(cls: type[Operator], definitions: Definitions) -> Schema:
    """What may and what must stand beside `type`."""
    return {
        "title": cls.__name__,
        **text(_first_line(cls)),
        "properties": {
            "type": {"markdownDescription": _markdown(cls)},
            **_parameters(cls, definitions),
            **{key: wiring(cls, key, definitions) for key in groups(cls)},
            "doc": definitions.refer("doc", DOC),
            "meta": definitions.refer("meta", META),
        },
        "additionalProperties": False,
        "allOf": [*rules(cls), *_spellings(cls.parameters.values())],
    }


def _parameters(cls: type[Operator], definitions: Definitions) -> Schema:
    """Every parameter under each of its names; editors offer the first."""
    examples = cls.example.parameters if cls.example else {}
    found: Schema = {}
    if any(port.variadic for port in cls.inputs.values()):
        counted: list[Schema] = [value(Integer(name="a count"), dollar=False), {"type": "array"}]
        found |= {key: one | HIDDEN for key, one in zip(PORT_COUNTS, counted, strict=True)}
    for name, parameter in cls.parameters.items():
        found[name] = definitions.refer(name, annotated(parameter, examples.get(name)))
        other = {"description": f"the same as {name}"} | value(parameter) | HIDDEN
        found |= {alias: definitions.refer(alias, other) for alias in parameter.aliases}
    return found


def _spellings(parameters: Iterable[Parameter]) -> list[Schema]:
    """Return what says that required parameters are there, and each under one name only."""
    found: list[Schema] = []
    for parameter in parameters:
        spellings = [parameter.name, *parameter.aliases]
        either = [{"required": [name]} for name in spellings]
        if _is_needed(parameter):
            found += either if len(either) == 1 else [{"anyOf": either}]
        found += [excluding(*pair) for pair in combinations(spellings, 2)]
    return found


def _is_needed(parameter: Parameter) -> bool:
    return parameter.required and parameter.default is None


def _snippet(cls: type[Operator]) -> Schema:
    """Return an operator to fill in: its type, a place for every reference, what is required."""
    body: dict[str, Any] = {"type": cls.__name__}
    stop = 1
    for key, ports in groups(cls).items():
        places = [f"${stop + k}" for k in range(least_ports(ports))]
        body[key] = places[0] if len(places) == 1 else places
        stop += len(places)
    examples = cls.example.parameters if cls.example else {}
    for name, parameter in cls.parameters.items():
        if _is_needed(parameter):
            shown = examples.get(name)
            body[name] = f"${stop}" if shown is None else f"${{{stop}:{plain(shown)}}}"
            stop += 1
    return {"label": cls.__name__, "description": _first_line(cls), "body": body}


def _first_line(cls: type[Operator]) -> str:
    return inspect.cleandoc(cls.__doc__ or "").partition("\n")[0]


def _markdown(cls: type[Operator]) -> str:
    ports = [f"- {told(port)}" for port in cls.inputs.values()]
    return "\n\n".join([inspect.cleandoc(cls.__doc__ or ""), "\n".join(ports)])
