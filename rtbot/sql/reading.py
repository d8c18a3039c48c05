"""From the text of a query to sqlglot's tree of it: its parser only, and its errors as ours."""

from __future__ import annotations

import importlib.util
import re
from bisect import bisect_left
from typing import TYPE_CHECKING, ClassVar

from rtbot.core.errors import describe_non_ascii, graph_error
from rtbot.sql.query_text import QueryText
from rtbot.sql.token_checks import check_tokens

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.errors import ParseError
    from sqlglot.tokenizer_core import Token
    from sqlglot.tokens import Tokenizer

    from rtbot.core.errors import GraphError
    from rtbot.sql.query_text import Place

DIALECT = "duckdb,normalization_strategy=case_sensitive"
TEXT_MAX, DEPTH_MAX = 100_000, 100
WORDS_BEFORE = 4
CONDITION = "a join has one condition, and a comma has none: join by JOIN, or write WHERE"
OTHER_NAMES = {
    "GroupConcat": ("STRING_AGG", "LISTAGG"),
    "PercentileCont": ("QUANTILE_CONT",),
    "PercentileDisc": ("QUANTILE_DISC",),
    "DateBin": ("TIME_BUCKET",),
}
"""How functions are written, beside the names that sqlglot has for them."""

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
    tokens = check_tokens(_split_tokens(dialect, text, place), text, place)
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
        names = (*type(node).sql_names(), *OTHER_NAMES.get(type(node).__name__, ()))
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
