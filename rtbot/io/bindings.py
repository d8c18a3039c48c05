"""Which column of which file feeds which input of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rtbot.core.errors import DataError, suggest_name
from rtbot.core.vector_names import VECTOR
from rtbot.graph.model import ReadOptions
from rtbot.io.change_columns import ChangeBinding, bind_change_columns
from rtbot.io.column_search import (
    EMPTY,
    find_header_line,
    list_columns,
    make_absent_error,
    require_column,
    suggest_header,
)
from rtbot.io.source_opener import SourceOpener
from rtbot.io.sources.key_integers import is_key_integer
from rtbot.tables.column_names import ColumnNames
from rtbot.tables.forms import TIME_NAMES
from rtbot.tables.record_column import check_shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.graph.model import Input, Io
    from rtbot.io.blocks import Source
    from rtbot.storage.files import Files

    Given = str | Mapping[str, str] | None
    """The column of an input that a user names, or those of the fields of a record."""

CHANGES = "changes"
"""The kind of an input whose rows are inserted and deleted."""

INPUT, VALUE = "input", "value"
"""Columns of the long form: which input a row is for, and its value."""


@dataclass(frozen=True, slots=True)
class ColumnBinding:
    """An input and the column that feeds it.

    `selector` is what a row has in the column `input`, or None if all rows are for this input.
    `sparse` is whether an empty cell is no message, rather than null: in all columns but `value`.
    A record is fed by a column for each of its `fields`, and by no other; a vector by a column for
    each of its elements, or by a `column` of lists.
    """

    input: Input
    column: str
    selector: str | None = None
    sparse: bool = False
    fields: tuple[str, ...] = ()

    @property
    def kinds(self) -> dict[str, str]:
        """The columns, and the kinds of their values."""
        if not self.fields and self.input.type.kind == VECTOR:
            return {self.column: str(self.input.type.as_nullable(nullable=False))}
        if not self.fields:
            return {self.column: self.input.type.kind}
        types = (field.type.kind for field in self.input.type.fields)
        return dict(zip(self.fields, types, strict=True))


@dataclass(frozen=True, slots=True)
class FileBinding:
    """A file and the inputs that it feeds.

    The texts of several `time` columns are joined by a blank. `options` are how it is written,
    `drop` is whether rows with bad cells are left out. `series` are columns that all feed the one
    input. The name of each is then the value of the key `options.columns_as`, which is no column of
    the file. A file of `changes` feeds one input, and has no key.
    """

    source: Source
    time: tuple[str, ...]
    key: tuple[str, ...]
    feeds: tuple[ColumnBinding, ...]
    options: ReadOptions = field(default_factory=ReadOptions)
    series: tuple[str, ...] = ()
    drop: bool = False
    changes: ChangeBinding | None = None

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs that the file feeds."""
        if self.changes is not None:
            return [self.changes.input.name]
        return [feed.input.name for feed in self.feeds]

    def is_named_by_columns(self, key: str) -> bool:
        """Return whether the names of columns are the values of a key."""
        return bool(self.series) and key == self.options.columns_as


@dataclass(frozen=True, slots=True)
class InputSpec:
    """The user's choice: a file for all inputs, files for single ones, and names of columns.

    `reading` is how the files are written and `bad` what happens to bad cells; inputs with an `io`
    of their own have their own `time`, `reading` and `bad`. `form` is the format of all files, None
    if their suffixes decide; `live`, `marking` and `follow` as in `SourceOpener`. `columns` are
    those that the user names for this run, before all others.
    """

    file: str | None = None
    inputs: Mapping[str, tuple[str, Given]] = field(default_factory=dict)
    time: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    reading: ReadOptions = field(default_factory=ReadOptions)
    form: str | None = None
    live: bool = False
    marking: bool = False
    follow: frozenset[str] = frozenset()
    bad: str = "error"
    columns: ColumnNames = field(default_factory=ColumnNames)


