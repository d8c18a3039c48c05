"""A graph as a SQL table function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import DecimalType

from rtbot.errors import DataError
from spark_adapter.graphs import loaded_graph, prepared
from spark_adapter.rows import Partition
from spark_adapter.sources import requested, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession


def register(
    spark: SparkSession,
    name: str,
    graph: Any,
    *,
    like: DataFrame,
    params: Mapping[str, Any] | None = None,
    **columns: Any,
) -> None:
    """Make a graph a table function of this name.

    `SELECT * FROM name(TABLE(t) PARTITION BY key ORDER BY time)` then gives what `run_graph` gives.
    `like` is a DataFrame with the columns of the tables it will be used on; none of its rows are
    read. `params` and the columns, `key`, `time` and `inputs`, are as for `run_graph`. Raises
    GraphError or DataError.
    """
    from pyspark.sql.functions import arrow_udtf

    loaded = loaded_graph(graph, params)
    rows = rows_of(like, loaded, requested(**columns))
    for field in like.schema:
        if isinstance(field.dataType, DecimalType) and field.name in rows.frame.columns:
            message = f"the column {field.name!r} is {field.dataType.simpleString()}"
            raise DataError(message, code="RT220", hint="cast it to double")
    work, shape = prepared(rows, loaded, "wide")

    class Function:
        """An instance sees the rows of one key, in batches."""

        def __init__(self) -> None:
            self.partition = Partition(work)

        def eval(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
            if batch.num_rows:
                yield from self.partition.push(pa.Table.from_batches([batch]))

        def terminate(self) -> Iterator[pa.RecordBatch]:
            yield from self.partition.finish()

    # Spark reads real types from these, which a string annotation would not give it.
    Function.eval.__annotations__ = {"batch": pa.RecordBatch, "return": Iterator[pa.RecordBatch]}
    spark.udtf.register(name, arrow_udtf(Function, returnType=shape.spark))
