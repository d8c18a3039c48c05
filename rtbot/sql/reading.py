"""From the text of a query to sqlglot's tree of it: its parser only, and its errors as ours."""

from __future__ import annotations

import importlib.util
import re
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from rtbot.core.errors import describe_non_ascii, graph_error
from rtbot.sql.query_text import QueryText

if TYPE_CHECKING:
    from typing import NoReturn, Protocol

    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.errors import ParseError
    from sqlglot.tokenizer_core import Token
    from sqlglot.tokens import Tokenizer

    from rtbot.core.errors import GraphError
    from rtbot.sql.query_text import Place

    class _Refuse(Protocol):
        def __call__(
            self, token: Token, message: str, hint: str = "", code: str = "RT180"
        ) -> NoReturn: ...


DIALECT = "duckdb,normalization_strategy=case_sensitive"
TEXT_MAX, TOKENS_MAX, NESTING_MAX, DEPTH_MAX = 100_000, 5_000, 24, 100
WORDS_BEFORE = 4
JOIN_WORDS = ("JOIN", "INNER", "CROSS", "NATURAL", "FULL", "SEMI", "ANTI")
CLAUSES = ("SELECT", "FROM", "WHERE", "GROUP_BY", "HAVING", "ORDER_BY", "LIMIT", "ON", "USING",
           "UNION", "INTERSECT", "EXCEPT", "QUALIFY", "AND", "OR")  # fmt: skip
BEGINNINGS = {"SELECT", "WITH", "FROM", "("}
STATEMENTS = (
    *("INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER"),
    *("COPY", "EXPLAIN", "DESCRIBE", "SHOW", "SUMMARIZE", "PRAGMA", "SET"),
    *("ATTACH", "CALL", "VALUES", "TABLE", "PIVOT", "UNPIVOT", "TRUNCATE"),
    *("BEGIN", "COMMIT"),
)
CONDITION = "a join has one condition, and a comma has none: join by JOIN, or write WHERE"
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00a0\u2028\u2029\ud800-\udfff\ufeff]")
_EXPECTED = re.compile(r"Expecting (\S+)|Expected (\w+ ?\w*)")
_CLOSING = {"'": "a text", '"': "a name in quotes"}


def read_query(text: str, place: Place) -> tuple[QueryText, exp.Expr]:
    """Read one SELECT, or several joined by set operations.

    Raises GraphError for what cannot be read, what is too large, and without sqlglot.
    """
    if importlib.util.find_spec("sqlglot") is None:
        hint = "pip install 'rtbot-graphs[sql]'"
        raise graph_error("RT186", place(0, 1), "SQL needs sqlglot, which is not installed", hint)
    from sqlglot.dialects.dialect import Dialect

    if len(text) > TEXT_MAX:
        raise graph_error("RT135", place(0, 1), f"a query of more than {TEXT_MAX} characters")
    for found in _FORBIDDEN.finditer(text):
        hint = describe_non_ascii(found.group())
        raise graph_error("RT180", place(found.start(), 1), "a character SQL does not have", hint)
    dialect = Dialect.get_or_raise(DIALECT)
    tokens = _check_tokens(_split_tokens(dialect, text, place), text, place)
    query = QueryText(text, place, tokens)
    tree = _parse_tokens(dialect, query)
    _note_names(tree, query)
    _check_parameters(tree, query)
    _name_aggregates(tree)
    _place_functions(tree, tokens)
    if query.measure(tree) > DEPTH_MAX:
        hint = "divide it: a query may read the output of another one"
        raise graph_error("RT135", place(0, 1), "a query that is nested too deep", hint)
    return query, tree


def _note_names(tree: exp.Expr, query: QueryText) -> None:
    """Note the names of tables, for hints."""
    from sqlglot import exp

    query.sources.update(node.alias_or_name for node in tree.find_all(exp.Table, exp.Subquery))
    query.names_under_with.update(node.alias for node in tree.find_all(exp.CTE))


def _check_parameters(tree: exp.Expr, query: QueryText) -> None:
    """Refuse a parameter in place of a name: of a column, an alias or a table."""
    from sqlglot import exp

    for node in tree.find_all(exp.Placeholder):
        inside = isinstance(node.parent, exp.TableAlias | exp.Star | exp.Join | exp.Column)
        if inside or node.arg_key == "alias":
            token = next((t for t in query.tokens if query.is_parameter(t, node.name)), None)
            mark = (
                query.place(0, 1) if token is None else query.mark(token.start - 1, token.end + 1)
            )
            hint = "write the name itself: a parameter is a value"
            raise graph_error("RT180", mark, f"the parameter ${node.name} is no name", hint)


def _name_aggregates(tree: exp.Expr) -> None:
    """Replace calls of aggregates by a name that the parser does not know."""
    from sqlglot import exp

    from rtbot.sql.sql_functions import SYNONYMS_OF_AGGREGATES

    for node in list(tree.find_all(exp.Anonymous)):
        kind = SYNONYMS_OF_AGGREGATES.get(str(node.this).lower())
        if kind is not None:
            first, *others = node.expressions or [None]
            known = kind(this=first, expressions=others)
            known.meta.update(node.meta)
            node.replace(known)


