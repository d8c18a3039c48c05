"""Declared types of the variables of a rule: what they may be, and where they may go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.datalog.language.clause_syntax import AtomSyntax, CastTerm, NamedTerm
from rtbot.datalog.language.declared_types import format_types
from rtbot.datalog.language.rule_draft import (
    DraftComparison,
    is_made,
    show_name,
    walk_literals,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.datalog.language.clause_syntax import TermSyntax
    from rtbot.datalog.language.declared_types import DeclaredTypes
    from rtbot.datalog.language.program_text import ProgramText
    from rtbot.datalog.language.relation_table import RelationTable
    from rtbot.datalog.language.rule_draft import RuleDraft
    from rtbot.datalog.program import Column


class SubtypeCheck:
    """Checks one rule after another, all of whose basic types are right."""

    def __init__(self, source: ProgramText, table: RelationTable, types: DeclaredTypes) -> None:
        self.source, self.table, self.types = source, table, types
        self.same: dict[str, str] = {}
        self.found: dict[str, frozenset[str]] = {}
        self.origins: dict[str, str] = {}

    def check_rule(self, rule: RuleDraft) -> None:
        """Note variables without a common type, and arguments that a column does not take.

        A negated atom takes any value of its basic types.
        """
        self.same, self.found, self.origins = {}, {}, {}
        literals = [*walk_literals(rule.body)]
        for literal in literals:
            if isinstance(literal, DraftComparison) and literal.operator == "=":
                self._join(literal.left, literal.right)
        for literal in literals:
            if isinstance(literal, AtomSyntax):
                self._take_types(literal)
        self._check_arguments(rule.head)

    def _find(self, name: str) -> str:
        while name in self.same:
            name = self.same[name]
        return name

    def _join(self, left: TermSyntax, right: TermSyntax) -> None:
        """Note that two variables are the same, or that one has the type of a cast."""
        if isinstance(left, NamedTerm) and isinstance(right, NamedTerm):
            one, other = self._find(left.name), self._find(right.name)
            if one != other:
                self.same[other] = one
        for side, of in ((left, right), (right, left)):
            if isinstance(side, NamedTerm) and isinstance(of, CastTerm):
                self.found[self._find(side.name)] = frozenset({of.type})

    def _columns(self, atom: AtomSyntax) -> Iterator[tuple[TermSyntax, Column]]:
        entry = self.table.entries[atom.relation]
        for term, column in zip(atom.arguments, entry.columns, strict=True):
            if column is not None:
                yield term, column

    def _take_types(self, atom: AtomSyntax) -> None:
        """Narrow the types of the variables of an atom by those of its columns."""
        for term, column in self._columns(atom):
            if not isinstance(term, NamedTerm):
                continue
            name = self._find(term.name)
            before = self.found.get(name)
            both = self.types.meet(before, frozenset({column.declared}))
            if not both and before:
                message = f"no value of {show_name(term.name)} can be {column.declared} "
                message += f"(column {column.name} of {atom.relation}) and "
                message += f"{format_types(before)} ({self.origins.get(name, 'as')})"
                hint = "declare both with one type, or use as(x, TYPE)"
                self.source.report_at("RT506", term.span, message, hint)
                continue
            self.found[name] = both
            self.origins[name] = f"column {column.name} of {atom.relation}"

    def _check_arguments(self, atom: AtomSyntax) -> None:
        """Note arguments that are of a type that a column does not have."""
        for term, column in self._columns(atom):
            types = self._find_types(term)
            wrong = [t for t in types or () if not self.types.is_subtype(t, column.declared)]
            if wrong:
                what = "the value"
                if isinstance(term, NamedTerm) and not is_made(term.name):
                    what = show_name(term.name)
                message = f"{what} is {format_types(wrong)}, but the column {column.name} of "
                message += f"{atom.relation} is {column.declared}"
                hint = f"write as({what}, {column.declared})" if what != "the value" else ""
                self.source.report_at("RT506", term.span, message, hint)

    def _find_types(self, term: TermSyntax) -> frozenset[str] | None:
        if isinstance(term, CastTerm):
            return frozenset({term.type})
        if isinstance(term, NamedTerm):
            return self.found.get(self._find(term.name))
        return None
