"""Errors of a graph on their way from a worker to the user, without the worker's traceback.

The error itself has what is wrong. PySpark shows the traceback of a worker before it, unless the
environment says otherwise, and a worker that failed is not used again.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from rtbot import DataError, RtbotError
from rtbot.adapter import TimeStyle, format_error_times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spark_adapter.partition import JobSpec

HIDDEN = "SPARK_HIDE_TRACEBACK"
"""What `spark.sql.execution.pyspark.udf.hideTraceback.enabled` sets in workers."""

OURS = re.compile(r"\brtbot\.[\w.]+: (.*?error\[RT\d{3}\]: .*(?:\n {5}.*)*)")
"""An error of ours in the text of one of Spark; lines of a hint begin with spaces."""


def reason(error: BaseException | None) -> str:
    """Return rtbot's message in an error that Spark has raised; "" if there is none.

    Around that, Spark reports tasks, workers and plans. What `query.exception()` returned may be
    given, too.
    """
    if isinstance(error, RtbotError):
        return str(error)
    found = OURS.search(str(error))
    return found[1] if found else ""


@contextmanager
def hide_worker_traceback(work: JobSpec) -> Iterator[None]:
    """Let errors of `rtbot.core.errors` through as their text alone, dated by `work`."""
    try:
        yield
    except RtbotError as error:
        if _is_on_worker():
            os.environ[HIDDEN] = "1"
        told = format_worker_times(error, work) if isinstance(error, DataError) else error
        raise told.with_traceback(None) from None


def format_worker_times(error: DataError, work: JobSpec) -> DataError:
    """Return the error with its times as ISO 8601 where the column of times has timestamps.

    An instant ends in Z.
    """
    kind = work.schema.field(work.stamp).type
    if not pa.types.is_timestamp(kind):
        return error
    return format_error_times(error, work.unit, TimeStyle(offset="Z" if kind.tz else ""))


def _is_on_worker() -> bool:
    from pyspark import TaskContext

    return TaskContext.get() is not None
