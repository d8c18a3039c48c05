"""`rtbot run`: a graph over files."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click

from rtbot.cli import shell_completion
from rtbot.cli.exit_codes import FAILED
from rtbot.cli.messages import echo
from rtbot.cli.options import (
    ACCOUNT_OPTION,
    FOLLOW_OPTION,
    INPUT_FORMATS,
    add_data_options,
    add_graph_options,
    give_bare_values,
    load_graph,
    parse_parameter,
)
from rtbot.core.modes import MODES

FORMATS = (*INPUT_FORMATS, "table")


class _Bytes(click.ParamType[int]):
    """A number of bytes, such as 64M."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the text."""
        from rtbot.cli.run_options import parse_bytes

        try:
            return value if isinstance(value, int) else parse_bytes(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class _Run(click.Command):
    """Command whose --strict and --follow need no value, and that explains a second FILE."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Explain how a second FILE is given."""
        args = give_bare_values(args)
        ctx.allow_extra_args = True
        rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            for text in ctx.params["parameters"]:
                parse_parameter(text)
            ctx.fail(f"one FILE is for all inputs; give {rest[0]!r} to one: --in NAME={rest[0]}")
        return rest


@click.command("run", cls=_Run)
@click.argument("graph", metavar="GRAPH", shell_complete=shell_completion.complete_graph_files)
@click.argument("file", metavar="[FILE]", required=False, type=click.Path())
@add_data_options
@click.option(
    "--out",
    "outputs",
    multiple=True,
    metavar="NAME=FILE",
    help="A file for one output.",
    shell_complete=shell_completion.complete_outputs,
)
@click.option(
    "-o", "target", metavar="FILE|DIR", type=click.Path(), help="Where outputs go; - is stdout."
)
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
@click.option(
    "--tap",
    "taps",
    multiple=True,
    metavar="GLOB",
    help="Also write what operators of these names give, as columns.",
)
@click.option(
    "--rejects",
    metavar="FILE",
    type=click.Path(),
    help="Keep the bad rows that io.bad: drop leaves out.",
)
@click.option(
    "--plot", metavar="FILE.svg", type=click.Path(), help="Also draw the outputs over time."
)
@ACCOUNT_OPTION
@click.option(
    "--memory",
    type=_Bytes(),
    default="256M",
    show_default=True,
    metavar="BYTES",
    help="What rows may take that wait to be put in order; more go to the disk.",
)
@click.option(
    "--queue",
    type=click.IntRange(min=1),
    metavar="ROWS",
    help="How many rows may wait at one port for another input.  [default: 1000000]",
)
@click.option(
    "--checkpoint",
    metavar="FILE",
    type=click.Path(),
    help="Keep here what the run needs to be resumed after a crash.",
)
@click.option(
    "--every",
    type=click.IntRange(min=1),
    metavar="ROWS",
    help="How many rows of input go between two checkpoints, at least.  [default: 1000000]",
)
@FOLLOW_OPTION
@click.option("--resume", is_flag=True, help="Go on where the checkpoint is, if there is one.")
@click.option(
    "--compile",
    "mode",
    type=click.Choice(MODES),
    help="When the graph is compiled: before it runs, by another process while it runs as plain "
    "Python, or never.  [default: beside]",
)
@click.option("--timings", is_flag=True, help="Print where the time went.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@add_graph_options
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
    `value`; - is stdin. Results go to stdout as CSV unless -o or --out say otherwise; the account
    of every row goes to stderr.
    """
    from rtbot.cli.job_runner import execute_job
    from rtbot.cli.run_options import build_job
    from rtbot.io.account_table import show_account, sum_losses, without_match
    from rtbot.io.timings import Timings

    quiet = options["quiet"]
    timings = Timings() if options["timings"] else None
    loaded = load_graph(graph, parameters, plugins, options)
    asked = build_job(loaded, options | {"graph": graph, "plugins": plugins})
    account = execute_job(loaded, replace(asked, timings=timings), options["mode"], quiet=quiet)
    if not quiet:
        show_account(account, sys.stderr)
    for line in timings.list_lines() if timings is not None else ():
        echo(line, err=True)
    found = sum_losses(account, unmatched=strict == "all") if strict else {}
    if found:
        text = ", ".join(f"{reason} {count}" for reason, count in found.items())
        echo(f"--strict: rows were lost: {text}", err=True)
    alone = without_match(account) if strict == "all" else 0
    if alone:
        echo(f"--strict: rows found no match: unmatched {alone}", err=True)
    return FAILED if found or alone else 0
