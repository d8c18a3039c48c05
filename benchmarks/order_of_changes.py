"""Rows in an order as they change: the first k of many, as-of joins, lookups, window functions.

Inside the clock: `Region.close`, of transactions that are encoded as words, up to the ordered
changes of the output. Before the clock: encoding, compilation, the load. CPU µs per change of the
input, of the best run; a run takes the same changes as the one before, reversed. Half of the
changes delete a row that is there, half insert another one; a batch has all of them, in
transactions of two rows or in one of all.

`best rows`: half of the changes are among the first k.
"""

import time

import numpy as np

import rtbot
from benchmarks.measure import Line, Report
from benchmarks.setups import SEED
from rtbot.graph.stages import split_stages
from rtbot.relations.deltas import Deltas
from rtbot.relations.region import Region
from rtbot.relations.region_writer import write_region
from rtbot.tables.string_dictionary import StringDictionary

CHANGES = 200_000
RANGE = 1 << 40
"""Values are integers from 0 to this."""
TOP = """
inputs: {{rows: {{changes: {{id: integer, region: integer, x: integer}}}}}}
operators: {{o: {{type: TopRows, in: rows, {parameters}}}}}
outputs: [o]
"""
TOPS = {
    "k = 10": "order: [-x], k: 10",
    "k = 10, number": "order: [-x], k: 10, number: n",
    "k = 10, ties": "order: [-x], k: 10, ties: true",
    "k = 10,000": "order: [-x], k: 10000",
    "k = 3 of 1,000 regions": "by: [region], order: [-x], k: 3",
}
JOIN = """
inputs:
  trades: {{changes: {{id: integer, sym: integer, t: integer}}}}
  quotes: {{changes: {{sym: integer, t: integer, bid: integer}}}}
operators: {{o: {{in: [trades, quotes], {parameters}}}}}
outputs: [o]
"""
JOINS = {
    "AsOfJoin": "type: AsOfJoin, on: [sym], match: [t]",
    "AsOfJoin, left": "type: AsOfJoin, on: [sym], match: [t], how: left",
    "IntervalJoin": "type: IntervalJoin, on: [sym], match: [t], lower: -10, upper: 0",
    "LookupJoin": "type: LookupJoin, on: {sym: sym, t: t}",
    "JoinRows": "type: JoinRows, on: {sym: sym, t: t}",
}
OVER = """
inputs: {{rows: {{changes: {{id: integer, region: integer, x: integer}}}}}}
operators: {{o: {{type: OverRows, in: rows, by: [region], order: [id], {computed}}}}}
outputs: [o]
"""
HUNDRED = "frame: rows between 99 preceding and current row"
WINDOWS = {
    "number": "compute: {v: number()}",
    "lag": "compute: {v: lag(x)}",
    "running sum": "compute: {v: sum(x)}",
    "sum of 100 rows": f"{HUNDRED}, compute: {{v: sum(x)}}",
    "greatest of 100 rows": f"{HUNDRED}, compute: {{v: max(x)}}",
}
SYMBOLS = 1_000


def make_region(text: str) -> Region:
    """A region whose loops are compiled: it has taken rows, and given them back."""
    checked = rtbot.load(text).checked
    (stage,) = split_stages(checked, checked.outputs)
    region = Region(write_region(stage, checked), StringDictionary(), "now")
    words = np.arange(30).reshape(10, 3)
    for weight in (1, -1):
        weights = np.full(10, weight)
        close(region, **{s.name: cut(words, weights, 2) for s in region.plan.sources})
    return region


def make_rows(first: int, count: int, best: float = 0.0) -> np.ndarray:
    """Rows as words; a share of them is among the best."""
    rng = np.random.default_rng(SEED + first)
    values = rng.integers(0, RANGE, count)
    values[: int(best * count)] += RANGE
    rng.shuffle(values)
    return np.stack([np.arange(first, first + count), rng.integers(0, 1000, count), values], 1)


