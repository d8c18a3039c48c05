"""`rtbot ops`: the list of operators."""

from __future__ import annotations

import json

import click

from rtbot.cli.messages import bold, echo
from rtbot.cli.options import JSON_OPTION, load_plugins, plugin_options, width

MARGIN = 28


@click.command("ops")
@click.option("--grep", "pattern", default="", help="Only those whose name or text has this.")
@JSON_OPTION
@plugin_options
def command(pattern: str, form: str, plugins: tuple[str, ...], debug: bool) -> None:  # noqa: ARG001
    """List the operators by subject, each with its meaning and the kinds that go in and come out.

    `rtbot doc OPERATOR` tells the rest.
    """
    import rtbot.operators  # noqa: F401 (registers the operators)
    from rtbot.explain import groups, hung, names, signature, summary

    load_plugins(plugins)
    found = groups(pattern)
    if form == "json":
        listed = [
            {
                "name": operator.__name__,
                "aliases": list(operator.aliases),
                "subject": subject,
                "signature": signature(operator),
                "summary": summary(operator),
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
            label = "  " + ", ".join(names(operator))
            text = f"{summary(operator)} ({signature(operator)})"
            for line in hung(label, text, width(), MARGIN):
                echo(line)
