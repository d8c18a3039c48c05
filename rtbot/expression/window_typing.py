"""From the terms of window functions over the fields of a row to typed trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, Problems, suggest_known_name
from rtbot.expression.row_typing import RowTyper
from rtbot.expression.rules import INT64_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.expression.syntax import Place, Term
    from rtbot.expression.tree import Expression
    from rtbot.operator.schema import Schema

    Found = tuple[str, Expression | None, int, Any]

WINDOW_FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("number", "rank", "dense_rank"), (0, 0)),
    **dict.fromkeys(("lag", "lead"), (1, 3)),
    "count": (0, 1),
    **dict.fromkeys(("sum", "avg", "min", "max", "first", "last"), (1, 1)),
}
"""Window functions and how many arguments they take."""

_OTHER_NAMES = {
    "row_number": "write number()",
    "first_value": "write first(x)",
    "last_value": "write last(x)",
    "mean": "write avg(x)",
    "shift": "write lag(x, 1), or lead(x, 1)",
}


def type_window_function(
    term: Term, schema: Schema, problems: Problems, place: Place, values: Mapping[str, Any]
) -> Found | None:
    """Type a window function such as `lag(x, 1, 0)`: its name, its argument, offset and default.

    number, rank, dense_rank and `count()` have no argument. The offset is 0 and the default None
    but for lag and lead. Returns None if a part is wrong, which is noted.
    """
    return _WindowTyper(schema, problems, place, values).type_window(term)


class _WindowTyper(RowTyper):
    def type_window(self, term: Term) -> Found | None:
        try:
            self.check_function(term)
        except GraphError as error:
            self.problems.add_all(error.problems)
            return None
        name = term.value
        if not term.args:
            return name, None, 0, None
        tree = self.type_all(term.args[0])
        if tree is None:
            return None
        try:
            if name in ("sum", "avg") and tree.type.kind not in ("integer", "number"):
                message = f"{name} takes numbers, here is {tree.type}"
                raise self.make_error(term, message)
            if name not in ("lag", "lead"):
                return name, tree, 0, None
            offset = self.find_offset(term.args[1]) if len(term.args) > 1 else 1
            default = self.find_default(term.args[2], tree) if len(term.args) > 2 else None
        except GraphError as error:
            self.problems.add_all(error.problems)
            return None
        return name, tree, offset, default

    def check_function(self, term: Term) -> None:
        """Raise GraphError unless a term is a window function with as many arguments."""
        if term.op != "call":
            hint = "write sum(x), or another of " + ", ".join(WINDOW_FUNCTIONS)
            raise self.make_error(term, "a window function is expected here", hint)
        if term.value not in WINDOW_FUNCTIONS:
            hint = _OTHER_NAMES.get(term.value, "")
            hint = hint or suggest_known_name(term.value, WINDOW_FUNCTIONS)
            hint = hint or f"there are {', '.join(WINDOW_FUNCTIONS)}"
            message = f"{term.value!r} is no window function"
            raise self.make_error(term, message, hint, "RT131")
        low, high = WINDOW_FUNCTIONS[term.value]
        if not low <= len(term.args) <= high:
            wanted = str(low) if low == high else f"{low} to {high}"
            plural = "" if wanted == "1" else "s"
            message = f"{term.value} takes {wanted} argument{plural}, {len(term.args)} given"
            raise self.make_error(term, message, code="RT132")

    def find_offset(self, term: Term) -> int:
        """Return the offset of lag or lead; raise GraphError unless it is an integer from 0."""
        value = self.find_value(term)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= INT64_MAX:
            hint = "lag(x, 1) is of the row before, lead(x, 1) of the one after"
            raise self.make_error(term, "how many rows is an integer from 0", hint)
        return value

    def find_default(self, term: Term, tree: Expression) -> Any:
        """Return the default of lag or lead; raise GraphError unless it is as the argument."""
        value = self.find_value(term)
        if value is None:
            return None
        kind = {bool: "boolean", int: "integer", float: "number", str: "text"}[type(value)]
        if (kind, tree.type.kind) == ("integer", "number"):
            return float(value)
        if kind != tree.type.kind:
            raise self.make_error(term, f"the default is {kind}, the values are {tree.type}")
        return value

    def find_value(self, term: Term) -> Any:
        """Return the value of a constant; raise GraphError if it is none."""
        negative = term.op == "neg"
        tree = self.infer(term.args[0] if negative else term)
        if tree is None:
            raise GraphError([])
        value = tree.value
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if tree.op != "constant" or (negative and not number):
            raise self.make_error(term, "a constant is expected here", "write a value, or $name")
        return -value if negative else value
