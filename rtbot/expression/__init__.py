"""Expressions: text to terms (`syntax`), terms to typed trees (`rules`, `tree`)."""

from rtbot.expression.formulas import constant, fitted, operator_formulas
from rtbot.expression.rules import typed, widened
from rtbot.expression.syntax import Term, parse, without_place
from rtbot.expression.tree import Expression, Formula, rendered

__all__ = [
    "Expression",
    "Formula",
    "Term",
    "constant",
    "fitted",
    "operator_formulas",
    "parse",
    "rendered",
    "typed",
    "widened",
    "without_place",
]
