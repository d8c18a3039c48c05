"""`rtbot doc`: one operator."""

from __future__ import annotations

import json

import click

from rtbot.cli import shell_completion
from rtbot.cli.messages import bold, echo
from rtbot.cli.options import add_plugin_options, choose_width, load_plugins
from rtbot.core.error_codes import CODES

FORMS = ["text", "markdown", "json", "svg"]


@click.command("doc")
@click.argument("name", metavar="OPERATOR", shell_complete=shell_completion.complete_operators)
@click.option("--format", "form", type=click.Choice(FORMS), default="text")
@click.option("--example", is_flag=True, help="Print only the example, a graph file with a test.")
@add_plugin_options
def command(
    name: str,
    form: str,
    example: bool,
    plugins: tuple[str, ...],
    debug: bool,  # noqa: ARG001 (main reads it)
) -> None:
    """Show an operator: its meaning, ports and parameters, and an example that runs.

    The example can be kept and tried: `rtbot doc OPERATOR --example > it.yaml; rtbot test it.yaml`.
    --format svg draws what goes into it and what comes out.
    """
    import rtbot.operators  # noqa: F401 (registers the operators)
    from rtbot.explain import describe, format_operator, render_operator_page
    from rtbot.graph.packages import explain_missing, find_operator
    from rtbot.operator import suggest_operator

    load_plugins(plugins)
    operator = find_operator(name)
    if operator is None:
        hint = explain_missing(name) or suggest_operator(name) or "`rtbot ops` lists them"
        if name.upper() in CODES:
            hint = f"`rtbot explain {name.upper()}` says what a code means"
        raise click.UsageError(f"there is no operator {name!r}; {hint}")
    found = describe(operator)
    if (example or form == "svg") and "example" not in found:
        raise click.UsageError(f"{operator.__name__} has no example")
    if example:
        echo(found["example"]["graph"], nl=False)
    elif form == "json":
        echo(json.dumps(found, indent=2))
    elif form == "svg":
        from rtbot.explain.example_run import draw_example

        echo(draw_example(operator), nl=False)
    elif form == "markdown":
        echo(render_operator_page(operator), nl=False)
    else:
        for line in format_operator(found, choose_width(), bold):
            echo(line)
