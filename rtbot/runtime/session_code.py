"""The code of a session: the functions of its plan and the runtime's own loops.

Compiled beside the run, both start interpreted and are shared by all sessions of the process.
"""

from __future__ import annotations

import inspect
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

from rtbot.compiler import jit
from rtbot.compiler.tiers.background import BACKGROUND, PATIENCE_SECONDS
from rtbot.compiler.tiers.tiered_module import TieredModule
from rtbot.core.modes import BESIDE, NEVER, NOW, choose_mode
from rtbot.runtime.kernels import heaps, rows
from rtbot.runtime.kernels.interpreted import mix

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from rtbot.compiler.plan import Plan

ROW_SECONDS = 25e-6
"""What interpreting a row takes, roughly."""

WORTH_COMPILING_SECONDS = 5.0
"""A single push that would be interpreted for so long is compiled first."""


def choose_plan_mode(plan: Plan, compiled: bool | str | None) -> str:
    """Return the mode for a plan, where `compiled` is what is wished.

    A step of a user's own may give something else as plain Python, such as an error where compiled
    code gives an infinity. So it is compiled before it runs, rather than beside.
    """
    mode = choose_mode(compiled)
    return NOW if mode == BESIDE and plan.origins else mode


class SessionCode:
    """`module` and `kernels` have the functions to call, as attributes at the time of the call."""

    def __init__(self, text: str, mode: str) -> None:
        self.mode = mode
        self.tiers: tuple[TieredModule, ...] = ()
        self._version = BACKGROUND.version
        self._rehearsed = False
        if mode == NOW:
            self.module = jit.load_compiled(text)
        elif mode == BESIDE:
            self.tiers = _load_tiered(text), _load_tiered_kernels()
            self.module = self.tiers[0].functions
        else:
            self.module = _load_interpreted(text).functions
        self.kernels = load_kernels(mode)

    @property
    def interpreted(self) -> bool:
        """Whether functions of the plan that are in use are plain Python."""
        if self.mode != BESIDE:
            return self.mode == NEVER
        return not self.tiers or self.tiers[0].is_interpreted

    def prepare(self, count: int, rehearse: Callable[[], object]) -> None:
        """Go over at once if so many rows are to come that it is worth it.

        No process is started, which would slow down the first rows; that is done when they are out.
        `rehearse` calls all functions that the session may call, so that their types are known.
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
def _load_tiered(text: str) -> TieredModule:
    return BACKGROUND.add(text, _list_functions(text))


@jit.one_by_one
def _load_interpreted(text: str) -> TieredModule:
    return TieredModule(text, _list_functions(text), notes=False)


def _list_functions(text: str) -> dict[str, Callable[..., Any]]:
    return dict(inspect.getmembers(jit.load_interpreted(text), inspect.isfunction))


# ---- the runtime's own loops: two texts, one module


def load_kernels(mode: str) -> ModuleType:
    """Return the loops in a mode."""
    if mode == NOW:
        return jit.load_compiled(_kernel_text())
    tier = _load_tiered_kernels() if mode == BESIDE else _load_interpreted_kernels()
    return tier.functions


@cache
def _kernel_text() -> str:
    return "\n\n".join(map(inspect.getsource, (rows, heaps)))


@cache
def _load_tiered_kernels() -> TieredModule:
    return BACKGROUND.add(_kernel_text(), _list_kernels())


@cache
def _load_interpreted_kernels() -> TieredModule:
    return TieredModule(_kernel_text(), _list_kernels(), notes=False)


def _list_kernels() -> dict[str, Callable[..., Any]]:
    """Return the loops as plain Python, from the modules that Python has compiled already."""
    names: dict[str, Any] = {}
    functions: dict[str, Callable[..., Any]] = {}
    for module in (rows, heaps):
        names |= {n: value for n, value in vars(module).items() if not n.startswith("__")}
    for name, function in names.items():
        if inspect.isfunction(function):
            functions[name] = FunctionType(function.__code__, names, name, function.__defaults__)
    names |= functions | {"mix": mix}
    return functions
