"""Terms, bodies and clauses of a program: from tokens to syntax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.core.errors import suggest_name
from rtbot.datalog.language.clause_syntax import (
    AggregateTerm,
    AnyTerm,
    AtomSyntax,
    CallTerm,
    CastTerm,
    ClauseSyntax,
    ConstraintSyntax,
    JunctionSyntax,
    LiteralTerm,
    NamedTerm,
    NotSyntax,
    TruthSyntax,
)
from rtbot.datalog.language.functor_signatures import (
    AGGREGATES,
    CONSTRAINTS,
    FUNCTORS,
    REFUSED_FUNCTORS,
    SHORT_CONVERSIONS,
)
from rtbot.datalog.language.token_reader import TokenReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from rtbot.datalog.language.clause_syntax import BodySyntax, TermSyntax
    from rtbot.datalog.language.program_tokens import ProgramToken

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
OPERATIONS_MAX, LITERALS_MAX = 150, 1_000
"""So many operations may a term have, so many parts a body."""

_POWERS = {
    "lor": 1,
    "lxor": 2,
    "land": 3,
    "bor": 4,
    "|": 4,
    "bxor": 5,
    "band": 6,
    "&": 6,
    **dict.fromkeys(("bshl", "bshr", "bshru"), 7),
    **dict.fromkeys("+-", 8),
    **dict.fromkeys("*/%", 9),
    **dict.fromkeys(("^", "**"), 11),
}
_PREFIXES = {"-": "neg", "bnot": "bnot", "lnot": "lnot"}
_PREFIX, _POWER = 10, 11
_SAME = {"|": "bor", "&": "band", "**": "^"}
RESERVED = {*FUNCTORS, *CONSTRAINTS, *AGGREGATES, *REFUSED_FUNCTORS, *_PREFIXES, *_POWERS,
            "true", "false", "nil", "as"}  # fmt: skip
_REFUSED_SIGNS = {
    "[": ("records", "write the fields as columns"),
    "$": ("branches of algebraic types and the counter $", "write the fields as columns"),
}


class ClauseParser(TokenReader):
    """Reads clauses; declarations are read by `ProgramParser`."""

    def read_clause(self) -> ClauseSyntax:
        """Read a fact or a rule."""
        self.operations = 0
        first = self.token
        heads = [self.read_atom("head")]
        if self.is_sign("<="):
            message = "subsumption (p(..) <= p(..)) is not in this version"
            self.fail(self.token, message, "an aggregate min or max may do the same", "RT502")
        while self.take_sign(","):
            heads.append(self.read_atom("head"))
        body = self.read_any() if self.take_sign(":-") else None
        self.expect_end(body is not None)
        text = self.source.text[first.start : self.tokens[self.at - 1].end]
        return ClauseSyntax(tuple(heads), body, text, heads[0].span)

    def expect_end(self, is_rule: bool) -> None:
        """Take the point at the end of a clause."""
        if self.take_sign("."):
            return
        before = self.tokens[self.at - 1]
        starts = self.token.kind == "directive" or self.starts_line()
        if self.token.kind == "end" or starts:
            self.fail(before, "the clause has no '.' at its end", "write a . here")
        if not is_rule and self.is_sign(":", "<", "="):
            self.fail_expected("'.' or ':-'", "after the head", "a rule is head :- body.")
        expected = "',' ';' or '.'" if is_rule else "'.' ':-' or ','"
        self.fail_expected(expected, "", self.suggest_joint())

    def suggest_joint(self) -> str:
        """Return a hint for what is in place of the sign behind a part of a clause."""
        words = {
            "and": "write , for and",
            "or": "write ; for or",
            "|": "write ; for or",
            "if": "write :- for if",
            "in": "write (x = 1 ; x = 2) for a list",
        }
        if self.is_sign(")"):
            return "a ( is missing"
        return words.get(self.token.text.lower(), "")

    def starts_line(self) -> bool:
        """Return whether the next token is a name at the beginning of a line."""
        start = self.token.start
        return self.token.kind == "name" and self.source.text[start - 1 : start] in ("", "\n")

    # ---- bodies

    def read_any(self) -> BodySyntax:
        """Read bodies joined by `;`."""
        return self.read_junction(";", lambda: self.read_junction(",", self.read_literal))

    def read_junction(self, sign: str, read_part: Callable[[], BodySyntax]) -> BodySyntax:
        """Read one part, or several that a sign joins."""
        first = self.token
        parts = [read_part()]
        while self.take_sign(sign):
            parts.append(read_part())
            if len(parts) > LITERALS_MAX:
                message = f"a body of more than {LITERALS_MAX:,} parts"
                self.fail(first, message, "divide it into relations", "RT513")
        if len(parts) == 1:
            return parts[0]
        return JunctionSyntax(tuple(parts), sign == ";", self.span(first))

    def read_literal(self) -> BodySyntax:
        """Read an atom, a constraint, a negation or a body in parentheses."""
        first = self.token
        self.enter()
        found = self.read_unnested()
        self.leave()
        if self.is_sign(*COMPARISONS) and not isinstance(found, ConstraintSyntax):
            if isinstance(found, AtomSyntax):
                self.fail_functor(first)
            self.fail_expected("',' ';' or '.'", "")
        return found

    def read_unnested(self) -> BodySyntax:
        """Read what `read_literal` does, without its check of what follows."""
        first = self.token
        if self.take_sign("!"):
            return NotSyntax(self.read_literal(), self.span(first))
        if first.kind == "name" and first.text.lower() == "not" and self.look(1).kind == "name":
            self.fail(first, "'not' is not part of a program", "write !atom")
        if self.is_sign("(") and self.is_body_in_parentheses():
            self.take()
            body = self.read_any()
            self.expect(")", "")
            return body
        if first.kind == "name" and first.text in ("true", "false"):
            self.take()
            return TruthSyntax(first.text == "true", self.span(first))
        if first.kind == "name" and first.text in CONSTRAINTS:
            return self.read_word_constraint()
        if first.kind == "name" and first.text not in RESERVED:
            follower = self.look(1)
            dotted = follower.text == "." and self.look(2).start == first.end + 1
            if follower.kind == "sign" and (follower.text == "(" or dotted):
                return self.read_atom("body")
        return self.read_comparison()

    def is_body_in_parentheses(self) -> bool:
        """Return whether what begins with `(` is a body and not a term."""
        closed = self.closing.get(self.at)
        if closed is None:
            self.fail_unclosed("a ( without its )")
        follower = self.tokens[closed + 1]
        ends = ("sign", ",.;)}")
        return follower.kind == "end" or (follower.kind == ends[0] and follower.text in ends[1])

    def read_word_constraint(self) -> BodySyntax:
        """Read `match(pattern, text)` or `contains(part, text)`."""
        first = self.take()
        arguments = self.read_arguments(f"{first.text}(")
        if len(arguments) != 2:
            message = f"{first.text} takes 2 arguments, not {len(arguments)}"
            order = "pattern, text" if first.text == "match" else "part, text"
            self.fail(first, message, f"write {first.text}({order})", "RT510")
        return ConstraintSyntax(first.text, arguments[0], arguments[1], self.span(first))

    def read_comparison(self) -> BodySyntax:
        """Read two terms and what is between them."""
        first = self.token
        left = self.read_term()
        if not self.is_sign(*COMPARISONS):
            if isinstance(left, NamedTerm) and self.token.kind == "name":
                self.fail_expected("a comparison", "", self.suggest_joint())
            hint = "a part of a body is an atom p(x), a comparison or a negation !p(x)"
            self.fail_expected("= != < <= > or >=", "after a term", hint)
        operator = self.take().text
        right = self.read_term()
        if self.is_sign(*COMPARISONS):
            self.fail(self.token, "comparisons do not chain", "write a < b, b < c")
        return ConstraintSyntax(operator, left, right, self.span(first))

    def read_atom(self, where: str) -> AtomSyntax:
        """Read `relation(arguments)`."""
        first = self.token
        if first.kind != "name":
            if where == "head" and first.text == ":-":
                self.fail(first, "a rule without a head", "write head(x) :- body.")
            self.fail_expected("the name of a relation", "")
        if first.text in RESERVED:
            message = f"{first.text!r} is a word of the language, not a relation"
            self.fail(first, message, "choose another name")
        self.take()
        self.refuse_dotted(first)
        if not self.is_sign("("):
            self.fail_expected("'('", f"after {first.text}", self.suggest_form(first, where))
        arguments = self.read_arguments(f"{first.text}(")
        return AtomSyntax(first.text, arguments, self.span(first))

    def suggest_form(self, first: ProgramToken, where: str) -> str:
        """Return a hint for an atom without parentheses."""
        if self.token.text == "(":
            return ""
        if where == "head" and self.token.kind == "name":
            return suggest_name(first.text, ["decl", "input", "output"]).replace("'", "'.", 1)
        return f"an atom without columns is {first.text}()"

    def refuse_dotted(self, first: ProgramToken) -> None:
        """Refuse `component.relation`."""
        dot, name = self.token, self.look(1)
        joined = self.is_sign(".") and dot.start == first.end and name.start == dot.end
        if joined and name.kind == "name" and self.look(2).text in "(.":
            message = f"{first.text}.{name.text}: components are not in this version"
            self.at += 2
            self.fail(first, message, "write the relations of the component out", "RT502")

    def read_arguments(self, opened: str) -> tuple[TermSyntax, ...]:
        """Read terms in parentheses."""
        if self.at not in self.closing and self.is_sign("("):
            self.fail_unclosed(f"{opened} is not closed", "a ) is missing")
        self.expect("(", "")
        if self.take_sign(")"):
            return ()
        terms = [self.read_term()]
        while self.take_sign(","):
            terms.append(self.read_term())
        self.expect(")", f"to close {opened}" if not self.is_sign(")") else "")
        return tuple(terms)

    # ---- terms

    def read_term(self, power: int = 0) -> TermSyntax:
        """Read operations that bind at least so tightly."""
        self.enter()
        first = self.token
        left = self.read_prefix()
        while (own := self.get_power()) > power:
            self.operations += 1
            if self.operations > OPERATIONS_MAX:
                message = f"a clause with more than {OPERATIONS_MAX} operations"
                self.fail(first, message, "divide it", "RT513")
            sign = self.take()
            right = self.read_term(own - 1 if own == _POWER else own)
            name = _SAME.get(sign.text, sign.text)
            left = CallTerm(name, (left, right), self.span(first))
        self.leave()
        return left

    def get_power(self) -> int:
        """Return how tightly the operation that is next binds, 0 if it is none."""
        token = self.token
        return _POWERS.get(token.text, 0) if token.kind in ("sign", "name") else 0

    def read_prefix(self) -> TermSyntax:
        """Read a term with a minus, `bnot` or `lnot` before it, or without."""
        first = self.token
        if first.text in _PREFIXES and first.kind in ("sign", "name"):
            self.take()
            if first.text == "-" and self.token.kind in ("whole", "float"):
                return self.read_negative(first)
            operand = self.read_term(_PREFIX)
            return CallTerm(_PREFIXES[first.text], (operand,), self.span(first))
        return self.read_single()

    def read_negative(self, first: ProgramToken) -> TermSyntax:
        """Read a number behind a minus; a power binds more tightly than the minus."""
        if self.look(1).text in ("^", "**"):
            return CallTerm("neg", (self.read_term(_PREFIX),), self.span(first))
        token = self.take()
        kind = "number" if token.kind == "whole" else token.kind
        return self.make_number(-token.value, kind, first)

    def read_single(self) -> TermSyntax:
        """Read a constant, a variable, a call or a term in parentheses."""
        token = self.token
        if token.kind in ("whole", "unsigned", "float"):
            self.take()
            kind = "number" if token.kind == "whole" and token.value < 0 else token.kind
            return self.make_number(token.value, kind, token)
        if token.kind == "text":
            self.take()
            return LiteralTerm(token.value, "symbol", self.span(token))
        if token.kind == "name":
            return self.read_word()
        if token.kind == "functor":
            message = f"{token.text}: functors of your own are not in this version"
            self.fail(token, message, "compute the values in the facts", "RT502")
        if self.take_sign("("):
            term = self.read_term()
            self.expect(")", "")
            return term
        if token.text in _REFUSED_SIGNS and token.kind == "sign":
            what, hint = _REFUSED_SIGNS[token.text]
            self.fail(token, f"{what} are not in this version", hint, "RT502")
        before = self.tokens[self.at - 1].text
        hint = {",": "leave the , before it out", ":-": "a fact is head."}.get(before, "")
        if token.text == "!":
            hint = "negation is for atoms and comparisons"
        return self.fail_expected("a term", "", hint)

    def make_number(self, value: float, kind: str, first: ProgramToken) -> LiteralTerm:
        """Make a constant that 64 bits hold."""
        least, most = -(2**63), 2**64 - 1
        if kind == "number":
            most = 2**63 - 1
        if kind != "float" and not least <= value <= most:
            hint = "numbers are from -2^63 to 2^63-1, unsigned ones to 2^64-1"
            self.fail(first, f"{value} is beyond 64 bits", hint, "RT511")
        if kind == "float" and abs(value) == float("inf"):
            self.fail(first, f"{first.text} is beyond the largest float", "", "RT511")
        return LiteralTerm(value, kind, self.span(first))

    def read_word(self) -> TermSyntax:
        """Read a variable, a wildcard, a functor or an aggregate."""
        token = self.token
        called = self.look(1).kind == "sign" and self.look(1).text == "("
        if token.text in ("count", "sum", "mean") or (
            token.text in ("min", "max") and not (called and self.has_comma(self.at + 1))
        ):
            return self.read_aggregate()
        if token.text == "nil":
            self.fail(token, "records are not in this version", "write the fields as columns",
                      "RT502")  # fmt: skip
        if token.text in REFUSED_FUNCTORS and called:
            self.fail(token, f"{token.text} is not in this version", REFUSED_FUNCTORS[token.text],
                      "RT502")  # fmt: skip
        if token.text == "as" and called:
            return self.read_cast()
        if token.text in FUNCTORS:
            self.take()
            return CallTerm(token.text, self.read_arguments(f"{token.text}("), self.span(token))
        if called:
            self.fail_functor(token)
        if token.text in RESERVED:
            self.fail(token, f"{token.text!r} is a word of the language, not a variable")
        self.take()
        if token.text == "_":
            return AnyTerm(self.span(token))
        return NamedTerm(token.text, self.span(token))

    def fail_functor(self, token: ProgramToken) -> NoReturn:
        """Note a call of something that is no functor."""
        hint = suggest_name(token.text, FUNCTORS)
        hint = hint or "the functors are " + ", ".join(sorted(FUNCTORS - SHORT_CONVERSIONS))
        self.fail(token, f"there is no functor {token.text!r}", hint, "RT510")

    def has_comma(self, opened: int) -> bool:
        """Return whether there are several terms in parentheses."""
        at, closed = opened + 1, self.closing.get(opened, -1)
        while at < closed:
            if self.tokens[at].kind == "sign" and self.tokens[at].text == ",":
                return True
            at = self.closing.get(at, at) + 1
        return False

    def read_cast(self) -> TermSyntax:
        """Read `as(term, type)`."""
        first = self.take()
        self.expect("(", "after as")
        term = self.read_term()
        self.expect(",", "", "write as(term, type)")
        name = self.expect_name("a type")
        self.expect(")", "")
        return CastTerm(term, name.text, self.span(first))

    def read_aggregate(self) -> TermSyntax:
        """Read `count : { body }` or `sum term : { body }`."""
        first = self.take()
        form = f"{first.text} {'' if first.text == 'count' else 'x '}: {{ p(x) }}"
        if first.text == "count" and not self.is_sign(":") and self.token.kind != "end":
            self.fail(first, "count takes no value", f"write {form}", "RT510")
        value = None if self.is_sign(":") else self.read_term()
        if self.is_sign(",") or not self.is_sign(":"):
            two = f"{first.text}(x, y) or " if first.text in ("min", "max") else ""
            self.fail_expected("':'", f"after {first.text}", f"write {two}{form}")
        if value is None and first.text != "count":
            self.fail(first, f"{first.text} needs a value", f"write {form}", "RT510")
        self.take()
        if not self.is_sign("{"):
            if self.token.kind != "name":
                self.fail_expected("'{'", f"after {first.text} :", f"write {form}")
            return AggregateTerm(first.text, value, self.read_atom("body"), self.span(first))
        if self.at not in self.closing:
            self.fail_unclosed("a { without its }", "a } is missing")
        self.take()
        self.enter()
        body = self.read_any()
        self.leave()
        self.expect("}", f"to close {first.text} : {{")
        return AggregateTerm(first.text, value, body, self.span(first))
