"""The columns that a star means, with EXCLUDE, REPLACE and RENAME."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from rtbot.core.errors import suggest_name
from rtbot.sql.refusals import refuse_rest
from rtbot.sql.scope import find_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbot.expression.tree import Expression
    from rtbot.sql.query_text import QueryText
    from rtbot.sql.scope import Scope, VisibleColumn


CLAUSES = {"EXCLUDE": "except_", "REPLACE": "replace", "RENAME": "rename"}
"""What changes a star, in the order in which it does, and the argument of the node."""


@dataclass(frozen=True)
class SelectItem:
    """A column of a SELECT: its name, the node it is at, and what is bound."""

    name: str
    node: exp.Expr
    value: exp.Expr | Expression


def list_star(query: QueryText, scope: Scope, node: exp.Expr) -> list[SelectItem]:
    """Return the columns that `*` or `table.*` means; what is wrong is noted."""
    star = node.this if isinstance(node, exp.Column) else node
    refuse_rest(query, star, "except_", "replace", "rename")
    refuse_rest(query, node, "this", "table", "except_", "replace", "rename")
    table = scope.find_table(query, node)
    if table is None:
        return []
    mark = query.locate(node)
    columns = scope.list_columns(table)
    items = {id(c): SelectItem(c.name, node, c.refer(mark)) for c in columns}
    changes = [
        (clause, given) for clause, part in CLAUSES.items() for given in star.args.get(part) or ()
    ]
    for clause, given in changes:
        name = given.this.name if clause == "RENAME" else given.alias_or_name
        for column in _find_column(query, columns, given, name, clause):
            item = items.pop(id(column), None)
            if item is not None and clause == "REPLACE":
                items[id(column)] = SelectItem(given.alias, given, given.this)
            elif item is not None and clause == "RENAME":
                items[id(column)] = replace(item, name=given.alias)
    if not items and columns:
        query.report("RT180", node, "EXCLUDE leaves no column")
    return [items[id(column)] for column in columns if id(column) in items]


def _find_column(
    query: QueryText,
    columns: Sequence[VisibleColumn],
    node: exp.Expr,
    name: str,
    clause: str,
) -> list[VisibleColumn]:
    """Return the column that a star is changed in; report one that it does not have."""
    found = find_named(name, columns, lambda column: column.name)
    if not found:
        hint = suggest_name(name, [column.name for column in columns])
        query.report("RT182", node, f"{clause}: there is no column {name!r}", hint)
    return found
