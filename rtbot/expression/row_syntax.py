"""What expressions over the fields of rows have beyond those of series.

Texts such as 'it''s', null, `is null`, `in (..)`, `like`, `case when .. then .. end`, casts, `||`
for texts, `//` for the whole quotient, and `distinct` in an aggregate. Keywords are names of fields
wherever they cannot be meant.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtbot.expression.syntax import COMPARISON, ExpressionParser, Term, Token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbot.expression.syntax import Place

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?P<tail>[A-Za-z0-9_.]*))
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?|`[^`]*`)
    |(?P<parameter>\$[A-Za-z_][A-Za-z0-9_]*)
    |(?P<text>'(?:[^']|'')*')
    |(?P<foreign>&&|<>)
    |(?P<sign>\*\*|//|\|\||::|<=|>=|==|!=|[-+*/%<>(),])
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_QUOTES = "a text is written 'x', with ' doubled inside"
_SUM, _PRODUCT, _CAST = 9, 11, 20


class _RowParser(ExpressionParser):
    pattern = _TOKEN
    hints = ExpressionParser.hints | {  # type: ignore[operator]
        **dict.fromkeys('"\u201c\u201d\u2018\u2019\u00ab\u00bb', _QUOTES),
        "'": "a text ends with '",
        "|": "write `or`; || joins texts",
        "!": "write != or `not`",
        "?": "write case when condition then a else b end",
        "[": "an expression has no lists; write x in (1, 2)",
        ".": "an expression has no methods; write the function first, as in lower(x)",
        ":": "a cast is x::integer or cast(x as integer)",
    }
    unexpected = ExpressionParser.unexpected | {  # type: ignore[operator]
        "IS": "write is",
        "IN": "write in",
        "LIKE": "write like",
        **dict.fromkeys(("between", "BETWEEN"), "write x >= low and x <= high"),
        "end": "write case when condition then a else b end",
        **dict.fromkeys(("when", "then", "else"), "write case when condition then a else b end"),
        **dict.fromkeys(("CASE", "WHEN", "THEN", "ELSE", "END"), "write it in small letters"),
        **dict.fromkeys(("as", "AS", "CAST"), "write cast(x as integer)"),
        **dict.fromkeys(("distinct", "DISTINCT"), "write count(distinct x)"),
    }
    binary = ExpressionParser.binary | {  # type: ignore[operator]
        "||": (_SUM, _SUM + 1),
        "//": (_PRODUCT, _PRODUCT + 1),
    }

    def peek(self, *words: str) -> bool:
        """Return whether the next tokens are these words."""
        ahead = self.tokens[self.at : self.at + len(words)]
        return [token.text for token in ahead] == list(words)

    def skip(self, word: str, opened: Token, hint: str) -> None:
        """Pass a word that must come."""
        token = self.tokens[self.at]
        if token.text != word:
            end = token.kind == "end"
            shown = "the expression ends" if end else f"{token.text!r} comes"
            at = opened if end else token
            message = f"{shown} where {word!r} is expected"
            raise self.make_error(at.offset, len(at.text), message, hint)
        self.at += 1

    def find_power(self, token: Token) -> int:
        if token.kind == "name" and token.text in ("is", "in", "like"):
            return COMPARISON
        if token.text == "not" and (self.next_is("in") or self.next_is("like")):
            return COMPARISON
        return _CAST if token.text == "::" else super().find_power(token)

    def starts_value(self, ahead: int) -> bool:
        """Return whether the token so far ahead is a name, a number, a text or a parameter."""
        token = self.tokens[min(self.at + ahead, len(self.tokens) - 1)]
        infix = token.text in ("is", "in", "like", "not")
        return token.kind in ("name", "number", "text", "parameter") and not infix

    def next_is(self, word: str) -> bool:
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)].text == word

    def infix(self, left: Term, sign: Token) -> Term:
        if sign.kind == "sign" and sign.text != "::":
            return super().infix(left, sign)
        match sign.text:
            case "::":
                return self.cast(left, sign)
            case "is":
                return self.null_test(left, sign)
            case "not":
                word = self.tokens[self.at]
                self.at += 1
                return self.term("not", (self.infix(left, word),), sign)
            case "in":
                opened = self.tokens[self.at]
                self.skip("(", sign, "write x in (1, 2)")
                return self.term("in", (left, *self.arguments(opened)), sign)
            case "like":
                return self.term("call", (left, self.expression(COMPARISON + 1)), sign, "like")
        return super().infix(left, sign)

    def null_test(self, left: Term, sign: Token) -> Term:
        """Return `is null` or `is distinct from x`, or its opposite."""
        negated = self.peek("not")
        self.at += negated
        if self.peek("distinct", "from"):
            self.at += 2
            right = self.expression(COMPARISON + 1)
            found = self.term("is_distinct", (left, right), sign)
        else:
            self.skip("null", sign, "write is null, is not null or is distinct from; else ==")
            found = self.term("is_null", (left,), sign)
        return self.term("not", (found,), sign) if negated else found

    def prefix(self) -> Term:
        token = self.tokens[self.at]
        if token.kind == "text":
            self.at += 1
            return self.term("constant", (), token, token.text[1:-1].replace("''", "'"))
        if token.kind == "name" and token.text == "null" and not self.next_is("("):
            self.at += 1
            return self.term("constant", (), token)
        if token.kind == "name" and token.text == "case" and self.next_is("when"):
            self.at += 1
            return self.case(token)
        if token.text == "case" and self.starts_value(1):
            hint = "write case when x == 1 then a else b end"
            raise self.make_error(token.offset, len(token.text), "`when` is missing", hint)
        if token.kind == "name" and token.text == "cast" and self.next_is("("):
            self.at += 2
            value = self.expression(0)
            self.skip("as", token, "write cast(x as integer)")
            found = self.cast(value, token)
            self.expect(")", token)
            return found
        if token.text == "*" and self.next_is(")"):
            raise self.make_error(token.offset, 1, "`*` is no value", "write count()")
        return super().prefix()

    def case(self, token: Token) -> Term:
        """Return `case when c then v .. else w end`; without `else` it is null."""
        hint = "write case when condition then a else b end"
        parts: list[Term] = []
        while self.peek("when"):
            self.at += 1
            parts.append(self.expression(0))
            self.skip("then", token, hint)
            parts.append(self.expression(0))
        if self.peek("else"):
            self.at += 1
            parts.append(self.expression(0))
        else:
            parts.append(self.term("constant", (), token))
        self.skip("end", token, hint)
        return self.term("case", tuple(parts), token)

    def cast(self, value: Term, sign: Token) -> Term:
        """Return the cast to the type whose name comes."""
        token = self.tokens[self.at]
        if token.kind != "name":
            hint = "write cast(x as integer)"
            raise self.make_error(token.offset, len(token.text), "a type is expected here", hint)
        self.at += 1
        return self.term("cast", (value,), sign if sign.text == "cast" else token, token.text)

    def argument(self) -> Term:
        token = self.tokens[self.at]
        if token.text == "distinct" and (self.starts_value(1) or self.next_is("(")):
            self.at += 1
            return self.term("distinct", (self.expression(0),), token)
        return self.expression(0)

    def arguments(self, opened: Token) -> Iterator[Term]:
        """Yield what is in a list behind `in`, at least one."""
        yield self.expression(0)
        while self.peek(","):
            self.at += 1
            yield self.expression(0)
        self.expect(")", opened)


def parse_row_expression(text: str, place: Place) -> Term:
    """Read an expression over the fields of rows, as `parse_expression` does one over series."""
    return _RowParser(text, place).parse_all()
