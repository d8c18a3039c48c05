"""`rtbot run`: a graph over files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rtbot.cli.exits import FAILED
from rtbot.cli.options import graph_options, load_graph
from rtbot.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rtbot.api import Graph
    from rtbot.cli.running import Job
    from rtbot.formats.outlet import Target

FORMATS = ("csv", "table", "parquet", "arrow")


class _Run(click.Command):
    """Lets --strict stand alone without taking the word after it for its value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give a bare --strict its value."""
        return super().parse_args(ctx, ["--strict=losses" if a == "--strict" else a for a in args])


@click.command("run", cls=_Run)
@click.argument("graph", metavar="GRAPH")
@click.argument("file", metavar="[FILE]", required=False)
@click.option(
    "--in", "inputs", multiple=True, metavar="NAME=FILE[:COLUMN]", help="A file for one input."
)
@click.option("--out", "outputs", multiple=True, metavar="NAME=FILE", help="A file for one output.")
@click.option("-o", "target", metavar="FILE|DIR", help="Where outputs go; - is stdout.")
@click.option("--time", "time", metavar="COLUMN", help="The column of times.")
@click.option("--key", "key", metavar="COLUMN[,COLUMN]", help="The key columns.")
@click.option("--layout", type=click.Choice(["wide", "long"]), default="wide", help="Of outputs.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="Of outputs, by suffix if not said."
)
@click.option("--stream", is_flag=True, help="Write keyed rows as they are released, unsorted.")
@click.option(
    "--strict",
    type=click.Choice(["losses", "all"]),
    metavar="[all]",
    help="Exit with 1 if rows were lost; =all counts unmatched ones.",
)
@click.option("--rejects", metavar="FILE", help="Keep the bad rows that io.bad: drop leaves out.")
@click.option("--account", "account_file", metavar="FILE.json", help="Also write the account here.")
@graph_options
def command(
    graph: str,
    parameters: tuple[str, ...],
    plugins: tuple[str, ...],
    debug: bool,  # noqa: ARG001 (main reads it)
    strict: str | None,
    **options: Any,
) -> int:
    """Run GRAPH on FILE, or on a file per input.

    FILE is wide if it has a column for every input, else long, with the columns `input` and
    `value`. Results go to stdout as CSV unless -o or --out say otherwise; the account of every row
    goes to stderr.
    """
    from rtbot.cli.running import execute
    from rtbot.report import losses, show_account

    loaded = load_graph(graph, parameters, plugins)
    account = execute(loaded, _job(loaded, options), lambda text: click.echo(text, err=True))
    show_account(account, sys.stderr)
    found = losses(account, unmatched=strict == "all") if strict else {}
    if found:
        told = ", ".join(f"{reason} {count}" for reason, count in found.items())
        click.echo(f"--strict: rows were lost: {told}", err=True)
    return FAILED if found else 0


def _job(graph: Graph, options: Mapping[str, Any]) -> Job:
    """Make of the options what is to be read and written."""
    from rtbot.cli.running import Job
    from rtbot.formats.wiring import Request

    io = graph.checked.io
    key = io.key if options["key"] is None else _names(options["key"])
    _check_columns(graph, key)
    file = options["file"]
    if file is None and not options["inputs"]:
        name = next(iter(graph.checked.inputs))
        raise click.UsageError(f"there is nothing to read: give a FILE, or --in {name}=FILE")
    request = Request(file, _inputs(graph, options["inputs"]), options["time"] or io.time, key)
    return Job(request, _targets(graph, options), options["rejects"], options["account_file"])


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _check_columns(graph: Graph, key: tuple[str, ...]) -> None:
    names = ["t", *key, *graph.checked.outputs]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise click.UsageError(f"two columns of the result would be named {twice[0]!r}")


def _inputs(graph: Graph, given: tuple[str, ...]) -> dict[str, tuple[str, str | None]]:
    """Split every NAME=FILE[:COLUMN]; what exists as a file has no column."""
    found: dict[str, tuple[str, str | None]] = {}
    for text in given:
        name, path = _assigned(text, "--in", graph.checked.inputs)
        if name in found:
            raise click.UsageError(f"--in {name} is given twice")
        column = None
        if ":" in path and not Path(path).exists():
            path, _, column = path.rpartition(":")
        found[name] = path, column
    return found


def _assigned(text: str, option: str, known: Collection[str]) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not equals or not path:
        raise click.UsageError(f"{option} takes NAME=FILE, not {text!r}")
    if name not in known:
        hint = nearest(name, known) or f"there are {', '.join(known)}"
        raise click.UsageError(f"{option} {text}: the graph has no {name!r}; {hint}")
    return name, path


def _targets(graph: Graph, options: Mapping[str, Any]) -> tuple[Target, ...]:
    """Say which outputs go where: --out, the rest to -o; without either all go to stdout."""
    from rtbot.files import STANDARD, Files
    from rtbot.formats.opening import form_of
    from rtbot.formats.outlet import Target

    outputs = graph.checked.outputs
    places = dict(_assigned(text, "--out", outputs) for text in options["outputs"])
    rest, target, form = options["target"], options["target"], options["form"]
    if rest is None and not places:
        rest = STANDARD
    if target is not None and Files().is_folder(target):
        Files().make_folder(target)
        suffix = form if form not in (None, "table") else "csv"
        places = {name: str(Path(target) / f"{name}.{suffix}") for name in outputs} | places
        rest = None
    paths = {name: places.get(name, rest) for name in outputs}
    found = []
    for path in dict.fromkeys(path for path in paths.values() if path is not None):
        chosen = tuple(name for name in outputs if paths[name] == path)
        form_here = form or form_of(path)
        stream = (options["stream"] or path == STANDARD) and form_here != "table"
        found.append(Target(path, form_here, chosen, options["layout"], stream))
    return tuple(found)
