"""From the terms of an expression over the fields of a row to typed trees."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from rtbot.core.errors import GraphError, Problems, graph_error, suggest_known_name
from rtbot.expression.formulas import find_constant
from rtbot.expression.row_rules import UNTYPED, make_call
from rtbot.expression.rules import INT64_MAX, INT64_MIN
from rtbot.expression.tree import Expression
from rtbot.operator import KINDS, Type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.core.source_span import SourceSpan
    from rtbot.expression.syntax import Place, Term
    from rtbot.operator.schema import Schema

FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("abs", "floor", "ceil", "round", "sign", "isnan"), (1, 1)),
    **dict.fromkeys(("sqrt", "exp", "ln", "log10"), (1, 1)),
    "power": (2, 2),
    **dict.fromkeys(("least", "greatest", "coalesce"), (2, 64)),
    "if": (3, 3),
    **dict.fromkeys(("upper", "lower", "trim", "ltrim", "rtrim", "length"), (1, 1)),
    "concat": (1, 64),
    "substring": (2, 3),
    "replace": (3, 3),
    **dict.fromkeys(("starts_with", "ends_with", "contains", "like"), (2, 2)),
}
"""Functions and how many arguments they take."""

AGGREGATES = (
    *("count", "sum", "avg", "min", "max"),
    *("stddev", "stddev_pop", "variance", "variance_pop", "bool_and", "bool_or"),
    *("median", "quantile", "first", "last", "string_agg"),
)
_AGGREGATE_ARGUMENTS = {
    "count": (0, 1),
    "quantile": (2, 2),
    **dict.fromkeys(("first", "last"), (2, 17)),
    "string_agg": (3, 18),
}
"""How many arguments aggregates take, where that is not one."""

_AGGREGATE_FORMS = {
    "quantile": "write quantile(x, 0.9)",
    "first": "write first(x, t), t being what the rows are sorted by",
    "last": "write last(x, t), t being what the rows are sorted by",
    "string_agg": "write string_agg(x, ', ', t), t being what the rows are sorted by",
}
_NUMERIC_AGGREGATES = (
    *("sum", "avg", "stddev", "stddev_pop", "variance", "variance_pop", "median", "quantile"),
)
_OTHER_NAMES = {
    "log": "ln is the natural logarithm, log10 that to base 10",
    "pow": "write power(a, b) or a ** b",
    "mod": "write a % b",
    "min": "write least(a, b); min of a group is an aggregate of GroupBy",
    "max": "write greatest(a, b); max of a group is an aggregate of GroupBy",
    "substr": "write substring(x, start, length)",
    "len": "write length(x)",
    "strip": "write trim(x)",
    "ucase": "write upper(x)",
    "lcase": "write lower(x)",
    "startswith": "write starts_with(x, 'a')",
    "endswith": "write ends_with(x, 'a')",
    "ifnull": "write coalesce(a, b)",
    "nvl": "write coalesce(a, b)",
    "nullif": "write case when a != b then a end",
    "isnull": "write x is null",
    "mean": "write avg(x)",
    **dict.fromkeys(("percentile", "quantile_cont"), "write quantile(x, 0.9)"),
    **dict.fromkeys(("std", "stdev", "stddev_samp"), "write stddev(x)"),
    **dict.fromkeys(("var", "var_samp"), "write variance(x)"),
}
_TYPES = {
    **dict.fromkeys(("int", "bigint", "int64", "long"), "integer"),
    **dict.fromkeys(("double", "float", "float64", "real", "decimal", "numeric"), "number"),
    **dict.fromkeys(("varchar", "string", "str", "char"), "text"),
    "bool": "boolean",
}
"""What types are called elsewhere."""


class Aggregate(NamedTuple):
    """A typed aggregate: its name, whether of distinct values, its arguments (`count()`: none)."""

    function: str
    distinct: bool
    arguments: tuple[Expression, ...]


def type_row_expression(
    term: Term, schema: Schema, problems: Problems, place: Place, values: Mapping[str, Any]
) -> Expression | None:
    """Type a tree over the fields of a schema; `values` has the parameters that it may name.

    Returns None if a part is wrong; each wrong part is noted once. A parameter that is not in
    `values` is taken for noted.
    """
    return RowTyper(schema, problems, place, values).type_all(term)


def type_aggregate(
    term: Term, schema: Schema, problems: Problems, place: Place, values: Mapping[str, Any]
) -> Aggregate | None:
    """Type an aggregate such as `sum(x)`. Returns None if a part is wrong."""
    return RowTyper(schema, problems, place, values).type_aggregate(term)


class RowTyper:
    """Types terms over the fields of a schema; what is wrong goes to `problems`."""

    def __init__(
        self, schema: Schema, problems: Problems, place: Place, values: Mapping[str, Any]
    ) -> None:
        self.schema = schema
        self.problems = problems
        self.place = place
        self.values = values

    def type_all(self, term: Term) -> Expression | None:
        """Type a whole expression; None if a part is wrong."""
        tree = self.infer(term)
        if tree is not None and tree.type.kind == UNTYPED:
            hint = "write cast(null as integer), or another type"
            message = "the type of this null is not known"
            self.problems.add_all(self.make_error(term, message, hint).problems)
            return None
        return tree

    def type_aggregate(self, term: Term) -> Aggregate | None:
        """Type an aggregate, as the function of this name does."""
        try:
            self.check_aggregate(term)
        except GraphError as error:
            self.problems.add_all(error.problems)
            return None
        if not term.args:
            return Aggregate(term.value, False, ())
        argument = term.args[0]
        distinct = argument.op == "distinct"
        tree = self.type_all(argument.args[0] if distinct else argument)
        others = self.type_others(term)
        if tree is None or None in others:
            return None
        wanted = "number" if term.value in _NUMERIC_AGGREGATES else ""
        wanted = "boolean" if term.value.startswith("bool_") else wanted
        wanted = "text" if term.value == "string_agg" else wanted
        kind = tree.type.kind
        if wanted and kind != wanted and (wanted, kind) != ("number", "integer"):
            hint = "compare it, as in x > 0" if wanted == "boolean" else ""
            hint = hint or ("cast(x as number) reads a text" if kind == "text" else "")
            message = f"{term.value} takes {wanted}s, here is {tree.type}"
            self.problems.add_all(self.make_error(term, message, hint).problems)
            return None
        distinct &= term.value not in ("min", "max")
        return Aggregate(term.value, distinct, (tree, *(one for one in others if one)))

    def type_others(self, term: Term) -> list[Expression | None]:
        """Type the arguments behind the first: a share, or a separator and sort keys."""
        others = term.args[1:]
        if term.value == "quantile":
            return [self.type_share(argument) for argument in others]
        if term.value == "string_agg":
            return [self.type_separator(others[0]), *map(self.type_sort_key, others[1:])]
        return [self.type_sort_key(argument) for argument in others]

    def type_separator(self, term: Term) -> Expression | None:
        """Type what is put between texts, a constant."""
        tree = self.type_all(term)
        if tree is None or (tree.op == "constant" and tree.type.kind == "text"):
            return tree
        hint = "write string_agg(x, ', ', t): between the texts, then what they are sorted by"
        error = self.make_error(term, "the separator is a constant text", hint)
        self.problems.add_all(error.problems)
        return None

    def type_sort_key(self, term: Term) -> Expression | None:
        """Type what rows are sorted by; `-x` is descending, of texts as well."""
        descends = term.op == "neg"
        tree = self.type_all(term.args[0] if descends else term)
        if tree is None or not descends:
            return tree
        return Expression("descending", tree.type, (tree,), None, self.mark(term))

    def type_share(self, term: Term) -> Expression | None:
        """Type the share of a quantile, a constant from 0 to 1."""
        tree = self.type_all(term)
        if tree is None:
            return None
        is_known = tree.op == "constant" and tree.type.kind in ("integer", "number")
        if is_known and 0 <= tree.value <= 1:
            return replace(tree, type=Type("number"), value=float(tree.value))
        message = "the share of a quantile is a constant from 0 to 1"
        hint = "the 90th percentile is quantile(x, 0.9)"
        self.problems.add_all(self.make_error(term, message, hint).problems)
        return None

    def check_aggregate(self, term: Term) -> None:
        """Raise GraphError unless a term is an aggregate with the right number of arguments."""
        if term.op != "call":
            hint = "write sum(x), or another of " + ", ".join(AGGREGATES)
            raise self.make_error(term, "an aggregate is expected here", hint)
        if term.value not in AGGREGATES:
            hint = _OTHER_NAMES.get(term.value) or suggest_known_name(term.value, AGGREGATES)
            hint = hint or f"there are {', '.join(AGGREGATES)}"
            if term.value in FUNCTIONS:
                hint = "compute of one row what is aggregated: sum(abs(x)); Select computes after"
            raise self.make_error(term, f"{term.value!r} is no aggregate", hint, "RT131")
        low, high = _AGGREGATE_ARGUMENTS.get(term.value, (1, 1))
        if not low <= len(term.args) <= high:
            wanted = f"{'' if low == high else 'at most '}{high} argument{'s'[high == 1 :]}"
            message = f"{term.value} takes {wanted}, {len(term.args)} given"
            hint = _AGGREGATE_FORMS.get(term.value, "")
            raise self.make_error(term, message, hint, "RT132")

    def infer(self, term: Term) -> Expression | None:
        """Type a part and all its parts, so that two wrong ones are noted together."""
        if term.op == "call" and term.value in AGGREGATES and term.value not in _OTHER_NAMES:
            hint = "that is an aggregate: GroupBy computes it"
            error = self.make_error(term, f"unknown function {term.value!r}", hint, "RT131")
            self.problems.add_all(error.problems)
            return None
        args = [self.infer(argument) for argument in term.args]
        try:
            if term.op == "name":
                return self.find_field(term)
            if term.op == "parameter":
                return self.find_parameter(term)
            if term.op == "constant":
                return self.make_constant(term, term.value)
            self.check(term)
            trees = [a for a in args if a is not None]
            if len(trees) < len(args):
                return None
            return self.operation(term, trees)
        except GraphError as error:
            self.problems.add_all(error.problems)
            return None

    def mark(self, term: Term) -> SourceSpan:
        """Return where a term is."""
        return self.place(term.offset, term.length)

    def make_error(
        self, term: Term, message: str, hint: str = "", code: str = "RT133"
    ) -> GraphError:
        """Return an error at a term."""
        return graph_error(code, self.mark(term), message, hint)

    def find_field(self, term: Term) -> Expression | None:
        """Return the field or the constant of a name."""
        name = term.value
        names = self.schema.names
        if name in names:
            type_ = self.schema.fields[self.schema.place(name)].type
            return Expression("field", type_, (), name, self.mark(term))
        if tree := find_constant(name):
            return tree
        if hint := self.problems.suggest_name(name, names):
            raise self.make_error(term, f"the rows have no field {name!r}", hint, "RT120")
        shown = ", ".join(names[:12]) + (" ..." if len(names) > 12 else "")
        hint = f"there {'are' if len(names) > 1 else 'is'} {shown}; a text is written '{name}'"
        raise self.make_error(term, f"the rows have no field {name!r}", hint, "RT120")

    def find_parameter(self, term: Term) -> Expression | None:
        """Return the constant that a parameter is, None if it is not known."""
        if term.value not in self.values:
            return None
        value = self.values[term.value]
        if not isinstance(value, bool | int | float | str):
            message = f"${term.value} is a list, which an expression cannot take"
            raise self.make_error(term, message, "numbers, integers, booleans and texts can")
        return self.make_constant(term, value)

    def make_constant(self, term: Term, value: Any) -> Expression:
        """Return the tree of a value of Python."""
        if value is None:
            return Expression("constant", Type(UNTYPED, nullable=True), (), None, self.mark(term))
        kind = {bool: "boolean", int: "integer", float: "number", str: "text"}[type(value)]
        if kind == "integer" and not INT64_MIN <= value <= INT64_MAX:
            raise self.make_error(term, "an integer beyond 64 bits", f"write {value}.0", "RT134")
        if kind == "number" and term.op == "constant" and not isfinite(value):
            raise self.make_error(term, "a number beyond the range of float64", "", "RT134")
        return Expression("constant", Type(kind), (), value, self.mark(term))

    def check(self, term: Term) -> None:
        """Raise GraphError if an operation is none of a row, or has other arguments."""
        if term.op == "distinct":
            hint = "write count(distinct x)"
            raise self.make_error(term, "distinct belongs to an aggregate", hint)
        if term.op in ("==", "!=") and any(_is_null(argument) for argument in term.args):
            hint = "write x is null" if term.op == "==" else "write x is not null"
            raise self.make_error(term, "a comparison with null is never true", hint)
        if term.op == "cast" and term.value not in KINDS:
            other = _TYPES.get(term.value.lower())
            hint = f"write {other}" if other else suggest_known_name(term.value, KINDS)
            hint = hint or f"there are {', '.join(KINDS)}"
            raise self.make_error(term, f"unknown type {term.value!r}", hint, "RT140")
        if term.op == "call":
            self.check_call(term)

    def check_call(self, term: Term) -> None:
        """Raise GraphError if a function is not known, or has other arguments."""
        name = term.value
        if name not in FUNCTIONS:
            hint = _OTHER_NAMES.get(name, "")
            hint = hint or suggest_known_name(name, FUNCTIONS)
            hint = hint or f"there are {', '.join(sorted(FUNCTIONS))}"
            raise self.make_error(term, f"unknown function {name!r}", hint, "RT131")
        low, high = FUNCTIONS[name]
        if not low <= len(term.args) <= high:
            wanted = str(low) if low == high else f"{low} to {high}"
            plural = "s" if wanted != "1" else ""
            message = f"{name} takes {wanted} argument{plural}, {len(term.args)} given"
            hint = "write if(condition, a, b)" if name == "if" else ""
            raise self.make_error(term, message, hint, "RT132")

    def operation(self, term: Term, args: Sequence[Expression]) -> Expression:
        """Return the tree of an operation."""
        op = term.value if term.op == "call" else term.op
        mark = self.mark(term)
        if op == "cast":
            return make_call("cast", args, mark, term.value)
        if op == "concat":
            empty = Expression("constant", Type("text"), (), "", mark)
            args = [
                make_call("coalesce", [arg, empty], mark) if arg.type.nullable else arg
                for arg in args
            ]
        names = {"if": "case", "||": "concat", "**": "power"}
        return make_call(names.get(op, op), args, mark)


def _is_null(term: Term) -> bool:
    return term.op == "constant" and term.value is None
