"""Binding of expressions: sqlglot's nodes become typed expressions over the fields of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sqlglot import exp

from rtbot.core.errors import GraphError, graph_error, suggest_name
from rtbot.expression.row_rules import make_call, settle_null
from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.sql.composed import COMPOSED, join_texts
from rtbot.sql.ordered_aggregates import ORDERED
from rtbot.sql.refusals import FUNCTIONS_NOT_THERE, refuse_node, refuse_rest
from rtbot.sql.sql_functions import (
    AGGREGATES,
    ASSOCIATIVE,
    BINARY,
    COMPARISONS,
    CONDITIONS,
    FUNCTIONS,
    HARMLESS,
    NAMES,
    SUBQUERIES,
    SYNONYMS_OF_FUNCTIONS,
    TYPES,
    TYPES_INSTEAD,
)
from rtbot.sql.subqueries import read_subquery
from rtbot.sql.time_windows import bind_tumble
from rtbot.sql.window_calls import WINDOW_FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbot.sql.aggregates import AggregateCalls
    from rtbot.sql.query_text import QueryText
    from rtbot.sql.scope import Scope
    from rtbot.sql.subqueries import Subqueries
    from rtbot.sql.time_windows import HopWindows
    from rtbot.sql.window_calls import WindowCalls

INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1


class Collectors(NamedTuple):
    """Where calls of a clause go that are computed before it; without one, they are an error."""

    calls: AggregateCalls | None = None
    subqueries: Subqueries | None = None
    windows: WindowCalls | None = None
    hops: HopWindows | None = None


class ScalarBinder:
    """Binds the expressions of one clause.

    What is wrong is noted in the problems of the query, and None is returned.
    """

    def __init__(
        self,
        query: QueryText,
        scope: Scope,
        clause: str,
        collectors: Collectors | None = None,
    ) -> None:
        self.query, self.scope, self.clause = query, scope, clause
        self.calls, self.subqueries, self.windows, self.hops = collectors or Collectors()
        self.expanding: list[str] = []
        self.expanded: dict[str, Expression | None] = {}

    def bind(self, node: exp.Expr) -> Expression | None:
        """Bind a node and all its parts."""
        try:
            return self._bind(node)
        except GraphError as error:
            self.query.problems.add_all(error.problems)
            return None

    def bind_condition(self, node: exp.Expr) -> Expression | None:
        """Bind a node that is a condition."""
        tree = self.bind(node)
        if tree is not None and settle_null(tree, "boolean").type.kind != "boolean":
            message = f"{self.clause} takes a condition, this is {tree.type}"
            hint = "compare it, as in x > 0"
            self.query.report("RT133", node, message, hint)
            return None
        return None if tree is None else settle_null(tree, "boolean")

    def _bind(self, node: exp.Expr) -> Expression | None:
        kind: type[exp.Expr] = type(node)
        if self._is_chained(node):
            return None
        if kind in SUBQUERIES or read_subquery(node) is not None:
            return self._subquery(node)
        if kind in BINARY:
            return self._binary(node)
        if kind in COMPOSED:
            return COMPOSED[kind](self, node)
        if kind in FUNCTIONS:
            return self._function(node)
        if kind in AGGREGATES or kind in ORDERED or kind is exp.Filter:
            return self._aggregate(node)
        if kind is exp.Window or kind in WINDOW_FUNCTIONS:
            return self._window(node)
        handler = self._handlers.get(kind)
        if handler is not None:
            return handler(self, node)
        self._refuse(node)
        return None

    def _is_chained(self, node: exp.Expr) -> bool:
        """Report a condition of a condition without brackets, which reads in two ways."""
        if not isinstance(node, CONDITIONS) or isinstance(node, exp.Not):
            return False
        sides = [node.args.get(key) for key in ("this", "expression", "low", "high")]
        if not any(isinstance(side, CONDITIONS) for side in sides):
            return False
        if all(isinstance(each, COMPARISONS) for each in (node, *sides[:1])):
            hint = "compare two at a time: a < b AND b < c"
        else:
            hint = "put the inner condition in brackets"
        self.query.report("RT180", node, "a condition of a condition", hint)
        return True

    def _binary(self, node: exp.Expr) -> Expression | None:
        """Bind a chain of operations from its first operand on, however long it is."""
        chain = [node]
        while type(chain[-1].this) in BINARY and read_subquery(chain[-1].this) is None:
            chain.append(chain[-1].this)
            if self._is_chained(chain[-1]):
                return None
        tree = self.bind(chain[-1].this)
        operands, complete = [tree], tree is not None
        for place in range(len(chain) - 1, -1, -1):
            each = chain[place]
            op = BINARY[type(each)]
            refuse_rest(self.query, each, "this", "expression", *HARMLESS.get(type(each), ()))
            operands.append(self.bind(each.expression))
            if op in ASSOCIATIVE and place and type(chain[place - 1]) is type(each):
                continue
            known = [operand for operand in operands if operand is not None]
            complete &= len(known) == len(operands)
            tree = self._join(op, each, known) if complete else None
            operands, complete = [tree], complete and tree is not None
        return tree

    def _join(self, op: str, node: exp.Expr, operands: list[Expression]) -> Expression | None:
        """Apply an operation to its two operands, or one that is associative to any number."""
        if op == "concat":
            text: Expression | None = self.note(lambda: join_texts(self, node, operands))
            return text
        while len(operands) > 2:
            pairs = [operands[k : k + 2] for k in range(0, len(operands), 2)]
            joined = [
                pair[0] if len(pair) == 1 else self.apply_quietly(op, node, pair) for pair in pairs
            ]
            operands = [tree for tree in joined if tree is not None]
            if len(operands) < len(joined):
                return None
        return self.apply_quietly(op, node, operands)

    def _refuse(self, node: exp.Expr) -> None:
        """Report a node that is not known, or a function."""
        start, end = node.meta.get("start"), node.meta.get("end")
        name = self.query.text[start : end + 1] if start is not None and end is not None else ""
        known = type(node).__name__ in ("Rand", "AnyValue", "Quantile", "PercentileDisc")
        if isinstance(node, exp.Func) and name.isidentifier() and not known:
            self._unknown_function(node, name)
        else:
            refuse_node(self.query, node)

    def _unknown_function(self, node: exp.Expr, name: str) -> None:
        hint = FUNCTIONS_NOT_THERE.get(name.lower()) or suggest_name(name.lower(), NAMES)
        hint = hint or "there are " + ", ".join(NAMES)
        self.query.report("RT131", node, f"unknown function {name!r}", hint)

    def apply(
        self,
        op: str,
        node: exp.Expr,
        parts: Sequence[exp.Expr | Expression],
        cast_to: str | None = None,
    ) -> Expression | None:
        """Bind the parts and apply an operation to them."""
        args = [p if isinstance(p, Expression) else self.bind(p) for p in parts]
        trees = [tree for tree in args if tree is not None]
        if len(trees) < len(args):
            return None
        return self.query.check_size(make_call(op, trees, self.query.locate(node), cast_to))

    def negate(self, tree: Expression | None) -> Expression | None:
        """Return `not` of a condition."""
        return None if tree is None else make_call("not", [tree], tree.mark)

    def _constant(self, node: exp.Expr, value: Any, kind: str) -> Expression:
        return Expression("constant", Type(kind, value is None), (), value, self.query.locate(node))

    # ---- columns and literals

    def _subquery(self, node: exp.Expr) -> Expression | None:
        if self.subqueries is not None:
            return self.subqueries.bind_value(node, self)
        message = f"a subquery in {self.clause} is not supported"
        hint = "compute it in a query under WITH, and read that"
        self.query.report("RT181", node, message, hint)
        return None

    def _paren(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this")
        return self.bind(node.this)

    def _column(self, node: exp.Column) -> Expression | None:
        refused = refuse_rest(self.query, node, "this", "table")
        if isinstance(node.this, exp.Star):
            self.query.report("RT180", node, "* is a list of columns, not a value")
            return None
        table = self.scope.find_table(self.query, node)
        if refused or table is None:
            return None
        name, found = self.scope.resolve(self.query, node, table)
        if isinstance(found, Expression):
            return found
        if name in self.expanding:
            hint = "a column of this name would have to be in the table"
            self.query.report("RT182", node, f"{name!r} is defined by itself", hint)
            return None
        if name not in self.expanded:
            self.expanding.append(name)
            self.expanded[name] = self.bind(found)
            self.expanding.pop()
        return self.expanded[name]

    def _literal(self, node: exp.Expr) -> Expression:
        refuse_rest(self.query, node, "this", "is_string")
        if node.args.get("is_string"):
            return self._constant(node, node.this, "text")
        return self._number(node, node.this)

    def _number(self, node: exp.Expr, text: str) -> Expression:
        digits = text.replace("_", "")
        if digits.lstrip("-").isdigit():
            value = int(digits) if len(digits) < 40 else 1 << 64
            if not INT64_MIN <= value <= INT64_MAX:
                hint = "write it with a point for a number of type DOUBLE"
                mark = self.query.locate(node)
                raise graph_error("RT134", mark, "an integer beyond 64 bits", hint)
            return self._constant(node, value, "integer")
        try:
            number = float(digits)
        except ValueError:
            mark = self.query.locate(node)
            raise graph_error("RT180", mark, f"{text!r} is not a number") from None
        if abs(number) == float("inf"):
            mark = self.query.locate(node)
            raise graph_error("RT134", mark, "a number beyond the range of float64")
        return self._constant(node, number, "number")

    def _parameter(self, node: exp.Expr) -> Expression | None:
        """Bind `$name`, a value of the graph."""
        found = self.query.find_value(node)
        if found is None:
            self._refuse(node)
            return None
        value, mark = found
        kinds = {bool: "boolean", int: "integer", float: "number", str: "text"}
        return Expression("constant", Type(kinds[type(value)]), (), value, mark)

    def _boolean(self, node: exp.Expr) -> Expression:
        return self._constant(node, bool(node.this), "boolean")

    def _null(self, node: exp.Expr) -> Expression:
        return self._constant(node, None, "null")

    def _minus(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this")
        inner = node.this
        if isinstance(inner, exp.Literal) and not inner.args.get("is_string"):
            return self._number(inner, f"-{inner.this}")
        return self.apply("neg", node, [inner])

    # ---- conditions

    def _inverse(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this")
        return self.apply("not", node, [node.this])

    def _equal_or_both_null(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "expression")
        return self.negate(self.apply("is_distinct", node, [node.this, node.expression]))

    def _is_something(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "expression")
        if isinstance(node.expression, exp.Null):
            return self.apply("is_null", node, [node.this])
        if isinstance(node.expression, exp.Boolean):
            return self.negate(self.apply("is_distinct", node, [node.this, node.expression]))
        self._refuse(node)
        return None

    def _between(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "low", "high")
        value = self.bind(node.this)
        bounds = [self.bind(node.args["low"]), self.bind(node.args["high"])]
        if value is None or bounds[0] is None or bounds[1] is None:
            return None
        low = self.apply(">=", node, [value, bounds[0]])
        high = self.apply("<=", node, [value, bounds[1]])
        return None if low is None or high is None else self.apply("and", node, [low, high])

    def _one_of(self, node: exp.Expr) -> Expression | None:
        if refuse_rest(self.query, node, "this", "expressions"):
            return None
        if not node.expressions:
            hint = "write the values, as in x IN (1, 2)"
            self.query.report("RT180", node, "IN without values", hint)
            return None
        return self.apply("in", node, [node.this, *node.expressions])

    def _like(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "expression", "negate")
        tree = self.apply("like", node, [node.this, node.expression])
        return self.negate(tree) if node.args.get("negate") else tree

    # ---- choices, casts, functions

    def _case(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "ifs", "default")
        subject = node.args.get("this")
        value = self.bind(subject) if subject is not None else None
        args: list[Expression | None] = []
        for branch in node.args["ifs"]:
            refuse_rest(self.query, branch, "this", "true")
            if subject is None:
                args.append(self.bind(branch.this))
            elif value is not None:
                args.append(self.apply_quietly("==", branch, [value, branch.this]))
            args.append(self.bind(branch.args["true"]))
        default = node.args.get("default")
        args.append(self._null(node) if default is None else self.bind(default))
        if (subject is not None and value is None) or None in args:
            return None
        return self.apply("case", node, [arg for arg in args if arg is not None])

    def apply_quietly(
        self, op: str, node: exp.Expr, parts: Sequence[exp.Expr | Expression]
    ) -> Expression | None:
        """Apply an operation; return None if it is wrong, which is noted."""
        made: Expression | None = self.note(lambda: self.apply(op, node, parts))
        return made

    def note(self, make: Callable[[], Any]) -> Any:
        """Return what is made; None if it is wrong, which is noted."""
        try:
            return make()
        except GraphError as error:
            self.query.problems.add_all(error.problems)
            return None

    def _choice(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "true", "false")
        otherwise = node.args.get("false")
        last = self._null(node) if otherwise is None else otherwise
        return self.apply("case", node, [node.this, node.args["true"], last])

    def _null_if(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "expression")
        value, other = self.bind(node.this), self.bind(node.expression)
        if value is None or other is None:
            return None
        equal = self.apply("==", node, [value, other])
        return None if equal is None else self.apply("case", node, [equal, self._null(node), value])

    def _cast(self, node: exp.Expr) -> Expression | None:
        kind, value = self.find_kind(node), self.bind(node.this)
        if kind is None or value is None:
            return None
        return self.apply("cast", node, [value], kind)

    def find_kind(self, node: exp.Expr, *harmless: str) -> str | None:
        """Return the kind that a cast gives; report one that is not there."""
        refuse_rest(self.query, node, "this", "to", *harmless)
        to = node.args["to"]
        name = str(getattr(to.this, "value", to.this)).upper()
        inside = [key for key, value in to.args.items() if value and key != "this"]
        if name in TYPES and not inside:
            return TYPES[name]
        instead = TYPES_INSTEAD.get(name, "")
        hint = f"use {instead}" if instead else "there are BIGINT, DOUBLE, VARCHAR and BOOLEAN"
        self.query.report("RT181", node, f"the type {name} is not supported", hint)
        return None

    def _function(self, node: exp.Expr) -> Expression | None:
        op, keys = FUNCTIONS[type(node)]
        if refuse_rest(self.query, node, *keys, *HARMLESS.get(type(node), ())):
            return None
        parts: list[exp.Expr] = []
        for key in keys:
            value = node.args.get(key)
            parts += value if isinstance(value, list) else [value] if value is not None else []
        if not parts:
            self.query.report("RT132", node, f"{op} without arguments")
            return None
        return self.apply(op, node, parts)

    def _trim(self, node: exp.Expr) -> Expression | None:
        refused = refuse_rest(self.query, node, "this", "position")
        sides = {"": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}
        op = sides[str(node.args.get("position") or "")]
        return None if refused else self.apply(op, node, [node.this])

    def _anonymous(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "expressions")
        name = str(node.this).lower()
        if name in SYNONYMS_OF_FUNCTIONS:
            return self.apply(SYNONYMS_OF_FUNCTIONS[name], node, node.expressions)
        if name == "tumble":
            return bind_tumble(self, node, node.expressions)
        if name == "hop":
            return self._hop(node)
        self._unknown_function(node, str(node.this))
        return None

    # ---- aggregates and windows

    def _hop(self, node: exp.Expr) -> Expression | None:
        """Bind a hopping window to the field of its start."""
        if self.hops is None:
            hint = "compute it in a query under WITH, and read that"
            self.query.report("RT184", node, f"hop is not allowed in {self.clause}", hint)
            return None
        return self.hops.bind(self, node, node.expressions)

    def _aggregate(self, node: exp.Expr) -> Expression | None:
        """Bind a call of an aggregate to a reference to its result."""
        if self.calls is None:
            hint = "compute it in a query under WITH, and read that"
            hint = "a condition on groups goes into HAVING" if self.clause == "WHERE" else hint
            message = f"an aggregate is not allowed in {self.clause}"
            self.query.report("RT184", node, message, hint)
            return None
        return self.calls.bind(node, self.go_into("an aggregate", Collectors(hops=self.hops)))

    def go_into(self, clause: str, collectors: Collectors) -> ScalarBinder:
        """Return the binder of what is inside of something."""
        return ScalarBinder(self.query, self.scope, clause, collectors)

    def _window(self, node: exp.Expr) -> Expression | None:
        """Bind a window function to a reference to its value."""
        if not isinstance(node, exp.Window):
            message = f"{self.query.quote(node)} without OVER"
            hint = "write it with OVER (PARTITION BY ... ORDER BY ...)"
            self.query.report("RT180", node, message, hint)
            return None
        if self.windows is None:
            hint = "compute it in a query under WITH, and read that"
            late = self.clause in ("WHERE", "HAVING")
            hint = "a condition on it goes into QUALIFY" if late else hint
            message = f"a window function is not allowed in {self.clause}"
            self.query.report("RT184", node, message, hint)
            return None
        collectors = Collectors(self.calls, self.subqueries, None, self.hops)
        return self.windows.bind(node, self.go_into("a window function", collectors))

    _handlers: ClassVar[dict[type[exp.Expr], Callable[[ScalarBinder, Any], Expression | None]]] = {
        exp.Paren: _paren,
        exp.Column: _column,
        exp.Literal: _literal,
        exp.Boolean: _boolean,
        exp.Placeholder: _parameter,
        exp.Null: _null,
        exp.Neg: _minus,
        exp.Not: _inverse,
        exp.NullSafeEQ: _equal_or_both_null,
        exp.Is: _is_something,
        exp.Between: _between,
        exp.In: _one_of,
        exp.Like: _like,
        exp.Case: _case,
        exp.If: _choice,
        exp.Nullif: _null_if,
        exp.Cast: _cast,
        exp.Trim: _trim,
        exp.Anonymous: _anonymous,
    }
