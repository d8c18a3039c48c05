"""Binding of expressions: sqlglot's nodes become typed expressions over the fields of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import exp

from rtbot.core.errors import GraphError, graph_error, suggest_name
from rtbot.expression.row_rules import make_call, settle_null
from rtbot.expression.tree import Expression
from rtbot.operator import Type
from rtbot.sql.refusals import refuse_node, refuse_rest
from rtbot.sql.sql_functions import (
    AGGREGATES,
    BINARY,
    COMPARISONS,
    CONDITIONS,
    FUNCTIONS,
    HARMLESS,
    NAMES,
    SYNONYMS_OF_FUNCTIONS,
    TYPES,
    TYPES_INSTEAD,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbot.sql.aggregates import AggregateCalls
    from rtbot.sql.query_text import QueryText
    from rtbot.sql.scope import Scope

INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1


class ScalarBinder:
    """Binds the expressions of one clause.

    `calls` collects the aggregates of the clause; without it they are an error, which names the
    clause. What is wrong is noted in the problems of the query, and None is returned.
    """

    def __init__(
        self, query: QueryText, scope: Scope, clause: str, calls: AggregateCalls | None = None
    ) -> None:
        self.query, self.scope, self.clause, self.calls = query, scope, clause, calls
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
        if kind in BINARY:
            refuse_rest(self.query, node, "this", "expression", *HARMLESS.get(kind, ()))
            return self._binary(node)
        if kind in FUNCTIONS:
            return self._function(node)
        if kind in AGGREGATES or kind is exp.Filter:
            return self._aggregate(node)
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
        trees = [self.bind(node.this), self.bind(node.expression)]
        known = [tree for tree in trees if tree is not None]
        if len(known) < len(trees):
            return None
        return self._call(BINARY[type(node)], node, known)

    def _refuse(self, node: exp.Expr) -> None:
        """Report a node that is not known, or a function."""
        start, end = node.meta.get("start"), node.meta.get("end")
        name = self.query.text[start : end + 1] if start is not None and end is not None else ""
        known = type(node).__name__ in ("Rand", "Median", "GroupConcat", "First", "AnyValue")
        if isinstance(node, exp.Func) and name.isidentifier() and not known:
            self._unknown_function(node, name)
        else:
            refuse_node(self.query, node)

    def _unknown_function(self, node: exp.Expr, name: str) -> None:
        hint = suggest_name(name.lower(), NAMES) or "there are " + ", ".join(NAMES)
        self.query.report("RT131", node, f"unknown function {name!r}", hint)

    def _call(
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

    def _negate(self, tree: Expression | None) -> Expression | None:
        return None if tree is None else make_call("not", [tree], tree.mark)

    def _constant(self, node: exp.Expr, value: Any, kind: str) -> Expression:
        return Expression("constant", Type(kind, value is None), (), value, self.query.locate(node))

    # ---- columns and literals

    def _paren(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this")
        return self.bind(node.this)

    def _column(self, node: exp.Column) -> Expression | None:
        refused = refuse_rest(self.query, node, "this", "table")
        if isinstance(node.this, exp.Star):
            self.query.report("RT180", node, "* is a list of columns, not a value")
            return None
        if refused or not self.scope.check_table(self.query, node):
            return None
        found = self.scope.resolve(self.query, node)
        if isinstance(found, Expression):
            return found
        if node.name in self.expanding:
            hint = "a column of this name would have to be in the table"
            self.query.report("RT182", node, f"{node.name!r} is defined by itself", hint)
            return None
        if node.name not in self.expanded:
            self.expanding.append(node.name)
            self.expanded[node.name] = self.bind(found)
            self.expanding.pop()
        return self.expanded[node.name]

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
        name = str(node.this or "")
        if self.query.find_parameter is None or not name.isidentifier():
            self._refuse(node)
            return None
        first = next((t for t in self.query.tokens if self.query.is_parameter(t, name)), None)
        assert first is not None
        mark = self.query.mark(first.start - 1, first.end + 1)
        value = self.query.find_parameter(name, mark)
        kinds = {bool: "boolean", int: "integer", float: "number", str: "text"}
        if type(value) not in kinds:
            message = f"${name} is not one value, which a query takes"
            raise graph_error("RT133", mark, message)
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
        return self._call("neg", node, [inner])

    # ---- conditions

    def _inverse(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this")
        return self._call("not", node, [node.this])

    def _equal_or_both_null(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "expression")
        return self._negate(self._call("is_distinct", node, [node.this, node.expression]))

    def _is_something(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "expression")
        if isinstance(node.expression, exp.Null):
            return self._call("is_null", node, [node.this])
        if isinstance(node.expression, exp.Boolean):
            return self._negate(self._call("is_distinct", node, [node.this, node.expression]))
        self._refuse(node)
        return None

    def _between(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "low", "high")
        value = self.bind(node.this)
        bounds = [self.bind(node.args["low"]), self.bind(node.args["high"])]
        if value is None or bounds[0] is None or bounds[1] is None:
            return None
        low = self._call(">=", node, [value, bounds[0]])
        high = self._call("<=", node, [value, bounds[1]])
        return None if low is None or high is None else self._call("and", node, [low, high])

    def _one_of(self, node: exp.Expr) -> Expression | None:
        if refuse_rest(self.query, node, "this", "expressions"):
            return None
        return self._call("in", node, [node.this, *node.expressions])

    def _like(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "expression", "negate")
        tree = self._call("like", node, [node.this, node.expression])
        return self._negate(tree) if node.args.get("negate") else tree

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
                args.append(self._call_quietly("==", branch, [value, branch.this]))
            args.append(self.bind(branch.args["true"]))
        default = node.args.get("default")
        args.append(self._null(node) if default is None else self.bind(default))
        if (subject is not None and value is None) or None in args:
            return None
        return self._call("case", node, [arg for arg in args if arg is not None])

    def _call_quietly(
        self, op: str, node: exp.Expr, parts: Sequence[exp.Expr | Expression]
    ) -> Expression | None:
        """Apply an operation; return None if it is wrong, which is noted."""
        try:
            return self._call(op, node, parts)
        except GraphError as error:
            self.query.problems.add_all(error.problems)
            return None

    def _choice(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "true", "false")
        otherwise = node.args.get("false")
        last = self._null(node) if otherwise is None else otherwise
        return self._call("case", node, [node.this, node.args["true"], last])

    def _null_if(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "expression")
        value, other = self.bind(node.this), self.bind(node.expression)
        if value is None or other is None:
            return None
        equal = self._call("==", node, [value, other])
        return None if equal is None else self._call("case", node, [equal, self._null(node), value])

    def _cast(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "to")
        to = node.args["to"]
        name = str(getattr(to.this, "value", to.this)).upper()
        inside = [key for key, value in to.args.items() if value and key != "this"]
        value = self.bind(node.this)
        if name in TYPES and not inside:
            return None if value is None else self._call("cast", node, [value], TYPES[name])
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
        return self._call(op, node, parts)

    def _logarithm(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "expression")
        if node.expression is None:
            return self._call("log10", node, [node.this])
        if isinstance(node.this, exp.Literal) and node.this.this == "10":
            return self._call("log10", node, [node.expression])
        hint = "write ln(x) / ln(base)"
        self.query.report("RT181", node, "a logarithm of another base is not supported", hint)
        return None

    def _trim(self, node: exp.Expr) -> Expression | None:
        refused = refuse_rest(self.query, node, "this", "position")
        sides = {"": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}
        op = sides[str(node.args.get("position") or "")]
        return None if refused else self._call(op, node, [node.this])

    def _concatenate(self, node: exp.Expr) -> Expression | None:
        """Bind concat, which leaves nulls out, other than `||`."""
        refuse_rest(self.query, node, "expressions", "safe", "coalesce")
        trees = [self.bind(part) for part in node.expressions]
        if None in trees:
            return None
        empty = self._constant(node, "", "text")
        parts = [
            self._call("coalesce", node, [tree, empty]) if tree.type.nullable else tree
            for tree in trees
            if tree is not None
        ]
        return self._call("concat", node, [part for part in parts if part is not None])

    def _anonymous(self, node: exp.Expr) -> Expression | None:
        refuse_rest(self.query, node, "this", "expressions")
        name = str(node.this).lower()
        if name in SYNONYMS_OF_FUNCTIONS:
            return self._call(SYNONYMS_OF_FUNCTIONS[name], node, node.expressions)
        self._unknown_function(node, str(node.this))
        return None

    # ---- aggregates

    def _aggregate(self, node: exp.Expr) -> Expression | None:
        """Bind a call of an aggregate to a reference to its result."""
        if self.calls is None:
            hint = "a condition on groups goes into HAVING" if self.clause == "WHERE" else ""
            message = f"an aggregate is not allowed in {self.clause}"
            self.query.report("RT184", node, message, hint)
            return None
        return self.calls.bind(node, ScalarBinder(self.query, self.scope, "an aggregate"))

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
        exp.Log: _logarithm,
        exp.Trim: _trim,
        exp.Concat: _concatenate,
        exp.Anonymous: _anonymous,
    }
