"""The code of a region: the functions of its plan and the loops of change operators."""

from __future__ import annotations

from rtbot.compiler.tiers.fixed_module import FixedModule
from rtbot.compiler.tiers.graph_code import GraphCode
from rtbot.relations.kernels import (
    join_index,
    join_output,
    joining,
    matching,
    net_joins,
    ordered_rows,
    ordered_search,
    ordered_tree,
    ordering,
    upserting,
    weighing,
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
    matching,
    ordered_search,
    ordered_tree,
    ordered_rows,
)


class RegionCode(GraphCode):
    """The functions of a region's text, and the loops of change operators as `kernels`."""

    def __init__(self, text: str, mode: str) -> None:
        super().__init__(text, CHANGE_LOOPS, mode)
