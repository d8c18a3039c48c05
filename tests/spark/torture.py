"""Streams whose driver is killed, again and again: no row may be lost or come twice.

    python -m tests.spark.torture [--runs N] [--seed N]

Every run has new random rows, and a driver that is killed with SIGKILL, with its JVM and workers,
at random moments, until one comes to the end. A kill hits a micro-batch if the offsets of one are
in the checkpoint and its commit is not.
"""

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

import rtbot
from tests.spark.conftest import ROOT, started

GRAPH = """
inputs: {a: number}
operators:
  ma: {type: MovingAverage, in: a, window: 3}
  peak: {type: PeakDetector, in: a, window: 3}
outputs: {middle: ma, peak: peak}
io: {unit: s}
"""
LOG, BEGUN = "child.log", "begun"


def prepare(folder, rng, files=9):
    """Write random rows as one file per micro-batch, a little out of order; returns all of them."""
    rows = [(f"k{k}", t, rng.gauss(0, 1)) for k in range(8) for t in range(1, 120)]
    order = sorted(rows, key=lambda row: row[1] + rng.uniform(0, 5))
    (folder / "in").mkdir()
    for number in range(files):
        part = order[len(order) * number // files : len(order) * (number + 1) // files]
        columns = dict(zip(("k", "t", "a"), map(list, zip(*part, strict=True)), strict=True))
        path = folder / "in" / f"{number}.parquet"
        parquet.write_table(pa.table(columns), path)
        os.utime(path, (1e9 + 60 * number,) * 2)
    return rows


def run(spark, folder, through=lambda out: out):
    """Run the stream over all there is, what comes out of it `through` something else."""
    from spark_adapter import run_graph

    frame = spark.readStream.schema("k string, t bigint, a double")
    frame = frame.option("maxFilesPerTrigger", 1).parquet(f"{folder}/in")
    out = run_graph(frame, GRAPH, key="k", watermark="6 seconds", buckets=3, slices=2)
    out = through(out)
    write = out.writeStream.format("parquet").option("checkpointLocation", f"{folder}/checkpoint")
    query = write.option("path", f"{folder}/out").trigger(availableNow=True).start()
    Path(folder, BEGUN).touch()
    query.awaitTermination()


def killed(folder, begun, moment, limit=300):
    """Run the stream in a process of its own, and kill it a moment after this file is there.

    Returns None if it came to its end before, else whether a micro-batch was hit.
    """
    command = [sys.executable, "-m", "tests.spark.torture", "--child", str(folder)]
    with (folder / LOG).open("a") as log:
        child = subprocess.Popen(command, cwd=ROOT, start_new_session=True, stdout=log, stderr=log)
    ending = time.monotonic() + limit
    while not (folder / begun).exists() and child.poll() is None:
        assert time.monotonic() < ending, told(folder)
        time.sleep(0.02)
    with contextlib.suppress(subprocess.TimeoutExpired):
        assert child.wait(moment) == 0, told(folder)
        return None
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    return newest(folder, "offsets") > newest(folder, "commits")


def moment(folder, rng):
    """Some time after the start, or after the first micro-batch that the checkpoint has not yet.

    Spark asks for an empty folder if it was killed while it wrote the offsets of the very first.
    """
    coming = newest(folder, "offsets") + 1
    after = (f"checkpoint/offsets/{coming}", rng.uniform(0, 4))
    return rng.choice([(BEGUN, rng.uniform(0, 8)), after]) if coming else after


def told(folder):
    """The end of what the processes said."""
    return (folder / LOG).read_text()[-10_000:]


def newest(folder, name):
    """The number of the last micro-batch that the checkpoint has there."""
    found = (folder / "checkpoint" / name).glob("[0-9]*")
    return max((int(path.name) for path in found), default=-1)


def differences(spark, folder, rows):
    """Rows of the sink and of what was left that the local run has not, and the other way round."""
    from spark_adapter import drain

    rest = drain(spark, f"{folder}/checkpoint", GRAPH).toArrow()
    given = pa.concat_tables([spark.read.parquet(f"{folder}/out").toArrow(), rest])
    rows = sorted(rows, key=lambda row: row[1])
    columns = dict(zip(("k", "t", "value"), map(list, zip(*rows, strict=True)), strict=True))
    right = rtbot.load(GRAPH).run({"a": columns}, key="k").to_arrow().select(given.column_names)
    both = [sorted(map(str, shown.to_pylist())) for shown in (given, right)]
    return [] if both[0] == both[1] else [*({*both[0]} ^ {*both[1]}), "rows that come twice"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        run(started(given.child), given.child)
        return
    spark = None
    for number in range(given.runs):
        rng = random.Random(given.seed + number)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            rows = prepare(folder, rng)
            hits = []
            while (hit := killed(folder, *moment(folder, rng))) is not None:
                hits.append(hit)
                (folder / BEGUN).unlink(missing_ok=True)
            spark = spark or started(tempfile.gettempdir())
            found = differences(spark, folder, rows)
            counts = f"run {number}: {len(hits)} kills, {sum(hits)} of them hit a micro-batch"
            print(counts, found or "equal", flush=True)
            if found:
                sys.exit(1)


if __name__ == "__main__":
    main()
