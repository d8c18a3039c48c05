"""Benchmarks, one claim per file: `python -m benchmarks` runs all, `python -m benchmarks.join` one.

One thread for everybody: libraries read these when they are first imported. A value that is set
already stands, so that `POLARS_MAX_THREADS=2 python -m benchmarks.join` shows two.
"""

import os

THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")

for _name in THREADS:
    os.environ.setdefault(_name, "1")
