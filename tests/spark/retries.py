"""Tasks that fail once and run again: the result has the bytes of one in which nothing failed.

    python -m tests.spark.retries

Who takes the rows of a result, in the same stage, raises after some of them in every first attempt.
A session of its own, since Spark runs a task again in local mode only if its master says so.
"""

import random
import sys
import tempfile
from pathlib import Path

import rtbot
import spark_adapter
from tests.spark import torture
from tests.spark.conftest import started
from tests.spark.connect import tell

MASTER = "local[2,2]"
"""Two cores, and two attempts for every task."""

GRAPH = """
inputs: {a: integer, b: number}
operators:
  total: {type: CumulativeSum, in: a}
  step: {type: Difference, in: b}
outputs: [total, step]
"""
KEYS, ROWS = 6, 150_000
BATCH_ROWS = 500


def failing(after, folder):
    """Give rows on as they come; a first attempt ends after so many batches, and leaves a file."""

    def fail_once(batches):
        from pyspark import TaskContext

        context = TaskContext.get()
        for number, batch in enumerate(batches, 1):
            yield batch
            if number == after and context.attemptNumber() == 0:
                Path(folder, f"{context.stageId()}-{context.partitionId()}").touch()
                raise RuntimeError("this attempt fails")

    return fail_once


def failures(folder):
    """How many tasks have failed, by the files that they left, which are removed."""
    left = list(Path(folder).iterdir())
    for path in left:
        path.unlink()
    return len(left)


def batches(spark, folder):
    """Whether a batch run is right, by name."""
    columns = (f"concat('k', id % {KEYS}) k", f"id div {KEYS} t", "id % 91 a", "id * 0.3D b")
    frame = spark.range(ROWS).selectExpr(*columns)
    right = rtbot.load(GRAPH).run(frame.orderBy("id").toArrow(), key="k").to_arrow()
    for strategy in ("partitions", "groups"):
        out = spark_adapter.run_graph(frame, GRAPH, key="k", strategy=strategy, partitions=2)
        whole = out.toArrow()
        again = out.mapInArrow(failing(20, folder), out.schema).toArrow()
        same = again.equals(whole) and same_rows(again, right)
        yield f"run_graph by {strategy}", same and failures(folder) == 2


def same_rows(shown, right):
    """Whether two results are one, in any order of rows; there is no NaN in them."""
    order = [("k", "ascending"), ("t", "ascending")]
    tables = [table.select(["k", "t", "total", "step"]) for table in (shown, right)]
    one, other = (table.sort_by(order) for table in tables)
    return one.cast(other.schema).equals(other)


def streams(spark, folder, failed):
    """Whether a stream is right, every task of which failed, by name."""
    rows = torture.prepare(folder, random.Random(6), files=2)
    torture.run(spark, folder, lambda out: out.mapInArrow(failing(1, failed), out.schema))
    same = torture.differences(spark, folder, rows) == []
    yield "a stream", same and failures(failed) >= 3


def main():
    """Print a line for everything that was tried; the exit code is 1 if something is wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder, failed = Path(name, "stream"), Path(name, "failed")
        folder.mkdir()
        failed.mkdir()
        spark = started(name, MASTER)
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", BATCH_ROWS)
        wrong = tell(batches(spark, failed), streams(spark, folder, failed))
        spark.stop()
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
