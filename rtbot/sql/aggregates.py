"""The aggregates that a query computes over its groups, each of them once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from rtbot.expression.row_rules import make_call, settle_null
from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.operators.groups import find_aggregate_type
from rtbot.sql.naming import make_key
from rtbot.sql.ordered_aggregates import ORDERED, OrderedAggregates
from rtbot.sql.refusals import refuse_node, refuse_rest
from rtbot.sql.sql_functions import AGGREGATES, IDEMPOTENT, NUMERIC_AGGREGATES

if TYPE_CHECKING:
    from rtbot.sql.ordered_aggregates import OrderedCall
    from rtbot.sql.query_text import QueryText
    from rtbot.sql.scalars import ScalarBinder

BOOLEAN_AGGREGATES = ("bool_and", "bool_or")


@dataclass(frozen=True)
class AggregateCall:
    """A function over the values of an argument, or without one over the rows, and its type."""

    function: str
    distinct: bool
    argument: Expression | None
    type: Type
    more: tuple[Expression, ...] = ()

    @property
    def arguments(self) -> tuple[Expression, ...]:
        """All arguments."""
        return () if self.argument is None else (self.argument, *self.more)


class AggregateCalls:
    """Collects the aggregates of a query; `grouped`: whether it has keys."""

    def __init__(self, query: QueryText, *, grouped: bool) -> None:
        self.query, self.grouped = query, grouped
        self.calls: list[AggregateCall] = []
        self.places: dict[Any, int] = {}

    def bind(self, node: exp.Expr, inner: ScalarBinder) -> Expression | None:
        """Bind a call, with `inner` its argument; return a reference by its place in `calls`."""
        condition: exp.Expr | None = None
        call = node
        if isinstance(node, exp.Filter):
            refuse_rest(self.query, node, "this", "expression")
            refuse_rest(self.query, node.expression, "this")
            call, condition = node.this, node.expression.this
            if type(call) not in AGGREGATES and type(call) not in ORDERED:
                refuse_node(self.query, node)
                return None
        if type(call) in ORDERED:
            found = OrderedAggregates(self.query, inner, condition).bind(call)
            return None if found is None else self._add_ordered(node, found)
        arguments, distinct = self.read_arguments(call)
        if arguments is None:
            return None
        typed = self.type_call(call, arguments, inner, condition)
        if typed is None:
            return None
        function, argument, type_ = typed
        distinct &= function not in IDEMPOTENT
        return self._add(AggregateCall(function, distinct, argument, type_), node)

    def _add_ordered(self, node: exp.Expr, found: OrderedCall) -> Expression:
        type_ = find_aggregate_type(found.function, found.argument.type, self.grouped)
        call = AggregateCall(found.function, found.distinct, found.argument, type_, found.more)
        return self._add(call, node)

    def _add(self, call: AggregateCall, node: exp.Expr) -> Expression:
        """Return a reference to a call, which is computed once."""
        key = (call.function, call.distinct, *map(make_key, call.arguments))
        if key not in self.places:
            self.places[key] = len(self.calls)
            self.calls.append(call)
        return Expression("aggregate", call.type, (), self.places[key], self.query.locate(node))

    def list_arguments(self) -> list[Expression]:
        """Return the arguments of all calls."""
        return [tree for call in self.calls for tree in call.arguments]

    def settle_groups(self) -> None:
        """Give the calls the types that they have over groups, which are never empty."""
        for place, call in enumerate(self.calls):
            argument = None if call.argument is None else call.argument.type
            type_ = find_aggregate_type(call.function, argument, grouped=True)
            self.calls[place] = replace(call, type=type_)

    def read_arguments(self, call: exp.Expr) -> tuple[list[exp.Expr] | None, bool]:
        """Return the arguments of a call, none for `count(*)`, and whether they are distinct."""
        function = AGGREGATES[type(call)]
        refused = refuse_rest(self.query, call, "this", "expressions", "big_int")
        first = call.args.get("this")
        distinct = isinstance(first, exp.Distinct)
        if distinct and first is not None:
            refused |= refuse_rest(self.query, first, "expressions")
            arguments = [*first.expressions, *call.expressions]
        else:
            arguments = [*([] if first is None else [first]), *call.expressions]
        if type(call) is exp.Count and not distinct and len(arguments) == 1:
            arguments = [] if isinstance(arguments[0], exp.Star) else arguments
            if isinstance(first, exp.Star):
                refused |= refuse_rest(self.query, first)
        least = 0 if type(call) is exp.Count and not distinct else 1
        if not least <= len(arguments) <= 1:
            message = f"{function} takes one argument, {len(arguments)} given"
            self.query.report("RT132", call, message)
            refused = True
        return None if refused else arguments, distinct

    def type_call(
        self,
        call: exp.Expr,
        arguments: list[exp.Expr],
        inner: ScalarBinder,
        condition: exp.Expr | None,
    ) -> tuple[str, Expression | None, Type] | None:
        """Return function, argument and type of a call; None if it is wrong, which is noted."""
        function = AGGREGATES[type(call)]
        mark = self.query.locate(call)
        counted_if = isinstance(call, exp.CountIf)
        bind = inner.bind_condition if counted_if else inner.bind
        argument = bind(arguments[0]) if arguments else None
        chosen = None if condition is None else inner.bind_condition(condition)
        if (arguments and argument is None) or (condition is not None and chosen is None):
            return None
        if argument is not None:
            kind = "boolean" if function in BOOLEAN_AGGREGATES else "integer"
            argument = settle_null(argument, kind)
        if argument is not None and not self._check_kind(call, function, argument.type.kind):
            return None
        if counted_if and argument is not None:
            chosen = argument if chosen is None else make_call("and", [chosen, argument], mark)
            argument = None
        if chosen is not None:
            counted = argument or Expression("constant", Type("integer"), (), 1, mark)
            nothing = Expression("constant", Type("null", nullable=True), (), None, mark)
            argument = make_call("case", [chosen, counted, nothing], mark)
        type_ = None if argument is None else argument.type
        return function, argument, find_aggregate_type(function, type_, self.grouped)

    def _check_kind(self, call: exp.Expr, function: str, kind: str) -> bool:
        wanted = ""
        if function in NUMERIC_AGGREGATES and kind not in ("integer", "number"):
            wanted = "numbers"
        elif function in BOOLEAN_AGGREGATES and kind != "boolean":
            wanted = "conditions"
        if wanted:
            hint = "bool_or(c) says whether any is true" if kind == "boolean" else ""
            message = f"{function} takes {wanted}, here is {kind}"
            self.query.report("RT133", call, message, hint)
        return not wanted
