"""What is odd in a program that is right: relations without use or rows, lonely variables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rtbot.datalog.language.clause_syntax import (
    AggregateTerm,
    AtomSyntax,
    CallTerm,
    CastTerm,
    ConstraintSyntax,
    JunctionSyntax,
    NamedTerm,
    NotSyntax,
)
from rtbot.datalog.language.rule_draft import DraftNegation, walk_literals
from rtbot.datalog.program import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rtbot.datalog.language.clause_syntax import BodySyntax, ClauseSyntax, TermSyntax
    from rtbot.datalog.language.program_text import ProgramText
    from rtbot.datalog.language.rule_draft import RuleDraft
    from rtbot.datalog.program import Relation


def warn_of_relations(
    source: ProgramText,
    relations: Mapping[str, Relation],
    rules: Iterable[RuleDraft],
    filled: set[str],
) -> None:
    """Note relations that nothing reads, and those that are read and have no rows.

    `filled` are relations that have facts.
    """
    read: set[str] = set()
    filled = set(filled)
    for rule in rules:
        filled.add(rule.head.relation)
        for literal in walk_literals(rule.body):
            if isinstance(literal, AtomSyntax):
                read.add(literal.relation)
            elif isinstance(literal, DraftNegation):
                read.add(literal.atom.relation)
    for name, relation in relations.items():
        if HIDDEN in name:
            continue
        if name not in read and not (relation.is_output or relation.prints_size):
            hint = f"write .output {name}, or leave it out"
            source.report_at("RT193", relation.span, f"nothing reads the relation {name}", hint)
        elif name in read and name not in filled and not relation.is_input:
            hint = f"write .input {name}, a fact or a rule"
            source.report_at("RT194", relation.span, f"the relation {name} has no rows", hint)


def warn_of_variables(source: ProgramText, clause: ClauseSyntax) -> None:
    """Note variables of a rule that occur once; those that begin with `_` are meant so."""
    if clause.body is None:
        return
    found = [v for head in clause.heads for v in _walk_terms(head.arguments)]
    found += _walk_body(clause.body)
    counts = Counter(variable.name for variable in found)
    for variable in found:
        if counts[variable.name] == 1 and not variable.name.startswith("_"):
            message = f"the variable {variable.name} occurs once"
            source.report_at("RT195", variable.span, message, "write _ if any value will do")


def _walk_body(body: BodySyntax) -> Iterator[NamedTerm]:
    match body:
        case AtomSyntax():
            yield from _walk_terms(body.arguments)
        case ConstraintSyntax():
            yield from _walk_terms((body.left, body.right))
        case NotSyntax():
            yield from _walk_body(body.body)
        case JunctionSyntax():
            for part in body.parts:
                yield from _walk_body(part)


def _walk_terms(terms: Iterable[TermSyntax]) -> Iterator[NamedTerm]:
    for term in terms:
        match term:
            case NamedTerm():
                yield term
            case CallTerm():
                yield from _walk_terms(term.arguments)
            case CastTerm():
                yield from _walk_terms((term.term,))
            case AggregateTerm():
                yield from _walk_terms(() if term.value is None else (term.value,))
                yield from _walk_body(term.body)
