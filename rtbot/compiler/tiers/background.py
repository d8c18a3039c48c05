"""When functions go over to compiled code, and when they are compiled for that.

A process has one `BackgroundCompiler`, whose modules its sessions share. What is on disk is read,
which takes a second where numba is not imported yet; what is not is compiled by another process.
"""

from __future__ import annotations

import os
import threading
import weakref
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rtbot.compiler import jit
from rtbot.compiler.tiers import child, compile_ahead
from rtbot.compiler.tiers.tiered_module import TieredModule
from rtbot.core import notices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rtbot.compiler.tiers.compile_ahead import Wanted

PATIENCE_SECONDS = 0.5
"""How long a module is interpreted before compiled code is worth its time: about as long as it
takes to import numba and to read the code."""


LOOK_SECONDS = 0.25
"""How often it is looked for what the other process has compiled so far."""


class BackgroundCompiler:
    """Lets the functions of modules go over to compiled code.

    `version` changes whenever one has. `compile_seconds` are those of the CPU that other processes
    have used for compiling, `load_seconds` those in which this one has read compiled code.
    """

    def __init__(self) -> None:
        self.version = 0
        self.compile_seconds = self.load_seconds = 0.0
        self._modules: list[weakref.ref[TieredModule]] = []
        self.renew()

    def renew(self) -> None:
        """Forget the other process and the threads, as a fork has neither."""
        self._next_look = 0.0
        self._lock = threading.RLock()
        self._process: child.CompilerProcess | None = None
        self._compiling: Sequence[tuple[TieredModule, Wanted]] = ()

    def add(self, text: str, functions: Mapping[str, Callable[..., Any]]) -> TieredModule:
        """Return a module whose functions will go over."""
        module = TieredModule(text, functions, notes=True)
        self._modules = [known for known in self._modules if known() is not None]
        self._modules.append(weakref.ref(module))
        return module

    @property
    def is_compiling(self) -> bool:
        """Whether another process is compiling, as far as is known."""
        return self._process is not None

    def is_due(self, modules: Iterable[TieredModule]) -> bool:
        """Return whether `turn` has something to do."""
        return self._process is not None or any(map(_is_due, modules))

    def turn(self, *, compiles: bool = True) -> None:
        """Take what has been compiled; read or compile what has been interpreted for long enough.

        Without `compiles` no process is started. Nothing happens while another thread does this.
        """
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._process is None or self._take():
                self._begin(compiles=compiles)
        finally:
            self._lock.release()

    def compile_now(self, modules: Iterable[TieredModule]) -> None:
        """Let all that has been called go over; numba compiles what is not on disk."""
        with self._lock:
            for module in modules:
                self._install(module, [*module.noted])

    # ---- with the lock

    def _begin(self, *, compiles: bool) -> None:
        """Let go over what is on disk, and start a process for the rest."""
        missing = []
        for module in filter(_is_due, [known() for known in self._modules]):
            assert module is not None
            noted = module.copy_noted()
            loaded = self._load(module, compile_ahead.find_compiled(module.text, noted))
            wanted = {n: s for n, s in noted.items() if n not in loaded}
            if wanted:
                missing.append((module, wanted))
        if missing and compiles:
            self._compile(missing)

    def _compile(self, missing: Sequence[tuple[TieredModule, Wanted]]) -> None:
        """Start a process; where there can be none, numba compiles here what is called."""
        kept = all(jit.write_module(module.text) is not None for module, _ in missing)
        if kept and child.can_start():
            self._process = child.start((module.text, wanted) for module, wanted in missing)
        if self._process is None:
            for module, wanted in missing:
                self._install(module, wanted)
            return
        self._compiling = missing
        self._next_look = perf_counter() + LOOK_SECONDS
        notices.announce_compilation(beside=True)

    def _take(self) -> bool:
        """Let go over what the process has compiled; return whether it has ended.

        What it has not compiled then goes over too, to be compiled here, if it was killed. What
        numba refuses stays as it is.
        """
        assert self._process is not None
        ended = self._process.poll()
        if ended is None and perf_counter() < self._next_look:
            return False
        rest = []
        for module, wanted in self._compiling:
            loaded = self._load(module, compile_ahead.find_compiled(module.text, wanted))
            rest.append((module, {n: s for n, s in wanted.items() if n not in loaded}))
        self._compiling = rest
        self._next_look = perf_counter() + LOOK_SECONDS
        if ended is None:
            return False
        self._process, self._compiling = None, ()
        self.compile_seconds += ended.seconds
        for module, wanted in rest:
            if wanted and ended.code == compile_ahead.UNCOMPILABLE:
                self._refuse(module, wanted)
            else:
                self._install(module, wanted)
        return True

    def _load(self, module: TieredModule, wanted: Wanted) -> set[str]:
        """Let functions go over that are on disk; return the names of those that could be read."""
        if not wanted:
            return set()
        started = perf_counter()
        compiled = jit.load_compiled(module.text)
        loaded = set()
        for name, types in wanted.items():
            try:
                function = compile_ahead.load_function(compiled, name, types)
            except Exception:  # noqa: BLE001 (whatever numba raises where its file is torn)
                compile_ahead.forget_function(module.text, name)
                continue
            self._replace(module, name, function)
            loaded.add(name)
        self.load_seconds += perf_counter() - started
        return loaded

    def _install(self, module: TieredModule, names: Iterable[str]) -> None:
        """Let functions go over that numba reads from disk, or compiles, when they are called."""
        for name in names:
            self._replace(module, name, getattr(jit.load_compiled(module.text), name))

    def _replace(self, module: TieredModule, name: str, function: Callable[..., Any]) -> None:
        module.replace(name, function)
        self.version += 1

    def _refuse(self, module: TieredModule, names: Iterable[str]) -> None:
        for name in names:
            module.refuse(name)
        notices.warn_once(
            "rtbot: a part cannot be compiled and stays interpreted; --compile now "
            "(compiled='now' in Python) shows why"
        )


def _is_due(module: TieredModule | None) -> bool:
    return module is not None and bool(module.noted) and module.seconds >= PATIENCE_SECONDS


BACKGROUND = BackgroundCompiler()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=BACKGROUND.renew)
