"""A graph as a SQL table function."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from pyspark.sql.types import ArrayType, DateType, FloatType, StructType

from rtbot import DataError
from rtbot.adapter import suggest_name
from spark_adapter.graphs import HEADS, SIMPLE, load_for_spark, prepare_job
from spark_adapter.input_rows import make_request, read_frames
from spark_adapter.partition import PartitionRun, simplify_errors
from spark_adapter.row_order import find_key_starts, read_key, unwrap_arrow_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType
    from pyspark.sql.udtf import UserDefinedTableFunction

    from spark_adapter.input_rows import InputRows
    from spark_adapter.partition import JobSpec

OPTIONS = ("key", "time", "inputs", "layout")
ARROW: dict[type[DataType], pa.DataType] = {
    **HEADS,
    **SIMPLE,
    FloatType: pa.float32(),
    DateType: pa.date32(),
}
"""The types of Arrow in which Spark sends its own."""

PARTITIONED = "_partition_child_indexes"
"""The attribute with the columns of PARTITION BY, in the object that makes an instance per value.

Spark has them nowhere else. Without it, rows come as they are stored, a part in every task.
"""

VALUES = "_last_partition_key"
"""The attribute with the values of PARTITION BY of the rows that it passes on."""


def register(
    spark: SparkSession,
    name: str,
    graph: Any,
    *,
    like: DataFrame,
    params: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Make a graph a table function of this name.

    `SELECT * FROM name(TABLE(t) PARTITION BY key ORDER BY time)` then gives what `run_graph` gives.
    `like` is a DataFrame with the columns of the tables it will be used on; none of its rows are
    read. `params` and the options `key`, `time`, `inputs` and `layout` are as for `run_graph`.
    Raises GraphError or DataError. A query fails with DataError where PARTITION BY is not there,
    has other values than the key or brings rows of several keys together, and where rows are not in
    the order of time, which ORDER BY makes.
    """
    from pyspark.sql.functions import arrow_udtf

    if not hasattr(like, "schema"):
        raise TypeError(f"like is a DataFrame, as spark.table(name) gives one, not {like!r}")
    layout, columns = _options(options)
    loaded = load_for_spark(graph, params)
    rows = read_frames(like, loaded, make_request(**columns))
    if not rows.keys:
        hint = "say key=, or set io.key; one series needs a column that is the same in all rows"
        raise DataError("a table function has a key, for PARTITION BY", code="RT204", hint=hint)
    needed = _list_needed(like, rows)
    work, shape = prepare_job(rows, loaded, layout)
    made = arrow_udtf(_make_table_function(work, needed), returnType=shape.spark)
    spark.udtf.register(name, cast("UserDefinedTableFunction", made))  # not a decorator


def _list_needed(like: DataFrame, rows: InputRows) -> dict[str, DataType]:
    """Return the columns that a query has to have; raise DataError for one that it cannot."""
    needed = {}
    for column in rows.frame.columns:
        if column not in like.columns:
            name = next(feed.input for feed in rows.feeds if feed.column == column)
            message = f"a table function has one column for the input {name}"
            hint = f"let like= and the query have one: array(...) AS {name}, or struct(...)"
            raise DataError(message, code="RT220", hint=hint)
        needed[column] = like.schema[column].dataType
        shown = needed[column].simpleString()
        if "decimal(" in shown:
            message = f"the column {column!r} is {shown}"
            raise DataError(message, code="RT220", hint="cast it to double")
    return needed


def _options(given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the layout, and the names of columns; raise TypeError if an option is unknown."""
    for name in given:
        if name not in OPTIONS:
            hint = suggest_name(name, OPTIONS) or f"the options are {', '.join(OPTIONS)}"
            raise TypeError(f"there is no option {name!r}: {hint}")
    columns = dict(given)
    return columns.pop("layout", "wide"), columns


def _make_table_function(work: JobSpec, needed: Mapping[str, DataType]) -> type:
    """Return the class of which Spark makes an instance for every key."""

    class Function:
        """An instance sees the rows of one key, in batches."""

        def __init__(self) -> None:
            self.partition = PartitionRun(work)
            frame = inspect.currentframe()
            caller = frame.f_back if frame is not None else None
            self.maker = caller.f_locals.get("self") if caller is not None else None

        def eval(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
            return simplify_errors(self._result(batch), work)

        def terminate(self) -> Iterator[pa.RecordBatch]:
            return simplify_errors(self.partition.finish(), work)

        def _result(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
            if batch.num_rows:
                rows = pa.Table.from_batches([batch])
                _check_rows(rows, needed)
                _check_key(rows, self.partition, self.maker)
                yield from self.partition.push(rows)

    # Spark reads real types from these, which a string annotation would not give it.
    Function.eval.__annotations__ = {"batch": pa.RecordBatch, "return": Iterator[pa.RecordBatch]}
    return Function


def _check_rows(rows: pa.Table, needed: Mapping[str, DataType]) -> None:
    """Refuse rows without what is needed, or of other types."""
    missing = [column for column in needed if column not in rows.column_names]
    if missing:
        hint = f"the table has {', '.join(rows.column_names)}"
        raise DataError(f"there is no column {missing[0]!r}", code="RT204", hint=hint)
    for name, kind in needed.items():
        found = rows.schema.field(name).type
        if not _alike(found, kind):
            message = f"the column {name!r} is {found}; in like= it is {kind.simpleString()}"
            hint = f"cast it to {kind.simpleString()}, or register with such a table as like="
            raise DataError(message, code="RT220", hint=hint)


def _check_key(rows: pa.Table, partition: PartitionRun, maker: Any) -> None:
    """Refuse rows of several keys, of another key than those before, or of a part of a key.

    `maker` made the partition. Where its PARTITION BY has the values of the key, in any order, no
    row of the key is elsewhere.
    """
    work, opened = partition.work, partition.open
    first = read_key(rows, 0, work.keys)
    key, given = unwrap_arrow_key(first), getattr(maker, VALUES, None)
    hint = f"write TABLE(...) PARTITION BY {', '.join(work.keys)} ORDER BY {work.time}"
    changes = opened and first not in opened
    columns = len(getattr(maker, PARTITIONED, ()))
    if columns != len(work.keys) or changes or len(find_key_starts(rows, work.keys)) > 2:
        message = "a call got rows of several keys, or a part of those of one"
        raise DataError(message, code="RT212", hint=hint, key=key)
    values = [part.as_py() for part in first]
    if given is not None and sorted(map(repr, given)) != sorted(map(repr, values)):
        shown = ", ".join(map(repr, given))
        message = f"PARTITION BY has another value than the key, {shown}: a key may come in parts"
        raise DataError(message, code="RT212", hint=hint, key=key)


def _alike(found: pa.DataType, kind: DataType) -> bool:
    """Return whether a column of Arrow is of this type of Spark; the zone of times is ignored."""
    if isinstance(kind, ArrayType):
        return pa.types.is_list(found) and _alike(found.value_type, kind.elementType)
    if isinstance(kind, StructType):
        names = [field.name for field in found] if pa.types.is_struct(found) else None
        same = names == kind.names
        return same and all(_alike(found.field(f.name).type, f.dataType) for f in kind)
    wanted = ARROW[type(kind)]
    if pa.types.is_timestamp(wanted) and pa.types.is_timestamp(found):
        return (found.tz is None) == (wanted.tz is None)
    return bool(found == wanted or (pa.types.is_large_string(found) and wanted == pa.string()))
