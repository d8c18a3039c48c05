"""Rows inside the engine.

A push concerns a set of keys. Every batch of that push lists its rows key by key, in one order of
keys for all of them: the rows of run k are those of key `slots[k]`, and a key may have none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

DTYPES = {"number": "float64", "integer": "int64", "boolean": "bool", "text": "int64"}


@dataclass(slots=True)
class Column:
    """Values (float64, int64, bool; text as int64 codes) and, if nullable, which are not null."""

    value: np.ndarray
    valid: np.ndarray | None = None


@dataclass(slots=True)
class Batch:
    """`starts` int64[runs + 1], `time` int64[rows], columns of `rows`; never written to once made.

    Within a run times ascend strictly.
    """

    starts: np.ndarray
    time: np.ndarray
    columns: list[Column] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.time)
