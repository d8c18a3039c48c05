"""rtbot on Spark: a graph per key of a DataFrame, with the bits of a local run; see `run_graph`."""

from __future__ import annotations

from spark_adapter.batch import run_graph
from spark_adapter.drain import drain, saved_state, state_of
from spark_adapter.stream import late_rows
from spark_adapter.table import register

__all__ = ["drain", "late_rows", "register", "run_graph", "saved_state", "state_of"]
