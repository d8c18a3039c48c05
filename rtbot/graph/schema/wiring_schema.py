"""The schema of `in` and `control`: one reference, a list of them, or a mapping by port."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtbot.graph.check.wiring import is_control, is_named
from rtbot.graph.schema.value_schemas import (
    ID_PATTERN,
    REFERRED,
    describe_text,
)
from rtbot.operator.parameter_kinds.schema_texts import anchor_pattern, build_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.graph.schema.definitions import Definitions, Schema
    from rtbot.operator import In, Operator

Ports = dict[str, "In"]


def group_ports(cls: type[Operator]) -> dict[str, Ports]:
    """Return the declared ports by the key that feeds them, `in` or `control`."""
    found: dict[str, Ports] = {}
    for name, port in cls.inputs.items():
        found.setdefault("control" if is_control(name) else "in", {})[name] = port
    return found


def build_wiring(cls: type[Operator], key: str, definitions: Definitions) -> Schema:
    """Return the schema of one of the two keys."""
    ports = group_ports(cls)[key]
    forms = {"array": "a list of references", "object": "a mapping by port"}
    if count_ports_min(ports) <= 1:
        forms = {"string": "a reference"} | forms
    return {
        **describe_text("\n".join(f"- {describe_port(port)}" for port in ports.values())),
        "type": list(forms),
        "errorMessage": f"{', '.join(forms.values())}: one of these feeds the ports",
        "allOf": [definitions.refer("ports", _build_shape(cls, key, definitions))],
    }


def build_rules(cls: type[Operator]) -> list[Schema]:
    """Return the rules: every port is fed, a control port by `control` or by name in `in`."""
    found = group_ports(cls)
    result: list[Schema] = [{"required": [next(iter(found))]}] if found else []
    if "in" in found and "control" in found:
        by_name = {
            "type": "object",
            "errorMessage": "control ports are fed by `control`, or by name in `in`",
            **_all_of([_require_port(n, p) for n, p in found["control"].items() if p.needed]),
        }
        without = {"not": {"required": ["control"]}}
        result.append({"if": without, "then": {"properties": {"in": by_name}}})
    return result


def count_ports_min(ports: Mapping[str, In]) -> int:
    """Return the least number of references that feed the ports of a group."""
    needed = [port for port in ports.values() if port.needed]
    return sum(port.shortest if port.variadic else 1 for port in needed)


def describe_port(port: In) -> str:
    """Return what a port is, in a line."""
    names = f"`{port.name}1`, `{port.name}2`, ..." if port.variadic else f"`{port.name}`"
    names = "any name" if port.named else names
    kind = {"T": "any type", "N": "number or integer"}.get(port.kind, port.kind)
    either = f" or `{port.alias}`" if port.alias else ""
    null = " or null" if port.nullable else ""
    return f"{names}{either} ({kind}{null}){port.doc and ': '}{port.doc}"


def _build_shape(cls: type[Operator], key: str, definitions: Definitions) -> Schema:
    ports = group_ports(cls)[key]
    if is_named(cls):
        return _build_named_shape(ports, definitions)
    named = cls.inputs if key == "in" else ports
    referred = definitions.refer("reference", REFERRED)
    fixed = all(not port.variadic for port in ports.values())
    spelled = {name: port for name, port in named.items() if not port.variadic}
    numbered = [re.escape(n) for port in named.values() if port.variadic for n in _list_names(port)]
    result = {
        "title": "every port",
        "pattern": REFERRED["pattern"],
        "patternErrorMessage": REFERRED["errorMessage"],
        "items": referred,
        "minItems": count_ports_min(ports),
        "properties": {name: referred for port in spelled.values() for name in _list_names(port)},
        "additionalProperties": False,
    }
    result |= {"maxItems": len(ports)} if fixed else {}
    if numbered:
        pattern = anchor_pattern(f"(?:{'|'.join(numbered)})[1-9][0-9]{{0,3}}")
        result["patternProperties"] = {pattern: referred}
    return result | _all_of([_require_port(n, p) for n, p in ports.items() if p.needed])


def _build_named_shape(ports: Ports, definitions: Definitions) -> Schema:
    """Return the shape of inputs that have names of the graph's own."""
    referred = definitions.refer("reference", REFERRED)
    return {
        "title": "every table",
        "pattern": REFERRED["pattern"],
        "patternErrorMessage": REFERRED["errorMessage"],
        "items": referred,
        "minItems": count_ports_min(ports),
        "propertyNames": build_named(ID_PATTERN, "a table"),
        "additionalProperties": referred,
        "minProperties": count_ports_min(ports),
    }


def _list_names(port: In) -> list[str]:
    return [port.name, port.alias] if port.alias else [port.name]


def _require_port(name: str, port: In) -> Schema:
    """Require that a mapping feeds this port; of a variadic one, as many as there must be."""
    ends = [str(k + 1) for k in range(port.shortest)] if port.variadic else [""]
    if not port.alias:
        return {"required": [f"{name}{end}" for end in ends]}
    either = [[f"{n}{end}" for n in (name, port.alias)] for end in ends]
    return _all_of([{"anyOf": [{"required": [n]} for n in pair]} for pair in either])


def _all_of(schemas: list[Schema]) -> Schema:
    return schemas[0] if len(schemas) == 1 else {"allOf": schemas}
