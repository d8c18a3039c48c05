"""The one way from a text to the terminal: what would control it is shown and not sent."""

from __future__ import annotations

import re

import click

from rtbot.core.notices import printable

BOLD = re.compile(r"\x1b\[1m([^\x1b]*)\x1b\[0m")


def bold(text: str) -> str:
    """Return the text in bold; `echo` removes that outside of a terminal."""
    return click.style(text, bold=True)


def echo(text: str = "", *, mark: str = "", err: bool = False, nl: bool = True) -> None:
    """Print a text, which may be from a user's file; a `mark` before it is our own.

    A line that is `bold` throughout is printed so.
    """
    found = BOLD.fullmatch(text)
    shown = bold(printable(found[1])) if found else printable(text)
    click.echo(mark + shown, err=err, nl=nl)
