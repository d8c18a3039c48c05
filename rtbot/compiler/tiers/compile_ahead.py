"""Functions compiled before they are called, in this process or in one of its own.

`python -m rtbot.compiler.tiers.compile_ahead` reads what to compile as JSON from stdin. What is on
disk is listed in a file beside numba's, so that others see it without importing numba. What is not
listed, but has a file of numba's, was compiled when it was called. Either may claim too much, where
files were removed or the machine has another processor: then it is compiled when it is read.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtbot.compiler import code_cache, jit
from rtbot.compiler.tiers.argument_types import ArgumentTypes, to_numba_types

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Wanted = Mapping[str, Iterable[ArgumentTypes]]
    """Functions of one module, and the types of arguments to compile each for."""

UNCOMPILABLE = 3
"""The exit code where numba refuses a function; the others have been compiled."""

CPU_SECONDS = 900
"""What the process may use, should a compilation never end."""


def find_compiled(text: str, wanted: Wanted) -> dict[str, Iterable[ArgumentTypes]]:
    """Return those of the functions of a module that are on disk."""
    path = jit.write_module(text) if wanted else None
    if path is None:
        return {}
    listed = _read_list(path)
    return {
        name: types
        for name, types in wanted.items()
        if (set(types) <= listed[name] if name in listed else any(_list_files(path, name, ".nbc")))
    }


def compile_module(text: str, wanted: Wanted) -> list[Exception]:
    """Compile functions and keep them on disk; return the errors of those that numba refuses.

    One process compiles a module at a time; others wait, and find what it has made.
    """
    from numba.core.errors import NumbaError

    refused: list[Exception] = []
    with _lock(text):
        module = jit.load_compiled(text)
        for name, types in wanted.items():
            try:
                _load_anew(text, module, name, types)
            except NumbaError as error:
                refused.append(error)
                continue
            if getattr(module, name).stats.cache_path is not None:
                _list_function(text, name, types)
    return refused


def _load_anew(text: str, module: Any, name: str, types: Iterable[ArgumentTypes]) -> None:
    """Load a function; compile it again if what is on disk cannot be read."""
    from numba.core.errors import NumbaError

    try:
        load_function(module, name, types)
    except NumbaError:
        raise
    except Exception:  # noqa: BLE001 (whatever numba raises where its file is torn)
        forget_function(text, name)
        load_function(module, name, types)


def load_function(module: Any, name: str, types: Iterable[ArgumentTypes]) -> Any:
    """Return a compiled function, read from disk or compiled for these types of arguments."""
    function = getattr(module, name)
    for described in sorted(types):
        function.compile(to_numba_types(described))
    return function


def is_compiled(text: str, wanted: Wanted) -> bool:
    """Return whether all these functions are on disk."""
    return len(find_compiled(text, wanted)) == len(wanted)


def _locate_list(path: Path) -> Path:
    return path.parent / code_cache.COMPILED / f"{path.stem}.json"


def _list_files(path: Path, name: str, suffix: str = "") -> Iterator[Path]:
    """Return numba's files of a function."""
    return code_cache.list_files(path.parent / code_cache.COMPILED, path.stem, name, suffix)


def _read_list(path: Path) -> dict[str, set[ArgumentTypes]]:
    """Return the functions that are listed, by name, with the types that each is compiled for."""
    with suppress(OSError, ValueError, AttributeError, TypeError):
        found = json.loads(_locate_list(path).read_bytes())
        return {name: {tuple(s) for s in types} for name, types in found.items()}
    return {}


def _list_function(text: str, name: str, types: Iterable[ArgumentTypes]) -> None:
    path = jit.write_module(text)
    if path is None:
        return
    known = _read_list(path)
    known[name] = known.get(name, set()) | set(types)
    described = json.dumps({n: sorted(found) for n, found in sorted(known.items())})
    place = _locate_list(path)
    with suppress(OSError):
        handle, temporary = tempfile.mkstemp(dir=place.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(described)
        Path(temporary).replace(place)


def forget_function(text: str, name: str) -> None:
    """Remove what is on disk of a function, and the list: it is torn."""
    path = jit.write_module(text)
    if path is not None:
        with suppress(OSError):
            _locate_list(path).unlink(missing_ok=True)
            for file in _list_files(path, name):
                file.unlink(missing_ok=True)


@contextmanager
def _lock(text: str) -> Iterator[None]:
    """Wait until no other process compiles this module; the lock ends with its process.

    Where files cannot be locked, several may compile the same.
    """
    path = jit.write_module(text)
    with ExitStack() as stack:
        with suppress(OSError, ImportError):
            import fcntl

            if path is not None:
                file = stack.enter_context(path.with_suffix(".lock").open("wb"))
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> None:
    """Compile what stdin lists."""
    import resource

    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    refused = False
    for text, functions in json.load(sys.stdin):
        wanted = {name: [tuple(s) for s in found] for name, found in functions.items()}
        refused = bool(compile_module(text, wanted)) or refused
    sys.exit(UNCOMPILABLE if refused else 0)


if __name__ == "__main__":
    main()
