"""The names that an expression of a query may use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbot.core.errors import graph_error, suggest_name
from rtbot.expression.tree import Expression

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot import exp

    from rtbot.operator.schema import Field
    from rtbot.sql.query_text import QueryText


@dataclass(frozen=True)
class VisibleColumn:
    """A column as a query names it, and the field that it is in the plan."""

    name: str
    field: Field


@dataclass(frozen=True)
class Scope:
    """The table that a query reads, by the name it has there, and the aliases of its SELECT."""

    table: str
    columns: Sequence[VisibleColumn]
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    def check_table(self, query: QueryText, node: exp.Expr) -> bool:
        """Report a table before a column that is not the one the query reads."""
        table = node.args.get("table")
        if table is None or table.name == self.table:
            return True
        hint = suggest_name(table.name, [self.table]) or f"the table of this query is {self.table}"
        query.report("RT182", table, f"there is no table {table.name!r} here", hint)
        return False

    def resolve(self, query: QueryText, node: exp.Column) -> Expression | exp.Expr:
        """Return the field that a column names, or the expression that has it as its alias.

        Raises GraphError if it names nothing, or several columns.
        """
        name = node.name
        found = [column for column in self.columns if column.name == name]
        mark = query.locate(node.this)
        if len(found) == 1:
            column = found[0].field
            return Expression("field", column.type, (), column.name, mark)
        if found:
            hint = "name the columns of the inner query with AS"
            raise graph_error("RT183", mark, f"there are {len(found)} columns {name!r}", hint)
        if name in self.aliases and not node.args.get("table"):
            return self.aliases[name]
        hint = self.make_hint(name, quoted=bool(node.this.args.get("quoted")))
        raise graph_error("RT182", mark, f"there is no column {name!r}", hint)

    def make_hint(self, name: str, *, quoted: bool) -> str:
        """Return what to try instead of an unknown column."""
        names = [*self.names, *self.aliases]
        hint = suggest_name(name, names)
        if not hint and quoted:
            return f"text is written in single quotes: '{name}'"
        if not hint and name == self.table:
            return "this is the table: name one of its columns"
        return hint or "there are " + ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
