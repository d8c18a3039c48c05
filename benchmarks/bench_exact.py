"""ns per row of the exact moving statistics: python -m benchmarks.bench_exact [window].

A tight compiled loop, ring write included, over 1,000,000 rows in blocks of 16,384; the best of
several runs, since the machine is shared.
"""

import sys
import time

import numpy

from rtbot import exact_digits
from tests import windows_proof

ROWS, BLOCK, RUNS = 1_000_000, 16_384, 9
CASES = {"sum": 1, "mean": 2, "deviation": 3, "mean + deviation": 4}


def data():
    """Named series of ROWS rows."""
    generator = numpy.random.default_rng(7)
    steps = generator.integers(-30, 31, ROWS)
    walk = numpy.round(100 + numpy.abs(numpy.cumsum(steps)) / 100, 2)
    spikes = walk.copy()
    spikes[:: 10_007] = 1e16
    return {
        "price walk": walk,
        "uniform": generator.random(ROWS),
        "normal": generator.normal(size=ROWS),
        "log-normal": generator.lognormal(0, 8, ROWS),
        "plateaus": numpy.repeat(walk[: ROWS // 1000], 1000),
        "price walk, 1e16 spikes": spikes,
        "offset 1e9": 1e9 + generator.normal(size=ROWS) * 1e-3,
        "ones and zeros": generator.integers(0, 2, ROWS).astype(float),
    }


def nanoseconds_per_row(module, series, window, only):
    """Best of RUNS."""
    outputs = [numpy.zeros(BLOCK) for _ in range(3)]
    scratch = numpy.zeros(exact_digits.SCRATCH_DIGITS, dtype=numpy.int64)
    values = numpy.zeros(window)
    best = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        for row in range(0, len(series), BLOCK):
            module.run_windows(
                series[row : row + BLOCK], window, values, scratch, *outputs, only
            )
        best = min(best, time.perf_counter() - start)
    return 1e9 * best / len(series)


def main(window):
    """Print the table."""
    module = windows_proof.compiled_module(extra=windows_proof.LOOP)
    print(f"window {window}, ns per row: " + ", ".join(CASES))
    for name, series in data().items():
        costs = [nanoseconds_per_row(module, series, window, only) for only in CASES.values()]
        print(f"{name:26}" + "".join(f"{cost:10.1f}" for cost in costs), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
