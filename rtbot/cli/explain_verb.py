"""`rtbot explain`: a graph, its generated code, or an error code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from rtbot.cli.options import graph_options, load_graph
from rtbot.errors import CODES, nearest

if TYPE_CHECKING:
    from rtbot.graph import Checked


@click.command("explain")
@click.argument("what", metavar="GRAPH|CODE")
@click.option("--code", is_flag=True, help="Print the module that is generated for the graph.")
@graph_options
def command(
    what: str,
    code: bool,
    parameters: tuple[str, ...],
    plugins: tuple[str, ...],
    debug: bool,  # noqa: ARG001 (main reads it)
) -> None:
    """Show the operators of a GRAPH with their types, or what an error CODE such as RT103 means."""
    if re.fullmatch(r"[Rr][Tt][0-9]+", what):
        name = what.upper()
        if name not in CODES:
            hint = nearest(name, CODES) or f"they go from {min(CODES)} to {max(CODES)}"
            raise click.UsageError(f"there is no error code {name}; {hint}")
        click.echo(f"{name}: {CODES[name]}")
        return
    graph = load_graph(what, parameters, plugins)
    if code:
        click.echo(graph.code())
        return
    for line in _lines(graph.checked):
        click.echo(line)


def _lines(checked: Checked) -> list[str]:
    from rtbot.report import aligned

    rows = [("", "operator", "inputs", "outputs")]
    rows += [(name, "input", "", str(item.type)) for name, item in checked.inputs.items()]
    for name, node in checked.nodes.items():
        wired = ", ".join(f"{port}={ref}: {node.types[port]}" for port, ref in node.inputs.items())
        made = ", ".join(f"{port}: {node.types[port]}" for port in node.outputs)
        rows.append((name, node.operator.__name__, wired, made))
    rows += [(name, "output", str(ref), "") for name, ref in checked.outputs.items()]
    return aligned(rows, [False] * 4)
