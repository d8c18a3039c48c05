"""`rtbot compare`: the same data in many ways, which must give the same bits."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from rtbot.cli import shell_completion
from rtbot.cli.exit_codes import FAILED, OK
from rtbot.cli.messages import echo
from rtbot.cli.options import JSON_OPTION, add_data_options, add_graph_options, load_graph
from rtbot.core.notices import printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import rtbot
    from rtbot.compare import ComparisonReport

    Tell = Callable[[str, int], object]

MANY = click.IntRange(min=1)


@click.command("compare")
@click.argument("graph", metavar="GRAPH", shell_complete=shell_completion.complete_graph_files)
@click.argument("file", metavar="[DATA]", required=False, type=click.Path())
@add_data_options
@click.option("--seed", type=int, default=0, show_default=True, help="Decides what is random.")
@click.option(
    "--runs", type=MANY, default=4, show_default=True, help="Runs of every way that is random."
)
@click.option(
    "--rows",
    type=MANY,
    default=20_000,
    show_default=True,
    help="Rows that slow ways take at most.",
)
@click.option(
    "--keys", type=MANY, default=100, show_default=True, help="Keys that run alone at most."
)
@click.option("--spark", is_flag=True, help="Also on Spark, shuffled and spread over partitions.")
@click.option(
    "--save",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Where a difference is written, to be run again.",
)
@click.option(
    "--replay",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Run a difference again that --save wrote; there is no DATA then.",
)
@JSON_OPTION
@add_graph_options
def command(
    graph: str,
    parameters: tuple[str, ...],
    plugins: tuple[str, ...],
    debug: bool,  # noqa: ARG001 (main reads it)
    **options: Any,
) -> int:
    """Run GRAPH on DATA in many ways, and say whether all outputs are the same, bit for bit.

    Data is given as to `run`, and held in memory. The ways: random batches, inputs and keys in
    other orders, one message at a time, saved and resumed in between, every key alone, interpreted
    instead of compiled, columns of other types; with --spark on Spark. The exit code is 1 if
    anything differs; the smallest input that shows it is printed then.

    The digests of the outputs are the same on every machine, and those of `Result.digest`.
    """
    from rtbot.compare import save
    from rtbot.storage.files import Files

    loaded = load_graph(graph, parameters, plugins, options)
    if options["spark"]:
        _check_spark()
    if options["folder"]:
        Files().make_folder(options["folder"])
    agreement = _compare(loaded, options)
    if options["form"] == "json":
        echo(json.dumps(agreement.to_json(), indent=2))
    else:
        _print_report(agreement)
    if agreement.found is not None and options["folder"]:
        paths = save(agreement.found, loaded, options["folder"])
        echo(f"run it again: rtbot compare {paths[0]} --replay {paths[1]}", err=True)
    return OK if agreement.same else FAILED


def _compare(graph: rtbot.Graph, options: dict[str, Any]) -> ComparisonReport:
    from rtbot.cli.run_options import build_request
    from rtbot.compare import ComparisonOptions, compare, replay

    if options["replay"]:
        if options["file"] or options["inputs"]:
            raise click.UsageError("--replay has rows of its own: give no DATA beside it")
        return replay(graph, options["replay"])
    request = build_request(graph, {"checkpoint": None, **options})
    wish = ComparisonOptions(
        **{name: options[name] for name in ("seed", "runs", "rows", "keys", "spark")}
    )
    with _show_status() as tell:
        return compare(graph, request, request.key, wish, tell)


def _check_spark() -> None:
    from rtbot.compare.spark import describe_missing

    found = describe_missing()
    if found:
        raise click.UsageError(f"--spark: {found}")


def _show_status() -> AbstractContextManager[Tell | None]:
    """Show what is being run, if stderr is a terminal."""
    return _Status() if sys.stderr.isatty() else nullcontext()


class _Status:
    """A line at the end of a terminal: the variant and the run."""

    def __enter__(self) -> Tell:
        from rich.console import Console

        self._status = Console(stderr=True).status("reading")
        self._status.start()
        return self._update

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def _update(self, way: str, run: int) -> None:
        self._status.update(f"{way}, run {run}" if run else way)


def _print_report(found: ComparisonReport) -> None:
    for line in found.lines():
        echo(line)
    echo(mark=click.style(printable(found.verdict), fg="green" if found.same else "red"))
