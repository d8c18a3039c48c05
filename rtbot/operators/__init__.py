"""The series operators, by topic. Importing this package registers them all."""

from rtbot.operators import (
    arithmetic,
    comparison,
    constants,
    filters,
    functions,
    joins,
    logic,
    merge,
    resample,
    running,
    timing,
    windows,
)

__all__ = [
    "arithmetic",
    "comparison",
    "constants",
    "filters",
    "functions",
    "joins",
    "logic",
    "merge",
    "resample",
    "running",
    "timing",
    "windows",
]
