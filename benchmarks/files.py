"""Files through the whole Bollinger graph, from the command line: read, compute, write, end to end.

graphs/bollinger.yaml (20, 2 deviations, three outputs) over ten times --rows rows. Inside the
clock: a process from start to end, imports, fsync and all; CPU of all its threads. Before the
clock: the files, and one run over the first rows, which compiles (once per machine). pandas: a
process that reads, computes with rolling (by groupby where there is a key, rows then sorted by key
and time) and writes the same table. Prices have two decimals, or all the digits that they need (15
to 17). Turns are taken, with as many threads as each starts by itself; the best of a quarter of
--runs. M rows per second; peak is resident memory.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from benchmarks import THREADS
from benchmarks.measure import Line, Report, difference
from benchmarks.setups import SEED, walk

ROOT = Path(__file__).parent.parent
GRAPH = "graphs/bollinger.yaml"
SYMBOLS = 100
FIRST_ROWS = 200_000
"""Enough for all that is compiled to be used."""

BY_PANDAS = """
import sys
import pandas as pd
source, target = sys.argv[1:]
table = pd.read_csv(source) if source.endswith("csv") else pd.read_parquet(source)
if "symbol" in table:
    table = table.sort_values(["symbol", "t"], kind="stable", ignore_index=True)
    rolling = table.groupby("symbol", sort=False)["price"].rolling(20)
    mean, spread = (found.to_numpy() for found in (rolling.mean(), 2 * rolling.std()))
else:
    rolling = table["price"].rolling(20)
    mean, spread = rolling.mean(), 2 * rolling.std()
bands = table.drop(columns="price").assign(upper=mean + spread, middle=mean, lower=mean - spread)
bands = bands.dropna()
if target.endswith("csv"):
    bands.to_csv(target, index=False)
else:
    bands.to_parquet(target, index=False)
"""


TIMED = """
import os, sys, time
started = time.perf_counter()
child = os.posix_spawn(sys.executable, sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""A small process between: the peak memory of a child begins with that of its parent."""


@dataclass(frozen=True)
class Case:
    """A file and how it is run; without a key, `key` is empty."""

    name: str
    file: str
    form: str
    key: str = ""
    stream: bool = False
    target: str = ""

    def ours(self, folder: Path, file: str) -> list[str]:
        """Return the command of rtbot."""
        found = [sys.executable, "-m", "rtbot", "run", GRAPH, str(folder / f"{file}.{self.form}")]
        found += ["--key", self.key, "-o", str(folder / f"rtbot.{self.form}")]
        return [*found, "--stream"] if self.stream else found

    def theirs(self, folder: Path) -> list[str]:
        """Return the command of pandas."""
        files = [str(folder / f"{name}.{self.form}") for name in (self.file, "pandas")]
        return [sys.executable, "-c", BY_PANDAS, *files]


CASES = (
    Case("CSV, two decimals", "cents", "csv", target=">= 1"),
    Case("CSV, all digits", "full", "csv", target=">= 1"),
    Case("CSV, times in ISO 8601", "iso", "csv"),
    Case("Parquet, two decimals", "cents", "parquet", target=">= 3"),
    Case("Parquet, all digits", "full", "parquet", target=">= 3"),
    Case("CSV, 100 symbols", "keyed", "csv", "symbol"),
    Case("CSV, 100 symbols, --stream", "keyed", "csv", "symbol", stream=True),
    Case("Parquet, 100 symbols", "keyed", "parquet", "symbol"),
    Case("Parquet, 100 symbols, --stream", "keyed", "parquet", "symbol", stream=True),
)


def tables(rows: int) -> dict[str, pa.Table]:
    """Return what the files hold: `cents`, `full`, `iso`, and `keyed` with rows by time."""
    laps = -(-rows // SYMBOLS)
    times, prices = 1_700_000_000 + 60 * np.arange(rows), walk(rows)
    cents = pa.array(np.round(prices, 2))
    symbols = np.tile(np.arange(SYMBOLS), (laps, 1))
    symbols = np.random.default_rng(SEED).permuted(symbols, axis=1).ravel()[:rows]
    names = pa.array([f"S{number:03}" for number in range(SYMBOLS)])
    stamps = pa.array(times).cast(pa.timestamp("s")).cast(pa.string())
    return {
        "cents": pa.table({"t": times, "price": cents}),
        "full": pa.table({"t": times, "price": prices}),
        "iso": pa.table({"t": stamps, "price": cents}),
        "keyed": pa.table(
            {"t": np.repeat(times[:laps], SYMBOLS)[:rows], "symbol": names.take(pa.array(symbols)),
             "price": cents}
        ),
    }  # fmt: skip


def write_files(folder: Path, rows: int) -> None:
    """Write every table whole, its quarter and its first rows, in both forms."""
    options = pacsv.WriteOptions(quoting_style="none")
    for name, table in tables(rows).items():
        for part, count in (("", rows), ("-quarter", rows // 4), ("-first", FIRST_ROWS)):
            pacsv.write_csv(table.slice(0, count), folder / f"{name}{part}.csv", options)
            pq.write_table(table.slice(0, count), folder / f"{name}{part}.parquet")


def measured(command: list[str], cache: str) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and peak memory (MB) of a process."""
    environment = {name: value for name, value in os.environ.items() if name not in THREADS}
    environment["RTBOT_CACHE_DIR"] = cache
    done = subprocess.run(  # noqa: S603 (a command of our own)
        [sys.executable, "-c", TIMED, *command],
        capture_output=True, check=True, cwd=ROOT, env=environment, text=True,
    )  # fmt: skip
    cpu, wall, peak = map(float, done.stdout.split())
    return cpu, wall, peak


def upper(path: Path) -> np.ndarray:
    """Return the upper band of a result, in the order of the file."""
    if path.suffix == ".parquet":
        return pq.read_table(path, columns=["upper"])["upper"].to_numpy()
    options = pacsv.ConvertOptions(include_columns=["upper"])
    return pacsv.read_csv(path, convert_options=options)["upper"].to_numpy()


def compare(report: Report, case: Case, folder: Path, rows: int) -> None:
    """Let both take turns, and add their lines."""
    cache = str(folder)
    measured(case.ours(folder, f"{case.file}-first"), cache)
    quarter = measured(case.ours(folder, f"{case.file}-quarter"), cache)[2]
    found: dict[str, list[tuple[float, float, float]]] = {"rtbot": [], "pandas": []}
    for _ in range(max(1, report.runs // 4)):
        found["rtbot"].append(measured(case.ours(folder, case.file), cache))
        if not case.stream:
            found["pandas"].append(measured(case.theirs(folder), cache))
    least = {who: list(map(min, zip(*runs, strict=True))) for who, runs in found.items() if runs}
    for who, (cpu, wall, peak) in least.items():
        line = Line(case.name, who, rows / cpu / 1e6, rows / wall / 1e6)
        line.remark = f"peak {peak:.0f} MB"
        if who == "rtbot":
            line.target, line.remark = case.target, f"{line.remark}, {quarter:.0f} MB at a quarter"
        else:
            line.ratio = cpu / least["rtbot"][0]
            results = [upper(folder / f"{name}.{case.form}") for name in ("rtbot", "pandas")]
            line.differs = difference(*results)
        report.add(line)


def main() -> None:
    """Measure and print."""
    report = Report(__doc__ or "")
    rows = 10 * report.rows
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), rows)
        for case in (case for case in CASES if report.wants(case.name)):
            compare(report, case, Path(folder), rows)
    report.finish()


if __name__ == "__main__":
    main()
