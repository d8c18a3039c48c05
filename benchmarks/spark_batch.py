"""A moving mean and Bollinger bands per key on Spark, beside the same by hand.

    python -m benchmarks.spark_batch [--keys N ...] [--rows N] [--runs N] [--json FILE]
                                     [--without pandas]

Two cores in local mode. The CPU of a case is that of the JVM and of all Python processes, in
microseconds per row; the first lines say where it goes: rows made, put in order by key and time,
and sent through Python as they are. `sql` is a window function over the same rows (a mean; mean and
deviation over one frame), which also emits where a window is not full yet. `pandas` is
applyInPandas with `rolling`, a call per key: beyond 100,000 keys that many are measured, and the
time per key counts. `differs` is from a tenth of the rows, to SQL. The remark has the peak memory
of a Python worker, which keeps what pandas took: compare it --without pandas. The last line is one
that has sent some rows through, and one that has run a graph on them. All ways take turns; the best
of --runs counts. Cases that are in the file already are not measured again. Linux only.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession, Window, functions

import spark_adapter
from benchmarks.measure import HEADS, Line, cells, machine, table

ROOT = Path(__file__).parent.parent
MEAN = """
inputs: {price: number}
params: {window: 20}
operators: {middle: {type: MovingAverage, in: price, window: $window}}
outputs: {middle: middle}
"""
BANDS = "graphs/bollinger.yaml"
KEYS = (1, 100, 10_000, 1_000_000)
MANY_KEYS = 100_000
"""More than so many keys take applyInPandas minutes."""

FEW_ROWS = 10_000

TARGETS = {("mean", 100): 1.6, ("bands", 100): 2.0, ("mean", 10**6): 2.7, ("bands", 10**6): 2.7}
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    "spark.driver.memory": "4g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Way:
    """A way to do a job over so many rows."""

    job: str
    who: str
    make: Callable[[int], DataFrame]
    rows: int


def session() -> SparkSession:
    """A local session on two cores."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = str(ROOT)
    builder = SparkSession.builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


# ---- the ways


def prices(spark: SparkSession, keys: int, rows: int) -> DataFrame:
    """Rows of random keys, in the order of time."""
    key = functions.pmod(functions.xxhash64("id"), functions.lit(keys))
    price = 100 + functions.rand(7)
    columns = {"k": key, "t": functions.col("id"), "price": price}
    return spark.range(rows).select(*(column.alias(name) for name, column in columns.items()))


def in_order(data: DataFrame) -> DataFrame:
    """Rows by key and time."""
    return data.repartition("k").sortWithinPartitions("k", "t")


def through_python(data: DataFrame) -> DataFrame:
    """Rows sent to Python and back."""
    return data.mapInArrow(lambda batches: batches, data.schema)


def by_graph(data: DataFrame, graph: str, window: int) -> DataFrame:
    """Our own."""
    params = {"window": window}
    return spark_adapter.run_graph(data, graph, key="k", time="t", params=params)


def by_sql(data: DataFrame, window: int, *, bands: bool) -> DataFrame:
    """Window functions of Spark."""
    frame = Window.partitionBy("k").orderBy("t").rowsBetween(1 - window, 0)
    middle = functions.avg("price").over(frame).alias("middle")
    if not bands:
        return data.select("k", "t", middle)
    spread = 2 * functions.stddev("price").over(frame)
    found = data.select("k", "t", middle, spread.alias("spread"))
    return found.selectExpr("k", "t", "middle + spread upper", "middle", "middle - spread lower")


