"""The names of a query's columns: their alias, their column, or the function and its columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbot.sql.query_text import QueryText

    FindName = Callable[[exp.Column], str]

VALID_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)


def name_column(
    query: QueryText, node: exp.Expr, position: int, find: FindName, *, named: bool
) -> str:
    """Return the name of a column of a SELECT; report one that has none and needs one.

    A call of a function is named by it and its columns: `sum_amount`, `count_star`. `find` is the
    name that a column has in its table.
    """
    name = _find_name(query, node, find)
    if not named and (name is None or not VALID_NAME.fullmatch(name)):
        return f"column_{position}"
    if name is None:
        hint = f"write {query.quote(node)} AS name"
        query.report("RT187", node, "this column has no name", hint)
    elif not VALID_NAME.fullmatch(name):
        hint = "a name has letters, digits, _ and -, begins with a letter, and is no longer than 64"
        query.report("RT187", node, f"{name!r} is not a name of a column", hint)
    else:
        return name
    return f"column_{position}"


def _find_name(query: QueryText, node: exp.Expr, find: FindName) -> str | None:
    if isinstance(node, exp.Alias):
        return node.alias
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Column):
        return find(node)
    start, end = node.meta.get("start"), node.meta.get("end")
    if not isinstance(node, exp.Func) or start is None or end is None:
        return None
    words = [query.text[start : end + 1].lower()]
    for child in node.iter_expressions():
        if isinstance(child, exp.Distinct):
            words.append("distinct")
        for column in child.expressions if isinstance(child, exp.Distinct) else [child]:
            if not isinstance(column, exp.Column | exp.Star):
                return None
            words.append("star" if isinstance(column, exp.Star) else find(column))
    return "_".join(words)
