"""What of SQL this version does not have: everything in a tree that the binder did not look at.

sqlglot reads far more than is bound. A part that nobody looks at would change the result without a
word, so every node goes through `refuse_rest` with the arguments that were looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlglot import exp

if TYPE_CHECKING:
    from rtbot.sql.query_text import QueryText

LATER = "it comes with a later version"
ORDERLESS = "a view has no order of its rows: leave it out, or add LIMIT"


class Feature(NamedTuple):
    """A part of SQL: its name, what to try, and the word in the text at which it is."""

    name: str
    advice: str = ""
    keyword: str = ""


FEATURES = {
    "order": Feature("ORDER BY", ORDERLESS, "ORDER"),
    "limit": Feature("LIMIT here", "put the query into FROM, and cut it off there", "LIMIT"),
    "offset": Feature("OFFSET here", "put the query into FROM, and cut it off there", "OFFSET"),
    "count": Feature("a third argument", "QUALIFY row_number() OVER (...) <= n has n rows"),
    "origin": Feature("an origin", "write time_bucket(w, t - origin) + origin"),
    "unit": Feature("a third argument", "write time_bucket(w, t - origin) + origin"),
    "sample": Feature("a sample", "the rows of a view are certain: filter them with WHERE"),
    "into": Feature("INTO", "a query only reads", "INTO"),
    "locks": Feature("FOR UPDATE", "a query only reads", "FOR"),
    "laterals": Feature("LATERAL", LATER),
    "pivots": Feature("PIVOT", "use CASE in aggregates"),
    "version": Feature("a table as of a time", LATER),
    "by_name": Feature("BY NAME", "write the columns in one order", "NAME"),
    "recursive": Feature("WITH RECURSIVE", LATER, "RECURSIVE"),
    "grouping_sets": Feature("GROUPING SETS", "join queries with UNION ALL", "GROUPING"),
    "rollup": Feature("ROLLUP", "join queries with UNION ALL", "ROLLUP"),
    "cube": Feature("CUBE", "join queries with UNION ALL", "CUBE"),
    "ilike": Feature("LIKE behind *", "write the columns one by one"),
    "symmetric": Feature("BETWEEN SYMMETRIC", "write the lesser bound first", "SYMMETRIC"),
    "unnest": Feature("UNNEST", "there are no lists"),
    "field": Feature("IN without brackets", "write IN (a, b, ...)"),
    "db": Feature("a schema before a table", "write the table alone"),
    "catalog": Feature("a database before a table", "write the table alone"),
    "hint": Feature("a hint"),
    "big_int": Feature("a count of this kind"),
}
"""The features by the name that an argument has in sqlglot."""

_NODES = {
    "Collate": Feature("COLLATE", "texts are sorted by their characters: sort by lower(x)"),
    "Order": Feature("ORDER BY in this aggregate", "it has one result in any order: leave it out"),
    "Star": Feature("* here", "write the columns one by one"),
    "Select": Feature("a subquery in an expression", LATER),
    "Any": Feature("ANY with this sign", "write = ANY (SELECT ...), or compare with max or min"),
    "All": Feature("ALL with this sign", "write <> ALL (SELECT ...), or compare with max or min"),
    "Lateral": Feature("LATERAL", LATER),
    "Escape": Feature("ESCAPE"),
    "Glob": Feature("GLOB", "write LIKE with % and _"),
    "SimilarTo": Feature("SIMILAR TO", "write LIKE with % and _"),
    "RegexpLike": Feature("a regular expression", "write LIKE with % and _"),
    "Placeholder": Feature("a parameter of a query", "write the value itself"),
    "Parameter": Feature("a parameter of a query", "write the value itself"),
    "Interval": Feature("INTERVAL", "times are integers in io.unit"),
    "CurrentDate": Feature("the time of day", "a view has no clock", "CURRENT_DATE"),
    "CurrentTimestamp": Feature("the time of day", "a view has no clock", "CURRENT_TIMESTAMP"),
    "Tuple": Feature("a row in brackets", "compare column by column"),
    "Array": Feature("a list", "there are no lists"),
    "Struct": Feature("a struct", "there are no structs"),
    "Bracket": Feature("a part in square brackets", "substring(x, first, length) cuts a text"),
    "Columns": Feature("COLUMNS", "write the columns one by one"),
    "Rollup": Feature("ROLLUP", "join queries with UNION ALL"),
    "Cube": Feature("CUBE", "join queries with UNION ALL"),
    "GroupingSets": Feature("GROUPING SETS", "join queries with UNION ALL"),
    "Values": Feature("VALUES", "make it an input of the graph"),
    "Explode": Feature("UNNEST", "there are no lists"),
    "ArrayAgg": Feature("array_agg", "there are no lists"),
    "PercentileDisc": Feature("a quantile of this kind", "write quantile_cont(x, 0.9)"),
    "Quantile": Feature("a quantile of this kind", "write quantile_cont(x, 0.9)"),
    "Insert": Feature("INSERT", "a query only reads", "INSERT"),
    "Update": Feature("UPDATE", "a query only reads", "UPDATE"),
    "Delete": Feature("DELETE", "a query only reads", "DELETE"),
    "IgnoreNulls": Feature("any_value", "rows have no order: use min or max"),
    "AnyValue": Feature("any_value", "rows have no order: use min or max"),
    "Rand": Feature("random", "a view gives the same rows in every run"),
}


FUNCTIONS_NOT_THERE = {
    **dict.fromkeys(
        ("now", "today", "current_date", "current_time", "current_timestamp", "localtimestamp"),
        "a view has no clock",
    ),
    **dict.fromkeys(
        ("date_trunc", "date_part", "date_diff", "datediff", "strftime", "strptime", "epoch"),
        "times are integers in io.unit",
    ),
    **dict.fromkeys(
        ("list", "array_agg", "unnest", "list_contains", "string_split", "struct_pack"),
        "there are no lists",
    ),
    **dict.fromkeys(
        ("uuid", "gen_random_uuid", "random", "setseed"), "a view gives the same rows in every run"
    ),
    **dict.fromkeys(
        ("regexp_matches", "regexp_full_match", "regexp_replace", "regexp_extract"),
        "write LIKE with % and _",
    ),
}
"""What to do instead of functions that are known and not there."""


def refuse_rest(query: QueryText, node: exp.Expr, *consumed: str) -> bool:
    """Report every argument of a node that is there and not consumed; return whether any is."""
    rest = {
        name: value
        for name, value in node.args.items()
        if name not in consumed and (isinstance(value, exp.Expr) or value)
    }
    for name, value in rest.items():
        feature = FEATURES.get(name) or Feature(f"a part of `{query.quote(node)}`")
        first = next((v for v in _list_nodes(value) if id(v) in query.extents), node)
        mark = query.locate(first, feature.keyword, inside=first is node)
        query.problems.add("RT181", mark, f"{feature.name} is not supported", feature.advice)
    return bool(rest)


def refuse_node(query: QueryText, node: exp.Expr) -> None:
    """Report a node that no part of the binder knows."""
    feature = _NODES.get(type(node).__name__) or Feature(f"`{query.quote(node)}`")
    query.report("RT181", node, f"{feature.name} is not supported", feature.advice, feature.keyword)


def refuse_table(query: QueryText, node: exp.Expr) -> None:
    """Report a function in the place of a table."""
    hint = "a query reads tables: make it an input"
    query.report("RT181", node, f"`{query.quote(node)}` is not supported as a table", hint)


def _list_nodes(value: object) -> list[exp.Expr]:
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, exp.Expr)]
