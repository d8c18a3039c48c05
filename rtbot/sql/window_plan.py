"""The plan of window functions: one operator for those that have the same rows in one order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rtbot.expression.tree import Expression
from rtbot.operator.schema import Field
from rtbot.sql.logical import Over, WindowComputation
from rtbot.sql.naming import make_fresh, make_key
from rtbot.sql.row_order import drop_repeated, narrow_plan
from rtbot.sql.window_calls import OVER_FRAMES, PLACES, WHOLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.sql.logical import LogicalPlan
    from rtbot.sql.window_calls import WindowCall, WindowRows


def add_windows(
    plan: LogicalPlan,
    calls: Sequence[WindowCall],
    trees: Sequence[Expression],
    wanted: Sequence[tuple[str, Expression]],
) -> tuple[LogicalPlan, list[Expression]]:
    """Return a plan with the values of calls, and expressions with them in their places.

    `wanted` are names that results have if they can. Fields that nothing uses are left out: rows
    that are equal in an order are sorted by those that are used.
    """
    if not calls:
        return plan, list(trees)
    inside = [tree for call in calls for tree in call.trees]
    plan, names = narrow_plan(plan, inside, trees, "value")
    fields = {make_key(tree): name for tree, name in zip(inside, names, strict=True)}
    given = {tree.value: name for name, tree in reversed(wanted) if tree.op == "window"}
    results: dict[int, Expression] = {}
    for rows, places in _group_calls(calls):
        taken = [field.name for field in plan.fields]
        computations = []
        for place in places:
            call = calls[place]
            name = make_fresh(given.get(place, "window_1"), taken)
            taken.append(name)
            computations.append(_make_computation(name, call, fields))
            results[place] = Expression("field", call.type, (), name, call.mark)
        plan = _make_over(plan, rows, fields, computations, [calls[place] for place in places])
    return plan, [fill_windows(tree, results) for tree in trees]


def _make_computation(name: str, call: WindowCall, fields: dict[Any, str]) -> WindowComputation:
    argument = None
    if call.argument is not None:
        own = fields[make_key(call.argument)]
        argument = Expression("field", call.argument.type, (), own, call.argument.mark)
    return WindowComputation(name, call.function, call.offset, call.default, argument)


def _make_over(
    plan: LogicalPlan,
    rows: WindowRows,
    fields: dict[Any, str],
    computations: Sequence[WindowComputation],
    calls: Sequence[WindowCall],
) -> Over:
    """Return a plan with the values of calls that have the same rows."""
    by = tuple(dict.fromkeys(fields[make_key(tree)] for tree in rows.by))
    order = drop_repeated([(fields[make_key(k.tree)], k.descending) for k in rows.order])
    order = tuple(pair for pair in order if pair[0] not in by)
    frame = rows.frame if order or not rows.frame or rows.frame[0] == "rows" else WHOLE
    pairs = zip(computations, calls, strict=True)
    added = [Field(computation.name, call.type) for computation, call in pairs]
    every = (*plan.fields, *added)
    return Over(plan, by, order, frame, tuple(computations), every, calls[0].mark)


def _group_calls(calls: Sequence[WindowCall]) -> list[tuple[WindowRows, list[int]]]:
    """Return the places of calls by the rows of their windows.

    What looks at the order alone goes along with any frame.
    """
    groups: dict[Any, tuple[WindowRows, list[int]]] = {}
    for last in (False, True):
        for place, call in enumerate(calls):
            if (call.function not in OVER_FRAMES.values()) != last:
                continue
            rows = call.rows
            sorting = tuple((make_key(k.tree), k.descending) for k in rows.order)
            part = (tuple(map(make_key, rows.by)), sorting)
            same = [key for key in groups if key[:2] == part] if last else []
            key = same[0] if same else (*part, rows.frame)
            groups.setdefault(key, (rows, []))[1].append(place)
    numbers = [calls[places[0]].function in PLACES.values() for _, places in groups.values()]
    found = sorted(zip(numbers, groups.values(), strict=True), key=lambda pair: pair[0])
    return [group for _, group in found]


def fill_windows(tree: Expression, results: dict[int, Expression]) -> Expression:
    """Return an expression with the fields of its window functions."""
    if tree.op == "window":
        return replace(results[tree.value], mark=tree.mark)
    return replace(tree, args=tuple(fill_windows(part, results) for part in tree.args))
