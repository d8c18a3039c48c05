"""Compiled ahead: all that runs of a plan over files, or sessions of it, call."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pyarrow as pa

from rtbot.compiler.jit import write_module
from rtbot.compiler.tiers.argument_types import describe_arguments
from rtbot.compiler.tiers.compile_ahead import compile_module, is_compiled
from rtbot.compiler.user_step_errors import to_step_error
from rtbot.core.modes import BESIDE
from rtbot.io.sinks import csv_kernels
from rtbot.io.sinks.csv_writer import CsvEncoder
from rtbot.io.sinks.writers import TimeFormat
from rtbot.runtime.rehearsal import note_rows, rehearse
from rtbot.runtime.session import Session

if TYPE_CHECKING:
    from rtbot.compiler.plan import Plan
    from rtbot.compiler.tiers.compile_ahead import Wanted

KEYS = ((), ("key",), ("key", "more"))
"""Sessions of none, one and several key columns use other loops."""


def can_keep(plan: Plan) -> bool:
    """Return whether there is a folder that code may be kept in."""
    return write_module(plan.text) is not None


def warm_plan(plan: Plan) -> bool:
    """Compile what is not on disk yet; return whether there was anything.

    Raises GraphError for a step that numba refuses, and what numba raises for any other function.
    """
    missing = [
        (text, wanted) for text, wanted in _list_wanted(plan) if not is_compiled(text, wanted)
    ]
    for text, wanted in missing:
        for error in compile_module(text, wanted):
            raise to_step_error(error, plan) or error
    return bool(missing)


def _list_wanted(plan: Plan) -> list[tuple[str, Wanted]]:
    """Return the texts of all modules, and their functions."""
    for key in KEYS:
        session = Session(plan, plan.checked.io, key, compiled=BESIDE)
        rehearse(session)
        note_rows(session)
    found: list[tuple[str, Wanted]] = [(t.text, t.copy_noted()) for t in session.code.tiers]
    rows = CsvEncoder(TimeFormat()).prepare_arguments(pa.record_batch({"t": [0]}))
    signature = describe_arguments(rows)
    return [*found, (inspect.getsource(csv_kernels), {"put_rows": {signature}})]
