"""The text of a Datalog program as tokens, with what no token can be made of as problems."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbot.core.errors import describe_non_ascii, suggest_name

if TYPE_CHECKING:
    from rtbot.datalog.language.program_text import ProgramText

DIRECTIVES = (
    *("decl", "type", "number_type", "symbol_type", "input", "output", "printsize", "limitsize"),
    *("pragma", "plan", "comp", "init", "override", "functor", "include", "once", "lattice"),
)
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<hash>\#(?:\\\r?\n|[^\n])*)
    |(?P<address>[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+)
    |(?P<number>0[xX][0-9a-zA-Z_]*|0[bB][0-9a-zA-Z_]*
        |[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?)?[A-Za-z_0-9]*)
    |(?P<text>"(?:\\[^\n]|[^"\\\n])*")
    |(?P<name>[A-Za-z_?][A-Za-z0-9_?]*)
    |(?P<functor>@[A-Za-z_][A-Za-z0-9_]*)
    |(?P<directive>\.(?:DIRECTIVES)\b)
    |(?P<sign>:-|<:|<=|>=|!=|\*\*|[-+*/%^&|=<>!(),.:;{}\[\]$])
    |(?P<other>.)""".replace("DIRECTIVES", "|".join(DIRECTIVES)),
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(
    r"(?P<whole>0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)(?P<unsigned>u?)"
    r"|(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
)
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r", "'": "'"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_HINTS = {
    '"': 'a text ends with " on the line on which it begins',
    "'": 'a text is in double quotes: "text"',
    "/": "",
    **dict.fromkeys("\u201c\u201d\u2018\u2019", 'a text is in straight double quotes: "text"'),
    "\u2190": "write :-",
    "\u00ac": "write ! for not",
    "\u2260": "write !=",
    "\u2264": "write <=",
    "\u2265": "write >=",
    "\u2227": "write , for and",
    "\u2228": "write ; for or",
    "~": "write ! for not",
}
_FOLLOWED = {"==": "write = to compare", "<>": "write != to compare", "&&": "write , for and",
             "||": "write ; for or"}  # fmt: skip
DIGITS_MAX = 400


@dataclass(frozen=True, slots=True)
class ProgramToken:
    """A part of a program. `value` is what a number or a text means; `end` is behind the last.

    Kinds: name, directive (`text` without the dot), functor, whole, unsigned, float, text, sign,
    end.
    """

    kind: str
    text: str
    start: int
    end: int
    value: Any = None


def split_program(source: ProgramText) -> list[ProgramToken]:
    """Return the tokens of a program without blanks and comments; notes what is none."""
    tokens: list[ProgramToken] = []
    for found in _TOKEN.finditer(source.text):
        kind, text, start = str(found.lastgroup), found.group(), found.start()
        if kind == "space":
            continue
        if kind in ("hash", "address", "other"):
            _refuse_part(source, kind, text, start)
            if text == '"' or source.text.startswith("/*", start):
                break
            continue
        token = ProgramToken(kind, text, start, found.end())
        tokens.append(_read_token(source, token))
    _check_pairs(source, tokens)
    size = len(source.text)
    tokens.append(ProgramToken("end", "the end of the program", size, size))
    return tokens


def _refuse_part(source: ProgramText, kind: str, text: str, start: int) -> None:
    """Note a part that is no token."""
    if kind == "hash":
        source.is_partial = True
        word = text[1:].split(maxsplit=1)[:1]
        hint = "run the preprocessor first, as in: cpp -P PROGRAM.dl > PLAIN.dl"
        message = f"#{''.join(word)}: a program has no preprocessor"
        source.report("RT502", start, len(text.partition("\n")[0].rstrip()), message, hint)
        return
    if kind == "address":
        parts = [int(part) for part in text.split(".") if len(part) <= 3]
        value = sum(part << 8 * place for place, part in enumerate(reversed(parts)))
        hint = f"write the number {value}" if len(parts) == 4 else ""
        source.report("RT502", start, len(text), "an address of the internet as a number", hint)
        return
    if text == '"':
        source.report("RT501", start, 1, "a text that is not closed", _HINTS['"'])
        return
    hint = _HINTS.get(text, "") or describe_non_ascii(text)
    source.report("RT501", start, 1, f"{text!r} is not part of a program", hint)


def _read_token(source: ProgramText, token: ProgramToken) -> ProgramToken:
    """Return a token with its value, and a directive without its dot."""
    kind, text = token.kind, token.text
    if kind == "number":
        return _read_number(source, token)
    if kind == "text":
        return ProgramToken(kind, text, token.start, token.end, _read_text(source, token))
    if kind == "directive":
        return ProgramToken(kind, text[1:], token.start, token.end)
    return token


def _read_number(source: ProgramText, token: ProgramToken) -> ProgramToken:
    text, start = token.text, token.start
    found = _NUMBER.fullmatch(text)
    if found is None or len(text) > DIGITS_MAX:
        shown = text if len(text) < 30 else text[:27] + "..."
        hint = "numbers are 12, 0x1f, 0b101, 12u and 1.5e3"
        if re.fullmatch(r"[0-9]+[uU]?[lL]+|[0-9.]+[fF]", text):
            hint = "a number has no suffix but u"
        elif re.fullmatch(r"[0-9]+[eE][0-9]+", text):
            hint = f"a float has a point: {text.lower().replace('e', '.0e')}"
        source.report("RT501", start, len(text), f"{shown!r} is no number", hint)
        return ProgramToken("whole", text, start, token.end, 0)
    if found["float"] is not None:
        return ProgramToken("float", text, start, token.end, float(text))
    base = {"0x": 16, "0b": 2}.get(text[:2].lower(), 10)
    value = int(found["whole"], base)
    return ProgramToken("unsigned" if found["unsigned"] else "whole", text, start, token.end, value)


def _read_text(source: ProgramText, token: ProgramToken) -> str:
    """Return what a text in quotes means."""

    def replace_escape(found: re.Match[str]) -> str:
        sign = found[1]
        if sign not in _ESCAPES:
            hint = 'a text has \\" \\\\ \\n \\t and \\r; write \\\\ for a backslash'
            place = token.start + 1 + found.start()
            source.report("RT501", place, 2, f"unknown escape \\{sign} in a text", hint)
        return _ESCAPES.get(sign, sign)

    return _ESCAPE.sub(replace_escape, token.text[1:-1])


def _check_pairs(source: ProgramText, tokens: list[ProgramToken]) -> None:
    """Note signs of other languages that are read as two tokens, and drop the second."""
    at = 1
    while at < len(tokens):
        one, other = tokens[at - 1], tokens[at]
        pair = one.text + other.text
        if one.end == other.start and pair in _FOLLOWED and one.kind == other.kind == "sign":
            source.report("RT501", one.start, 2, f"{pair!r} is not part of a program",
                          _FOLLOWED[pair])  # fmt: skip
            del tokens[at]
        at += 1


def suggest_directive(name: str) -> str:
    """Return a hint for a word behind a point that is no directive."""
    hint = suggest_name(name, DIRECTIVES)
    return hint.replace("'", "'.", 1) if hint else ""
