"""The columns that a user names for a run, in place of those that the graph names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import DataError, suggest_name

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """The columns of times, none if they are left to the graph, and {input: column}."""

    time: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)


def name_columns(
    time: str | Sequence[str] | None, inputs: Mapping[str, str] | None, known: Iterable[str]
) -> ColumnNames:
    """Return the columns that are named; `known` are the inputs of the graph.

    Raises TypeError if something else than names is given, DataError for an unknown input.
    """
    if not isinstance(inputs or {}, Mapping):
        raise TypeError(f"inputs is {{input: column}}, not {inputs!r}")
    names = (time,) if isinstance(time, str) else time or ()
    if not isinstance(names, Sequence):
        raise TypeError(f"time is the name of a column, or several, not {time!r}")
    columns = dict(inputs or {})
    for name in (*names, *columns.values()):
        if not isinstance(name, str):
            raise TypeError(f"columns are given by their names, not as {type(name).__name__}")
    inputs_there = list(known)
    for name, column in columns.items():
        if name not in inputs_there:
            raise _make_unknown_error(name, column, inputs_there)
    return ColumnNames(tuple(names), columns)


def _make_unknown_error(name: Any, column: str, known: Sequence[str]) -> DataError:
    hint = suggest_name(str(name), known) or f"the inputs are {', '.join(known)}"
    if column in known:
        hint = f"it is {{input: column}}: {{{column!r}: {name!r}}}"
    return DataError(f"the graph has no input {name!r}", code="RT206", hint=hint)
