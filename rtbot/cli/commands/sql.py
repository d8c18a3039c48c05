"""`rtbot sql`: a query over files of tables that change."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from rtbot.cli.messages import bold, echo
from rtbot.cli.options import (
    ACCOUNT_OPTION,
    DEBUG_OPTION,
    FOLLOW_OPTION,
    INPUT_FORMATS,
    add_reading_options,
    choose_width,
    give_bare_values,
)
from rtbot.core.modes import MODES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import rtbot


class _Sql(click.Command):
    """Command whose --follow needs no value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give a bare --follow its value."""
        return super().parse_args(ctx, give_bare_values(args))


@click.command("sql", cls=_Sql)
@click.argument("query", metavar="QUERY")
@click.argument("files", metavar="[FILE]...", nargs=-1)
@add_reading_options
@click.option(
    "--in",
    "inputs",
    multiple=True,
    metavar="NAME=FILE",
    help="A table by another name in the query than its file has.",
)
@click.option(
    "--types",
    multiple=True,
    metavar="NAME='FIELD: TYPE, ...'",
    help="Types of fields in place of those of the cells: integer, number?, text, boolean.",
)
@click.option(
    "--unique",
    multiple=True,
    metavar="NAME=COLUMN[,COLUMN]",
    help="The key of a table: a row replaces the one with the same key.",
)
@click.option(
    "--io",
    multiple=True,
    metavar="KEY=VALUE",
    help="As under io of a graph: excess=ignore, conflicts=last, on_bad_transaction=discard, "
    "lateness=5, bad=drop.",
)
@click.option("--snapshot", is_flag=True, help="Print the rows that are there at the end.")
@FOLLOW_OPTION
@click.option("--explain", is_flag=True, help="Print the operators of the query, and run nothing.")
@click.option(
    "-o", "target", metavar="FILE", type=click.Path(), help="Where the result goes; - is stdout."
)
@click.option(
    "--format",
    "form",
    type=click.Choice([*INPUT_FORMATS, "table"]),
    help="Of the result, by suffix if not said.",
)
@ACCOUNT_OPTION
@click.option(
    "--compile",
    "mode",
    type=click.Choice(MODES),
    help="When the query is compiled.  [default: beside]",
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@DEBUG_OPTION
def command(query: str, debug: bool, **options: Any) -> None:  # noqa: ARG001 (main reads it)
    """Run QUERY over files of tables that change, and print the changes of its result.

    The table of orders.csv is `orders` in the query; --in gives a table another name. A file has a
    column of times, a column for every field, and `weight` or `op` (+ or -) where rows are also
    deleted. Every change of the result has its time and a weight; with --snapshot only the rows at
    the end are printed. The types of the fields are those of all cells in the file.

    \b
    rtbot sql "SELECT region, count(*) AS n FROM orders GROUP BY region" orders.csv
    """  # noqa: D301 (click wants the character itself: it keeps the line as it is)
    from rtbot.cli.io_options import name_options
    from rtbot.core.errors import PlacedError

    try:
        _run_query(query, options)
    except PlacedError as error:
        error.hint = name_options(error.hint)
        raise


def _run_query(query: str, options: Mapping[str, Any]) -> None:
    from rtbot.cli.job_runner import execute_job
    from rtbot.cli.sql_query import build_query, build_query_job
    from rtbot.io.account_table import show_account

    found = build_query(query, options)
    for note in () if options["quiet"] else found.notes:
        echo(note, err=True)
    if options["explain"]:
        _print_plan(found.graph)
        return
    job = build_query_job(found, options)
    account = execute_job(found.graph, job, options["mode"], quiet=options["quiet"])
    if not options["quiet"]:
        show_account(account, sys.stderr)


def _print_plan(graph: rtbot.Graph) -> None:
    from rtbot.explain import explain, format_graph

    for line in format_graph(explain(graph), choose_width(), bold):
        echo(line)
