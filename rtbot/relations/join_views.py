"""How a join remembers the rows of a side: chosen from the unique keys that are known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rtbot.operator.schema import Schema
    from rtbot.relations.region_plan import RegionNode, RegionPlan

ROW, KEYED, MULTISET, COUNT = "row", "keyed", "multiset", "count"


class StateView(NamedTuple):
    """A kind of view, and the unique key that it is chosen for, () if there is none.

    `row`: one row of every join key, as the join key has a unique key in it. `keyed`: rows found by
    a unique key. `multiset`: rows found by all their fields. `count`: how many rows every join key
    has, and no row.
    """

    kind: str
    unique: tuple[str, ...] = ()


def choose_views(
    how: str, *, conditional: bool, sides: Sequence[tuple[Schema, Collection[str]]]
) -> list[StateView]:
    """Return the views of the left and the right side; `sides` are schemas and their key fields."""
    views = [choose_view(schema, key) for schema, key in sides]
    if how in ("semi", "anti") and not conditional:
        views[1] = StateView(COUNT)
    return views


def choose_view(schema: Schema, key: Collection[str]) -> StateView:
    """Return the view of a side whose rows have to be remembered."""
    for unique in schema.unique:
        if set(unique) <= set(key):
            return StateView(ROW, unique)
    if schema.unique:
        return StateView(KEYED, min(schema.unique, key=len))
    return StateView(MULTISET)


def list_net_streams(plan: RegionPlan) -> set[int]:
    """Return the streams of which no transaction has a row twice, so that its weight is the net."""
    found = {source.stream for source in plan.sources if not source.passes}
    for node in plan.nodes:
        if _is_net(node, found):
            found.add(node.output)
    return found


def _is_net(node: RegionNode, nets: Collection[int]) -> bool:
    """Return whether an operator emits every row once, as its inputs in `nets` do."""
    if node.skeleton == "grouped":
        return True
    if node.skeleton == "weighed":
        return not (node.setting.get("weigh") == "union" and node.setting.get("all"))
    if node.skeleton == "joined":
        return node.setting["how"] in ("inner", "cross")
    return node.operator == "Where" and node.inputs[0] in nets
