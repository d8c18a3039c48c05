"""`rtbot schema`: the JSON Schema of graph files, for editors."""

from __future__ import annotations

from pathlib import Path

import click

from rtbot.cli.messages import echo
from rtbot.cli.options import load_plugins, plugin_options


@click.command("schema")
@click.option(
    "-o",
    "output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a file, not stdout.",
)
@plugin_options
def command(output: Path | None, plugins: tuple[str, ...], debug: bool) -> None:  # noqa: ARG001
    """Print the JSON Schema of graph files, from which editors complete and check.

    Write it beside your graphs, `rtbot schema -o rtbot.schema.json`, and let a graph file begin
    with the line `# yaml-language-server: $schema=rtbot.schema.json`: editors with a YAML language
    server (VS Code, Neovim, Emacs, ...) then know every operator and its parameters.
    """
    from rtbot.graph.schema import schema_text

    load_plugins(plugins)
    if output is None:
        echo(schema_text(), nl=False)
    else:
        output.write_text(schema_text(), encoding="utf-8", newline="\n")
