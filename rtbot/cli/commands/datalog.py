"""`rtbot datalog`: a Datalog program on files of facts, or in a shell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rtbot.cli.options import DEBUG_OPTION
from rtbot.core.modes import MODES

if TYPE_CHECKING:
    import rtbot


@click.command("datalog", context_settings={"allow_extra_args": True})
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
@click.pass_context
def command(
    ctx: click.Context,
    /,
    program: str,
    debug: bool,  # noqa: ARG001 (main reads it)
    **options: Any,
) -> int:
    """Evaluate PROGRAM.dl on the facts of a folder.

    Facts are read from files R.facts, one row a line, its cells divided by tabs, as the .input
    lines of the program say; results are written to R.csv, as its .output lines say. With -i facts
    are inserted and removed by hand, and every commit prints what it has changed.

    \b
    rtbot datalog reach.dl -F facts -D out
    """  # noqa: D301 (click wants the character itself: it keeps the line as it is)
    from rtbot.cli.datalog_run import open_database

    if ctx.args:
        raise _make_extra_error(ctx.args[0])
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


def _make_extra_error(path: str) -> click.UsageError:
    """Return the error of a file or folder behind the program."""
    if Path(path).is_dir():
        return click.UsageError(f"{path}: a folder of facts is an option: -F {path}")
    given = f'filename="{Path(path).name}"'
    given += ', delimiter=","' if Path(path).suffix == ".csv" else ""
    message = f"{path}: facts are read from files R.facts of the folder that -F says; the program"
    return click.UsageError(f"{message} names another file, as .input R({given})")


def _make_database(program: str, options: dict[str, Any]) -> rtbot.Datalog:
    import rtbot

    limits = {name: options[name] for name in ("max_facts", "max_iterations") if options[name]}
    return rtbot.Datalog(Path(program), compiled=options["mode"], **limits)
