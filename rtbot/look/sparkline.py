"""Pictures of numbers in one line of text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = "_.-~=+*#"
"""Levels from the least value to the greatest, and those for terminals without such blocks."""

WIDTH = 24
PART_MAX = 5000
"""Of a longer part so many values, or more, at equal distances make the mean."""


def draw_text_sparkline(values: Sequence[float | None], width: int = WIDTH) -> str:
    """Draw values in their order, each sign the mean of a part of them; a blank where none are.

    >>> draw_text_sparkline([1, 2, 3, None, 5])
    '▁▂▄ █'
    """
    count = min(width, len(values))
    means = []
    for number in range(count):
        part = values[number * len(values) // count : (number + 1) * len(values) // count]
        part = part[:: max(len(part) // PART_MAX, 1)]
        known = [value for value in part if value is not None and math.isfinite(value)]
        means.append(math.fsum(value / len(known) for value in known) if known else None)
    found = [mean for mean in means if mean is not None]
    if not found:
        return ""
    least, span = min(found), max(found) / 2 - min(found) / 2
    levels = len(BLOCKS) - 1
    return "".join(
        " "
        if mean is None
        else BLOCKS[round((mean / 2 - least / 2) / span * levels) if span else 0]
        for mean in means
    )


def use_plain_signs(picture: str) -> str:
    """Return the picture with signs of ASCII."""
    return picture.translate(str.maketrans(BLOCKS, PLAIN))
