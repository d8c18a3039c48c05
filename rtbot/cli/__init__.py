"""The command line. `main` is the program; every verb is a module of this package."""

from rtbot.cli.program import main

__all__ = ["main"]
