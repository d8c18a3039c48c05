"""Loops that are the same for all graphs: modules of the package, compiled as one text."""

from __future__ import annotations

import ast
import inspect
from functools import cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Any

from rtbot.compiler import jit
from rtbot.compiler.tiers.background import BACKGROUND
from rtbot.compiler.tiers.tiered_module import TieredModule
from rtbot.core.modes import BESIDE, NOW

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

APART = "RARELY_CALLED"


class FixedModule:
    """The functions of modules, which may import from each other and from nothing else of ours.

    What marks steps may be imported as well: functions marked as rare are called, not inlined.
    `replaced` are functions that differ where they are plain Python: its integers have no last bit,
    and reading ahead is of no use to it.
    """

    def __init__(
        self, *modules: ModuleType, replaced: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        self.modules = modules
        self.replaced = dict(replaced or {})

    def load(self, mode: str) -> ModuleType:
        """Return the functions in a mode, to be looked up at every call."""
        if mode == NOW:
            return jit.load_compiled(self.text)
        return (self.tiered if mode == BESIDE else self.interpreted).functions

    @cached_property
    def text(self) -> str:
        """The text of the one module; what any of them has in RARELY_CALLED is compiled apart."""
        apart = {name for module in self.modules for name in getattr(module, APART, ())}
        for module in self.modules:
            functions = inspect.getmembers(module, inspect.isfunction)
            apart |= {name for name, function in functions if hasattr(function, "is_rare")}
        texts = [*map(_read_source, self.modules), f"{APART} = {tuple(sorted(apart))}\n"]
        return "\n\n".join(texts)

    @cached_property
    def tiered(self) -> TieredModule:
        """The functions that go over to compiled ones, for all sessions of the process."""
        return BACKGROUND.add(self.text, self.list_functions())

    @cached_property
    def interpreted(self) -> TieredModule:
        """The functions as plain Python."""
        return TieredModule(self.text, self.list_functions(), notes=False)

    def list_functions(self) -> dict[str, Callable[..., Any]]:
        """Return the functions as plain Python, which Python has compiled already."""
        names: dict[str, Any] = {}
        functions: dict[str, Callable[..., Any]] = {}
        for module in self.modules:
            names |= {n: value for n, value in vars(module).items() if not n.startswith("__")}
        for name, function in names.items():
            if inspect.isfunction(function):
                functions[name] = FunctionType(
                    function.__code__, names, name, function.__defaults__
                )
        names |= functions | self.replaced
        return functions


def _read_source(module: ModuleType) -> str:
    """Return the text of a module without what it imports of ours, and without marks."""
    text = inspect.getsource(module)
    lines: list[str | None] = [*text.splitlines()]
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rtbot."):
            assert node.end_lineno is not None
            lines[node.lineno - 1 : node.end_lineno] = [None] * (node.end_lineno - node.lineno + 1)
        for mark in getattr(node, "decorator_list", ()):
            lines[mark.lineno - 1] = None
    return "\n".join(line for line in lines if line is not None) + "\n"
