"""`rtbot explain`: a graph, its generated code, or an error code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rtbot.cli import shell_completion
from rtbot.cli.messages import bold, echo
from rtbot.cli.options import JSON_OPTION, add_graph_options, choose_width, load_graph
from rtbot.core.error_codes import CODES

if TYPE_CHECKING:
    import rtbot


class ExplainCommand(click.Command):
    """Command that takes `--code=all` beside the flag `--code`, whose next word is the graph."""

    def make_parser(self, ctx: click.Context) -> Any:
        """Return the parser of the command line."""
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            return parse([{"--code=all": "--all-code"}.get(word, word) for word in args])

        parser.parse_args = parse_args  # type: ignore[method-assign]
        return parser


@click.command("explain", cls=ExplainCommand)
@click.argument(
    "what", metavar="GRAPH|CODE", required=False, shell_complete=shell_completion.complete_explain
)
@click.option(
    "--code",
    is_flag=True,
    help="Print the loops that are generated for the graph; --code=all: the whole module.",
)
@click.option("--all-code", is_flag=True, hidden=True)
@click.option("--codes", is_flag=True, help="List the error codes.")
@JSON_OPTION
@add_graph_options
def command(
    what: str | None,
    code: bool,
    all_code: bool,
    codes: bool,
    form: str,
    **options: tuple[str, ...],
) -> None:
    """Show what is known of a GRAPH before it runs, or what an error CODE such as RT103 means.

    For every operator: the types of its ports and who feeds them, its warm-up (when the first
    message can come out), the bytes that it remembers for each key, and its progress (what has to
    be known of its inputs before a time is decided).
    """
    if codes:
        _list_codes(form)
    elif what is None:
        raise click.UsageError("say what: a graph file, an error code, or --codes")
    elif re.fullmatch(r"[Rr][Tt][0-9]+", what):
        _explain_code(what.upper(), form)
    else:
        _refuse_operator(what)
        graph = load_graph(what, options["parameters"], options["plugins"])
        if code or all_code:
            _print_code(graph, helpers=all_code)
        else:
            _explain_graph(graph, form)


def _refuse_operator(name: str) -> None:
    """Raise a usage error if the name is that of an operator, and not of a file."""
    if "." in name or Path(name).exists():
        return
    import rtbot.operators  # noqa: F401 (registers the operators)
    from rtbot.graph.packages import find_operator

    if find_operator(name) is not None:
        raise click.UsageError(f"{name} is an operator: rtbot doc {name} shows it")


def _list_codes(form: str) -> None:
    from rtbot.explain import format_hanging

    if form == "json":
        echo(json.dumps(CODES, indent=2))
        return
    for name, meaning in CODES.items():
        for line in format_hanging(name, meaning, choose_width(), 7):
            echo(line)


def _explain_code(name: str, form: str) -> None:
    from rtbot.explain import describe_error, format_error_page

    if name not in CODES:
        raise click.UsageError(f"there is no error code {name}; rtbot explain --codes lists them")
    if form == "json":
        echo(json.dumps(describe_error(name), indent=2))
        return
    for line in format_error_page(name, choose_width(), bold):
        echo(line)


def _print_code(graph: rtbot.Graph, *, helpers: bool) -> None:
    echo(graph.code(helpers=helpers))
    if not helpers:
        echo("# What these call is printed by --code=all.")


def _explain_graph(graph: rtbot.Graph, form: str) -> None:
    from rtbot.explain import explain, format_graph

    if form == "json":
        echo(json.dumps(explain(graph), indent=2))
    else:
        for line in format_graph(explain(graph), choose_width(), bold):
            echo(line)
