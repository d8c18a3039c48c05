"""How long it takes to start: CPU time of whole processes, children's children included.

Inside the clock: a process from start to end (getrusage). `first run` has an empty cache, `second
run` what the first one left there; both run graphs/bollinger.yaml over 30 rows, so that next to
nothing is computed. The best of several. Seconds.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Line, Report

ROOT = Path(__file__).parent.parent
GRAPH = "graphs/bollinger.yaml"
ROWS = 30
IN_PYTHON = f"""
import rtbot
session = rtbot.load({GRAPH!r}).start()
session.push({{"price": {{"symbol": ["A"] * {ROWS}, "t": range({ROWS}), "value": [1.0] * {ROWS}}}}})
"""


def seconds(command: list[str], cache: str) -> tuple[float, float]:
    """CPU and wall seconds of one run of the command."""
    environment = os.environ | {"RTBOT_CACHE_DIR": cache}
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(  # noqa: S603 (a command of our own)
        command, check=True, capture_output=True, cwd=ROOT, env=environment
    )
    wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def least(found: list[tuple[float, float]]) -> tuple[float, float]:
    """Least CPU and least wall seconds."""
    return min(cpu for cpu, _ in found), min(wall for _, wall in found)


def main() -> None:
    """Measure and print."""
    report = Report(__doc__)
    python = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "prices.csv"
        rows = (f"{time},A,{100 + time}\n" for time in range(ROWS))
        table.write_text("t,symbol,price\n" + "".join(rows), encoding="utf-8")
        for case, command, target in (
            ("an empty program", [python, "-c", "pass"], ""),
            ("import rtbot", [python, "-c", "import rtbot"], ""),
            ("rtbot --help", [python, "-m", "rtbot", "--help"], "<= 0.15"),
        ):
            cpu, wall = least([seconds(command, folder) for _ in range(3 * report.runs)])
            report.add(Line(case, "rtbot", cpu, wall, "s", target))
        for case, command in (
            ("rtbot run", [python, "-m", "rtbot", "run", GRAPH, str(table)]),
            ("load, start, push", [python, "-c", IN_PYTHON]),
        ):
            for line in runs(case, command, report.runs):
                report.add(line)
    report.finish()


def runs(case: str, command: list[str], count: int) -> list[Line]:
    """Return a line for the first run and one for the second."""
    first, second = [], []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as cache:
            first.append(seconds(command, cache))
            second += [seconds(command, cache) for _ in range(count)]
    cold, warm = least(first), least(second)
    remark = f"compilation {cold[0] - warm[0]:.1f} s of it"
    return [
        Line(f"{case}, first run", "rtbot", *cold, "s", remark=remark),
        Line(f"{case}, second run", "rtbot", *warm, "s", "<= 1"),
    ]


if __name__ == "__main__":
    main()
