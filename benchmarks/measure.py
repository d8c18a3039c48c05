"""What the benchmarks share: the options, the clock, the machine and the table."""

import argparse
import gc
import importlib.metadata
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import THREADS

LIBRARIES = ("numpy", "numba", "pandas", "polars", "csp", "pyarrow")
TURN = 3
HEADS = ("case", "who", "CPU", "wall", "unit", "target", "rtbot is", "differs", "remark")


@dataclass
class Contestant:
    """One way to do a job. `prepare` runs before the clock, `run(*prepared)` within it.

    `values` takes a numpy array out of what `run` returned, to be compared with rtbot's. Without
    `run` the contestant is not there, and `remark` says why.
    """

    name: str
    run: Callable[..., Any] | None
    prepare: Callable[[], tuple[Any, ...]] = tuple
    values: Callable[[Any], np.ndarray] | None = None
    remark: str = ""


@dataclass
class Line:
    """One line of a table; `cpu` and `wall` in `unit`, each the best of all runs."""

    case: str
    who: str
    cpu: float | None
    wall: float | None
    unit: str = "M rows/s"
    target: str = ""
    ratio: float | None = None
    differs: float | None = None
    remark: str = ""


class Report:
    """The lines of one benchmark: told as they come, printed at the end, written if asked for.

    `more` are options of this benchmark, with their help.
    """

    def __init__(self, text: str, **more: str) -> None:
        parser = argparse.ArgumentParser(
            description=text, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        parser.add_argument("--rows", type=int, default=1_000_000, help="rows per input and run")
        parser.add_argument("--runs", type=int, default=9, help="the best of this many counts")
        parser.add_argument("--only", default="", help="only cases with this in their name")
        parser.add_argument("--json", type=Path, help="write machine and lines to this file")
        parser.add_argument("--no-machine", action="store_true", help="do not print the machine")
        for name, described in more.items():
            parser.add_argument(f"--{name}", help=described)
        self.options = parser.parse_args()
        self.rows, self.runs = self.options.rows, self.options.runs
        self.text = text.strip()
        self.lines: list[Line] = []
        if not self.options.no_machine:
            print("\n".join(f"{name}: {value}" for name, value in machine().items()), end="\n\n")
        print(self.text, flush=True)

    def wants(self, case: str) -> bool:
        """Whether a case is to be measured."""
        return self.options.only in case

    def add(self, line: Line) -> None:
        """Take a line, if its case is wanted, and tell it to whom waits."""
        if self.wants(line.case):
            self.lines.append(line)
            print(*cells(line), sep="  ", file=sys.stderr, flush=True)

    def compare(self, case: str, contestants: list[Contestant], target: float) -> None:
        """Let contestants take turns, rtbot first; rates are M rows per input and second."""
        if not self.wants(case):
            return
        found = take_turns(contestants, self.runs)
        reference = found[contestants[0].name]
        for contestant in contestants:
            if contestant.run is None:
                self.add(Line(case, contestant.name, None, None, remark=contestant.remark))
                continue
            cpu, wall, values = found[contestant.name]
            line = Line(case, contestant.name, self.rows / cpu / 1e6, self.rows / wall / 1e6)
            line.remark = contestant.remark
            if contestant is contestants[0]:
                line.target = f">= {target:g}" if target else ""
            else:
                line.ratio = cpu / reference[0]
                line.differs = difference(reference[2], values)
            self.add(line)

    def finish(self, text: str = "") -> None:
        """Print the table, or this text in its place; write the file."""
        print()
        print(text or table([HEADS, *map(cells, self.lines)]), flush=True)
        if self.options.json:
            found = {"machine": machine(), "lines": [asdict(line) for line in self.lines]}
            self.options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def best(run: Callable[..., Any], prepare: Callable[[], tuple[Any, ...]], runs: int) -> Any:
    """Least CPU seconds and least wall seconds."""
    found = take_turns([Contestant("", run, prepare)], runs)
    return found[""][:2]


def take_turns(contestants: list[Contestant], runs: int) -> dict[str, Any]:
    """(CPU seconds, wall seconds, values) per contestant; everybody's turn before the next round.

    A turn is TURN runs in a row, so that nobody pays for memory that another one had last.
    """
    found: dict[str, Any] = {c.name: (np.inf, np.inf, None) for c in contestants}
    for _ in range(-(-runs // TURN)):
        for contestant in contestants:
            for _ in range(TURN if contestant.run else 0):
                cpu, wall, values = once(contestant)
                before = found[contestant.name]
                found[contestant.name] = (min(cpu, before[0]), min(wall, before[1]), values)
    return found


def once(contestant: Contestant) -> tuple[float, float, np.ndarray | None]:
    """CPU seconds, wall seconds and values of one run.

    The result is alive until the clock stands still: to free it is no part of the job.
    """
    assert contestant.run is not None
    given = contestant.prepare()
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    result = contestant.run(*given)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return cpu, wall, contestant.values(result) if contestant.values else None


def difference(ours: np.ndarray | None, theirs: np.ndarray | None) -> float | None:
    """Largest relative difference; ours may have more rows in front (our windows were full)."""
    if ours is None or theirs is None:
        return None
    assert len(theirs), "a peer found nothing: it does another job"
    assert 0 <= len(ours) - len(theirs) < 100, (len(ours), len(theirs))
    ours = ours[len(ours) - len(theirs) :]
    return float(np.max(np.abs(ours - theirs) / np.maximum(np.abs(ours), 1e-300)))


def machine() -> dict[str, str]:
    """What the figures were made on, without a name of it."""
    found = {"cpu": processor(), "cores": str(os.cpu_count()), "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    found["threads"] = ", ".join(f"{name}={os.environ[name]}" for name in THREADS)
    found["load average"] = f"{os.getloadavg()[0]:.1f}"
    return found


def processor() -> str:
    """The model of the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


def cells(line: Line) -> tuple[str, ...]:
    """The line as text; `rtbot is` says how many times as fast rtbot is."""
    return (
        line.case,
        line.who,
        number(line.cpu),
        number(line.wall),
        line.unit if line.cpu is not None else "",
        line.target,
        f"{line.ratio:.2f} x" if line.ratio is not None else "",
        f"{line.differs:.0e}" if line.differs else "same" if line.differs == 0 else "",
        line.remark,
    )


def number(value: float | None) -> str:
    """Three digits that count."""
    if value is None:
        return "-"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{digits}f}"


def table(rows: list[tuple[str, ...]]) -> str:
    """Aligned text, numbers to the right; equal cases are named once."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADS))]
    lines, case = [], None
    for row in rows:
        shown = ("" if row[0] == case else row[0], *row[1:])
        case = row[0]
        aligned = [
            text.rjust(width) if 2 <= place <= 3 or 5 <= place <= 7 else text.ljust(width)
            for place, (text, width) in enumerate(zip(shown, widths, strict=True))
        ]
        lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)


def pivot(lines: Sequence[Line], heads: Mapping[str, str], title: str) -> str:
    """Return the CPU rates as a table in Markdown: a row per case, a column per contestant.

    `heads` are the contestants and their titles. Cases without the first one are left out.
    """
    rates = {(line.case, line.who): line.cpu for line in lines}
    rows = [
        [line.case, *(number(rates.get((line.case, head))) for head in heads)]
        for line in lines
        if line.who == next(iter(heads))
    ]
    found = [[title, *heads.values()], ["---", *["---:"] * len(heads)], *rows]
    text = "\n".join(f"| {' | '.join(row)} |" for row in found)
    return text.replace(" --- |", "---|").replace(" ---: |", "---:|")
