"""Arrays that grow: a large one is moved by the operating system, page tables only, not copied.

A store of millions of rows would otherwise stop for a second to be copied. It stands alone since it
depends on the system: elsewhere than on Linux the arrays are copied.
"""

from __future__ import annotations

import mmap
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import MutableMapping

MAPPED = 1 << 17
"""So many words and more are a mapping of their own."""


def allocate_growing(words: int) -> np.ndarray:
    """Return zeroed int64; of a large array, memory is taken where it is written to."""
    if sys.platform == "linux" and words >= MAPPED:
        with suppress(OSError):
            memory = mmap.mmap(-1, 8 * words, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            with suppress(OSError):
                memory.madvise(mmap.MADV_HUGEPAGE)
            return np.frombuffer(memory, np.int64)
    return np.zeros(words, np.int64)


def extend_array(arrays: MutableMapping[str, np.ndarray], name: str, words: int) -> None:
    """Let an array of `allocate_growing` have more words, the new ones 0.

    It is another one afterwards. It is copied where anything else refers to it.
    """
    array = arrays.pop(name)
    memory = getattr(array.base, "obj", None)
    if isinstance(memory, mmap.mmap):
        del array
        with suppress(BufferError, OSError):
            memory.resize(8 * words)
        array = arrays[name] = np.frombuffer(memory, np.int64)
        if len(array) == words:
            return
    arrays[name] = array
    larger = allocate_growing(words)
    larger[: len(array)] = array
    arrays[name] = larger
