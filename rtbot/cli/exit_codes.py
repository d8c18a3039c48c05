"""The one place where an error becomes a message on stderr and an exit code."""

from __future__ import annotations

import io
import os
import sys
import traceback
from contextlib import suppress

import click

from rtbot.core import errors
from rtbot.core.notices import printable
from rtbot.io.signals import Terminated

OK, FAILED, USAGE, GRAPH, DATA, CHECKPOINT, LIMIT = range(7)
INTERNAL, INPUT_OUTPUT, INTERRUPTED, BROKEN_PIPE, TERMINATED = 70, 74, 130, 141, 143

CODES: dict[type[BaseException], int] = {
    errors.GraphError: GRAPH,
    errors.DataError: DATA,
    errors.QueueFull: LIMIT,
    errors.ResourceLimit: LIMIT,
    errors.CheckpointError: CHECKPOINT,
    errors.RtbotError: DATA,
    click.exceptions.Exit: OK,
    click.ClickException: USAGE,
    click.Abort: INTERRUPTED,
    BrokenPipeError: BROKEN_PIPE,
    KeyboardInterrupt: INTERRUPTED,
    MemoryError: LIMIT,
    OSError: INPUT_OUTPUT,
}
"""From the class of an error, or the nearest above it, to the code."""


CODES[Terminated] = TERMINATED

LIMIT_CODES = ("RT521",)
"""Codes of errors that are limits, whatever their class."""


def report_error(error: BaseException, *, debug: bool = False) -> int:
    """Report what went wrong, never as a traceback unless `debug`, and return the code."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        _silence_stdout()
        return BROKEN_PIPE
    if debug and not isinstance(error, click.ClickException):
        traceback.print_exception(error)
    known = [CODES[kind] for kind in type(error).__mro__ if kind in CODES]
    if getattr(error, "code", None) in LIMIT_CODES:
        known.insert(0, LIMIT)
    _print_error(error, internal=not known)
    if isinstance(error, OSError):
        _abandon_stdout()
    return known[0] if known else INTERNAL


def _print_error(error: BaseException, *, internal: bool) -> None:
    if isinstance(error, click.ClickException):
        shown = io.StringIO()
        error.show(shown)
        _print(shown.getvalue().removesuffix("\n"))
        _print_parameter_hint(error)
    elif isinstance(error, errors.RtbotError):
        _print(str(error))
    elif isinstance(error, OSError):
        file = f"{error.filename}: " if error.filename else ""
        _print(f"{file}error: {error.strerror or error}{_suggest_path(error)}")
    elif isinstance(error, MemoryError):
        _print("error: out of memory")
    elif internal:
        _print(f"internal error: {type(error).__name__}: {error}")
        _print("Please report it; --debug shows where it happened.")
    else:
        _print("interrupted")


def _print_parameter_hint(error: click.ClickException) -> None:
    """Print how parameters of the graph are given, if one was taken for an option."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return
    if any(option.name == "parameters" for option in error.ctx.command.params):
        name = error.option_name.lstrip("-")
        _print(f"A parameter of the graph is given as -p {name}=VALUE.")


def _suggest_path(error: OSError) -> str:
    """Return what a missing file may have meant: another name, or a folder to make."""
    if not isinstance(error, FileNotFoundError) or not isinstance(error.filename, str):
        return ""
    folder, name = os.path.split(error.filename)
    if not os.path.isdir(folder or "."):  # noqa: PTH112 (asked before anything is imported)
        return f"; there is no folder {folder}"
    if os.path.islink(error.filename):  # noqa: PTH114
        return "; it is a link to what is not there"
    try:
        there = os.listdir(folder or ".")  # noqa: PTH208
    except OSError:  # one may open files in it and not list them
        return ""
    hint = errors.suggest_name(name, there[: errors.HINTS_NAMES])
    return f"; {hint}" if hint else ""


def _print(text: str) -> None:
    with suppress(OSError):  # stderr takes no more: the exit code still reports what happened
        print(printable(text), file=sys.stderr)  # noqa: T201 (this is where the program talks)


def _abandon_stdout() -> None:
    """Let Python not write to stdout again at exit, and fail, once it takes no more."""
    try:
        sys.stdout.flush()
    except OSError:
        _silence_stdout()


def _silence_stdout() -> None:
    """Silence a stdout that nobody reads any more, so that Python does not complain at exit."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
