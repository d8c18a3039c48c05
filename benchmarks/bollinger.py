"""Bollinger bands (50, 2 deviations), three outputs: over one stream, and over a join of two.

The joined streams have half of their times in common; the bands are around the mean of both
prices. Inside the clock: rtbot, one `push` into a running session whose windows are full (checks,
queues, complete result arrays of three outputs). pandas, polars: the whole tables anew. csp: one
run, its graph built. Before the clock: input arrays and frames, compilation. M rows per input and
second.
"""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from benchmarks import peers_csp
from benchmarks.measure import Contestant, Report
from benchmarks.setups import WIDTH, WINDOW, Pushing, bollinger, bollinger_of_join, two_times, walk


def pandas_bands(times: Any, price: pd.Series) -> pd.DataFrame:
    """Bands as pandas computes them."""
    rolling = price.rolling(WINDOW)
    mean, spread = rolling.mean(), WIDTH * rolling.std()
    return pd.DataFrame(
        {"t": times, "upper": mean + spread, "middle": mean, "lower": mean - spread}
    )


def polars_bands(frame: pl.DataFrame) -> pl.DataFrame:
    """Bands as polars computes them, mean and deviation once."""
    mean, deviation = pl.col("price").rolling_mean(WINDOW), pl.col("price").rolling_std(WINDOW)
    middle, spread = pl.col("middle"), pl.col("spread")
    once = frame.select("t", middle=mean, spread=WIDTH * deviation)
    return once.select("t", upper=middle + spread, middle=middle, lower=middle - spread)


def upper_of_frame(frame: Any) -> np.ndarray:
    """Return the upper band where the window is full."""
    return frame["upper"].to_numpy()[WINDOW - 1 :]


def over_one(times: np.ndarray, values: np.ndarray) -> list[Contestant]:
    """Return everybody who can do one stream, rtbot first."""
    ours = Pushing(bollinger(), {"price": {"t": times, "value": values}})
    price, frame = pd.Series(values), pl.DataFrame({"t": times, "price": values})
    return [
        ours.contestant(lambda r: r["upper"]["value"]),
        Contestant("pandas", lambda: pandas_bands(times, price), values=upper_of_frame),
        Contestant("polars", lambda: polars_bands(frame), values=upper_of_frame),
        peers_csp.contestant("bollinger", (times, values), remark="csp.stats"),
    ]


def over_join(first: np.ndarray, second: np.ndarray, values: np.ndarray) -> list[Contestant]:
    """Return everybody who can do two streams, rtbot first."""
    tables = {n: {"t": t, "value": values} for n, t in (("a", first), ("b", second))}
    ours = Pushing(bollinger_of_join(), tables)
    a, b = (pd.DataFrame({"t": t, n: values}) for t, n in ((first, "x"), (second, "y")))
    c, d = (
        pl.DataFrame({"t": t, n: values}).with_columns(pl.col("t").set_sorted())
        for t, n in ((first, "x"), (second, "y"))
    )

    def by_pandas() -> pd.DataFrame:
        joined = a.merge(b, on="t")
        return pandas_bands(joined["t"], (joined["x"] + joined["y"]) / 2)

    def by_polars() -> pl.DataFrame:
        joined = c.join(d, on="t", maintain_order="left")
        return polars_bands(joined.select("t", price=(pl.col("x") + pl.col("y")) / 2))

    curves = [(first, values), (second, values)]
    return [
        ours.contestant(lambda r: r["upper"]["value"]),
        Contestant("pandas", by_pandas, values=upper_of_frame),
        Contestant("polars", by_polars, values=upper_of_frame),
        peers_csp.contestant("bollinger of join", *curves, remark="join in a Python node"),
    ]


def main() -> None:
    """Measure and print."""
    report = Report(__doc__)
    values = walk(report.rows)
    report.compare("one stream", over_one(np.arange(report.rows), values), 12)
    report.compare("over a join", over_join(*two_times(report.rows, 0.5), values), 9)
    report.finish()


if __name__ == "__main__":
    main()
