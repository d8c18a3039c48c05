"""`rtbot validate`: every problem of every file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from rtbot.cli.exit_codes import GRAPH
from rtbot.cli.messages import echo
from rtbot.cli.options import GRAPHS_ARGUMENT, add_graph_options, load_plugins, parse_parameter
from rtbot.core.errors import GraphError

if TYPE_CHECKING:
    from rtbot.core.errors import Problem


@click.command("validate")
@GRAPHS_ARGUMENT
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@add_graph_options
def command(
    graphs: tuple[str, ...],
    form: str,
    parameters: tuple[str, ...],
    plugins: tuple[str, ...],
    debug: bool,  # noqa: ARG001 (main reads it)
) -> int:
    """Report every problem of graph files, with line, column and a suggestion.

    Text goes to stderr, JSON to stdout. The exit code is 3 if there is any error.
    """
    load_plugins(plugins)
    values = dict(map(parse_parameter, parameters))
    found: list[Problem] = []
    for path in graphs:
        problems, summary = _check_file(path, values)
        found += problems
        if form == "text":
            for text in [*map(str, problems), *summary]:
                echo(text, err=True)
    if form == "json":
        echo(json.dumps([_to_json(problem) for problem in found], indent=2))
    return GRAPH if any(problem.severity == "error" for problem in found) else 0


def _check_file(path: str, values: dict[str, Any]) -> tuple[list[Problem], list[str]]:
    """Check one file; also return the line that reports it valid, if it is."""
    from pathlib import Path

    import rtbot

    try:
        graph = rtbot.load(Path(path), **values)
    except GraphError as error:
        return list(error.problems), []
    checked = graph.checked
    counts = [
        f"{len(part)} {name}"
        for part, name in (
            (checked.inputs, "inputs"),
            ({n.view.id if n.view else n.id for n in checked.nodes.values()}, "operators"),
            (checked.outputs, "outputs"),
        )
    ]
    return list(graph.warnings), [f"{path}: ok ({', '.join(counts)})"]


def _to_json(problem: Problem) -> dict[str, Any]:
    mark = problem.mark
    return {
        "code": problem.code,
        "severity": problem.severity,
        "file": str(mark.file),
        "line": mark.line,
        "column": mark.column,
        "length": mark.length,
        "message": problem.message,
        "hint": problem.hint,
        "operator": problem.operator,
        "port": problem.port,
    }
