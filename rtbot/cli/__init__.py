"""The command line. `main` is the program; every verb is a module of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program with these arguments (default: those of the process) and exit."""
    from rtbot.cli.startup import prepare

    prepare()
    from rtbot.cli.main import run_and_exit

    run_and_exit(arguments)
