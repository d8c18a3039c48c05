"""One moving operator over one stream, window 50.

Inside the clock: rtbot, one `push` into a running session whose window is full (checks, complete
result arrays). numpy, pandas, polars: the whole column anew. csp: one run, its graph built. Before
the clock: input arrays, compilation. M rows per second. `differs`: largest relative distance from
rtbot's result, which is exact, rounded once.
"""

import numpy as np
import pandas as pd
import polars as pl
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks import peers_csp
from benchmarks.measure import Contestant, Report
from benchmarks.setups import WINDOW, Pushing, moving, walk


def numpy_mean(values: np.ndarray) -> np.ndarray:
    """Moving average by differences of running sums, which drift."""
    sums = np.cumsum(values)
    sums[WINDOW:] -= sums[:-WINDOW].copy()
    return sums[WINDOW - 1 :] / WINDOW


def numpy_deviation(values: np.ndarray) -> np.ndarray:
    """Deviation of every window by itself."""
    return sliding_window_view(values, WINDOW).std(axis=1, ddof=1)


def contestants(kind: str, values: np.ndarray) -> list[Contestant]:
    """Return everybody who can do it, rtbot first."""
    times = np.arange(len(values))
    ours = Pushing(moving(kind), {"price": {"t": times, "value": values}})
    average = kind == "MovingAverage"
    frame, column = pd.Series(values), pl.Series(values)
    by_numpy = numpy_mean if average else numpy_deviation
    rolling, method = ("mean", "rolling_mean") if average else ("std", "rolling_std")
    return [
        ours.contestant(lambda r: r["m"]["value"]),
        Contestant(
            "numpy",
            lambda: by_numpy(values),
            values=np.asarray,
            remark="cumsum" if average else "sliding_window_view, O(window)",
        ),
        Contestant(
            "pandas",
            getattr(frame.rolling(WINDOW), rolling),
            values=lambda r: r.to_numpy()[WINDOW - 1 :],
        ),
        Contestant(
            "polars",
            lambda: getattr(column, method)(WINDOW),
            values=lambda r: r.to_numpy()[WINDOW - 1 :],
        ),
        peers_csp.contestant(kind, (times, values), remark="csp.stats"),
    ]


def main() -> None:
    """Measure and print."""
    report = Report(__doc__)
    values = walk(report.rows)
    for kind, target in (("MovingAverage", 35), ("StandardDeviation", 12)):
        report.compare(f"{kind}({WINDOW})", contestants(kind, values), target)
    report.finish()


if __name__ == "__main__":
    main()
