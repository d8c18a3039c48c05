"""ns per row of the exact moving statistics: python -m benchmarks.bench_exact [window].

A tight compiled loop, ring write included, over 1,000,000 rows in blocks of 16,384; the best of
several runs, since the machine is shared. Three ways to call the same functions:

called   moving_X as numba compiles it by itself: a call with two arrays in every row
inlined  moving_X with forceinline; numba still counts two array references per row
in two   quick_X with forceinline, and X_again only where it did not settle
"""

import sys
import time

import numpy as np

from rtbot.numeric import exact
from tests import windows_proof

ROWS, BLOCK, RUNS = 1_000_000, 16_384, 9
WINDOW = "x, leaving, evicts, count, values, 0, scratch, 0"
STATES = {
    "sum": ["high", "low", "slack", "specials"],
    "mean": ["m_high", "m_low", "m_slack", "m_specials"],
    "deviation": [
        *("center", "s_high", "s_low", "s_slack", "q_high", "q_low", "q_slack", "q_specials")
    ],
}
WHOLE = {"sum": "moving_sum", "mean": "moving_mean", "deviation": "standard_deviation"}
CASES = {
    "sum": ["sum"],
    "mean": ["mean"],
    "deviation": ["deviation"],
    "mean + deviation": ["mean", "deviation"],
}


def calls(kind, in_two):
    """The lines that compute one statistic in a row."""
    state = ", ".join(STATES[kind])
    if not in_two:
        return [f"{kind}_, {state} = {WHOLE[kind]}({WINDOW}, {state})"]
    count = "" if kind == "sum" else "count, "
    kept = ", ".join(name for name in STATES[kind] if "specials" not in name and name != "center")
    again = "m_specials" if kind == "mean" else "specials"
    handed = state if kind != "sum" else again
    return [
        f"settled, {kind}_, {kept} = quick_{kind}(x, leaving, evicts, {count}{state})",
        "if not settled:",
        f"    {kind}_, {state} = {kind}_again({WINDOW}, {handed})",
    ]


def loop(name, kinds, in_two):
    """The text of a loop over a block."""
    states = [state for kind in kinds for state in STATES[kind]]
    lines = ["@step", f"def {name}(series, window, values, scratch, output):"]
    lines += [f"    {state} = {0 if 'specials' in state else 0.0}" for state in states]
    lines += ["    position = 0", "    for row in range(len(series)):"]
    body = [
        "x, evicts, leaving = series[row], row >= window, values[position]",
        "values[position] = x",
        "position = position + 1 if position + 1 < window else 0",
        "count = min(row + 1, window)",
        *(line for kind in kinds for line in calls(kind, in_two)),
        f"output[row] = {' + '.join(f'{kind}_' for kind in kinds)}",
    ]
    return "\n".join([*lines, *(f"        {line}" for line in body), "", ""])


def data():
    """Named series of ROWS rows."""
    generator = np.random.default_rng(7)
    steps = generator.integers(-30, 31, ROWS)
    walk = np.round(100 + np.abs(np.cumsum(steps)) / 100, 2)
    spikes, huge = walk.copy(), walk.copy()
    spikes[::10_007] = 1e16
    huge[::10_007] = 1e200
    return {
        "price walk": walk,
        "uniform": generator.random(ROWS),
        "normal": generator.normal(size=ROWS),
        "log-normal": generator.lognormal(0, 8, ROWS),
        "plateaus": np.repeat(walk[: ROWS // 1000], 1000),
        "price walk, 1e16 spikes": spikes,
        "price walk, 1e200 spikes": huge,
        "offset 1e9": 1e9 + generator.normal(size=ROWS) * 1e-3,
        "ones and zeros": generator.integers(0, 2, ROWS).astype(float),
    }


def nanoseconds_per_row(function, series, window):
    """Best of RUNS."""
    output, values = np.zeros(BLOCK), np.zeros(window)
    scratch = np.zeros(exact.SCRATCH_DIGITS, dtype=np.int64)
    best = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        for row in range(0, len(series), BLOCK):
            function(series[row : row + BLOCK], window, values, scratch, output)
        best = min(best, time.perf_counter() - start)
    return 1e9 * best / len(series)


def main(window):
    """Print the table."""
    all_series = data()
    for way, inline, in_two in (("called", 0, 0), ("inlined", 1, 0), ("in two", 1, 1)):
        texts = [loop(f"run_{i}", kinds, in_two) for i, kinds in enumerate(CASES.values())]
        module = windows_proof.compiled_module(extra="\n".join(texts), inline=bool(inline))
        print(f"{way}, window {window}, ns per row: " + ", ".join(CASES))
        for name, series in all_series.items():
            functions = [getattr(module, f"run_{i}") for i in range(len(CASES))]
            costs = [nanoseconds_per_row(function, series, window) for function in functions]
            print(f"  {name:26}" + "".join(f"{cost:10.1f}" for cost in costs), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
