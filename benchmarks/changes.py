"""Change streams: rates, latency of single changes, and what they have to do with the state.

Inside the clock: `push` of a table of numpy columns into a running session, with the result table
of all its changes; or a loop of `push_one`. Half of the changes insert random rows, half delete
rows that are there, so that the state stays as large as it is. Before the clock: tables, filling,
compilation. DuckDB: the query over the whole table as it is after a transaction, which lies ready,
to Arrow; once for every transaction. Pathway: the same changes with their times from a pandas
frame, filling, start and compilation of the graph included, without output; the time of a run
over the filling alone is taken off. It runs in an interpreter of its own: `--pathway PYTHON`.
"""

import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import rtbot
from benchmarks.measure import Line, Report, best
from benchmarks.setups import SEED

try:
    import duckdb
except ImportError:
    duckdb = None

TRANSACTION = 1_000
GROUPS = 1_000
DISTINCT = 200_000
"""Rows are drawn from so many different ones."""
PRESENT = 400_000
SINGLES = 5_000
STATES = (10_000, 100_000, 1_000_000, 10_000_000)
CHUNK = 500_000
FIELDS = {"a": "integer", "b": "integer", "c": "integer"}
CHAIN = {
    "w": {"type": "Where", "in": "x", "condition": "b > 100000"},
    "o": {"type": "GroupBy", "in": "w", "by": ["a"], "compute": {"n": "count()", "s": "sum(b)"}},
}
EXTREMES = {"least": "min(b)", "most": "max(b)"}
SUMS = {"n": "count()", "s": "sum(b)"}
OPERATORS: dict[str, dict[str, Any]] = {
    "Distinct": {"type": "Distinct", "in": "x"},
    "Union": {"type": "Union", "in": ["x", "y"]},
    "Intersect": {"type": "Intersect", "in": ["x", "y"]},
    "Except": {"type": "Except", "in": ["x", "y"]},
    "GroupBy": {"type": "GroupBy", "in": "x", "by": ["a"], "compute": SUMS},
    "GroupBy min max": {"type": "GroupBy", "in": "x", "by": ["a"], "compute": EXTREMES},
}
QUERIES = {
    "Distinct": "SELECT DISTINCT a, b, c FROM x",
    "Union": "SELECT a, b, c FROM x UNION SELECT a, b, c FROM y",
    "Intersect": "SELECT a, b, c FROM x INTERSECT SELECT a, b, c FROM y",
    "Except": "SELECT a, b, c FROM x EXCEPT SELECT a, b, c FROM y",
    "GroupBy": "SELECT a, count(*) AS n, sum(b) AS s FROM x GROUP BY a",
    "GroupBy min max": "SELECT a, min(b) AS least, max(b) AS most FROM x GROUP BY a",
    "Where, GroupBy": "SELECT a, count(*) AS n, sum(b) AS s FROM x WHERE b > 100000 GROUP BY a",
}


def make_graph(operators: dict[str, Any], unique: tuple[str, ...] = ()) -> rtbot.Graph:
    """Return a graph whose output is the operator `o`, with the inputs that it reads."""
    declared: dict[str, Any] = {"changes": FIELDS}
    if unique:
        declared["unique"] = list(unique)
    names = [name for name in ("x", "y") if f"'{name}'" in repr(operators)]
    inputs = dict.fromkeys(names, declared)
    return rtbot.load({"inputs": inputs, "operators": operators, "outputs": ["o"]})


