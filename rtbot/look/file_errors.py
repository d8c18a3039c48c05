"""Errors of reading, explained where they are raised; nothing is imported until there is one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rtbot.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.graph.model import CheckedGraph
    from rtbot.io.bindings import InputSpec


@contextmanager
def explain_errors(checked: CheckedGraph, request: InputSpec) -> Iterator[None]:
    """Let errors about a file also show what it looks like, and the options that would read it."""
    try:
        yield
    except DataError as error:
        from rtbot.look.explain_errors import collect_used_io, explain_error

        explain_error(error, collect_used_io(checked, request))
        raise
