"""The operators of series and of change streams, by topic; importing this registers them all."""

from rtbot.operators import (
    arithmetic,
    bridges,
    comparison,
    constants,
    filters,
    functions,
    groups,
    joins,
    logic,
    merge,
    resample,
    rows,
    running,
    sets,
    timing,
    windows,
)

__all__ = [
    "arithmetic",
    "bridges",
    "comparison",
    "constants",
    "filters",
    "functions",
    "groups",
    "joins",
    "logic",
    "merge",
    "resample",
    "rows",
    "running",
    "sets",
    "timing",
    "windows",
]
