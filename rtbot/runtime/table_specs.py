"""What the tables of a session have to hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.core.errors import DataError
from rtbot.core.time_formats import make_clock
from rtbot.tables import TableSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.graph.model import Input, Io
    from rtbot.tables.column_names import ColumnNames

OWN_COLUMNS = ("t", "value", "value_valid")
"""What results have beside key columns."""


def make_spec(declared: Input, io: Io, key: tuple[str, ...], columns: ColumnNames) -> TableSpec:
    """Return what the table of an input has to hold; `columns` are those that the user names."""
    return TableSpec(
        declared.name,
        declared.type.kind,
        declared.type.nullable,
        key,
        io.unit,
        columns.time or io.time,
        columns.inputs.get(declared.name),
        clock=make_clock(io.reading, io.unit),
        given=bool(columns.time),
    )


def check_key(names: Sequence[str]) -> tuple[str, ...]:
    """Return the key columns; raise DataError if a table of results would have one name twice."""
    for name in names:
        if name in OWN_COLUMNS:
            message = f"a key column is named {name!r}, as a column of results is"
            raise DataError(message, code="RT215", hint="rename it in the data")
    return tuple(names)
