"""Joins of plans: keys, fields of both sides, and equalities that become keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbot.expression.row_rules import make_call
from rtbot.expression.tree import Expression
from rtbot.operator.schema import Field, Schema
from rtbot.operators.row_joins import JoinRows, name_right_fields
from rtbot.sql.logical import Exclusion, Join, Project
from rtbot.sql.naming import make_fresh

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from rtbot.core.source_span import SourceSpan
    from rtbot.sql.logical import LogicalPlan

LEFT_STAYS = ("inner", "cross", "left", "semi", "anti")
"""Joins after which a condition on left rows is the same as before."""


@dataclass(frozen=True)
class KeyPair:
    """What is equal in a left and a right row; `null_safe`: null is equal to null."""

    left: Expression
    right: Expression
    null_safe: bool = False


def make_join(
    sides: tuple[LogicalPlan, LogicalPlan],
    how: str,
    pairs: Sequence[KeyPair],
    mark: SourceSpan,
    condition: Expression | None = None,
) -> Join:
    """Return the join of two plans; keys that are no fields become some below it.

    `condition` names the fields of a pair as `name_pair` does. Raises GraphError where keys do not
    compare.
    """
    left, right = sides
    fitted = [make_call("==", [pair.left, pair.right], mark).args for pair in pairs]
    taken = [*name_pair(left, right), *(field.name for field in right.fields)]
    left, ones = add_fields(left, [one for one, _ in fitted], taken)
    right, others = add_fields(right, [other for _, other in fitted], taken)
    on = tuple(zip(ones, others, strict=True))
    kinds = list(zip(ones, (pair.null_safe for pair in pairs), strict=True))
    plain = [one for one, is_safe in kinds if not is_safe]
    safe = _leave_out(plain, [one for one, is_safe in kinds if is_safe])
    return build_join((left, right), how, on, safe, mark, condition)


def build_join(
    sides: tuple[LogicalPlan, LogicalPlan],
    how: str,
    on: tuple[tuple[str, str], ...],
    safe: tuple[str, ...],
    mark: SourceSpan,
    condition: Expression | None,
) -> Join:
    """Return the join on fields, with the fields that it gives."""
    left, right = sides
    how = "inner" if how == "cross" and (on or condition is not None) else how
    schemas = {"i1": Schema(left.fields), "i2": Schema(right.fields)}
    given = JoinRows.output_schema({"on": on, "how": how}, schemas, {})
    return Join(left, right, how, on, safe, condition, given.fields, mark)


def name_pair(left: LogicalPlan, right: LogicalPlan) -> list[str]:
    """Return the names of the fields of a pair of rows."""
    names = [field.name for field in left.fields]
    return [*names, *name_right_fields(names, [field.name for field in right.fields])]


def add_fields(
    plan: LogicalPlan, trees: Sequence[Expression], taken: list[str]
) -> tuple[LogicalPlan, list[str]]:
    """Return a plan with the fields that expressions over it are, and their names."""
    names, added = [], list[tuple[Field, Expression]]()
    for tree in trees:
        name = tree.value if tree.op == "field" else make_fresh("key_1", taken)
        if tree.op != "field":
            taken.append(name)
            added.append((Field(name, tree.type), tree))
        names.append(name)
    return (extend_plan(plan, added) if added else plan), names


def extend_plan(plan: LogicalPlan, added: Sequence[tuple[Field, Expression]]) -> Project:
    """Return a plan with further fields."""
    fields = (*plan.fields, *(field for field, _ in added))
    trees = [Expression("field", f.type, (), f.name) for f in plan.fields]
    return Project(plan, fields, (*trees, *(tree for _, tree in added)), added[0][1].mark)


def list_conjuncts(tree: Expression) -> list[Expression]:
    """Return the conditions that are joined by `and`, from left to right."""
    found, todo = [], [tree]
    while todo:
        one = todo.pop()
        if one.op == "and":
            todo += reversed(one.args)
        else:
            found.append(one)
    return found


def join_conjuncts(trees: Sequence[Expression]) -> Expression | None:
    """Return conditions as one."""
    parts = list(trees)
    while len(parts) > 1:
        pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
        parts = [p[0] if len(p) == 1 else make_call("and", p, p[0].mark) for p in pairs]
    return parts[0] if parts else None


def list_names(tree: Expression, op: str = "field") -> Iterator[str]:
    """Yield the names of the fields of an expression."""
    if tree.op == op:
        yield tree.value
    for argument in tree.args:
        yield from list_names(argument, op)


def rename_fields(tree: Expression, names: dict[str, str]) -> Expression:
    """Return an expression with other names of its fields."""
    if tree.op == "field":
        return replace(tree, value=names.get(tree.value, tree.value))
    return replace(tree, args=tuple(rename_fields(argument, names) for argument in tree.args))


def split_equality(tree: Expression) -> tuple[Expression, Expression, bool] | None:
    """Return what is equal where a condition holds, and whether null equals null."""
    if tree.op == "==":
        return tree.args[0], tree.args[1], False
    if tree.op == "not" and tree.args[0].op == "is_distinct":
        return tree.args[0].args[0], tree.args[0].args[1], True
    return None


def find_pair(tree: Expression, left: set[str], right: dict[str, str]) -> KeyPair | None:
    """Return the key that a condition on a pair is; `right` are the names of right fields."""
    found = split_equality(tree)
    if found is None:
        return None
    for one, other in (found[:2], found[1::-1]):
        names, others = set(list_names(one)), set(list_names(other))
        if names and others and names <= left and others <= right.keys():
            return KeyPair(one, rename_fields(other, right), found[2])
    return None


def split_condition(
    tree: Expression, left: LogicalPlan, right: LogicalPlan
) -> tuple[list[KeyPair], Expression | None]:
    """Return the keys that a condition on pairs has, and the rest of it."""
    names = name_pair(left, right)
    lefts = set(names[: len(left.fields)])
    rights = dict(zip(names[len(left.fields) :], (f.name for f in right.fields), strict=True))
    pairs, rest = [], []
    for place, one in enumerate(list_conjuncts(tree)):
        guarded = place > 0 and may_fault(one)
        pair = None if guarded else find_pair(one, lefts, rights)
        if pair is None:
            rest.append(one)
        else:
            pairs.append(pair)
    return pairs, join_conjuncts(rest)


def may_fault(tree: Expression) -> bool:
    """Return whether a condition before it may be there because it has no value for some rows."""
    fails = tree.op in ("//", "%", "cast") and tree.type.kind != "text"
    return fails or any(map(may_fault, tree.args))


def push_equality(plan: LogicalPlan, tree: Expression) -> LogicalPlan | None:
    """Return a plan in which a join has a condition of WHERE as a key; None if none can."""
    if not isinstance(plan, Join):
        return None
    names = name_pair(plan.left, plan.right)
    lefts = set(names[: len(plan.left.fields)])
    own = [field.name for field in plan.right.fields]
    rights = dict(zip(names[len(plan.left.fields) :], own, strict=True))
    used = set(list_names(tree))
    if plan.how in LEFT_STAYS and used <= lefts:
        below = push_equality(plan.left, tree)
        return below and _rebuild(plan, below, plan.right)
    if plan.how not in ("inner", "cross"):
        return None
    if used <= rights.keys():
        below = push_equality(plan.right, rename_fields(tree, rights))
        return below and _rebuild(plan, plan.left, below)
    pair = find_pair(tree, lefts, rights)
    if pair is None:
        return None
    one = make_join((plan.left, plan.right), "inner", [pair], plan.mark)
    plain = [name for each in (plan, one) for name, _ in each.on if name not in each.null_safe]
    safe = _leave_out(plain, (*plan.null_safe, *one.null_safe))
    on = (*plan.on, *one.on)
    return build_join((one.left, one.right), "inner", on, safe, plan.mark, plan.condition)


def _leave_out(plain: Collection[str], safe: Iterable[str]) -> tuple[str, ...]:
    """Return the left fields that may be null in a pair: no plain equality has them, too."""
    return tuple(name for name in safe if name not in plain)


def _rebuild(plan: Join, left: LogicalPlan, right: LogicalPlan) -> Join:
    """Return a join of plans that may have got further fields."""
    return build_join((left, right), plan.how, plan.on, plan.null_safe, plan.mark, plan.condition)


def make_exclusion(
    sides: tuple[LogicalPlan, LogicalPlan],
    value: KeyPair,
    pairs: Sequence[KeyPair],
    mark: SourceSpan,
) -> Exclusion:
    """Return the left rows whose value is in no right row, among those with equal keys."""
    join = make_join(sides, "semi", [value, *pairs], mark)
    return Exclusion(join.left, join.right, join.on[0], join.on[1:], mark)
