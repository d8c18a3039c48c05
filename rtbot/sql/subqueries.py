"""Subqueries in expressions: IN, EXISTS and single values, as joins with the plan that reads them.

A condition of WHERE or HAVING that is such a subquery, or its opposite, is a semi or an anti join.
Anywhere else it is a value: a row of the subquery for every key, which a left join brings; until
that is made, an expression has the operation `subquery` in its place. What a subquery reads of the
outer query is `outer` in its expressions; it has to be compared by equality in its WHERE.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from sqlglot import exp

from rtbot.core.number_text import format_count
from rtbot.expression.row_rules import make_call, settle_null
from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.operator.schema import Field
from rtbot.sql.bound_query import BoundQuery
from rtbot.sql.joins import KeyPair, make_exclusion, make_join, split_equality
from rtbot.sql.logical import Computation, Group, Project, has_filter, is_single_row
from rtbot.sql.naming import make_fresh
from rtbot.sql.refusals import refuse_rest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rtbot.core.source_span import SourceSpan
    from rtbot.sql.binding import QueryBinder
    from rtbot.sql.logical import LogicalPlan
    from rtbot.sql.query_text import QueryText
    from rtbot.sql.scalars import ScalarBinder
    from rtbot.sql.scope import Scope

    Rewrite = Callable[[Expression], Expression | None]
    MakeValue = Callable[["Sequence[Mapping[str, Expression]]", Rewrite], Expression | None]

ROWS_NEEDED = "an aggregate without GROUP BY has one row, such as (SELECT max(x) FROM t)"


@dataclass(frozen=True)
class InnerRows:
    """The rows of a subquery: a plan, and which of its fields are the columns.

    `pairs` compare a value of the outer row (left) with a value of an inner one (right); `single`:
    there is one inner row for each outer one at most.
    """

    plan: LogicalPlan
    columns: tuple[Expression, ...]
    pairs: tuple[KeyPair, ...] = ()
    single: bool = False


class SubqueryTest(NamedTuple):
    """A condition on rows: there is a row of the subquery that is equal, or there is none.

    `value` is what NOT IN compares: nulls there make it unknown.
    """

    how: str
    plan: LogicalPlan
    pairs: tuple[KeyPair, ...]
    mark: SourceSpan
    value: KeyPair | None = None

    def apply(self, plan: LogicalPlan, rewrite: Rewrite) -> LogicalPlan | None:
        """Return the rows of a plan for which it is true."""
        pairs = rewrite_pairs(self.pairs, rewrite)
        if pairs is None:
            return None
        if self.value is None:
            return make_join((plan, self.plan), self.how, pairs, self.mark)
        value = rewrite_pairs([self.value], rewrite)
        if value is None:
            return None
        return make_exclusion((plan, self.plan), value[0], pairs, self.mark)


class Lookup(NamedTuple):
    """Rows that are joined with those of the outer query: one for every key at most."""

    plan: LogicalPlan
    pairs: tuple[KeyPair, ...]


class ValueSubquery(NamedTuple):
    """A subquery that is a value; `make` builds it of the fields of its lookups."""

    lookups: tuple[Lookup, ...]
    make: MakeValue
    mark: SourceSpan


class Subqueries:
    """The subqueries of one clause."""

    def __init__(self, binder: QueryBinder, scope: Scope) -> None:
        self.binder, self.query, self.scope = binder, binder.query, scope
        self.values: list[ValueSubquery] = []

    # ---- conditions

    def bind_test(self, node: exp.Expr, outer: ScalarBinder) -> SubqueryTest | Expression | None:
        """Return the test that a condition is, which is a subquery or its opposite.

        One that compares with a single value is an expression.
        """
        negated = False
        while isinstance(node, exp.Paren | exp.Not):
            negated ^= isinstance(node, exp.Not)
            node = node.this
        found = read_subquery(node)
        assert found is not None, "a subquery"
        value, inner, opposite = found
        negated ^= opposite
        mark = self.query.locate(node)
        if value is None:
            rows = self._bind_exists(node, inner)
            if rows is None:
                return None
            return SubqueryTest("anti" if negated else "semi", rows.plan, rows.pairs, mark)
        return self._bind_membership(node, value, inner, outer, negated=negated)

    def _bind_membership(
        self,
        node: exp.Expr,
        value: exp.Expr,
        inner: exp.Expr,
        outer: ScalarBinder,
        *,
        negated: bool,
    ) -> SubqueryTest | Expression | None:
        """Return the test that a value, or several in brackets, are in a subquery."""
        nodes = value.expressions if isinstance(value, exp.Tuple) else [value]
        trees = [self._bind_compared(one, outer) for one in nodes]
        rows = self._bind_rows(inner, len(nodes))
        known = [tree for tree in trees if tree is not None]
        if rows is None or len(known) < len(trees):
            return None
        mark = self.query.locate(node)
        if isinstance(rows, GroupedRows):
            equal = self._compare_value(rows, known[0], mark)
            return make_call("not", [equal], mark) if negated else equal
        values = [KeyPair(*pair) for pair in zip(known, rows.columns, strict=True)]
        for pair in values:
            check_comparison(pair, mark)
        if not negated:
            return SubqueryTest("semi", rows.plan, (*values, *rows.pairs), mark)
        if len(values) > 1 or any(pair.null_safe for pair in rows.pairs):
            hint = "NOT EXISTS (SELECT ... WHERE ...) compares any number of columns"
            self.query.report("RT181", node, "NOT IN of several columns is not supported", hint)
            return None
        return SubqueryTest("anti", rows.plan, rows.pairs, mark, values[0])

    def _bind_compared(self, node: exp.Expr, outer: ScalarBinder) -> Expression | None:
        """Bind what is compared with a subquery, which is of the query around that one."""
        tree = outer.bind(node)
        if tree is not None and has_operation(tree, "outer"):
            report_outer(self.query, tree)
            return None
        return tree

    def _bind_exists(self, node: exp.Expr, inner: exp.Expr) -> InnerRows | None:
        opened = self.binder.open_subquery(inner, self.scope)
        if opened is None:
            return None
        if isinstance(opened, InnerRows):
            return opened
        assert isinstance(opened, BoundQuery), "no value is wanted"
        mark = self.query.locate(node)
        one = Expression("constant", Type("integer"), (), 1, mark)
        plan = Project(opened.plan, (Field("row", Type("integer")),), (one,), mark)
        return InnerRows(plan, ())

    def _bind_rows(self, inner: exp.Expr, count: int) -> InnerRows | GroupedRows | None:
        """Bind a subquery that has `count` columns."""
        opened = self.binder.open_subquery(inner, self.scope, columns=True)
        if opened is None:
            return None
        rows = make_rows(opened) if isinstance(opened, BoundQuery) else opened
        given = 1 if isinstance(rows, GroupedRows) else len(rows.columns)
        if given != count:
            message = f"a subquery of {format_count(given, 'column')}, {count} are compared"
            hint = "select the column that is compared"
            self.query.report("RT185", inner, message, hint)
            return None
        return rows

    def _compare_value(self, rows: GroupedRows, tree: Expression, mark: SourceSpan) -> Expression:
        """Return whether a value is the one that a subquery has."""
        value = self._add(rows.make_value(mark), rows.tree.type)
        return make_call("==", [settle_null(tree, value.type.kind), value], mark)

    # ---- values

    def bind_value(self, node: exp.Expr, outer: ScalarBinder) -> Expression | None:
        """Return the place of a subquery in an expression; note what is wrong."""
        found = read_subquery(node)
        if found is None:
            assert isinstance(node, exp.Subquery)
            return self._bind_scalar(node)
        value, inner, opposite = found
        tree = (
            self._bind_existence(node, inner)
            if value is None
            else self._bind_containment(node, value, inner, outer)
        )
        return outer.negate(tree) if opposite else tree

    def _add(self, value: ValueSubquery, type_: Type) -> Expression:
        self.values.append(value)
        return Expression("subquery", type_, (), len(self.values) - 1, value.mark)

    def _bind_scalar(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "with_")
        opened = self.binder.open_subquery(node, self.scope, scalar=True)
        mark = self.query.locate(node)
        if opened is None:
            return None
        if isinstance(opened, GroupedRows):
            return self._add(opened.make_value(mark), opened.tree.type)
        if isinstance(opened, InnerRows) and opened.single and len(opened.columns) == 1:
            column = opened.columns[0]
            one = ValueSubquery(
                (Lookup(opened.plan, opened.pairs),), lambda f, _: f[0][column.value], mark
            )
            return self._add(one, Type(column.type.kind, nullable=True))
        if isinstance(opened, InnerRows) or not is_single_row(opened.plan):
            self.query.report("RT181", node, "this subquery may have several rows", ROWS_NEEDED)
            return None
        if len(opened.columns) != 1:
            message = f"a value is one column, the subquery has {len(opened.columns)}"
            self.query.report("RT185", node, message, "select one")
            return None
        field = opened.columns[0].field
        lookup = Lookup(opened.plan, ())
        value = ValueSubquery((lookup,), lambda fields, _: fields[0][field.name], mark)
        certain = isinstance(opened.plan, Group | Project) and not has_filter(opened.plan)
        type_ = Type(field.type.kind, field.type.nullable or not certain)
        return self._add(value, type_)

    def _bind_existence(self, node: exp.Expr, inner: exp.Expr) -> Expression | None:
        rows = self._bind_exists(node, inner)
        if rows is None:
            return None
        mark = self.query.locate(node)
        lookup, count = count_rows(rows, (), mark)
        zero = Expression("constant", Type("integer"), (), 0, mark)

        def make(fields: Sequence[Mapping[str, Expression]], _rewrite: Rewrite) -> Expression:
            counted = make_call("coalesce", [fields[0][count], zero], mark)
            return make_call(">", [counted, zero], mark)

        return self._add(ValueSubquery((lookup,), make, mark), Type("boolean"))

    def _bind_containment(
        self, node: exp.Expr, value: exp.Expr, inner: exp.Expr, outer: ScalarBinder
    ) -> Expression | None:
        """Bind IN where it is a part of an expression: null if nothing is known of a null."""
        tree = self._bind_compared(value, outer)
        rows = self._bind_rows(inner, 1)
        if tree is None or rows is None:
            return None
        mark = self.query.locate(node)
        if isinstance(rows, GroupedRows):
            return self._compare_value(rows, tree, mark)
        column = rows.columns[0]
        pair = KeyPair(settle_null(tree, column.type.kind), column)
        check_comparison(pair, mark)
        equal, matches = count_rows(rows, (pair,), mark)
        every, counted = count_rows(rows, (), mark, column)
        kind = Type("boolean", nullable=tree.type.nullable or column.type.nullable)

        def make(fields: Sequence[Mapping[str, Expression]], rewrite: Rewrite) -> Expression | None:
            own = rewrite(pair.left)
            if own is None:
                return None
            zero = Expression("constant", Type("integer"), (), 0, mark)
            found, total, known = (
                make_call("coalesce", [one, zero], mark)
                for one in (fields[0][matches], fields[1][counted], fields[1]["known"])
            )
            boolean = [
                Expression("constant", Type("boolean"), (), flag, mark) for flag in (True, False)
            ]
            unknown = Expression("constant", Type("boolean", nullable=True), (), None, mark)
            parts = [make_call("==", [total, zero], mark), boolean[1]]
            if own.type.nullable:
                parts += [make_call("is_null", [own], mark), unknown]
            parts += [make_call(">", [found, zero], mark), boolean[0]]
            if column.type.nullable:
                parts += [make_call("<", [known, total], mark), unknown]
            return make_call("case", [*parts, boolean[1]], mark)

        return self._add(ValueSubquery((equal, every), make, mark), kind)

    def attach(
        self, plan: LogicalPlan, rewrite: Rewrite
    ) -> tuple[LogicalPlan, list[Expression]] | None:
        """Return a plan with the fields of all values, and the values over it."""
        found = []
        for value in self.values:
            fields = []
            for lookup in value.lookups:
                pairs = rewrite_pairs(lookup.pairs, rewrite)
                if pairs is None:
                    return None
                how = "left" if pairs or has_filter(lookup.plan) else "cross"
                join = make_join((plan, lookup.plan), how, pairs, value.mark)
                brought = join.fields[len(join.left.fields) :]
                names = [field.name for field in lookup.plan.fields]
                fields.append(
                    {
                        name: Expression("field", field.type, (), field.name, value.mark)
                        for name, field in zip(names, brought, strict=False)
                    }
                )
                plan = join
            tree = value.make(fields, rewrite)
            if tree is None:
                return None
            found.append(tree)
        return plan, found


class GroupedRows(NamedTuple):
    """A subquery of one aggregate value for every key: its groups, and the value over them.

    `results` are the fields of the groups by the number of an aggregate; `counts` those that are 0
    where there is no group.
    """

    plan: LogicalPlan
    pairs: tuple[KeyPair, ...]
    tree: Expression
    results: tuple[str, ...]
    counts: frozenset[int]

    def make_value(self, mark: SourceSpan) -> ValueSubquery:
        """Return the value that the outer query has of it."""

        def fill(tree: Expression, fields: Mapping[str, Expression]) -> Expression:
            if tree.op != "aggregate":
                return replace(tree, args=tuple(fill(part, fields) for part in tree.args))
            field = fields[self.results[tree.value]]
            if tree.value not in self.counts:
                return field
            zero = Expression("constant", Type("integer"), (), 0, mark)
            return make_call("coalesce", [field, zero], mark)

        lookup = Lookup(self.plan, self.pairs)
        return ValueSubquery((lookup,), lambda fields, _: fill(self.tree, fields[0]), mark)


def read_subquery(node: exp.Expr) -> tuple[exp.Expr | None, exp.Expr, bool] | None:
    """Return what is compared (EXISTS: None), the subquery, and whether it is the opposite."""
    if isinstance(node, exp.Exists):
        return None, node.this, False
    if isinstance(node, exp.In) and node.args.get("query") is not None:
        return node.this, node.args["query"], False
    if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Any):
        return node.this, node.expression.this, False
    if isinstance(node, exp.NEQ) and isinstance(node.expression, exp.All):
        return node.this, node.expression.this, True
    return None


def narrow_rows(
    plan: LogicalPlan, columns: Sequence[Expression], pairs: Sequence[KeyPair]
) -> InnerRows:
    """Return the rows of a plan with nothing but columns and keys."""
    trees = [*columns, *(pair.right for pair in pairs)]
    names: list[str] = []
    for tree in trees:
        wanted = tree.value if tree.op == "field" else "value_1"
        names.append(make_fresh(wanted, names))
    fields = tuple(Field(name, tree.type) for name, tree in zip(names, trees, strict=True))
    mark = trees[0].mark
    made = [Expression("field", field.type, (), field.name, mark) for field in fields]
    keys = zip(pairs, made[len(columns) :], strict=True)
    below = Project(plan, fields, tuple(trees), mark)
    rows = tuple(made[: len(columns)])
    return InnerRows(below, rows, tuple(replace(pair, right=field) for pair, field in keys))


def make_rows(bound: BoundQuery) -> InnerRows:
    """Return the rows of a query that reads nothing of the outer one."""
    columns = [
        Expression("field", column.field.type, (), column.field.name) for column in bound.columns
    ]
    return InnerRows(bound.plan, tuple(columns))


def rewrite_pairs(pairs: Sequence[KeyPair], rewrite: Rewrite) -> list[KeyPair] | None:
    """Return keys whose left sides are over another plan; None if one is not there."""
    found = []
    for pair in pairs:
        left = rewrite(pair.left)
        if left is None:
            return None
        found.append(replace(pair, left=left))
    return found


def check_comparison(pair: KeyPair, mark: SourceSpan) -> None:
    """Raise GraphError where the two sides of a key do not compare."""
    make_call("==", [pair.left, pair.right], mark)


def count_rows(
    rows: InnerRows,
    more: Sequence[KeyPair],
    mark: SourceSpan,
    column: Expression | None = None,
) -> tuple[Lookup, str]:
    """Return how many inner rows each key has, and the name of the count.

    With `column` there is the count of its values, too, as `known`.
    """
    pairs = (*more, *rows.pairs)
    names = [f"key_{number}" for number in range(1, len(pairs) + 1)]
    trees = dict(zip(names, (pair.right for pair in pairs), strict=True))
    if column is not None or not trees:
        value = column or Expression("constant", Type("integer"), (), 1, mark)
        trees["value"] = settle_null(value, "integer")
    inner = tuple(Field(name, tree.type) for name, tree in trees.items())
    below = Project(rows.plan, inner, tuple(trees.values()), mark)
    computations = [Computation("matches", "count", False, None)]
    if column is not None:
        argument = Expression("field", trees["value"].type, (), "value")
        computations.append(Computation("known", "count", False, argument))
    fields = (
        *inner[: len(names)],
        *(Field(one.name, Type("integer")) for one in computations),
    )
    plan = Group(below, fields, tuple(names), tuple(computations), mark)
    keys = [
        replace(pair, right=Expression("field", tree.type, (), name, mark))
        for pair, (name, tree) in zip(pairs, trees.items(), strict=False)
    ]
    return Lookup(plan, tuple(keys)), "matches"


def fill_subqueries(tree: Expression, values: Sequence[Expression]) -> Expression:
    """Return an expression with the values of its subqueries."""
    if tree.op == "subquery":
        place: int = tree.value
        return values[place]
    return replace(tree, args=tuple(fill_subqueries(part, values) for part in tree.args))


def has_operation(tree: Expression, op: str) -> bool:
    """Return whether an operation is in an expression."""
    return tree.op == op or any(has_operation(part, op) for part in tree.args)


def split_correlation(query: QueryText, tree: Expression) -> KeyPair | None:
    """Return the key that a condition with columns of the outer query is; report another one."""
    found = split_equality(tree)
    if found is not None:
        for one, other in (found[:2], found[1::-1]):
            own = has_operation(one, "field")
            if not own and not has_operation(other, "outer") and has_operation(other, "field"):
                return KeyPair(_open_outer(one), other, found[2])
    report_outer(query, tree)
    return None


def report_outer(query: QueryText, tree: Expression) -> None:
    """Note that a column of the outer query is used otherwise than in an equality."""
    hint = "a subquery compares columns of the outer query by = in its WHERE, joined by AND"
    message = "a column of the outer query in a subquery is not supported here"
    query.problems.add("RT181", _find_outer(tree).mark, message, hint)


def _find_outer(tree: Expression) -> Expression:
    inside = [part for part in tree.args if has_operation(part, "outer")]
    return _find_outer(inside[0]) if inside else tree


def _open_outer(tree: Expression) -> Expression:
    if tree.op == "outer":
        return replace(tree, op="field")
    return replace(tree, args=tuple(map(_open_outer, tree.args)))
