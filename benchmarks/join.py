"""Join of two streams by time, inner, both sides put out.

Inside the clock: rtbot, one `push` of both tables into a running session (checks, queues, complete
result arrays, with keys sorted by key and time). numpy, pandas, polars: the join of whole tables
that lie ready; the keyed results of pandas and polars stay in the order of the left table. csp:
one run, its graph built. Before the clock: input arrays and frames, compilation. M rows per input
and second.
"""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from benchmarks import peers_csp
from benchmarks.measure import Contestant, Report
from benchmarks.setups import SEED, Pushing, join, two_times, walk

KEYS = 1_000
Table = dict[str, np.ndarray]


def by_numpy(left: Table, right: Table) -> Any:
    """Join tables whose times ascend."""
    places = np.searchsorted(right["t"], left["t"])
    places[places == len(right["t"])] = 0
    same = right["t"][places] == left["t"]
    return left["t"][same], left["value"][same], right["value"][places[same]]


def by_numpy_keyed(left: Table, right: Table) -> Any:
    """Join by key and time: both in one number, sorted."""
    sides = []
    for table in (left, right):
        mixed = table["k"] * (1 << 40) + table["t"]
        order = np.argsort(mixed, kind="stable")
        sides.append({"t": mixed[order], "value": table["value"][order]})
    mixed, x, y = by_numpy(*sides)
    return mixed >> 40, mixed & ((1 << 40) - 1), x, y


def contestants(left: Table, right: Table, keyed: bool) -> list[Contestant]:
    """Return everybody who can do it, rtbot first."""
    on = ["k", "t"] if keyed else "t"
    how = {"key": "k"} if keyed else {}
    order = np.sort if keyed else np.asarray
    ours = Pushing(join(), {"a": left, "b": right}, **how)
    a, b = (
        pd.DataFrame(table).rename(columns={"value": n}) for table, n in ((left, "x"), (right, "y"))
    )
    c, d = pl.DataFrame(a.to_dict("series")), pl.DataFrame(b.to_dict("series"))
    if not keyed:
        c, d = c.with_columns(pl.col("t").set_sorted()), d.with_columns(pl.col("t").set_sorted())
    numpy_join = by_numpy_keyed if keyed else by_numpy
    found = [
        ours.contestant(lambda r: order(r["x"]["value"])),
        Contestant(
            "numpy",
            lambda: numpy_join(left, right),
            values=lambda r: order(r[-2]),
            remark="searchsorted",
        ),
        Contestant(
            "pandas", lambda: a.merge(b, on=on), values=lambda r: order(r["x"]), remark="merge"
        ),
        Contestant(
            "polars",
            lambda: c.join(d, on=on, maintain_order="left"),
            values=lambda r: order(r["x"].to_numpy()),
            remark="join",
        ),
    ]
    if keyed:
        return [*found, Contestant("csp", None, remark="no keys: a graph node per key")]
    curves = [(table["t"], table["value"]) for table in (left, right)]
    return [*found, peers_csp.contestant("join", *curves, remark="join in a Python node")]


def main() -> None:
    """Measure and print."""
    report = Report(__doc__)
    values = walk(report.rows)
    keys = np.random.default_rng(SEED).integers(0, KEYS, report.rows)
    for case, matching, keyed, target in (
        ("all match", 1, False, 80),
        ("half match", 0.5, False, 50),
        (f"{KEYS:,} keys, all match", 1, True, 30),
        (f"{KEYS:,} keys, half match", 0.5, True, 0),
    ):
        left, right = ({"t": t, "value": values} for t in two_times(report.rows, matching))
        if keyed:
            left, right = left | {"k": keys}, right | {"k": keys}
        report.compare(case, contestants(left, right, keyed), target)
    report.finish()


if __name__ == "__main__":
    main()
