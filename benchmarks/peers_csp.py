"""The same jobs in csp (https://github.com/Point72/csp), if it is installed.

`available` says so. Every function returns a callable whose run builds the graph, feeds it from
numpy arrays and collects numpy arrays. The exact join is a node in Python: csp has none of its
own.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from benchmarks.measure import Contestant
from benchmarks.setups import WIDTH, WINDOW

try:
    import csp
    import csp.stats
    from csp import stats, ts
except ImportError:
    csp = stats = None

START = datetime(2020, 1, 1)  # noqa: DTZ001 (csp wants it naive)
EPOCH = np.datetime64("2020-01-01", "ns")
Curve = tuple[np.ndarray, np.ndarray]


def contestant(job: str, *curves: Curve, **options: Any) -> Contestant:
    """Return csp as a contestant: `job` is the name of one of the graphs below."""
    if csp is None:
        return Contestant("csp", None, remark="not installed")
    return _run_graph(GRAPHS[job], curves, **options)


def compute(function: Callable[..., Any], *curves: Curve) -> Contestant:
    """Return csp as a contestant that computes a stream from those of the curves."""
    return _run_graph(lambda stamped: one_graph(stamped, function), curves)


def _run_graph(graph: Callable[..., Any], curves: Sequence[Curve], **options: Any) -> Contestant:
    """Return csp as a contestant; times are in microseconds."""
    stamped = [(EPOCH + (times + 1).astype("timedelta64[us]"), values) for times, values in curves]
    end = timedelta(microseconds=2 + max(int(times[-1]) for times, _ in curves))

    def run() -> Any:
        return csp.run(
            graph, stamped, starttime=START, endtime=end, realtime=False, output_numpy=True
        )

    return Contestant("csp", run, values=lambda result: result["first"][1], **options)


GRAPHS: dict[str, Callable[..., Any]] = {}

if csp is not None:

    @csp.node
    def exact_join(a: ts[float], b: ts[float]) -> csp.Outputs(x=ts[float], y=ts[float]):
        """Pass on what ticks at the same time."""
        if csp.ticked(a) and csp.ticked(b):
            csp.output(x=a, y=b)

    @csp.node  # noqa: RET503 (without a return a node does not tick)
    def exact_middle(a: ts[float], b: ts[float]) -> ts[float]:
        """Pass on the mean of what ticks at the same time."""
        if csp.ticked(a) and csp.ticked(b):
            return (a + b) / 2

    def mean(price: Any) -> Any:
        """Return the moving average."""
        return csp.stats.mean(price, interval=WINDOW, min_window=WINDOW)

    def deviation(price: Any) -> Any:
        """Return the moving standard deviation."""
        return csp.stats.stddev(price, interval=WINDOW, min_window=WINDOW)

    def find_strength(price: Any, changes: int) -> Any:
        """Return the relative strength index, its averages seeded with the first change."""
        change, zero = csp.diff(price, 1), csp.const(0.0)
        gains, losses = (
            stats.ema(csp.max(side, zero), alpha=1 / changes, adjust=False)
            for side in (change, zero - change)
        )
        return 100.0 * gains / (gains + losses)

    def put_out_bands(price: Any) -> None:
        """Put out the three bands around a price."""
        middle, spread = mean(price), deviation(price)
        csp.add_graph_output("first", middle + WIDTH * spread)
        csp.add_graph_output("second", middle)
        csp.add_graph_output("third", middle - WIDTH * spread)

    @csp.graph(memoize=False)
    def join_graph(curves: object):
        """Put out both sides of the join."""
        joined = exact_join(*(csp.curve(float, curve) for curve in curves))
        csp.add_graph_output("first", joined.x)
        csp.add_graph_output("second", joined.y)

    @csp.graph(memoize=False)
    def mean_graph(curves: object):
        """Put out the moving average."""
        csp.add_graph_output("first", mean(csp.curve(float, curves[0])))

    @csp.graph(memoize=False)
    def deviation_graph(curves: object):
        """Put out the moving standard deviation."""
        csp.add_graph_output("first", deviation(csp.curve(float, curves[0])))

    @csp.graph(memoize=False)
    def bands_graph(curves: object):
        """Put out the bands of one stream."""
        put_out_bands(csp.curve(float, curves[0]))

    @csp.graph(memoize=False)
    def joined_bands_graph(curves: object):
        """Put out the bands of two joined streams."""
        put_out_bands(exact_middle(*(csp.curve(float, curve) for curve in curves)))

    @csp.graph(memoize=False)
    def one_graph(curves: object, function: object):
        """Put out the stream that the function makes of the curves."""
        csp.add_graph_output("first", function(*(csp.curve(float, curve) for curve in curves)))

    GRAPHS |= {
        "join": join_graph,
        "MovingAverage": mean_graph,
        "StandardDeviation": deviation_graph,
        "bollinger": bands_graph,
        "bollinger of join": joined_bands_graph,
    }
