"""The names that an expression of a query may use."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rtbot.core.errors import graph_error, suggest_name
from rtbot.expression.tree import Expression
from rtbot.tables.forms import TIME_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeVar

    from sqlglot import exp

    from rtbot.core.source_span import SourceSpan
    from rtbot.operator.schema import Field
    from rtbot.sql.query_text import QueryText

    One = TypeVar("One")


@dataclass(frozen=True)
class VisibleColumn:
    """A column as a query names it, the field that it is in the plan, and the table it is of.

    One that is `hidden` is named with its table only.
    """

    name: str
    field: Field
    table: str = ""
    hidden: bool = False

    def refer(self, mark: SourceSpan) -> Expression:
        """Return the column as an expression at a place."""
        return Expression("field", self.field.type, (), self.field.name, mark)


def find_named(name: str, every: Iterable[One], read_name: Callable[[One], str]) -> list[One]:
    """Return those of a name; if there is none, those of the name in other letters."""
    found = list(every)
    exact = [one for one in found if read_name(one) == name]
    return exact or [one for one in found if read_name(one).lower() == name.lower()]


@dataclass(frozen=True)
class Scope:
    """The columns of the tables that a query reads, and the aliases of its SELECT.

    `outer` has those of the query that this one is a subquery of.
    """

    columns: Sequence[VisibleColumn]
    tables: Sequence[str] = ()
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)
    outer: Scope | None = None

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(dict.fromkeys(column.name for column in self.columns))

    def find_table(self, query: QueryText, node: exp.Expr) -> str | None:
        """Return the table before a column, "" without one; report one that is not read."""
        table = node.args.get("table")
        if table is None:
            return ""
        found = find_named(table.name, self.tables, str)
        if len(found) == 1:
            return found[0]
        if self.outer is not None and find_named(table.name, self.outer.tables, str):
            return find_named(table.name, self.outer.tables, str)[0]
        if self.outer is not None and self.outer.reaches_out(table.name):
            message = f"{table.name!r} is further out than the query around this one"
            hint = "compare its columns there, or join it in the inner query"
            query.report("RT181", table, message, hint)
            return None
        there = [name for name in self.tables if name]
        hint = suggest_name(table.name, there)
        if table.name in query.sources:
            hint = "it is of another part of the query, whose columns are not seen here"
        if not hint:
            hint = f"the table of this query is {there[0]}" if len(there) == 1 else ""
            hint = hint or f"the tables of this query are {', '.join(there)}"
        query.report("RT182", table, f"there is no table {table.name!r} here", hint)
        return None

    def reaches_out(self, table: str) -> bool:
        """Return whether a query around this one reads a table."""
        outer = self.outer
        while outer is not None:
            if find_named(table, outer.tables, str):
                return True
            outer = outer.outer
        return False

    def list_columns(self, table: str) -> list[VisibleColumn]:
        """Return the columns of a table, or without one those that are named alone."""
        return [c for c in self.columns if (c.table == table if table else not c.hidden)]

    def find_columns(self, name: str, table: str) -> list[VisibleColumn]:
        """Return the columns of a name."""
        return find_named(name, self.list_columns(table), lambda column: column.name)

    def resolve(
        self, query: QueryText, node: exp.Column, table: str
    ) -> tuple[str, Expression | exp.Expr]:
        """Return what a column names: the name, and a field, or the expression of an alias.

        Raises GraphError if it names nothing, or several columns.
        """
        name = node.name
        found = self.find_columns(name, table)
        mark = query.locate(node.this)
        if len(found) == 1:
            return found[0].name, found[0].refer(mark)
        if found:
            raise graph_error("RT183", mark, *_describe_ambiguity(name, found))
        aliases = [] if table else find_named(name, self.aliases, str)
        if len(aliases) == 1:
            return aliases[0], self.aliases[aliases[0]]
        outside = [] if self.outer is None else self.outer.find_columns(name, table)
        if len(outside) == 1:
            return outside[0].name, replace(outside[0].refer(mark), op="outer")
        if outside:
            raise graph_error("RT183", mark, *_describe_ambiguity(name, outside))
        hint = self.make_hint(name, table, quoted=bool(node.this.args.get("quoted")))
        raise graph_error("RT182", mark, f"there is no column {name!r}", hint)

    def make_hint(self, name: str, table: str, *, quoted: bool) -> str:
        """Return what to try instead of an unknown column."""
        names = [column.name for column in self.list_columns(table)]
        names = list(dict.fromkeys([*names, *([] if table else self.aliases)]))
        hint = suggest_name(name, names)
        if not hint and quoted:
            return f"text is written in single quotes: '{name}'"
        if not hint and name in self.tables:
            return "this is the table: name one of its columns"
        if not hint and name.lower() in TIME_NAMES:
            hint = "the time of a change is no column: a query cannot read it"
        return hint or "there are " + ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")


def _describe_ambiguity(name: str, found: Sequence[VisibleColumn]) -> tuple[str, str]:
    names = list(dict.fromkeys(column.name for column in found))
    shown = repr(name) if len(names) == 1 else " and ".join(map(repr, names))
    tables = list(dict.fromkeys(column.table for column in found if column.table))
    hint = "name the columns of the inner query with AS"
    if len(tables) > 1:
        hint = "name its table: " + " or ".join(f"{table}.{name}" for table in tables)
    elif len(names) > 1:
        hint = "write one of them as it is"
    return f"there are {len(found)} columns {shown}", hint
