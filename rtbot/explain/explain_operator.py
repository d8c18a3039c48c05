"""An operator explained: its declaration, and its example as a graph that runs."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from rtbot.explain.examples import ExampleGraph
from rtbot.graph.packages import describe_origin
from rtbot.operator import REGISTRY, UNREAD

if TYPE_CHECKING:
    from rtbot.operator import In, Operator, Out, Parameter

KINDS = {"T": "any", "N": "number or integer"}
UNKNOWN_FRONTIER = -(2**63)
"""A default that means the absence of a value."""
ROLES = {
    "may": "may lack a message",
    "last": "the latest message counts",
    UNREAD: "may be left out",
}


def list_operators() -> list[type[Operator]]:
    """Return every registered operator once, by module and name."""
    return sorted(set(REGISTRY.values()), key=lambda cls: (cls.__module__, cls.__name__))


def group_operators(pattern: str = "") -> dict[str, list[type[Operator]]]:
    """Return the operators by the subject of their module; only those that contain the pattern."""
    found: dict[str, list[type[Operator]]] = {}
    for operator in list_operators():
        text = f"{' '.join(list_names(operator))} {read_summary(operator)} {operator.search_terms}"
        if pattern.lower() in text.lower():
            found.setdefault(find_subject(operator), []).append(operator)
    return found


def list_names(operator: type[Operator]) -> tuple[str, ...]:
    """Return its name and its aliases."""
    return operator.__name__, *operator.aliases


def read_summary(operator: type[Operator]) -> str:
    """Return the first line of its docstring."""
    return inspect.cleandoc(operator.__doc__ or "").partition("\n")[0]


def find_subject(operator: type[Operator]) -> str:
    """Return what the operators of its module have in common, or the module's name."""
    text = inspect.cleandoc(sys.modules[operator.__module__].__doc__ or "")
    return text.partition("\n")[0].removesuffix(".") or operator.__module__


def format_signature(operator: type[Operator]) -> str:
    """Return the kinds that go in and come out, such as "number, number -> boolean"."""
    sides = (operator.inputs.values(), operator.outputs.values())
    return " -> ".join(", ".join(map(abbreviate_kind, ports)) for ports in sides)


def abbreviate_kind(port: In | Out) -> str:
    """Return the kind of a port in a few letters."""
    kind = {"T": "any", "N": "numeric"}.get(port.kind, port.kind)
    return kind + ("?" if port.nullable else "") + (", ..." if port.variadic else "")


def describe(operator: type[Operator]) -> dict[str, Any]:
    """Return everything that is declared of an operator, as data of the types of JSON."""
    text = inspect.cleandoc(operator.__doc__ or "")
    found = {
        "name": operator.__name__,
        "aliases": list(operator.aliases),
        "origin": describe_origin(operator),
        "others": [
            {"name": word, "parameters": settings}
            for word, _, settings in (t.partition(" ") for t in operator.search_terms.split(", "))
            if word
        ],
        "subject": find_subject(operator),
        "summary": read_summary(operator),
        "text": text,
        "signature": format_signature(operator),
        "inputs": [_describe_port(port) for port in operator.inputs.values()],
        "outputs": [_describe_port(port) for port in operator.outputs.values()],
        "parameters": [
            _describe_parameter(parameter) for parameter in operator.parameters.values()
        ],
    }
    return found | (ExampleGraph(operator).describe() if operator.example is not None else {})


def _describe_port(port: In | Out) -> dict[str, Any]:
    kind = KINDS.get(port.kind, port.kind)
    role = ROLES.get(getattr(port, "role", ""), "")
    if getattr(port, "silent", False):
        role = "no message now and then"
    return {
        "name": "any" if getattr(port, "named", False) else _list_numbered(port),
        "alias": port.alias,
        "kind": f"{kind}, may be null" if port.nullable else kind,
        "role": role,
        "doc": port.doc,
    }


def _list_numbered(port: In | Out) -> str:
    return f"{port.name}1, {port.name}2, ..." if port.variadic else port.name


def _describe_parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "aliases": list(parameter.aliases),
        "type": parameter.type_name,
        "options": list(parameter.list_options()),
        "range": ", ".join(parameter.list_limits()),
        "required": parameter.required,
        "default": None
        if parameter.default in (None, UNKNOWN_FRONTIER)
        else parameter.format_default(),
        "doc": parameter.doc,
    }
