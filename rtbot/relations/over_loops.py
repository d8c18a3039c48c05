"""The loops of window functions, compiled or not."""

from __future__ import annotations

from rtbot.compiler.tiers.fixed_module import FixedModule
from rtbot.numeric import ieee
from rtbot.numeric.exact import cumulative, digits, sums, weighted
from rtbot.relations.kernels import (
    ordered_rows,
    ordered_search,
    ordered_tree,
    over_rows,
    weighing,
    window_values,
)
from rtbot.tables import hash_tables

OVER_LOOPS = FixedModule(
    hash_tables,
    weighing,
    ordered_search,
    ordered_tree,
    ordered_rows,
    ieee,
    digits,
    sums,
    cumulative,
    weighted,
    window_values,
    over_rows,
)
