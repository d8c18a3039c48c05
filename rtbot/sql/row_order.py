"""ORDER BY, LIMIT and OFFSET: the first rows of a query, and keys by which rows are sorted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from sqlglot import exp

from rtbot.core.errors import GraphError
from rtbot.expression.row_rules import make_call, settle_null
from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.operator.schema import Field
from rtbot.operators.ordered import MOST_ROWS
from rtbot.sql.bound_query import settle_columns
from rtbot.sql.joins import extend_plan, list_names
from rtbot.sql.logical import Filter, Project, Top
from rtbot.sql.naming import make_fresh, make_key
from rtbot.sql.refusals import refuse_rest
from rtbot.sql.scope import find_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.core.source_span import SourceSpan
    from rtbot.sql.bound_query import BoundQuery
    from rtbot.sql.logical import LogicalPlan
    from rtbot.sql.query_text import QueryText

CLAUSES = ("order", "limit", "offset")
"""The arguments of a query that put its rows in an order and cut them off."""

NUMBERED = "write the number of a column, or its name"


class SortKey(NamedTuple):
    """What rows are sorted by; nulls are last, unless they are first."""

    tree: Expression
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class RowLimit:
    """How many rows a query gives, behind how many; `ties`: those equal to the last one, too."""

    count: int
    offset: int
    ties: bool
    mark: SourceSpan


def has_limit(node: exp.Expr) -> bool:
    """Return whether a query is cut off."""
    return any(node.args.get(key) is not None for key in ("limit", "offset"))


def list_sort_nodes(query: QueryText, node: exp.Expr | None) -> list[exp.Expr]:
    """Return what an ORDER BY sorts by, each with its direction."""
    if node is None:
        return []
    refuse_rest(query, node, "this", "expressions")
    for one in node.expressions:
        refuse_rest(query, one, "this", "desc", "nulls_first")
    return list(node.expressions)


def make_sort_key(node: exp.Expr, tree: Expression) -> SortKey:
    """Return the key that a part of ORDER BY is."""
    tree = settle_null(tree, "integer")
    return SortKey(tree, bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


def split_nulls(keys: Sequence[SortKey]) -> list[SortKey]:
    """Return keys with nulls last that sort as these do; constants sort nothing."""
    found = []
    for key in keys:
        if key.tree.op == "constant":
            continue
        if key.nulls_first and key.tree.type.nullable:
            found.append(SortKey(make_call("is_null", [key.tree], key.tree.mark), descending=True))
        found.append(key._replace(nulls_first=False))
    return found


def read_limit(query: QueryText, node: exp.Expr) -> RowLimit | None:
    """Return LIMIT, OFFSET and FETCH of a query; None if there is none, or one that is wrong."""
    limit, offset = node.args.get("limit"), node.args.get("offset")
    at = limit or offset
    if at is None:
        return None
    counts: list[int | None] = [MOST_ROWS, 0]
    ties = False
    if isinstance(limit, exp.Fetch):
        refuse_rest(query, limit, "direction", "count", "limit_options")
        counts[0] = _read_count(query, limit, limit.args.get("count"), "FETCH")
    elif limit is not None:
        refuse_rest(query, limit, "expression", "limit_options")
        counts[0] = _read_count(query, limit, limit.expression, "LIMIT")
    options = None if limit is None else limit.args.get("limit_options")
    if options is not None:
        refuse_rest(query, options, "percent", "rows", "with_ties")
        ties = bool(options.args.get("with_ties"))
        if options.args.get("percent"):
            hint = "write a number of rows, or compare row_number() with count(*) OVER ()"
            query.report("RT181", at, "a percentage of rows is not supported", hint)
            return None
    if offset is not None:
        refuse_rest(query, offset, "expression")
        counts[1] = _read_count(query, offset, offset.expression, "OFFSET")
    count, before = counts
    if count is None or before is None:
        return None
    if ties and (node.args.get("order") is None or before):
        message = "WITH TIES takes no OFFSET" if before else "WITH TIES without ORDER BY"
        hint = "QUALIFY rank() OVER (ORDER BY ...) takes any ranks"
        query.report("RT180", at, message, hint)
        return None
    return RowLimit(count, before, ties, query.locate(at))


def _read_count(query: QueryText, clause: exp.Expr, node: exp.Expr | None, word: str) -> int | None:
    """Return a number of rows, which is written or a parameter; report anything else."""
    value: object = 1 if node is None and word == "FETCH" else None
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Literal) and not node.args.get("is_string") and node.this.isdigit():
        value = int(node.this) if len(node.this) < 20 else MOST_ROWS
    elif isinstance(node, exp.Placeholder):
        try:
            found = query.find_value(node)
            value = None if found is None else found[0]
        except GraphError as error:
            query.problems.add_all(error.problems)
            return None
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return min(value, MOST_ROWS)
    hint = f"write {word} 10, or {word} $name, a parameter of the graph"
    known = node is not None and id(node) in query.extents
    mark = query.locate_clause(node if known and node is not None else clause, word)
    query.problems.add("RT181", mark, f"{word} takes a number of rows", hint)
    return None


# ---- the plan


def cut_rows(
    plan: LogicalPlan, by: Sequence[str], order: Sequence[tuple[str, bool]], limit: RowLimit
) -> LogicalPlan:
    """Return the rows of a plan that a limit leaves; `order` are its fields."""
    if limit.count == 0:
        nothing = Expression("constant", Type("boolean"), (), False, limit.mark)
        return Filter(plan, nothing, limit.mark)
    keys = drop_repeated(order)
    return Top(plan, tuple(by), keys, limit.count, limit.mark, limit.offset, limit.ties)


def drop_repeated(order: Sequence[tuple[str, bool]]) -> tuple[tuple[str, bool], ...]:
    """Return an order with each field once, the first time."""
    found: dict[str, bool] = {}
    for name, descending in order:
        found.setdefault(name, descending)
    return tuple(found.items())


def name_trees(
    trees: Sequence[Expression],
    known: Sequence[tuple[Expression, str]],
    taken: Sequence[str],
    kind: str,
) -> tuple[list[tuple[Field, Expression]], list[str]]:
    """Return the fields to add for expressions, and the names of all of them.

    `known` are expressions that are fields already, `taken` the names that are there.
    """
    there = {make_key(tree): name for tree, name in reversed(known)}
    every, names, added = list(taken), [], list[tuple[Field, Expression]]()
    for tree in trees:
        key = make_key(tree)
        if key not in there:
            there[key] = make_fresh(f"{kind}_1", every)
            every.append(there[key])
            added.append((Field(there[key], tree.type), tree))
        names.append(there[key])
    return added, names


def add_hidden(
    plan: LogicalPlan, trees: Sequence[Expression], kind: str
) -> tuple[LogicalPlan, list[str]]:
    """Return a plan that has fields for expressions over it, and their names."""
    known = [(tree, tree.value) for tree in trees if tree.op == "field"]
    added, names = name_trees(trees, known, [field.name for field in plan.fields], kind)
    return (extend_plan(plan, added) if added else plan), names


def narrow_plan(
    plan: LogicalPlan, computed: Sequence[Expression], others: Sequence[Expression], kind: str
) -> tuple[LogicalPlan, list[str]]:
    """Return a plan of the fields that expressions use, and the fields that `computed` are."""
    used = {name for tree in [*computed, *others] for name in list_names(tree)}
    kept = [field for field in plan.fields if field.name in used]
    known = [(tree, tree.value) for tree in computed if tree.op == "field"]
    added, names = name_trees(computed, known, [field.name for field in kept], kind)
    if added or (kept and len(kept) < len(plan.fields)):
        plain = [(field, Expression("field", field.type, (), field.name)) for field in kept]
        fields, trees = zip(*plain, *added, strict=True)
        plan = Project(plan, fields, trees, [*computed, *others][0].mark)
    return plan, names


def sort_bound(query: QueryText, node: exp.Expr, bound: BoundQuery | None) -> BoundQuery | None:
    """Return a query of set operations, or in brackets, cut off as ORDER BY and LIMIT say."""
    limit = read_limit(query, node)
    nodes = list_sort_nodes(query, node.args.get("order"))
    if nodes and not has_limit(node):
        refuse_rest(query, node, *(key for key in node.args if key != "order"))
        return None
    if bound is None or limit is None:
        return None if has_limit(node) else bound
    bound = settle_columns(bound)
    order: list[SortKey] = []
    for one in nodes:
        found = _find_columns(query, one.this, bound)
        if found is None:
            return None
        mark = query.locate(one)
        order += [make_sort_key(one, _refer(bound.columns[place].field, mark)) for place in found]
    keys = split_nulls(order)
    plan, names = add_hidden(bound.plan, [key.tree for key in keys], "order")
    pairs = [(name, key.descending) for name, key in zip(names, keys, strict=True)]
    return replace(bound, plan=drop_hidden(cut_rows(plan, (), pairs, limit), bound.plan.fields))


def _refer(field: Field, mark: SourceSpan) -> Expression:
    return Expression("field", field.type, (), field.name, mark)


def drop_hidden(plan: LogicalPlan, fields: Sequence[Field]) -> LogicalPlan:
    """Return a plan with these of its fields alone."""
    if len(plan.fields) == len(fields):
        return plan
    trees = tuple(_refer(field, plan.mark) for field in fields)
    return Project(plan, tuple(fields), trees, plan.mark)


def _find_columns(query: QueryText, node: exp.Expr, bound: BoundQuery) -> list[int] | None:
    """Return the columns that a part of ORDER BY means: a place, a name, or ALL of them."""
    if is_all(node):
        return list(range(len(bound.columns)))
    place = find_place(query, node, len(bound.columns))
    if place is not None:
        return [place] if place >= 0 else None
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier):
        refuse_rest(query, node, "this")
        found = find_named(node.name, bound.columns, lambda column: column.name)
        if len(found) == 1:
            return [bound.columns.index(found[0])]
        message = f"there are {len(found)} columns {node.name!r}" if found else ""
        message = message or f"the query has no column {node.name!r}"
        query.report("RT183" if found else "RT182", node, message, NUMBERED)
        return None
    hint = "put the query into FROM, and sort it there"
    message = "ORDER BY of a set operation takes columns of its result"
    query.report("RT181", node, message, hint)
    return None


def is_all(node: exp.Expr) -> bool:
    """Return whether ORDER BY ALL is meant."""
    return isinstance(node, exp.Var) and node.name.upper() == "ALL"


def find_place(query: QueryText, node: exp.Expr, count: int) -> int | None:
    """Return the index of a column that is given by its place, None if it is not.

    A place that no column has, and a constant, is noted: -1.
    """
    place = read_place(node)
    if place is not None and 1 <= place <= count:
        return place - 1
    if place is not None:
        message = f"ORDER BY {place}: the query has {count} columns"
        query.report("RT184", node, message, "write the column itself")
        return -1
    if isinstance(node, exp.Literal | exp.Placeholder | exp.Null | exp.Boolean):
        query.report("RT184", node, "ORDER BY a constant sorts nothing", NUMBERED)
        return -1
    return None


def read_place(node: exp.Expr) -> int | None:
    """Return the place that a key is, an integer, or None."""
    inner = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(inner, exp.Literal) or inner.args.get("is_string"):
        return None
    if not inner.this.isdigit() or len(inner.this) > 9:
        return None
    return -int(inner.this) if isinstance(node, exp.Neg) else int(inner.this)
