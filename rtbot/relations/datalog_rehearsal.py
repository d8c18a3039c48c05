"""What programs call of the loops of Datalog, noted ahead, so that it can be compiled ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtbot.compiler.tiers.tiered_module import TieredModule
from rtbot.datalog.evaluation.engine import MAX_FACTS, MAX_ITERATIONS, Evaluation
from rtbot.datalog.evaluation.ranked_relation import PACKED
from rtbot.datalog.evaluation.rule_faults import RuleError
from rtbot.datalog.language import read_program
from rtbot.relations.datalog_loops import DATALOG_LOOPS
from rtbot.tables.string_dictionary import StringDictionary

if TYPE_CHECKING:
    from rtbot.compiler.tiers.argument_types import ArgumentTypes

PROGRAM = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y), x != y.
path(x, z) :- path(x, y), edge(y, z).
.decl size(x: number, n: number)
size(x, n) :- edge(x, _), !path(x, 3), !path(_, x), n = count : { path(x, _) }.
.decl part(x: number)
part(100 / x) :- edge(x, _).
"""
CHAIN = 30


def rehearse_datalog() -> tuple[str, dict[str, frozenset[ArgumentTypes]]]:
    """Return the text of the loops, and the types of arguments that programs call each with.

    The types are the same for all programs. A small one goes through all that a commit can do.
    """
    tier = TieredModule(DATALOG_LOOPS.text, DATALOG_LOOPS.list_functions(), notes=True)
    evaluation = Evaluation(
        read_program(PROGRAM),
        StringDictionary(),
        tier.functions,
        max_facts=MAX_FACTS,
        max_iterations=MAX_ITERATIONS,
    )
    ids = np.arange(1, CHAIN)
    chain = np.column_stack((ids, ids + 1))
    evaluation.commit({"edge": (chain[:0], chain)})
    evaluation.commit({"edge": (chain[-1:], np.array([[CHAIN - 2, CHAIN]]))})
    try:
        evaluation.commit({"edge": (chain[:0], np.array([[0, CHAIN + 1]]))})
    except RuleError:
        evaluation.derive("path", np.array([1, CHAIN]))
    loops = np.column_stack((np.arange(1, 2 * PACKED),) * 2)
    evaluation.commit({"edge": (loops[:0], loops)})
    evaluation.commit({"edge": (loops, loops[:0])})
    evaluation.commit({})
    return tier.text, tier.copy_noted()
