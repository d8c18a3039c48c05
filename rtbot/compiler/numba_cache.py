"""Machine code from numba's cache on disk, loaded without what only compiling needs.

Before numba looks into its cache it imports and registers all it knows of types and functions. That
takes a third of the time of a start and is for compiling, which begins with the same by itself.
"""

from __future__ import annotations

from functools import partial
from typing import Any

PARTS = ("_load_overload", "_guard_against_spurious_io_errors")
"""What numba's own way of loading is made of; another release may do it otherwise."""


def load_without_registries(dispatcher: Any) -> None:
    """Let a dispatcher with a cache load what is there at once; what is not is compiled as ever."""
    cache = dispatcher.__dict__.get("_cache")
    if all(hasattr(cache, part) for part in (*PARTS, "load_overload")):
        cache.load_overload = partial(_load, cache)


def _load(cache: Any, signature: Any, context: Any) -> Any:
    """Do what `load_overload` does, but for `context.refresh()`; None if it is not in the cache."""
    with cache._guard_against_spurious_io_errors():  # noqa: SLF001 (numba has no other way)
        return cache._load_overload(signature, context)  # noqa: SLF001
