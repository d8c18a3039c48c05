"""Errors of a graph on their way from a worker to the user, without the calls that led to them.

What is wrong stands in the error itself. PySpark shows the calls of a worker before it, unless the
environment says otherwise, and a worker that failed is not used again.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rtbot.errors import RtbotError

if TYPE_CHECKING:
    from collections.abc import Iterator

HIDDEN = "SPARK_HIDE_TRACEBACK"
"""What `spark.sql.execution.pyspark.udf.hideTraceback.enabled` sets in workers."""


@contextmanager
def plainly() -> Iterator[None]:
    """Let errors of the tree in `rtbot.errors` through as their text alone."""
    try:
        yield
    except RtbotError as error:
        if _on_a_worker():
            os.environ[HIDDEN] = "1"
        raise error.with_traceback(None) from None


def _on_a_worker() -> bool:
    from pyspark import TaskContext

    return TaskContext.get() is not None
