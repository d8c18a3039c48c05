"""Datalog with its loops, compiled or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.compiler.tiers.background import BACKGROUND
from rtbot.compiler.tiers.fixed_module import FixedModule
from rtbot.core.modes import BESIDE, choose_mode
from rtbot.datalog.evaluation.engine import MAX_FACTS, MAX_ITERATIONS, Evaluation
from rtbot.datalog.evaluation.kernels import binding_joins, ranked_rows
from rtbot.tables import hash_tables

if TYPE_CHECKING:
    from rtbot.datalog.program import Program
    from rtbot.tables.string_dictionary import StringDictionary


def _read_nothing(*_arguments: object) -> int:
    """Read nothing ahead: in plain Python that takes longer than to wait for memory."""
    return 0


DATALOG_LOOPS = FixedModule(
    hash_tables,
    ranked_rows,
    binding_joins,
    replaced={"fetch_found": _read_nothing, "fetch_next": _read_nothing},
)


def start_evaluation(
    program: Program,
    texts: StringDictionary,
    *,
    max_facts: int = MAX_FACTS,
    max_iterations: int = MAX_ITERATIONS,
    compiled: bool | str | None = None,
) -> Evaluation:
    """Return a program that has no facts yet; `compiled` is as for sessions."""
    mode = choose_mode(compiled)
    kernels = DATALOG_LOOPS.load(mode)
    evaluation = Evaluation(
        program, texts, kernels, max_facts=max_facts, max_iterations=max_iterations
    )
    if mode == BESIDE:
        evaluation.spend = _spend
    return evaluation


def _spend(seconds: float) -> None:
    """Note that so much time was spent, and go over to compiled loops once that is worth it."""
    tier = DATALOG_LOOPS.tiered
    tier.seconds += seconds
    if BACKGROUND.is_due([tier]):
        BACKGROUND.turn()
