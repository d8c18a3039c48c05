"""DataFrames as the rows that a graph reads: the role of columns, one relation of all inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions, types

from rtbot import DataError
from rtbot.adapter import TIME_NAMES, VECTOR, check_shared, name_columns, suggest_name
from spark_adapter.partition import InputColumn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from rtbot import Graph
    from rtbot.adapter import ColumnNames, Input

    Source = str | tuple[str, ...]
    """The column of an input, or those of its elements or fields."""

INTEGERS = (types.ByteType, types.ShortType, types.IntegerType, types.LongType)
NUMBERS = (*INTEGERS, types.FloatType, types.DoubleType, types.DecimalType)
ACCEPTED: Mapping[str, tuple[type[types.DataType], ...]] = {
    "number": NUMBERS,
    "integer": INTEGERS,
    "boolean": (types.BooleanType,),
    "text": (types.StringType,),
}
CELLS: Mapping[str, types.DataType] = {
    "number": types.DoubleType(),
    "integer": types.LongType(),
    "boolean": types.BooleanType(),
    "text": types.StringType(),
}
"""What elements of vectors and fields of records become, of whatever width they are."""

KEYS = (*INTEGERS, types.StringType)
TIMES = (*INTEGERS, types.TimestampType, types.TimestampNTZType, types.DateType)
PORT, TIME = "__port", "__time"


@dataclass(frozen=True)
class InputRows:
    """One relation of all inputs: key columns, times, values, and port numbers if there are any.

    `frame` has the columns under the names in `keys`, `time`, `feeds` and `port`.
    """

    frame: DataFrame
    keys: tuple[str, ...]
    time: str
    feeds: tuple[InputColumn, ...]
    stamp: str
    port: str | None = None


@dataclass(frozen=True)
class ColumnRequest:
    """The user's choice of columns: `key` and `time` are None if they are left to the graph.

    `also` names columns that stay beside those the graph reads.
    """

    key: tuple[str, ...] | None = None
    time: str | None = None
    inputs: Mapping[str, Any] | None = None
    also: tuple[str, ...] = ()


def is_streaming(data: Any) -> bool:
    """Return whether these are streaming DataFrames; DataError if only some are."""
    frames = data.values() if isinstance(data, Mapping) else [data]
    for frame in frames:
        if not hasattr(frame, "isStreaming"):
            message = f"data is a DataFrame of Spark, or one per input, not {type(frame)}"
            raise TypeError(f"{message}; elsewhere rtbot.load(graph).run(data) does it")
    streams = {frame.isStreaming for frame in frames}
    if len(streams) > 1:
        message = "some inputs stream and others do not"
        raise DataError(message, code="RT216", hint="read all of them as streams, or none")
    return True in streams


def make_request(
    key: str | Sequence[str] | None = None,
    time: str | None = None,
    inputs: Mapping[str, Any] | None = None,
) -> ColumnRequest:
    """Return the columns that a user gave; a single key column needs no list."""
    if not isinstance(inputs or {}, Mapping):
        raise TypeError(f"inputs is {{input: column}}, not {inputs!r}")
    names = (key,) if not isinstance(key, Sequence | None) or isinstance(key, str) else key
    for name in (*(names or ()), *([] if time is None else [time])):
        if not isinstance(name, str):
            raise TypeError(f"columns are given by their names, not as {type(name).__name__}")
    return ColumnRequest(None if names is None else tuple(names), time, inputs)


def read_frames(data: Any, graph: Graph, request: ColumnRequest) -> InputRows:
    """Return the rows of a DataFrame with a column per input, or of a DataFrame per input.

    Raises DataError if a column is not there or of a type that does not go with the graph.
    """
    inputs = graph.checked.inputs
    columns = name_columns(request.time, request.inputs, inputs)
    if not isinstance(data, Mapping):
        return _read_wide(data, graph, request, columns)
    check_names(data, inputs, "the graph has no input")
    missing = [name for name in inputs if name not in data]
    if missing:
        raise DataError(f"nothing feeds the input {missing[0]}", code="RT206")
    frames = {n: _read_single(one, data[n], graph, request, columns) for n, one in inputs.items()}
    first = next(iter(frames.values()))
    for name, other in frames.items():
        _check_same_types(first, other, name)
    frame = first.frame
    for other in list(frames.values())[1:]:
        frame = frame.unionByName(other.frame, allowMissingColumns=True)
    feeds = tuple(one.feeds[0] for one in frames.values())
    return InputRows(frame, first.keys, first.time, feeds, first.stamp, PORT)


def _read_wide(
    frame: DataFrame, graph: Graph, request: ColumnRequest, columns: ColumnNames
) -> InputRows:
    keys, time = find_columns(frame, graph, request)
    inputs = graph.checked.inputs
    sources = {n: _find_source(frame, one, columns, n) for n, one in inputs.items()}
    check_shared(list(_list_sources(sources)), [one for one in inputs.values() if one.type.fields])
    own = {n: found if isinstance(found, str) else f"__v_{n}" for n, found in sources.items()}
    shown = {name: quote_column(name) for name in (*keys, time, *request.also)}
    shown |= {own[n]: _select_value(frame, inputs[n], found) for n, found in sources.items()}
    values = [column.alias(name) for name, column in shown.items()]
    feeds = tuple(InputColumn(name, column) for name, column in own.items())
    return InputRows(frame.select(*values), keys, time, feeds, time)


def _list_sources(sources: Mapping[str, Source]) -> Iterator[str]:
    for found in sources.values():
        yield from [found] if isinstance(found, str) else found


def _read_single(
    one: Input, frame: DataFrame, graph: Graph, request: ColumnRequest, columns: ColumnNames
) -> InputRows:
    """Return the rows of one input, numbered as its port; the column is named `__v_NAME`."""
    keys, time = find_columns(frame, graph, request)
    name = one.name
    rest = [c for c in frame.columns if c not in (*keys, time, *request.also)]
    alone = name if name in rest or len(rest) != 1 else rest[0]
    source = _find_source(frame, one, columns, alone)
    place = list(graph.checked.inputs).index(name)
    own = f"__v_{name}"
    shown = frame.select(
        *(quote_column(c) for c in keys),
        quote_column(time).alias(TIME),
        functions.lit(place).alias(PORT),
        _select_value(frame, one, source).alias(own),
        *(quote_column(c) for c in request.also),
    )
    return InputRows(shown, keys, TIME, (InputColumn(name, own, place, sparse=False),), time, PORT)


def _find_source(frame: DataFrame, one: Input, columns: ColumnNames, default: str) -> Source:
    """Return the column of an input, or those of its elements or fields; DataError if it has none.

    `default` is the column if none is named. That of a field is `INPUT.FIELD`, or `FIELD`; an
    element has no name without that of its vector.
    """
    what, kind = f"the input {one.name}", one.type.kind
    given = columns.name_value(one.name)
    if not one.type.fields:
        _require_column(frame, given or default, what, ACCEPTED[kind])
        return given or default
    renamed, found = columns.name_fields(one), {}
    for field in one.type.fields:
        full = f"{one.name}.{field.name}"
        bare = full if full in frame.columns or kind == VECTOR else field.name
        found[field.name] = renamed.get(field.name, bare)
    there = [name in frame.columns for name in found.values()]
    structs = kind != VECTOR and not all(there) and default in frame.columns
    if given is None and (renamed or (any(there) and not structs)):
        for field in one.type.fields:
            _require_column(frame, found[field.name], what, ACCEPTED[field.type.kind])
        return tuple(found.values())
    _require_column(frame, given or default, what)
    _require_fields(given or default, frame.schema[given or default].dataType, one)
    return given or default


def _require_fields(name: str, given: types.DataType, one: Input) -> None:
    """Refuse a column that is not one of arrays of numbers, or of structs with the fields."""
    wanted, names = "array<double>", [field.name for field in one.type.fields]
    own: dict[str, types.DataType] = {}
    if one.type.kind != VECTOR:
        wanted = f"a struct of {', '.join(names)}"
        if isinstance(given, types.StructType):
            own = {field.name: field.dataType for field in given.fields}
    elif isinstance(given, types.ArrayType):
        own = dict.fromkeys(names, given.elementType)
    fits = own.keys() == {*names}
    if not fits or not all(isinstance(own[f.name], ACCEPTED[f.type.kind]) for f in one.type.fields):
        message = f"the column {name!r} for the input {one.name} is {given.simpleString()}"
        hint = f"cast it to {wanted}, or name a column for each: inputs={{{one.name!r}: ...}}"
        raise DataError(message, code="RT220", hint=hint)


def find_columns(
    frame: DataFrame, graph: Graph, request: ColumnRequest
) -> tuple[tuple[str, ...], str]:
    """Return the key columns and the column of times; DataError if one is not there."""
    io = graph.checked.io
    keys = io.key if request.key is None else request.key
    for name in keys:
        _require_column(frame, name, "a key", KEYS)
        _check_collation(frame, name)
    if len(set(keys)) < len(keys):
        raise DataError(f"a key column twice: {', '.join(keys)}", code="RT215")
    time = request.time or io.time_column
    if time is None:
        found = [name for name in TIME_NAMES if name in frame.columns and name not in keys]
        if not found:
            names = ", ".join(TIME_NAMES)
            hint = f"say time=; there are {', '.join(frame.columns)}"
            raise DataError(f"there is no column of times ({names})", code="RT204", hint=hint)
        time = found[0]
    _require_column(frame, time, "the time", TIMES)
    return tuple(keys), time


def _require_column(
    frame: DataFrame,
    name: str,
    what: str,
    accepted: Sequence[type[types.DataType]] = (types.DataType,),
) -> None:
    """Refuse a column that is not there, or of a type that does not fit."""
    if name not in frame.columns:
        hint = suggest_name(name, frame.columns) or f"there are {', '.join(frame.columns)}"
        raise DataError(f"there is no column {name!r} for {what}", code="RT204", hint=hint)
    if name.startswith("__"):
        message = f"the column {name!r}: names that begin with two underscores are taken"
        raise DataError(message, code="RT215", hint="rename the column")
    alike = [column for column in frame.columns if is_same_name(frame, column, name)]
    if len(alike) > 1:
        message = f"the columns {' and '.join(alike)} have one name for Spark"
        raise DataError(message, code="RT215", hint="rename or drop one of them")
    kind = frame.schema[name].dataType
    if not isinstance(kind, tuple(accepted)):
        names = ", ".join(one.typeName() for one in accepted)
        message = f"the column {name!r} for {what} is {kind.simpleString()}"
        raise DataError(message, code="RT220", hint=f"cast it to one of {names}")


def _check_collation(frame: DataFrame, name: str) -> None:
    """Refuse a key whose texts are equal for Spark where they differ."""
    kind = frame.schema[name].dataType
    if isinstance(kind, types.StringType) and kind.collation != "UTF8_BINARY":
        message = f"the key {name!r} has the collation {kind.collation}"
        hint = f"keys are told apart by code point: collate({name}, 'UTF8_BINARY'), or lower() too"
        raise DataError(message, code="RT220", hint=hint)


def is_same_name(frame: DataFrame, one: str, other: str) -> bool:
    """Return whether two names are one for Spark, which by default does not look at case."""
    if one == other or one.lower() != other.lower():
        return one == other
    return frame.sparkSession.conf.get("spark.sql.caseSensitive") != "true"


def check_names(names: Any, inputs: Mapping[str, Any], message: str) -> None:
    """Refuse names that are not those of inputs."""
    for name in names:
        if name not in inputs:
            hint = suggest_name(name, inputs) or f"the inputs are {', '.join(inputs)}"
            if isinstance(names, Mapping) and names[name] in inputs:
                hint = f"it is {{input: column}}: {{{names[name]!r}: {name!r}}}"
            raise DataError(f"{message} {name!r}", code="RT206", hint=hint)


def _check_same_types(first: InputRows, other: InputRows, name: str) -> None:
    for column in (*first.keys, first.time):
        kinds = [rows.frame.schema[column].dataType for rows in (first, other)]
        if kinds[0] != kinds[1]:
            shown = " and ".join(kind.simpleString() for kind in kinds)
            what = "the time" if column == first.time else f"the key {column!r}"
            message = f"{what} has different types in the inputs: {shown} in {name}"
            raise DataError(message, code="RT220", hint="cast one of them")


def quote_column(name: str) -> Any:
    """Return the column of exactly this name."""
    return functions.col("`" + name.replace("`", "``") + "`")


def _select_value(frame: DataFrame, one: Input, source: Source) -> Any:
    """Return the column of an input: a decimal as the nearest double, vectors and records whole."""
    fields, vector = one.type.fields, one.type.kind == VECTOR
    if isinstance(source, str):
        whole = quote_column(source)
        if not fields:
            decimal = isinstance(frame.schema[source].dataType, types.DecimalType)
            return whole.cast("double") if decimal else whole
        if vector:
            return whole.cast("array<double>")
        columns = [whole.getField(field.name) for field in fields]
    else:
        columns = [quote_column(name) for name in source]
    parts = [
        column.cast(CELLS[field.type.kind]).alias(field.name)
        for column, field in zip(columns, fields, strict=True)
    ]
    return functions.array(*parts) if vector else functions.struct(*parts)
