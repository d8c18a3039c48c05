"""A Datalog program as it is written: terms, bodies, clauses and declarations, nothing resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtbot.core.source_span import SourceSpan


@dataclass(frozen=True, slots=True)
class NamedTerm:
    """A variable."""

    name: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class AnyTerm:
    """The wildcard `_`."""

    span: SourceSpan


@dataclass(frozen=True, slots=True)
class LiteralTerm:
    """A constant. Kinds: whole (of any numeric type), number, unsigned, float, symbol."""

    value: int | float | str
    kind: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class CallTerm:
    """A functor or an operation over terms."""

    functor: str
    arguments: tuple[TermSyntax, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class CastTerm:
    """`as(term, type)`."""

    term: TermSyntax
    type: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class AggregateTerm:
    """`how value : { body }`."""

    how: str
    value: TermSyntax | None
    body: BodySyntax
    span: SourceSpan


TermSyntax = NamedTerm | AnyTerm | LiteralTerm | CallTerm | CastTerm | AggregateTerm


@dataclass(frozen=True, slots=True)
class AtomSyntax:
    """`relation(arguments)`."""

    relation: str
    arguments: tuple[TermSyntax, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class ConstraintSyntax:
    """`left operator right`, or `match` and `contains` of two terms."""

    operator: str
    left: TermSyntax
    right: TermSyntax
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class TruthSyntax:
    """`true` or `false`."""

    value: bool
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class NotSyntax:
    """`!body`."""

    body: BodySyntax
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class JunctionSyntax:
    """Bodies joined by `,`, or by `;` with `is_any`."""

    parts: tuple[BodySyntax, ...]
    is_any: bool
    span: SourceSpan


BodySyntax = AtomSyntax | ConstraintSyntax | TruthSyntax | NotSyntax | JunctionSyntax


@dataclass(frozen=True, slots=True)
class ClauseSyntax:
    """A fact (`body` is None) or a rule, with one head or several."""

    heads: tuple[AtomSyntax, ...]
    body: BodySyntax | None
    text: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class ColumnSyntax:
    """`name: type` of a declaration."""

    name: str
    type: str
    span: SourceSpan
    type_span: SourceSpan


@dataclass(frozen=True, slots=True)
class RelationSyntax:
    """One relation of a `.decl`."""

    name: str
    columns: tuple[ColumnSyntax, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class TypeSyntax:
    """`.type name <: of` (is_subtype), or `.type name = of | of`."""

    name: str
    of: tuple[tuple[str, SourceSpan], ...]
    is_subtype: bool
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class DirectiveSyntax:
    """`.input`, `.output`, `.printsize` or `.limitsize` of one relation; places are of values."""

    kind: str
    relation: str
    parameters: dict[str, tuple[str | int | float | bool, SourceSpan]]
    span: SourceSpan


@dataclass(slots=True)
class ProgramSyntax:
    """All of a program. `broken` are names whose declaration could not be read."""

    relations: list[RelationSyntax] = field(default_factory=list)
    types: list[TypeSyntax] = field(default_factory=list)
    directives: list[DirectiveSyntax] = field(default_factory=list)
    clauses: list[ClauseSyntax] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
