"""Expressions: text to terms (`syntax`), terms to typed trees (`rules`, `tree`)."""

from rtbot.expression.formulas import cast_outputs, find_constant, type_formulas
from rtbot.expression.rules import infer_types, widen
from rtbot.expression.syntax import Term, parse_expression, without_place
from rtbot.expression.tree import Expression, Formula, format_expression

__all__ = [
    "Expression",
    "Formula",
    "Term",
    "cast_outputs",
    "find_constant",
    "format_expression",
    "infer_types",
    "parse_expression",
    "type_formulas",
    "widen",
    "without_place",
]
