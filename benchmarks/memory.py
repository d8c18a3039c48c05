"""Peak memory of `rtbot run` while rows are piped in: python -m benchmarks.memory --gigabytes 10.

Rows of CSV are made here, as fast as they are read, and never stand on a disk. The peak is told at
10 %, 50 % and 100 % of the bytes: where memory is flat it hardly grows after the first. A keyed run
is put in order by (key, t) at the end, with runs on the disk beside its output. Linux only: the
peak is VmHWM of /proc.
"""

import argparse
import io
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

GRAPH = """\
inputs: {a: number, b: number}
operators:
  sum: a + b
  mean: {type: MovingAverage, in: a, window: 20}
outputs: {sum: sum, mean: mean}
"""
CASES = {"unkeyed": [], "keyed": ["--key", "k"]}
MARKS = (0.1, 0.5, 1.0)
BLOCK_ROWS = 65_536
WAIT_SECONDS = 0.2


def rows_of_csv(keys: int) -> Iterator[bytes]:
    """Blocks of rows without end, after a header."""
    generator = np.random.default_rng(1)
    names = np.array([f"k{place:04d}" for place in range(keys)], object)
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="none")
    yield b"t,k,a,b\n"
    start = 0
    while True:
        count = start + np.arange(BLOCK_ROWS)
        columns = {
            "t": count // keys,
            "k": names[count % keys],
            "a": generator.normal(100, 5, BLOCK_ROWS).round(4),
            "b": generator.normal(100, 5, BLOCK_ROWS).round(4),
        }
        if keys == 1:
            del columns["k"]
        sink = io.BytesIO()
        pyarrow.csv.write_csv(pa.table(columns), sink, options)
        yield sink.getvalue()
        start += BLOCK_ROWS


def peak_megabytes(process: int) -> float:
    """The most memory that the process has ever had."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if line.startswith("VmHWM")]  # none of one that has just ended
    return int(found[0].split()[1]) / 1024 if found else 0.0


def measure(case: str, total: int, folder: Path, options: list[str]) -> None:
    """Run one case and print its line as it becomes known."""
    graph, output = folder / "graph.yaml", folder / f"{case}.csv"
    graph.write_text(GRAPH, encoding="utf-8")
    command = [sys.executable, "-m", "rtbot", "run", str(graph), "-", "-q", "-o", str(output)]
    print(f"{case:8}", end="", flush=True)
    start = time.perf_counter()
    child = subprocess.Popen([*command, *options], stdin=subprocess.PIPE)  # noqa: S603
    done = rows = 0
    marks = list(MARKS)
    blocks = rows_of_csv(1000 if case == "keyed" else 1)
    header = next(blocks)
    if case == "unkeyed":
        header = header.replace(b"k,", b"")
    child.stdin.write(header)
    while done < total:
        block = next(blocks)
        child.stdin.write(block)
        done, rows = done + len(block), rows + BLOCK_ROWS
        if len(marks) > 1 and done >= marks[0] * total:
            marks.pop(0)
            print(f"  {peak_megabytes(child.pid):6.0f} MB", end="", flush=True)
    child.stdin.close()
    peak = 0.0
    while child.poll() is None:
        peak = max(peak, peak_megabytes(child.pid))
        time.sleep(WAIT_SECONDS)
    seconds = time.perf_counter() - start
    rate = rows / seconds / 1e6
    wrote = output.stat().st_size / 1e9
    told = f"{rows / 1e6:8.1f} M rows  {seconds:7.1f} s  {rate:5.2f} M rows/s"
    print(f"  {peak:6.0f} MB  {told}", end="")
    print(f"  {wrote:6.2f} GB written" + (f"  FAILED {child.returncode}" * bool(child.returncode)))
    output.unlink(missing_ok=True)


def main() -> None:
    """Run the cases asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gigabytes", type=float, default=1.0, help="bytes of CSV per case")
    parser.add_argument("--case", choices=CASES, action="append", help="default: all")
    parser.add_argument("--memory", default="256M", help="as rtbot run takes it")
    parser.add_argument("--folder", type=Path, help="where outputs go; default: a new one")
    given = parser.parse_args()
    print(" " * 8 + "".join(f"  {f'at {mark:.0%}':>9}" for mark in MARKS), flush=True)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for case in given.case or CASES:
            options = [*CASES[case], "--memory", given.memory]
            measure(case, int(given.gigabytes * 1e9), Path(folder), options)


if __name__ == "__main__":
    main()
