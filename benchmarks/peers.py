"""What others compute as well, in one run: windows by count and by time, exponential means.

A million prices, one every 100 ms, and windows of 50 messages or of 5 s; one core for everybody.
Two columns are a record for rtbot, arguments for river, and streams for csp. The windows at the
end, to which a stream may still add, are left out.
Inside the clock, of rtbot: one `push` of all into a running session, or a loop of `push_one`.
polars and pandas: the whole column anew. csp: one run, its graph built, from arrays to arrays.
river, which takes one number at a time: a loop of update and get. Before the clock: arrays and
lists, compilation. CPU time, M messages per second; `differs` is the largest relative distance from
rtbot's results. csp and river are compared where they are installed. The table is that of
docs/speed-of-operators.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import rtbot
from benchmarks import peers_csp
from benchmarks.measure import Contestant, Line, Report, pivot, take_turns
from benchmarks.setups import SEED, WINDOW, Pushing, walk

try:
    from river import stats, utils
except ImportError:
    stats = None

SPAN, LENGTH, STEP_MS = "5s", timedelta(seconds=5), 100
HOP, HOP_LENGTH = "1s", timedelta(seconds=1)
QUANTILE, STRENGTH = 0.9, 14
MESSAGES = 50_000
"""Messages of a loop over one at a time."""
FEW = 3
"""Runs of such a loop."""
HEADS = {
    "push": "rtbot",
    "polars": "polars",
    "pandas": "pandas",
    "csp": "csp",
    "push_one": "rtbot, `push_one`",
    "river": "river",
}


@dataclass
class Job:
    """What is computed, and how each does it; who does not do it has nothing here.

    polars and pandas get the frame that they need: columns t, a and b; csp the streams a and b.
    """

    operator: dict[str, Any]
    polars: Callable[[pl.DataFrame], pl.Series]
    pandas: Callable[[pd.DataFrame], pd.Series] | None = None
    csp: Callable[..., Any] | None = None
    river: Callable[[], Any] | None = None
    inputs: tuple[str, ...] = ("a",)
    timed: bool = False
    """Whether river is given the time as well."""


def by_count(kind: str, method: str, csp_name: str, river: Any, **parameters: Any) -> Job:
    """Return a job over the last 50 messages, for which polars and pandas have one method."""
    return Job(
        {"type": kind, "window": WINDOW} | parameters,
        lambda frame: getattr(frame["a"], f"rolling_{method}")(WINDOW),
        lambda frame: getattr(frame["a"].rolling(WINDOW), method)(),
        lambda a: getattr(peers_csp.stats, csp_name)(a, interval=WINDOW, min_window=WINDOW),
        river,
    )


def by_time(kind: str, method: str, csp_name: str, river: Any = None, **parameters: Any) -> Job:
    """Return a job over the last 5 s."""
    return Job(
        {"type": kind, "window": SPAN} | parameters,
        lambda frame: getattr(frame["a"], f"rolling_{method}_by")(frame["t"], SPAN),
        lambda frame: getattr(frame["a"].rolling(SPAN), method)(),
        lambda a: getattr(peers_csp.stats, csp_name)(a, interval=LENGTH),
        river,
        timed=True,
    )


JOBS = {
    "mean of 50": by_count("MovingAverage", "mean", "mean", lambda: roll(stats.Mean)),
    "sum of 50": by_count("MovingSum", "sum", "sum", lambda: roll(stats.Sum)),
    "deviation of 50": by_count("StandardDeviation", "std", "stddev", lambda: roll(stats.Var)),
    "least of 50": by_count(
        "WindowMinMax", "min", "min", lambda: stats.RollingMin(WINDOW), mode="min"
    ),
    "greatest of 50": by_count(
        "WindowMinMax", "max", "max", lambda: stats.RollingMax(WINDOW), mode="max"
    ),
    "exponential mean": Job(
        {"type": "EMA", "window": WINDOW},
        lambda frame: frame["a"].ewm_mean(span=WINDOW, adjust=False),
        lambda frame: frame["a"].ewm(span=WINDOW, adjust=False).mean(),
        lambda a: peers_csp.stats.ema(a, span=WINDOW, adjust=False),
        lambda: stats.EWMean(2 / (WINDOW + 1)),
    ),
    "median of 50": by_count(
        "RollingMedian", "median", "median", lambda: stats.RollingQuantile(1 / 2, WINDOW)
    ),
    "quantile 0.9 of 50": Job(
        {"type": "RollingQuantile", "window": WINDOW, "q": QUANTILE},
        lambda frame: frame["a"].rolling_quantile(QUANTILE, "linear", WINDOW),
        lambda frame: frame["a"].rolling(WINDOW).quantile(QUANTILE),
        lambda a: peers_csp.stats.quantile(a, interval=WINDOW, quant=QUANTILE, min_window=WINDOW),
        lambda: stats.RollingQuantile(QUANTILE, WINDOW),
    ),
    "correlation of 50": Job(
        {"type": "Correlation", "window": WINDOW},
        lambda frame: frame.select(pl.rolling_corr("a", "b", window_size=WINDOW)).to_series(),
        lambda frame: frame["a"].rolling(WINDOW).corr(frame["b"]),
        lambda a, b: peers_csp.stats.corr(a, b, interval=WINDOW, min_window=WINDOW),
        lambda: roll(stats.PearsonCorr),
        inputs=("a", "b"),
    ),
    "covariance of 50": Job(
        {"type": "Covariance", "window": WINDOW},
        lambda frame: frame.select(pl.rolling_cov("a", "b", window_size=WINDOW)).to_series(),
        lambda frame: frame["a"].rolling(WINDOW).cov(frame["b"]),
        lambda a, b: peers_csp.stats.cov(a, b, interval=WINDOW, min_window=WINDOW),
        lambda: roll(stats.Cov),
        inputs=("a", "b"),
    ),
    "score of 50": Job(
        {"type": "ZScore", "window": WINDOW},
        lambda frame: find_score(
            frame["a"], frame["a"].rolling_mean(WINDOW), frame["a"].rolling_std(WINDOW)
        ),
        lambda frame: find_score(
            frame["a"], frame["a"].rolling(WINDOW).mean(), frame["a"].rolling(WINDOW).std()
        ),
        lambda a: find_score(a, peers_csp.mean(a), peers_csp.deviation(a)),
    ),
    "rate per second": Job(
        {"type": "Rate", "per": "1s"},
        lambda frame: frame["a"].diff() / (frame["t"].diff().dt.total_microseconds() / 1e6),
        lambda frame: frame["a"].diff() / frame.index.diff().total_seconds(),
    ),
    "strength index of 14": Job(
        {"type": "RelativeStrengthIndex", "n": STRENGTH},
        lambda frame: find_strength(
            frame["a"].diff(), lambda x: x.ewm_mean(alpha=1 / STRENGTH, adjust=False)
        ),
        lambda frame: find_strength(
            frame["a"].diff(), lambda x: x.ewm(alpha=1 / STRENGTH, adjust=False).mean()
        ),
        lambda a: peers_csp.find_strength(a, STRENGTH),
    ),
    "mean of 5 s": by_time("MovingAverage", "mean", "mean", lambda: roll_by_time(stats.Mean)),
    "sum of 5 s": by_time("MovingSum", "sum", "sum", lambda: roll_by_time(stats.Sum)),
    "deviation of 5 s": by_time(
        "StandardDeviation", "std", "stddev", lambda: roll_by_time(stats.Var)
    ),
    "least of 5 s": by_time("WindowMinMax", "min", "min", mode="min"),
    "median of 5 s": by_time("RollingMedian", "median", "median"),
    "quantile 0.9 of 5 s": Job(
        {"type": "RollingQuantile", "window": SPAN, "q": QUANTILE},
        lambda frame: frame["a"].rolling_quantile_by(
            frame["t"], SPAN, quantile=QUANTILE, interpolation="linear"
        ),
        lambda frame: frame["a"].rolling(SPAN).quantile(QUANTILE),
        lambda a: peers_csp.stats.quantile(a, interval=LENGTH, quant=QUANTILE),
    ),
    "correlation of 5 s": Job(
        {"type": "Correlation", "window": SPAN},
        lambda frame: frame.rolling("t", period=SPAN).agg(pl.corr("a", "b"))["a"],
        lambda frame: frame["a"].rolling(SPAN).corr(frame["b"]),
        lambda a, b: peers_csp.stats.corr(a, b, interval=LENGTH),
        lambda: roll_by_time(stats.PearsonCorr),
        inputs=("a", "b"),
        timed=True,
    ),
    "tumbling mean of 5 s": Job(
        {"type": "TumblingAggregate", "window": SPAN, "how": "mean"},
        lambda frame: frame.group_by_dynamic("t", every=SPAN).agg(pl.col("a").mean())["a"][:-1],
        lambda frame: frame["a"].resample(SPAN).mean()[:-1],
        lambda a: peers_csp.stats.mean(a, interval=LENGTH, trigger=peers_csp.csp.timer(LENGTH)),
    ),
    "mean of 5 s, hop 1 s": Job(
        {"type": "HoppingAggregate", "window": SPAN, "hop": HOP, "how": "mean"},
        lambda frame: frame.group_by_dynamic("t", every=HOP, period=SPAN).agg(pl.col("a").mean())[
            "a"
        ][: -LENGTH // HOP_LENGTH],
        csp=lambda a: peers_csp.stats.mean(
            a, interval=LENGTH, trigger=peers_csp.csp.timer(HOP_LENGTH)
        ),
    ),
}


def find_strength(changes: Any, smooth: Callable[[Any], Any]) -> Any:
    """Return the relative strength index from smoothed gains and losses."""
    gains, losses = smooth(changes.clip(0)), smooth((-changes).clip(0))
    return 100 * gains / (gains + losses)


def find_score(values: Any, mean: Any, deviation: Any) -> Any:
    """Return how many deviations the values are above the mean."""
    return (values - mean) / deviation


def roll(statistic: Any) -> Any:
    """Return a statistic of river over the last 50 messages."""
    return utils.Rolling(statistic, window_size=WINDOW)


def roll_by_time(statistic: Any) -> Any:
    """Return a statistic of river over the last 5 s."""
    return utils.TimeRolling(statistic, period=LENGTH)


class Compared:
    """One job with its data, and everybody who does it."""

    def __init__(self, job: Job, rows: int) -> None:
        self.job = job
        prices = {"a": walk(rows), "b": walk(rows) + np.random.default_rng(SEED).normal(size=rows)}
        self.columns = {name: prices[name] for name in job.inputs}
        self.time = np.arange(rows) * STEP_MS
        single = len(job.inputs) == 1
        fields = {"record": dict.fromkeys(job.inputs, "number")}
        self.names = ["value"] if single else [f"x.{name}" for name in job.inputs]
        given = {"in": "x" if single else self.names}
        self.graph = rtbot.load(
            {
                "inputs": {"x": "number" if single else fields},
                "operators": {"m": job.operator | given},
                "outputs": ["m"],
                "io": {"unit": "ms"},
            }
        )

    def list_batches(self) -> Iterator[Contestant]:
        """Return who takes whole columns, rtbot first."""
        columns = dict(zip(self.names, self.columns.values(), strict=True))
        tables = {"x": {"t": self.time} | columns}
        session = Pushing(self.graph, tables, span=len(self.time) * STEP_MS)
        values = lambda result: result["m"]["value"]  # noqa: E731
        yield Contestant("push", session.session.push, session.prepare, values)
        frame = pl.DataFrame({"t": self.time, **self.columns})
        frame = frame.with_columns(pl.from_epoch("t", "ms"))
        yield Contestant("polars", lambda: self.job.polars(frame), values=pl.Series.to_numpy)
        dated = pd.DataFrame(self.columns, index=pd.to_datetime(self.time, unit="ms"))
        pandas = self.job.pandas
        if pandas is not None:
            yield Contestant("pandas", lambda: pandas(dated), values=pd.Series.to_numpy)
        if self.job.csp is not None and peers_csp.csp is not None:
            curves = [(self.time * 1_000, v) for v in self.columns.values()]
            yield peers_csp.compute(self.job.csp, *curves)

    def list_loops(self) -> Iterator[Contestant]:
        """Return who takes one message at a time."""
        session = self.graph.start(compiled="now")
        columns = [values[:MESSAGES].tolist() for values in self.columns.values()]
        values = columns[0]
        if len(columns) > 1:
            rows = zip(*columns, strict=True)
            values = [dict(zip(self.job.inputs, row, strict=True)) for row in rows]
        session.push_one("x", -1, values[0])
        base = 0

        def prepare() -> tuple[Any]:
            nonlocal base
            times = range(base, base + MESSAGES * STEP_MS, STEP_MS)
            base += MESSAGES * STEP_MS
            return (list(zip(times, values, strict=True)),)

        def run(messages: Any) -> None:
            push_one = session.push_one
            for time, value in messages:
                push_one("x", time, value)

        yield Contestant("push_one", run, prepare)
        if self.job.river is not None and stats is not None:
            yield Contestant("river", *self._river(columns))

    def _river(self, columns: list[list[float]]) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Return the loop of river, and what makes its messages."""
        make = self.job.river
        assert make is not None, "river does it"
        started = datetime(2020, 1, 1)  # noqa: DTZ001 (river wants it naive)
        times = [started + timedelta(milliseconds=STEP_MS * n) for n in range(MESSAGES)]

        def run(statistic: Any, messages: Any) -> None:
            for values in messages:
                statistic.update(*values)
                statistic.get()

        def run_timed(statistic: Any, messages: Any) -> None:
            for *values, time in messages:
                statistic.update(*values, t=time)
                statistic.get()

        timed = self.job.timed
        given = [*columns, times] if timed else columns
        return run_timed if timed else run, lambda: (make(), list(zip(*given, strict=True)))


