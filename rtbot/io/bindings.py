"""Which column of which file feeds which input of a graph."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbot.core.errors import DataError, suggest_name
from rtbot.graph.model import ReadOptions
from rtbot.io.source_opener import SourceOpener
from rtbot.tables.forms import TIME_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.graph.model import Input, Io
    from rtbot.io.blocks import Source
    from rtbot.storage.files import Files
    from rtbot.tables.column_names import ColumnNames

INPUT, VALUE = "input", "value"
"""Columns of the long form: which input a row is for, and its value."""


@dataclass(frozen=True, slots=True)
class ColumnBinding:
    """An input and the column that feeds it.

    `selector` is what a row has in the column `input`, or None if all rows are for this input.
    `sparse` is whether an empty cell is no message (the wide form), rather than null.
    """

    input: Input
    column: str
    selector: str | None = None
    sparse: bool = False


@dataclass(frozen=True, slots=True)
class FileBinding:
    """A file and the inputs that it feeds."""

    source: Source
    time: str
    key: tuple[str, ...]
    feeds: tuple[ColumnBinding, ...]


@dataclass(frozen=True, slots=True)
class InputSpec:
    """The user's choice: a file for all inputs, files for single ones, and names of columns.

    `reading` is how the files are written. `form` is the format of all files, None if their
    suffixes decide; `live` and `marking` as in `SourceOpener`. `columns` names the column of an
    input in the file for all inputs.
    """

    file: str | None = None
    inputs: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    time: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    reading: ReadOptions = field(default_factory=ReadOptions)
    form: str | None = None
    live: bool = False
    marking: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)


def make_request(io: Io, key: tuple[str, ...], columns: ColumnNames) -> InputSpec:
    """Return the columns that a graph and its user name; files are still to be given."""
    return InputSpec(
        time=columns.time or io.time, key=key, reading=io.reading, columns=columns.inputs
    )


def bind_columns(
    files: Files, inputs: Mapping[str, Input], request: InputSpec
) -> list[FileBinding]:
    """Open the files and find the column of every input, or raise DataError."""
    for name in request.inputs:
        if name not in inputs:
            hint = suggest_name(name, inputs) or f"the inputs are {', '.join(inputs)}"
            raise DataError(f"the graph has no input {name!r}", code="RT206", hint=hint)
    left = [item for name, item in inputs.items() if name not in request.inputs]
    opening = SourceOpener(files, request.form, live=request.live, marking=request.marking)
    readings = [
        _bind_single(opening.open_pattern(path), inputs[name], column, request)
        for name, (path, column) in request.inputs.items()
    ]
    if request.file is not None and not left:
        message = "every input has a file of its own already"
        raise DataError(message, code="RT216", file=request.file)
    if request.file is not None:
        readings.append(_bind_common(opening.open_pattern(request.file), left, request))
    elif left:
        names = ", ".join(item.name for item in left)
        hint = f"give a file, or --in {left[0].name}=FILE"
        raise DataError(f"nothing feeds {names}", code="RT216", hint=hint)
    return readings


def _bind_single(
    source: Source, item: Input, column: str | None, request: InputSpec
) -> FileBinding:
    """Read a file of one input: the column given, its name, `value`, or the only one left.

    In a sparse file it is not known whether it is the only one, or if a given column may still
    come.
    """
    time = _find_time_column(source, request, [column or item.name])
    rest = [name for name in source.names if name not in (time, *request.key)]
    if column is not None:
        if not source.sparse:
            _require_column(source, column)
    elif item.name in rest:
        column = item.name
    elif VALUE in rest or not source.names:
        column = VALUE
    elif len(rest) == 1 and not source.sparse:
        column = rest[0]
    else:
        hint = f"say --in {item.name}={source.file}:COLUMN; there are {_join_names(rest)}"
        message = f"which column is {item.name}?"
        raise DataError(message, code="RT204", hint=hint, file=source.file, row=1)
    return _make_binding(source, time, request, (ColumnBinding(item, column),))


def _bind_common(source: Source, inputs: Sequence[Input], request: InputSpec) -> FileBinding:
    """Read a file of several inputs: wide if it has their columns, else long.

    A sparse file is wide if it has the column of any input, as the others may come later.
    """
    columns = {item.name: request.columns.get(item.name, item.name) for item in inputs}
    names = list(columns.values())
    given = [columns[item.name] for item in inputs if item.name in request.columns]
    for name in () if source.sparse else given:
        _require_column(source, name)
    time = _find_time_column(source, request, names)
    missing = [name for name in names if name not in source.names]
    is_long = INPUT in source.names and VALUE in source.names
    later = source.sparse and not is_long and len(missing) < len(names)
    if not missing or later or not source.names:
        bindings = [ColumnBinding(item, columns[item.name], sparse=True) for item in inputs]
    elif is_long and not given:
        bindings = [ColumnBinding(item, VALUE, selector=item.name) for item in inputs]
    elif len(inputs) == 1 and VALUE in source.names and not given:
        bindings = [ColumnBinding(inputs[0], VALUE)]
    else:
        near = suggest_name(missing[0], source.names)
        hint = near or _suggest_header(source.names) or f"there are {_join_names(source.names)},"
        hint += f" or say --in {missing[0]}={source.file}:COLUMN"
        raise _make_absent_error(source, missing[0], hint)
    return _make_binding(source, time, request, tuple(bindings))


def _make_binding(
    source: Source, time: str, request: InputSpec, bindings: tuple[ColumnBinding, ...]
) -> FileBinding:
    for name in request.key:
        _require_column(source, name, "key column")
    return FileBinding(source, time, request.key, bindings)


def _find_time_column(source: Source, request: InputSpec, values: Sequence[str]) -> str:
    """Find the column of times; one that is also an input's or a key only if there is no other."""
    if request.time:
        _require_column(source, request.time[0])
        return request.time[0]
    there = [name for name in TIME_NAMES if name in source.names and name not in request.key]
    there = [name for name in there if name not in values] or there
    if not there and source.names:
        message = f"there is no column of times ({', '.join(TIME_NAMES)})"
        rest = [name for name in source.names if name not in (*values, *request.key)]
        column = rest[0] if len(rest) == 1 else "COLUMN"
        hint = f"there are {_join_names(source.names)}; say --time {column}"
        hint = _suggest_header(source.names) or hint
        raise DataError(message, code="RT204", hint=hint, file=source.file, row=1)
    return there[0] if there else TIME_NAMES[0]


def _require_column(source: Source, name: str, what: str = "column") -> None:
    if name not in source.names and source.names:
        hint = suggest_name(name, source.names) or f"there are {_join_names(source.names)}"
        raise _make_absent_error(source, name, hint, what)


def _make_absent_error(source: Source, name: str, hint: str, what: str = "column") -> DataError:
    message = f"there is no {what} {name!r}"
    return DataError(message, code="RT204", hint=hint, file=source.file, row=1)


def _suggest_header(names: Sequence[str]) -> str:
    """Return a hint if the first line of a file is not a header, or not separated by commas."""
    if all(re.fullmatch(r"[+-]?[0-9][0-9T:.Z+-]*", name) for name in names):
        return "the first line is to name the columns, and has numbers"
    if names[0].startswith("#"):
        return "the first line is to name the columns: remove comments above it"
    alone = names[0] if len(names) == 1 else ""
    found = next((sign for sign in (";", "\t", "|") if sign in alone), "")
    return f"a comma separates the cells, not {found!r}" if found else ""


def _join_names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:20])
    return shown + (", ..." if len(names) > 20 else "")
