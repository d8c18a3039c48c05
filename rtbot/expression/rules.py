"""Typing rules of expressions: which kinds go together, and what comes out.

Integer with integer stays integer (`/` and the functions of NUMBER give number); an integer beside
a number is widened, except where an operator's own formula compares the two, which is exact; null
in, null out, except for `coalesce` and `present`.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import GraphError, Problems, graph_error, suggest_name
from rtbot.core.hints import fold_word
from rtbot.expression.tree import Expression
from rtbot.operator import REGISTRY, Type, find_by_search_term

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rtbot.expression.syntax import Place, Term

    Scope = Callable[[Term], Expression | None]

NUMERIC = ("number", "integer")
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1
HINT_MAX = 10**25
SAME = {"abs", "floor", "ceil", "round", "sign"}
NUMBER = {"sqrt", "exp", "log"}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
INTERNAL_NUMBER = {"sin", "cos", "tan", "log10"}
ARGUMENTS = {
    **dict.fromkeys(SAME | NUMBER | {"isnan"}, (1, 1)),
    "if": (3, 3),
    **dict.fromkeys(("min", "max", "coalesce"), (2, 64)),
}
INTERNAL_ARGUMENTS = {
    **dict.fromkeys(INTERNAL_NUMBER | {"present"}, (1, 1)),
    **dict.fromkeys(("close_to", "far_from", "within", "beyond"), (3, 3)),
}

_SIGNS = {
    "pow": "write a ** b",
    "mod": "write a % b",
    "ln": "log is the natural logarithm",
}
"""What to write for functions that are operators here, or have another name."""


def _suggest_function(function: str, names: Sequence[str]) -> str:
    """Return what to write for an unknown function, or ""; `names` are the known ones."""
    *_, word = function.split(".")
    if word in names or word in _SIGNS:
        return _SIGNS.get(word) or suggest_name(word, names)
    name, settings = find_by_search_term(word)
    if not name:
        name = next((name for name in REGISTRY if fold_word(name) == fold_word(word)), "")
    if not name:
        return suggest_name(word, names)
    inside = ", ".join(filter(None, (name, "in: ...", settings)))
    return f"write an operator of its own: {{type: {inside}}}"


def infer_types(
    term: Term,
    scope: Scope,
    problems: Problems,
    place: Place,
    values: Mapping[str, Any],
    *,
    internal: bool = False,
) -> Expression | None:
    """Type the tree; `scope` resolves names and parameters, `values` has those parameters.

    Returns None if a part is wrong; each wrong part is noted once.
    """
    return _Typer(scope, problems, place, values, internal).infer(term)


def widen(tree: Expression, kind: str) -> Expression:
    """Return the tree as a number if `kind` asks for one and it is an integer."""
    if kind != "number" or tree.type.kind != "integer":
        return tree
    result = Type("number", tree.type.nullable)
    if tree.op == "constant":
        value = None if tree.value is None else float(tree.value)
        return replace(tree, type=result, value=value)
    return Expression("widen", result, (tree,), mark=tree.mark)


class _Typer:
    def __init__(
        self,
        scope: Scope,
        problems: Problems,
        place: Place,
        values: Mapping[str, Any],
        internal: bool,
    ) -> None:
        self.scope = scope
        self.problems = problems
        self.place = place
        self.values = values
        self.internal = internal
        self.arguments = ARGUMENTS | (INTERNAL_ARGUMENTS if internal else {})

    def infer(self, term: Term) -> Expression | None:
        """Type a part and all its parts, so that two wrong ones are noted together."""
        args = [self.infer(argument) for argument in term.args]
        try:
            if term.op in ("name", "parameter"):
                return self.scope(term)
            if term.op == "constant":
                return self.constant(term)
            if term.op == "call":
                self.check_call(term)
            trees = [a for a in args if a is not None]
            if len(trees) < len(args):
                return None
            return self.operation(term, term.value if term.op == "call" else term.op, trees)
        except GraphError as error:
            self.problems.add_all(error.problems)
            return None

    def make_error(
        self, term: Term, message: str, hint: str = "", code: str = "RT133"
    ) -> GraphError:
        return graph_error(code, self.place(term.offset, term.length), message, hint)

    def check_call(self, term: Term) -> None:
        if term.value not in self.arguments:
            names = sorted(self.arguments)
            hint = _suggest_function(term.value, names) or f"there are {', '.join(names)}"
            raise self.make_error(term, f"unknown function {term.value!r}", hint, "RT131")
        low, high = self.arguments[term.value]
        if not low <= len(term.args) <= high:
            wanted = str(low) if low == high else f"{low} to {high}"
            plural = "s" if wanted != "1" else ""
            message = f"{term.value} takes {wanted} argument{plural}, {len(term.args)} given"
            hint = "write if(condition, a, b)" if term.value == "if" else ""
            raise self.make_error(term, message, hint, "RT132")

    def constant(self, term: Term) -> Expression:
        value = term.value
        kind = {bool: "boolean", int: "integer", float: "number"}[type(value)]
        if kind == "integer" and not INT64_MIN <= value <= INT64_MAX:
            hint = f"write {value}.0 for a number" if abs(value) < HINT_MAX else ""
            raise self.make_error(term, "an integer beyond 64 bits", hint, "RT134")
        if kind == "number" and not isfinite(value):
            raise self.make_error(term, "a number beyond the range of float64", "", "RT134")
        return Expression("constant", Type(kind), (), value, self.place(term.offset, term.length))

    def operation(self, term: Term, op: str, args: list[Expression]) -> Expression:
        if op in ("and", "or", "not"):
            return self.all_of(term, op, args, "boolean", "boolean")
        if op in ("/", *NUMBER, *INTERNAL_NUMBER):
            return self.all_of(term, op, args, "number", "number")
        if op == "isnan":
            return self.all_of(term, op, args, "number", "boolean")
        if self.internal and op in COMPARISONS and _mixed(args):
            return self.build(term, op, args, "boolean")
        if op in ("<", "<=", ">", ">="):
            tree = self.numeric(term, op, args)
            return replace(tree, type=Type("boolean", tree.type.nullable))
        special: dict[str, Callable[..., Expression]] = {
            "**": self.power,
            "==": self.equality,
            "!=": self.equality,
            "if": self.choice,
            "coalesce": self.coalesce,
            "present": self.present,
            "close_to": self.apart,
            "far_from": self.apart,
            "within": self.distant,
            "beyond": self.distant,
        }
        return special.get(op, self.numeric)(term, op, args)

    def build(
        self,
        term: Term,
        op: str,
        args: list[Expression],
        kind: str,
        *,
        nullable: bool | None = None,
    ) -> Expression:
        if nullable is None:
            nullable = any(a.type.nullable for a in args)
        mark = self.place(term.offset, term.length)
        return Expression(op, Type(kind, nullable), tuple(args), mark=mark)

    def all_of(
        self, term: Term, op: str, args: list[Expression], kind: str, result: str
    ) -> Expression:
        """Return all operands as one kind, an integer widened if that is number."""
        allowed = NUMERIC if kind == "number" else (kind,)
        if any(a.type.kind not in allowed for a in args):
            raise self.mismatch(term, op, args, f"{kind}s")
        return self.build(term, op, [widen(a, kind) for a in args], result)

    def numeric(self, term: Term, op: str, args: list[Expression]) -> Expression:
        """Type numbers or integers; all integers stay integer."""
        if any(a.type.kind not in NUMERIC for a in args):
            raise self.mismatch(term, op, args, "numbers")
        kind = "number" if any(a.type.kind == "number" for a in args) else "integer"
        return self.build(term, op, [widen(a, kind) for a in args], kind)

    def power(self, term: Term, op: str, args: list[Expression]) -> Expression:
        """Type a power: of integers an integer only if the exponent is known not to be negative."""
        exponent = args[1]
        known = exponent.op in ("constant", "value") and exponent.type.kind == "integer"
        if known:
            value = exponent.value if exponent.op == "constant" else self.values[exponent.value]
            known = value >= 0
        if known and args[0].type.kind == "integer":
            return self.numeric(term, op, args)
        return self.all_of(term, op, args, "number", "number")

    def equality(self, term: Term, op: str, args: list[Expression]) -> Expression:
        return self.build(term, op, self.unify(term, op, args), "boolean")

    def choice(self, term: Term, op: str, args: list[Expression]) -> Expression:
        if args[0].type.kind != "boolean":
            message = f"the condition of if is a boolean, this one is {args[0].type}"
            raise self.make_error(term.args[0], message, "compare it, as in x > 0")
        unified = self.unify(term, op, args[1:])
        return self.build(term, op, [args[0], *unified], unified[0].type.kind)

    def coalesce(self, term: Term, op: str, args: list[Expression]) -> Expression:
        unified = self.unify(term, op, args)
        nullable = all(a.type.nullable for a in args)
        return self.build(term, op, unified, unified[0].type.kind, nullable=nullable)

    def present(self, term: Term, op: str, args: list[Expression]) -> Expression:
        return self.build(term, op, args, "boolean", nullable=False)

    def apart(self, term: Term, op: str, args: list[Expression]) -> Expression:
        """Type two of one kind and how far apart they may be."""
        pair = self.unify(term, op, args[:2])
        return self.build(term, op, [*pair, widen(args[2], "number")], "boolean")

    def distant(self, term: Term, op: str, args: list[Expression]) -> Expression:
        """Type as `apart` does, but an integer beside a number stays one, and comes first."""
        if not _mixed(args[:2]):
            return self.apart(term, op, args)
        pair = sorted(args[:2], key=lambda a: a.type.kind)
        return self.build(term, op, [*pair, widen(args[2], "number")], "boolean")

    def unify(self, term: Term, op: str, args: list[Expression]) -> list[Expression]:
        """Return the operands as one kind: all equal, or integers beside numbers."""
        kinds = {a.type.kind for a in args}
        if kinds <= set(NUMERIC):
            kind = "number" if "number" in kinds else "integer"
            return [widen(a, kind) for a in args]
        if len(kinds) > 1:
            raise self.mismatch(term, op, args, "one type")
        return args

    def mismatch(self, term: Term, op: str, args: list[Expression], wanted: str) -> GraphError:
        given = " and ".join(str(a.type) for a in args)
        hint = ""
        if wanted == "numbers" and any(a.type.kind == "boolean" for a in args):
            hint = "if(condition, 1, 0) makes a number of a boolean"
        if wanted == "booleans":
            hint = "compare it, as in x > 0"
        verb = "is" if len(args) == 1 else "are"
        shown = "-" if op == "neg" else op
        return self.make_error(term, f"`{shown}` takes {wanted}, here {verb} {given}", hint)


def _mixed(args: Sequence[Expression]) -> bool:
    """Return whether a number is beside an integer that is not constant: that is not widened."""
    kinds = {a.type.kind: a.op for a in args}
    return kinds.keys() == set(NUMERIC) and kinds["integer"] != "constant"
