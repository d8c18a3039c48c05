"""Facts of constants of relations with declared types, which need none of the other steps.

A program may have very many of them. What is not as it should be is left to the other steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.datalog.language.clause_syntax import LiteralTerm
from rtbot.datalog.program import FLOAT, NUMBER, SYMBOL, UNSIGNED, Fact

if TYPE_CHECKING:
    from rtbot.datalog.language.clause_syntax import AtomSyntax, ClauseSyntax
    from rtbot.datalog.language.relation_table import RelationTable
    from rtbot.datalog.program import Value

_KINDS = {
    NUMBER: ("whole", "number"),
    UNSIGNED: ("whole", "unsigned"),
    FLOAT: ("whole", "number", "float"),
    SYMBOL: ("symbol",),
}
_MOST = {NUMBER: 2**63 - 1, UNSIGNED: 2**64 - 1}


def read_plain_facts(table: RelationTable, clause: ClauseSyntax) -> list[Fact] | None:
    """Return the facts of a clause, None if it has others or is wrong."""
    if clause.body is not None:
        return None
    found = []
    for head in clause.heads:
        values = _read_values(table, head)
        if values is None:
            return None
        found.append(Fact(head.relation, values, clause.span))
    return found


def _read_values(table: RelationTable, head: AtomSyntax) -> tuple[Value, ...] | None:
    entry = table.entries.get(head.relation)
    if entry is None or not entry.is_declared or len(entry.columns) != len(head.arguments):
        return None
    values: list[Value] = []
    for term, column in zip(head.arguments, entry.columns, strict=True):
        if column is None or not isinstance(term, LiteralTerm):
            return None
        kind, value = column.type, term.value
        if term.kind not in _KINDS[kind]:
            return None
        if kind == FLOAT:
            value = float(value) + 0.0  # one zero
        elif not isinstance(value, str) and value > _MOST[kind]:
            return None
        values.append(value)
    return tuple(values)
