"""The relations of a program: declared, given by a graph, or known from their first use only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbot.datalog.language.clause_syntax import NamedTerm
from rtbot.datalog.language.fact_files import read_fact_file, read_limit
from rtbot.datalog.language.rule_draft import LOCAL
from rtbot.datalog.program import HIDDEN, Column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbot.core.source_span import SourceSpan
    from rtbot.datalog.language.clause_syntax import (
        AtomSyntax,
        DirectiveSyntax,
        ProgramSyntax,
        RelationSyntax,
    )
    from rtbot.datalog.language.declared_types import DeclaredTypes
    from rtbot.datalog.language.program_text import ProgramText
    from rtbot.datalog.program import FactFile

    Inputs = Mapping[str, Sequence[tuple[str, str]]]


@dataclass(slots=True)
class RelationEntry:
    """What is known of a relation; a column without a type gets one by inference.

    `names` are those of its columns if it is not declared.
    """

    name: str
    columns: tuple[Column | None, ...]
    span: SourceSpan
    is_declared: bool
    names: tuple[str, ...] = ()
    reads: list[FactFile] = field(default_factory=list)
    writes: list[FactFile] = field(default_factory=list)
    is_input: bool = False
    prints_size: bool = False
    limit: int | None = None


class RelationTable:
    """Relations by name, in the order in which they are declared or first used.

    `inputs`: columns of relations that a graph feeds; with it relations need no declaration.
    """

    def __init__(
        self,
        source: ProgramText,
        program: ProgramSyntax,
        types: DeclaredTypes,
        inputs: Inputs | None,
    ) -> None:
        self.source, self.types = source, types
        self.entries: dict[str, RelationEntry] = {}
        self.broken = program.broken
        self.is_open = inputs is not None
        for relation in program.relations:
            self._declare(relation)
        for name, columns in (inputs or {}).items():
            self._add_input(name, columns)
        self._waiting = program.directives

    def _declare(self, relation: RelationSyntax) -> None:
        known = self.entries.get(relation.name)
        if known is not None:
            message = f"the relation {relation.name} is declared twice"
            self.source.report_at(
                "RT504", relation.span, message, f"first on line {known.span.line}"
            )
            return
        names: set[str] = set()
        columns: list[Column | None] = []
        for column in relation.columns:
            if column.name in names:
                message = f"two columns of {relation.name} are called {column.name}"
                self.source.report_at("RT504", column.span, message, "choose another name")
            names.add(column.name)
            if not self.types.is_known(column.type):
                self.types.report_unknown(column.type, column.type_span)
            basic = self.types.find_basic(column.type)
            columns.append(None if basic is None else Column(column.name, basic, column.type))
        self.entries[relation.name] = RelationEntry(
            relation.name, tuple(columns), relation.span, is_declared=True
        )

    def _add_input(self, name: str, columns: Sequence[tuple[str, str]]) -> None:
        """Add a relation that a graph feeds, or compare it with its declaration."""
        given = tuple(Column(column, type_, type_) for column, type_ in columns)
        entry = self.entries.get(name)
        if entry is None:
            span = self.source.locate(0)
            entry = self.entries[name] = RelationEntry(name, given, span, is_declared=True)
        else:
            declared = [column.type if column else "" for column in entry.columns]
            fed = [column.type for column in given]
            if "" not in declared and declared != fed:
                message = f"{name} is declared with ({', '.join(declared)}), but fed with "
                message += f"({', '.join(fed)})"
                self.source.report_at("RT506", entry.span, message, "leave the .decl out")
        entry.is_input = True

    def read_directives(self) -> None:
        """Take `.input`, `.output` and so on, after all relations are known."""
        for directive in self._waiting:
            entry = self.entries.get(directive.relation)
            if entry is None:
                self.report_undeclared(directive.relation, directive.span)
            else:
                self._apply(entry, directive)

    def _apply(self, entry: RelationEntry, directive: DirectiveSyntax) -> None:
        if directive.kind == "printsize":
            entry.prints_size = True
        elif directive.kind == "limitsize":
            entry.limit = read_limit(self.source, directive)
        elif directive.parameters.get("IO", ("",))[0] == "stdoutprintsize":
            entry.prints_size = True
        else:
            file = read_fact_file(self.source, directive)
            if directive.kind == "input":
                entry.is_input = True
                entry.reads.append(file)
            else:
                entry.writes.append(file)

    def find(self, atom: AtomSyntax) -> RelationEntry | None:
        """Return the relation of an atom; notes one that is not there or has other columns."""
        entry = self.entries.get(atom.relation)
        count = len(atom.arguments)
        if entry is None and (self.is_open or HIDDEN in atom.relation):
            columns = (None,) * count
            entry = RelationEntry(atom.relation, columns, atom.span, is_declared=False)
            self.entries[atom.relation] = entry
        if entry is None:
            self.report_undeclared(atom.relation, atom.span)
            return None
        if len(entry.columns) != count:
            self._report_count(entry, atom)
            return None
        return entry

    def _report_count(self, entry: RelationEntry, atom: AtomSyntax) -> None:
        width, count = len(entry.columns), len(atom.arguments)
        form = ", ".join(column.name if column else "_" for column in entry.columns)
        noun = "column" if width == 1 else "columns"
        message = f"{atom.relation} has {width} {noun}, not {count}"
        hint = f"it is {atom.relation}({form})" if entry.is_declared else ""
        hint = hint or f"it has {width} on line {entry.span.line}"
        if 0 < count < width:
            hint += "; write _ for any value"
        self.source.report_at("RT505", atom.span, message, hint)

    def name_columns(self, head: AtomSyntax) -> None:
        """Name the columns of a relation without a declaration by the variables of a head."""
        entry = self.entries.get(head.relation)
        if entry is None or entry.is_declared or entry.names:
            return
        given = [term.name if isinstance(term, NamedTerm) else LOCAL for term in head.arguments]
        names: list[str] = []
        for place, name in enumerate(given):
            chosen = name
            if LOCAL in name or given.count(name) > 1:
                chosen = f"c{place + 1}"
                while chosen in given:
                    chosen += "_"
            names.append(chosen)
        entry.names = tuple(names)

    def report_undefined(self, heads: set[str]) -> None:
        """Note relations that are neither declared nor fed nor the head of a rule."""
        for name, entry in self.entries.items():
            if not entry.is_declared and name not in heads and HIDDEN not in name:
                others = [each for each in self.entries if each != name]
                hint = self.source.problems.suggest_name(name, others)
                hint = hint or "nothing feeds it, and it is the head of no rule"
                message = f"the relation {name} is not defined"
                self.source.report_at("RT503", entry.span, message, hint)

    def report_undeclared(self, name: str, span: SourceSpan) -> None:
        """Note a relation that is not declared."""
        if name in self.broken or self.source.is_partial:
            return
        hint = self.source.problems.suggest_name(name, self.entries)
        hint = hint or f"declare it: .decl {name}(x: number)"
        self.source.report_at("RT503", span, f"the relation {name} is not declared", hint)
