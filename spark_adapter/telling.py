"""Errors of a graph on their way from a worker to the user, without the calls that led to them.

What is wrong stands in the error itself. PySpark shows the calls of a worker before it, unless the
environment says otherwise, and a worker that failed is not used again.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from rtbot.core import dated_errors
from rtbot.core.errors import DataError, RtbotError
from rtbot.core.times import Style

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spark_adapter.rows import Work

HIDDEN = "SPARK_HIDE_TRACEBACK"
"""What `spark.sql.execution.pyspark.udf.hideTraceback.enabled` sets in workers."""

OURS = re.compile(r"\brtbot\.errors\.\w+: (.*?error\[RT\d{3}\]: .*(?:\n {5}.*)*)")
"""An error of ours in the text of one of Spark; lines of a hint begin with spaces."""


def reason(error: BaseException | None) -> str:
    """Return what rtbot says is wrong, of an error that Spark has raised; "" if it says nothing.

    Around that, Spark tells of tasks, workers and plans. What `query.exception()` returned may be
    given, too.
    """
    if isinstance(error, RtbotError):
        return str(error)
    found = OURS.search(str(error))
    return found[1] if found else ""


@contextmanager
def plainly(work: Work) -> Iterator[None]:
    """Let errors of `rtbot.core.errors` through as their text alone, dated by `work`."""
    try:
        yield
    except RtbotError as error:
        if _on_a_worker():
            os.environ[HIDDEN] = "1"
        told = dated(error, work) if isinstance(error, DataError) else error
        raise told.with_traceback(None) from None


def dated(error: DataError, work: Work) -> DataError:
    """Return the error with its times as ISO 8601 where the column of times has timestamps.

    An instant ends in Z.
    """
    kind = work.schema.field(work.stamp).type
    if not pa.types.is_timestamp(kind):
        return error
    return dated_errors.dated(error, work.unit, Style(offset="Z" if kind.tz else ""))


def _on_a_worker() -> bool:
    from pyspark import TaskContext

    return TaskContext.get() is not None
