"""`rtbot ops`: the list of operators."""

from __future__ import annotations

import click

from rtbot.cli.options import load_plugins


@click.command("ops")
@click.option("--grep", "pattern", default="", help="Only those whose name or text has this.")
@click.option("--plugin", "plugins", multiple=True, metavar="FILE.py", help="Import a file first.")
@click.option("--debug", is_flag=True, help="Show a traceback where something fails.")
def command(pattern: str, plugins: tuple[str, ...], debug: bool) -> None:  # noqa: ARG001
    """List the operators, each with its meaning in a line."""
    import rtbot.operators  # noqa: F401 (registers the operators)
    from rtbot.operator import REGISTRY
    from rtbot.report import aligned

    load_plugins(plugins)
    rows = []
    for operator in dict.fromkeys(REGISTRY.values()):
        names = ", ".join((operator.__name__, *operator.aliases))
        text = (operator.__doc__ or "").strip().partition("\n")[0]
        if pattern.lower() in f"{names} {text}".lower():
            rows.append((names, text))
    for line in aligned(sorted(rows), [False, False]) if rows else []:
        click.echo(line)
