"""Options that verbs share, and loading a graph with them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import rtbot


def graph_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add -p, --plugin and --debug to a verb."""
    for option in (
        click.option("--debug", is_flag=True, help="Show a traceback where something fails."),
        click.option(
            "--plugin",
            "plugins",
            multiple=True,
            metavar="FILE.py",
            help="Import a file first, for the operators it declares.",
        ),
        click.option(
            "-p",
            "parameters",
            multiple=True,
            metavar="NAME=VALUE",
            help="Give a parameter of the graph a value.",
        ),
    ):
        function = option(function)
    return function


def load_graph(path: str, parameters: Iterable[str], plugins: Iterable[str]) -> rtbot.Graph:
    """Load a graph file as a verb was told to; warnings go to stderr."""
    import rtbot

    load_plugins(plugins)
    graph = rtbot.load(Path(path), **dict(map(parameter, parameters)))
    for warning in graph.warnings:
        click.echo(str(warning), err=True)
    return graph


def parameter(text: str) -> tuple[str, Any]:
    """Split NAME=VALUE; the graph converts the text, `[1, 2]` is a list."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"-p takes NAME=VALUE, not {text!r}")
    if value.startswith("[") and value.endswith("]"):
        return name, [item.strip() for item in value[1:-1].split(",") if item.strip()]
    return name, value


def load_plugins(paths: Iterable[str]) -> None:
    """Import files that declare operators."""
    for path in paths:
        name = f"rtbot_plugin_{Path(path).stem}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None or not Path(path).is_file():
            raise click.UsageError(f"--plugin {path}: there is no such Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            raise click.UsageError(f"--plugin {path} cannot be imported: {problem}") from error
