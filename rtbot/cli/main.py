"""The program: its verbs, loaded when they are used, and the way from an error to an exit code."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rtbot import __version__
from rtbot.cli.exit_codes import report_error
from rtbot.cli.shell_completion import VARIABLE
from rtbot.cli.startup import begin_collecting, end
from rtbot.io.signals import catch_signals
from rtbot.storage.files import STANDARD, name_path_in_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.shell_completion import CompletionItem

VERBS = {
    "init": "write a graph to start from",
    "sample": "write data to try a graph on",
    "look": "show what a file is, and the options that read it",
    "validate": "report every problem of graph files",
    "run": "run a graph on files",
    "sql": "query files of tables that change",
    "datalog": "evaluate rules on files of facts, or in a shell",
    "warm": "compile graphs ahead",
    "draw": "draw a graph as SVG or Mermaid",
    "test": "run the tests that graph files hold",
    "compare": "run data in many ways, and say whether all give the same bits",
    "explain": "show types, warm-up, state and progress of a graph, or what an error code means",
    "ops": "list the operators",
    "doc": "show an operator: ports, parameters and an example",
    "check-operators": "try operators of your own on everything that an operator must do",
    "schema": "print the JSON Schema of graph files, for editors",
    "completion": "print the script that completes commands in a shell",
}
"""Verbs and what they do; verb `x-y` is `command` in `rtbot.cli.commands.x_y`."""


class Verbs(click.Group):
    """The group of verbs: a verb's module is imported when it is used; listing imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the verbs in the order in which a new user needs them."""
        return list(VERBS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002
        cmd_name: str,
    ) -> click.Command | None:
        """Import a verb."""
        if cmd_name not in VERBS:
            return None
        module = cmd_name.replace("-", "_")
        command: click.Command = import_module(f"rtbot.cli.commands.{module}").command
        if cmd_name != "run":  # which has more to import
            begin_collecting()
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the verb, or hint at the nearest one."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            from rtbot.core.errors import suggest_known_name

            hint = suggest_known_name(args[0], VERBS) or f"the verbs are {', '.join(VERBS)}"
            if "." in args[0]:
                hint = f"a verb comes first, as in rtbot run {args[0]}"
            if args[0] == "help":
                hint = " ".join(["say rtbot", *args[1:2], "--help"])
            ctx.fail(f"there is no verb {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer the verbs without importing them."""
        from click.shell_completion import CompletionItem

        verbs = [CompletionItem(n, help=t) for n, t in VERBS.items() if n.startswith(incomplete)]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """List the verbs without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rtbot")
def program() -> None:
    """Deterministic streams by event time: one graph file, the same bits everywhere.

    Data goes to stdout, everything else to stderr. `rtbot VERB --help` shows more.
    """


def run_and_exit(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program with these arguments (default: those of the process) and exit.

    A process that is given no other arguments is the program's own, and ends at once.
    """
    if VARIABLE in os.environ:
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(program, {}, "rtbot", VARIABLE, os.environ[VARIABLE]))
    if arguments is None:
        end(run(sys.argv[1:]))
    sys.exit(run(list(arguments)))


def run(arguments: list[str]) -> int:
    """Run the program; return the exit code."""
    debug = "--debug" in arguments
    with catch_signals(at_once=True) as stop:
        try:
            with program.make_context("rtbot", arguments) as context:
                code = program.invoke(context) or 0
            with name_path_in_errors(STANDARD):
                sys.stdout.flush()
            stop.check()
        except BaseException as error:  # noqa: BLE001 (this is the one place where errors end)
            return report_error(stop.cause(error), debug=debug)
    return int(code)
