"""numba, and machine code from its cache on disk, without what only compiling needs.

Before numba looks into its cache it imports and registers all it knows of types and functions,
which takes as long as importing numba. It is for compiling, which begins with the same by itself.
"""

from __future__ import annotations

import gc
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS = ("load_overload", "_load_overload", "_guard_against_spurious_io_errors")
"""What numba's own way of loading is made of; another release may do it otherwise."""


def import_numba() -> None:
    """Import numba without looking for garbage: all that an import makes stays."""
    if "numba" in sys.modules:
        return
    collected = gc.isenabled()
    gc.disable()
    try:
        import numba  # noqa: F401 (all that it imports is what takes long)
    finally:
        if collected:
            gc.enable()


def load_before_compiling(dispatcher: Any, prepare: Callable[[], object]) -> None:
    """Let a dispatcher with a cache load what is there at once; `prepare` is called before others.

    Where numba's cache is not as we know it, `prepare` is called now.
    """
    cache = dispatcher.__dict__.get("_cache")
    if all(hasattr(cache, part) for part in PARTS):
        cache.load_overload = partial(_load, cache, prepare)
    else:
        prepare()


def _load(cache: Any, prepare: Callable[[], object], signature: Any, context: Any) -> Any:
    """Do what `load_overload` does, but for `context.refresh()`; None if it is not in the cache."""
    with cache._guard_against_spurious_io_errors():  # noqa: SLF001 (numba has no other way)
        found = cache._load_overload(signature, context)  # noqa: SLF001
        if found is not None:
            return found
    prepare()
    return None
