"""The schema of the section `operators`: for every type its parameters, its wiring, its text."""

from __future__ import annotations

import inspect
from itertools import combinations
from typing import TYPE_CHECKING, Any

from rtbot.graph.check.drafts import PORT_COUNTS, PORT_TYPE, PORT_TYPES, states_ports
from rtbot.graph.schema.value_schemas import (
    DOC,
    ID_PATTERN,
    META,
    annotate_parameter,
    build_value,
    describe_text,
    exclude_keys,
    to_file_value,
)
from rtbot.graph.schema.wiring_schema import (
    build_rules,
    build_wiring,
    count_ports_min,
    describe_port,
    group_ports,
)
from rtbot.operator import REGISTRY, Integer
from rtbot.operator.parameter_kinds.schema_texts import HIDDEN, anchor_pattern, build_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.graph.schema.definitions import Definitions, Schema
    from rtbot.operator import Operator, Parameter


def build_operators(definitions: Definitions) -> Schema:
    """Return the schema of the section."""
    return {
        "description": "what is computed: expressions and operators, by id",
        "type": ["object", "null"],
        "propertyNames": build_named(ID_PATTERN, "an operator"),
        "additionalProperties": definitions.refer("operator", _build_operator(definitions)),
    }


def _build_operator(definitions: Definitions) -> Schema:
    """Build an operator's schema: one condition per `type`, never alternatives."""
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
        "then": {"allOf": [_build_condition(cls, definitions) for cls in known]},
        "else": {
            **describe_text("an expression, or a mapping with a `type`"),
            "required": ["type"],
            "defaultSnippets": [_build_snippet(cls) for cls in known],
        },
    }


def _build_condition(cls: type[Operator], definitions: Definitions) -> Schema:
    name = {"type": "string", "pattern": anchor_pattern(cls.__name__, *cls.aliases)}
    declared = definitions.refer(cls.__name__, _build_fields(cls, definitions))
    return {"if": {"properties": {"type": name}}, "then": declared}


def _build_fields(cls: type[Operator], definitions: Definitions) -> Schema:
    """Build what may and what must be beside `type`."""
    return {
        "title": cls.__name__,
        **describe_text(_first_line(cls)),
        "properties": {
            "type": {"markdownDescription": _build_markdown(cls)},
            **_build_parameters(cls, definitions),
            **{key: build_wiring(cls, key, definitions) for key in group_ports(cls)},
            "doc": definitions.refer("doc", DOC),
            "meta": definitions.refer("meta", META),
        },
        "additionalProperties": False,
        "allOf": [*build_rules(cls), *_require_parameters(cls.parameters.values())],
    }


def _build_parameters(cls: type[Operator], definitions: Definitions) -> Schema:
    """Build every parameter under each of its names; editors offer the first."""
    examples = cls.example.parameters if cls.example else {}
    found: Schema = {}
    if states_ports(cls):
        count = build_value(Integer(name="a count"), dollar=False)
        counted: list[Schema] = [count, count, {"type": "array"}]
        found |= {key: one | HIDDEN for key, one in zip(PORT_COUNTS, counted, strict=True)}
        found[PORT_TYPE] = {"enum": list(PORT_TYPES)} | HIDDEN
    for name, parameter in cls.parameters.items():
        found[name] = definitions.refer(name, annotate_parameter(parameter, examples.get(name)))
        other = {"description": f"the same as {name}"} | build_value(parameter) | HIDDEN
        found |= {alias: definitions.refer(alias, other) for alias in parameter.aliases}
    return found


def _require_parameters(parameters: Iterable[Parameter]) -> list[Schema]:
    """Return the rule that required parameters are there, each under one name only."""
    found: list[Schema] = []
    for parameter in parameters:
        spellings = [parameter.name, *parameter.aliases]
        either = [{"required": [name]} for name in spellings]
        if _is_needed(parameter):
            found += either if len(either) == 1 else [{"anyOf": either}]
        found += [exclude_keys(*pair) for pair in combinations(spellings, 2)]
    return found


def _is_needed(parameter: Parameter) -> bool:
    return parameter.required and parameter.default is None


def _build_snippet(cls: type[Operator]) -> Schema:
    """Return an operator to fill in: its type, a place for every reference, what is required."""
    body: dict[str, Any] = {"type": cls.__name__}
    stop = 1
    for key, ports in group_ports(cls).items():
        places = [f"${stop + k}" for k in range(count_ports_min(ports))]
        body[key] = places[0] if len(places) == 1 else places
        stop += len(places)
    examples = cls.example.parameters if cls.example else {}
    for name, parameter in cls.parameters.items():
        if _is_needed(parameter):
            shown = examples.get(name)
            body[name] = f"${stop}" if shown is None else f"${{{stop}:{to_file_value(shown)}}}"
            stop += 1
    return {"label": cls.__name__, "description": _first_line(cls), "body": body}


def _first_line(cls: type[Operator]) -> str:
    return inspect.cleandoc(cls.__doc__ or "").partition("\n")[0]


def _build_markdown(cls: type[Operator]) -> str:
    ports = [f"- {describe_port(port)}" for port in cls.inputs.values()]
    return "\n\n".join([inspect.cleandoc(cls.__doc__ or ""), "\n".join(ports)])
