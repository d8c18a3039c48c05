"""A graph made ready for Spark: loaded and checked on the driver, with the schema of its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import types

import rtbot
from rtbot import DataError
from rtbot.adapter import (
    VECTOR,
    find_file_setting,
    list_output_types,
    list_public_names,
    list_vectors,
    refuse_changes,
)
from spark_adapter.input_rows import is_same_name
from spark_adapter.partition import JobSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot import Graph
    from spark_adapter.input_rows import InputRows

KINDS: Mapping[str, tuple[types.DataType, pa.DataType]] = {
    "number": (types.DoubleType(), pa.float64()),
    "integer": (types.LongType(), pa.int64()),
    "boolean": (types.BooleanType(), pa.bool_()),
    "text": (types.StringType(), pa.string()),
    VECTOR: (types.ArrayType(types.DoubleType()), pa.list_(pa.float64())),
}
SIMPLE = {type(kind): arrow for kind, arrow in KINDS.values()}
HEADS: Mapping[type[types.DataType], pa.DataType] = {
    types.ByteType: pa.int8(),
    types.ShortType: pa.int16(),
    types.IntegerType: pa.int32(),
    types.LongType: pa.int64(),
    types.StringType: pa.string(),
    types.TimestampType: pa.timestamp("us", "UTC"),
    types.TimestampNTZType: pa.timestamp("us"),
}
ORDERED = ("first", "last")


@dataclass(frozen=True)
class ResultShape:
    """The result of a graph: its schema for Spark, and for Arrow."""

    spark: types.StructType
    arrow: pa.Schema


def load_for_spark(graph: Any, params: Mapping[str, Any] | None) -> Graph:
    """Load a graph unless it is one; refuse what depends on an order that Spark does not have."""
    if isinstance(graph, rtbot.Graph) and params:
        raise TypeError("params go with a path or text, not with a graph that is loaded already")
    loaded = graph if isinstance(graph, rtbot.Graph) else rtbot.load(graph, **(params or {}))
    refuse_changes(loaded.checked, "Spark")
    rule = loaded.checked.io.duplicates
    if rule in ORDERED:
        message = f"io.duplicates: {rule} asks for an order of arrival, which Spark does not have"
        raise DataError(message, code="RT202", hint="set it to error, min, max or sum")
    setting = find_file_setting(loaded.checked)
    if setting:
        message = f"{setting} has no meaning for DataFrames of Spark, whose columns have types"
        hint = "convert the columns in Spark, such as with to_timestamp, and leave it out"
        raise DataError(message, code="RT160", hint=hint)
    return loaded


def prepare_job(rows: InputRows, graph: Graph, layout: str) -> tuple[JobSpec, ResultShape]:
    """Return what the workers do, and the schema of the result."""
    if layout not in ("wide", "long"):
        raise TypeError(f"layout is wide or long, not {layout!r}")
    fields = [(name, rows.frame.schema[name].dataType) for name in rows.keys]
    fields.append((rows.stamp, _choose_time_type(rows.frame.schema[rows.time].dataType)))
    heads = [(name, kind, HEADS[type(kind)]) for name, kind in fields]
    values = [(n, *KINDS[kind]) for n, kind in _list_values(graph, layout)]
    names = [name for name, *_ in (*heads, *values)]
    twice = [n for n in names if sum(is_same_name(rows.frame, n, other) for other in names) > 1]
    if twice:
        shown = " and ".join(repr(name) for name in twice[:2])
        message = f"two columns of the result would have one name for Spark: {shown}"
        raise DataError(message, code="RT215", hint="rename an output of the graph, or a column")
    shape = ResultShape(
        types.StructType([types.StructField(name, kind) for name, kind, _ in (*heads, *values)]),
        pa.schema([(name, kind) for name, _, kind in (*heads, *values)]),
    )
    unit = graph.checked.io.unit or "us"
    graph.plan()  # made here, once; workers get the text of its code, and need no operator's class
    work = JobSpec(
        graph, rows.keys, rows.time, rows.feeds, shape.arrow, rows.stamp, layout, rows.port, unit
    )
    return work, shape


def choose_arrow_type(kind: types.DataType) -> pa.DataType:
    """Return the type of Arrow in which Spark sends the values of an input."""
    if isinstance(kind, types.StructType):
        return pa.struct([(field.name, SIMPLE[type(field.dataType)]) for field in kind])
    return SIMPLE[type(kind)]


def _list_values(graph: Graph, layout: str) -> list[tuple[str, str]]:
    """Return name and kind of the columns of values."""
    checked = graph.checked
    kinds = {name: type_.kind for name, type_ in list_output_types(checked).items()}
    if layout == "wide":
        kinds |= dict.fromkeys(list_vectors(checked.records), VECTOR)
        return [(name, kinds[name]) for name in list_public_names(checked)]
    different = len(set(kinds.values())) > 1
    return [("output", "text"), ("value", "text" if different else next(iter(kinds.values())))]


def _choose_time_type(kind: types.DataType) -> types.DataType:
    """Choose the type of result times: that of the input; timestamps where that has dates."""
    return types.TimestampNTZType() if isinstance(kind, types.DateType) else kind
