"""The command line. `main` is the program; every verb is a module of this package."""

from rtbot.cli.main import main

__all__ = ["main"]
