"""Which variables get values: from atoms, from `=`, from aggregates, and which get none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.datalog.language.clause_syntax import AnyTerm, AtomSyntax, CallTerm, CastTerm, NamedTerm
from rtbot.datalog.language.rule_draft import (
    LOCAL,
    DraftAggregate,
    DraftComparison,
    DraftNegation,
    DraftRange,
    is_made,
    list_own_variables,
    list_terms,
    list_variables,
    rename_aggregate,
    rename_literal,
    rename_term,
    show_name,
    strip_cast,
    walk_literals,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from rtbot.datalog.language.clause_syntax import TermSyntax
    from rtbot.datalog.language.program_text import ProgramText
    from rtbot.datalog.language.rule_draft import DraftLiteral, RuleDraft


def ground_rule(source: ProgramText, rule: RuleDraft) -> RuleDraft:
    """Return a rule in which every variable has a value; notes variables that have none.

    A variable that only the body of a `min` or `max` grounds is a witness: of the rows that have
    the value. They are looked up by a copy of the body.
    """
    body = _add_witnesses(rule.body, rule.head)
    rule = replace(rule, body=body)
    grounded = find_grounded(body, frozenset())
    wildcard = next(_list_wildcards(rule.head.arguments), None)
    if wildcard is not None:
        hint = "write the value, or a variable of the body"
        source.report_at("RT508", wildcard.span, "a head has no wildcard", hint)
    _check_level(source, body, grounded, rule.head)
    return rule


def check_groups(
    source: ProgramText,
    rules: Iterable[RuleDraft],
    strata: Iterable[tuple[str, ...]],
    limited: Container[str],
) -> None:
    """Note aggregates whose group only relations of the rule's own stratum give values to.

    Only a stratum with a limit is refused, whose rounds such a group would have a part in.
    """
    inner_of = {n: names for names in strata if any(e in limited for e in names) for n in names}
    for rule in rules:
        inner = inner_of.get(rule.head.relation, ())
        own = [e for e in rule.body if isinstance(e, AtomSyntax) and e.relation in inner]
        aggregates = [each for each in rule.body if isinstance(each, DraftAggregate)]
        for literal in aggregates if own else ():
            others = find_grounded([each for each in rule.body if each not in own], frozenset())
            follows = find_grounded(rule.body, frozenset()).intersection(literal.outer)
            missing = follows - others - find_grounded(literal.body, frozenset())
            if missing:
                name = next(show_name(each) for each in literal.outer if each in missing)
                _report_unknown_group(source, literal, name, own[0].relation, rule)


def _report_unknown_group(
    source: ProgramText, literal: DraftAggregate, name: str, relation: str, rule: RuleDraft
) -> None:
    message = f"{name} of this {literal.how} has its values from {relation} only"
    if relation != rule.head.relation:
        message += f", which depends on {rule.head.relation}"
    message += ", and the recursion has a .limitsize"
    hint = f"an atom in the braces, or one that is not recursive, must have {name}"
    source.report_at("RT141", literal.span, message, hint)


def find_grounded(literals: Sequence[DraftLiteral], given: frozenset[str]) -> frozenset[str]:
    """Return the variables that have values when those that are given have."""
    grounded, size = set(given), -1
    while size != len(grounded):
        size = len(grounded)
        for literal in literals:
            grounded |= list_newly_grounded(literal, grounded)
    return frozenset(grounded)


def list_newly_grounded(literal: DraftLiteral, grounded: set[str]) -> set[str]:
    """Return the variables to which a literal gives a value when others have theirs."""
    match literal:
        case AtomSyntax():
            return {term.name for term in literal.arguments if isinstance(term, NamedTerm)}
        case DraftComparison(operator="=", negated=False):
            sides = (literal.left, literal.right), (literal.right, literal.left)
            return {strip_cast(one).name for one, other in sides  # type: ignore[union-attr]
                    if isinstance(strip_cast(one), NamedTerm)
                    and _has_values([other], grounded)}  # fmt: skip
        case DraftAggregate():
            return {literal.target.name} if grounded.issuperset(literal.outer) else set()
        case DraftRange():
            found = _has_values(literal.arguments, grounded)
            return {literal.target.name} if found else set()
    return set()


def _has_values(terms: Iterable[TermSyntax], grounded: set[str]) -> bool:
    """Return whether all variables of terms have values."""
    found = [*terms]
    if next(_list_wildcards(found), None) is not None:
        return False
    return all(v.name in grounded for term in found for v in list_variables(term))


def _list_wildcards(terms: Iterable[TermSyntax]) -> Iterator[AnyTerm]:
    for term in terms:
        if isinstance(term, AnyTerm):
            yield term
        elif isinstance(term, CallTerm):
            yield from _list_wildcards(term.arguments)
        elif isinstance(term, CastTerm):
            yield from _list_wildcards([term.term])


def _add_witnesses(body: Sequence[DraftLiteral], head: AtomSyntax) -> tuple[DraftLiteral, ...]:
    """Return a body with a copy of the body of each `min` and `max` that has witnesses."""
    used = {v.name for term in head.arguments for v in list_variables(term)}
    used |= {v.name for literal in body for v in list_own_variables(literal)}
    wanted = used - find_grounded(body, frozenset())
    found: list[DraftLiteral] = []
    for number, literal in enumerate(body):
        if wanted and isinstance(literal, DraftAggregate) and literal.how in ("min", "max"):
            found += _find_witnesses(literal, wanted, number)
        else:
            found.append(literal)
    return tuple(found)


def _find_witnesses(
    literal: DraftAggregate, wanted: set[str], number: int
) -> Iterator[DraftLiteral]:
    """Yield an aggregate, and what looks up the rows that have its value if one is wanted.

    A witness is a variable of the rule, or what is aggregated, which has a name of its own.
    """
    assert literal.value is not None
    shared = set(literal.outer) & wanted
    values = {v.name for v in list_variables(literal.value) if LOCAL in v.name}
    values = {name for name in values if not is_made(name)}
    hidden = {name: show_name(name) for name in values if show_name(name) in wanted}
    inside = find_grounded(literal.body, frozenset(literal.outer) - shared)
    shared &= inside
    hidden = {name: shown for name, shown in hidden.items() if name in inside}
    if not shared and not hidden:
        yield literal
        return
    apart = {name: f"{name}{LOCAL}w{number}" for name in sorted(shared)}
    outer = tuple(name for name in literal.outer if name not in shared)
    yield replace(rename_aggregate(literal, apart), target=literal.target, outer=outer)
    names = {v.name for each in walk_literals(literal.body) for v in list_own_variables(each)}
    again = {name: f"{name}{LOCAL}w{number}" for name in sorted(names - set(literal.outer))}
    again |= hidden
    for each in literal.body:
        yield rename_literal(each, again)
    yield DraftComparison(
        "=", rename_term(literal.value, again), literal.target, False, literal.span
    )


def _check_level(
    source: ProgramText,
    body: Sequence[DraftLiteral],
    grounded: frozenset[str],
    head: AtomSyntax | None,
    value: TermSyntax | None = None,
) -> None:
    """Note the variables and wildcards of a body that have no value."""
    targets = {each.target.name for each in body if isinstance(each, DraftAggregate)}
    follows = find_grounded(body, grounded | targets)  # these wait for an aggregate only
    noted: set[str] = set()
    for literal in sorted(body, key=lambda each: isinstance(each, DraftNegation)):
        for variable in list_own_variables(literal):
            if variable.name not in follows and variable.name not in noted:
                noted.add(variable.name)
                _report_ungrounded(source, variable, body, literal)
        _check_wildcards(source, literal)
        if isinstance(literal, DraftAggregate):
            _check_aggregate(source, literal, grounded, noted)
    terms = [*(head.arguments if head else ()), *([value] if value is not None else [])]
    for variable in (v for term in terms for v in list_variables(term)):
        if variable.name not in follows and variable.name not in noted:
            noted.add(variable.name)
            _report_ungrounded(source, variable, body, None)


def _check_aggregate(
    source: ProgramText, literal: DraftAggregate, grounded: frozenset[str], noted: set[str]
) -> None:
    """Note what has no value in the body of an aggregate."""
    outer = frozenset(literal.outer)
    inside = find_grounded(literal.body, outer)
    _check_level(source, literal.body, inside, None, literal.value)
    if literal.value is not None:
        for wildcard in _list_wildcards([literal.value]):
            source.report_at("RT508", wildcard.span, f"{literal.how} of a wildcard",
                             "write a variable of the body")  # fmt: skip
    for name in literal.outer:
        if name not in grounded and name not in noted:
            noted.add(name)
            message = f"the variable {show_name(name)} has no value outside of this {literal.how}"
            hint = "an atom outside of the braces must have it, or rename it inside of them"
            source.report_at("RT508", literal.span, message, hint)


def _check_wildcards(source: ProgramText, literal: DraftLiteral) -> None:
    """Note wildcards where a value is needed."""
    if isinstance(literal, DraftComparison | DraftRange):
        for wildcard in _list_wildcards(list_terms(literal)):
            source.report_at("RT508", wildcard.span, "a wildcard has no value here",
                             "_ is for columns of atoms")  # fmt: skip


def _report_ungrounded(
    source: ProgramText,
    variable: NamedTerm,
    body: Sequence[DraftLiteral],
    literal: DraftLiteral | None,
) -> None:
    """Note a variable that nothing grounds."""
    name = show_name(variable.name)
    if is_made(variable.name):
        return
    inside = {each.name for own in walk_literals(body) for each in list_own_variables(own)}
    if any(show_name(each) == name for each in inside - {variable.name} if not is_made(each)):
        message = f"the variable {name} has a value only inside of an aggregate"
        hint = "an atom outside of the braces must have it, or write the result of the aggregate"
    elif isinstance(literal, DraftNegation):
        message = f"the variable {name} is only in a negation"
        hint = "write _ for any value, or give it a value in an atom without !"
    elif not body:
        message = f"the variable {name} in a fact"
        hint = f'a fact has constants only: write "{name}" for a symbol'
    else:
        message = f"the variable {name} gets no value"
        hint = "an atom of the body must have it, or an = whose other side has a value"
    source.report_at("RT508", variable.span, message, hint)
