"""Seeded sample data and the graphs to start from, which go together.

The same options give the same values on every machine: all arithmetic is on integers, and the
random bits are those of PCG64, whose stream numpy keeps.
"""

from rtbot.samples.disorder import LATE_STEPS, Wish, blocks
from rtbot.samples.generators import SERIES, Series
from rtbot.samples.starters import STARTERS, starter
from rtbot.samples.writing import FORMATS, write

__all__ = [
    "FORMATS",
    "LATE_STEPS",
    "SERIES",
    "STARTERS",
    "Series",
    "Wish",
    "blocks",
    "starter",
    "write",
]