def make_times(first: int, count: int) -> np.ndarray:
    """Trades as words, one for every time of a symbol."""
    numbers = np.random.default_rng(SEED).permutation(count)
    return np.stack([first + np.arange(count), numbers % SYMBOLS, numbers // SYMBOLS * 10], 1)


def cut(words: np.ndarray, weights: np.ndarray, transactions: int) -> Deltas:
    """The same number of rows in every transaction."""
    starts = np.linspace(0, len(words), transactions + 1).astype(np.int64)
    return Deltas(starts, np.ascontiguousarray(words), np.ascontiguousarray(weights))


def close(region: Region, **given: Deltas) -> int:
    """Take transactions; the rows out."""
    count = len(next(iter(given.values())).starts) - 1
    closed = region.close(np.arange(count), given)
    assert closed.fault is None, closed.fault
    return len(closed.outputs["o"])


def replace(old: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Words and weights of changes: every old row goes, a new one comes."""
    words = np.stack([old, new], 1).reshape(-1, old.shape[1])
    return words, np.tile([-1, 1], len(old))


def measure(
    region: Region, name: str, words: np.ndarray, weights: np.ndarray, transactions: int, runs: int
) -> float:
    """CPU µs per change; every second run takes the changes back."""
    others = [source.name for source in region.plan.sources if source.name != name]
    best = np.inf
    for run in range(2 * runs):
        deltas = cut(words, weights, transactions)
        if run % 2:
            deltas = cut(words[::-1], -weights[::-1], transactions)
        given = {name: deltas}
        for other in others:
            nothing = np.zeros(transactions + 1, np.int64), words[:0], weights[:0]
            given[other] = Deltas(*nothing)
        began = time.process_time()
        close(region, **given)
        best = min(best, time.process_time() - began)
    return 1e6 * best / len(words)


def rank_rows(report: Report, rows: int) -> None:
    """The first k rows."""
    for name, parameters in TOPS.items():
        case = f"TopRows over {rows:,} rows, {name}"
        if not report.wants(case):
            continue
        region = make_region(TOP.format(parameters=parameters))
        held = make_rows(0, rows)
        began = time.process_time()
        for first in range(0, rows, 100_000):
            part = held[first : first + 100_000]
            close(region, rows=cut(part, np.ones(len(part), np.int64), 1))
        seconds = time.process_time() - began
        report.add(Line(case, "load", rows / seconds / 1e6, None))
        size = sum(region.count_bytes().values()) / rows
        report.add(Line(case, "memory", size, None, "B/row"))
        some = held[np.random.default_rng(SEED).permutation(rows)[: CHANGES // 2]]
        target = "<= 5" if name == "k = 10" else ""
        for kind, new in (
            ("change", make_rows(rows, len(some))),
            ("change, best rows", make_rows(rows, len(some), 1.0)),
        ):
            words, weights = replace(some, new)
            for label, transactions in (("2 rows each", len(some)), ("all in one", 1)):
                found = measure(region, "rows", words, weights, transactions, report.runs)
                report.add(Line(case, f"{kind}, {label}", found, None, "µs", target=target))


def join_rows(report: Report, rows: int) -> None:
    """Trades with the quotes before them, or at their time."""
    for name, parameters in JOINS.items():
        case = f"{name} of {rows:,} trades and {rows:,} quotes"
        if not report.wants(case):
            continue
        region = make_region(JOIN.format(parameters=parameters))
        trades = make_times(0, rows)
        quotes = np.stack([trades[:, 1], trades[:, 2], trades[:, 0]], 1)
        one, nothing = (
            np.ones(rows, np.int64),
            cut(trades[:0], weights=np.ones(0, np.int64), transactions=1),
        )
        began = time.process_time()
        close(region, trades=nothing, quotes=cut(quotes, one, 1))
        close(region, trades=cut(trades, one, 1), quotes=nothing)
        seconds = time.process_time() - began
        report.add(Line(case, "load", 2 * rows / seconds / 1e6, None, remark="rows of both"))
        size = sum(region.count_bytes().values()) / (2 * rows)
        report.add(Line(case, "memory", size, None, "B/row"))
        chosen = np.random.default_rng(SEED).permutation(rows)[: CHANGES // 2]
        for side, table in (("trades", trades), ("quotes", quotes)):
            old = table[chosen]
            new = old + (np.array([rows, 0, 0]) if side == "trades" else np.array([0, 0, rows]))
            words, weights = replace(old, new)
            found = measure(region, side, words, weights, len(old), report.runs)
            report.add(Line(case, f"change of {side}", found, None, "µs"))


def number_rows(report: Report, rows: int) -> None:
    """Window functions over partitions of 1,000 rows, in the order of their ids."""
    parts = rows // 1000
    for name, computed in WINDOWS.items():
        case = f"OverRows, {name}, {parts:,} partitions of 1,000 rows"
        if not report.wants(case):
            continue
        region = make_region(OVER.format(computed=computed))
        held = make_rows(0, rows)
        held[:, 1] = held[:, 0] % parts
        began = time.process_time()
        for first in range(0, rows, 100_000):
            part = held[first : first + 100_000]
            close(region, rows=cut(part, np.ones(len(part), np.int64), 1))
        seconds = time.process_time() - began
        report.add(Line(case, "load", rows / seconds / 1e6, None))
        size = sum(region.count_bytes().values()) / rows
        report.add(Line(case, "memory", size, None, "B/row"))
        some = held[np.random.default_rng(SEED).permutation(rows)[: min(CHANGES // 20, rows)]]
        words, weights = replace(some, some + np.array([0, 0, 1]))
        new = make_rows(rows, len(some))
        new[:, 1] = new[:, 0] % parts
        for kind, given, signs, each in (
            ("correction", words, weights, 2),
            ("row at the end", new, np.ones(len(new), np.int64), 1),
        ):
            for label, count in ((f"{each} each", len(given) // each), ("all in one", 1)):
                found = measure(region, "rows", given, signs, count, report.runs)
                report.add(Line(case, f"{kind}, {label}", found, None, "µs"))


def main() -> None:
    """Measure and print."""
    report = Report(__doc__ or "")
    rank_rows(report, report.rows)
    join_rows(report, report.rows)
    number_rows(report, report.rows)
    report.finish()


if __name__ == "__main__":
    main()
