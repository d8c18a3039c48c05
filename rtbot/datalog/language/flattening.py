"""Clauses to flat rules: disjunction is divided, negation moved inside, aggregates taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.datalog.language.clause_syntax import (
    AggregateTerm,
    AnyTerm,
    AtomSyntax,
    CallTerm,
    CastTerm,
    ConstraintSyntax,
    JunctionSyntax,
    NamedTerm,
    NotSyntax,
    TruthSyntax,
)
from rtbot.datalog.language.rule_draft import (
    LOCAL,
    MADE,
    DraftAggregate,
    DraftComparison,
    DraftNegation,
    DraftRange,
    RuleDraft,
    list_own_variables,
    list_variables,
)
from rtbot.datalog.language.token_reader import ClauseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import NoReturn

    from rtbot.core.source_span import SourceSpan
    from rtbot.datalog.language.clause_syntax import BodySyntax, ClauseSyntax, TermSyntax
    from rtbot.datalog.language.program_text import ProgramText
    from rtbot.datalog.language.rule_draft import DraftLiteral

    Signed = tuple[AtomSyntax | ConstraintSyntax, bool]

ALTERNATIVES_MAX, RANGES_MAX = 1_000, 20
"""So many rules may a clause become, so many ranges may a rule have."""

OPPOSITES = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def flatten_clause(source: ProgramText, clause: ClauseSyntax) -> list[RuleDraft]:
    """Return the rules of a clause: one for each head and each alternative of its body.

    What is wrong is noted, and there are none then.
    """
    try:
        bodies: list[list[Signed]] = [[]]
        if clause.body is not None:
            bodies = _divide(source, clause.body, negated=False)
        if len(bodies) * len(clause.heads) > ALTERNATIVES_MAX:
            _refuse_size(source, clause.span)
        flattener = _Flattener(source)
        return [
            flattener.flatten(clause, head, literals)
            for head in clause.heads
            for literals in bodies
        ]
    except ClauseError:
        return []


def _divide(source: ProgramText, body: BodySyntax, *, negated: bool) -> list[list[Signed]]:
    """Return the alternatives of a body, each a list of atoms and constraints with their signs."""
    match body:
        case NotSyntax():
            return _divide(source, body.body, negated=not negated)
        case TruthSyntax():
            return [[]] if body.value is not negated else []
        case JunctionSyntax():
            parts = [_divide(source, part, negated=negated) for part in body.parts]
            if body.is_any is not negated:
                return [literals for part in parts for literals in part]
            found: list[list[Signed]] = [[]]
            for part in parts:
                if len(found) * len(part) > ALTERNATIVES_MAX:
                    _refuse_size(source, body.span)
                found = [left + right for left in found for right in part]
            return found
    return [[(body, negated)]]


def _refuse_size(source: ProgramText, span: SourceSpan) -> NoReturn:
    message = f"a rule of more than {ALTERNATIVES_MAX:,} alternatives"
    source.report_at("RT513", span, message, "make a relation of a part of the body")
    raise ClauseError


class _Flattener:
    """Makes the flat rules of one clause."""

    def __init__(self, source: ProgramText) -> None:
        self.source = source
        self.made = self.ranges = 0

    def flatten(
        self, clause: ClauseSyntax, head: AtomSyntax, literals: Sequence[Signed]
    ) -> RuleDraft:
        """Return the rule of one head and one alternative."""
        self.made = self.ranges = 0
        visible = {v.name for term in head.arguments for v in list_variables(term)}
        visible |= _list_visible(literals)
        scope = {name: name for name in visible}
        body: list[DraftLiteral] = []
        arguments = tuple(self.flatten_term(term, scope, body) for term in head.arguments)
        head = AtomSyntax(head.relation, arguments, head.span)
        front: list[DraftLiteral] = []
        for literal, negated in literals:
            self.flatten_literal(literal, scope, front, negated=negated)
        return RuleDraft(head, (*front, *body), clause.text, clause.span)

    def make_variable(self, span: SourceSpan) -> NamedTerm:
        """Return a variable that has no name in the program."""
        self.made += 1
        return NamedTerm(f"{MADE}{self.made}", span)

    def flatten_literal(
        self,
        literal: AtomSyntax | ConstraintSyntax,
        scope: Mapping[str, str],
        body: list[DraftLiteral],
        *,
        negated: bool,
    ) -> None:
        """Add a literal, and before or after it what gives its arguments their values."""
        if isinstance(literal, ConstraintSyntax):
            self.flatten_constraint(literal, scope, body, negated=negated)
            return
        more: list[DraftLiteral] = []
        arguments = tuple(self.simplify(term, scope, more) for term in literal.arguments)
        atom = AtomSyntax(literal.relation, arguments, literal.span)
        body += [*more, DraftNegation(atom)] if negated else [atom, *more]

    def flatten_constraint(
        self,
        literal: ConstraintSyntax,
        scope: Mapping[str, str],
        body: list[DraftLiteral],
        *,
        negated: bool,
    ) -> None:
        """Add a constraint, negated by its opposite where it has one."""
        operator = literal.operator
        if negated and operator in OPPOSITES:
            operator, negated = OPPOSITES[operator], False
        sides = [literal.left, literal.right]
        if operator == "=" and not all(isinstance(side, AnyTerm) for side in sides):
            sides = [self.make_variable(s.span) if isinstance(s, AnyTerm) else s for s in sides]
            scope = {**scope, **{s.name: s.name for s in sides if isinstance(s, NamedTerm)
                                 and s.name not in scope}}  # fmt: skip
        left, right = (self.flatten_term(side, scope, body) for side in sides)
        body.append(DraftComparison(operator, left, right, negated, literal.span))

    def simplify(
        self, term: TermSyntax, scope: Mapping[str, str], body: list[DraftLiteral]
    ) -> TermSyntax:
        """Return a term as an argument of an atom: a variable of its own if it is none."""
        flat = self.flatten_term(term, scope, body)
        if not isinstance(flat, CallTerm | CastTerm):
            return flat
        variable = self.make_variable(term.span)
        body.append(DraftComparison("=", variable, flat, False, term.span))
        return variable

    def flatten_term(
        self, term: TermSyntax, scope: Mapping[str, str], body: list[DraftLiteral]
    ) -> TermSyntax:
        """Return a term without aggregates and ranges, which become literals."""
        match term:
            case NamedTerm():
                return NamedTerm(scope[term.name], term.span)
            case CastTerm():
                return CastTerm(self.flatten_term(term.term, scope, body), term.type, term.span)
            case AggregateTerm():
                return self.flatten_aggregate(term, scope, body)
            case CallTerm():
                if term.functor == "range":
                    return self.flatten_range(term, scope, body)
                arguments = tuple(self.flatten_term(a, scope, body) for a in term.arguments)
                return CallTerm(term.functor, arguments, term.span)
        return term

    def flatten_range(
        self, term: CallTerm, scope: Mapping[str, str], body: list[DraftLiteral]
    ) -> NamedTerm:
        """Add a range, whose arguments are variables and constants."""
        if len(term.arguments) not in (2, 3):
            message = f"range takes 2 or 3 arguments, not {len(term.arguments)}"
            self.source.report_at("RT510", term.span, message, "write range(from, to, step)")
            raise ClauseError
        self.ranges += 1
        if self.ranges > RANGES_MAX:
            message = f"a rule with more than {RANGES_MAX} ranges"
            self.source.report_at("RT513", term.span, message, "divide the rule")
            raise ClauseError
        arguments = tuple(self.simplify(argument, scope, body) for argument in term.arguments)
        target = self.make_variable(term.span)
        body.append(DraftRange(target, arguments, term.span))
        return target

    def warn_of_hiding(self, term: AggregateTerm, hidden: set[str]) -> None:
        """Note variables of a larger value that are not those of the rule around it."""
        for variable in list_variables(term.value):
            if variable.name in hidden and not isinstance(term.value, NamedTerm):
                message = f"{variable.name} in this {term.how} is another variable than outside"
                hint = "what is aggregated has variables of its own: rename it, and add an ="
                self.source.report_at("RT196", variable.span, message, hint)

    def flatten_aggregate(
        self, term: AggregateTerm, scope: Mapping[str, str], body: list[DraftLiteral]
    ) -> NamedTerm:
        """Add an aggregate, and return its result.

        Variables of its body are its own if the scope has none of their names, or if they are in
        what is aggregated: `x = min x : { p(x) }` has two variables.
        """
        alternatives = _divide(self.source, term.body, negated=False)
        if len(alternatives) != 1:
            message = f"';' and true or false in the body of {term.how} are not in this version"
            hint = "make a relation of the body"
            self.source.report_at("RT502", term.span, message, hint)
            raise ClauseError
        names = _list_visible(alternatives[0])
        valued = {variable.name for variable in list_variables(term.value)}
        self.warn_of_hiding(term, names & valued & scope.keys())
        inner = dict(scope)
        for name in sorted((names & valued) | ((names | valued) - scope.keys())):
            self.made += 1
            inner[name] = f"{name}{LOCAL}{self.made}"
        inside: list[DraftLiteral] = []
        for literal, negated in alternatives[0]:
            self.flatten_literal(literal, inner, inside, negated=negated)
        value = None
        if term.value is not None:
            value = self.flatten_term(term.value, inner, inside)
        target = self.make_variable(term.span)
        used = _list_used(inside, value)
        outer = tuple(name for name in used if name in scope.values())
        body.append(DraftAggregate(target, term.how, value, tuple(inside), outer, term.span))
        return target


def _list_visible(literals: Iterable[Signed]) -> set[str]:
    """Return the names of variables in literals, those in aggregates left out."""
    return {v.name for literal, _ in literals for term in _terms(literal)
            for v in list_variables(term)}  # fmt: skip


def _terms(literal: AtomSyntax | ConstraintSyntax) -> tuple[TermSyntax, ...]:
    if isinstance(literal, AtomSyntax):
        return literal.arguments
    return literal.left, literal.right


def _list_used(literals: Iterable[DraftLiteral], value: TermSyntax | None) -> dict[str, None]:
    """Return the variables of the body of an aggregate in the order in which they come."""
    return dict.fromkeys(_walk_names(literals, value))


def _walk_names(literals: Iterable[DraftLiteral], value: TermSyntax | None) -> Iterator[str]:
    for literal in literals:
        yield from (variable.name for variable in list_own_variables(literal))
        if isinstance(literal, DraftAggregate):
            yield from literal.outer
    yield from (variable.name for variable in list_variables(value))
