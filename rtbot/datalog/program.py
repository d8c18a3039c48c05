"""A checked program: relations, facts and rules whose variables have numbers and types.

The language makes it, evaluation reads it. Nothing here needs a check any more: every variable is
grounded, every type is known, negation and aggregates are stratified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbot.core.errors import Problem
    from rtbot.core.source_span import SourceSpan

NUMBER, UNSIGNED, FLOAT, SYMBOL = "number", "unsigned", "float", "symbol"
Value = int | float | str

HIDDEN = "@"
"""In the names of relations that are not in the text of a program."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a relation: its name, its basic type, and the type as it was declared."""

    name: str
    type: str
    declared: str


@dataclass(frozen=True, slots=True)
class FactFile:
    """Where the rows of a relation are read or written: what `.input` or `.output` says.

    `medium` is file, stdin or stdout. Without `filename` it is the name of the relation with
    `.facts` or `.csv`. `columns` are places in a line, from 0, in the order of the relation's.
    """

    medium: str = "file"
    filename: str = ""
    delimiter: str = "\t"
    headers: bool = False
    rfc4180: bool = False
    compress: bool = False
    columns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation. If it is recursive, its stratum stops after the round that reaches its limit.

    A name with `@` is that of a relation that the language made for a `range`.
    """

    name: str
    columns: tuple[Column, ...]
    is_input: bool
    is_output: bool
    prints_size: bool
    limit: int | None
    span: SourceSpan
    reads: tuple[FactFile, ...] = ()
    writes: tuple[FactFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a rule, by its place in `Rule.variables`."""

    index: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A value of a basic type."""

    value: Value
    type: str


@dataclass(frozen=True, slots=True)
class Call:
    """A functor or an operation over terms; `type` is that of its result.

    The arguments of an operation have the type `type`, those of a functor what it asks for.
    """

    functor: str
    arguments: tuple[Term, ...]
    type: str
    span: SourceSpan


Term = Variable | Constant | Call


@dataclass(frozen=True, slots=True)
class Atom:
    """A row of a relation; an argument is None where any value will do."""

    relation: str
    arguments: tuple[Variable | Constant | None, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Negation:
    """That no row of a relation fits; every variable is grounded by the rest of the rule."""

    atom: Atom


@dataclass(frozen=True, slots=True)
class Comparison:
    """A constraint: `= != < <= > >=`, or `match` and `contains`; `negated` for `!match`.

    `type` is that of both sides. An `=` whose one side is a variable that nothing else grounds
    gives the variable its value.
    """

    operator: str
    left: Term
    right: Term
    type: str
    negated: bool
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A variable that is an aggregate of the bindings of a body of its own.

    `outer` are the variables that the body shares with the rest of the rule, which grounds them:
    the group. `value` is what is aggregated, None for a count. A binding is one of all variables
    and wildcards of the body. Over no binding a count and a sum are 0, the others have no value.
    """

    target: Variable
    how: str
    value: Term | None
    body: tuple[Literal, ...]
    outer: tuple[Variable, ...]
    type: str
    span: SourceSpan


Literal = Atom | Negation | Comparison | Aggregate


@dataclass(frozen=True, slots=True)
class RuleVariable:
    """A variable's name and basic type; a variable that the compiler made is named like `_3`."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One head and a body without disjunction, in the order in which it was written.

    `text` is the rule as it was written.
    """

    relation: str
    head: tuple[Term, ...]
    body: tuple[Literal, ...]
    variables: tuple[RuleVariable, ...]
    text: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of the program's own."""

    relation: str
    values: tuple[Value, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Program:
    """A program. Relations of a stratum depend on each other and on those of earlier strata.

    `warnings` are what is odd in it, in the order of the text.
    """

    relations: Mapping[str, Relation]
    facts: tuple[Fact, ...]
    rules: tuple[Rule, ...]
    strata: tuple[tuple[str, ...], ...]
    warnings: tuple[Problem, ...] = ()
