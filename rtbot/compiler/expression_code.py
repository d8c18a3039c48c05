"""From a typed expression to Python text: compiled by numba or run by Python, to the same bits.

An expression becomes up to three texts: its value, whether it is valid (not null), and whether it
is in its domain (no integer overflow). Flags that always hold are None, so that an ordinary
expression stays one readable line. Null in, null out; a fault counts only where its value is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbot.compiler.generated_text import format_constant
from rtbot.expression.tree import MIRRORED
from rtbot.numeric import expression_functions, ieee

if TYPE_CHECKING:
    from rtbot.expression import Expression

FunctionsByName = dict[str, Callable[..., Any]]

CHECKED: Mapping[str, Callable[..., Any]] = {
    "+": ieee.add_checked,
    "-": ieee.subtract_checked,
    "*": ieee.multiply_checked,
    "%": ieee.modulo_checked,
    "**": expression_functions.power_checked,
    "neg": expression_functions.negate_checked,
    "abs": expression_functions.absolute_checked,
}
NUMBER: Mapping[str, Callable[..., Any]] = {
    "/": ieee.divide,
    "%": ieee.modulo,
    "**": ieee.power,
    "sqrt": ieee.square_root,
    "exp": ieee.exponential,
    "log": ieee.logarithm,
    "log10": ieee.logarithm10,
    "sin": ieee.sine,
    "cos": ieee.cosine,
    "tan": ieee.tangent,
    "floor": ieee.floor_,
    "ceil": ieee.ceil_,
    "round": ieee.round_half_away,
    "sign": ieee.sign,
    "min": expression_functions.minimum,
    "max": expression_functions.maximum,
}
INTEGER: Mapping[str, Callable[..., Any]] = {
    "sign": expression_functions.sign_integer,
    "min": expression_functions.minimum_integer,
    "max": expression_functions.maximum_integer,
}
TOLERANCE_FUNCTIONS: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("close_to", "number"): expression_functions.close_to,
    ("close_to", "integer"): expression_functions.close_to_integer,
    ("far_from", "number"): expression_functions.far_from,
    ("far_from", "integer"): expression_functions.far_from_integer,
    ("within", "number"): expression_functions.within,
    ("within", "integer"): expression_functions.within_integer,
    ("within", "integer number"): expression_functions.within_mixed,
    ("beyond", "number"): expression_functions.beyond,
    ("beyond", "integer"): expression_functions.beyond_integer,
    ("beyond", "integer number"): expression_functions.beyond_mixed,
}
"""By what the first two of three arguments are."""
MIXED: Mapping[str, Callable[..., Any]] = {
    "<": expression_functions.less_mixed,
    "<=": expression_functions.at_most_mixed,
    ">": expression_functions.greater_mixed,
    ">=": expression_functions.at_least_mixed,
    "==": expression_functions.equal_mixed,
    "!=": expression_functions.unequal_mixed,
}
"""Comparisons of an integer with a number."""

TABLES = (CHECKED, NUMBER, INTEGER, TOLERANCE_FUNCTIONS, MIXED)
"""All tables of functions that the text of an expression may call."""

INFIX = {"+", "-", "*", "<", "<=", ">", ">=", "==", "!=", "and", "or"}
PREFIX = {
    "neg": "(-{})",
    "abs": "abs({})",
    "not": "(not {})",
    "widen": "float({})",
    "isnan": "({0} != {0})",
}
WHOLE = {"floor", "ceil", "round"}
"""They change no integer."""


@dataclass(frozen=True, slots=True)
class ExpressionCode:
    """Texts of a value and of its flags; a flag that is always true is None."""

    value: str
    valid: str | None = None
    fine: str | None = None


def join_flags(*flags: str | None) -> str | None:
    """Return the conjunction of flags."""
    named = list(dict.fromkeys(f for f in flags if f is not None))
    return " and ".join(named) if named else None


class ExpressionWriter:
    """Writes one expression after another; `lines` are the statements to put before its use."""

    def __init__(self, names: Mapping[str, ExpressionCode], prefix: str) -> None:
        self.names = names
        self.prefix = prefix
        self.lines: list[str] = []
        self.functions: FunctionsByName = {}
        self.temporaries = 0

    def write(self, tree: Expression) -> ExpressionCode:
        """Return the texts of the tree; helper functions used are noted in `functions`."""
        special = getattr(self, f"_{tree.op}", None)
        if special is not None:
            return special(tree)  # type: ignore[no-any-return]
        args = [self.write(a) for a in tree.args]
        valid, fine = join_flags(*(a.valid for a in args)), join_flags(*(a.fine for a in args))
        texts = [a.value for a in args]
        kinds = " ".join(dict.fromkeys(a.type.kind for a in tree.args[:2]))
        if (tree.op, kinds) in TOLERANCE_FUNCTIONS:
            return ExpressionCode(
                self._write_call(TOLERANCE_FUNCTIONS[tree.op, kinds], *texts), valid, fine
            )
        if tree.op in MIXED and kinds == "integer number":
            return ExpressionCode(self._write_call(MIXED[tree.op], *texts), valid, fine)
        if tree.op in MIXED and kinds == "number integer":
            return ExpressionCode(
                self._write_call(MIXED[MIRRORED[tree.op]], *reversed(texts)), valid, fine
            )
        integer = bool(tree.args) and tree.type.kind == "integer" == tree.args[0].type.kind
        if integer and tree.op in CHECKED:
            return self._write_checked(tree.op, texts, valid, fine)
        return ExpressionCode(self._write_operation(tree.op, texts, integer=integer), valid, fine)

    def _write_operation(self, op: str, texts: list[str], *, integer: bool) -> str:
        if op in INFIX:
            return f"({texts[0]} {op} {texts[1]})"
        if op in PREFIX:
            return PREFIX[op].format(texts[0])
        if op in WHOLE and integer:
            return texts[0]
        function = (INTEGER if integer else NUMBER)[op]
        text = texts[0]
        if len(texts) == 1:
            return self._write_call(function, text)
        for other in texts[1:]:
            text = self._write_call(function, text, other)
        return text

    def _write_call(self, function: Callable[..., Any], *texts: str) -> str:
        self.functions[function.__name__] = function
        return f"{function.__name__}({', '.join(texts)})"

    def _write_checked(
        self, op: str, texts: list[str], valid: str | None, fine: str | None
    ) -> ExpressionCode:
        value, ok = self._make_temporary(), self._make_temporary()
        self.lines.append(f"{ok}, {value} = {self._write_call(CHECKED[op], *texts)}")
        return ExpressionCode(value, valid, join_flags(fine, ok))

    def _make_temporary(self) -> str:
        self.temporaries += 1
        return f"{self.prefix}_{self.temporaries}"

    def _constant(self, tree: Expression) -> ExpressionCode:
        value = float(tree.value) if tree.type.kind == "number" else tree.value
        return ExpressionCode(format_constant(value))

    def _port(self, tree: Expression) -> ExpressionCode:
        return self.names[tree.value]

    def _value(self, tree: Expression) -> ExpressionCode:
        return self.names[tree.value]

    def _if(self, tree: Expression) -> ExpressionCode:
        choice, yes, no = (self.write(a) for a in tree.args)
        condition = f"({choice.value})"
        fine = self._select_flag(condition, yes.fine, no.fine)
        valid = self._select_flag(condition, yes.valid, no.valid)
        return ExpressionCode(
            f"({yes.value} if {condition} else {no.value})",
            join_flags(choice.valid, valid),
            join_flags(choice.fine, fine),
        )

    @staticmethod
    def _select_flag(condition: str, yes: str | None, no: str | None) -> str | None:
        if yes is None and no is None:
            return None
        return f"(({yes or 'True'}) if {condition} else ({no or 'True'}))"

    def _coalesce(self, tree: Expression) -> ExpressionCode:
        *firsts, last = (self.write(a) for a in tree.args)
        result = last
        for code in reversed(firsts):
            if code.valid is None:
                result = code
                continue
            fine = self._select_flag(code.valid, code.fine, result.fine)
            valid = None if result.valid is None else f"(({code.valid}) or ({result.valid}))"
            value = f"({code.value} if ({code.valid}) else {result.value})"
            result = ExpressionCode(value, valid, fine)
        return result

    def _present(self, tree: Expression) -> ExpressionCode:
        code = self.write(tree.args[0])
        return ExpressionCode("True" if code.valid is None else f"({code.valid})", None, None)
