"""What is wrong with the words of a query before they are parsed: what the parser would skip."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rtbot.core.errors import graph_error

if TYPE_CHECKING:
    from typing import NoReturn, Protocol

    from sqlglot.tokenizer_core import Token

    from rtbot.sql.query_text import Place

    class _Refuse(Protocol):
        def __call__(
            self, token: Token, message: str, hint: str = "", code: str = "RT180"
        ) -> NoReturn: ...


TOKENS_MAX, NESTING_MAX = 5_000, 24
JOIN_WORDS = ("JOIN", "INNER", "CROSS", "NATURAL", "FULL", "SEMI", "ANTI")
CLAUSES = ("SELECT", "FROM", "WHERE", "GROUP_BY", "HAVING", "ORDER_BY", "LIMIT", "ON", "USING",
           "UNION", "INTERSECT", "EXCEPT", "QUALIFY", "AND", "OR")  # fmt: skip
PAIRS = {
    "BETWEEN": ("BETWEEN", "AND", "x BETWEEN a AND b"),
    "WHEN": ("WHEN", "THEN", "CASE WHEN c THEN a ELSE b END"),
}
"""Words that have a second one: both, and how they are written."""

ENDS = (
    *("WHEN", "THEN", "ELSE", "COMMA", "SELECT", "WHERE", "HAVING", "GROUP_BY"),
    *("UNION", "INTERSECT", "EXCEPT"),
)
"""Words before which the second word has to come."""

NAMING = ("L_PAREN", "IDENTIFIER", "STRING")
"""What else than a word follows AS."""

BEGINNINGS = {"SELECT", "WITH", "FROM", "("}
STATEMENTS = (
    *("INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER"),
    *("COPY", "EXPLAIN", "DESCRIBE", "SHOW", "SUMMARIZE", "PRAGMA", "SET"),
    *("ATTACH", "CALL", "VALUES", "TABLE", "PIVOT", "UNPIVOT", "TRUNCATE"),
    *("BEGIN", "COMMIT"),
)


def check_tokens(tokens: list[Token], text: str, place: Place) -> list[Token]:
    """Return the tokens of the one query; raise GraphError for what the parser would skip."""
    while tokens and tokens[-1].text == ";" and text[tokens[-1].start] == ";":
        tokens.pop()

    def refuse(token: Token, message: str, hint: str = "", code: str = "RT180") -> NoReturn:
        mark = place(token.start, token.end + 1 - token.start)
        raise graph_error(code, mark, message, hint)

    if not tokens:
        raise graph_error("RT180", place(0, 1), "an empty query", "write SELECT ... FROM ...")
    if len(tokens) > TOKENS_MAX:
        refuse(tokens[TOKENS_MAX], f"a query of more than {TOKENS_MAX} words", code="RT135")
    first = tokens[0]
    if first.text.upper() not in BEGINNINGS:
        known = first.text.upper() in STATEMENTS
        message = f"{first.text.upper()} is not a query" if known else "a query begins with SELECT"
        refuse(first, message, "a view is a SELECT: SELECT ... FROM ..." if known else "")
    for token, follower in zip(tokens, [*tokens[1:], None], strict=True):
        _check_neighbours(token, follower, refuse)
    for before, token, follower in zip(tokens, tokens[1:], tokens[2:], strict=False):
        kinds = before.token_type.name, token.token_type.name, follower.token_type.name
        if kinds[0] in ("FROM", "JOIN") and kinds[1:] == ("VAR", "STAR"):
            refuse(follower, "a star behind a table", "remove it")
        if kinds[0] == "LIMIT" and kinds[2] == "COMMA":
            refuse(follower, "LIMIT takes one number", "write LIMIT 10 OFFSET 5")
    _check_brackets(tokens, refuse)
    _check_using(tokens, refuse)
    _check_pairs(tokens, refuse)
    return tokens


def _check_using(tokens: list[Token], refuse: _Refuse) -> None:
    """Refuse what the parser skips behind USING: a table before a column."""
    inside = False
    for token, follower in pairwise(tokens):
        inside |= token.token_type.name == "USING"
        if token.token_type.name == "USING" and follower.text.upper() not in ("(", "SAMPLE"):
            refuse(token, "USING takes columns in brackets", "write USING (column)")
        inside &= token.token_type.name != "R_PAREN"
        if inside and token.token_type.name == "DOT":
            refuse(token, "USING takes the names of columns alone", "write USING (column)")


def _check_brackets(tokens: list[Token], refuse: _Refuse) -> None:
    left: list[Token] = []
    for token in tokens:
        kind = token.token_type.name
        if kind in ("L_PAREN", "L_BRACKET", "L_BRACE"):
            left.append(token)
        elif kind in ("R_PAREN", "R_BRACKET", "R_BRACE") and left:
            left.pop()
        elif kind == "R_PAREN":
            refuse(token, "a bracket that nothing opens", "remove it")
        if len(left) > NESTING_MAX:
            refuse(token, f"more than {NESTING_MAX} brackets in each other", code="RT135")
    if left:
        refuse(left[-1], "a bracket that is not closed")


def _check_neighbours(token: Token, follower: Token | None, refuse: _Refuse) -> None:
    sign = token.token_type.name
    after = "" if follower is None else follower.token_type.name
    if sign == "SEMICOLON":
        refuse(token, "several statements", "one query: remove what is behind the semicolon")
    if sign == "COMMA" and after in ("COMMA", "ORDER_BY", "LIMIT", "OFFSET", *JOIN_WORDS):
        refuse(token, "nothing follows this comma", "remove it, or write what comes next")
    no_name = follower is None or not (follower.text[:1].isidentifier() or after in NAMING)
    if sign == "ALIAS" and (no_name or after in (*CLAUSES, *JOIN_WORDS)):
        refuse(token, "no name follows AS", "write AS name, or leave AS out")
    if sign in ("SELECT", "DISTINCT") and after in ("COMMA", "ALIAS"):
        assert follower is not None
        refuse(follower, f"nothing is selected before {follower.text!r}", "remove it")
    if sign == "GROUP_BY" and after == "DISTINCT":
        assert follower is not None
        refuse(follower, "GROUP BY DISTINCT is not supported", "groups are distinct: remove it")
    if sign in ("FROM", "JOIN") and after == "DOT":
        assert follower is not None
        refuse(follower, "no name comes before this point", "remove it")
    if sign == "PLUS" and after in ("", "COMMA", "R_PAREN", *CLAUSES):
        refuse(token, "nothing follows +")
    adjacent = follower is not None and follower.start == token.end + 1
    name = follower.text if follower is not None and adjacent else ""
    if sign == "PARAMETER" and token.text == "$" and not name.isidentifier():
        refuse(token, "no name follows $", "write $name, a parameter of the graph")
    if sign == "NUMBER" and adjacent and after in ("VAR", "IDENTIFIER", "STRING", "NUMBER"):
        assert follower is not None
        refuse(token, f"{token.text + follower.text!r} is not a number")


def _check_pairs(tokens: list[Token], refuse: _Refuse) -> None:
    """Refuse BETWEEN without AND, and WHEN without THEN.

    A level, which a bracket or CASE opens, has the words whose second word has not come yet.
    """
    levels: list[tuple[str, list[Token]]] = [("", [])]

    def close(waiting: list[Token]) -> None:
        if waiting:
            name, partner, form = PAIRS[waiting[-1].token_type.name]
            refuse(waiting[-1], f"{name} without {partner}", f"write {form}")

    for token in tokens:
        kind, (opener, waiting) = token.token_type.name, levels[-1]
        inner = PAIRS[waiting[-1].token_type.name][1] if waiting else ""
        if kind == inner:
            waiting.pop()
        elif kind == "BETWEEN":
            waiting.append(token)
        elif kind in ("L_PAREN", "CASE"):
            levels.append((kind, []))
        elif (opener, kind) in (("L_PAREN", "R_PAREN"), ("CASE", "END")):
            close(waiting)
            levels.pop()
        elif kind in ENDS:
            close(waiting)
            waiting += [token] if kind == "WHEN" else []
    close(levels[-1][1])
