"""`rtbot draw`: a graph as a picture."""

from __future__ import annotations

import click

from rtbot.cli import shell_completion
from rtbot.cli.options import add_graph_options, load_graph

FORMATS, DIRECTIONS = ("svg", "mermaid"), ("right", "down")


@click.command("draw")
@click.argument("graph", metavar="GRAPH", shell_complete=shell_completion.complete_graph_files)
@click.option(
    "-o",
    "target",
    metavar="FILE.svg|FILE.mmd",
    type=click.Path(),
    default="-",
    help="Where the picture goes; - is stdout, as without -o.",
)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="Of the picture, by suffix if not said."
)
@click.option(
    "--direction", type=click.Choice(DIRECTIONS), default="right", help="Where data flows to."
)
@add_graph_options
def command(
    graph: str,
    target: str,
    form: str | None,
    direction: str,
    parameters: tuple[str, ...],
    **options: tuple[str, ...],
) -> None:
    """Draw GRAPH: its inputs, operators and outputs, with ports, types and parameters.

    The picture is SVG, or text for Mermaid, which many pages show as a picture. A dashed line
    arrives at a port whose message may be absent. No other program is needed.
    """
    from rtbot.storage.files import STANDARD, Files
    from rtbot.viz.drawing import SUFFIXES, detect_form, draw_graph

    form = form or ("svg" if target == STANDARD else detect_form(target))
    if form is None:
        raise click.UsageError(f"-o {target}: a picture is {', '.join(SUFFIXES)}; or give --format")
    loaded = load_graph(graph, parameters, options["plugins"])
    Files().write(target, draw_graph(loaded.checked, form, direction).encode())
