"""`rtbot ops`: the list of operators."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from rtbot.cli.messages import bold, echo
from rtbot.cli.options import JSON_OPTION, add_plugin_options, choose_width, load_plugins

if TYPE_CHECKING:
    from rtbot.operator import Operator

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
    from rtbot.explain import group_operators
    from rtbot.graph.packages import load_packages

    load_plugins(plugins)
    packages = load_packages()
    found = group_operators(pattern)
    if form == "json":
        echo(json.dumps(_list_operators(found), indent=2))
        return
    if not found:
        echo(f"no operator has {pattern!r} in its name or meaning: rtbot ops", err=True)
    for number, (subject, operators) in enumerate(found.items()):
        _print_subject(subject, operators, mark="\n" if number else "")
    for package in packages:
        if package.problem:
            echo(f"the package {package} cannot be imported: {package.problem}", err=True)


def _list_operators(found: dict[str, list[type[Operator]]]) -> list[dict[str, Any]]:
    """Return operators by subject as JSON has them."""
    from rtbot.explain import format_signature, read_summary
    from rtbot.graph.packages import describe_origin

    return [
        {
            "name": operator.__name__,
            "aliases": list(operator.aliases),
            "subject": subject,
            "origin": describe_origin(operator),
            "signature": format_signature(operator),
            "summary": read_summary(operator),
        }
        for subject, operators in found.items()
        for operator in operators
    ]


def _print_subject(subject: str, operators: list[type[Operator]], mark: str) -> None:
    """Print a subject, and whose its operators are if they are not rtbot's own, and these."""
    from rtbot.explain import format_hanging, format_signature, list_names, read_summary
    from rtbot.graph.packages import describe_origin

    origin = describe_origin(operators[0])
    echo(bold(subject if origin == "rtbot" else f"{subject} ({origin})"), mark=mark)
    for operator in operators:
        label = "  " + ", ".join(list_names(operator))
        text = f"{read_summary(operator)} ({format_signature(operator)})"
        for line in format_hanging(label, text, choose_width(), MARGIN):
            echo(line)
