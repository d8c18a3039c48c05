"""The columns that a user names for a run, in place of those that the graph names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import DataError, suggest_name
from rtbot.core.vector_names import VECTOR

if TYPE_CHECKING:
    from rtbot.graph.model import Input


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """The columns of times, none if they are left to the graph, and {input: column}.

    A record has a column for each of its fields: {input: {field: column}}, a vector one for each
    element, by its number, or one of lists.
    """

    time: tuple[str, ...] = ()
    inputs: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)

    def name_fields(self, one: Input) -> Mapping[str, str]:
        """Return the columns of fields of a record that are named, by the user or by the graph."""
        given = self.inputs.get(one.name, {})
        return {**one.columns, **(given if isinstance(given, Mapping) else {})}

    def name_columns(self, one: Input) -> str | Mapping[str, str]:
        """Return what names the columns of an input of several values; {} if nothing does."""
        return self.name_value(one.name) or self.name_fields(one)

    def name_value(self, name: str) -> str | None:
        """Return the column of the values of an input, if it is named."""
        given = self.inputs.get(name)
        return given if isinstance(given, str) else None


def name_columns(
    time: str | Sequence[str] | None,
    inputs: Mapping[str, str | Sequence[str] | Mapping[str, str]] | None,
    known: Mapping[str, Input],
) -> ColumnNames:
    """Return the columns that are named; `known` are the inputs of the graph.

    Raises TypeError if something else than names is given, DataError for an unknown input or field.
    """
    if not isinstance(inputs or {}, Mapping):
        raise TypeError(f"inputs is {{input: column}}, not {inputs!r}")
    names = (time,) if isinstance(time, str) else time or ()
    if not isinstance(names, Sequence):
        raise TypeError(f"time is the name of a column, or several, not {time!r}")
    columns: dict[str, Any] = dict(inputs or {})
    for name, column in columns.items():
        if name not in known:
            raise _make_unknown_error(name, column, list(known))
        fields = [field.name for field in known[name].type.fields]
        if known[name].type.kind == VECTOR and not isinstance(column, str):
            columns[name] = column = number_columns(name, column, len(fields))  # noqa: PLW2901
        single = not fields or (isinstance(column, str) and known[name].type.kind == VECTOR)
        given = [column] if single else _list_field_columns(name, column, fields)
        names = (*names, *given)
    for column in names:
        if not isinstance(column, str):
            raise TypeError(f"columns are given by their names, not as {type(column).__name__}")
    return ColumnNames((time,) if isinstance(time, str) else tuple(time or ()), columns)


def number_columns(name: str, columns: Any, size: int) -> Mapping[str, str]:
    """Return the columns of the elements of a vector by number; raise DataError if not so many."""
    if isinstance(columns, Mapping):
        return columns
    if len(columns) != size:
        message = f"{name} has {size} elements, and {len(columns)} columns are named"
        hint = "name a column for each, or one column of lists"
        raise DataError(message, code="RT206", hint=hint)
    return {str(place): column for place, column in enumerate(columns)}


def _list_field_columns(name: str, columns: Any, fields: Sequence[str]) -> list[Any]:
    """Return the columns of a record; raise DataError unless they are {field: column}."""
    if not isinstance(columns, Mapping):
        message = f"{name} is a record, which has a column for every field"
        hint = f"name them by field: {{{name!r}: {{{fields[0]!r}: {columns!r}}}}}"
        raise DataError(message, code="RT206", hint=hint)
    for field_ in columns:
        if field_ not in fields:
            hint = suggest_name(str(field_), fields) or f"there are {', '.join(fields)}"
            raise DataError(f"{name} has no field {field_!r}", code="RT206", hint=hint)
    return [*columns.values()]


def _make_unknown_error(name: Any, column: Any, known: Sequence[str]) -> DataError:
    hint = suggest_name(str(name), known) or f"the inputs are {', '.join(known)}"
    if isinstance(column, str) and column in known:
        hint = f"it is {{input: column}}: {{{column!r}: {name!r}}}"
    return DataError(f"the graph has no input {name!r}", code="RT206", hint=hint)
