"""FROM: tables, subqueries and joins, as one plan and the columns that it shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from rtbot.core.errors import GraphError, suggest_name
from rtbot.expression.row_rules import make_call
from rtbot.operator.schema import Field
from rtbot.sql.joins import (
    KeyPair,
    extend_plan,
    make_join,
    name_pair,
    split_condition,
)
from rtbot.sql.naming import make_fresh
from rtbot.sql.nearest_rows import make_nearest, split_nearest
from rtbot.sql.refusals import refuse_rest
from rtbot.sql.scalars import ScalarBinder
from rtbot.sql.scope import Scope, VisibleColumn, find_named
from rtbot.sql.subqueries import has_operation, report_outer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.core.source_span import SourceSpan
    from rtbot.expression.tree import Expression
    from rtbot.sql.binding import QueryBinder
    from rtbot.sql.logical import LogicalPlan, Project

HOW = {
    ("", ""): "inner",
    ("", "INNER"): "inner",
    ("", "CROSS"): "cross",
    ("", "SEMI"): "semi",
    ("", "ANTI"): "anti",
    **{(side, kind): side.lower() for side in ("LEFT", "RIGHT", "FULL") for kind in ("", "OUTER")},
}
"""Kinds of joins by side and kind of sqlglot."""


@dataclass(frozen=True)
class Source:
    """What FROM gives: a plan, the columns that are seen, and the names of the tables."""

    plan: LogicalPlan
    columns: tuple[VisibleColumn, ...]
    tables: tuple[str, ...]


class FromBinder:
    """Binds FROM; what is wrong is noted.

    None is returned where a table is not known, or there twice. If a join is wrong it is `broken`:
    all pairs are returned, over which the rest is bound for what else is wrong.
    """

    def __init__(self, binder: QueryBinder, outer: Scope | None = None) -> None:
        self.binder, self.query, self.outer = binder, binder.query, outer
        self.broken = False

    def bind(self, node: exp.Expr, joins: Sequence[exp.Expr]) -> Source | None:
        """Bind tables and what they are joined with; a comma joins less tightly than JOIN."""
        chains: list[tuple[exp.Expr, list[exp.Expr]]] = [(node, [])]
        commas: list[exp.Expr] = []
        for before, join in zip([node, *joins], joins, strict=False):
            if self._is_comma(before, join):
                commas.append(join)
                chains.append((join.this, []))
            else:
                chains[-1][1].append(join)
        source = self._bind_chain(*chains[0])
        for comma, (first, rest) in zip(commas, chains[1:], strict=True):
            alone = any(map(_needs_chain, rest))
            other = self._bind_chain(first, rest if alone else ())
            if source is None or other is None:
                source = None
                continue
            source = self.cross(source, other, comma)
            if source is not None and not alone:
                source = self._join_all(source, rest)
        return source

    def _is_comma(self, before: exp.Expr, join: exp.Expr) -> bool:
        """Return whether a join is a comma: there is no JOIN between two sources."""
        if any(join.args.get(key) for key in ("side", "kind", "method", "on", "using")):
            return False
        return not self.query.has_between(before, join.this, "JOIN")

    def _bind_chain(self, node: exp.Expr, joins: Sequence[exp.Expr]) -> Source | None:
        """Bind a table and its joins, from left to right."""
        return self._join_all(self.bind_one(node), joins)

    def _join_all(self, source: Source | None, joins: Sequence[exp.Expr]) -> Source | None:
        for join in joins:
            other = self.bind_one(join.this)
            if source is None or other is None or not self._check_names(source, other, join):
                source = None
                continue
            joined = self.join(source, other, join)
            self.broken |= joined is None
            source = joined or self._pair_all(source, other, join)
        return source

    def _pair_all(self, left: Source, right: Source, node: exp.Expr) -> Source:
        """Return all pairs in place of a join that is wrong.

        Where the columns of both would be one, the left one is named.
        """
        how = HOW.get(("", str(node.args.get("kind") or "").upper()), "cross")
        how = how if how in ("semi", "anti") else "cross"
        plan = make_join((left.plan, right.plan), how, [], self.query.locate(node))
        pair = self._make_source(left, right, plan, how)
        if how != "cross" or node.args.get("on") is not None:
            return pair
        count = len(left.columns)
        names = {column.name.lower() for column in left.columns}
        own = [replace(c, hidden=c.name.lower() in names) for c in pair.columns[count:]]
        return replace(pair, columns=(*pair.columns[:count], *own))

    def bind_one(self, node: exp.Expr) -> Source | None:
        """Bind a table, a subquery, or joins in brackets."""
        inner = node.this if isinstance(node, exp.Subquery) else None
        if isinstance(inner, exp.Table) and inner.args.get("joins"):
            refuse_rest(self.query, node, "this")
            joins = inner.args["joins"]
            inner.set("joins", None)
            return self.bind(inner, joins)
        bound = self.binder.bind_source(node)
        if bound is None:
            return None
        query, name = bound
        columns = tuple(replace(column, table=name) for column in query.columns)
        return Source(query.plan, columns, (name,))

    def cross(self, left: Source, right: Source, node: exp.Expr) -> Source | None:
        """Return all pairs of two sources that a comma separates."""
        refuse_rest(self.query, node, "this")
        if not self._check_names(left, right, node):
            return None
        plan = make_join((left.plan, right.plan), "cross", [], self.query.locate(node))
        return self._make_source(left, right, plan, "cross")

    def join(self, left: Source, right: Source, node: exp.Expr) -> Source | None:
        """Join two sources."""
        query = self.query
        if refuse_rest(query, node, "this", "side", "kind", "method", "on", "using"):
            return None
        how, method = self._find_how(node)
        natural, nearest = method == "NATURAL", method == "ASOF"
        shared = self._list_shared(left, right, node) if natural else None
        if how is None or shared == []:
            return None
        using = node.args.get("using") if shared is None else shared
        on = node.args.get("on")
        mark = query.locate(node, "JOIN")
        if (how == "cross" and (on is not None or using)) or (natural and on is not None):
            name = "NATURAL" if natural else "CROSS"
            query.report("RT180", node, f"{name} JOIN has no condition", "write JOIN", "JOIN")
            return None
        if how != "cross" and on is None and not using:
            hint = "write ON condition, USING (column) or CROSS JOIN"
            query.report("RT180", node, "this join has no condition", hint, "JOIN")
            return None
        try:
            if using:
                return self._join_using(left, right, how, using, mark, nearest=nearest)
            return self._join_on(left, right, how, on, mark, nearest=nearest)
        except GraphError as error:
            query.problems.add_all(error.problems)
            return None

    def _find_how(self, node: exp.Expr) -> tuple[str | None, str]:
        """Return which rows a join gives, and its method; None if it is not there."""
        method = str(node.args.get("method") or "").upper()
        side, kind = (str(node.args.get(key) or "").upper() for key in ("side", "kind"))
        how = HOW.get((side, kind))
        near = method == "ASOF" and how in ("inner", "left")
        if how is None or not (near or method in ("", "NATURAL")):
            name = " ".join(filter(None, (method, side, kind, "JOIN")))
            advice = "write ASOF JOIN, or ASOF LEFT JOIN" if method == "ASOF" else ""
            advice = advice or f"write {kind if kind in ('SEMI', 'ANTI') else ''} JOIN ... ON"
            advice = advice.replace("  ", " ")
            self.query.report("RT181", node, f"{name} is not supported", advice, method or "JOIN")
            return None, method
        return how, method

    def _check_names(self, left: Source, right: Source, node: exp.Expr) -> bool:
        for name in right.tables:
            if name and name in left.tables:
                hint = f"name one of them, as in {name} AS other"
                self.query.report("RT183", node.this, f"the table {name!r} is there twice", hint)
                return False
        return True

    def _list_shared(self, left: Source, right: Source, node: exp.Expr) -> list[str]:
        """Return the columns that both sides have, for NATURAL JOIN."""
        shown = Scope(left.columns, left.tables), Scope(right.columns, right.tables)
        found = [
            column.name
            for column in shown[0].list_columns("")
            if shown[1].find_columns(column.name, "")
        ]
        if not found:
            hint = "write JOIN ... ON"
            self.query.report("RT182", node, "NATURAL JOIN without a column of both", hint, "JOIN")
        return found

    # ---- the columns of a pair

    def _pair_columns(
        self, left: Source, right: Source, fields: Sequence[Field]
    ) -> list[tuple[VisibleColumn, ...]]:
        """Return the columns of both sides over the fields of a pair."""
        names = name_pair(left.plan, right.plan)
        own = [field.name for field in right.plan.fields]
        renamed = dict(zip(own, names[len(left.plan.fields) :], strict=True))
        types = {field.name: field for field in fields}
        return [
            tuple(replace(c, field=types.get(c.field.name, c.field)) for c in left.columns),
            tuple(
                replace(c, field=types.get(renamed[c.field.name], c.field)) for c in right.columns
            ),
        ]

    def _join_on(
        self,
        left: Source,
        right: Source,
        how: str,
        on: exp.Expr | None,
        mark: SourceSpan,
        *,
        nearest: bool,
    ) -> Source | None:
        sides = left.plan, right.plan
        if on is None:
            return self._make_source(left, right, make_join(sides, how, [], mark), how)
        given = zip(name_pair(*sides), [*sides[0].fields, *sides[1].fields], strict=True)
        pair = [Field(name, field.type) for name, field in given]
        lefts, rights = self._pair_columns(left, right, pair)
        tables = (*left.tables, *right.tables)
        scope = Scope((*lefts, *rights), tables, outer=self.outer)
        tree = ScalarBinder(self.query, scope, "ON").bind_condition(on)
        if tree is not None and has_operation(tree, "outer"):
            report_outer(self.query, tree)
            tree = None
        if tree is None:
            return None
        if nearest:
            plan = make_nearest(sides, how, *split_nearest(tree, *sides), mark)
            return self._make_source(left, right, plan, how)
        pairs, rest = split_condition(tree, *sides)
        if rest is not None and rest.op == "constant" and rest.value is True:
            rest = None
        return self._make_source(left, right, make_join(sides, how, pairs, mark, rest), how)

    def _make_source(self, left: Source, right: Source, plan: LogicalPlan, how: str) -> Source:
        if how in ("semi", "anti"):
            return replace(left, plan=plan)
        lefts, rights = self._pair_columns(left, right, plan.fields)
        return Source(plan, (*lefts, *rights), (*left.tables, *right.tables))

    # ---- USING

    def _join_using(
        self,
        left: Source,
        right: Source,
        how: str,
        using: Sequence[exp.Expr | str],
        mark: SourceSpan,
        *,
        nearest: bool,
    ) -> Source | None:
        """Join on columns of one name; the last one of ASOF JOIN is at or before the left one."""
        found = [self._find_using(left, right, node, mark) for node in using]
        keys = [pair for pair in found if pair is not None]
        if len(keys) < len(found):
            return None
        pairs = [KeyPair(one.refer(mark), other.refer(mark)) for one, other in keys]
        make = _join_nearest if nearest else make_join
        joined = self._make_source(
            left, right, make((left.plan, right.plan), how, pairs, mark), how
        )
        if how in ("semi", "anti"):
            return joined
        count = len(left.columns)
        columns = list(joined.columns)
        places = [
            (left.columns.index(one), count + right.columns.index(other)) for one, other in keys
        ]
        plan = joined.plan
        if how == "full":
            plan, merged = _merge_columns(plan, [(columns[a], columns[b]) for a, b in places], mark)
        else:
            merged = [columns[b if how == "right" else a].field for a, b in places]
        fronts = dict(zip((a for a, _ in places), merged, strict=True))
        hidden = {place for pair in places for place in pair}
        shown: list[VisibleColumn] = []
        for place, column in enumerate(columns):
            if place in fronts:
                shown.append(VisibleColumn(column.name, fronts[place]))
            shown.append(replace(column, hidden=column.hidden or place in hidden))
        return Source(plan, tuple(shown), joined.tables)

    def _find_using(
        self, left: Source, right: Source, node: exp.Expr | str, mark: SourceSpan
    ) -> tuple[VisibleColumn, VisibleColumn] | None:
        """Return the columns of a name in both sides; report one that is not there."""
        name = node if isinstance(node, str) else node.name
        at = mark if isinstance(node, str) else self.query.locate(node)
        sides = []
        for word, source in (("left", left), ("right", right)):
            shown = [c for c in source.columns if not c.hidden]
            found = find_named(name, shown, lambda column: column.name)
            if len(found) == 1:
                sides.append(found[0])
                continue
            names = [column.name for column in shown]
            hint = suggest_name(name, names) or "it has " + ", ".join(names[:20])
            message = f"the {word} side has no column {name!r}"
            if found:
                message = f"the {word} side has {len(found)} columns {name!r}"
                hint = "write ON with the table before the column"
            code = "RT183" if found else "RT182"
            self.query.problems.add(code, at, message, hint)
        return (sides[0], sides[1]) if len(sides) == 2 else None


def _needs_chain(join: exp.Expr) -> bool:
    """Return whether a join behind a comma differs from one with all that is before it."""
    padded = str(join.args.get("side") or "").upper() in ("RIGHT", "FULL")
    return padded or bool(join.args.get("using") or join.args.get("method"))


def _join_nearest(
    sides: tuple[LogicalPlan, LogicalPlan], how: str, pairs: Sequence[KeyPair], mark: SourceSpan
) -> LogicalPlan:
    """Return the join of USING whose last column is at or before the left one."""
    return make_nearest(sides, how, pairs[:-1], pairs[-1], ">=", mark)


def _merge_columns(
    plan: LogicalPlan, pairs: Sequence[tuple[VisibleColumn, VisibleColumn]], mark: SourceSpan
) -> tuple[Project, list[Field]]:
    """Return a plan with the first value that is not null of each pair of columns."""
    taken = [field.name for field in plan.fields]
    added: list[tuple[Field, Expression]] = []
    for one, other in pairs:
        tree = make_call("coalesce", [one.refer(mark), other.refer(mark)], mark)
        name = make_fresh(one.name, taken)
        taken.append(name)
        added.append((Field(name, tree.type), tree))
    return extend_plan(plan, added), [field for field, _ in added]
