"""`rtbot ops`: the list of operators."""

from __future__ import annotations

import json

import click

from rtbot.cli.messages import bold, echo
from rtbot.cli.options import JSON_OPTION, add_plugin_options, choose_width, load_plugins

MARGIN = 28


@click.command("ops")
@click.option("--grep", "pattern", default="", help="Only those whose name or text has this.")
@JSON_OPTION
@add_plugin_options
def command(pattern: str, form: str, plugins: tuple[str, ...], debug: bool) -> None:  # noqa: ARG001
    """List the operators by subject, each with its meaning and the kinds that go in and come out.

    `rtbot doc OPERATOR` shows the rest.
    """
    import rtbot.operators  # noqa: F401 (registers the operators)
    from rtbot.explain import (
        format_hanging,
        format_signature,
        group_operators,
        list_names,
        read_summary,
    )

    load_plugins(plugins)
    found = group_operators(pattern)
    if form == "json":
        listed = [
            {
                "name": operator.__name__,
                "aliases": list(operator.aliases),
                "subject": subject,
                "signature": format_signature(operator),
                "summary": read_summary(operator),
            }
            for subject, operators in found.items()
            for operator in operators
        ]
        echo(json.dumps(listed, indent=2))
        return
    if not found:
        echo(f"no operator has {pattern!r} in its name or meaning: rtbot ops", err=True)
    for number, (subject, operators) in enumerate(found.items()):
        echo(bold(subject), mark="\n" if number else "")
        for operator in operators:
            label = "  " + ", ".join(list_names(operator))
            text = f"{read_summary(operator)} ({format_signature(operator)})"
            for line in format_hanging(label, text, choose_width(), MARGIN):
                echo(line)
