"""What the loops need where they are plain Python: words that wrap around.

It stands alone because the modules beside it are compiled as they are.
"""

from __future__ import annotations

WORD = 2**64 - 1
"""All bits of a word."""


def mix(word: int) -> int:
    """Spread the bits of a word, as `mix` in rows.py; an integer of Python has no last bit."""
    bits = word & WORD
    bits ^= bits >> 32
    bits = bits * 0x5851F42D4C957F2D & WORD
    bits ^= bits >> 29
    return bits & (WORD >> 1)
