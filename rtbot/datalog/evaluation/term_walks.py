"""What terms and literals read, and whether computing them may fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.datalog.program import (
    FLOAT,
    SYMBOL,
    Aggregate,
    Atom,
    Call,
    Comparison,
    Negation,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rtbot.datalog.program import Literal, Term

SAFE = {"min", "max", "strlen", "substr", "to_string"}
SAFE |= {"bnot", "lnot", "band", "bor", "bxor", "land", "lor", "lxor"}
"""Functors that have a value for all arguments."""

SAFE_OF_FLOATS = {"+", "-", "*", "/", "^", "neg", "to_float"}


def list_term_variables(term: Term | None) -> Iterator[int]:
    """Yield the variables of a term; there are none where any value will do."""
    if isinstance(term, Variable):
        yield term.index
    elif isinstance(term, Call):
        for argument in term.arguments:
            yield from list_term_variables(argument)


def list_literal_variables(literal: Literal) -> Iterator[int]:
    """Yield the variables of a literal; of an aggregate, its target and its group."""
    match literal:
        case Atom():
            terms: Iterable[Term | None] = literal.arguments
        case Negation():
            terms = literal.atom.arguments
        case Comparison():
            terms = (literal.left, literal.right)
        case Aggregate():
            terms = (literal.target, *literal.outer)
    for term in terms:
        yield from list_term_variables(term)


def may_fail(term: Term) -> bool:
    """Return whether there are arguments for which a term has no value."""
    if not isinstance(term, Call):
        return False
    safe = term.functor in SAFE or (term.type == FLOAT and term.functor in SAFE_OF_FLOATS)
    if term.functor == "to_float":
        safe = term_type(term.arguments[0]) != SYMBOL
    return not safe or any(map(may_fail, term.arguments))


def term_type(term: Term, types: tuple[str, ...] = ()) -> str:
    """Return the basic type of a term; types of variables are needed if it may be one."""
    if isinstance(term, Variable):
        return types[term.index] if types else SYMBOL
    return term.type
