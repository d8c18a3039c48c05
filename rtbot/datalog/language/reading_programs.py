"""From the text of a program to a checked program."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbot.core.errors import graph_error
from rtbot.core.source_span import SourceSpan
from rtbot.datalog.language.declared_types import DeclaredTypes
from rtbot.datalog.language.flattening import flatten_clause
from rtbot.datalog.language.grounding import check_groups, ground_rule
from rtbot.datalog.language.plain_facts import read_plain_facts
from rtbot.datalog.language.program_parser import ProgramParser
from rtbot.datalog.language.program_text import ProgramText, TooManyProblemsError
from rtbot.datalog.language.program_warnings import warn_of_relations, warn_of_variables
from rtbot.datalog.language.ranges import RangeRelations, list_range
from rtbot.datalog.language.relation_table import RelationTable
from rtbot.datalog.language.rule_building import build_rule
from rtbot.datalog.language.stratification import find_strata
from rtbot.datalog.language.subtype_checks import SubtypeCheck
from rtbot.datalog.language.type_inference import TypeInference, resolve_type
from rtbot.datalog.program import HIDDEN, Column, Fact, Program, Relation, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rtbot.core.errors import Problem
    from rtbot.datalog.language.program_text import FindParameter
    from rtbot.datalog.language.relation_table import Inputs, RelationEntry
    from rtbot.datalog.language.rule_draft import RuleDraft
    from rtbot.datalog.language.type_inference import RuleTypes

TEXT_MAX = 20_000_000
"""So many characters may a program have."""


def read_program(
    text: str,
    file: str = "<program>",
    *,
    inputs: Inputs | None = None,
    place: Callable[[int, int], SourceSpan] | None = None,
    find_parameter: FindParameter | None = None,
) -> Program:
    """Read and check a program.

    `inputs`: the columns, as pairs of a name and a basic type, of the relations that a graph
    feeds. With it relations need no `.decl`, and every relation that has rules is an output if
    there is no `.output`. `place(offset, length)` is the place of a part of the text, if it is not
    a file of its own. `find_parameter(name, place)` is the value of a graph's parameter `$name`.

    Raises GraphError with every problem.
    """
    if len(text) > TEXT_MAX:
        span = SourceSpan(file, 1, 1)
        raise graph_error("RT513", span, f"a program of more than {TEXT_MAX:,} characters")
    source = ProgramText(text, file, place, find_parameter)
    try:
        program = _Reading(source, inputs).read()
    except TooManyProblemsError:
        program = None
    source.raise_errors()
    assert program is not None
    return program


@dataclass
class _Typed:
    """A rule with its types."""

    draft: RuleDraft
    types: RuleTypes


class _Reading:
    """One program on its way through all steps."""

    def __init__(self, source: ProgramText, inputs: Inputs | None) -> None:
        self.source = source
        self.syntax = ProgramParser(source).read_program()
        self.types = DeclaredTypes(source, self.syntax)
        self.table = RelationTable(source, self.syntax, self.types, inputs)
        self.inference = TypeInference(source, self.table, self.types)
        self.ranges = RangeRelations(source)
        self.facts: list[Fact] = []

    def read(self) -> Program | None:
        """Return the checked program, None if anything is wrong."""
        rules = self._list_rules()
        typed = [_Typed(rule, self.inference.infer_rule(rule)) for rule in rules]
        self._infer_ranges()
        for rule in rules:
            self.table.name_columns(rule.head)
        self.table.report_undefined({rule.head.relation for rule in rules})
        self.table.read_directives()
        if not self.source.has_errors():
            check = SubtypeCheck(self.source, self.table, self.types)
            for rule in rules:
                check.check_rule(rule)
        names = [*self.table.entries]
        strata = find_strata(self.source, names, rules)
        limited = {name for name, entry in self.table.entries.items() if entry.limit is not None}
        check_groups(self.source, rules, strata, limited)
        built = [] if self.source.has_errors() else self._build(typed)
        if self.source.has_errors():
            return None
        relations = {name: self._make_relation(entry) for name, entry in self.table.entries.items()}
        facts = (
            *self.facts,
            *(each for each in built if isinstance(each, Fact)),
            *self._list_range_facts(),
        )
        made = tuple(each for each in built if isinstance(each, Rule))
        if self.source.has_errors():
            return None
        chosen = self._choose_outputs(relations, facts, made)
        return Program(chosen, facts, made, strata, self._list_warnings(chosen, rules))

    def _list_warnings(
        self, relations: Mapping[str, Relation], rules: Iterable[RuleDraft]
    ) -> tuple[Problem, ...]:
        """Return what is odd, the first of it if there is very much."""
        with suppress(TooManyProblemsError):
            filled = {fact.relation for fact in self.facts}
            if self.table.is_open:  # whoever feeds a relation knows whether it is read
                relations = {n: each for n, each in relations.items() if not each.is_input}
            warn_of_relations(self.source, relations, rules, filled)
            for clause in self.syntax.clauses:
                warn_of_variables(self.source, clause)
        return tuple(self.source.list_problems("warning"))

    def _choose_outputs(
        self, relations: Mapping[str, Relation], facts: Iterable[Fact], rules: Iterable[Rule]
    ) -> Mapping[str, Relation]:
        """Make outputs of all that is derived, in a graph whose program names none."""
        if not self.table.is_open or any(each.is_output for each in relations.values()):
            return relations
        derived = {each.relation for each in facts} | {each.relation for each in rules}
        return {
            name: replace(each, is_output=name in derived and HIDDEN not in name)
            for name, each in relations.items()
        }

    def _list_rules(self) -> list[RuleDraft]:
        """Return flat rules without ranges, whose variables all have values; keep plain facts."""
        found: list[RuleDraft] = []
        for clause in self.syntax.clauses:
            facts = read_plain_facts(self.table, clause)
            if facts is not None:
                self.facts += facts
                continue
            for draft in flatten_clause(self.source, clause):
                grounded = ground_rule(self.source, draft)
                found.append(self.ranges.replace_ranges(grounded))
        return found + self.ranges.rules

    def _infer_ranges(self) -> None:
        """Give the columns of ranges of constants the types of their arguments."""
        for name, literal in self.ranges.constant.items():
            self.inference.infer_constant_range(name, literal)

    def _build(self, typed: Iterable[_Typed]) -> list[Rule | Fact]:
        return [build_rule(self.source, each.draft, each.types) for each in typed]

    def _list_range_facts(self) -> list[Fact]:
        """Return the rows of ranges of constants."""
        return [fact for name, literal in self.ranges.constant.items()
                for fact in list_range(self.source, name, literal,
                                       self._column_types(name)[0])]  # fmt: skip

    def _column_types(self, name: str) -> list[str]:
        entry = self.table.entries[name]
        return [
            resolve_type(self.inference.get_column(entry, place))
            for place in range(len(entry.columns))
        ]

    def _make_relation(self, entry: RelationEntry) -> Relation:
        """Return a relation whose columns all have types."""
        types = self._column_types(entry.name)
        names = entry.names or [f"c{place + 1}" for place in range(len(types))]
        columns = tuple(
            column or Column(name, type_, type_)
            for column, name, type_ in zip(entry.columns, names, types, strict=True)
        )
        return Relation(
            entry.name,
            columns,
            entry.is_input,
            bool(entry.writes),
            entry.prints_size,
            entry.limit,
            entry.span,
            tuple(entry.reads),
            tuple(entry.writes),
        )
