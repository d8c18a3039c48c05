"""Nexmark: how many events a second one core takes, for every query.

Inside the clock: `push` of Arrow tables with the fields that a query reads into a session, with the
result table of all changes that come out, and `finish`. Before the clock: events, compilation (a
session of its own takes the first events). An event is a person, an auction or a bid, also where
the query does not read it. CPU is that of the whole process. Every query runs once, in a process of
its own.
"""

import json
import resource
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import rtbot
from benchmarks.measure import Line, Report
from benchmarks.nexmark.checking import check
from benchmarks.nexmark.events import RATE
from benchmarks.nexmark.queries import QUERIES
from benchmarks.nexmark.streams import UNIQUE, Stream, find_fields

WARM_UP = 50_000


def make_graph(query: str) -> rtbot.Graph:
    """Return the graph of a query, with the inputs and fields that it reads."""
    inputs: dict[str, Any] = {}
    for name, fields in find_fields(query).items():
        inputs[name] = {"changes": fields}
        if name in UNIQUE:
            inputs[name]["unique"] = UNIQUE[name]
    operators = {"o": {"type": "SQL", "in": list(inputs), "query": query}}
    return rtbot.load({"inputs": inputs, "operators": operators, "outputs": ["o"]})


def run(graph: rtbot.Graph, query: str, stream: Stream, events: int) -> dict[str, Any]:
    """Push all events; return the seconds that it takes, and how many changes come out."""
    session = graph.start(compiled="now")
    wall = cpu = 0.0
    rows = 0
    for tables in stream.list_pushes(find_fields(query), events):
        began, spent = time.perf_counter(), time.process_time()
        result = session.push(tables)
        cpu, wall = cpu + time.process_time() - spent, wall + time.perf_counter() - began
        rows += len(result["o"]["weight"])
    began, spent = time.perf_counter(), time.process_time()
    result = session.finish()
    cpu, wall = cpu + time.process_time() - spent, wall + time.perf_counter() - began
    return {"cpu": cpu, "wall": wall, "rows": rows + len(result["o"]["weight"])}


def measure(name: str, stream: Stream, events: int) -> dict[str, Any]:
    """Run a query once; return seconds, changes and MB."""
    graph = make_graph(QUERIES[name])
    run(graph, QUERIES[name], replace(stream, count=WARM_UP), events)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = run(graph, QUERIES[name], stream, events)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found | {"peak": peak / 1024, "before": before / 1024}


def main() -> None:
    """Measure all queries."""
    report = Report(
        __doc__ or "",
        transaction="events per transaction (1000)",
        push="events per push (10000)",
        rate="events per second (10000): how long windows are in events",
        corrections="the share of bids and auctions that are corrected later (0)",
        check="compare with DuckDB at so many times, and at the end; nothing is measured",
        one="run this query, and print what comes out as JSON",
    )
    options = report.options
    wanted, options.only = options.only.split(",") if options.only else list(QUERIES), ""
    count, transaction = report.rows, int(options.transaction or 1_000)
    push, corrections = int(options.push or 10_000), float(options.corrections or 0)
    stream = Stream(count, transaction, corrections, rate=int(options.rate or RATE))
    if options.one:
        print(json.dumps(measure(options.one, stream, push)))
        return
    for name in wanted:
        if options.check:
            rows = check(make_graph(QUERIES[name]), QUERIES[name], stream, int(options.check))
            print(f"{name}: the same {rows:,} rows", flush=True)
            continue
        given = {"rows": count, "transaction": transaction, "push": push, "one": name}
        given |= {"corrections": corrections, "rate": stream.rate}
        words = [word for key, value in given.items() for word in (f"--{key}", str(value))]
        command = [sys.executable, "-m", "benchmarks.nexmark", "--no-machine", *words]
        done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
        if done.returncode:
            error = done.stderr.strip().splitlines()[-1:]
            report.add(Line(name, "rtbot", None, None, remark=" ".join(error)))
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        rates = count / found["cpu"] / 1_000, count / found["wall"] / 1_000
        remark = f"{found['rows']:,} changes out; peak {found['peak']:.0f} MB"
        report.add(Line(name, "rtbot", *rates, unit="k events/s", remark=remark))
    if not options.check:
        report.finish()


if __name__ == "__main__":
    main()
