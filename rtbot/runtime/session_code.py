"""The code of a session: the functions of its plan and the runtime's own loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.compiler import span_layout
from rtbot.compiler.tiers.fixed_module import FixedModule
from rtbot.compiler.tiers.graph_code import GraphCode
from rtbot.core.modes import BESIDE, NOW, choose_mode
from rtbot.runtime.kernels import heaps, rows, spans
from rtbot.runtime.kernels.interpreted import mix

if TYPE_CHECKING:
    from types import ModuleType

    from rtbot.compiler.plan import Plan

LOOPS = FixedModule(rows, heaps, span_layout, spans, replaced={"mix": mix})


def choose_plan_mode(plan: Plan, compiled: bool | str | None) -> str:
    """Return the mode for a plan, where `compiled` is what is wished.

    A step of a user's own may give something else as plain Python, such as an error where compiled
    code gives an infinity. So it is compiled before it runs, rather than beside.
    """
    mode = choose_mode(compiled)
    return NOW if mode == BESIDE and plan.origins else mode


class SessionCode(GraphCode):
    """The functions of a plan, and the runtime's own loops as `kernels`."""

    def __init__(self, text: str, mode: str) -> None:
        super().__init__(text, LOOPS, mode)


def load_kernels(mode: str) -> ModuleType:
    """Return the runtime's own loops in a mode."""
    return LOOPS.load(mode)
