"""What is given for single inputs of a session, and what their tables have to hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbot.core.errors import DataError
from rtbot.core.time_formats import make_clock
from rtbot.tables import TableSpec
from rtbot.tables.column_names import ColumnNames

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.graph.model import Input, Io

OWN_COLUMNS = ("t", "value", "value_valid")
"""What results have beside key columns."""


@dataclass(frozen=True, slots=True)
class InputOptions:
    """What is given for single inputs of a run.

    `own` is the `io` of those that have one of their own, `columns` are those that the user names.
    """

    own: Mapping[str, Io] = field(default_factory=dict)
    columns: ColumnNames = field(default_factory=ColumnNames)


def make_specs(
    inputs: Mapping[str, Input], io: Io, options: InputOptions, key: tuple[str, ...]
) -> dict[str, TableSpec]:
    """Return what the table of every input has to hold."""
    specs = {}
    for name, declared in inputs.items():
        own, columns = options.own.get(name, io), options.columns
        specs[name] = TableSpec(
            name,
            declared.type.kind,
            declared.type.nullable,
            key,
            own.unit,
            columns.time or own.time,
            columns.name_value(name),
            clock=make_clock(own.reading, own.unit),
            given=bool(columns.time),
            fields=declared.type.fields,
            columns=columns.name_fields(declared),
        )
    return specs


def check_key(
    names: Sequence[str], records: Mapping[str, Sequence[str]] | None = None
) -> tuple[str, ...]:
    """Return the key columns; raise DataError if a table of results would have one name twice.

    `records` are the fields of outputs that are records.
    """
    fields = {field for one in (records or {}).values() for field in one}
    for name in names:
        if name in OWN_COLUMNS or name in fields:
            message = f"a key column is named {name!r}, as a column of results is"
            raise DataError(message, code="RT215", hint="rename it in the data")
    return tuple(names)
