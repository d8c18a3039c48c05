"""`rtbot schema`: the JSON Schema of graph files, for editors."""

from __future__ import annotations

from pathlib import Path

import click

from rtbot.cli.messages import echo
from rtbot.cli.options import add_plugin_options, load_plugins


@click.command("schema")
@click.option(
    "-o",
    "output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a file, not stdout.",
)
@add_plugin_options
def command(output: Path | None, plugins: tuple[str, ...], debug: bool) -> None:  # noqa: ARG001
    """Print the JSON Schema of graph files, from which editors complete and check.

    Write it beside your graphs, `rtbot schema -o rtbot.schema.json`, and let a graph file begin
    with the line `# yaml-language-server: $schema=rtbot.schema.json`: editors with a YAML language
    server (VS Code, Neovim, Emacs, ...) then know every operator and its parameters.
    """
    from rtbot.graph.packages import load_packages
    from rtbot.graph.schema import format_schema

    load_plugins(plugins)
    load_packages()
    if output is None:
        echo(format_schema(), nl=False)
    else:
        output.write_text(format_schema(), encoding="utf-8", newline="\n")
