"""A file of changes through a join and a GroupBy, from the command line, end to end.

Ten times --rows changes of orders, a third of them deletes, in transactions of 1,000; joined with a
hundredth as many customers and grouped by region. Inside the clock: a process from start to end,
imports, reading, writing of all changes of the groups, and fsync. Before the clock: the files, and
a run of the first rows, which compiles. DuckDB, one thread: the last state alone, once, from the
same files. --kill FRACTION: a run with checkpoints is killed (SIGKILL) behind that part of its
output, resumed, and its bytes are compared with those of the run that was not.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from benchmarks.files import TIMED
from benchmarks.measure import Line, Report
from benchmarks.setups import SEED

REGIONS, TRANSACTION = 1_000, 1_000
CHECKPOINTS = 10
FIRST_ROWS = 100_000
GRAPH = """
inputs:
  orders: {changes: {id: integer, cust: integer, amount: number}, unique: [id]}
  customers: {changes: {cust: integer, region: integer}, unique: [cust]}
operators:
  both: {type: JoinRows, in: [orders, customers], on: [cust]}
  regions:
    {type: GroupBy, in: both, by: [region], compute: {orders: count(), total: sum(amount)}}
outputs: [regions]
"""
BY_DUCKDB = """
import sys
import duckdb
orders, customers, target = sys.argv[1:]
duckdb.sql("SET threads = 1; SET enable_progress_bar = false")
duckdb.sql(f'''
COPY (
    SELECT region, count(*) AS orders, sum(amount) AS total
    FROM (SELECT id, cust, amount FROM read_csv('{orders}')
          GROUP BY id, cust, amount HAVING sum(weight) > 0)
    JOIN read_csv('{customers}') USING (cust) GROUP BY region ORDER BY region
) TO '{target}'
''')
"""


def write_files(folder: Path, rows: int) -> None:
    """Write the graph, and the changes of both inputs."""
    (folder / "graph.yaml").write_text(GRAPH, encoding="utf-8")
    customers = np.arange(max(rows // 100, 1))
    write_csv(folder / "customers.csv", t=customers * 0, cust=customers, region=customers % REGIONS)
    rng = np.random.default_rng(SEED)
    cust, cents = rng.integers(0, len(customers), rows), rng.integers(100, 100_000, rows)
    deletes = np.arange(rows) % 3 == 2
    ids = np.where(deletes, np.cumsum(deletes) - 1, np.cumsum(~deletes) - 1)
    write_csv(
        folder / "orders.csv",
        t=np.arange(rows) // TRANSACTION + 1,
        weight=np.where(deletes, -1, 1),
        id=ids,
        cust=cust[ids],
        amount=cents[ids] / 100,
    )


def write_csv(path: Path, **columns: np.ndarray) -> None:
    """Write columns."""
    pacsv.write_csv(pa.table(columns), path)


def list_command(folder: Path, target: str, *more: str) -> list[str]:
    """Return the command of a run, without the interpreter."""
    given = [f"--in={name}={folder / name}.csv" for name in ("orders", "customers")]
    return ["-m", "rtbot", "run", str(folder / "graph.yaml"), *given, "-o", target, *more]


def measure(command: list[str]) -> tuple[float, float, float]:
    """Run a command of Python; CPU seconds, wall seconds, and peak memory in MB."""
    timed = [sys.executable, "-c", TIMED, sys.executable, *command]
    done = subprocess.run(timed, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    cpu, wall, peak = map(float, done.stdout.split())
    return cpu, wall, peak


def run_killed(folder: Path, rows: int, fraction: float, whole: Path) -> str:
    """Kill a run on its way and resume it; return what came of it."""
    target, checkpoint = folder / "killed.csv", folder / "killed.checkpoint"
    more = ("--checkpoint", str(checkpoint), "--every", str(max(rows // CHECKPOINTS, 1)))
    command = list_command(folder, str(target), *more)
    process = subprocess.Popen([sys.executable, *command])  # noqa: S603
    least = fraction * whole.stat().st_size
    while process.poll() is None:
        if checkpoint.exists() and count_bytes(target) >= least:
            os.kill(process.pid, signal.SIGKILL)
            break
        time.sleep(0.005)
    killed = process.wait() == -signal.SIGKILL
    there = count_bytes(target)
    subprocess.run([sys.executable, *command, "--resume"], check=True)  # noqa: S603
    same = target.read_bytes() == whole.read_bytes()
    how = f"killed at {there:,} of {whole.stat().st_size:,} bytes" if killed else "not killed"
    return f"{how}, {'same bytes' if same else 'OTHER BYTES'}"


def count_bytes(path: Path) -> int:
    """Return the length of a file, or of what is written beside it while it is made."""
    return max((p.stat().st_size for p in path.parent.glob(f"*{path.name}*")), default=0)


def main() -> None:
    """Measure and print."""
    report = Report(__doc__ or "", kill="kill a run behind this part of its output, resume it")
    rows = 10 * report.rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, min(rows, FIRST_ROWS))
        subprocess.run(  # noqa: S603
            [sys.executable, *list_command(folder, str(folder / "whole.csv"))], check=True
        )
        write_files(folder, rows)
        case = f"{rows:,} changes"
        commands = {
            "rtbot": list_command(folder, str(folder / "whole.csv")),
            "duckdb, last state": [
                "-c", BY_DUCKDB, str(folder / "orders.csv"), str(folder / "customers.csv"),
                str(folder / "state.csv"),
            ],
        }  # fmt: skip
        for who, command in commands.items():
            cpu, wall, peak = measure(command)
            remark = f"peak {peak:,.0f} MB"
            report.add(Line(case, who, rows / cpu / 1e6, rows / wall / 1e6, remark=remark))
        if report.options.kill:
            fraction = float(report.options.kill)
            found = run_killed(folder, rows, fraction, folder / "whole.csv")
            report.add(Line(case, "killed and resumed", None, None, remark=found))
    report.finish()


if __name__ == "__main__":
    main()
