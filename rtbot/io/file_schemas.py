"""The fields of a file of changes, from the file itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbot.core.errors import DataError, suggest_name
from rtbot.core.scalar_values import ID
from rtbot.io.column_search import (
    find_header_line,
    list_columns,
    require_column,
    suggest_header,
)
from rtbot.io.column_types import ColumnType, infer_column_types
from rtbot.io.source_opener import SourceOpener
from rtbot.operator import Type
from rtbot.operator.schema import Field, Schema
from rtbot.storage.files import STANDARD
from rtbot.tables.change_rows import OP, WEIGHT
from rtbot.tables.forms import TIME_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rtbot.graph.model import Io
    from rtbot.io.blocks import Source
    from rtbot.storage.files import Files


@dataclass(frozen=True, slots=True)
class SchemaRequest:
    """A file of changes whose fields are wanted.

    `types` are those that are given, which count before those of the cells; `unique` is the key of
    its rows, () if they have none. `form` is the format of the file, None if its suffix decides.
    With `follow` it may still grow.
    """

    name: str
    path: str
    types: Mapping[str, Type]
    unique: tuple[str, ...] = ()
    form: str | None = None
    follow: bool = False


def infer_schema(files: Files, wanted: SchemaRequest, io: Io) -> tuple[Schema, list[str]]:
    """Return the fields of a file, and notes about columns that are none or have no value.

    Every column is a field but those of times, weights and operations. Its type is the first that
    all cells have (integer, number, boolean, text), null where one is absent; a file that has types
    says so itself. A pipe, which cannot be read twice, has the fields whose types are given. Raises
    DataError where a file cannot be read, or has no field.
    """
    paths = [wanted.path] if wanted.path == STANDARD else files.list_matching(wanted.path)
    if not all(path != STANDARD and files.is_regular(path) for path in paths):
        if not wanted.types:
            message = f"{wanted.name} can be read once, so that its types cannot be found"
            hint = f"say --types {wanted.name}='FIELD: TYPE, ...'"
            raise DataError(message, code="RT221", hint=hint, file=wanted.path)
        return _make_schema(wanted, wanted.types), []

    def open_source() -> Source:
        opener = SourceOpener(files, wanted.form, follow=[wanted.path] if wanted.follow else [])
        return opener.open_pattern(wanted.path, io.reading)

    source = open_source()
    if wanted.follow and wanted.types and not source.names:
        return _make_schema(wanted, wanted.types), []
    for name in wanted.types:
        require_column(source, name, f"column of {wanted.name}")
    names = _list_fields(source, wanted.types, io.time)
    good = [name for name in names if ID.fullmatch(name)]
    strange = [name for name in names if name not in good]
    given = {name: type_.kind for name, type_ in wanted.types.items()}
    found = infer_column_types(open_source, good, given)
    others = {n: one.other for n, one in found.items() if one.other is not None}
    types = {
        name: wanted.types.get(name) or Type("text" if one.empty else one.kind, one.nullable)
        for name, one in found.items()
        if name not in others
    }
    if not types:
        message = f"{wanted.name} has no column whose name can be that of a field"
        hint = suggest_header(source.names) or f"there are {list_columns(source.names)}"
        row = find_header_line(source)
        raise DataError(message, code="RT204", hint=hint, file=source.file, row=row)
    notes = [
        *(f"the column {name!r} is left out: it is no name of a field" for name in strange),
        *(f"the column {name!r} is left out: it is of {kind}" for name, kind in others.items()),
        *_note_empty(wanted, found),
    ]
    return _make_schema(wanted, types), [f"{source.file}: {note}" for note in notes]


def _note_empty(wanted: SchemaRequest, found: Mapping[str, ColumnType]) -> Iterator[str]:
    """Yield a note for every column without a value; raise DataError if one may still come."""
    for name, one in found.items():
        if not one.empty or name in wanted.types:
            continue
        if wanted.follow:
            message = f"the column {name!r} has no value yet, so that its type cannot be found"
            hint = f"say --types {wanted.name}='{name}: TYPE'"
            raise DataError(message, code="RT222", hint=hint, file=wanted.path)
        if one.nullable:
            hint = f"--types {wanted.name}='{name}: number?'"
            yield f"the column {name!r} has no value and is taken as text, or say {hint}"


def _list_fields(source: Source, given: Mapping[str, Type], time: Sequence[str]) -> list[str]:
    """Return the columns that are neither times nor weights nor operations."""
    names = [name for name in source.names if name]
    times = list(time)
    if not times:
        wanted = ["_t", *(name for name in TIME_NAMES if name not in given)]
        times = [name for name in wanted if name in names][:1]
    weight = "_weight" if "_weight" in names or WEIGHT in given else WEIGHT
    return [name for name in names if name in given or name not in {*times, weight, OP}]


def _make_schema(wanted: SchemaRequest, types: Mapping[str, Type]) -> Schema:
    for name in wanted.unique:
        if name not in types:
            hint = suggest_name(name, types) or f"there are {', '.join(types)}"
            message = f"{wanted.name} has no field {name!r}, which is to be unique"
            raise DataError(message, code="RT204", hint=hint, file=wanted.path)
    fields = tuple(Field(name, type_) for name, type_ in types.items())
    return Schema(fields, (wanted.unique,) if wanted.unique else ())
