"""`rtbot doc`: one operator."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import click

from rtbot.cli.options import load_plugins
from rtbot.errors import nearest

if TYPE_CHECKING:
    from rtbot.operator import In, Operator, Out, Parameter


@click.command("doc")
@click.argument("name", metavar="OPERATOR")
@click.option("--plugin", "plugins", multiple=True, metavar="FILE.py", help="Import a file first.")
@click.option("--debug", is_flag=True, help="Show a traceback where something fails.")
def command(name: str, plugins: tuple[str, ...], debug: bool) -> None:  # noqa: ARG001
    """Show an operator: its meaning, ports, parameters, and an example."""
    import rtbot.operators  # noqa: F401 (registers the operators)
    from rtbot.operator import REGISTRY

    load_plugins(plugins)
    if name not in REGISTRY:
        hint = nearest(name, REGISTRY) or "`rtbot ops` lists them"
        raise click.UsageError(f"there is no operator {name!r}; {hint}")
    for line in _lines(REGISTRY[name]):
        click.echo(line)


def _lines(operator: type[Operator]) -> list[str]:
    from rtbot.report import aligned

    names = ", ".join((operator.__name__, *operator.aliases))
    lines = [names, "", inspect.cleandoc(operator.__doc__ or "")]
    tables: dict[str, list[tuple[str, ...]]] = {
        "Inputs": [_port(port) for port in operator.inputs.values()],
        "Outputs": [_port(port) for port in operator.outputs.values()],
        "Parameters": [_parameter(parameter) for parameter in operator.parameters.values()],
    }
    for title, rows in tables.items():
        if rows:
            lines += ["", title, *aligned(rows, [False] * len(rows[0]))]
    if operator.example is not None:
        example = operator.example
        told = ", ".join(f"{name}: {value}" for name, value in example.parameters.items())
        lines += ["", f"Example with {told}" if told else "Example"]
        for ports in (example.inputs, example.outputs):
            lines += [f"  {port}: {_rows(rows)}" for port, rows in ports.items()]
    return lines


def _port(port: In | Out) -> tuple[str, str, str]:
    kind = port.kind + ("?" if port.nullable else "")
    several = f"{port.name}1, {port.name}2, ..." if port.variadic else port.name
    named = f"{several} or {port.alias}" if port.alias else several
    return f"  {named}", kind, port.doc


def _parameter(parameter: Parameter) -> tuple[str, str, str, str]:
    names = " or ".join((parameter.name, *parameter.aliases))
    kind = getattr(parameter, "options", None)
    told = " | ".join(kind) if kind else parameter.type_name
    need = "required" if parameter.required else f"default {parameter.default}"
    return f"  {names}", told, need, parameter.doc


def _rows(rows: Any) -> str:
    return " ".join(f"({time}, {value})" for time, value in rows)
