"""The code of a region: the functions of its plan and the loops of change operators."""

from __future__ import annotations

from rtbot.compiler.tiers.fixed_module import FixedModule
from rtbot.compiler.tiers.graph_code import GraphCode
from rtbot.numeric import ieee
from rtbot.numeric.exact import cumulative, digits, sums, weighted
from rtbot.relations.kernels import (
    asof_joining,
    expiring,
    interval_joining,
    join_index,
    join_output,
    joining,
    looking_up,
    lookup_state,
    matching,
    near_joining,
    near_rows,
    net_joins,
    ordered_grouping,
    ordered_rows,
    ordered_search,
    ordered_tree,
    ordering,
    over_results,
    over_rows,
    ranking,
    sliding_frames,
    upserting,
    weighing,
    window_values,
)
from rtbot.tables import hash_tables

CHANGE_LOOPS = FixedModule(
    hash_tables,
    weighing,
    upserting,
    ordering,
    join_index,
    join_output,
    net_joins,
    joining,
    looking_up,
    lookup_state,
    matching,
    expiring,
    ordered_search,
    ordered_tree,
    ordered_rows,
    ranking,
    ordered_grouping,
    near_rows,
    asof_joining,
    interval_joining,
    near_joining,
    ieee,
    digits,
    sums,
    cumulative,
    weighted,
    window_values,
    sliding_frames,
    over_results,
    over_rows,
)


class RegionCode(GraphCode):
    """The functions of a region's text, and the loops of change operators as `kernels`."""

    def __init__(self, text: str, mode: str) -> None:
        super().__init__(text, CHANGE_LOOPS, mode)
