"""Rules whose bodies are flat: arguments of atoms are simple, aggregates have variables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbot.datalog.language.clause_syntax import (
    AtomSyntax,
    CallTerm,
    CastTerm,
    NamedTerm,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rtbot.core.source_span import SourceSpan
    from rtbot.datalog.language.clause_syntax import TermSyntax

LOCAL = MADE = "#"
"""In names of variables: before the number of one that is local to an aggregate, and at the
beginning of one that the compiler made.
"""


@dataclass(frozen=True, slots=True)
class DraftNegation:
    """`!atom`."""

    atom: AtomSyntax


@dataclass(frozen=True, slots=True)
class DraftComparison:
    """A constraint between terms without aggregates."""

    operator: str
    left: TermSyntax
    right: TermSyntax
    negated: bool
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class DraftAggregate:
    """`target = how value : { body }`; `outer` are variables of the rule around it."""

    target: NamedTerm
    how: str
    value: TermSyntax | None
    body: tuple[DraftLiteral, ...]
    outer: tuple[str, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class DraftRange:
    """`target` is each number of a range in turn."""

    target: NamedTerm
    arguments: tuple[TermSyntax, ...]
    span: SourceSpan


DraftLiteral = AtomSyntax | DraftNegation | DraftComparison | DraftAggregate | DraftRange


@dataclass(frozen=True, slots=True)
class RuleDraft:
    """A rule with one head, or a fact without a body. Names of variables are unique in it."""

    head: AtomSyntax
    body: tuple[DraftLiteral, ...]
    text: str
    span: SourceSpan


def is_made(name: str) -> bool:
    """Return whether a variable is one that the compiler made."""
    return name.startswith(MADE)


def show_name(name: str) -> str:
    """Return the name of a variable as it was written; one that was not is like `_3`."""
    if is_made(name):
        return "_" + name[1:].partition(LOCAL)[0]
    return name.partition(LOCAL)[0]


def strip_cast(term: TermSyntax) -> TermSyntax:
    """Return a term without the type it is taken for."""
    while isinstance(term, CastTerm):
        term = term.term
    return term


def list_variables(term: TermSyntax | None) -> Iterator[NamedTerm]:
    """Yield the variables of a term, those of aggregates left out."""
    if isinstance(term, NamedTerm):
        yield term
    elif isinstance(term, CallTerm):
        for argument in term.arguments:
            yield from list_variables(argument)
    elif isinstance(term, CastTerm):
        yield from list_variables(term.term)


def list_own_variables(literal: DraftLiteral) -> Iterator[NamedTerm]:
    """Yield the variables of a literal; of an aggregate, its target only."""
    for term in list_terms(literal):
        yield from list_variables(term)


def list_terms(literal: DraftLiteral) -> tuple[TermSyntax, ...]:
    """Return the terms of a literal; of an aggregate, its target."""
    match literal:
        case AtomSyntax():
            return literal.arguments
        case DraftNegation():
            return literal.atom.arguments
        case DraftComparison():
            return literal.left, literal.right
        case DraftRange():
            return literal.target, *literal.arguments
        case DraftAggregate():
            return (literal.target,)


def walk_literals(literals: Iterable[DraftLiteral]) -> Iterator[DraftLiteral]:
    """Yield literals and those in the bodies of aggregates."""
    for literal in literals:
        yield literal
        if isinstance(literal, DraftAggregate):
            yield from walk_literals(literal.body)


def rename_term(term: TermSyntax, names: Mapping[str, str]) -> TermSyntax:
    """Return a term with other names of variables."""
    match term:
        case NamedTerm():
            return replace(term, name=names.get(term.name, term.name))
        case CallTerm():
            return replace(term, arguments=tuple(rename_term(a, names) for a in term.arguments))
        case CastTerm():
            return replace(term, term=rename_term(term.term, names))
    return term


def _rename_atom(atom: AtomSyntax, names: Mapping[str, str]) -> AtomSyntax:
    return replace(atom, arguments=tuple(rename_term(a, names) for a in atom.arguments))


def _rename_target(target: NamedTerm, names: Mapping[str, str]) -> NamedTerm:
    return replace(target, name=names.get(target.name, target.name))


def rename_literal(literal: DraftLiteral, names: Mapping[str, str]) -> DraftLiteral:
    """Return a literal with other names of variables."""
    match literal:
        case AtomSyntax():
            return _rename_atom(literal, names)
        case DraftNegation():
            return DraftNegation(_rename_atom(literal.atom, names))
        case DraftComparison():
            left, right = rename_term(literal.left, names), rename_term(literal.right, names)
            return replace(literal, left=left, right=right)
        case DraftRange():
            arguments = tuple(rename_term(a, names) for a in literal.arguments)
            return replace(
                literal, target=_rename_target(literal.target, names), arguments=arguments
            )
        case DraftAggregate():
            return rename_aggregate(literal, names)


def rename_aggregate(literal: DraftAggregate, names: Mapping[str, str]) -> DraftAggregate:
    """Return an aggregate with other names of variables."""
    return replace(
        literal,
        target=_rename_target(literal.target, names),
        value=None if literal.value is None else rename_term(literal.value, names),
        body=tuple(rename_literal(each, names) for each in literal.body),
        outer=tuple(names.get(name, name) for name in literal.outer),
    )
