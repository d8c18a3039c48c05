"""`rtbot look`: what a file is, and the options that read it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from rtbot.cli.exit_codes import DATA, OK
from rtbot.cli.messages import bold, echo
from rtbot.cli.options import DEBUG_OPTION, JSON_OPTION
from rtbot.look.sparkline import BLOCKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.look.file_facts import FileFacts


@click.command("look")
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@JSON_OPTION
@DEBUG_OPTION
def command(paths: Sequence[str], form: str, debug: bool) -> int:  # noqa: ARG001
    """Show what a FILE is, and the options that read it.

    That is its dialect, header, columns with types and tokens of absent cells, its time with span,
    step, gaps and order, and keys. All of it is a guess, with its reason, from the bytes that are
    looked at: a small file as a whole, of a large one the beginning and parts from later.

    The exit code is 4 if no options read a file.
    """
    from rtbot.look.look_at_file import look_at_file
    from rtbot.storage.files import Files

    files = Files()
    names = [name for path in paths for name in files.list_matching(path)]
    found = [look_at_file(name, files, tried=True) for name in names]
    if form == "json":
        echo(json.dumps([facts.to_json() for facts in found], indent=2))
    else:
        _print_reports(found)
    return DATA if any(facts.obstacles for facts in found) else OK


def _print_reports(found: Sequence[FileFacts]) -> None:
    from rtbot.look.file_report import format_report

    plain = not _can_encode(BLOCKS)
    for number, facts in enumerate(found):
        if number:
            echo()
            echo()
        for line in format_report(facts, bold, plain=plain):
            echo(line)


def _can_encode(text: str) -> bool:
    """Return whether stdout can show a text."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
