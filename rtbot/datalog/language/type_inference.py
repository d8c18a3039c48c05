"""Basic types of columns, variables and constants, found by unification over a whole program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbot.datalog.language.clause_syntax import (
    AtomSyntax,
    CallTerm,
    CastTerm,
    LiteralTerm,
    NamedTerm,
)
from rtbot.datalog.language.functor_signatures import (
    EVERY,
    NUMERIC,
    SAME,
    SIGNATURES,
)
from rtbot.datalog.language.rule_draft import (
    DraftAggregate,
    DraftComparison,
    DraftNegation,
    DraftRange,
    is_made,
    show_name,
)
from rtbot.datalog.program import FLOAT, NUMBER, SYMBOL, UNSIGNED

if TYPE_CHECKING:
    from rtbot.core.source_span import SourceSpan
    from rtbot.datalog.language.clause_syntax import TermSyntax
    from rtbot.datalog.language.declared_types import DeclaredTypes
    from rtbot.datalog.language.program_text import ProgramText
    from rtbot.datalog.language.relation_table import RelationEntry, RelationTable
    from rtbot.datalog.language.rule_draft import DraftLiteral, RuleDraft

ORDER = (NUMBER, UNSIGNED, FLOAT, SYMBOL)
"""A value that may be of several types is of the first of these."""

_LITERALS = {"whole": NUMERIC, "number": NUMERIC - {UNSIGNED}}
_AGGREGATE_TYPES = {"sum": NUMERIC, "min": NUMERIC, "max": NUMERIC, "mean": NUMERIC}


@dataclass(slots=True, eq=False)
class TypeNode:
    """Types that a value may be of, and what restricts it; `parent` is what it is the same as."""

    types: frozenset[str] = EVERY
    reason: str = ""
    parent: TypeNode | None = None


def find_root(node: TypeNode) -> TypeNode:
    """Return the node that stands for all that are the same."""
    while node.parent is not None:
        if node.parent.parent is not None:
            node.parent = node.parent.parent
        node = node.parent
    return node


def resolve_type(node: TypeNode) -> str:
    """Return the type of a node."""
    types = find_root(node).types
    return next(name for name in ORDER if name in types)


class RuleTypes:
    """Nodes of the variables of a rule by name, of its terms and aggregates by identity."""

    def __init__(self) -> None:
        self.variables: dict[str, TypeNode] = {}
        self._terms: dict[int, TypeNode] = {}
        self._kept: list[object] = []

    def keep(self, key: object, node: TypeNode) -> None:
        """Keep the node of a term, and the term, so that no other gets its identity."""
        self._terms[id(key)] = node
        self._kept.append(key)

    def find(self, key: object) -> TypeNode | None:
        """Return the node of a term, None if it has none yet."""
        if isinstance(key, NamedTerm):
            return self.variables.setdefault(key.name, TypeNode())
        return self._terms.get(id(key))

    def resolve_variable(self, name: str) -> str:
        """Return the basic type of a variable."""
        return resolve_type(self.variables.setdefault(name, TypeNode()))

    def resolve(self, key: object) -> str:
        """Return the basic type of a term."""
        node = self.find(key)
        assert node is not None
        return resolve_type(node)


class TypeInference:
    """Nodes of the columns of relations, and of the rules that have been looked at."""

    def __init__(self, source: ProgramText, table: RelationTable, types: DeclaredTypes) -> None:
        self.source, self.table, self.types = source, table, types
        self.columns: dict[tuple[str, int], TypeNode] = {}
        self.rule = RuleTypes()

    def get_column(self, entry: RelationEntry, place: int) -> TypeNode:
        """Return the node of a column."""
        column = entry.columns[place]
        if column is not None:
            reason = f"the column {column.name} of {entry.name}"
            return TypeNode(frozenset({column.type}), reason)
        return self.columns.setdefault((entry.name, place), TypeNode())

    def infer_rule(self, rule: RuleDraft) -> RuleTypes:
        """Unify what is the same in a rule; return the nodes of its terms."""
        self.rule = RuleTypes()
        for literal in rule.body:
            self.infer_literal(literal)
        self.infer_atom(rule.head)
        return self.rule

    def infer_constant_range(self, name: str, literal: DraftRange) -> None:
        """Give the column of a range of constants the type of its arguments."""
        entry = self.table.entries.get(name)
        self.rule = RuleTypes()
        node = self.infer_call(CallTerm("range", literal.arguments, literal.span))
        if entry is not None:
            self.unify(self.get_column(entry, 0), node, literal.span, "the range")

    def infer_literal(self, literal: DraftLiteral) -> None:
        """Unify what is the same in a literal."""
        match literal:
            case AtomSyntax():
                self.infer_atom(literal)
            case DraftNegation():
                self.infer_atom(literal.atom)
            case DraftComparison():
                self.infer_comparison(literal)
            case DraftAggregate():
                for inside in literal.body:
                    self.infer_literal(inside)
                self.infer_aggregate(literal)
            case DraftRange():
                term = CallTerm("range", literal.arguments, literal.span)
                node = self.infer_call(term)
                self.unify(self.infer_term(literal.target), node, literal.span, "the range")

    def infer_atom(self, atom: AtomSyntax) -> None:
        """Unify the arguments of an atom with the columns of its relation."""
        entry = self.table.find(atom)
        for place, term in enumerate(atom.arguments):
            node = self.infer_term(term)
            if entry is not None and (entry.columns[place] is not None or not entry.is_declared):
                column = self.get_column(entry, place)
                self.unify(node, column, term.span, describe_term(term), term)

    def infer_comparison(self, literal: DraftComparison) -> None:
        """Unify both sides of a comparison."""
        left, right = self.infer_term(literal.left), self.infer_term(literal.right)
        if literal.operator in ("match", "contains"):
            for node, term in ((left, literal.left), (right, literal.right)):
                self.restrict(node, frozenset({SYMBOL}), literal.operator, term)
            return
        what = describe_term(literal.left)
        if isinstance(literal.left, LiteralTerm):
            what = describe_term(literal.right)
        self.unify(left, right, literal.span, what)

    def infer_aggregate(self, literal: DraftAggregate) -> None:
        """Give the target of an aggregate its type."""
        target = self.infer_term(literal.target)
        if literal.value is None:
            self.restrict(target, frozenset({NUMBER}), "count", literal.target)
            return
        value = self.infer_term(literal.value)
        self.restrict(value, _AGGREGATE_TYPES[literal.how], literal.how, literal.value)
        if literal.how == "mean":
            self.restrict(target, frozenset({FLOAT}), "mean", literal.target)
        else:
            self.unify(target, value, literal.span, f"the {literal.how}")

    def infer_term(self, term: TermSyntax) -> TypeNode:
        """Return the node of a term."""
        found = self.rule.find(term)
        if found is not None:
            return found
        match term:
            case LiteralTerm():
                types = _LITERALS.get(term.kind, frozenset({term.kind}))
                node = TypeNode(types, describe_term(term))
            case CallTerm():
                node = self.infer_call(term)
            case CastTerm():
                node = self.infer_cast(term)
            case _:
                node = TypeNode()
        self.rule.keep(term, node)
        return node

    def infer_cast(self, term: CastTerm) -> TypeNode:
        """Return the node of `as(term, type)`."""
        node = self.infer_term(term.term)
        basic = self.types.find_basic(term.type)
        if not self.types.is_known(term.type):
            self.types.report_unknown(term.type, term.span)
        elif basic is not None:
            self.restrict(node, frozenset({basic}), f"as(.., {term.type})", term.term)
        return node

    def infer_call(self, term: CallTerm) -> TypeNode:
        """Return the node of a call, whose arguments get the types that it asks for."""
        signature = SIGNATURES[term.functor]
        node = TypeNode()
        self.check_count(term)
        for place, argument in enumerate(term.arguments):
            wanted = signature.arguments[min(place, len(signature.arguments) - 1)]
            if wanted == SAME:
                given = self.infer_term(argument)
                self.unify(given, node, argument.span, describe_term(argument), argument)
            else:
                assert not isinstance(wanted, str)
                self.restrict(self.infer_term(argument), wanted, show_functor(term), argument)
        if isinstance(signature.result, frozenset):
            return TypeNode(signature.result, show_functor(term))
        self.restrict(node, signature.types, show_functor(term), term)
        return node

    def check_count(self, term: CallTerm) -> None:
        """Note a call with the wrong number of arguments."""
        signature, count = SIGNATURES[term.functor], len(term.arguments)
        if not signature.least <= count <= signature.most:
            wanted = str(signature.least)
            if signature.most > signature.least:
                more = signature.most < 10
                wanted += f" or {signature.most}" if more else " or more"
            noun = "argument" if wanted == "1" else "arguments"
            message = f"{term.functor} takes {wanted} {noun}, not {count}"
            self.source.report_at("RT510", term.span, message)

    def unify(
        self,
        one: TypeNode,
        other: TypeNode,
        span: SourceSpan,
        what: str,
        term: TermSyntax | None = None,
    ) -> None:
        """Make two nodes the same; notes types that do not go together.

        `what`, a part of a sentence, is of the first; so is `term`, if it is one.
        """
        one, other = find_root(one), find_root(other)
        if one is other:
            return
        both = one.types & other.types
        if not both:
            self.report_clash(one, other, span, what, term)
            one.types, one.reason, other.parent = EVERY, "", one
            return
        if not one.reason or len(other.types) < len(one.types):
            one.reason = other.reason
        one.types = both
        other.parent = one

    def restrict(
        self, node: TypeNode, types: frozenset[str], reason: str, term: TermSyntax
    ) -> None:
        """Leave only some types of a node."""
        self.unify(node, TypeNode(types, reason), term.span, describe_term(term), term)

    def report_clash(
        self,
        one: TypeNode,
        other: TypeNode,
        span: SourceSpan,
        what: str,
        term: TermSyntax | None,
    ) -> None:
        """Note two types of one thing, with where they come from."""
        given = format_basic(one.types)
        reason = f" ({one.reason})" if one.reason and one.reason != what else ""
        if what == "":
            what = one.reason or "a value"
        message = f"{what} is {given}{reason}, not {format_basic(other.types)}"
        message += f" ({other.reason})" if other.reason else ""
        hint = suggest_conversion(one.types, other.types, term)
        self.source.report_at("RT506", span, message, hint)


def format_basic(types: frozenset[str]) -> str:
    """Return basic types as a part of a sentence."""
    return "numeric" if types == NUMERIC else " or ".join(n for n in ORDER if n in types)


def suggest_conversion(
    given: frozenset[str], wanted: frozenset[str], term: TermSyntax | None
) -> str:
    """Return a hint how a value may get another type."""
    if isinstance(term, LiteralTerm):
        if wanted == {SYMBOL}:
            return f'write it in quotes: "{term.value}"'
        if given == {SYMBOL}:
            return "write it without quotes"
        if given == {FLOAT}:
            return "write it without a point, or convert the other side: to_float(x)"
        return "an unsigned number is not negative" if wanted == {UNSIGNED} else ""
    if len(wanted) > 1:
        return "convert it: to_number(x)" if NUMBER in wanted else ""
    (target,) = wanted
    return f"convert it: to_{'string' if target == SYMBOL else target}(x)"


def show_functor(term: CallTerm) -> str:
    """Return the name of a functor or operation for a message."""
    return {"neg": "minus"}.get(term.functor, term.functor)


def describe_term(term: TermSyntax) -> str:
    """Return what a term is, for a message."""
    match term:
        case NamedTerm():
            return "the value" if is_made(term.name) else f"the variable {show_name(term.name)}"
        case LiteralTerm():
            text = f'"{term.value}"' if term.kind == SYMBOL else str(term.value)
            return text if len(text) <= 40 else text[:37] + "..."
        case CallTerm():
            return f"the result of {show_functor(term)}"
        case CastTerm():
            return f"as(.., {term.type})"
    return "the value"
