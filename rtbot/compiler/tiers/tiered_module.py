"""The functions of a generated module as they are called: interpreted, then compiled one by one."""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from rtbot.compiler.tiers.argument_types import ArgumentTypes, describe_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Note = Callable[[ArgumentTypes], object]


class InterpretedFunction:
    """A generated function as plain Python, called with arrays.

    It works on memoryviews of them, whose items are Python's own numbers. `note` is called with the
    types of the arguments when they are new.
    """

    def __init__(self, function: Callable[..., Any], note: Note | None = None) -> None:
        self._function, self._note = function, note
        self._known: set[ArgumentTypes] = set()

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        if self._note is not None:
            types = describe_arguments(arguments)
            if types not in self._known:
                self._known.add(types)
                self._note(types)
        return self._function(*map(_to_python, arguments))


def _to_python(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return memoryview(argument)
    return argument.item() if isinstance(argument, np.generic) else argument


class TieredModule:
    """A generated module whose functions are replaced by compiled ones while it is in use.

    `functions` has them as attributes, to be looked up at every call. `noted` are the types of the
    arguments with which those that are interpreted have been called, by name; nothing is noted if
    not `notes`. `seconds` is how long it has been interpreted.
    """

    def __init__(
        self, text: str, functions: Mapping[str, Callable[..., Any]], *, notes: bool
    ) -> None:
        self.text = text
        self.functions = ModuleType("rtbot_tiered")
        self.noted: dict[str, set[ArgumentTypes]] = {}
        self.seconds = 0.0
        self._compiled: set[str] = set()
        self._refused: set[str] = set()
        for name, function in functions.items():
            note = partial(self.note, name) if notes else None
            setattr(self.functions, name, InterpretedFunction(function, note))

    @property
    def is_interpreted(self) -> bool:
        """Whether functions that are in use are interpreted; it may be that none was called yet."""
        return bool(self.noted) or not self._compiled or bool(self._refused)

    def note(self, name: str, types: ArgumentTypes) -> None:
        """Note that a function is called with arguments of these types."""
        if name not in self._compiled and name not in self._refused:
            self.noted.setdefault(name, set()).add(types)

    def copy_noted(self) -> dict[str, frozenset[ArgumentTypes]]:
        """Return what is noted now; other threads go on noting."""
        return {name: frozenset(found) for name, found in dict(self.noted).items()}

    def replace(self, name: str, function: Callable[..., Any]) -> None:
        """Let a compiled function take the place of the interpreted one."""
        setattr(self.functions, name, function)
        self._compiled.add(name)
        self.noted.pop(name, None)

    def refuse(self, name: str) -> None:
        """Leave a function interpreted for good."""
        self._refused.add(name)
        self.noted.pop(name, None)
