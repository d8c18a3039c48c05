"""Options that verbs share, and loading a graph with them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rtbot.cli import shell_completion
from rtbot.cli.io_options import collect_io, make_usage_error, split_names
from rtbot.cli.messages import echo
from rtbot.core.errors import suggest_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import rtbot

WIDTH_MAX = 100
"""Lines of text are not longer, however wide the terminal is."""

INPUT_FORMATS = ("csv", "jsonl", "parquet", "arrow")

JSON_OPTION = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
PLUGIN_OPTION = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    metavar="FILE.py",
    type=click.Path(),
    help="Import a file first, for the operators it declares.",
)
GRAPHS_ARGUMENT = click.argument(
    "graphs",
    nargs=-1,
    required=True,
    metavar="GRAPH...",
    shell_complete=shell_completion.complete_graph_files,
)
ACCOUNT_OPTION = click.option(
    "--account",
    "account_file",
    metavar="FILE.json",
    type=click.Path(),
    help="Also write the account here.",
)
FOLLOW_OPTION = click.option(
    "--follow",
    metavar="[=NAME,...]",
    help="Go on reading files as they grow, until Ctrl-C; =NAME,... follows only these.",
)
ALL = "*"
"""Stands for all names behind --follow."""

DEBUG_OPTION = click.option("--debug", is_flag=True, help="Show a traceback where something fails.")


def add_reading_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how files are written, and which column has the times."""
    for option in (
        click.option("--timezone", metavar="ZONE", help="Of times without an offset; else UTC."),
        click.option(
            "--time-format", metavar="FORMAT", help="Such as '%d/%m/%Y %H:%M', or unix_ms."
        ),
        click.option(
            "--null", multiple=True, metavar="TOKEN", help="A cell that means there is no value."
        ),
        click.option(
            "--csv",
            multiple=True,
            metavar="KEY=VALUE",
            help="How CSV is written, as under io.csv: delimiter=';', decimal=',', skip=2.",
        ),
        click.option(
            "--input-format",
            "input_form",
            type=click.Choice(INPUT_FORMATS),
            help="Of all files read, by suffix if not said; stdin is CSV.",
        ),
        click.option(
            "--time",
            multiple=True,
            metavar="COLUMN[,COLUMN]",
            help="The column of times, or several whose texts are joined by a blank.",
        ),
    ):
        function = option(function)
    return function


def add_data_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a verb that reads data: which files and columns, how they are written."""
    for option in (
        add_reading_options,
        click.option("--key", "key", metavar="COLUMN[,COLUMN]", help="The key columns."),
        click.option(
            "--in",
            "inputs",
            multiple=True,
            metavar="NAME=FILE[:COLUMN]",
            help="A file for one input; of a record, NAME=FILE[:FIELD=COLUMN,...].",
            shell_complete=shell_completion.complete_inputs,
        ),
    ):
        function = option(function)
    return function


def add_graph_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add -p, --plugin and --debug to a verb."""
    for option in (
        DEBUG_OPTION,
        PLUGIN_OPTION,
        click.option(
            "-p",
            "parameters",
            multiple=True,
            metavar="NAME=VALUE",
            shell_complete=shell_completion.complete_parameters,
            help="Give a parameter of the graph a value.",
        ),
    ):
        function = option(function)
    return function


def add_plugin_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --plugin and --debug to a verb that takes no graph."""
    return PLUGIN_OPTION(DEBUG_OPTION(function))


def give_bare_values(args: list[str]) -> list[str]:
    """Give bare --strict and --follow their values, or they would take the next word for one."""
    values = {"--strict": "--strict=losses", "--follow": f"--follow={ALL}"}
    end = args.index("--") if "--" in args else len(args)
    return [values.get(arg, arg) for arg in args[:end]] + args[end:]


def choose_followed(text: str | None, paths: Mapping[str, str]) -> frozenset[str]:
    """Return the files that --follow asks for; `paths` are those of all inputs."""
    if text is None or text == ALL:
        return frozenset(paths.values() if text else ())
    names = split_names([text])
    for name in names:
        if name not in paths:
            hint = suggest_name(name, paths) or f"there are {', '.join(paths)}"
            raise click.UsageError(f"--follow={text}: there is no input {name!r}; {hint}")
    return frozenset(paths[name] for name in names)


def choose_width() -> int:
    """Return the length of lines of text: the width of the terminal, within reason."""
    return min(max(shutil.get_terminal_size((WIDTH_MAX, 24)).columns, 40), WIDTH_MAX)


def load_graph(
    path: str,
    parameters: Iterable[str],
    plugins: Iterable[str],
    options: Mapping[str, Any] | None = None,
) -> rtbot.Graph:
    """Load a graph file with a verb's options; warnings go to stderr.

    `options` are those of reading data, which count instead of the `io` of the graph.
    """
    import rtbot

    load_plugins(plugins)
    given = collect_io(options or {})
    values = dict(map(parse_parameter, parameters))
    if given:
        graph = _load_with_io(path, values, given, options or {})
    else:
        graph = rtbot.load(Path(path), **values)
    for warning in graph.warnings:
        echo(str(warning), err=True)
    return graph


def _load_with_io(
    path: str, values: dict[str, Any], given: dict[str, Any], options: Mapping[str, Any]
) -> rtbot.Graph:
    """Load a graph with keys of `io`; one that is wrong is a wrong use of its option."""
    import rtbot
    from rtbot.core.errors import GraphError
    from rtbot.graph.document import load_document

    try:
        return rtbot.Graph(load_document(Path(path)), values, given)
    except GraphError as error:
        raise (make_usage_error(error, options) or error) from None


def parse_parameter(text: str) -> tuple[str, Any]:
    """Split NAME=VALUE; the graph converts the text, `[1, 2]` is a list."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"-p takes NAME=VALUE, not {text!r}")
    if value.startswith("[") and value.endswith("]"):
        return name, [item.strip() for item in value[1:-1].split(",") if item.strip()]
    return name, value


def load_plugins(paths: Iterable[str], option: str = "--plugin ") -> None:
    """Import files that declare operators."""
    if not paths:
        return
    from rtbot.graph.plugins import PluginError, load_plugin

    for path in paths:
        try:
            load_plugin(path)
        except PluginError as error:
            text = str(error)
            shown = text if not option and text.startswith(path) else f"{option}{path}: {text}"
            raise click.UsageError(shown) from error
