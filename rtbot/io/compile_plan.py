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
from rtbot.relations.datalog_rehearsal import rehearse_datalog
from rtbot.runtime.rehearsal import note_rows, rehearse
from rtbot.runtime.session import Session

if TYPE_CHECKING:
    from rtbot.compiler.plan import Plan
    from rtbot.compiler.tiers.compile_ahead import Wanted

KEYS = ((), ("key",), ("key", "more"))
"""Sessions of none, one and several key columns use other loops."""


def warm_plan(plan: Plan) -> bool | None:
    """Compile what is not on disk yet; return whether there was anything.

    Without a folder that code may be kept in nothing is done, and None is returned. Raises
    GraphError for a step that numba refuses, and what numba raises for any other function.
    """
    if write_module(plan.text) is None:
        return None
    found = [_compile_missing(text, wanted, plan) for text, wanted in _list_wanted(plan)]
    return any(found)


def warm_datalog() -> bool | None:
    """Do the same for the loops of all Datalog programs."""
    text, wanted = rehearse_datalog()
    return None if write_module(text) is None else _compile_missing(text, wanted, None)


def _compile_missing(text: str, wanted: Wanted, plan: Plan | None) -> bool:
    if is_compiled(text, wanted):
        return False
    for error in compile_module(text, wanted):
        raise (None if plan is None else to_step_error(error, plan)) or error
    return True


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
