"""Datalog with its loops, compiled or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.compiler.tiers.fixed_module import FixedModule
from rtbot.core.modes import choose_mode
from rtbot.datalog.evaluation.engine import MAX_FACTS, MAX_ITERATIONS, Evaluation
from rtbot.datalog.evaluation.kernels import binding_joins, ranked_rows
from rtbot.tables import hash_tables

if TYPE_CHECKING:
    from rtbot.datalog.program import Program
    from rtbot.tables.string_dictionary import StringDictionary

DATALOG_LOOPS = FixedModule(hash_tables, ranked_rows, binding_joins)


def start_evaluation(
    program: Program,
    texts: StringDictionary,
    *,
    max_facts: int = MAX_FACTS,
    max_iterations: int = MAX_ITERATIONS,
    compiled: bool | str | None = None,
) -> Evaluation:
    """Return a program that has no facts yet; `compiled` is as for sessions."""
    kernels = DATALOG_LOOPS.load(choose_mode(compiled))
    return Evaluation(program, texts, kernels, max_facts=max_facts, max_iterations=max_iterations)
