"""Joins of change streams: what a transaction costs, by state view and size of the state.

Inside the clock: `Region.close`, of transactions that are encoded as words, up to the ordered
changes of the output. Before the clock: encoding, compilation, the load where it is not the case.
CPU µs per transaction, of the best run; a run takes the same changes as the one before, reversed.

`row`: the join key of the right side is unique. `keyed`: another key of it is. `multiset`: none is
known. `count`: only counts are remembered. An order of `rows` has a customer of `rows` / 10.
"""

import time
from typing import Any

import numpy as np

import rtbot
from benchmarks.measure import Line, Report
from benchmarks.setups import SEED
from rtbot.graph.stages import split_stages
from rtbot.relations.deltas import Deltas
from rtbot.relations.region import Region
from rtbot.relations.region_writer import write_region
from rtbot.tables.string_dictionary import StringDictionary

TRANSACTIONS = 100_000
REGIONS = 1_000
GRAPH = """
inputs:
  orders: {{changes: {{id: integer, cust: integer, amount: number}}{orders}}}
  customers: {{changes: {{cust: integer, region: integer}}{customers}}}
operators:
  j: {{type: JoinRows, in: [orders, customers], on: [cust], {how}}}
{more}outputs: [{output}]
"""
GROUP = "  g: {type: GroupBy, in: j, by: [region], compute: {n: count(), total: sum(amount)}}\n"
UNIQUE = ", unique: [id]"
VIEWS = {
    "row": ("", ", unique: [cust]", "how: inner"),
    "keyed": (UNIQUE, ", unique: [cust, region]", "how: inner"),
    "multiset": ("", "", "how: inner"),
    "row, left join": ("", ", unique: [cust]", "how: left"),
    "row, left join, condition": ("", ", unique: [cust]", "how: left, condition: amount > region"),
    "count, semi join": ("", ", unique: [cust]", "how: semi"),
}


def make_region(orders: str, customers: str, how: str, more: str = "") -> Region:
    """A compiled region of one join, or of a join and a GroupBy."""
    output = "g" if more else "j"
    text = GRAPH.format(orders=orders, customers=customers, how=how, more=more, output=output)
    checked = rtbot.load(text).checked
    (stage,) = split_stages(checked, checked.outputs)
    return Region(write_region(stage, checked), StringDictionary(), "now")


def make_orders(first: int, count: int, customers: int) -> np.ndarray:
    """Rows of orders as words."""
    rng = np.random.default_rng(SEED + first)
    words = np.empty((count, 3), np.int64)
    words[:, 0] = np.arange(first, first + count)
    words[:, 1] = rng.integers(0, customers, count)
    words[:, 2] = rng.integers(1, 1000, count).astype(np.float64).view(np.int64)
    return words


def make_customers(count: int) -> np.ndarray:
    """Rows of customers as words."""
    numbers = np.arange(count)
    return np.stack([numbers, numbers % REGIONS], 1)


def cut(words: np.ndarray, weights: np.ndarray, transactions: int) -> Deltas:
    """The same number of rows in every transaction."""
    starts = np.linspace(0, len(words), transactions + 1).astype(np.int64)
    return Deltas(starts, np.ascontiguousarray(words), weights)


def close(region: Region, orders: Deltas, customers: Deltas | None = None) -> Any:
    """Take transactions."""
    count = len(orders.starts) - 1
    if customers is None:
        none = np.empty((0, 2), np.int64), np.empty(0, np.int64)
        customers = Deltas(np.zeros(count + 1, np.int64), *none)
    closed = region.close(np.arange(count), {"orders": orders, "customers": customers})
    assert closed.fault is None, closed.fault
    return closed


def load(region: Region, rows: int) -> float:
    """Load customers and orders in one transaction each; CPU seconds."""
    orders, customers = make_orders(0, rows, rows // 10), make_customers(rows // 10)
    parts = [cut(words, np.ones(len(words), np.int64), 1) for words in (orders, customers)]
    began = time.process_time()
    nothing = cut(orders[:0], parts[0].weights[:0], 1)
    close(region, nothing, parts[1])
    for first in range(0, rows, 100_000):
        some = orders[first : first + 100_000]
        close(region, cut(some, parts[0].weights[: len(some)], 1))
    return time.process_time() - began


def measure(region: Region, rows: int, size: int, runs: int, side: str) -> float:
    """CPU µs per transaction of `size` changes: half deletes, half inserts, then back."""
    transactions = max(min(TRANSACTIONS, 1_000_000 // size), 1)
    changes = transactions * size
    if side == "customers":
        old = make_customers(rows // 10)[np.arange(changes // 2) % (rows // 10)]
        new = old + np.array([0, 1])
    else:
        old = make_orders(0, rows, rows // 10)[: changes // 2]
        new = make_orders(rows, len(old), rows // 10)
    words = np.stack([old, new], 1).reshape(-1, old.shape[1])
    weights = np.tile([-1, 1], len(old))
    transactions = min(transactions, len(words))
    best = np.inf
    for run in range(2 * runs):
        deltas = cut(words, weights if run % 2 == 0 else -weights, transactions)
        if run % 2:
            deltas = cut(words[::-1], -weights[::-1], transactions)
        none = cut(make_orders(0, 0, 1), weights[:0], 1)
        empty = Deltas(np.zeros(transactions + 1, np.int64), none.words, none.weights)
        given = (empty, deltas) if side == "customers" else (deltas, None)
        began = time.process_time()
        close(region, *given)
        best = min(best, time.process_time() - began)
    return 1e6 * best / transactions


def main() -> None:
    """Measure and print."""
    report = Report(__doc__ or "")
    sizes = [size for size in (10_000, 100_000, 1_000_000, 10_000_000) if size <= report.rows]
    for name, view in VIEWS.items():
        for rows in sizes:
            case = f"{name}, {rows:,} orders"
            if not report.wants(case):
                continue
            region = make_region(*view)
            seconds = load(region, rows)
            size = region.count_bytes()["j"] / (1.1 * rows)
            report.add(Line(case, "load", rows * 1.1 / seconds / 1e6, None, remark="rows of both"))
            report.add(Line(case, "memory", size, None, "B/row", remark="of the join"))
            order = measure(region, rows, 1, report.runs, "orders")
            report.add(Line(case, "change of an order", order, None, "µs"))
    case = "grouped by region, load"
    if report.wants(case):
        regions = [make_region(UNIQUE, ", unique: [cust]", "how: inner", GROUP) for _ in range(3)]
        rate = report.rows * 1.1 / min(load(region, report.rows) for region in regions) / 1e6
        report.add(Line(case, "rtbot", rate, None, target=">= 2", remark="rows of both"))
    for size, target in ((1, 60), (100, 300), (10_000, 12_000)):
        case = f"grouped by region, {size:,} changes"
        if report.wants(case):
            region = make_region(UNIQUE, ", unique: [cust]", "how: inner", GROUP)
            load(region, report.rows)
            found = measure(region, report.rows, size, report.runs, "orders")
            report.add(Line(case, "rtbot", found, None, "µs", target=f"<= {target:,}"))
    report.finish()


if __name__ == "__main__":
    main()
