"""The sources of steps, collected for a generated module.

Names of our own steps are unique; those of a user's operator, its helpers and its constants get the
operator's name before theirs, so that two files of operators cannot conflict.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import linecache
import re
import textwrap
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

SEPARATOR = "__"
"""Separates the name of a user's operator from what belongs to it."""


@dataclass
class StepSources:
    """What a generated module needs, by name: texts of constants and functions.

    Helpers come before their users; `rare` names functions that are called, not inlined. `origins`
    has the file and the line of every user's function.
    """

    constants: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    rare: list[str] = field(default_factory=list)
    origins: dict[str, tuple[str, int]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return the constants as lines."""
        constants = dict(self.constants)
        if self.rare:
            constants["RARELY_CALLED"] = f"{tuple(sorted(self.rare))}"
        return [f"{name} = {value}" for name, value in sorted(constants.items())]

    def describe_user_defined(self) -> dict[str, str]:
        """Return what identifies users' steps: a digest of each, and the values of constants."""
        constants = {name: value for name, value in self.constants.items() if SEPARATOR in name}
        digests = {
            name: hashlib.sha256(self.texts[name].encode()).hexdigest()[:16]
            for name in self.origins
        }
        return constants | digests

    def add(self, name: str, function: Callable[..., Any]) -> None:
        """Add a step under a name, and what it uses."""
        if name in self.functions:
            assert self.functions[name] is function, f"two different steps are named {name}"
            return
        self.functions[name] = function
        renamed: dict[str, str] = {}
        for used, value in find_globals(function).items():
            called = renamed[used] = _qualify_name(used, value, name)
            if getattr(value, "is_step", False):
                self.add(called, value)
            elif isinstance(value, bool | int | float):
                self.constants[called] = _format_constant(value)
            else:
                raise TypeError(f"step {name} uses {used}, which is neither a step nor a number")
        self.texts[name] = extract_function(function, name, renamed)
        if is_user_defined(function):
            self.origins[name] = find_origin(function)
        if getattr(function, "is_rare", False):
            self.rare.append(name)


def collect_sources(functions: Iterable[tuple[str, Callable[..., Any]]]) -> StepSources:
    """Return the sources of these (name, step) pairs, and of all that they use."""
    found = StepSources()
    for name, function in functions:
        found.add(name, function)
    return found


def is_user_defined(function: Callable[..., Any]) -> bool:
    """Return whether a function is not our own."""
    return not function.__module__.startswith("rtbot.")


def _qualify_name(used: str, value: Any, user: str) -> str:
    """Return the name of `used` in a module whose function `user` uses it."""
    ours = getattr(value, "is_step", False) and not is_user_defined(value)
    owner, apart, _ = user.partition(SEPARATOR)
    return used if ours or not apart else f"{owner}{SEPARATOR}{used}"


def extract_function(
    function: Callable[..., Any], name: str | None = None, renamed: Mapping[str, str] | None = None
) -> str:
    """Return the text of a step without its decorators, renamed to `name` with what it uses."""
    text = _read_source(function)
    changed = {old: new for old, new in (renamed or {}).items() if old != new}
    if changed:
        text = _rename_globals(text, changed)
    if name is not None:
        text = re.sub(r"^def \w+", f"def {name}", text, count=1)
    return text.rstrip() + "\n"


@functools.cache
def _read_source(function: Callable[..., Any]) -> str:
    """Return the text of a function from its `def` on."""
    text = None if is_user_defined(function) else _cut_source(function)
    text = textwrap.dedent(text or inspect.getsource(function))
    return text[re.search(r"^def ", text, re.MULTILINE).start() :]  # type: ignore[union-attr]


def _cut_source(function: Callable[..., Any]) -> str | None:
    """Return the lines of a function by the places that its code has; None if it has none.

    `inspect` reads the text token by token, which takes ten times as long.
    """
    code = function.__code__
    ends = [end for _, end, _, _ in code.co_positions() if end is not None]
    if not ends:
        return None
    lines = linecache.getlines(code.co_filename, function.__globals__)
    return "".join(lines[code.co_firstlineno - 1 : max(ends)])


def find_origin(function: Callable[..., Any]) -> tuple[str, int]:
    """Return the file of a function, and the line of its `def`."""
    lines, first = inspect.getsourcelines(function)
    skipped = next(k for k, line in enumerate(lines) if line.lstrip().startswith("def "))
    return inspect.getsourcefile(function) or "", first + skipped


def shorten_path(file: str) -> str:
    """Return the path of a file as a user would write it: relative, if it is below this folder."""
    path, folder = Path(file), Path.cwd()
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else file


def _rename_globals(text: str, renamed: Mapping[str, str]) -> str:
    """Return the text with other names for globals."""
    lines = [line.encode() for line in text.split("\n")]
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    for node in sorted(nodes, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        if node.id in renamed:
            line, start = lines[node.lineno - 1], node.col_offset
            end = start + len(node.id.encode())
            lines[node.lineno - 1] = line[:start] + renamed[node.id].encode() + line[end:]
    return b"\n".join(lines).decode()


def find_globals(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the globals a function reads, by name: steps, constants and the module `math`."""
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    found = {n: function.__globals__[n] for n in sorted(names) if n in function.__globals__}
    return {n: v for n, v in found.items() if not inspect.ismodule(v)}


def _format_constant(value: float) -> str:
    if isinstance(value, float) and value != value:
        return "math.nan"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "math.inf" if value > 0 else "-math.inf"
    return repr(value)
