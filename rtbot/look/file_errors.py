"""Errors of reading, explained where they are raised; nothing is imported until there is one."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.graph.model import CheckedGraph, Io
    from rtbot.io.bindings import InputSpec


def collect_used_io(checked: CheckedGraph, request: InputSpec) -> list[Io]:
    """Return the options in use, of all inputs."""
    own = [one.io for one in checked.inputs.values() if one.io is not None]
    return [replace(checked.io, time=request.time, key=request.key), *own]


def may_have_keys(checked: CheckedGraph) -> bool:
    """Return whether files may have key columns: those of tables that change have none."""
    return any(one.type.schema is None for one in checked.inputs.values())


@contextmanager
def explain_errors(used: Sequence[Io], *, keyed: bool = True) -> Iterator[None]:
    """Let errors about a file also show what it looks like, and the options that would read it.

    `used` are the options in use; files that are not `keyed` get no key.
    """
    try:
        yield
    except DataError as error:
        from rtbot.look.explain_errors import explain_error

        explain_error(error, used, keyed=keyed)
        raise
