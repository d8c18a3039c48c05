"""`rtbot datalog`: a Datalog program on files of facts, or in a shell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rtbot.cli.options import DEBUG_OPTION
from rtbot.core.modes import MODES

if TYPE_CHECKING:
    import rtbot


@click.command("datalog")
@click.argument("program", metavar="PROGRAM.dl", type=click.Path())
@click.option(
    "-F",
    "--facts",
    "facts",
    metavar="FOLDER",
    type=click.Path(),
    help="Where the files R.facts are.  [default: here; with -i or --checkpoint none is read]",
)
@click.option(
    "-D",
    "--output",
    "target",
    metavar="FOLDER",
    type=click.Path(),
    help="Where the files R.csv go; - is stdout.  [default: here; with -i none is written]",
)
@click.option("-i", "--interactive", is_flag=True, help="A shell: insert, remove, commit, why ...")
@click.option(
    "--checkpoint",
    metavar="FILE",
    type=click.Path(),
    help="Keep the facts here with every commit, and go on with them.",
)
@click.option(
    "--max-facts", metavar="N", type=click.IntRange(1), help="Rows that all rules may derive."
)
@click.option(
    "--max-iterations", metavar="N", type=click.IntRange(1), help="Rounds of a recursion."
)
@click.option(
    "--explain", is_flag=True, help="Evaluate, then print strata, joins and sizes; write nothing."
)
@click.option(
    "--why", metavar="'R(1, 2)'", help="Print a derivation of a row at the end; write nothing."
)
@click.option(
    "--compile",
    "mode",
    type=click.Choice(MODES),
    help="When the loops are compiled.  [default: beside]",
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but results and errors.")
@DEBUG_OPTION
def command(program: str, debug: bool, **options: Any) -> int:  # noqa: ARG001 (main reads it)
    """Evaluate PROGRAM.dl on the facts of a folder.

    Facts are read from files R.facts, one row a line, its cells divided by tabs, as the .input
    lines of the program say; results are written to R.csv, as its .output lines say. With -i facts
    are inserted and removed by hand, and every commit prints what it has changed.

    \b
    rtbot datalog reach.dl -F facts -D out
    """  # noqa: D301 (click wants the character itself: it keeps the line as it is)
    from rtbot.cli.datalog_run import open_database

    database = _make_database(program, options)
    with open_database(database, options) as run:
        if options["interactive"]:
            from rtbot.cli.datalog_shell import DatalogShell

            code = DatalogShell(run, program).talk()
            if options["target"]:
                database.write_results(options["target"])
            return code
        if options["explain"] or options["why"]:
            run.print_answers(options["why"], explains=options["explain"])
        else:
            database.write_results(options["target"] or ".")
    return 0


def _make_database(program: str, options: dict[str, Any]) -> rtbot.Datalog:
    import rtbot

    limits = {name: options[name] for name in ("max_facts", "max_iterations") if options[name]}
    return rtbot.Datalog(Path(program), compiled=options["mode"], **limits)