def has_operator(job: Job) -> bool:
    """Return whether there is an operator that does the job."""
    try:
        Compared(job, 1)
    except rtbot.GraphError:
        return False
    return True


def measure_job(report: Report, case: str, job: Job) -> None:
    """Measure everybody who does the job, by turns."""
    compared = Compared(job, report.rows)
    whole = take_turns(list(compared.list_batches()), report.runs)
    single = take_turns(list(compared.list_loops()), FEW)
    ours = whole["push"]
    for found, rows, base in ((whole, report.rows, "push"), (single, MESSAGES, "push_one")):
        for who, (cpu, wall, values) in found.items():
            line = Line(case, who, rows / cpu / 1e6, rows / wall / 1e6, unit="M msg/s")
            if who != base:
                line.ratio = cpu / found[base][0]
                line.differs = find_difference(ours[2], values)
            report.add(line)


def find_difference(ours: np.ndarray, theirs: np.ndarray | None) -> float | None:
    """Largest relative distance in the later half, where what came before makes no difference."""
    if theirs is None:
        return None
    count = len(ours) // 2
    ours, theirs = ours[-count:], theirs[-count:]
    return float(np.max(np.abs(ours - theirs) / np.maximum(np.abs(ours), 1e-300)))


def main() -> None:
    """Measure and print."""
    report = Report(__doc__)
    for case, job in JOBS.items():
        if report.wants(case) and has_operator(job):
            measure_job(report, case, job)
    report.finish(pivot(report.lines, HEADS, "M messages per second"))


if __name__ == "__main__":
    main()
