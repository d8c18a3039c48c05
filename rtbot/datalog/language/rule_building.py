"""Flat rules whose types are known to rules and facts of a checked program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.datalog.functors import FunctorError, compile_pattern, compute_functor
from rtbot.datalog.language.clause_syntax import (
    AnyTerm,
    AtomSyntax,
    CallTerm,
    CastTerm,
    LiteralTerm,
    NamedTerm,
)
from rtbot.datalog.language.functor_signatures import SAME, SIGNATURES
from rtbot.datalog.language.rule_draft import (
    DraftAggregate,
    DraftComparison,
    DraftNegation,
    DraftRange,
    show_name,
)
from rtbot.datalog.program import (
    FLOAT,
    NUMBER,
    SYMBOL,
    UNSIGNED,
    Aggregate,
    Atom,
    Call,
    Comparison,
    Constant,
    Fact,
    Negation,
    Rule,
    RuleVariable,
    Variable,
)

if TYPE_CHECKING:
    from rtbot.core.source_span import SourceSpan
    from rtbot.datalog.language.clause_syntax import TermSyntax
    from rtbot.datalog.language.program_text import ProgramText
    from rtbot.datalog.language.rule_draft import DraftLiteral, RuleDraft
    from rtbot.datalog.language.type_inference import RuleTypes
    from rtbot.datalog.program import Literal, Term

_LIMITS = {NUMBER: (-(2**63), 2**63 - 1), UNSIGNED: (0, 2**64 - 1)}


def build_rule(source: ProgramText, draft: RuleDraft, types: RuleTypes) -> Rule | Fact:
    """Return a rule, or a fact if all of its head is constants and it has no body."""
    builder = _Builder(source, types)
    head = tuple(builder.build_term(term) for term in draft.head.arguments)
    body = tuple(builder.build_literal(literal) for literal in draft.body)
    if not body and all(isinstance(term, Constant) for term in head):
        values = tuple(term.value for term in head if isinstance(term, Constant))
        return Fact(draft.head.relation, values, draft.span)
    variables = tuple(builder.variables)
    return Rule(draft.head.relation, head, body, variables, draft.text, draft.span)


class _Builder:
    """Builds the parts of one rule."""

    def __init__(self, source: ProgramText, types: RuleTypes) -> None:
        self.source, self.types = source, types
        self.places: dict[str, Variable] = {}
        self.variables: list[RuleVariable] = []

    def get_variable(self, name: str) -> Variable:
        """Return the variable of a name."""
        if name not in self.places:
            self.places[name] = Variable(len(self.variables))
            resolved = self.types.resolve_variable(name)
            self.variables.append(RuleVariable(show_name(name), resolved))
        return self.places[name]

    def build_literal(self, literal: DraftLiteral) -> Literal:
        """Return a literal of the checked program."""
        match literal:
            case AtomSyntax():
                return self.build_atom(literal)
            case DraftNegation():
                return Negation(self.build_atom(literal.atom))
            case DraftComparison():
                left, right = self.build_term(literal.left), self.build_term(literal.right)
                type_ = self.types.resolve(literal.left)
                if literal.operator == "match" and isinstance(left, Constant):
                    self.check_pattern(left, literal.span)
                return Comparison(
                    literal.operator, left, right, type_, literal.negated, literal.span
                )
            case DraftAggregate():
                return self.build_aggregate(literal)
            case DraftRange():
                raise AssertionError("ranges are relations by now")

    def check_pattern(self, pattern: Constant, span: SourceSpan) -> None:
        """Warn of a pattern that is no regular expression."""
        try:
            compile_pattern(str(pattern.value))
        except FunctorError as error:
            hint = "a character that is meant as it is has \\\\ before it"
            self.source.report_at("RT197", span, str(error), hint)

    def build_aggregate(self, literal: DraftAggregate) -> Aggregate:
        """Return an aggregate of the checked program."""
        return Aggregate(
            self.get_variable(literal.target.name),
            literal.how,
            None if literal.value is None else self.build_term(literal.value),
            tuple(self.build_literal(each) for each in literal.body),
            tuple(self.get_variable(name) for name in literal.outer),
            self.types.resolve(literal.target),
            literal.span,
        )

    def build_atom(self, atom: AtomSyntax) -> Atom:
        """Return an atom of the checked program."""
        arguments: list[Variable | Constant | None] = []
        for term in atom.arguments:
            built = None if isinstance(term, AnyTerm) else self.build_term(term)
            assert not isinstance(built, Call)
            arguments.append(built)
        return Atom(atom.relation, tuple(arguments), atom.span)

    def build_term(self, term: TermSyntax) -> Term:
        """Return a term; calls of constants are computed."""
        match term:
            case NamedTerm():
                return self.get_variable(term.name)
            case LiteralTerm():
                return self.build_constant(term)
            case CastTerm():
                return self.build_term(term.term)
            case CallTerm():
                return self.build_call(term)
        raise AssertionError(f"{term} is no term of a flat rule")

    def build_constant(self, term: LiteralTerm) -> Constant:
        """Return a constant of the type that it has at its place."""
        type_, value = self.types.resolve(term), term.value
        if type_ == FLOAT:
            return Constant(float(value) + 0.0, type_)  # one zero
        if type_ in _LIMITS and not isinstance(value, str):
            least, most = _LIMITS[type_]
            if not least <= value <= most:
                hint = f"write {value}u for an unsigned number" if value > most else ""
                message = f"{value} is beyond the type {type_}"
                self.source.report_at("RT511", term.span, message, hint)
        return Constant(value, type_)

    def build_call(self, term: CallTerm) -> Term:
        """Return a call, or what it is if its arguments are constants."""
        signature = SIGNATURES[term.functor]
        arguments = tuple(self.build_term(argument) for argument in term.arguments)
        type_ = self.types.resolve(term)
        name = "cat" if (term.functor, type_) == ("+", SYMBOL) else signature.name
        call = Call(name, arguments, type_, term.span)
        given = [argument for argument in arguments if isinstance(argument, Constant)]
        if len(given) < len(arguments) or self.source.has_errors():
            return call
        kind = type_ if signature.result == SAME else given[0].type
        try:
            value = compute_functor(name, kind, [each.value for each in given])
        except FunctorError as error:
            self.source.report_at("RT511", term.span, str(error), error.hint)
            return call
        return Constant(value + 0.0 if isinstance(value, float) else value, type_)
