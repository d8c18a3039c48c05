"""rtbot on Spark: a graph per key of a DataFrame, with the bits of a local run; see `run_graph`."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("pyspark") is None:
    raise ModuleNotFoundError("PySpark is not installed: pip install 'rtbot-graphs[spark]'")

from spark_adapter.accounts import account
from spark_adapter.batch_run import run_graph
from spark_adapter.drain import drain, saved_state, state_of
from spark_adapter.stream_run import counts, late_rows
from spark_adapter.table import register
from spark_adapter.worker_errors import reason

__all__ = [
    "account",
    "counts",
    "drain",
    "late_rows",
    "reason",
    "register",
    "run_graph",
    "saved_state",
    "state_of",
]
