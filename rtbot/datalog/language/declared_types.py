"""The types of a program: basic ones, subtypes, unions and other names of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.datalog.program import FLOAT, NUMBER, SYMBOL, UNSIGNED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbot.core.source_span import SourceSpan
    from rtbot.datalog.language.clause_syntax import ProgramSyntax, TypeSyntax
    from rtbot.datalog.language.program_text import ProgramText

BASIC = (NUMBER, UNSIGNED, FLOAT, SYMBOL)
_OF_OTHERS = {
    **dict.fromkeys(("integer", "int", "i64", "int64", "long", "bigint", "signed"), NUMBER),
    **dict.fromkeys(("uint", "u64", "uint64"), UNSIGNED),
    **dict.fromkeys(("double", "real", "f64", "f32", "decimal"), FLOAT),
    **dict.fromkeys(("string", "str", "text", "varchar", "char", "String"), SYMBOL),
}


class DeclaredTypes:
    """Types by name. A type that is one of `.type A = B` is `B` under every name.

    A set of types that a value may have is a frozenset of names; None is any.
    """

    def __init__(self, source: ProgramText, program: ProgramSyntax) -> None:
        self.source, self.broken = source, program.broken
        self._of: dict[str, tuple[str, ...]] = {}
        self._subtypes: set[str] = set()
        self._basic: dict[str, str | None] = {name: name for name in BASIC}
        self._meets: dict[tuple[str, str], frozenset[str]] = {}
        declared: dict[str, TypeSyntax] = {}
        for each in program.types:
            if each.name in declared or each.name in BASIC:
                self._report_twice(each, declared)
                continue
            declared[each.name] = each
        for each in declared.values():
            self._of[each.name] = tuple(name for name, _ in each.of)
            if each.is_subtype:
                self._subtypes.add(each.name)
        for each in declared.values():
            self._check(each, declared)

    def _report_twice(self, each: TypeSyntax, declared: dict[str, TypeSyntax]) -> None:
        first = declared.get(each.name)
        hint = f"first on line {first.span.line}" if first else "it is one of the basic types"
        self.source.report_at("RT504", each.span, f"the type {each.name} is declared twice", hint)

    def _check(self, each: TypeSyntax, declared: dict[str, TypeSyntax]) -> None:
        """Note a type of unknown, circular or different types."""
        basics = {}
        for name, span in each.of:
            if name not in BASIC and name not in declared:
                self._basic[each.name] = None
                self.report_unknown(name, span)
            else:
                basics[name] = self.find_basic(name)
        if self._is_circular(each.name):
            self._basic[each.name] = None
            message = f"the type {each.name} is made of itself"
            self.source.report_at("RT507", each.span, message, "begin with a basic type")
        elif len({basic for basic in basics.values() if basic}) > 1:
            shown = ", ".join(f"{name} is {basic}" for name, basic in basics.items())
            message = f"the union {each.name} is of different basic types: {shown}"
            self.source.report_at("RT507", each.span, message, "a union is of one basic type")

    def report_unknown(self, name: str, span: SourceSpan) -> None:
        """Note the name of a type that is not declared."""
        if name in self.broken or self.source.is_partial:
            return
        known = [*BASIC, *self._of]
        other = _OF_OTHERS.get(name, _OF_OTHERS.get(name.lower()))
        hint = f"did you mean {other!r}?" if other else ""
        hint = hint or self.source.problems.suggest_name(name, known)
        hint = hint or f"declare it: .type {name} <: symbol"
        self.source.report_at("RT507", span, f"the type {name} is not declared", hint)

    def is_known(self, name: str) -> bool:
        """Return whether a type is declared."""
        return name in BASIC or name in self._of

    def find_basic(self, name: str) -> str | None:
        """Return the basic type of a type, None if its declaration is wrong."""
        if name not in self._basic:
            self._basic[name] = None
            seen, at = {name}, name
            while at not in BASIC and at in self._of:
                at = self._of[at][0]
                if at in seen:
                    return None
                seen.add(at)
            self._basic[name] = at if at in BASIC else None
        return self._basic[name]

    def _is_circular(self, name: str) -> bool:
        waiting, seen = list(self._of[name]), set()
        while waiting:
            at = waiting.pop()
            if at == name:
                return True
            if at not in seen:
                seen.add(at)
                waiting += self._of.get(at, ())
        return False

    def list_parts(self, name: str) -> frozenset[str]:
        """Return the types of which a type is the union: itself if it is none."""
        found, waiting, seen = set(), [name], set()
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            if at in BASIC or at in self._subtypes or at not in self._of:
                found.add(at)
            else:
                waiting += self._of[at]
        return frozenset(found)

    def is_subtype(self, one: str, other: str) -> bool:
        """Return whether every value of a type is one of another."""
        parts = self.list_parts(other)
        return all(self._is_within(part, parts) for part in self.list_parts(one))

    def _is_within(self, part: str, others: frozenset[str]) -> bool:
        """Return whether a type that is no union is within one of others."""
        waiting, seen = [part], set()
        while waiting:
            at = waiting.pop()
            if at in others:
                return True
            if at in self._subtypes and at not in seen:
                seen.add(at)
                above = self.list_parts(self._of[at][0])
                if len(above) == 1:
                    waiting += above
                elif above <= others:
                    return True
        return False

    def meet(self, one: frozenset[str] | None, other: frozenset[str]) -> frozenset[str]:
        """Return the types of values that have a type of both sets."""
        if one is None:
            return other
        found = [self._meet_two(a, b) for a in one for b in other]
        return frozenset().union(*found)

    def _meet_two(self, one: str, other: str) -> frozenset[str]:
        if (one, other) not in self._meets:
            parts, others = self.list_parts(one), self.list_parts(other)
            both = {part for part in parts if self._is_within(part, others)}
            both |= {part for part in others if self._is_within(part, parts)}
            self._meets[one, other] = frozenset(both)
        return self._meets[one, other]


def format_types(names: Iterable[str]) -> str:
    """Return names of types as a part of a sentence."""
    return " or ".join(sorted(names))
