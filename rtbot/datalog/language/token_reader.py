"""The tokens of a program one after another, and the first mistake of a clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbot.datalog.language.program_tokens import split_program

if TYPE_CHECKING:
    from typing import NoReturn

    from rtbot.core.source_span import SourceSpan
    from rtbot.datalog.language.program_text import ProgramText
    from rtbot.datalog.language.program_tokens import ProgramToken

NESTING_MAX = 60
_CLOSING = {"(": ")", "{": "}", "[": "]"}


class ClauseError(Exception):
    """A clause or declaration cannot be read further; what is wrong has been noted."""


class TokenReader:
    """Reads tokens; `closing` has the place of the bracket that closes each bracket."""

    def __init__(self, source: ProgramText) -> None:
        self.source = source
        self.tokens = split_program(source)
        self.at = 0
        self.nesting = self.operations = 0
        self.closing = _pair_brackets(self.tokens)

    @property
    def token(self) -> ProgramToken:
        """The token that is next."""
        return self.tokens[self.at]

    def look(self, ahead: int) -> ProgramToken:
        """Return a token behind the next one, the last if there are not so many."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def take(self) -> ProgramToken:
        """Return the next token and go on behind it."""
        token = self.token
        if token.kind != "end":
            self.at += 1
        return token

    def is_sign(self, *signs: str) -> bool:
        """Return whether the next token is one of these signs."""
        return self.token.kind == "sign" and self.token.text in signs

    def take_sign(self, *signs: str) -> ProgramToken | None:
        """Take the next token if it is one of these signs."""
        return self.take() if self.is_sign(*signs) else None

    def expect(self, sign: str, where: str, hint: str = "") -> ProgramToken:
        """Take a sign that must be there."""
        if not self.is_sign(sign):
            self.fail_expected(f"{sign!r}", where, hint)
        return self.take()

    def expect_name(self, what: str) -> ProgramToken:
        """Take a name that must be there."""
        if self.token.kind != "name":
            self.fail_expected(what, "")
        return self.take()

    def fail_expected(self, expected: str, where: str, hint: str = "") -> NoReturn:
        """Note that something else should be next."""
        token, before = self.token, self.tokens[max(self.at - 1, 0)]
        where = f" {where}" if where else ""
        message = f"expected {expected}{where}, not {token.text!r}"
        between = self.source.text[before.end : token.start]
        if before is not token and (token.kind == "end" or "\n" in between):
            message = f"expected {expected}{where} before the end of the line"
            token = token if token.kind == "bad" else before
        self.fail(token, message, hint)

    def fail(
        self, token: ProgramToken, message: str, hint: str = "", code: str = "RT501"
    ) -> NoReturn:
        """Note what is wrong at a token; the rest of the clause is not read."""
        if token.kind == "bad":
            raise ClauseError
        self.source.report(code, token.start, max(token.end - token.start, 1), message, hint)
        raise ClauseError

    def fail_unclosed(self, message: str, hint: str = "") -> NoReturn:
        """Note a bracket without its partner, unless the text breaks off in a text or comment."""
        if self.tokens[max(len(self.tokens) - 2, 0)].kind == "bad":
            raise ClauseError
        self.fail(self.token, message, hint)

    def span(self, first: ProgramToken) -> SourceSpan:
        """Return the place from a token to the one before the next."""
        end = self.tokens[max(self.at - 1, 0)].end
        return self.source.locate(first.start, max(end - first.start, 1))

    def enter(self) -> None:
        """Go one bracket deeper."""
        self.nesting += 1
        if self.nesting > NESTING_MAX:
            message = f"brackets more than {NESTING_MAX} deep"
            self.fail(self.token, message, "divide the rule", "RT513")

    def leave(self) -> None:
        """Go back out of a bracket."""
        self.nesting -= 1


def _pair_brackets(tokens: list[ProgramToken]) -> dict[int, int]:
    """Return where the bracket is that closes each opening one, by the places of tokens."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    components: set[int] = set()
    in_component = False
    for at, token in enumerate(tokens):
        if token.kind == "directive":
            waiting = [each for each in waiting if each in components]
            in_component = token.text == "comp"
        elif token.kind == "sign" and token.text in _CLOSING:
            waiting.append(at)
            if in_component and token.text == "{":
                components.add(at)
                in_component = False
        elif waiting and _CLOSING[tokens[waiting[-1]].text] == token.text and token.kind == "sign":
            found[waiting.pop()] = at
    return found
