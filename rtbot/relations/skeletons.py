"""The loops that run the operators of a region, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.relations.change_sources import PassingSource, SourceBag, SourceTable
from rtbot.relations.grouped import GroupedOperator
from rtbot.relations.joined import JoinedOperator
from rtbot.relations.looked_up import LookedUpOperator
from rtbot.relations.near_joined import NearOperator
from rtbot.relations.ordered_groups import OrderedGroups
from rtbot.relations.over_operator import OverOperator
from rtbot.relations.program_operator import ProgramOperator, RelationSelector
from rtbot.relations.ranked import RankedOperator
from rtbot.relations.rowwise import RowwiseOperator
from rtbot.relations.single_row import SingleRow
from rtbot.relations.weighed import make_set_operation

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from rtbot.relations.region_operator import RegionOperator
    from rtbot.relations.region_plan import RegionNode, RegionPlan
    from rtbot.tables.string_dictionary import StringDictionary

    MakeOperator = Callable[
        [RegionNode, RegionPlan, ModuleType, ModuleType, StringDictionary], RegionOperator
    ]
    """Of a node, its plan, the fixed loops, the generated functions, and the texts."""


def _make_grouped(
    node: RegionNode,
    plan: RegionPlan,
    _kernels: ModuleType,
    module: ModuleType,
    texts: StringDictionary,
) -> RegionOperator:
    return GroupedOperator(node, plan.streams, module, texts)


SKELETONS: dict[str, MakeOperator] = {
    "bag": SourceBag,
    "passing": PassingSource,
    "upsert": SourceTable,
    "weighed": make_set_operation,
    "grouped": _make_grouped,
    "joined": JoinedOperator,
    "looked up": LookedUpOperator,
    "near": NearOperator,
    "ordered_groups": OrderedGroups,
    "over": OverOperator,
    "rowwise": RowwiseOperator,
    "single": SingleRow,
    "program": ProgramOperator,
    "relation": RelationSelector,
    "ranked": RankedOperator,
}
