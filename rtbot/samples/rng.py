"""Random integers that are the same on every machine."""

from __future__ import annotations

import numpy as np

DEVIATION = 37837
"""The standard deviation of `bell`: 65536 * sqrt(4 / 12)."""


class Rng:
    """The stream of random bits number `stream` of a seed."""

    def __init__(self, seed: int, stream: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence([seed, stream]))

    def draw_integers(self, bound: int, size: int) -> np.ndarray:
        """Draw integers from 0 to `bound` - 1, int64; `bound` is at most 2**31."""
        high = self._draw_bits(size) >> np.uint64(32)
        return ((high * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)

    def draw_flags(self, share: float, size: int) -> np.ndarray:
        """Draw flags of which this share is true."""
        return (self._draw_bits(size) >> np.uint64(11)) < np.uint64(int(share * 2**53))

    def draw_normal(self, deviation: int, size: int) -> np.ndarray:
        """Draw integers around 0 with this standard deviation, int64: sums of four even ones."""
        raw = self._draw_bits(size)
        parts = [(raw >> np.uint64(16 * k)) & np.uint64(0xFFFF) for k in range(4)]
        total: np.ndarray = np.stack(parts).astype(np.int64).sum(axis=0)
        return (total - 2 * 0xFFFF) * deviation // DEVIATION

    def _draw_bits(self, size: int) -> np.ndarray:
        return self._bits.random_raw(size)
