"""The one place where an error becomes a message on stderr and an exit code."""

from __future__ import annotations

import os
import sys
import traceback

import click

from rtbot import errors

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


class Terminated(BaseException):
    """SIGTERM arrived."""


CODES[Terminated] = TERMINATED


def exit_code(error: BaseException, *, debug: bool = False) -> int:
    """Tell what went wrong, never as a traceback unless `debug`, and return the code."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        _silence_stdout()
        return BROKEN_PIPE
    if debug and not isinstance(error, click.ClickException):
        traceback.print_exception(error)
    known = [CODES[kind] for kind in type(error).__mro__ if kind in CODES]
    try:
        _tell(error, internal=not known)
    except BrokenPipeError:
        _silence_stdout()
    return known[0] if known else INTERNAL


def describe(error: errors.DataError) -> str:
    """Say what is wrong with data in one line, the place first where it is known."""
    where = {name: value for name, value in error.where.items() if value is not None}
    file, row = where.pop("file", None), where.pop("row", None)
    place = ":".join(str(part) for part in (file, row) if part is not None)
    rest = ", ".join(f"{name} {_shown(value)}" for name, value in where.items())
    text = f"{place}: error: {error.message}" if place else f"error: {error.message}"
    return f"{text} ({rest})" if rest else text


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _tell(error: BaseException, *, internal: bool) -> None:
    if isinstance(error, click.ClickException):
        error.show()
    elif isinstance(error, errors.DataError):
        _print(describe(error))
    elif isinstance(error, errors.GraphError):
        _print(str(error))
    elif isinstance(error, OSError):
        file = f"{error.filename}: " if error.filename else ""
        _print(f"{file}error: {error.strerror or error}")
    elif isinstance(error, MemoryError):
        _print("error: out of memory")
    elif isinstance(error, KeyboardInterrupt | click.Abort | Terminated):
        _print("interrupted")
    elif internal:
        _print(f"internal error: {type(error).__name__}: {error}")
        _print("Please report it; --debug shows where it happened.")
    else:
        _print(f"error: {error}")


def _print(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201 (this is where the program talks)


def _silence_stdout() -> None:
    """Nobody reads stdout any more: let Python not complain about that when it exits."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