def _place_functions(tree: exp.Expr, tokens: list[Token]) -> None:
    """Note where functions are that the parser has no place of: at the word before an argument."""
    from sqlglot import exp

    starts = [token.start for token in tokens]
    for node in tree.find_all(exp.Func):
        inside = [] if "start" in node.meta else [p.meta for p in node.walk() if "start" in p.meta]
        if not inside:
            continue
        names = type(node).sql_names()
        first = bisect_left(starts, min(meta["start"] for meta in inside))
        for token in reversed(tokens[max(first - WORDS_BEFORE, 0) : first]):
            if token.text.upper() in names:
                node.meta.update(start=token.start, end=token.end)
                break


def _split_tokens(dialect: Dialect, text: str, place: Place) -> list[Token]:
    from sqlglot.errors import TokenError

    try:
        return _make_tokenizer(dialect).tokenize(text)
    except TokenError as error:
        found = re.search(r"Missing (\S+) from (\d+):(\d+)", str(error.__cause__))
        if found is None:
            offset = max(text.rfind("/*"), 0)
            message = "a comment that is not closed" if offset else "the query cannot be read"
            raise graph_error("RT180", place(offset, 2), message) from None
        sign, line, column = found[1], int(found[2]), int(found[3])
        offset = sum(len(each) + 1 for each in text.split("\n")[: line - 1]) + column
        message = f"{_CLOSING.get(sign, 'a part')} that is not closed: {sign} is missing"
        raise graph_error("RT180", place(min(offset, len(text) - 1), 1), message) from None


def _make_tokenizer(dialect: Dialect) -> Tokenizer:
    """Return a tokenizer for which `$` begins a parameter, and never a text: `$a,$b` are two."""
    from sqlglot.tokenizer_core import TokenType

    class Words(dialect.tokenizer_class):  # type: ignore[name-defined,misc]
        HEREDOC_STRINGS: ClassVar[list[str | tuple[str, str]]] = []
        SINGLE_TOKENS: ClassVar = {
            **dialect.tokenizer_class.SINGLE_TOKENS,
            "$": TokenType.PARAMETER,
        }

    return Words(dialect=dialect)


def _check_tokens(tokens: list[Token], text: str, place: Place) -> list[Token]:
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
    _check_brackets(tokens, refuse)
    _check_using(tokens, refuse)
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
    if sign == "COMMA" and after in ("COMMA", *JOIN_WORDS):
        refuse(token, "nothing follows this comma")
    if sign == "ALIAS" and after in ("", "COMMA", "R_PAREN", *CLAUSES, *JOIN_WORDS):
        refuse(token, "no name follows AS", "write AS name, or leave AS out")
    adjacent = follower is not None and follower.start == token.end + 1
    name = follower.text if follower is not None and adjacent else ""
    if sign == "PARAMETER" and token.text == "$" and not name.isidentifier():
        refuse(token, "no name follows $", "write $name, a parameter of the graph")
    if sign == "NUMBER" and adjacent and after in ("VAR", "IDENTIFIER", "STRING", "NUMBER"):
        assert follower is not None
        refuse(token, f"{token.text + follower.text!r} is not a number")


def _parse_tokens(dialect: Dialect, query: QueryText) -> exp.Expr:
    from sqlglot.errors import ErrorLevel, ParseError

    try:
        parser = dialect.parser(error_level=ErrorLevel.IMMEDIATE)
        trees = parser.parse(list(query.tokens), query.text)
    except ParseError as error:
        raise _convert_error(error, query) from None
    except RecursionError:
        message = "a query that is nested too deep"
        raise graph_error("RT135", query.place(0, 1), message) from None
    if len(trees) != 1 or trees[0] is None:
        raise graph_error("RT180", query.place(0, 1), "the query cannot be read")
    return trees[0]


def _convert_error(error: ParseError, query: QueryText) -> GraphError:
    """Return the error of the parser as one of ours, without its own words."""
    found = error.errors[0]
    lines = query.text.split("\n")
    line = max(int(found["line"] or 1), 1)
    offset = sum(len(each) + 1 for each in lines[: line - 1]) + int(found["col"] or 0) - 1
    token = next((t for t in query.tokens if t.start <= offset <= t.end), query.tokens[-1])
    expected = _EXPECTED.match(found["description"])
    hint = f"expected here: {expected[1] or expected[2]}" if expected else ""
    hint = CONDITION if token.token_type.name in ("ON", "USING") else hint
    if token.token_type.name in ("LEFT", "RIGHT", "FULL", "INNER", "CROSS", "OUTER"):
        hint = "a join is written LEFT JOIN, RIGHT JOIN, FULL JOIN, INNER JOIN or CROSS JOIN"
    if "multiple" in found["description"]:
        message = f"{token.text.upper()} is there twice"
    elif token is query.tokens[-1] and (expected or "missing" in found["description"]):
        message = f"the query breaks off after {_cut(token.text)!r}"
    elif "missing" in found["description"]:
        message = f"something is missing behind {_cut(token.text)!r}"
    else:
        message = f"the query cannot be read from {_cut(token.text)!r} on"
    return graph_error("RT180", query.mark(token.start, token.end + 1), message, hint)


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
