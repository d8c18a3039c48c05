"""How long it takes to start: CPU time of whole processes, children's children included.

Inside the clock: a process from start to end (getrusage). Runs are of graphs/bollinger.yaml over 30
rows, so that next to nothing is computed. `first run` has an empty cache, `warm` what a run that
compiles has left there. Modules of Python are compiled already. With --before FOLDER the same
commands are run from another checkout in turn, as `before`. The least of all runs. Seconds.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
COMPILED, INTERPRETED = {"RTBOT_COMPILE": "now"}, {"RTBOT_INTERPRET": "1"}
COLD_RUNS = 2
"""How often a case runs with an empty cache: that takes ten seconds where it compiles."""


@dataclass(frozen=True)
class Case:
    """A command, with environment variables of its own."""

    name: str
    command: list[str]
    settings: dict[str, str]
    cold: bool = False
    target: str = ""


class Checkout:
    """The program as it is in a folder, with a cache of its own that is filled."""

    def __init__(self, name: str, folder: Path, cache: Path) -> None:
        self.name, self.folder, self.cache = name, folder, cache

    def measure(self, case: Case) -> tuple[float, float]:
        """Return CPU and wall seconds of one run of a command."""
        with self._choose_cache(case) as cache:
            environment = os.environ | {"RTBOT_CACHE_DIR": cache, "PYTHONPATH": str(self.folder)}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run(  # noqa: S603 (a command of our own)
                [sys.executable, *case.command],
                check=True,
                capture_output=True,
                cwd=self.folder,
                env=environment | case.settings,
            )
            wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall

    @contextmanager
    def _choose_cache(self, case: Case) -> Iterator[str]:
        if not case.cold:
            yield str(self.cache)
            return
        with tempfile.TemporaryDirectory() as folder:
            yield folder


def main() -> None:
    """Measure and print."""
    report = Report(__doc__, before="a checkout of another version, to compare with")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "prices.csv"
        rows = (f"{time},A,{100 + time}\n" for time in range(ROWS))
        table.write_text("t,symbol,price\n" + "".join(rows), encoding="utf-8")
        places = {"rtbot": ROOT}
        if report.options.before:
            places["before"] = Path(report.options.before).absolute()
        checkouts = [Checkout(who, place, folder / who) for who, place in places.items()]
        cases = [case for case in list_cases(str(table)) if report.wants(case.name)]
        for checkout in checkouts:
            for case in cases:
                if case.settings == COMPILED:
                    checkout.measure(Case(case.name, case.command, case.settings))
        for case in cases:
            compare(report, case, checkouts)
    report.finish()


def list_cases(table: str) -> list[Case]:
    """Return what is measured."""
    program = ["-m", "rtbot"]
    run = [*program, "run", GRAPH, table]
    return [
        Case("an empty program", ["-c", "pass"], {}),
        Case("import rtbot", ["-c", "import rtbot"], {}),
        Case("rtbot --help", [*program, "--help"], {}, target="<= 0.15"),
        Case("rtbot run, interpreted", run, INTERPRETED),
        Case("rtbot run, compiled, warm", run, COMPILED),
        Case("rtbot run, warm", run, {}, target="<= 0.5"),
        Case("rtbot run, first run", run, {}, cold=True),
        Case("rtbot run, compiled, first run", run, COMPILED, cold=True),
        Case("load, start, push, warm", ["-c", IN_PYTHON], {}, target="<= 1"),
        Case("load, start, push, compiled, warm", ["-c", IN_PYTHON], COMPILED),
    ]


def compare(report: Report, case: Case, checkouts: list[Checkout]) -> None:
    """Let checkouts take turns, and add a line for each."""
    found: dict[str, list[tuple[float, float]]] = {checkout.name: [] for checkout in checkouts}
    for _ in range(COLD_RUNS if case.cold else report.runs):
        for checkout in checkouts:
            found[checkout.name].append(checkout.measure(case))
    for checkout in checkouts:
        cpu, wall = (min(seconds) for seconds in zip(*found[checkout.name], strict=True))
        line = Line(case.name, checkout.name, cpu, wall, "s")
        if checkout is checkouts[0]:
            line.target, ours = case.target, cpu
        else:
            line.ratio = cpu / ours
        report.add(line)


if __name__ == "__main__":
    main()