def make_input_spec(io: Io, key: tuple[str, ...], columns: ColumnNames) -> InputSpec:
    """Return the columns that a graph and its user name; files are still to be given."""
    return InputSpec(
        time=columns.time or io.time, key=key, reading=io.reading, bad=io.bad, columns=columns
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
    opening = SourceOpener(
        files, request.form, live=request.live, marking=request.marking, follow=request.follow
    )
    readings = []
    for name, (path, column) in request.inputs.items():
        own = choose_options([inputs[name]], request, path)
        if inputs[name].type.kind == CHANGES:
            readings.append(_bind_changes(opening, path, inputs[name], column, own))
            continue
        source = opening.open_pattern(path, own.reading)
        readings.append(_bind_single(source, inputs[name], column, own))
    if request.file is not None and not left:
        message = "every input has a file of its own already"
        raise DataError(message, code="RT216", file=request.file)
    if request.file is not None and any(item.type.kind == CHANGES for item in left):
        readings.append(_bind_only_changes(opening, request.file, left, request))
    elif request.file is not None:
        own = choose_options(left, request, request.file)
        source = opening.open_pattern(request.file, own.reading)
        readings.append(_bind_common(source, left, own))
    elif left:
        names = ", ".join(item.name for item in left)
        hint = f"give a file, or --in {left[0].name}=FILE"
        raise DataError(f"nothing feeds {names}", code="RT216", hint=hint)
    return readings


def choose_options(inputs: Sequence[Input], request: InputSpec, file: str) -> InputSpec:
    """Return the request with the options of these inputs, which all read one file.

    Raises DataError if they would read it in different ways.
    """
    found = [
        request
        if one.io is None
        else replace(
            request,
            time=request.columns.time or one.io.time,
            reading=one.io.reading,
            bad=one.io.bad,
        )
        for one in inputs
    ]
    first = _list_options(found[0])
    for one, other in zip(inputs, found, strict=True):
        for name, value in _list_options(other).items():
            if value != first[name]:
                message = f"{name} is {first[name]!r} for {inputs[0].name}"
                message += f" and {value!r} for {one.name}, which one file cannot be read with"
                hint = f"give both inputs the same, or {one.name} a file of its own: "
                raise DataError(
                    message, code="RT216", hint=f"{hint}--in {one.name}=FILE", file=file
                )
    return found[0]


def _list_options(request: InputSpec) -> dict[str, Any]:
    """Return all that decides how a file is read, by the names of a graph file."""
    reading = asdict(request.reading)
    dialect = {f"csv.{name}": value for name, value in reading.pop("csv").items()}
    return {"time": request.time, "bad": request.bad, **reading, **dialect}


def _bind_changes(
    opening: SourceOpener, path: str, item: Input, column: Given, request: InputSpec
) -> FileBinding:
    """Read a file of changes: a column for every field of the rows, and what a change is."""
    if column is not None:
        message = f"{item.name} has a column for every field, and {column!r} is given alone"
        hint = f"say --in {item.name}={path}"
        raise DataError(message, code="RT216", hint=hint, file=path)
    options = replace(request.reading, columns_as=None)
    source = opening.open_pattern(path, options)
    time, changes = bind_change_columns(source, item, request.time)
    drop = request.bad == "drop"
    return FileBinding(source, time, (), (), options, drop=drop, changes=changes)


def _bind_only_changes(
    opening: SourceOpener, path: str, inputs: Sequence[Input], request: InputSpec
) -> FileBinding:
    """Read the one file of a graph whose only input without a file is of changes."""
    if len(inputs) > 1:
        item = next(item for item in inputs if item.type.kind == CHANGES)
        message = f"{item.name} is a table that changes, which has a file of its own"
        hint = f"say --in {item.name}=FILE"
        raise DataError(message, code="RT216", hint=hint, file=path)
    own = choose_options(inputs, request, path)
    return _bind_changes(opening, path, inputs[0], None, own)


def _bind_single(source: Source, item: Input, column: Given, request: InputSpec) -> FileBinding:
    """Read a file of one input: the column given, its name, `value`, or the only one left.

    In a sparse file it is not known whether it is the only one, or if a given column may still
    come.
    """
    if column is None and request.reading.columns_as is not None:
        return _bind_series(source, [item], request)
    if item.type.fields:
        record = _bind_fields(source, item, column or request.columns.name_columns(item))
        time = _find_time_columns(source, request, list(record.kinds))
        return _make_binding(source, time, request, (record,))
    assert column is None or isinstance(column, str), "a record has several columns"
    time = _find_time_columns(source, request, [column or item.name])
    rest = [name for name in source.names if name not in (*time, *request.key)]
    if column is not None:
        if not source.sparse:
            column = require_column(source, column)
    elif item.name in rest:
        column = item.name
    elif VALUE in rest or not source.names:
        column = VALUE
    elif len(rest) == 1 and not source.sparse:
        column = rest[0]
    else:
        hint = f"say --in {item.name}={source.file}:COLUMN; there are {list_columns(rest)}"
        message, place = f"which column is {item.name}?", find_header_line(source)
        raise DataError(message, code="RT204", hint=hint, file=source.file, row=place)
    return _make_binding(source, time, request, (_bind_column(item, column),))


def _bind_fields(source: Source, item: Input, given: Given) -> ColumnBinding:
    """Find the columns of a record or of a vector."""
    if item.type.kind == VECTOR:
        return bind_vector(source, item, given)
    assert not isinstance(given, str), "a record has several columns"
    return bind_record(source, item, given or {})


def bind_vector(source: Source, item: Input, given: Given) -> ColumnBinding:
    """Find the columns of the elements, those given or `INPUT.0` and so on, or a column of lists.

    That is the one given, or has the name of the input, or is called `value`.
    """
    names = [f"{item.name}.{field.name}" for field in item.type.fields]
    whole = given if isinstance(given, str) else None
    if whole is not None and (not source.typed or len(names) == 1):
        names, whole = _name_alone(source, item, whole)
    elif not given and source.typed and not {*names} & {*source.names}:
        lists = [name for name in (item.name, VALUE) if name in source.names]
        whole = lists[0] if lists else item.name if source.sparse else None
    if whole is not None:
        if not source.sparse:
            require_column(source, whole, f"column of {item.name}")
        return ColumnBinding(item, whole)
    columns = given if isinstance(given, Mapping) else {}
    found = [columns.get(str(place), name) for place, name in enumerate(names)]
    missing = [name for name in found if name not in source.names and not source.sparse]
    if missing and not columns:
        hint = f"there are {list_columns(source.names)}; name the columns of the elements: "
        hint += f"--in {item.name}={source.file}:FIRST,SECOND,..., or columns: [...] in its io"
        raise make_absent_error(source, missing[0], hint)
    for name in missing:
        require_column(source, name, f"column of {item.name}")
    return ColumnBinding(item, "", fields=tuple(found))


def _name_alone(source: Source, item: Input, column: str) -> tuple[list[str], str | None]:
    """Return what one name for a vector is: the column of its element, or of lists."""
    size = len(item.type.fields)
    if size > 1:
        message = f"{item.name} has {size} elements, and {column!r} is one column"
        hint = f"name {size} columns: --in {item.name}={source.file}:FIRST,SECOND,..."
        raise DataError(message, code="RT204", hint=hint, file=source.file)
    if source.typed and pa.types.is_nested(source.sample(column).type):
        return [], column
    return [column], None


def bind_record(source: Source, item: Input, given: Mapping[str, str]) -> ColumnBinding:
    """Find the columns of a record: those given, else `INPUT.FIELD`, else `FIELD`.

    An object of JSON may have the fields in a member with the name of the input.
    """
    found = []
    for one in item.type.fields:
        full = f"{item.name}.{one.name}"
        nested = source.sparse and item.name in source.names
        name = full if nested or full in source.names else one.name
        if one.name in given:
            name = given[one.name]
        if not source.sparse and name not in source.names:
            name = require_column(source, name, f"column of {item.name}")
        found.append(name)
    return ColumnBinding(item, "", fields=tuple(found))


def _bind_common(source: Source, inputs: Sequence[Input], request: InputSpec) -> FileBinding:
    """Read a file of several inputs: wide if it has their columns, else long.

    A sparse file is wide if it has the column of any input, as the others may come later. A record
    has columns in the wide form only.
    """
    records = [
        replace(_bind_fields(source, item, request.columns.name_columns(item)), sparse=True)
        for item in inputs
        if item.type.fields
    ]
    plain = [item for item in inputs if not item.type.fields]
    given = {item.name: request.columns.name_value(item.name) for item in plain}
    is_named = any(column is not None for column in given.values())
    if request.reading.columns_as is not None and not is_named:
        return _bind_series(source, inputs, request)
    columns = {name: column or name for name, column in given.items()}
    if not source.sparse:
        columns |= {n: require_column(source, c) for n, c in given.items() if c is not None}
    names = [*columns.values(), *(name for one in records for name in one.kinds)]
    check_shared(names, records, source.file)
    time = _find_time_columns(source, request, names)
    missing = [name for name in names if name not in source.names]
    is_long = INPUT in source.names and VALUE in source.names
    later = source.sparse and not is_long and len(missing) < len(names)
    if not missing or later or not source.names:
        bindings = [_bind_column(item, columns[item.name]) for item in plain]
        bindings += records
    elif is_long and not is_named and not records:
        bindings = [ColumnBinding(item, VALUE, selector=item.name) for item in inputs]
    elif len(inputs) == 1 and VALUE in source.names and not is_named and not records:
        bindings = [_bind_column(inputs[0], VALUE)]
    else:
        near = suggest_name(missing[0], source.names)
        hint = near or suggest_header(source.names) or f"there are {list_columns(source.names)},"
        if missing[0] in given:
            hint += f" or say --in {missing[0]}={source.file}:COLUMN"
        raise make_absent_error(source, missing[0], hint)
    return _make_binding(source, time, request, tuple(bindings))


def _bind_column(item: Input, column: str) -> ColumnBinding:
    """Bind a column of which all rows are for one input, however it was named to be."""
    return ColumnBinding(item, column, sparse=column != VALUE or item.name == VALUE)


def _bind_series(source: Source, inputs: Sequence[Input], request: InputSpec) -> FileBinding:
    """Read a file whose columns are series of one input, named by a key."""
    name = request.reading.columns_as
    assert name is not None, "columns are read as series"
    if len(inputs) != 1:
        message = f"columns_as goes with one input, and {source.file} would feed {len(inputs)}"
        hint = f"say --in {inputs[0].name}={source.file}, and where the others come from"
        raise DataError(message, code="RT216", hint=hint)
    if name not in request.key:
        hint = f"set io.key: [{', '.join([*request.key, name])}]"
        raise DataError(f"columns_as: {name!r} is no key", code="RT206", hint=hint)
    if name in source.names:
        message = f"columns_as: there is a column {name!r} already"
        raise DataError(message, code="RT215", file=source.file, row=find_header_line(source))
    time = _find_time_columns(source, request, ())
    keys = tuple(key if key == name else require_column(source, key) for key in request.key)
    taken = (*time, *keys)
    series = tuple(column for column in source.names if column and column not in taken)
    if not series and source.names:
        message, hint = "there is no column that is a series", "leave io.columns_as out"
        place = find_header_line(source)
        raise DataError(message, code="RT204", hint=hint, file=source.file, row=place)
    if request.reading.key_types.get(name) == "integer":
        _require_integers(source, name, series)
    feeds = (ColumnBinding(inputs[0], "", sparse=True),)
    drop = request.bad == "drop"
    return FileBinding(source, time, keys, feeds, request.reading, series, drop)


def _require_integers(source: Source, key: str, series: Sequence[str]) -> None:
    """Raise DataError if a column has no integer as its name, which is to be one as a key."""
    for name in series:
        if not is_key_integer(name):
            message = f"the name of a column that is to be the integer {key!r}"
            hint, place = f"set io.key: {{{key}: text}}", find_header_line(source)
            raise DataError(
                message, code="RT212", hint=hint, file=source.file, row=place, column=name
            )


def _make_binding(
    source: Source, time: tuple[str, ...], request: InputSpec, bindings: tuple[ColumnBinding, ...]
) -> FileBinding:
    keys = tuple(require_column(source, name, "key column") for name in request.key)
    drop = request.bad == "drop"
    return FileBinding(source, time, keys, bindings, request.reading, drop=drop)


def _find_time_columns(
    source: Source, request: InputSpec, values: Sequence[str]
) -> tuple[str, ...]:
    """Find the columns of times; one that is also an input's or a key only if there is no other."""
    if request.time:
        return tuple(require_column(source, name) for name in request.time)
    there = [name for name in TIME_NAMES if name in source.names and name not in request.key]
    there = [name for name in there if name not in values] or there
    if not there and source.names:
        message = f"there is no column of times ({', '.join(TIME_NAMES)})"
        rest = [name for name in source.names if name not in (*values, *request.key)]
        column = rest[0] if len(rest) == 1 or rest[:1] == [""] else "COLUMN"
        hint = f"there are {list_columns(source.names)}; say --time {column or EMPTY}"
        hint = suggest_header(source.names) or hint
        place = find_header_line(source)
        raise DataError(message, code="RT204", hint=hint, file=source.file, row=place)
    return (there[0] if there else TIME_NAMES[0],)
