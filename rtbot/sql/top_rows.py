"""A condition on ROW_NUMBER or RANK that leaves the first rows of an order: they are TopRows."""

from __future__ import annotations

from dataclasses import fields as list_fields
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbot.expression.tree import MIRRORED
from rtbot.operators.ordered import MOST_ROWS
from rtbot.sql.joins import (
    LEFT_STAYS,
    join_conjuncts,
    list_conjuncts,
    list_names,
    name_pair,
    rename_fields,
)
from rtbot.sql.logical import Filter, Join, LogicalPlan, Over, Project, Scan, Top

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.expression.tree import Expression

CHILDREN = ("child", "left", "right")


def use_top_rows(plan: LogicalPlan) -> LogicalPlan:
    """Return a plan that keeps the first rows only where a condition wants no others.

    Parts that stay as they are are the same objects, which are lowered once.
    """
    return _Rewriting().rewrite(plan)


class _Rewriting:
    def __init__(self) -> None:
        self.known: dict[int, tuple[LogicalPlan, LogicalPlan]] = {}

    def rewrite(self, plan: LogicalPlan) -> LogicalPlan:
        if id(plan) not in self.known:
            self.known[id(plan)] = plan, self._rewrite(plan)
        return self.known[id(plan)][1]

    def _rewrite(self, plan: LogicalPlan) -> LogicalPlan:
        if isinstance(plan, Scan):
            return plan
        changes: dict[str, Any] = {}
        for field in list_fields(plan):
            value = getattr(plan, field.name)
            if field.name in CHILDREN:
                changes[field.name] = self.rewrite(value)
            elif field.name == "children":
                changes[field.name] = tuple(map(self.rewrite, value))
        same = all(_is_same(getattr(plan, name), value) for name, value in changes.items())
        made = plan if same else replace(plan, **changes)
        if isinstance(made, Filter):
            return _cut(made) or _cut_side(made) or made
        return _drop_number(made) if isinstance(made, Project) else made


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return all(map(_is_same, one, other))
    return one is other


def _cut(plan: Filter) -> LogicalPlan | None:
    """Return the first rows that a filter over numbered rows leaves; None if it is another one."""
    projects: list[Project] = []
    below = plan.child
    while isinstance(below, Project):
        projects.append(below)
        below = below.child
    if not isinstance(below, Over) or len(below.computations) != 1:
        return None
    (computation,) = below.computations
    if computation.function not in ("number", "rank"):
        return None
    names = {
        name for name in _list_fields(plan.child) if _trace(name, projects) == computation.name
    }
    ranked = computation.function == "rank"
    low, high, rest = 1, MOST_ROWS, []
    for tree in list_conjuncts(plan.condition):
        found = _read_bounds(tree, names)
        if found is None or (ranked and found[0] > 1):
            rest.append(tree)
        else:
            low, high = max(low, found[0]), min(high, found[1])
    if high == MOST_ROWS or high < low:
        return None
    top = Top(
        *(below.child, below.by, below.order, high - low + 1, below.mark, low - 1, ranked),
        number=computation.name,
    )
    made: LogicalPlan = top
    for project in reversed(projects):
        made = replace(project, child=made)
    condition = join_conjuncts(rest)
    return made if condition is None else Filter(made, condition, plan.mark)


def _cut_side(plan: Filter) -> LogicalPlan | None:
    """Return a filter over a join that keeps the first rows of a side; None if there is none."""
    join = plan.child
    if not isinstance(join, Join):
        return None
    count = len(join.left.fields)
    names = name_pair(join.left, join.right)
    rights = dict(zip(names[count:], _list_fields(join.right), strict=True))
    sides: dict[str, dict[str, str]] = {
        "left": {name: name for name in names[:count]} if join.how in LEFT_STAYS else {},
        "right": rights if join.how in ("inner", "cross", "right") else {},
    }
    rest = list_conjuncts(plan.condition)
    changes: dict[str, Any] = {}
    for side, own in sides.items():
        bounds = [tree for tree in rest if _read_bounds(tree, set(own)) is not None]
        condition = join_conjuncts([rename_fields(tree, own) for tree in bounds])
        if condition is not None:
            below = Filter(getattr(join, side), condition, plan.mark)
            made = _cut(below) or _cut_side(below)
            if made is not None:
                changes[side] = made
                rest = [tree for tree in rest if tree not in bounds]
    if not changes:
        return None
    made = replace(join, **changes)
    remaining = join_conjuncts(rest)
    return made if remaining is None else Filter(made, remaining, plan.mark)


def _list_fields(plan: LogicalPlan) -> list[str]:
    return [field.name for field in plan.fields]


def _trace(name: str, projects: Sequence[Project]) -> str | None:
    """Return the field below projections that a field is, None if it is computed."""
    for project in projects:
        tree = project.expressions[_list_fields(project).index(name)]
        if tree.op != "field":
            return None
        name = tree.value
    return name


def _read_bounds(tree: Expression, names: set[str]) -> tuple[int, int] | None:
    """Return the least and the greatest number for which a condition is true."""
    if tree.op not in MIRRORED or tree.op == "!=":
        return None
    op, (one, other) = tree.op, tree.args
    if one.op == "constant":
        op, one, other = MIRRORED[op], other, one
    if one.op != "field" or one.value not in names or type(other.value) is not int:
        return None
    if other.op != "constant":
        return None
    value = other.value
    bounds = {
        "<": (1, value - 1),
        "<=": (1, value),
        ">": (value + 1, MOST_ROWS),
        ">=": (value, MOST_ROWS),
        "==": (value, value),
    }
    return bounds[op]


def _drop_number(plan: Project) -> Project:
    """Return a projection of the first rows without their number, if nothing reads it."""
    chain: list[Project | Filter] = []
    below: LogicalPlan = plan
    while isinstance(below, Project | Filter):
        chain.append(below)
        below = below.child
    if not isinstance(below, Top) or below.number is None:
        return plan
    used: set[str] = set(_list_fields(plan))
    kept: list[Project | Filter] = []
    for each in chain:
        if isinstance(each, Filter):
            used |= set(list_names(each.condition))
            kept.append(each)
            continue
        pairs = [pair for pair in zip(each.fields, each.expressions, strict=True)
                 if pair[0].name in used]  # fmt: skip
        if not pairs:
            return plan
        fields, trees = zip(*pairs, strict=True)
        kept.append(replace(each, fields=fields, expressions=trees))
        used = {name for tree in trees for name in list_names(tree)}
    if below.number in used:
        return plan
    made: LogicalPlan = replace(below, number=None)
    for each in reversed(kept):
        made = replace(each, child=made)
    assert isinstance(made, Project)
    return made
