"""The code of a graph in a process: the functions of its text and fixed loops beside them.

Compiled beside the run, both start interpreted and are shared by all who run in the process.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from rtbot.compiler import jit
from rtbot.compiler.tiers.background import BACKGROUND, PATIENCE_SECONDS
from rtbot.compiler.tiers.tiered_module import TieredModule
from rtbot.core.modes import BESIDE, NEVER, NOW

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.compiler.tiers.fixed_module import FixedModule

ROW_SECONDS = 25e-6
"""What interpreting a row takes, roughly."""

WORTH_COMPILING_SECONDS = 5.0
"""A single push that would be interpreted for so long is compiled first."""


class GraphCode:
    """`module` and `kernels` have the functions to call, as attributes at the time of the call."""

    def __init__(self, text: str, loops: FixedModule, mode: str) -> None:
        self.mode = mode
        self.tiers: tuple[TieredModule, ...] = ()
        self._version = BACKGROUND.version
        self._rehearsed = False
        if mode == NOW:
            self.module = jit.load_compiled(text)
        elif mode == BESIDE:
            self.tiers = load_tiered(text), loops.tiered
            self.module = self.tiers[0].functions
        else:
            self.module = _load_interpreted(text).functions
        self.kernels = loops.load(mode)

    @property
    def interpreted(self) -> bool:
        """Whether functions of the text that are in use are plain Python."""
        if self.mode != BESIDE:
            return self.mode == NEVER
        return not self.tiers or self.tiers[0].is_interpreted

    def prepare(self, count: int, rehearse: Callable[[], object]) -> None:
        """Go over at once if so many rows are to come that it is worth it.

        No process is started, which would slow down the first rows; that is done when they are out.
        `rehearse` calls all functions that may be called, so that their types are known.
        """
        seconds = count * ROW_SECONDS
        if seconds < PATIENCE_SECONDS or not self.tiers:
            return
        self._rehearse(rehearse)
        for tier in self.tiers:
            tier.seconds += PATIENCE_SECONDS
        if seconds > WORTH_COMPILING_SECONDS:
            BACKGROUND.compile_now(self.tiers)
        elif BACKGROUND.is_due(self.tiers):
            BACKGROUND.turn(compiles=False)

    def spend(self, seconds: float, rehearse: Callable[[], object]) -> None:
        """Note that so much time was spent, and go over if that is possible and worth it."""
        for tier in self.tiers:
            tier.seconds += seconds
        if BACKGROUND.is_due(self.tiers):
            self._rehearse(rehearse)
            BACKGROUND.turn()

    def has_changed(self) -> bool:
        """Return whether functions have gone over since the last call."""
        before, self._version = self._version, BACKGROUND.version
        return before != self._version

    def _rehearse(self, rehearse: Callable[[], object]) -> None:
        if not self._rehearsed:
            self._rehearsed = True
            rehearse()


@jit.one_by_one
def load_tiered(text: str) -> TieredModule:
    """Return the functions of a text, which go over to compiled ones."""
    return BACKGROUND.add(text, list_functions(text))


@jit.one_by_one
def _load_interpreted(text: str) -> TieredModule:
    return TieredModule(text, list_functions(text), notes=False)


def list_functions(text: str) -> dict[str, Callable[..., Any]]:
    """Return the functions of a text as plain Python."""
    return dict(inspect.getmembers(jit.load_interpreted(text), inspect.isfunction))
