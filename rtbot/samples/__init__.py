"""Seeded sample data and the graphs to start from, which go together.

The same options give the same values on every machine: all arithmetic is on integers, and the
random bits are those of PCG64, whose stream numpy keeps.
"""

from rtbot.samples.disorder import LATE_STEPS, SampleOptions, generate_blocks
from rtbot.samples.generators import SERIES, SampleSeries
from rtbot.samples.starters import STARTERS, render_starter
from rtbot.samples.writing import FORMATS, write_sample

__all__ = [
    "FORMATS",
    "LATE_STEPS",
    "SERIES",
    "STARTERS",
    "SampleOptions",
    "SampleSeries",
    "generate_blocks",
    "render_starter",
    "write_sample",
]
