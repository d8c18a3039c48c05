"""From the text of an expression to a tree of terms: own tokenizer, own Pratt parser.

Nothing here evaluates anything or looks anything up: a term is an operation of a closed set, a
number, a name, a `$parameter` or a call of a name that the typing rules accept or refuse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rtbot.core.errors import describe_non_ascii, graph_error
from rtbot.core.source_span import SourceSpan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Place = Callable[[int, int], SourceSpan]

NESTING_MAX = 64
TREE_MAX = 100
TERMS_MAX = 1_000
DIGITS_MAX = 400

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?P<tail>[A-Za-z0-9_.]*))
    |(?P<name>(?:[A-Za-z_][A-Za-z0-9_]*|`[^`]*`)(?:\.[A-Za-z_][A-Za-z0-9_]*)?(?:\.[0-9]+)?)
    |(?P<parameter>\$[A-Za-z_][A-Za-z0-9_]*)
    |(?P<foreign>&&|\|\||<>|//)
    |(?P<sign>\*\*|<=|>=|==|!=|[-+*/%<>(),])
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_HINTS = {
    "=": "write == to compare",
    "&&": "write `and`",
    "&": "write `and`",
    "||": "write `or`",
    "|": "write `or`",
    "!": "write `not`",
    "^": "write ** for a power",
    "<>": "write != for unequal",
    "//": "write floor(a / b)",
    "?": "write if(condition, a, b)",
    "'": "an expression has no texts",
    '"': "an expression has no texts",
    "`": "a name in backquotes ends with a backquote",
    "$": "a parameter is $name; letters, digits and _",
    "[": "v.0 is an element of a vector; an earlier value comes from the operator Lag",
    "{": "a parameter is $name, without brackets",
    ".": "an expression has no methods; what looks back is an operator: {type: ..., in: ...}",
    **dict.fromkeys("\u201c\u201d\u2018\u2019\u00ab\u00bb", "an expression has no texts"),
    **dict.fromkeys("\u2212\u2013\u2014\u2010", "write - for minus"),
    **dict.fromkeys("\u00d7\u00b7\u22c5\u2217", "write *"),
    **dict.fromkeys("\u00f7\u2215", "write /"),
    **dict.fromkeys("\u2264\u2a7d", "write <="),
    **dict.fromkeys("\u2265\u2a7e", "write >="),
    "\u2260": "write !=",
    "\u00b2": "write ** 2",
    "\u221a": "write sqrt(x)",
}
_UNEXPECTED = {
    ")": "a ( is missing",
    ",": "the decimal sign is a point; arguments of a function go in brackets",
    **{word: f"write {word.lower()}" for word in ("AND", "OR", "NOT", "And", "Or", "Not")},
    **dict.fromkeys(("if", "else"), "write if(condition, a, b)"),
    **dict.fromkeys(("in", "between"), "compare with ==, <, <= and so on"),
    "is": "compare with ==; for null there is coalesce(x, VALUE), for NaN isnan(x)",
}
_WORDS = {"and", "or", "not", "true", "false"}
_BINARY = {
    "or": (1, 2),
    "and": (3, 4),
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), (7, 8)),
    "+": (9, 10),
    "-": (9, 10),
    "*": (11, 12),
    "/": (11, 12),
    "%": (11, 12),
    "**": (16, 13),
}
_NOT, _MINUS, COMPARISON = 5, 13, 7


@dataclass(frozen=True, slots=True)
class Term:
    """An untyped tree. `op`: constant, name, parameter, call (`value`: the function) or a sign."""

    op: str
    args: tuple[Term, ...] = ()
    value: Any = None
    offset: int = 0
    length: int = 1
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Token:
    """A part of the text: a word, a sign, a number; `end` behind the last."""

    kind: str
    text: str
    offset: int


def parse_expression(text: str, place: Place) -> Term:
    """Read an expression; `place(offset, length)` is the place of a part of the text.

    Raises GraphError at the first character that does not fit.
    """
    return ExpressionParser(text, place).parse_all()


def without_place(offset: int, length: int = 1) -> SourceSpan:
    """Return the place of a part of a text that is in no file."""
    return SourceSpan("<expression>", 0, offset + 1, length)


class ExpressionParser:
    """Reads the expressions of series; `row_syntax` adds what those of rows have."""

    pattern = _TOKEN
    hints: ClassVar[Mapping[str, str]] = _HINTS
    unexpected: ClassVar[Mapping[str, str]] = _UNEXPECTED
    binary: ClassVar[Mapping[str, tuple[int, int]]] = _BINARY

    def __init__(self, text: str, place: Place) -> None:
        self.place = place
        self.tokens = [*self.tokenize(text), Token("end", "the end", len(text.rstrip()))]
        self.at = 0
        self.nesting = 0
        self.terms = 0

    def tokenize(self, text: str) -> Iterator[Token]:
        """Yield the tokens of a text, without blanks."""
        for found in self.pattern.finditer(text):
            kind, word, offset = str(found.lastgroup), found.group(), found.start()
            if found.group("number") is not None:
                kind = "number"
                self.check_number(found.group("tail"), word, offset)
            if kind in ("foreign", "other"):
                hint = self.hints.get(word) or describe_non_ascii(word)
                raise self.make_error(
                    offset, len(word), f"{word!r} is not part of an expression", hint
                )
            if kind == "name" and word.lower() in _WORDS:
                kind = "word" if word in _WORDS else "name"
            if kind != "space":
                yield Token(kind, word, offset)

    def check_number(self, tail: str, word: str, offset: int) -> None:
        """Refuse a number with letters behind it, or of too many digits."""
        if tail:
            hint = "a number and a name are joined by an operator, as in 2 * x"
            raise self.make_error(offset, len(word), f"{word!r} is not a number", hint)
        if len(word) > DIGITS_MAX:
            raise self.make_error(offset, len(word), f"a number of more than {DIGITS_MAX} digits")

    def make_error(self, offset: int, length: int, message: str, hint: str = "") -> Exception:
        """Return an error at a part of the text."""
        return graph_error("RT130", self.place(offset, length), message, hint)

    def parse_all(self) -> Term:
        """Read the whole text."""
        term = self.expression(0)
        token = self.tokens[self.at]
        if token.kind != "end":
            hint = self.find_hint() or "is an operator or a comma missing?"
            message = f"{token.text!r} is not expected here"
            raise self.make_error(token.offset, len(token.text), message, hint)
        return term

    def find_hint(self) -> str:
        """Return what to write in place of the next word, or of the one before it."""
        before = self.tokens[self.at - 1].text if self.at else ""
        words = [self.tokens[self.at].text, before if before.isalpha() else ""]
        return next((self.unexpected[word] for word in words if word in self.unexpected), "")

    def expression(self, power: int) -> Term:
        """Read what binds at least as strongly as `power`."""
        self.nesting += 1
        if self.nesting > NESTING_MAX:
            token = self.tokens[self.at]
            message = f"an expression of more than {NESTING_MAX} levels"
            raise graph_error("RT135", self.place(token.offset, 1), message, "split it")
        left = self.prefix()
        compared = False
        while (own := self.find_power(self.tokens[self.at])) >= power:
            sign = self.tokens[self.at]
            if own == COMPARISON and compared:
                hint = "write a < b and b < c"
                raise self.make_error(sign.offset, len(sign.text), "comparisons do not chain", hint)
            compared = own == COMPARISON
            self.at += 1
            left = self.infix(left, sign)
        self.nesting -= 1
        return left

    def find_power(self, token: Token) -> int:
        """Return how strongly a token binds what is before it; -1 if it is no operator."""
        known = token.kind in ("sign", "word") and token.text in self.binary
        return self.binary[token.text][0] if known else -1

    def infix(self, left: Term, sign: Token) -> Term:
        """Return the operation of a sign that has been passed."""
        right = self.expression(self.binary[sign.text][1])
        return self.term(sign.text, (left, right), sign)

    def prefix(self) -> Term:
        """Read a value, with a sign before it or none."""
        token = self.tokens[self.at]
        self.at += 1
        match token:
            case Token("number", text):
                digits = text.isdigit()
                return self.term("constant", (), token, int(text) if digits else float(text))
            case Token("word", "true" | "false"):
                return self.term("constant", (), token, token.text == "true")
            case Token("word", "not"):
                return self.term("not", (self.expression(_NOT),), token)
            case Token("parameter", text):
                return self.term("parameter", (), token, text[1:])
            case Token("name", text):
                if self.tokens[self.at].text == "(":
                    return self.call(token)
                return self.term("name", (), token, text.replace("`", ""))
            case Token("sign", "-"):
                return self.negative(token)
            case Token("sign", "("):
                term = self.expression(0)
                self.expect(")", token)
                return term
        if token.kind == "end":
            hint = "something is missing at the end"
            raise self.make_error(token.offset, 1, "a value is expected here", hint)
        message = f"a value is expected, not {token.text!r}"
        raise self.make_error(token.offset, len(token.text), message)

    def negative(self, token: Token) -> Term:
        """Read what follows a minus sign."""
        term = self.expression(_MINUS)
        if (
            term.op == "constant"
            and not isinstance(term.value, bool)
            and term.offset > token.offset
        ):
            return Term("constant", (), -term.value, token.offset, term.length + 1)
        return self.term("neg", (term,), token)

    def call(self, token: Token) -> Term:
        """Read the arguments of a function."""
        self.at += 1
        args: list[Term] = []
        while self.tokens[self.at].text != ")" or args:
            args.append(self.argument())
            if self.tokens[self.at].text != ",":
                break
            self.at += 1
        self.expect(")", token)
        return self.term("call", tuple(args), token, token.text)

    def argument(self) -> Term:
        """Return an argument of a call."""
        return self.expression(0)

    def expect(self, sign: str, opened: Token) -> None:
        """Pass a sign that must come."""
        token = self.tokens[self.at]
        if token.text != sign:
            end = token.kind == "end"
            shown = "the expression ends" if end else f"{token.text!r} comes"
            message = f"{shown} where {sign!r} is expected"
            hint = self.find_hint()
            if end:
                hint = "close it; in { } and [ ], quote an expression that holds a comma"
            at = opened if end else token
            raise self.make_error(at.offset, len(at.text), message, hint)
        self.at += 1

    def term(self, op: str, args: tuple[Term, ...], token: Token, value: Any = None) -> Term:
        """Make a term at a token."""
        self.terms += 1
        depth = 1 + max((a.depth for a in args), default=0)
        if self.terms > TERMS_MAX or depth > TREE_MAX:
            message = f"an expression of more than {TERMS_MAX} parts or {TREE_MAX} levels"
            raise graph_error("RT135", self.place(token.offset, 1), message, "split it")
        return Term(op, args, value, token.offset, len(token.text), depth)