class Changes:
    """Changes without end of one input; `rows` are the numbers of those that are there."""

    def __init__(self, seed: int, distinct: int = DISTINCT) -> None:
        self.generator = np.random.default_rng(seed)
        self.distinct = distinct
        self.time = 0
        self.rows = np.empty(0, np.int64)

    def name_columns(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the fields of rows."""
        return {"a": rows % GROUPS, "b": rows * 2_654_435_761 % 1_000_003, "c": rows}

    def add_times(self, count: int, each: int) -> np.ndarray:
        """Return the times of the next transactions."""
        times = self.time + np.arange(count) // each
        self.time = int(times[-1]) + 1
        return times

    def fill(self, count: int) -> dict[str, np.ndarray]:
        """Return inserts."""
        rows = self.generator.integers(0, self.distinct, count)
        self.rows = np.concatenate([self.rows, rows])
        times = self.add_times(count, TRANSACTION)
        return {"t": times, "weight": np.ones(count, np.int64)} | self.name_columns(rows)

    def mix(self, count: int, each: int = TRANSACTION) -> dict[str, np.ndarray]:
        """Return as many deletes as inserts, in transactions of so many changes each."""
        half = count // 2
        places = self.generator.choice(len(self.rows), half, replace=False)
        rows, weights = np.empty(2 * half, np.int64), np.empty(2 * half, np.int64)
        rows[0::2] = self.generator.integers(0, self.distinct, half)
        rows[1::2] = self.rows[places]
        weights[0::2], weights[1::2] = 1, -1
        self.rows[places] = rows[0::2]
        times = self.add_times(2 * half, each)
        return {"t": times, "weight": weights} | self.name_columns(rows)


class Running:
    """A session whose inputs are filled, and its next changes."""

    def __init__(self, graph: rtbot.Graph, present: int, distinct: int = DISTINCT) -> None:
        self.session = graph.start(compiled="now")
        self.inputs = {
            name: Changes(SEED + place, distinct) for place, name in enumerate(graph.checked.inputs)
        }
        self.slowest = 0.0
        while present > 0:
            part = {name: one.fill(min(present, CHUNK)) for name, one in self.inputs.items()}
            present -= CHUNK
            self.push(part)
        self.close()

    def close(self) -> None:
        """Close the transactions that are still open."""
        self.session.advance(min(one.time for one in self.inputs.values()) - 1)

    def mix(self, count: int, each: int = TRANSACTION) -> tuple[dict[str, Any]]:
        """Return the next changes of all inputs, so many together."""
        part = count // len(self.inputs)
        return ({name: one.mix(part, each) for name, one in self.inputs.items()},)

    def push(self, tables: dict[str, Any]) -> None:
        """Push tables, and look at what comes out."""
        assert self.session.push(tables)["o"]["weight"] is not None


class InDuckDB:
    """The tables of a session in DuckDB, as they are now."""

    def __init__(self, running: Running, query: str) -> None:
        self.database = duckdb.connect()
        self.database.execute("SET threads TO 1")
        self.query = query
        for name, one in running.inputs.items():
            table = pa.table(one.name_columns(one.rows))
            self.database.register("given", table)
            self.database.execute(
                "CREATE TABLE y AS SELECT * FROM given"
                if name == "y"
                else "CREATE TABLE x AS SELECT * FROM given"
            )

    def run(self) -> None:
        """Compute the query."""
        self.database.sql(self.query).to_arrow_table()


def add_recompute(report: Report, case: str, running: Running, query: str, changes: int) -> None:
    """Add the line of DuckDB: so many changes are a transaction."""
    if duckdb is None:
        report.add(Line(case, "DuckDB", None, None, remark="not installed"))
        return
    cpu, wall = best(InDuckDB(running, query).run, tuple, report.runs)
    report.add(
        Line(
            case,
            "DuckDB",
            changes / cpu / 1e6,
            changes / wall / 1e6,
            unit="M changes/s",
            remark="recompute",
        )
    )


def add_pathway(report: Report, case: str, job: str, running: Running) -> None:
    """Add the line of Pathway, if there is an interpreter that has it."""
    python = report.options.pathway
    if not python:
        report.add(Line(case, "Pathway", None, None, remark="not installed (--pathway PYTHON)"))
        return
    count = min(report.rows, PRESENT)
    with tempfile.TemporaryDirectory() as folder:
        given = {}
        for name, one in running.inputs.items():
            rows = one.rows.copy()
            own = Changes(SEED)
            own.rows = rows.copy()
            head = {"t": np.zeros(len(rows), np.int64), "weight": np.ones(len(rows), np.int64)}
            head |= own.name_columns(rows)
            own.time = 1
            tail = own.mix(count // len(running.inputs))
            for column, cells in tail.items():
                given[f"{name}.{column}"] = np.concatenate([head[column], cells])
            given[f"{name}.head"] = np.array([len(rows)])
        file = Path(folder) / "changes.npz"
        np.savez(file, **given)
        script = Path(__file__).with_name("peers_pathway.py")
        done = subprocess.run(  # noqa: S603
            [python, str(script), job, str(file)], capture_output=True, text=True, check=False
        )
    if done.returncode:
        remark = (done.stderr.strip().splitlines() or ["failed"])[-1][:60]
        report.add(Line(case, "Pathway", None, None, remark=remark))
        return
    found = json.loads(done.stdout.strip().splitlines()[-1])
    rates = [count / found[name] / 1e6 for name in ("cpu", "wall")]
    report.add(Line(case, "Pathway", *rates, unit="M changes/s", remark=found["version"]))


def measure_rates(report: Report) -> None:
    """Transactions of 1,000 changes through one operator; of one change through a chain."""
    for name, operator in OPERATORS.items():
        case = f"{name}, transactions of {TRANSACTION:,}"
        if not report.wants(case):
            continue
        running = Running(make_graph({"o": operator}), PRESENT)
        count = min(report.rows, PRESENT)
        cpu, wall = best(running.push, lambda r=running, n=count: r.mix(n), report.runs)
        rates = [count / seconds / 1e6 for seconds in (cpu, wall)]
        target = "" if name == "GroupBy min max" else ">= 3"
        report.add(Line(case, "rtbot", *rates, unit="M changes/s", target=target))
        add_recompute(report, case, running, QUERIES[name], TRANSACTION)
        add_pathway(report, case, name, running)
    case = "Where, GroupBy, transactions of 1"
    if report.wants(case):
        running = Running(make_graph(CHAIN), PRESENT)
        count = min(report.rows, 2 * PRESENT)
        cpu, wall = best(running.push, lambda: running.mix(count, each=1), report.runs)
        rates = [count / seconds / 1e6 for seconds in (cpu, wall)]
        report.add(Line(case, "rtbot", *rates, unit="M changes/s", target=">= 1"))
        add_recompute(report, case, running, QUERIES["Where, GroupBy"], 1)


def list_singles(running: Running, count: int) -> list[tuple[int, dict[str, int], int]]:
    """Return the next changes of `x` as arguments of `push_one`."""
    table = {name: cells.tolist() for name, cells in running.inputs["x"].mix(count, 1).items()}
    fields = zip(*(table[name] for name in FIELDS), strict=True)
    rows = (dict(zip(FIELDS, cells, strict=True)) for cells in fields)
    return list(zip(table["t"], rows, table["weight"], strict=True))


def measure_singles(report: Report) -> None:
    """Single changes through a chain, by `push_one`."""
    case = "push_one, Where, GroupBy"
    if not report.wants(case):
        return
    running = Running(make_graph(CHAIN), PRESENT)
    push_one = running.session.push_one

    def run(changes: Any) -> None:
        for at, row, weight in changes:
            push_one("x", at, row, weight)

    run(list_singles(running, 100))
    cpu, wall = best(run, lambda: (list_singles(running, SINGLES),), report.runs)
    times = [seconds / SINGLES * 1e6 for seconds in (cpu, wall)]
    report.add(Line(case, "rtbot", *times, unit="µs", target="<= 20"))
    if duckdb is not None:
        found = best(InDuckDB(running, QUERIES["Where, GroupBy"]).run, tuple, report.runs)
        times = [seconds * 1e6 for seconds in found]
        report.add(Line(case, "DuckDB", *times, unit="µs", remark="recompute"))


def measure_states(report: Report) -> None:
    """Latency by the number of rows that are there, and while they come."""
    largest = int(report.options.largest or STATES[-1])
    for rows in (rows for rows in STATES if rows <= largest):
        case = f"Distinct of {rows:,} rows"
        if not report.wants(case):
            continue
        running = Running(make_graph({"o": OPERATORS["Distinct"]}), rows, 2**40)
        for count in (1, TRANSACTION):
            tables = [table for _ in range(150) for table in halves(running.inputs["x"], count)]
            add_latency(report, case, count, [time_push(running, one) for one in tables][50:])
        del running
        gc.collect()
    case = "Distinct that grows"
    if report.wants(case):
        running = Running(make_graph({"o": OPERATORS["Distinct"]}), 0, 2**40)
        times = [
            time_push(running, running.inputs["x"].fill(TRANSACTION))
            for _ in range(largest // TRANSACTION)
        ]
        add_latency(report, f"{case} to {largest:,} rows", TRANSACTION, times)


def add_latency(report: Report, case: str, count: int, times: list[float]) -> None:
    """Add the line of pushes that took so many µs each."""
    who = f"push of {count:,}"
    remark = f"CPU of the median push; the longest {max(times):,.0f} µs"
    report.add(Line(case, who, float(np.median(times)), None, unit="µs", remark=remark))


def time_push(running: Running, table: dict[str, Any]) -> float:
    """Return the CPU time of one push in µs."""
    begun = time.process_time()
    running.push({"x": table})
    return (time.process_time() - begun) * 1e6


def halves(changes: Changes, count: int) -> list[dict[str, np.ndarray]]:
    """Return a transaction of inserts and one of deletes."""
    table = changes.mix(2 * count, 2 * count)
    changes.time += 1
    parts = [{name: cells[part::2].copy() for name, cells in table.items()} for part in (0, 1)]
    parts[1]["t"] += 1
    return parts


MEMORY: dict[str, Callable[[], rtbot.Graph]] = {
    "Distinct": lambda: make_graph({"o": OPERATORS["Distinct"]}),
    "a Where of rows with weights": lambda: make_graph(
        {"o": {"type": "Where", "in": "x", "condition": "a < 0"}}
    ),
    "a Where of rows with a key": lambda: make_graph(
        {"o": {"type": "Where", "in": "x", "condition": "a < 0"}}, ("c",)
    ),
}
"""Graphs with one store of rows."""


def count_resident() -> int:
    """Return the bytes of memory that this process has now."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) * 1024


def weigh_state(name: str, rows: int) -> float:
    """Return the bytes that every row takes in this process, when so many are there."""
    session = MEMORY[name]().start(compiled="now")
    changes = Changes(SEED, 2**40)
    session.push({"x": changes.fill(CHUNK)})
    gc.collect()
    before = count_resident()
    for _ in range(rows // CHUNK):
        session.push({"x": changes.fill(CHUNK)})
        changes.rows = np.empty(0, np.int64)
    gc.collect()
    return (count_resident() - before) / rows


def measure_memory(report: Report) -> None:
    """Bytes of memory for every row of three integers; Linux only."""
    rows = int(report.options.largest or STATES[-1])
    for name in MEMORY:
        case = f"memory, {name}"
        if not report.wants(case) or not sys.platform.startswith("linux"):
            continue
        code = f"from benchmarks.changes import weigh_state; print(weigh_state({name!r}, {rows}))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)  # noqa: S603
        each = float(done.stdout)
        remark = f"{rows:,} rows of three integers, resident"
        report.add(Line(case, "rtbot", each, each, unit="B/row", target="<= 60", remark=remark))


def main() -> None:
    """Measure and print."""
    report = Report(
        __doc__,
        pathway="an interpreter that has Pathway",
        largest="rows of the largest state, by default 10,000,000",
    )
    measure_singles(report)
    measure_rates(report)
    measure_states(report)
    measure_memory(report)
    report.finish()


if __name__ == "__main__":
    main()