def by_pandas(data: DataFrame, window: int, *, bands: bool) -> DataFrame:
    """A call of pandas per key."""

    def mean(rows: Any) -> Any:
        rows = rows.sort_values("t")
        middle = rows["price"].rolling(window).mean()
        return rows[["k", "t"]].assign(middle=middle).iloc[window - 1 :]

    def three(rows: Any) -> Any:
        rows = rows.sort_values("t")
        rolling = rows["price"].rolling(window)
        middle, spread = rolling.mean(), 2 * rolling.std()
        made = rows[["k", "t"]].assign(upper=middle + spread, middle=middle, lower=middle - spread)
        return made.iloc[window - 1 :]

    outputs = ("upper", "middle", "lower") if bands else ("middle",)
    shape = ", ".join(["k bigint", "t bigint", *(f"{name} double" for name in outputs)])
    return data.groupBy("k").applyInPandas(three if bands else mean, shape)


def ways(spark: SparkSession, keys: int, rows: int) -> list[Way]:
    """All ways for so many keys; each makes its DataFrame from a number of rows."""
    window = 20 if rows // keys > 20 else 5
    few = min(keys, MANY_KEYS)
    few_rows = rows * few // keys

    def data(count: int) -> DataFrame:
        return prices(spark, max(1, keys * count // rows) if count < rows else keys, count)

    found = [
        Way("rows", "made", data, rows),
        Way("rows", "in order", lambda n: in_order(data(n)), rows),
        Way("rows", "through Python", lambda n: through_python(in_order(data(n))), rows),
    ]
    for job, graph, bands in (("mean", MEAN, False), ("bands", BANDS, True)):
        found += [
            Way(job, "rtbot", lambda n, g=graph: by_graph(data(n), g, window), rows),
            Way(job, "sql", lambda n, b=bands: by_sql(data(n), window, bands=b), rows),
            Way(
                job,
                "pandas",
                lambda n, b=bands: by_pandas(prices(spark, few, n), window, bands=b),
                few_rows,
            ),
        ]
    return found


# ---- what they take


class Processes:
    """This process and all below it."""

    def seconds(self) -> float:
        """CPU of all, with that of those that have ended."""
        return sum(sum(map(int, fields[11:15])) for _, fields in self._all()) / TICK

    def peak(self) -> float:
        """The most megabytes that a Python worker has had since `forget`."""
        found = [memory(pid, "VmHWM") for pid in self._workers()]
        return max(found, default=0.0)

    def forget(self) -> None:
        """Let peaks begin anew."""
        for pid in self._workers():
            Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="utf-8")

    def _workers(self) -> list[int]:
        everyone = self._all()
        parents = {pid: int(fields[1]) for pid, fields in everyone}
        daemons = {pid for pid, parent in parents.items() if java(parent)}
        return [pid for pid, parent in parents.items() if parent in daemons]

    def _all(self) -> list[tuple[int, list[str]]]:
        stats = dict(filter(None, map(stat, Path("/proc").iterdir())))
        found = {os.getpid()}
        while more := {p for p, fields in stats.items() if int(fields[1]) in found} - found:
            found |= more
        return [(pid, stats[pid]) for pid in found]


def stat(folder: Path) -> tuple[int, list[str]] | None:
    """The fields of /proc/PID/stat after the name, of a process that is still there."""
    try:
        text = (folder / "stat").read_text(encoding="utf-8")
        return int(folder.name), text.rpartition(")")[2].split()
    except (OSError, ValueError):
        return None


def java(pid: int) -> bool:
    """Whether the process is the JVM."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == "java"
    except OSError:
        return False


def memory(pid: int, name: str) -> float:
    """A line of /proc/PID/status in megabytes; 0 of a process that has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


@dataclass
class Found:
    """The best of all runs, in microseconds per row, and the greatest peak."""

    cpu: float = np.inf
    wall: float = np.inf
    peak: float = 0.0


def run(frame: DataFrame) -> None:
    """Make all rows, and throw them away."""
    frame.write.format("noop").mode("overwrite").save()


def once(way: Way, processes: Processes, found: Found) -> None:
    """Run one way and keep what is best."""
    frame = way.make(way.rows)
    processes.forget()
    cpu, wall = processes.seconds(), time.perf_counter()
    run(frame)
    cpu, wall = processes.seconds() - cpu, time.perf_counter() - wall
    found.cpu = min(found.cpu, cpu / way.rows * 1e6)
    found.wall = min(found.wall, wall / way.rows * 1e6)
    found.peak = max(found.peak, processes.peak())


def difference(ours: DataFrame, theirs: DataFrame) -> float:
    """The largest relative difference of a column where both have a row."""
    names = [name for name in ours.columns if name not in ("k", "t")]
    other = theirs.select("k", "t", *(theirs[name].alias(f"_{name}") for name in names))
    both = ours.join(other, ["k", "t"])
    far = [functions.max(functions.abs((both[n] - both[f"_{n}"]) / both[n])) for n in names]
    row = both.select(functions.count("*"), functions.greatest(*far, functions.lit(0.0))).first()
    assert row is not None
    assert row[0] == ours.count(), "a row of ours is not there in SQL"
    return float(row[1])


def measured(spark: SparkSession, keys: int, given: argparse.Namespace) -> list[Line]:
    """The lines of one number of keys."""
    rows, processes = given.rows, Processes()
    every = [way for way in ways(spark, keys, rows) if way.who not in given.without]
    found = {way: Found() for way in every}
    apart: dict[str, float] = {}
    for way in every:  # warms JVM and workers
        if way.rows == rows:
            run(way.make(rows // 10))
    by_name = {(way.job, way.who): way for way in every}
    for job in ("mean", "bands"):
        pair = [by_name[job, who].make(rows // 10) for who in ("rtbot", "sql")]
        apart[job] = difference(*pair)
    for number in range(given.runs):
        for way in every:
            if number == 0 or way.rows == rows:
                once(way, processes, found[way])
    lines = []
    for way in every:
        line = line_of(way, found[way], keys, rows)
        if way.who == "rtbot":
            line.differs = apart[way.job]
        elif way.job in apart:
            line.ratio = found[way].cpu / found[by_name[way.job, "rtbot"]].cpu
        lines.append(line)
    return lines


def line_of(way: Way, found: Found, keys: int, rows: int) -> Line:
    """The line of a way by itself."""
    line = Line(f"{keys:,} keys: {way.job}", way.who, found.cpu, found.wall, "us/row")
    if way.who == "rtbot" and (way.job, keys) in TARGETS:
        line.target = f"<= {TARGETS[way.job, keys]:g}"
    if way.who in ("rtbot", "pandas"):
        line.remark = f"worker {found.peak:.0f} MB"
    if way.rows != rows:
        line.remark += f", {MANY_KEYS:,} keys of as many rows each"
    return line


def idle(spark: SparkSession) -> str:
    """The memory of a worker that has little to do."""
    found, rows = [], prices(spark, 100, FEW_ROWS)
    for frame in (through_python(rows), by_graph(rows, BANDS, 20)):
        run(frame)
        found.append(f"{Processes().peak():.0f} MB")
    return f"an idle worker: {found[0]}, with a graph {found[1]}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keys", type=int, nargs="+", default=KEYS)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--without", nargs="+", default=(), choices=("pandas",))
    parser.add_argument("--json", type=Path, help="write machine and lines to this file")
    given = parser.parse_args()
    lines: list[Line] = []
    if given.json and given.json.exists():
        lines = [Line(**one) for one in json.loads(given.json.read_text("utf-8"))["lines"]]
    os.chdir(ROOT)
    spark = session()
    told = idle(spark)
    for keys in given.keys:
        if any(line.case.startswith(f"{keys:,} keys:") for line in lines):
            continue
        lines += measured(spark, keys, given)
        if given.json:
            written = {"machine": machine(), "lines": [asdict(line) for line in lines]}
            given.json.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    spark.stop()
    print(table([HEADS, *map(cells, lines)]), told, sep="\n", flush=True)


if __name__ == "__main__":
    main()
