"""DataFrames as the rows that a graph reads: the role of columns, one relation of all inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions, types

from rtbot import DataError
from rtbot.adapter import TIME_NAMES, suggest_name
from spark_adapter.partition import InputColumn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from rtbot import Graph

INTEGERS = (types.ByteType, types.ShortType, types.IntegerType, types.LongType)
NUMBERS = (*INTEGERS, types.FloatType, types.DoubleType, types.DecimalType)
ACCEPTED: Mapping[str, tuple[type[types.DataType], ...]] = {
    "number": NUMBERS,
    "integer": INTEGERS,
    "boolean": (types.BooleanType,),
    "text": (types.StringType,),
}
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
    inputs: Mapping[str, str] | None = None
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
    inputs: Mapping[str, str] | None = None,
) -> ColumnRequest:
    """Return the columns that a user gave; a single key column needs no list."""
    if not isinstance(inputs or {}, Mapping):
        raise TypeError(f"inputs is {{input: column}}, not {inputs!r}")
    names = (key,) if not isinstance(key, Sequence | None) or isinstance(key, str) else key
    for name in (*(names or ()), *([] if time is None else [time]), *(inputs or {}).values()):
        if not isinstance(name, str):
            raise TypeError(f"columns are given by their names, not as {type(name).__name__}")
    return ColumnRequest(None if names is None else tuple(names), time, inputs)


def read_frames(data: Any, graph: Graph, request: ColumnRequest) -> InputRows:
    """Return the rows of a DataFrame with a column per input, or of a DataFrame per input.

    Raises DataError if a column is not there or of a type that does not go with the graph.
    """
    inputs = graph.checked.inputs
    check_names(request.inputs or {}, inputs, "the graph has no input")
    if not isinstance(data, Mapping):
        return _read_wide(data, graph, request)
    check_names(data, inputs, "the graph has no input")
    missing = [name for name in inputs if name not in data]
    if missing:
        raise DataError(f"nothing feeds the input {missing[0]}", code="RT206")
    frames = {name: _read_single(name, data[name], graph, request) for name in inputs}
    first = next(iter(frames.values()))
    for name, other in frames.items():
        _check_same_types(first, other, name)
    frame = first.frame
    for other in list(frames.values())[1:]:
        frame = frame.unionByName(other.frame, allowMissingColumns=True)
    feeds = tuple(one.feeds[0] for one in frames.values())
    return InputRows(frame, first.keys, first.time, feeds, first.stamp, PORT)


def _read_wide(frame: DataFrame, graph: Graph, request: ColumnRequest) -> InputRows:
    keys, time = find_columns(frame, graph, request)
    columns = {}
    for name, declared in graph.checked.inputs.items():
        column = (request.inputs or {}).get(name, name)
        columns[name] = column
        _require_column(frame, column, f"the input {name}", ACCEPTED[declared.type.kind])
    chosen = dict.fromkeys([*keys, time, *columns.values(), *request.also])
    values = [_select_value(frame, name) for name in chosen]
    feeds = tuple(InputColumn(name, column) for name, column in columns.items())
    return InputRows(frame.select(*values), keys, time, feeds, time)


def _read_single(name: str, frame: DataFrame, graph: Graph, request: ColumnRequest) -> InputRows:
    """Return the rows of one input, numbered as its port; the column is renamed to `__NAME`."""
    keys, time = find_columns(frame, graph, request)
    rest = [c for c in frame.columns if c not in (*keys, time, *request.also)]
    column = (request.inputs or {}).get(name)
    if column is None:
        column = name if name in rest or len(rest) != 1 else rest[0]
    declared = graph.checked.inputs[name]
    _require_column(frame, column, f"the input {name}", ACCEPTED[declared.type.kind])
    place = list(graph.checked.inputs).index(name)
    own = f"__{name}"
    shown = frame.select(
        *(quote_column(c) for c in keys),
        quote_column(time).alias(TIME),
        functions.lit(place).alias(PORT),
        _select_value(frame, column).alias(own),
        *(quote_column(c) for c in request.also),
    )
    return InputRows(shown, keys, TIME, (InputColumn(name, own, place, sparse=False),), time, PORT)


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
    frame: DataFrame, name: str, what: str, accepted: Sequence[type[types.DataType]]
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


def _select_value(frame: DataFrame, name: str) -> Any:
    """Return the column; a decimal as the nearest double."""
    if isinstance(frame.schema[name].dataType, types.DecimalType):
        return quote_column(name).cast("double").alias(name)
    return quote_column(name)
