"""`range` as relations: facts where its arguments are constants, and else a recursion."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtbot.datalog.language.clause_syntax import AtomSyntax, CallTerm, LiteralTerm, NamedTerm
from rtbot.datalog.language.grounding import find_grounded, list_newly_grounded
from rtbot.datalog.language.rule_draft import (
    DraftAggregate,
    DraftComparison,
    DraftRange,
    RuleDraft,
    list_own_variables,
    list_variables,
)
from rtbot.datalog.program import FLOAT, HIDDEN, Fact

ROWS_MAX = 1_000_000
"""So many numbers may a range of constants have."""

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbot.datalog.language.clause_syntax import TermSyntax
    from rtbot.datalog.language.program_text import ProgramText
    from rtbot.datalog.language.rule_draft import DraftLiteral


class RangeRelations:
    """Replaces ranges by atoms of relations that are made for them.

    `constant` has the arguments of those whose rows are facts, by relation; `rules` define the
    others.
    """

    def __init__(self, source: ProgramText) -> None:
        self.source = source
        self.constant: dict[str, DraftRange] = {}
        self.rules: list[RuleDraft] = []

    def replace_ranges(self, rule: RuleDraft) -> RuleDraft:
        """Return a rule without ranges."""
        return replace(rule, body=self._replace_all(rule, rule.body, None))

    def _replace_all(
        self, rule: RuleDraft, body: Sequence[DraftLiteral], around: Sequence[DraftLiteral] | None
    ) -> tuple[DraftLiteral, ...]:
        """Return a body without ranges.

        `around` are the literals outside of the body of an aggregate, None for that of a rule.
        """
        found = list(body)
        for at, literal in enumerate(found):
            if isinstance(literal, DraftAggregate):
                others = [*(around or ()), *found[:at], *found[at + 1 :]]
                found[at] = replace(literal, body=self._replace_all(rule, literal.body, others))
        waiting = [at for at, literal in enumerate(found) if isinstance(literal, DraftRange)]
        while waiting:
            at = next(at for at in waiting if self._is_ready(found, at, around))
            literal = found[at]
            assert isinstance(literal, DraftRange)
            support = _find_support(found, at, around)
            found[at] = self._make_relation(rule, literal, support)
            waiting.remove(at)
        return tuple(found)

    def _is_ready(
        self, body: Sequence[DraftLiteral], at: int, around: Sequence[DraftLiteral] | None
    ) -> bool:
        """Return whether a range needs no other range of its body."""
        needed = _find_support(body, at, around)
        return not any(
            each is one for each in needed for one in body if isinstance(one, DraftRange)
        )

    def _make_relation(
        self, rule: RuleDraft, literal: DraftRange, support: Sequence[DraftLiteral]
    ) -> AtomSyntax:
        """Return an atom of the relation of a range; `support` gives its ends their values."""
        name = f"range{HIDDEN}{len(self.constant) + len(self.rules) + 1}"
        if all(isinstance(term, LiteralTerm) for term in literal.arguments):
            self.constant[name] = literal
            return AtomSyntax(name, (literal.target,), literal.span)
        support = self._replace_all(rule, support, None)
        for head, body in _define_range(name, literal, support):
            self.rules.append(RuleDraft(head, body, rule.text, literal.span))
        return AtomSyntax(name, (*literal.arguments, literal.target), literal.span)


def _define_range(
    name: str, literal: DraftRange, support: Sequence[DraftLiteral]
) -> Iterator[tuple[AtomSyntax, tuple[DraftLiteral, ...]]]:
    """Yield heads and bodies of the rules of a range: of its first number, then of the others.

    The relation has the arguments and the number. Without a step it is 1, or -1 if the range goes
    down; one of 0 gives the first number only.
    """
    span, given = literal.span, literal.arguments
    low, high, by, at = (NamedTerm(each, span) for each in ("from", "to", "by", "at"))
    zero, one = LiteralTerm(0, "whole", span), LiteralTerm(1, "whole", span)

    def compare(operator: str, left: TermSyntax, right: TermSyntax) -> DraftLiteral:
        return DraftComparison(operator, left, right, False, span)

    for up in (True, False):
        sign, way = "<" if up else ">", []
        begins = [*support, compare(sign, given[0], given[1])]
        follower = CallTerm("+" if up else "-", (at, one), span)
        known = [low, high]
        if len(given) == 3:
            begins.append(compare(">=" if up else "<", given[2], zero))
            way = [compare(">" if up else "<", by, zero)]
            follower = CallTerm("+", (at, by), span)
            known.append(by)
        yield AtomSyntax(name, (*given, given[0]), span), tuple(begins)
        before = AtomSyntax(name, (*known, at), span)
        goes_on = before, *way, compare(sign, low, high), compare(sign, follower, high)
        yield AtomSyntax(name, (*known, follower), span), goes_on


def _find_support(
    body: Sequence[DraftLiteral], at: int, around: Sequence[DraftLiteral] | None
) -> tuple[DraftLiteral, ...]:
    """Return the literals that give the arguments of a range their values.

    In the body of a rule, where nothing is around, they are all that need no other range, so that
    an argument that may have no value is computed for no more than in the rule.
    """
    literal = body[at]
    assert isinstance(literal, DraftRange)
    wanted = [v.name for term in literal.arguments for v in list_variables(term)]
    others = [*(around or ()), *body[:at], *body[at + 1 :]]
    needed = _find_givers(others, wanted)
    if around is None:
        plain = [each for each in others if not _is_range(each)]
        grounded = find_grounded([*plain, *needed], frozenset())
        needed += [each for each in plain if grounded.issuperset(_list_names(each))]
    return tuple(each for each in others if any(each is one for one in needed))


def _is_range(literal: DraftLiteral) -> bool:
    if isinstance(literal, AtomSyntax):
        return HIDDEN in literal.relation
    return isinstance(literal, DraftRange)


def _list_names(literal: DraftLiteral) -> list[str]:
    """Return the variables of a literal; of an aggregate, those of the rule around it."""
    outer = literal.outer if isinstance(literal, DraftAggregate) else ()
    return [*outer, *(variable.name for variable in list_own_variables(literal))]


def _find_givers(literals: Sequence[DraftLiteral], wanted: Sequence[str]) -> list[DraftLiteral]:
    """Return the literals that give variables their values."""
    givers: dict[str, DraftLiteral] = {}
    grounded: set[str] = set()
    size = -1
    while size != len(grounded):
        size = len(grounded)
        for literal in literals:
            for name in list_newly_grounded(literal, grounded) - grounded:
                grounded.add(name)
                givers[name] = literal
    needed: list[DraftLiteral] = []
    waiting = list(wanted)
    while waiting:
        giver = givers.get(waiting.pop())
        if giver is not None and not any(giver is each for each in needed):
            needed.append(giver)
            waiting += _list_needs(giver)
    return needed


def _list_needs(literal: DraftLiteral) -> list[str]:
    match literal:
        case DraftComparison():
            return [v.name for side in (literal.left, literal.right) for v in list_variables(side)]
        case DraftAggregate():
            return list(literal.outer)
        case DraftRange():
            return [v.name for term in literal.arguments for v in list_variables(term)]
    return []


def list_range(source: ProgramText, name: str, literal: DraftRange, type_: str) -> list[Fact]:
    """Return the rows of a range of constants; notes one that is too long."""
    convert = float if type_ == FLOAT else int
    ends = [convert(term.value) for term in literal.arguments if isinstance(term, LiteralTerm)]
    low, high = ends[:2]
    step = ends[2] if len(ends) == 3 else convert(1 if low <= high else -1)
    found: list[Fact] = []
    if step and (high - low) / step > ROWS_MAX:
        message = f"a range of more than {ROWS_MAX:,} numbers"
        source.report_at("RT513", literal.span, message, "read them from a file of facts")
        return []
    if step and (low + step == low or high + step == high):
        message = "a range whose step is too small for its floats"
        source.report_at("RT511", literal.span, message, "take a larger step")
        return []
    at = low
    while (at < high) if step >= 0 else (at > high):
        found.append(Fact(name, (at,), literal.span))
        at += step
        if not step:
            break
    return found
