"""Aggregates of several arguments: quantiles, values by an order of the rows, joined texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from rtbot.expression.row_rules import make_call, settle_null
from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.sql.refusals import refuse_rest
from rtbot.sql.row_order import SortKey, list_sort_nodes, make_sort_key, split_nulls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.sql.query_text import QueryText
    from rtbot.sql.scalars import ScalarBinder

ORDERED: dict[type[exp.Expr], str] = {
    exp.First: "first",
    exp.Last: "last",
    exp.ArgMin: "first",
    exp.ArgMax: "first",
    exp.GroupConcat: "string_agg",
    exp.Median: "median",
    exp.PercentileCont: "quantile",
    exp.WithinGroup: "quantile",
}
"""Aggregates of this module, and what computes them."""


@dataclass(frozen=True)
class OrderedCall:
    """An aggregate with its argument and the further ones, as GroupBy has them."""

    function: str
    argument: Expression
    more: tuple[Expression, ...] = ()
    distinct: bool = False


class OrderedAggregates:
    """Binds the calls of one clause; `inner` binds arguments. What is wrong is noted."""

    def __init__(self, query: QueryText, inner: ScalarBinder, condition: exp.Expr | None) -> None:
        self.query, self.inner = query, inner
        self.condition = condition

    def bind(self, call: exp.Expr) -> OrderedCall | None:
        """Return what a call computes; None if it is wrong."""
        chosen = None if self.condition is None else self.inner.bind_condition(self.condition)
        if self.condition is not None and chosen is None:
            return None
        if isinstance(call, exp.WithinGroup | exp.PercentileCont | exp.Median):
            return self._bind_quantile(call, chosen)
        if isinstance(call, exp.GroupConcat):
            return self._bind_texts(call, chosen)
        if isinstance(call, exp.ArgMin | exp.ArgMax):
            return self._bind_extreme(call, chosen)
        return self._bind_end(call, chosen)

    def _choose(self, tree: Expression, chosen: Expression | None) -> Expression:
        """Return a value that is null where a row is left out."""
        if chosen is None:
            return tree
        nothing = Expression("constant", Type("null", nullable=True), (), None, tree.mark)
        return make_call("case", [chosen, tree, nothing], tree.mark)

    # ---- quantiles

    def _bind_quantile(self, call: exp.Expr, chosen: Expression | None) -> OrderedCall | None:
        node, at = call.this, call.args.get("expression")
        if isinstance(call, exp.WithinGroup):
            read = self._read_within(call)
            if read is None:
                return None
            node, at = read
        else:
            refuse_rest(self.query, call, "this", "expression")
        name = "median" if isinstance(call, exp.Median) else "quantile_cont"
        distinct = isinstance(node, exp.Distinct)
        if distinct:
            refuse_rest(self.query, node, "expressions")
            node, *rest = node.expressions
            at = rest[0] if rest else at
        if (at is None) != isinstance(call, exp.Median):
            message = f"{name} takes {'one argument' if at else 'a value and a part of 1'}"
            self.query.report("RT132", call, message, "write quantile_cont(x, 0.9)")
            return None
        part = None if at is None else self._read_part(at)
        value = self.inner.bind(node)
        if value is None or (at is not None and part is None):
            return None
        value = settle_null(value, "integer")
        if value.type.kind not in ("integer", "number"):
            message = f"{name} takes numbers, here is {value.type.kind}"
            self.query.report("RT133", call, message, "cast it, or take min or max")
            return None
        value = self._choose(value, chosen)
        if part is None:
            return OrderedCall("median", value, (), distinct)
        constant = Expression("constant", Type("number"), (), part, self.query.locate(call))
        return OrderedCall("quantile", value, (constant,), distinct)

    def _read_within(self, call: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
        """Return the value and the part of `percentile_cont(q) WITHIN GROUP (ORDER BY x)`."""
        refuse_rest(self.query, call, "this", "expression")
        if not isinstance(call.this, exp.PercentileCont):
            message = f"{self.query.quote(call.this)} WITHIN GROUP is not supported"
            self.query.report("RT181", call, message, "there is percentile_cont(q)")
            return None
        refuse_rest(self.query, call.this, "this")
        nodes = list_sort_nodes(self.query, call.expression)
        if len(nodes) != 1 or nodes[0].args.get("desc") or nodes[0].args.get("nulls_first"):
            message = "percentile_cont sorts by one column, ascending"
            self.query.report("RT181", call, message, "write quantile_cont(x, 1 - q) for DESC")
            return None
        return nodes[0].this, call.this.this

    def _read_part(self, node: exp.Expr) -> float | None:
        tree = self.inner.bind(node)
        if tree is None:
            return None
        value = tree.value if tree.op == "constant" else None
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        if numeric and value is not None and 0 <= value <= 1:
            return float(value)
        hint = "write quantile_cont(x, 0.9)"
        self.query.report("RT133", node, "a quantile is a constant from 0 to 1", hint)
        return None

    # ---- by an order

    def _read_order(self, call: exp.Expr, form: str) -> tuple[exp.Expr, list[SortKey]] | None:
        """Return the argument of a call, and the keys of its ORDER BY; there has to be one."""
        node = call.this
        if isinstance(node, exp.Distinct):
            hint = "select DISTINCT rows in a query before it"
            self.query.report("RT181", call, "DISTINCT with an order is not supported", hint)
            return None
        if not isinstance(node, exp.Order):
            name = self.query.quote(call).split("(")[0].lower()
            hint = f"rows have no order of their own: write {form}"
            self.query.report("RT181", call, f"{name} without ORDER BY is not supported", hint)
            return None
        nodes = list_sort_nodes(self.query, node)
        trees = [self.inner.bind(one.this) for one in nodes]
        pairs = zip(nodes, trees, strict=True)
        keys = [make_sort_key(one, tree) for one, tree in pairs if tree is not None]
        return (node.this, split_nulls(keys)) if len(keys) == len(trees) else None

    def _bind_end(self, call: exp.Expr, chosen: Expression | None) -> OrderedCall | None:
        """Bind `first(x ORDER BY t)` and last: the value of that row, which may be null."""
        name = ORDERED[type(call)]
        refuse_rest(self.query, call, "this")
        read = self._read_order(call, f"{name}(x ORDER BY t)")
        value = None if read is None else self.inner.bind(read[0])
        if read is None or value is None:
            return None
        value, keys = self._choose(settle_null(value, "integer"), chosen), read[1]
        if chosen is not None:
            yes = Expression("constant", Type("boolean"), (), True, chosen.mark)
            left_out = make_call("is_distinct", [chosen, yes], chosen.mark)
            keys = [SortKey(left_out, descending=name == "last"), *keys]
        return self._make_end(name, value, keys)

    def _bind_extreme(self, call: exp.Expr, chosen: Expression | None) -> OrderedCall | None:
        """Bind `arg_min(x, y)` and arg_max: the first x by y of the rows that have both."""
        refuse_rest(self.query, call, "this", "expression")
        if isinstance(call.this, exp.Distinct | exp.Order) or call.expression is None:
            hint = "write arg_max(x, y), the x of the greatest y"
            self.query.report("RT181", call, "this form is not supported", hint)
            return None
        value, by = self.inner.bind(call.this), self.inner.bind(call.expression)
        if value is None or by is None:
            return None
        value = self._choose(settle_null(value, "integer"), chosen)
        by = settle_null(by, "integer")
        if by.type.nullable:
            missing = make_call("is_null", [by], by.mark)
            value = self._choose(value, make_call("not", [missing], by.mark))
        keys = [SortKey(by, descending=isinstance(call, exp.ArgMax))]
        if value.type.nullable:
            keys = [SortKey(make_call("is_null", [value], value.mark)), *keys]
        return self._make_end("first", value, split_nulls(keys))

    def _make_end(self, name: str, value: Expression, keys: Sequence[SortKey]) -> OrderedCall:
        """Return the value of the first or last row, of any that has one if nothing sorts them."""
        if not keys:
            return OrderedCall("min", value)
        return OrderedCall(name, value, order_arguments(keys))

    def _bind_texts(self, call: exp.Expr, chosen: Expression | None) -> OrderedCall | None:
        """Bind `string_agg(x, ', ' ORDER BY t)`."""
        refuse_rest(self.query, call, "this", "separator")
        read = self._read_order(call, "string_agg(x, ', ' ORDER BY x)")
        value = None if read is None else self.inner.bind(read[0])
        given = call.args.get("separator")
        mark = self.query.locate(call)
        separator = Expression("constant", Type("text"), (), ",", mark)
        if given is not None:
            found = self.inner.bind(given)
            if found is None:
                return None
            separator = found
        if read is None or value is None:
            return None
        if separator.op != "constant" or separator.type.kind != "text":
            hint = "write string_agg(x, ', ' ORDER BY x)"
            self.query.report("RT133", given or call, "the separator is a constant text", hint)
            return None
        value = settle_null(value, "text")
        if value.type.kind != "text":
            value = make_call("cast", [value], mark, "text")
        keys = order_arguments(read[1] or [SortKey(value)])
        return OrderedCall("string_agg", self._choose(value, chosen), (separator, *keys))


def order_arguments(keys: Sequence[SortKey]) -> tuple[Expression, ...]:
    """Return keys as arguments of an aggregate."""
    return tuple(
        Expression("descending", key.tree.type, (key.tree,), mark=key.tree.mark)
        if key.descending
        else key.tree
        for key in keys
    )
